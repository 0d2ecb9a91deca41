"""What is loaded or computed once and shared by every visitor: models, data sets, traces."""

from __future__ import annotations

from dataclasses import replace

import torch
from numpy import ndarray

from app.shared import own_models
from app.shared.caching import of_zoo
from capsviz import boards, data, device, zoo
from capsviz.analysis import disagreement, perturbation, viewpoint
from capsviz.analysis.comparison import Comparison, compare
from capsviz.analysis.dimensions import Meanings
from capsviz.analysis.dimensions import meanings as measure_meanings
from capsviz.analysis.pooling import Pooling, pooling
from capsviz.analysis.predictions import Predictions, PredictionsError, drawings, recorded
from capsviz.boards import pack_weights
from capsviz.data import Viewpoint
from capsviz.experiments import results
from capsviz.experiments.reports import NAMES, Report, report
from capsviz.network import CNN, METHODS, CapsNet, NetworkConfig
from capsviz.tracing import adopting
from capsviz.tracing.intervention import UNTOUCHED, Intervention
from capsviz.tracing.recorder import contains_shorter, shorter
from capsviz.tracing.recorder import trace as record
from capsviz.tracing.trace import Trace

ABSENT = "The network of {name} is not on this machine, so that only what was recorded can be shown"
MAX_ITERATIONS = 10
"""Of the routing on the pages: so many are recorded at once, where they contain those of fewer."""


@of_zoo(most=2)
def entries() -> dict[str, zoo.Entry]:
    """The capsule networks of pretrained/ and the visitor's own, by name, data set by data set. Raises ZooError."""
    found = [entry for entry in all_entries().values() if entry.has_capsules]
    order = {name: place for place, name in enumerate(data.DATASETS)}
    routings = list(METHODS)
    return {
        entry.name: entry
        for entry in sorted(
            found,
            key=lambda entry: (
                order.get(entry.data, len(order)),
                not entry.has_decoder,
                routings.index(entry.routing),
                entry.name in own_models.models(),
                entry.name,
            ),
        )
    }


def has_network(entry: zoo.Entry) -> bool:
    """Whether the network of a model is here, and not only what a recording says of it."""
    return entry.name in entries()


def peers(entry: zoo.Entry) -> dict[str, zoo.Entry]:
    """The capsule networks that go with a model, by name, in the order of `entries`.

    The trained ones; for a model at a step of its training each as it was at that step, where that is kept.
    """
    known = entries()
    trained = [each for each in known.values() if not isinstance(each, zoo.AtStep)]
    if isinstance(entry, zoo.AtStep):
        trained = [known.get(zoo.at_step(each, entry.step), each) for each in trained]
    return {each.name: each for each in trained}


def comparable(one: zoo.Entry, other: zoo.Entry) -> bool:
    """Whether two models stand beside one another: of one data set they also have to read the same form of images as
    the same classes, for a folder may have changed between their trainings.
    """
    return one.data == other.data and alike(one, other)


def alike(one: zoo.Entry, other: zoo.Entry) -> bool:
    """Whether two models read the same form of images as the same classes, as many at once."""
    asked = [(entry.network.image, entry.classes, entry.objects) for entry in (one, other)]
    return asked[0] == asked[1]


def steps(entry: zoo.Entry) -> dict[str, int]:
    """Of the training of a model: what it is called after each step that is kept, and at last; none where none is."""
    known, kept = entries(), entry.checkpoints
    trained = known.get(entry.trained if isinstance(entry, zoo.AtStep) else entry.name)
    if kept is None or trained is None:
        return {}
    found = {zoo.at_step(trained, step): step for step in kept.steps} | {trained.name: kept.total}
    return {name: step for name, step in found.items() if name in known}


def kind(entry: zoo.Entry) -> str:
    """What a model's algorithm is called on screen: "L2", and "L2/FC" without a decoder (Yang, Li & Yu 2021); EM in
    several layers goes by a name of its own, as does a seed.

    A model that the visitor dropped is "yours", and one whose training has not ended is at its step.
    """
    matrix = entry.has_capsules and entry.config.capsule_layers
    called = (entry.method.short if matrix else entry.method.title) + "/FC" * entry.classifies_alone
    called += ", matrix capsules" if matrix else ""
    called += ", yours" if entry.name in own_models.models() else ""
    called += f", step {entry.step:,}" if isinstance(entry, zoo.AtStep) else ""
    return f"{called}, seed {entry.seed}" if entry.seed else called


