"""A trace is what the network did, and survives the way through a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import capsviz
from capsviz import Trace, zoo
from capsviz.analysis.ascent import fix
from capsviz.analysis.comparison import compare, redraw
from capsviz.analysis.viewpoint import numbers, sweep
from capsviz.network import CapsNet, preset
from capsviz.routing import ALGORITHMS, InverseTemperature
from capsviz.routing.dynamic import DynamicStep
from capsviz.tracing import layout
from capsviz.tracing.layout import TraceError
from capsviz.tracing.pixels import ModeError, PixelsError
from capsviz.tracing.recorder import contains_shorter, shorter, trace, with_votes
from tests.known import known
from tests.networks import network

ROUTINGS = ("dr", "em", "l2", "l1")


def images() -> torch.Tensor:
    return torch.rand(2, 1, 28, 28, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("routing", ROUTINGS)
def test_the_trace_ends_where_the_network_ends(routing):
    model = network(routing)
    trace, output = capsviz.trace(model, images()), model(images())
    assert torch.equal(trace.poses, output.poses)
    assert torch.equal(trace.activations, output.activations)
    assert torch.equal(known(trace.reconstruction), known(output.reconstruction))
    assert torch.equal(trace.layer["activations"][-1], output.activations)
    assert torch.equal(trace.predicted, output.activations.argmax(1))


def test_every_iteration_of_dynamic_routing_follows_from_the_one_before():
    layer = capsviz.trace(network("dr"), images(), iterations=5).layer
    assert layer.iterations == 5
    assert set(layer) == {"logits", "couplings", "sums", "poses", "activations", "agreement"}
    assert (layer["logits"][0] == 0).all()
    torch.testing.assert_close(layer["logits"][1:], layer["logits"][:-1] + layer["agreement"][:-1])
    torch.testing.assert_close(layer["couplings"], layer["logits"].softmax(-1))
    torch.testing.assert_close(layer["sums"], torch.einsum("tbij,bijh->tbjh", layer["couplings"], layer.votes))
    torch.testing.assert_close(
        layer["agreement"], torch.einsum("bijh,tbjh->tbij", layer.votes, layer["poses"]), atol=1e-5, rtol=1e-4
    )


def test_the_posteriors_of_em_are_the_responsibilities_of_the_next_iteration():
    layer = capsviz.trace(network("em"), images(), iterations=4).layer
    assert torch.equal(layer["posteriors"][:-1], layer["responsibilities"][1:])
    assert layer["inverse_temperature"].shape == (4,)
    assert (layer["inverse_temperature"].diff() > 0).all()


def test_the_agreement_of_discriminative_routing_is_between_votes_and_sums():
    layer = capsviz.trace(network("l1"), images()).layer
    assert layer["coefficients"].shape == (1, 144, 10)
    expected = torch.einsum("bijh,bjh->bij", layer.votes, layer["sums"][0])
    torch.testing.assert_close(layer["agreement"][0], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("votes", [True, False])
@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_trace_survives_its_file(routing, votes, tmp_path):
    trace = capsviz.trace(network(routing), images(), votes=votes, name="mine", classes=tuple("abcdefghij"))
    trace.save(tmp_path / "trace.safetensors")
    opened = Trace.open(tmp_path / "trace.safetensors")
    assert (opened.config, opened.name, opened.classes) == (trace.config, "mine", tuple("abcdefghij"))
    assert opened.layer.routing == routing
    assert set(opened.layer) == set(trace.layer)
    for name in trace.layer:
        assert torch.equal(opened.layer[name], trace.layer[name])
    assert (opened.layer.votes is None) == (not votes)
    for name in ("images", "primary_poses", "primary_activations", "poses", "activations", "reconstruction"):
        assert torch.equal(getattr(opened, name), getattr(trace, name))


def test_a_trace_of_two_objects_names_and_draws_two_and_so_does_its_file(tmp_path):
    model = network("l2")
    trace, single = capsviz.trace(model, images(), objects=2), capsviz.trace(model, images())
    assert torch.equal(trace.named, trace.activations.topk(2).indices)
    assert torch.equal(single.named[:, 0], trace.predicted) and single.named.shape == (2, 1)
    assert torch.equal(known(trace.reconstruction), model.reconstruct(trace.poses, trace.activations, objects=2))
    trace.save(tmp_path / "two.safetensors")
    assert torch.equal(Trace.open(tmp_path / "two.safetensors").named, trace.named)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": "two\nlines"}, "The trace: name is written in a way that is not allowed here"),
        ({"classes": ("caf\udce9", *"bcdefghij")}, "The trace is no text throughout"),
    ],
)
def test_what_could_not_be_opened_again_is_not_written(given, says, tmp_path):
    recorded = replace(capsviz.trace(network("l2"), images()), **given)
    with pytest.raises(TraceError, match=f"^{says}"):
        recorded.save(tmp_path / "trace.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_network_without_decoder_has_no_reconstruction(tmp_path):
    trace = capsviz.trace(network("l2", decoder=()), images())
    assert trace.reconstruction is None
    trace.save(tmp_path / "trace.safetensors")
    assert Trace.open(tmp_path / "trace.safetensors").reconstruction is None


def test_recording_leaves_nothing_on_the_model():
    model = network("dr")
    before = {name: id(value) for name, value in vars(model).items()}
    capsviz.trace(model, images())
    assert {name: id(value) for name, value in vars(model).items()} == before
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(isinstance(value, DynamicStep) for module in model.modules() for value in vars(module).values())


def test_a_missing_file_is_said_in_one_sentence(tmp_path):
    with pytest.raises(TraceError, match="There is no trace file"):
        Trace.open(tmp_path / "none")


@pytest.mark.parametrize("keep", [0, 4, 100, 5_000, -1])
def test_a_truncated_file_is_said_in_one_sentence(keep, tmp_path):
    path = tmp_path / "trace.safetensors"
    capsviz.trace(network("dr"), images()).save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(TraceError, match="cut short"):
        Trace.open(path)


def test_a_foreign_file_is_said_in_one_sentence(tmp_path):
    text, tensors, future = tmp_path / "a.txt", tmp_path / "b.safetensors", tmp_path / "c.safetensors"
    text.write_text("a text of some length, which is no trace at all")
    save_file({"weight": torch.zeros(3)}, str(tensors))
    save_file({"weight": torch.zeros(3)}, str(future), {"format": "capsviz-trace-99"})
    with pytest.raises(TraceError, match="no safetensors file"):
        Trace.open(text)
    with pytest.raises(TraceError, match="no capsviz trace"):
        Trace.open(tensors)
    with pytest.raises(TraceError, match="capsviz-trace-99 and this capsviz reads"):
        Trace.open(future)


def test_the_header_of_a_refused_file_is_not_kept(tmp_path):
    trace = capsviz.trace(network("l2"), images())
    trace.save(tmp_path / "small.safetensors")
    with safe_open(tmp_path / "small.safetensors", "pt") as file:
        said = json.loads(file.metadata()["trace"])
    layout._header.cache_clear()
    large = json.dumps(said | {"more": "x" * 200_000})
    save_file(
        {"images": torch.zeros(3)}, str(tmp_path / "large.safetensors"), {"format": "capsviz-trace-1", "trace": large}
    )
    with pytest.raises(TraceError):
        Trace.open(tmp_path / "large.safetensors")
    assert layout._header.cache_info().currsize == 0
    Trace.open(tmp_path / "small.safetensors")
    assert layout._header.cache_info().currsize == 1, "an ordinary one is"


def test_a_trace_that_lacks_a_part_is_said_in_one_sentence(tmp_path):
    path = tmp_path / "trace.safetensors"
    save_file({"images": torch.zeros(3)}, str(path), {"format": "capsviz-trace-1", "trace": "{}"})
    with pytest.raises(TraceError, match=r"^trace\.safetensors: config is missing; record it again\.$"):
        Trace.open(path)


def matrix_network() -> CapsNet:
    torch.manual_seed(0)
    return CapsNet(replace(preset("matrix-tiny", "digits", "em"), decoder=(20,))).eval()


@pytest.mark.parametrize("votes", [False, True, "all"])
def test_a_network_of_several_routed_layers_has_an_entry_for_each_in_its_file(votes, tmp_path):
    trace = capsviz.trace(matrix_network(), images(), votes=votes)
    trace.save(tmp_path / "trace.safetensors")
    opened = Trace.open(tmp_path / "trace.safetensors")
    assert len(opened.layers) == 3 and opened.layer is opened.layers[-1]
    for recorded, layer in zip(trace.layers, opened.layers, strict=True):
        assert (layer.lower_grid, layer.upper_grid, layer.window) == (
            recorded.lower_grid,
            recorded.upper_grid,
            recorded.window,
        )
        assert all(torch.equal(layer[name], recorded[name]) for name in recorded)
    kept = [layer.votes is not None for layer in opened.layers]
    assert kept == {False: [False] * 3, True: [False, False, True], "all": [True] * 3}[votes]


def test_each_layer_knows_the_grids_below_and_above_and_who_votes_for_whom():
    trace = capsviz.trace(matrix_network(), images())
    assert [(layer.lower_grid, layer.upper_grid) for layer in trace.layers] == [
        ((12, 12, 4), (5, 5, 4)),
        ((5, 5, 4), (3, 3, 4)),
        ((3, 3, 4), (1, 1, 10)),
    ]
    for layer in trace.layers:
        upper = layer.upper_grid[0] * layer.upper_grid[1] * layer.upper_grid[2]
        _, _, seen, count = layer["responsibilities"].shape
        assert count == upper == layer["activations"].shape[-1]
        assert len(layer.observed(upper - 1)) == seen
    first = trace.layers[0]
    # upper capsule 4 · (5 · 1 + 2) + 3 stands at row 1, column 2: its window begins at row 2, column 4
    assert first.observed(31)[:8].tolist() == [(2 * 12 + 4) * 4 + kind for kind in range(8)]
    assert trace.layer.observed(3).tolist() == list(range(36))


def test_the_capsules_below_a_layer_are_those_that_the_layer_below_ended_with():
    trace = capsviz.trace(matrix_network(), images())
    assert torch.equal(trace.lower_activations(0), trace.primary_activations)
    assert torch.equal(trace.lower_activations(), trace.layers[1]["activations"][-1])


def test_a_layer_by_itself_holds_the_capsules_of_one_position_and_what_they_see():
    whole = capsviz.trace(matrix_network(), images(), votes="all")
    position = 5 * 1 + 2
    view, first = whole.at(0, position), whole.layers[0]
    upper = slice(4 * position, 4 * position + 4)
    seen = first.observed(4 * position)
    assert view.classes == ("type 0", "type 1", "type 2", "type 3") and view.layer.lower_grid == (3, 3, 4)
    assert torch.equal(view.layer["responsibilities"], first["responsibilities"][..., upper])
    assert torch.equal(view.layer["means"], first["means"][:, :, upper])
    assert torch.equal(view.layer["inverse_temperature"], first["inverse_temperature"])
    assert torch.equal(known(view.layer.votes), known(first.votes)[:, :, upper])
    assert torch.equal(view.primary_activations, whole.primary_activations[:, seen])
    assert torch.equal(view.activations, first["activations"][-1][:, upper])
    classes = whole.at(-1)
    assert classes.classes == whole.classes and classes.layer.lower_grid == (3, 3, 4)
    assert torch.equal(classes.primary_activations, whole.layers[1]["activations"][-1])
    assert torch.equal(classes.primary_poses, whole.layers[1]["means"][-1])
    muted = capsviz.trace(matrix_network(), images(), intervention=capsviz.Intervention(muted=(int(seen[3]),)))
    assert (muted.at(0, position).gains == 0).nonzero().tolist() == [[3]] and muted.at(1).gains is None
    dense = capsviz.trace(network("em"), images())
    assert dense.at(-1) is dense
    with pytest.raises(IndexError):
        dense.at(0, 99)
    with pytest.raises(IndexError):
        whole.at(3)
    with pytest.raises(IndexError):
        whole.at(0, 25)


@pytest.mark.parametrize("routing", [name for name, method in ALGORITHMS.items() if method.iterates])
def test_a_routing_of_ten_iterations_begins_with_those_of_fewer(routing, tmp_path):
    """Of every algorithm, EM's λ and its schedule among it, whatever it says of its last iteration."""
    model = network(routing)
    longest = trace(model, images(), iterations=10, name="a", classes=tuple("abcdefghij"))
    assert contains_shorter(model.config)
    for iterations in (1, 3, 9, 10):
        own = trace(model, images(), iterations=iterations, name="a", classes=tuple("abcdefghij"))
        part = shorter(model, longest, iterations)
        assert part.header() == own.header()
        part.save(tmp_path / "part.safetensors")
        assert part.tensors().keys() == own.tensors().keys()
        for name, tensor in own.tensors().items():
            torch.testing.assert_close(part.tensors()[name], tensor, rtol=0, atol=0, equal_nan=True, msg=name)


