"""Votes and steps of other programs become traces: with the same numbers, or with one sentence on what is wrong."""

from __future__ import annotations

import math
import re
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

import capsviz
from capsviz import Trace
from capsviz.analysis import metrics
from capsviz.boards import trace_board
from capsviz.figures.errors import FigureError
from capsviz.network import CapsNet, preset
from capsviz.network.config import ConfigError, Window
from capsviz.routing import ALGORITHMS, InverseTemperature, squash
from capsviz.routing.algorithm import Algorithm
from capsviz.routing.squash import unsquash
from capsviz.tracing.adopting import AdoptError, same_votes
from capsviz.tracing.intervention import Intervention
from capsviz.tracing.layout import TraceError
from capsviz.tracing.trace import NotRecorded
from tests.figures.conftest import digits
from tests.known import known

BESIDE = ("transform", "encoder", "decoder")
"""Where the weights of a network lie that are not the routing's own."""


@pytest.fixture(params=ALGORITHMS)
def ours(request) -> tuple[Trace, dict[str, Tensor]]:
    """A trace of a network of ours, and what its routing has learned beside the votes."""
    torch.manual_seed(0)
    model = CapsNet(preset("tiny", "digits", request.param)).eval()
    own = {name: value for name, value in model.state_dict().items() if not name.startswith(BESIDE)}
    return capsviz.trace(model, torch.rand(2, 1, 28, 28), name="ours"), own


def again(trace: Trace, votes: bool = True, **changes) -> Trace:
    """The trace from what another program would have recorded of it."""
    algorithm, layer = trace.config.algorithm, trace.layer
    shares = layer[algorithm.shares] if algorithm.share else layer[algorithm.shares][0]
    needed = ("activations", "cost", "inverse_temperature", "scores")
    given = {
        "shares": shares,
        "poses": layer.poses,
        "votes": layer.votes if votes else None,
        "images": trace.images,
        "lower_activations": trace.primary_activations,
        "grid": trace.grid,
        **{name: layer[name] for name in needed if name in layer},
    }
    return Trace.from_steps(trace.config.routing, **{**given, **changes})


def test_bare_votes_are_routed_as_in_the_network_that_cast_them(ours):
    trace, weights = ours
    routed = capsviz.record(
        trace.images,
        trace.layer.votes,
        trace.config.routing,
        weights=weights,
        activations=trace.primary_activations,
        grid=trace.grid,
        field=(trace.config.view(0).kernel, trace.config.view(0).stride),
        classes=trace.classes,
    )
    assert routed.layer.keys() == trace.layer.keys()
    for name, value in trace.layer.items():
        torch.testing.assert_close(routed.layer[name], value, atol=2e-4, rtol=2e-4)
    assert torch.equal(routed.predicted, trace.predicted) and routed.grid == trace.grid
    assert routed.config.iterations == trace.config.iterations
    assert routed.config.receptive_field(1, 2) == trace.config.receptive_field(1, 2)
    assert routed.reconstruction is None and routed.primary_poses.shape[-1] == 0


def test_what_follows_from_recorded_steps_is_what_our_routing_computes(ours):
    trace, _ = ours
    found = again(trace)
    for name in {*trace.layer} - {"posteriors"}:
        torch.testing.assert_close(found.layer[name], trace.layer[name], atol=2e-4, rtol=2e-4)
    if "board" in trace.config.algorithm.pictures:
        assert trace_board(found).message(0) is not None


def test_logits_that_are_nobodys_sum_of_agreement_are_told_up_to_a_constant():
    couplings = torch.rand(2, 1, 5, 3).softmax(-1)
    votes, poses = torch.randn(1, 5, 3, 4), squash(torch.randn(2, 1, 3, 4))
    found = Trace.from_steps("dr", couplings, poses, votes=votes)
    torch.testing.assert_close(found.layer["logits"].softmax(-1), couplings)
    before = torch.einsum("bijh,bjh->bij", votes, poses[0])
    supposed = torch.stack([torch.zeros_like(before), before])
    off = couplings * (found.layer["logits"] - supposed)
    torch.testing.assert_close(off.sum(-1), torch.zeros(2, 1, 5), atol=1e-5, rtol=0)