def model(name: str) -> CapsNet:
    """A pretrained model in evaluation mode, where `CAPSVIZ_DEVICE` says, and on the CPU once that is out of memory.

    It is never written to. Raises ZooError, DeviceError.
    """
    if name not in all_entries():
        raise zoo.ZooError(f"{ABSENT.format(name=name)}; choose another source, and with it a model.")
    return _model(name, str(device.chosen()))


@of_zoo(spinner="Loading the model …", most=16)
def _model(name: str, place: str) -> CapsNet:  # place: where `device.chosen` says, for which it is kept
    own = own_models.models().get(name)
    return device.placed(own.network) if own else zoo.load(name)


def drawn_weights(name: str, layer: int, position: int, upper: int) -> dict[str, ndarray]:
    """The weights that a board draws, of the `upper` capsules at a position of a routed layer; none without a model."""
    return boards.drawn_weights(model(name), upper, layer, position) if name in entries() else {}


@of_zoo(most=16)
def decoder(name: str) -> bytes:
    """A model's decoder as the browser takes it. Raises PerturbError where it has none."""
    return pack_weights(model(name), exemplar_capsules(name), spread(name), class_means(name))


def class_means(name: str) -> torch.Tensor | None:
    """The mean capsule of each class, "class dim", from a model's record; None where it has not been measured."""
    try:
        return predictions(name).class_means(len(entries()[name].classes))
    except PredictionsError:
        return None


@of_zoo(most=16)
def exemplar_capsules(name: str) -> torch.Tensor:
    """Stored class capsules of a model, "class exemplar dim". Raises ZooError."""
    own = own_models.models().get(name)
    return own.file.capsules("exemplars") if own else zoo.exemplar_capsules(name)


@of_zoo(most=16)
def spread(name: str) -> torch.Tensor:
    """How much the numbers of a model's class capsules vary, "class dim". Raises ZooError."""
    own = own_models.models().get(name)
    return own.file.capsules("spread") if own else zoo.capsule_spread(name)


def unit(name: str) -> float:
    """What an offset of 1 adds to the numbers of a model's capsules. Raises ZooError."""
    return perturbation.unit(exemplar_capsules(name))


@of_zoo(spinner="Measuring what the capsule draws …", most=200)
def meanings(name: str, label: int) -> Meanings:
    """What the numbers of one class capsule of a model mean. Raises PerturbError."""
    return measure_meanings(model(name), exemplar_capsules(name)[label], spread(name)[label], label)


def _image(pixels: bytes, network: NetworkConfig) -> torch.Tensor:
    """An image by its bytes, as `Picture.key` has them, in the form that a network takes."""
    return torch.frombuffer(bytearray(pixels), dtype=torch.uint8).reshape(network.image)


@of_zoo(spinner="Routing …", most=32)
def trace(
    name: str,
    pixels: bytes,
    iterations: int | None,
    intervention: Intervention = UNTOUCHED,
    temperature: float | None = None,
) -> Trace:
    """One image (the bytes of "channel height width") through a model, recorded; temperature: what EM's λ rises to.

    Where a routing contains those of fewer iterations, it is recorded once, with as many as a visitor may choose.
    """
    network = model(name)
    if iterations is not None and iterations < MAX_ITERATIONS and contains_shorter(network.config):
        return shorter(network, trace(name, pixels, MAX_ITERATIONS, intervention, temperature), iterations)
    image = _image(pixels, network.config)
    schedule = network.config.inverse_temperature
    return record(
        network,
        data.to_float(image)[None],
        iterations=iterations,
        votes="all",
        intervention=intervention,
        inverse_temperature=None if temperature is None else replace(schedule, final=temperature),
        name=name,
        classes=entries()[name].classes,
        objects=entries()[name].objects,
    )


@of_zoo(spinner="Routing the same votes …", most=32)
def same_votes(name: str, pixels: bytes, intervention: Intervention, routing: str, iterations: int) -> Trace:
    """The votes of a model for one image, routed by another algorithm, recorded. Raises AdoptError."""
    config = model(name).config
    own = trace(name, pixels, config.iterations if config.algorithm.iterates else None, intervention)
    return adopting.same_votes(own, routing, iterations=iterations)