def test_a_routing_of_several_layers_begins_with_no_other():
    model = matrix_network()
    recorded = trace(model, torch.rand(2, *model.config.image), iterations=3)
    assert not contains_shorter(model.config)
    with pytest.raises(TraceError, match="is no part of this trace"):
        shorter(model, recorded, 2)
    plain = network("dr")
    with pytest.raises(TraceError, match="4 iterations"):
        shorter(plain, trace(plain, images(), iterations=3), 4)


def test_what_is_recorded_may_be_learned_from_and_the_callers_images_may_change():
    model, images = CapsNet(preset("tiny", "digits", "dr")).eval(), torch.rand(2, 1, 28, 28)
    recorded = trace(model, images)
    before = recorded.images.clone()
    images.zero_()
    assert torch.equal(recorded.images, before)
    probe = torch.nn.Linear(16, 2)
    (probe(recorded.poses).sum() + probe(recorded.layer.poses).sum()).backward()
    assert probe.weight.grad is not None and bool(probe.weight.grad.any())


def test_a_network_whose_statistics_are_being_trained_is_not_looked_at():
    model, shown = CapsNet(preset("residual", "digits", "l2")), torch.rand(1, 1, 28, 28)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    looks: tuple[Callable[[], object], ...] = (
        lambda: trace(model, shown),
        lambda: compare({"mine": model}, shown),
        lambda: redraw(model, model, shown),
        lambda: fix(model, shown, torch.tensor([3])),
        lambda: numbers(model, shown, torch.tensor([3])),
        lambda: sweep(model, torch.zeros(2, 1, 28, 28, dtype=torch.uint8), 3),
    )
    for look in looks:
        with pytest.raises(ModeError, match=r"call `\.eval\(\)`"):
            look()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    model.eval()
    for look in looks:
        look()