def test_without_votes_what_needs_none_is_there_and_the_rest_says_so(ours):
    trace, _ = ours
    found = again(trace, votes=False)
    assert found.layer.votes is None
    torch.testing.assert_close(found.activations, trace.activations, atol=1e-5, rtol=1e-4)
    if trace.config.algorithm.share is None or "agreement" in trace.layer:
        with pytest.raises(NotRecorded, match=r"^The trace does not hold the agreement; record them as well\.$"):
            found.layer["agreement"]
    with pytest.raises(NotRecorded, match=r" has no love; it has .*activations"):
        found.layer["love"]
    if "board" in trace.config.algorithm.pictures:
        with pytest.raises(
            FigureError, match=r"The trace holds no votes; record it again with them \(`capsviz trace --votes`"
        ):
            trace_board(found)


def test_an_adopted_trace_survives_the_way_through_a_file(ours, tmp_path):
    trace, _ = ours
    found = again(trace, field=(5, 2), images=torch.rand(2, 3, 40, 30), name="theirs")
    found.save(tmp_path / "theirs.safetensors")
    opened = Trace.open(tmp_path / "theirs.safetensors")
    assert opened.config == found.config and opened.name == "theirs"
    assert all(torch.equal(value, opened.tensors()[name]) for name, value in found.tensors().items())
    one = capsviz.TraceSet.open(tmp_path / "theirs.safetensors")
    assert len(one) == 2 and torch.equal(one[1].poses, found.poses[1:]) and one.labels.shape == (2, 0)
    iterates = trace.config.algorithm.iterates
    assert one.recorded["votes"] and one.recorded["iterations"] == (trace.config.iterations if iterates else None)
    with pytest.raises(ConfigError, match="cannot be built"):
        CapsNet(opened.config)


def test_a_decoder_sees_the_most_active_capsule_alone():
    couplings, poses = torch.full((1, 2, 4, 3), 1 / 3), squash(torch.randn(1, 2, 3, 2))

    def decoder(capsules: Tensor) -> Tensor:
        assert ((capsules.norm(dim=-1) > 0).sum(1) == 1).all()
        return capsules.sum((1, 2)).sigmoid()[:, None, None, None].expand(-1, 1, 28, 28)

    found = Trace.from_steps("dr", couplings, poses, decoder=decoder, images=torch.zeros(2, 1, 28, 28))
    longest = poses[0].gather(1, found.predicted[:, None, None].expand(-1, 1, 2)).sum((1, 2)).sigmoid()
    torch.testing.assert_close(known(found.reconstruction)[:, 0, 0, 0], longest)


def test_where_nobody_says_what_capsules_see_they_see_the_whole_image():
    found = Trace.from_steps("dr", torch.full((1, 1, 6, 2), 0.5), torch.zeros(1, 1, 2, 3), grid=(2, 3, 1))
    assert found.config.receptive_field(1, 2) == (0, 0, 28, 28) and found.config.view(0) == Window(28, 0)


