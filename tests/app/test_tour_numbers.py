"""Every number that a caption says of a trace is what the network computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import pytest
import torch

from app.shared import resources
from app.sources import images
from app.tours import store
from capsviz.analysis.metrics import contributions
from capsviz.analysis.mixtures import begin, expectation, half_steps
from capsviz.analysis.viewpoint import amounts, lost
from capsviz.boards.mixture import FRAMES, ROUNDS, Laid
from capsviz.data import load, to_float
from capsviz.data.viewpoint import CHANGES, Viewpoint
from capsviz.experiments import convergence, iterations, results, robustness, table2
from capsviz.routing import InverseTemperature
from capsviz.tracing.intervention import UNTOUCHED, Intervention
from capsviz.tracing.recorder import trace as record
from capsviz.tracing.trace import Trace
from capsviz.training.recipes import recipes
from capsviz.zoo import AtStep
from tests.as_votes import as_votes
from tests.known import known

AGREEMENT, GAUSSIANS, LOOP = store.SHIPPED
NINE = 108


def caption(name: str, title: str) -> str:
    """The words of a step."""
    [step] = [step for step in store.find(name).steps if step.title == title]
    return step.caption


def trace(model: str, image: int, rounds: int | None = None, touched: Intervention = UNTOUCHED, **more: float) -> Trace:
    """A test image of the model's own data set, on this machine or from its exemplars."""
    entry = resources.entries()[model]
    picture = images.from_data(entry.data, "test", image, entry)
    return resources.trace(model, picture.key, rounds, touched, **more)


def lengths(found: Trace) -> list[float]:
    return found.activations[0].tolist()


def two(*values: float | torch.Tensor) -> list[str]:
    """As captions write them: two decimals."""
    return [f"{float(value):.2f}" for value in values]


def agreement() -> dict[str, list[str]]:
    last = trace("mnist-dr-paper", NINE, 3)
    steps = last.layer
    nine = steps["activations"][:, 0, 9].tolist()
    norm = steps["sums"][-1, 0, 9].norm().item()
    votes = known(last.layer.votes)[0, :, 9].norm(dim=-1)
    assert int(votes.argmax()) == 1129 and votes.median() < votes.max() / 10, "the longest; most are short"
    assert nine[-1] > 0.9 and sorted(lengths(last))[-2] < 0.1, "no margin loss"
    muted = lengths(trace("mnist-dr-paper", NINE, 3, replace(UNTOUCHED, muted=(1129,))))
    ten = lengths(trace("mnist-dr-paper", NINE, 10))
    given = contributions(last)[:, 9]
    assert int(given.argmax()) == 1129
    three = given.topk(3).values.sum()
    return {
        "Agreement": two(*steps["couplings"][:, 0, 1129, 9], *nine),
        "Squash": [f"{norm:.3f}", *two(nine[-1]), f"{norm**2:.2f}/{1 + norm**2:.2f}"],
        "Which parts made it": [
            f"three add {float(three):.2f} to",
            *two(norm, given[1129], given.clamp(min=0).sum() - three, -given.clamp(max=0).sum()),
        ],
        "Mute the key voter": two(nine[-1], muted[9]),
        "T: how many rounds?": two(ten[7], ten[4]),
        "Do more rounds overfit?": overfitting(),
    }


def overfitting() -> list[str]:
    """What more rounds do: trained with, to the digits, and asked for, to the errors of the networks that ship."""
    trained = known(results.read(iterations.NAME))
    test, train = (iterations.means_of(trained, part, "loss") for part in ("test", "train"))
    assert list(test) == [1, 2, 3, 4, 5]
    for more, fewer in zip((2, 3, 4, 5), test, strict=False):
        assert test[more].mean < test[fewer].mean and train[more].mean < train[fewer].mean, "both losses fall"
    gaps = iterations.gaps_of(trained)
    assert gaps[5].mean - gaps[1].mean < min(gap.high - gap.low for gap in gaps.values()), "much the same"
    errors = [each.mean for each in iterations.means_of(trained, "test", "error").values()]
    assert max(errors) - min(errors) < 100 / 360, "less than one image"
    rows = known(results.read(iterations.SHIPPED))["rows"]
    error = {(row["model"], row["iterations"]): row["error"] for row in rows}
    models = {row["model"] for row in rows}
    assert {row["trained_with"] for row in rows} == {3}
    counts = {row["model"]: row["count"] for row in rows}
    further = {model: round((error[model, 10] - error[model, 3]) * counts[model] / 100) for model in models}
    worse = [model for model in models if further[model] > 0]
    assert sorted(further[model] for model in worse)[1] == 6 < sorted(further[model] for model in worse)[2]
    here = [f"{error['mnist-dr-paper', rounds]:.2f} %" for rounds in (10, 3)]
    between = f"the test errors, {min(errors):.2f} to {max(errors):.2f} %"
    return [
        f"({gaps[1].mean:.4f} to {gaps[5].mean:.4f};",
        between,
        f"{len(worse)} of {len(models)} shipped networks, trained with 3,",
        f"this one on {further['mnist-dr-paper']} ({' instead of '.join(here)})",
    ]