@pytest.mark.parametrize("routing", sorted(ALGORITHMS))
def test_under_autocast_a_trace_is_the_networks_own_pass_too(routing):
    model, shown = network(routing), images()
    with torch.autocast("cpu", torch.bfloat16):
        recorded, output = trace(model, shown, votes=False), model(shown)
        cast = with_votes(model, recorded).layer.votes
        assert cast is not None
        routed = capsviz.record(None, cast, "dr").activations
    assert torch.equal(recorded.activations, output.activations) and torch.equal(recorded.poses, output.poses)
    again = with_votes(model, recorded).layer.votes
    assert again is not None and torch.equal(cast, again)
    assert torch.equal(routed, capsviz.record(None, cast, "dr").activations)


def test_a_pretrained_model_is_traced_by_its_name_with_its_classes_and_objects():
    entry = zoo.entry("multi-mnist-dr-residual")
    shown = torch.rand(1, *entry.network.image)
    named = trace(entry.name, shown, votes=False)
    assert (named.name, named.classes, named.objects) == (entry.name, entry.classes, 2)
    assert torch.equal(named.poses, trace(zoo.load(entry.name), shown).poses)
    own = trace(entry.name, shown, votes=False, name="mine", classes=tuple("abcdefghij"), objects=1)
    assert (own.name, own.classes, own.objects) == ("mine", tuple("abcdefghij"), 1)


