"""What MultiMNIST models draw of two digits over one another: the capsule of each, decoded for itself.

capsviz experiment multi-mnist --runs runs

The first test images, chosen by nobody, drawn as in Figure 5 of Sabour, Frosst & Hinton (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from capsviz import device, zoo
from capsviz.data import load, to_bytes, to_float
from capsviz.experiments import results, seeds
from capsviz.experiments.moving import own_of
from capsviz.experiments.multi import NAME, shipped
from capsviz.experiments.seeds import steps_of
from capsviz.files import CheckpointError, read_tensors, write_tensors
from capsviz.network import METHODS, CapsNet, strongest
from capsviz.training.config import TrainingConfig
from capsviz.training.runs import SUMMARY, open_run, read_summary

COUNT = 8
"""Images that are drawn."""


@dataclass(frozen=True)
class Drawer:
    """A model whose drawings are kept; command: what trained it, in so many steps."""

    name: str
    routing: str
    steps: int
    command: str


@dataclass(frozen=True)
class Drawn:
    """Two digits of every image, each decoded from its own class capsule.

    classes: the two that the model names, int64 "image 2", in the order of the labels where they are right; drawings:
    what its decoder makes of their capsules, uint8 "image 2 channel height width".
    """

    by: Drawer
    classes: Int64[Tensor, "image 2"]
    drawings: UInt8[Tensor, "image 2 channel height width"]


@dataclass(frozen=True)
class Pairs:
    """The images, uint8 "image channel height width", their two labels, int64 "image 2", and what each model drew."""

    images: UInt8[Tensor, "image channel height width"]
    labels: Int64[Tensor, "image 2"]
    drawn: tuple[Drawn, ...]


def path() -> Path:
    """The result file."""
    return results.folder() / f"{NAME}.safetensors"


def read() -> Pairs | None:
    """What was drawn, None where nothing was; raises ResultError for a damaged file."""
    if not path().is_file():
        return None
    try:
        tensors, header = read_tensors(path())
        drawn = [
            Drawn(Drawer(**made), tensors[f"{made['name']}.classes"], tensors[f"{made['name']}.drawings"])
            for made in header["models"]
        ]
        return Pairs(tensors["images"], tensors["labels"], tuple(drawn))
    except (CheckpointError, KeyError, TypeError) as error:
        raise results.ResultError(
            f"{path()} is damaged; restore it with git, or delete it and run `capsviz experiment {NAME} --runs RUNS`."
        ) from error


def shipping(found: Pairs) -> Pairs:
    """What the models that ship drew, by algorithm; of all of them where none does."""
    drawn, order = [one for one in found.drawn if one.by.name in zoo.models()] or found.drawn, list(METHODS)
    return replace(found, drawn=tuple(sorted(drawn, key=lambda one: order.index(one.by.routing))))


def run(runs: Path | None = None, *, say: Callable[[str], None] = lambda _: None) -> None:
    """Draw the first test images by every MultiMNIST model of pretrained/ and every finished run below `runs`.

    A run counts where its error is among the results (`capsviz zoo seeds`). Models drawn before stay. Raises
    CheckpointError for a damaged run, DatasetMissing.
    """
    with results.apart(own_of(shipped())):
        networks = list(_networks(runs))
        if not networks:
            return
        pixels, labels = load(NAME, "test").batch(torch.arange(COUNT))
        drawn = {}
        for by, network in networks:
            drawn[by.name] = Drawn(by, *draw(network, to_float(pixels), labels))
            say(f"{by.name}: {COUNT} images drawn")
        tensors = {"images": pixels, "labels": labels}
        with results.held():
            before = read()
            kept = ({one.by.name: one for one in before.drawn} if before else {}) | drawn
            for name, one in kept.items():
                tensors |= {f"{name}.classes": one.classes, f"{name}.drawings": one.drawings}
            write_tensors(path(), tensors, {"models": [asdict(one.by) for one in kept.values()]})


@device.or_cpu
@torch.inference_mode()
def draw(
    network: CapsNet, images: Float[Tensor, "image channel height width"], labels: Int64[Tensor, "image 2"]
) -> tuple[Int64[Tensor, "image 2"], UInt8[Tensor, "image 2 channel height width"]]:
    """The two classes that a network names in each image, and what its decoder draws of each one's capsule.

    Raises ValueError for a network without a decoder.
    """
    output = network(images.to(device.of(network)), reconstruct=False)
    classes = named(device.results(output.activations), labels)
    drawings = [network.decode(output.poses, which.to(output.poses.device)) for which in classes.unbind(1)]
    return classes, to_bytes(device.results(torch.stack(drawings, dim=1)))


def named(activations: Float[Tensor, "image upper"], labels: Int64[Tensor, "image 2"]) -> Int64[Tensor, "image 2"]:
    """The two classes that a network names, as `evaluate` does; one that is right stands in its label's place."""
    classes = strongest(activations, 2).sort(dim=1).values
    crossed = (classes.flip(1) == labels).any(dim=1, keepdim=True)
    return torch.where(crossed, classes.flip(1), classes)


def _networks(runs: Path | None) -> Iterator[tuple[Drawer, CapsNet]]:
    """The models that can draw, those that ship first."""
    for entry in zoo.models().values():
        if entry.data == NAME and entry.has_decoder:
            yield Drawer(entry.name, entry.routing, steps_of(entry), entry.command), zoo.load(entry.name)
    told = {(spread.name, spread.command): spread for spread in seeds.unshipped() if spread.data == NAME}
    for file in sorted(runs.glob(f"*/{SUMMARY}")) if runs else ():
        config = TrainingConfig.from_dict(read_summary(file.parent)["training"])
        spread = told.get((file.parent.name, config.command()))
        network = device.placed(open_run(file.parent)[0]) if spread else None
        if spread and isinstance(network, CapsNet) and network.decoder is not None:
            yield Drawer(spread.name, spread.routing, spread.steps, spread.command), network