@of_zoo(spinner="Asking every model …", most=32)
def comparison(names: tuple[tuple[str, str], ...], pixels: bytes) -> Comparison:
    """One image through several models; names: what each is called in the comparison, and the model's own name."""
    models = {called: model(name) for called, name in names}
    first = entries()[names[0][1]]
    return compare(models, data.to_float(_image(pixels, first.network))[None], objects=first.objects)


@of_zoo(spinner="Changing the viewpoint …", most=64)
def sweep(
    name: str, pixels: bytes, label: int, others: Viewpoint, change: str, amounts: tuple[float, ...]
) -> viewpoint.Sweep:
    """One image (as in `trace`) through a network, by one amount of a change after the other on top of a viewpoint.

    name: of any model, also one without capsules. label: whose class capsule is read.
    """
    entry = all_entries()[name]
    network = model(name) if entry.has_capsules else _baseline(name, str(device.chosen()))
    image = _image(pixels, entry.network)
    return viewpoint.sweep(network, viewpoint.seen_by(image, others, change, amounts), label, entry.objects)


@of_zoo(most=32)
def pooled(name: str, pixels: bytes) -> Pooling:
    """What the first pooling of a CNN keeps of one image (as in `trace`), and of the image shifted by a pixel."""
    return pooling(_baseline(name, str(device.chosen())), _image(pixels, all_entries()[name].network))


@of_zoo(most=4)
def _baseline(name: str, place: str) -> CNN:
    network = zoo.load_network(name)
    assert isinstance(network, CNN)
    return network


@of_zoo(most=2)
def all_entries() -> dict[str, zoo.Entry]:
    """All models of pretrained/ by name, those without capsules and those at a step of their training as well, and the
    visitor's own. Raises ZooError.
    """
    return zoo.models() | zoo.at_steps() | {name: own.entry for name, own in own_models.models().items()}


@of_zoo(most=2 * len(NAMES))
def found_by(experiment: str, version: results.Version) -> Report:
    """What an experiment found; version: `results.version` of all files that it reads. Raises ResultError."""
    return report(experiment)


@of_zoo(most=24)
def _predictions(name: str, drawer: str) -> Predictions:
    return recorded(all_entries()[name], all_entries().get(drawer))


def predictions(name: str, drawer: str = "") -> Predictions:
    """What a model does with every test image of its data set, from its file.

    drawer: the model whose decoder draws it as a control; empty: as always. Raises PredictionsError.
    """
    if name in own_models.models():
        return _brought(name, drawer)
    return _predictions(name, drawer)


@of_zoo(most=16)
def contested(names: tuple[str, ...], among: tuple[int, ...] | None) -> int | None:
    """The image of their test set about which models disagree most (`capsviz.analysis.disagreement.contested`); None
    where one of them was not measured image by image, or on other images than the first.
    """
    try:
        records = [predictions(name) for name in names]
    except PredictionsError:
        return None
    if not all(record.same_images(records[0]) for record in records):
        return None
    return disagreement.contested(records, among)


def _brought(name: str, drawer: str) -> Predictions:
    """The record that came along with a model of the visitor's. Raises PredictionsError."""
    own = own_models.models()[name]
    found = None if drawer else own.file.record
    if found is None:
        raise PredictionsError(
            f"{name} brings no record of its test images along; run `capsviz zoo measure` where it comes from and "
            "export it again."
        )
    for other in zoo.models().values():
        if comparable(other, own.entry):
            try:
                known = predictions(other.name)
            except PredictionsError:
                continue
            if not known.same_images(found):
                raise PredictionsError(f"{name} was measured on other images than {other.name}; measure it on these.")
            break
    return found


def drawn(name: str, chosen: torch.Tensor | None = None, drawer: str = "") -> torch.Tensor:
    """What the recorded capsules of test images look like: "chosen channel height width"; drawer: as in `predictions`.

    Raises PredictionsError.
    """
    found = predictions(name, drawer)
    return drawings(found, model(found.drawn_by), chosen)


@of_zoo(spinner="Comparing the test images …", most=24)
def difference(first: str, second: str, by: str) -> torch.Tensor:
    """How far two models are apart on each test image, "count". Raises CompareError, PredictionsError."""
    artists = (model(predictions(first).drawn_by), model(predictions(second).drawn_by)) if by == "drawings" else None
    return disagreement.difference(predictions(first), predictions(second), by, artists)