def moved() -> list[str]:
    """What shifts and turns that no training showed do to dynamic routing and to the convolutional network."""
    rows = known(results.read(robustness.NAME))["rows"]
    assert len({tuple(row[f"seen_{name}"] for name in robustness.SEEN) for row in rows}) == 1, "all networks alike"
    assert rows[0]["seen_shift"] < 6 and rows[0]["seen_rotation"] < 40
    error = {(row["routing"], row["kind"], row["amount"]): row["error"] for row in rows}
    six, forty, sixty = (
        [f"{error[routing, *moved]:.1f} %" for routing in ("dr", "cnn")]
        for moved in (("shift", 6), ("rotation", 40), ("rotation", 60))
    )
    return [
        f"6 pixels, {six[0]} are wrong with dynamic routing and {six[1]}",
        f"by 40°, {' and '.join(forty)}, by 60°, {' and '.join(sixty)}",
    ]


def in_the_plane() -> dict[str, list[str]]:
    start = begin(2)
    steps = list(islice(half_steps(Laid("overlapping").tensor()[:, :2], start), FRAMES))
    laid = Laid("outlier").tensor()
    points, activations = laid[:, :2], laid[:, 2]
    routed = as_votes(
        points,
        activations,
        expectation(points, start),
        2,
        ROUNDS,
        beta_u=Laid.beta_u,
        beta_a=Laid.beta_a,
        inverse_temperature=InverseTemperature(Laid.temperature),
    )
    likelihoods = (steps[at].log_likelihood / len(points) for at in (0, -1))
    return {
        "A mixture of Gaussians": [value.replace("-", "−") for value in two(*likelihoods)],
        "These points are votes": two(*routed[-1].activations[0]),
    }


def named_between(model: str) -> list[str]:
    """The least and the greatest angle between which a network names the nine wherever it is turned."""
    entry, change = resources.entries()[model], CHANGES["rotation"]
    picture, angles = images.from_data(entry.data, "test", NINE, entry), amounts(change)
    swept = resources.sweep(model, picture.key, 9, Viewpoint(), change.name, angles)
    kept = [place for place, gone in enumerate(lost(swept.activations, 9, 1).tolist()) if not gone]
    assert kept == list(range(kept[0], kept[-1] + 1)), "without a gap"
    return [change.written(angles[place]) for place in (kept[0], kept[-1])]


def gaussians() -> dict[str, list[str]]:
    steps = trace("mnist-em-residual", NINE, 3).layer
    sigma = steps["variances"][:, 0, 9].sqrt().mean(-1)
    active = steps["activations"][:, 0]
    lenient = lengths(trace("mnist-em-residual", NINE, 3, temperature=0.1))
    matrix = lengths(trace("mnist-matrix", NINE))
    kept = trace("mnist-matrix", NINE).layer["responsibilities"][-1, 0].sum(0)
    assert kept.argmin() == 9
    assert active[0].max() < 0.1, "after the first round no class is there"
    assert {f"{value:.2f}" for value in lenient[:9]} == {"0.41", "0.42"}
    assert (CHANGES["rotation"].low, CHANGES["rotation"].high) == (-60, 60)
    between = (named_between(model) for model in ("mnist-dr-paper", "mnist-em-residual"))
    return in_the_plane() | {
        "Does it help?": moved(),
        "Turned all the way": [f"from {least} to {most}" for least, most in between],
        "They tighten": two(*sigma, *steps["responsibilities"][:, 0, 31, 9], *active[:, 9]),
        "Strict or lenient": two(lenient[9]),
        "Three layers up": [*two(matrix[9], matrix[4], sorted(matrix)[-3]), f"{kept[9]:.2f} of the 72 capsules"],
    }


def loop() -> dict[str, list[str]]:
    last = trace("mnist-dr-paper", NINE, 3)
    against = (known(last.layer.votes)[0, :, 9] * last.layer["poses"][-1, 0, 9]).sum(-1) < 0
    assert last.layer["couplings"][-1, 0, against, 9].min() > 0.05
    rounds = trace("digits-dr", 331, 3).layer["activations"][:, 0]
    early = trace("digits-dr@40", 0, 3).layer["activations"][:, 0]
    learned = trace("mnist-l2-residual", NINE)
    b = learned.layer["coefficients"][0]
    adding = int((contributions(learned)[:, 9][b[:, 9] < 0] > 0).sum())
    return {
        "Assumption 1: no vote counts negatively": [str(int(against.sum()))],
        "Assumption 2: the winner is right": two(*rounds[:, 3], rounds[0, 9], rounds[2, 9]),
        "Early on, the winner is often wrong": [*two(*early[[0, 2]][:, [9, 5]].flatten()), *strengthened()],
        "One coefficient for each pair": [f"{int((b[:, 9] < 0).sum())} of {len(b):,}", f"Of these {adding} **add**"],
        "How b was learned": [f"{100 * (b < 0).float().mean():.0f} %"],
        "Figure 2: read right, drawn wrong": drawn_wrong("mnist-l2-fc-residual"),
        "Table II": [ordered()],
        "So, do we need it?": with_and_without(),
    }