def test_em_takes_the_lambda_of_the_network_that_cast_the_votes():
    images = digits()
    theirs, weaker = capsviz.trace("digits-em", images), InverseTemperature(0.1)
    model = capsviz.load("digits-em")
    weights = {name: model.owner(0).state_dict()[name] for name in ("beta_u", "beta_a")}
    given: dict[str, Any] = {"weights": weights, "activations": theirs.primary_activations}
    wanted = capsviz.trace(model, images, inverse_temperature=weaker)
    found = capsviz.record(images, known(theirs.layer.votes), "em", inverse_temperature=weaker, **given)
    torch.testing.assert_close(found.activations, wanted.activations, rtol=1e-4, atol=1e-5)
    plain = capsviz.record(images, known(theirs.layer.votes), "em", **given)
    torch.testing.assert_close(plain.activations, theirs.activations, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("unchecked_types")
def test_an_inverse_temperature_that_means_nothing_is_refused_as_all_else_is():
    betas, wrong = {"beta_u": torch.zeros(3), "beta_a": torch.zeros(3)}, cast("InverseTemperature", 2.0)
    said = re.escape(
        "2.0 is no inverse temperature; give capsviz.routing.InverseTemperature(final=1.0, decay=0.5, start=0.2), or "
        "part of it."
    )
    with pytest.raises(AdoptError, match=f"^{said}$"):
        capsviz.record(None, torch.rand(1, 4, 3, 2), "em", weights=betas, inverse_temperature=wrong)
    with pytest.raises(ConfigError, match=f"^{said}$"):
        capsviz.trace("digits-em", digits(), inverse_temperature=wrong)


@pytest.mark.usefixtures("unchecked_types")
def test_iterations_are_refused_where_the_routing_has_none_and_a_decoder_that_is_no_function():
    votes, coefficients = torch.rand(1, 4, 3, 2), torch.rand(4, 3)
    for routing, title in (("l2", "L2"), ("l1", "L1")):
        for iterations in (3, -5):
            with pytest.raises(AdoptError, match=rf"^{title}.* does not iterate; leave out the iterations\.$"):
                capsviz.record(None, votes, routing, iterations=iterations, weights={"coefficients": coefficients})
        assert capsviz.record(None, votes, routing, weights={"coefficients": coefficients}).layer.iterations == 1
    assert capsviz.record(None, votes, "dr").layer.iterations == 3
    with pytest.raises(AdoptError, match=r"^The decoder 3 draws nothing; give a function that draws the capsules\.$"):
        capsviz.record(None, votes, "dr", decoder=cast("Any", 3))


def test_no_more_is_held_than_the_votes(monkeypatch: pytest.MonkeyPatch):
    """A transform from as many dimensions as the votes have would be as many times their size."""
    held = []
    real = Algorithm.add_weights

    def seen(algorithm: Algorithm, owner: Any, *given: Any) -> None:
        real(algorithm, owner, *given)
        held.append(owner)

    monkeypatch.setattr(Algorithm, "add_weights", seen)
    votes = torch.rand(1, 8, 3, 64)
    capsviz.record(None, votes, "dr")
    assert [owner.transform.device.type for owner in held] == ["meta"]


@pytest.mark.parametrize("start", [0.0, 2.0])
def test_a_board_says_that_all_begin_alike_where_they_do(start: float):
    votes, logits = torch.randn(1, 8, 4, 6), start * torch.randn(1, 8, 4)
    couplings, poses = [], []
    for _ in range(3):
        couplings.append(logits.softmax(-1))
        poses.append(squash(torch.einsum("bij,bijd->bjd", couplings[-1], votes)))
        logits = logits + torch.einsum("bijd,bjd->bij", votes, poses[-1])
    found = Trace.from_steps("dr", torch.stack(couplings), torch.stack(poses), votes=votes)
    said = trace_board(found).message(0).fields["lines"][0]["says_first"]
    assert said == (None if start else "All b are 0: every coupling is 1/4, maximum confusion.")


def test_unsquash_is_the_way_back():
    sums = torch.randn(3, 5, 4) * 3
    torch.testing.assert_close(unsquash(squash(sums)), sums, atol=1e-4, rtol=1e-4)
    assert unsquash(torch.ones(1, 4)) is None
    assert torch.equal(known(unsquash(torch.zeros(2, 3))), torch.zeros(2, 3))


C, V = torch.full((2, 1, 4, 2), 0.5), torch.zeros(2, 1, 2, 3)
STEPS_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no routing": ({"routing": "abacus"}, r"No routing is called 'abacus'; choose one of dr, "),
    "no word": ({"routing": ["dr"]}, r"No routing is called \['dr'\]"),
    "sums": ({"shares": C * 0.9}, "add up over the upper ones to 1 within 0.1, not 0.001; give shares"),
    "other axis": ({"shares": torch.full((2, 1, 4, 2), 0.25)}, "normalised over the last axis, the upper capsules"),
    "not finite": ({"poses": V / 0}, "The poses hold numbers that are not finite"),
    "twice": ({"couplings": C * 0 + 7}, "The couplings are given twice; give them by their place alone"),
    "iterations": (
        {"shares": C[:1]},
        r"The couplings are 1 × 1 × 4 × 2 and iterations \(2\) × images \(1\) × lower × upper \(2\) is wanted",
    ),
    "votes": (
        {"votes": torch.zeros(1, 4, 2, 5)},
        r"The votes are 1 × 4 × 2 × 5 and images \(1\) × lower \(4\) × upper \(2\) × dim \(3\) is wanted",
    ),
    "images": ({"images": torch.full((1, 1, 8, 8), 7.0)}, "The images reach from 7 to 7; divide bytes by 255"),
    "channels": ({"images": torch.zeros(1, 2, 8, 8)}, r"The images have 2 channels; give one \(gray\) or three"),
    "no images": ({"images": torch.zeros(1, 1, 0, 0)}, "There is nothing in the images; give at least one image"),
    "no shares": ({"shares": C[:, :, :0]}, "There is nothing in the couplings; give"),
    "grid": ({"grid": (2, 2, 2)}, r"The grid \(2, 2, 2\) is not that of 4 lower capsules"),
    "short grid": ({"grid": (2, 2)}, r"The grid \(2, 2\) is not .* 4 lower capsules; give rows, columns and types"),
    "negative grid": ({"grid": (-2, -2, 1)}, r"The grid \(-2, -2, 1\) is not that of 4 lower capsules"),
    "no grid": ({"grid": 4}, "The grid 4 is not that of 4 lower capsules"),
    "no field": ({"field": 17}, r"The field 17 is no side and step within 28 × 28 pixels; give both, as \(9, 2\)"),
    "broken field": ({"field": (17.5, 2)}, r"The field \(17.5, 2\) is no side and step"),
    "wide field": ({"field": (17, 10**9)}, r"The field \(17, 1000000000\) is no side and step"),
    "no name": ({"name": 7}, "The name must be str and is int; give it as one line of text"),
    "two lines": ({"name": "my\nown"}, "The name is written in a way that is not allowed here; give it as one line"),
    "no names": ({"classes": (1.5, 2)}, r"The classes: \[0\] must be str and is float; give one name for each upper"),
    "activations": ({"activations": torch.full((2, 1, 2), 7.0)}, r"The activations are not in 0\.\.1; give how likely"),
    "presence": ({"lower_activations": torch.full((1, 4), -0.1)}, r"The lower_activations are not in 0\.\.1"),
    "long": ({"poses": V + 3}, "The poses are up to 5.196 long; give them squashed, to at most 1"),
    "overflow": ({"poses": V, "votes": torch.full((1, 4, 2, 3), 2e38)}, "The votes are so large that the .* overflow"),
    "drawings": ({"decoder": lambda poses: None}, "The drawings are no real numbers in rows of one length"),
    "drawn": (
        {"decoder": lambda poses: poses},
        r"The drawings are 1 × 2 × 3 and images \(1\) × channels \(1\) × height \(28\) × width \(28\) is wanted",
    ),
    "field": ({"grid": (2, 2, 1), "field": (28, 2)}, "2 positions that see 28 pixels, 2 apart, do not fit into 28"),
    "names": ({"classes": ("one",)}, "There are 2 upper capsules and 1 names; give one for each"),
    "unknown": ({"wishes": C}, "No number of Dynamic routing is called 'wishes'; choose among logits, couplings"),
    "further": ({"logits": torch.zeros(2, 3)}, r"The logits are 2 × 3 and iterations \(2\) × images \(1\) × lower"),
}