def test_a_trace_is_saved_into_a_folder_that_is_not_there_yet(tmp_path):
    recorded = trace("digits-dr", images())
    recorded.save(tmp_path / "traces" / "new" / "mine.safetensors")
    assert torch.equal(Trace.open(tmp_path / "traces" / "new" / "mine.safetensors").poses, recorded.poses)


@pytest.mark.usefixtures("unchecked_types")
def test_how_many_objects_there_are_and_classes_are_whole_numbers_of_any_library():
    assert trace(network("dr"), images(), objects=np.int64(2)).objects == 2  # type: ignore[arg-type]
    for counted in (range(3, 13), torch.arange(3, 13)):
        assert trace(network("dr"), images(), classes=counted).classes[::9] == ("3", "12")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"objects": 0}, "An image cannot show 0 objects; give a number from 1 to 10."),
        ({"objects": True}, "An image cannot show True objects; give a number from 1 to 10."),
        ({"objects": 1.0}, "An image cannot show 1.0 objects; give a number from 1 to 10."),
        ({"classes": (0.5, *range(9))}, "The classes: [0] must be str and is float; give one name for each."),
        ({"name": "a\nb"}, "The name is written in a way that is not allowed here; give it as one line of text."),
        ({"name": 3}, "The name must be str and is int; give it as one line of text."),
        ({"objects": 11}, "An image cannot show 11 objects; give a number from 1 to 10."),
        ({"classes": ("a", "b")}, "The classes ('a', 'b') are not 10 names; give one for each."),
        ({"classes": 3}, "The classes 3 are not 10 names; give one for each."),
        (
            {"model": "digits-l2", "iterations": 5},
            "The routing of digits-l2 does not iterate; leave out the iterations.",
        ),
        (
            {"inverse_temperature": InverseTemperature(final=0.1)},
            "The routing of the network has no inverse temperature; leave it out.",
        ),
        ({"votes": "some"}, "There are no votes='some' to keep; choose True, False or \"all\"."),
        (
            {"model": torch.nn.Linear(2, 2)},
            "Linear is no capsule network of capsviz; give one, or the name of a pretrained model (`capsviz.record` "
            "takes the votes of any other).",
        ),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_runs(given, says, unchecked_types):
    with pytest.raises(TraceError) as caught:
        trace(**{"model": network("dr"), "images": images()} | given)
    assert str(caught.value) == says