def drawn_wrong(name: str) -> list[str]:
    """What the network of the decoder that draws a model's capsules misreads, of them and of its own."""
    strangers = resources.predictions(name)
    own = resources.predictions(strangers.drawn_by)
    return [
        f"{int(strangers.drawn_wrong.sum()):,} of {int(strangers.right.sum()):,}",
        f"it misreads {int(own.drawn_wrong.sum()):,}",
    ]


def with_and_without() -> list[str]:
    """Errors on MNIST with the loop, L2 and L1: of our encoder, as in the figure, and of the papers' network."""
    shown = [curve for curve in convergence.curves() if curve.data == "mnist"]
    assert {curve.preset for curve in shown} == {"residual"}
    last = {curve.routing: curve.validation[-1][1] for curve in shown}
    turned = {recipe.name for recipe in recipes() if recipe.config.rotate}
    assert turned & {f"mnist-{routing}-paper" for routing in last} == {"mnist-l2-paper", "mnist-l1-paper"}
    test = {(line.method, line.preset): known(line.ours) for line in table2.lines() if line.data == "mnist"}
    assert {test[method, "residual"].count for method in ("DR", "L2", "L1")} == {3}, "three seeds"
    said = [
        "{:.2f} %, {:.2f} % and {:.2f} %".format(*(test[method, preset].mean for method in ("DR", "L2", "L1")))
        for preset in ("residual", "paper")
    ]
    return [f"at the end {last['dr']:.2f} %", f"with L2 {last['l2']:.2f} % and with L1 {last['l1']:.2f} %", *said]


def ordered() -> str:
    """Who errs least and most on MNIST with the papers' network; and that the caption says what is beyond chance."""
    verdicts = {(line.block, line.data, line.method): line.verdict for line in table2.lines()}
    lower, equal, higher = ({key for key, verdict in verdicts.items() if verdict == each} for each in (-1, 0, 1))
    assert {data for _, data, _ in lower | equal | higher} == {"mnist", "fashion-mnist"}, "and no CIFAR-10"
    assert {(block, data) for block, data, _ in equal} - {(table2.PAPERS, "fashion-mnist")} == {
        (table2.PAPERS, "mnist"),
        (table2.OURS, "mnist"),
    }
    assert {method for block, data, method in equal if (block, data) == (table2.PAPERS, "fashion-mnist")} == {"DR"}
    assert {(block, data) for block, data, _ in higher} == {(table2.PAPERS, "fashion-mnist")}
    assert {(block, data) for block, data, _ in lower} == {(table2.OURS, "fashion-mnist")}
    errors = {
        line.method: known(line.ours).mean
        for line in table2.lines()
        if (line.data, line.preset) == ("mnist", "paper") and "/" not in line.method
    }
    least, most = min(errors, key=errors.__getitem__), max(errors, key=errors.__getitem__)
    assert len(errors) == 3 and errors[most] - errors[least] < 0.1
    return f"Of our DR, L2 and L1 on MNIST, {least} errs least and {most} most, a few images of 10,000 apart"


def strengthened() -> list[str]:
    """What routing makes of the wrong winners of the first round, over the test images of the digits."""
    test, entry = load("digits", "test"), resources.entries()["digits-dr@40"]
    assert isinstance(entry, AtStep) and entry.checkpoints is not None
    routed = record(resources.model(entry.name), to_float(test.images), iterations=3).layer["activations"]
    first, last = routed[0], routed[-1]
    wrong = (winner := first.argmax(1)) != test.labels
    grown = (last - first).gather(1, winner.unsqueeze(1)).squeeze(1)[wrong] > 0
    still = int((last.argmax(1) != test.labels).sum())
    return [
        f"after {entry.step} of {entry.checkpoints.total:,} steps",
        f"Of {len(test)} test images the first round names {int(wrong.sum())} wrongly",
        f"of all {int(grown.sum())}, and after it {still} are wrong",
    ]


@pytest.mark.parametrize(("name", "computed"), [(AGREEMENT, agreement), (GAUSSIANS, gaussians), (LOOP, loop)])
def test_a_caption_says_what_the_network_computes(
    bare_machine, name: str, computed: Callable[[], dict[str, list[str]]]
):
    with torch.inference_mode():
        found = computed()
    missing = {title: [each for each in said if each not in caption(name, title)] for title, said in found.items()}
    assert not any(missing.values()), missing