@pytest.mark.parametrize("case", STEPS_WRONG)
def test_steps_that_make_no_trace_are_answered_in_one_sentence(case, unchecked_types):
    changes, says = STEPS_WRONG[case]
    with pytest.raises(AdoptError, match=says) as caught:
        Trace.from_steps(**{"routing": "dr", "shares": C, "poses": V} | changes)
    assert str(caught.value).count(". ") == 0 and str(caught.value).endswith(".")


def test_votes_that_make_no_trace_are_answered_in_one_sentence(unchecked_types):
    votes = torch.randn(1, 4, 2, 3)
    with pytest.raises(AdoptError, match=r"takes weights=\{…\} with beta_u \(2,\), beta_a \(2,\)"):
        capsviz.record(None, torch.randn(1, 4, 2, 16), "em")
    with pytest.raises(AdoptError, match=r"^Dynamic routing learns nothing beside the votes; leave out the weights\.$"):
        capsviz.record(None, votes, "dr", weights={"b": votes})
    with pytest.raises(AdoptError, match="The votes are 4 × 2 × 3 and images × lower × upper × dim is wanted"):
        capsviz.record(None, votes[0], "dr")
    with pytest.raises(AdoptError, match="hold numbers that are not finite"):
        capsviz.record(None, votes / 0, "dr")
    with pytest.raises(AdoptError, match="The votes are so large that the logits overflow; scale them down"):
        capsviz.record(None, torch.randn(1, 6, 3, 4) * 1e20, "dr")
    steps = {"activations": torch.full((1, 1, 2), 0.5), "variances": torch.zeros(1, 1, 2, 3)}
    with pytest.raises(AdoptError, match="The variances are not all above 0; give σ² of every Gaussian"):
        Trace.from_steps("em", C[:1], V[:1], **steps)
    steps = {"shares": C[:1], "poses": V[:1], "votes": votes, "activations": torch.full((1, 1, 2), 0.5)}
    with pytest.raises(AdoptError, match="EM routing with votes needs cost and inverse_temperature"):
        Trace.from_steps("em", **steps)
    with pytest.raises(AdoptError, match="needs the activations of every iteration"):
        Trace.from_steps("em", C[:1], torch.zeros(1, 1, 2, 3))