@pytest.mark.parametrize("kind", [torch.float64, torch.float16, torch.bfloat16])
def test_a_network_in_other_numbers_is_told_what_to_call(kind):
    said = str(kind).removeprefix("torch.")
    with pytest.raises(PixelsError, match=rf"^The network is in {said} and takes images in float32; call `\.float"):
        trace(network("dr").to(kind), images())


def test_positions_of_a_layer_are_counted_from_either_end():
    model = CapsNet(preset("matrix-tiny", "digits", "em")).eval()
    whole = trace(model, torch.rand(1, 1, 28, 28), votes="all")
    rows, columns, _ = whole.layers[0].upper_grid
    assert torch.equal(whole.at(0, -1).poses, whole.at(0, rows * columns - 1).poses)
    assert whole.at(0, -1).poses.numel()


def test_a_trace_says_what_it_holds_in_few_lines_and_is_itself_alone(tmp_path):
    found = trace("digits-dr", torch.zeros(2, 1, 28, 28))
    assert (
        repr(found).splitlines()[0].startswith("<Trace of digits-dr, 10 classes: images 2 × 1 × 28 × 28, primary_poses")
    )
    assert "layers[0]: <Dynamic routing, T = 3: logits 3 × 2 × 288 × 10, couplings" in repr(found)
    assert len(repr(found)) < 600 and len(repr(found.layer.keys())) < 400
    other = trace("digits-dr", torch.zeros(2, 1, 28, 28))
    assert found == found and found != other and {found: 1, found.layer: 2}[found] == 1
    assert found in [other, found] and found.layer not in [other.layer]
    found.save(tmp_path / "many.safetensors")
    with pytest.raises(TraceError, match="holds no set of traces; open a trace in it by itself"):
        capsviz.TraceSet.open(tmp_path)


def test_of_a_model_at_another_step_those_that_are_kept_are_named():
    with pytest.raises(
        zoo.ZooError, match=r": digits-dr is kept as digits-dr@0, .*digits-dr@40, .*; choose one of these\.$"
    ):
        zoo.load("digits-dr@41")
    with pytest.raises(zoo.ZooError, match=r"no step of the training of digits-l2-fc is kept"):
        zoo.load("digits-l2-fc@40")