def test_of_a_trace_whose_network_is_away_a_beginning_is_cut_and_nothing_drawn():
    from capsviz.tracing.recorder import shorter

    whole = capsviz.record(None, torch.randn(1, 4, 2, 3), "dr", iterations=4)
    begun = shorter(None, whole, 2)
    assert begun.layer.iterations == 2 and begun.reconstruction is None
    assert torch.equal(begun.poses, whole.layer.poses[1])
    with pytest.raises(TraceError, match="no part of this trace"):
        shorter(None, whole, 5)


def test_the_same_votes_are_routed_by_any_algorithm_that_says_something_before_training():
    model = CapsNet(preset("tiny", "digits", "dr")).eval()
    own = capsviz.trace(model, torch.rand(2, 1, 28, 28), votes="all")
    able = [name for name, each in ALGORITHMS.items() if each.unlearned(1, 1) is not None]
    assert len(able) == len(ALGORITHMS) - 1
    for name in able:
        found = same_votes(own, name, iterations=2)
        assert found.config.routing == name and found.classes == own.classes and found.grid == own.grid
        torch.testing.assert_close(known(found.layer.votes), known(own.layer.votes))
        capsule = own.config.lower - 1
        row, column, _ = (capsule // own.grid[2] // own.grid[1], capsule // own.grid[2] % own.grid[1], 0)
        assert found.config.receptive_field(row, column) == own.config.receptive_field(row, column)
    torch.testing.assert_close(same_votes(own, "dr").activations, own.activations)
    boosted = Intervention(boosted=tuple(range(200)))
    touched = capsviz.trace("digits-dr", digits(), votes="all", intervention=boosted, objects=2)
    assert touched.primary_activations.max() > 1
    for name in able:
        found = same_votes(touched, name)
        assert found.objects == 2 and torch.equal(known(found.gains), known(touched.gains))
    [silent] = ALGORITHMS.keys() - set(able)
    with pytest.raises(AdoptError, match="by what it has learned; choose another"):
        same_votes(own, silent)
    with pytest.raises(AdoptError, match="holds no votes"):
        same_votes(capsviz.trace(model, torch.rand(1, 1, 28, 28), votes=False), "em")


def test_what_a_capsule_of_a_padded_encoder_sees_is_kept():
    model = CapsNet(preset("residual", "digits", "dr")).eval()
    own = capsviz.trace(model, torch.rand(1, 1, 28, 28), votes="all")
    found = same_votes(own, "em")
    rows, columns, _ = own.grid
    for row in range(rows):
        for column in range(columns):
            assert found.config.receptive_field(row, column) == own.config.receptive_field(row, column)


def test_a_share_that_rounding_left_below_0_is_0():
    shares = torch.tensor([-1e-8, 0.5, 0.5]).expand(2, 1, 4, 3)
    trace = Trace.from_steps("dr", shares, torch.rand(2, 1, 3, 5) / 9)
    assert trace.layer["couplings"].min() == 0
    assert metrics.summarise(trace).entropy == pytest.approx([math.log(2, 3)] * 2)


def test_shares_of_few_digits_add_up_as_nearly_as_they_can():
    shares = torch.randn(3, 2, 288, 10).softmax(-1)
    trace = Trace.from_steps("dr", shares.bfloat16(), torch.rand(3, 2, 10, 16) / 9)
    torch.testing.assert_close(trace.layer["couplings"], shares, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(trace.layer["couplings"].sum(-1), torch.ones(3, 2, 288))
    with pytest.raises(AdoptError, match="add up over the upper ones"):
        Trace.from_steps("dr", 0.9 * shares.bfloat16(), torch.rand(3, 2, 10, 16) / 9)
    with pytest.raises(AdoptError, match="The couplings are negative somewhere"):
        Trace.from_steps("dr", torch.tensor([1.5, -0.5]).expand(1, 1, 4, 2), torch.zeros(1, 1, 2, 3))
    own = {"beta_u": torch.zeros(2), "beta_a": torch.zeros(2)}
    with pytest.raises(AdoptError, match=r"activations are not in 0\.\.1"):
        capsviz.record(None, torch.randn(1, 4, 2, 16), "em", activations=-torch.ones(1, 4), weights=own)


def test_a_trace_is_its_own_whatever_becomes_of_what_it_was_made_from(tmp_path):
    votes = torch.randn(1, 6, 1, 4)
    images = torch.rand(1, 1, 8, 8)
    trace = capsviz.record(images, votes, "dr", lower_poses=votes[:, :, 0], decoder=lambda poses: images)
    kept = known(trace.layer.votes).clone(), trace.images.clone()
    trace.save(tmp_path / "trace.safetensors")  # though votes, lower poses, images and drawings were the same memory
    votes.zero_()
    images.zero_()
    assert torch.equal(known(trace.layer.votes), kept[0]) and torch.equal(trace.images, kept[1])
    assert torch.equal(Trace.open(tmp_path / "trace.safetensors").images, kept[1])
    even = torch.full((2, 1, 3), 1 / 3)
    scored = Trace.from_steps(
        "attention", even.unsqueeze(2).expand(2, 1, 5, 3), torch.randn(2, 1, 3, 4), activations=even
    )
    scored.save(tmp_path / "scored.safetensors")


@pytest.mark.parametrize(("lower", "dim", "iterations"), [(6, 2, 3), (1, 16, 1), (1, 2, 1)])
def test_a_few_votes_of_few_numbers_have_a_board(lower: int, dim: int, iterations: int):
    trace = capsviz.record(None, torch.randn(1, lower, 3, dim), "dr", iterations=iterations)
    assert trace_board(trace).kind == "routing-board"


def test_steps_may_come_as_arrays_of_numpy(unchecked_types):
    couplings, poses = torch.rand(2, 1, 4, 3).softmax(-1), squash(torch.randn(2, 1, 3, 5))
    for routing, shares in (("dr", couplings), ("l2", torch.rand(4, 3))):
        given = poses[: 1 if routing == "l2" else 2]
        found = Trace.from_steps(routing, np.asarray(shares), np.asarray(given))  # type: ignore[arg-type]
        assert found.tensors().keys() == Trace.from_steps(routing, shares, given).tensors().keys()
        torch.testing.assert_close(found.poses, given[-1])


def test_iterations_and_names_of_classes_may_be_those_of_numpy(unchecked_types):
    names = np.array(["a", "b", "c"])
    given: dict[str, Any] = {"iterations": np.int64(4), "classes": names}
    made = capsviz.record(None, torch.randn(1, 4, 3, 2), "dr", **given)
    assert made.layer.iterations == 4 and made.classes == ("a", "b", "c")
    with pytest.raises(AdoptError, match=r"There are no 2.5 iterations; give a whole number."):
        capsviz.record(None, torch.randn(1, 4, 3, 2), "dr", **{**given, "iterations": 2.5})


@pytest.mark.parametrize("numbers", [range(3), [0, 1, 2], np.arange(3), torch.arange(3), iter((0, "1", 2))])
def test_classes_may_be_numbers_in_whatever_holds_them(numbers: Any, unchecked_types):
    made = capsviz.record(None, torch.randn(1, 4, 3, 2), "dr", classes=numbers)
    assert made.classes == ("0", "1", "2")


@pytest.mark.parametrize("wrong", ["abc", 3, [0.5, 1, 2], {"a": 1, "b": 2, "c": 3}])
def test_what_names_no_classes_is_said_so(wrong: Any, unchecked_types):
    with pytest.raises(AdoptError, match=r"^The classes.*; give one name for each upper capsule\.$"):
        capsviz.record(None, torch.randn(1, 4, 3, 2), "dr", classes=wrong)


def test_nothing_at_all_makes_no_trace(unchecked_types):
    with pytest.raises(AdoptError, match="There is nothing in the poses; give at least one image, one capsule and one"):
        Trace.from_steps("dr", C[:, :0], V[:, :0])
    with pytest.raises(AdoptError, match="There is nothing in the votes"):
        capsviz.record(None, torch.zeros(0, 4, 2, 3), "dr")


NUMBERS = torch.rand(1, 4, 2, 3, generator=torch.Generator().manual_seed(0))
SAME: dict[str, Any] = {
    "tensors in a list": [NUMBERS[0]],
    "tensors in tuples": tuple(tuple(each) for each in NUMBERS),
    "plain lists": NUMBERS.tolist(),
    "learned": NUMBERS.clone().requires_grad_(),
    "turned": NUMBERS.numpy()[:, ::-1].copy()[:, ::-1],
    "big-endian": NUMBERS.numpy().astype(">f4"),
    "sparse": NUMBERS.to_sparse(),
}


@pytest.mark.parametrize("kind", SAME)
def test_numbers_are_taken_in_whatever_holds_them(kind, unchecked_types):
    trace = capsviz.record(None, SAME[kind], "dr")
    torch.testing.assert_close(trace.layer.votes, NUMBERS)


@pytest.mark.parametrize(
    "given",
    [
        *(None, "votes", [[1.0, 2.0], [3.0]], [torch.zeros(2), torch.zeros(3)], NUMBERS + 1j, NUMBERS.numpy() + 1j),
        NUMBERS.to("meta"),
    ],
    ids=["none", "text", "ragged lists", "ragged tensors", "complex tensor", "complex array", "meta"],
)
def test_what_holds_no_numbers_is_answered_in_one_sentence(given, unchecked_types):
    with pytest.raises(
        AdoptError, match=r"The votes are no real numbers in rows of one length .*; give a tensor or an"
    ):
        capsviz.record(None, given, "dr")


def test_images_may_be_bytes_and_lie_as_a_picture_does(tmp_path):
    images = torch.randint(256, (1, 8, 8, 3), dtype=torch.uint8).permute(0, 3, 1, 2)
    for given in (images, images / 255):
        trace = capsviz.record(given, NUMBERS, "dr")
        trace.save(tmp_path / "trace.safetensors")
        assert torch.equal(Trace.open(tmp_path / "trace.safetensors").images, images / 255)


def test_votes_of_a_trace_without_poses_below_are_routed_again():
    assert same_votes(capsviz.record(None, NUMBERS, "dr"), "dr").primary_poses.shape == (1, 4, 0)
