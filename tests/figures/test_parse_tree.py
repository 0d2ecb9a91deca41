"""Part and whole: the parts are those that give most, and lines and pictures are what the trace holds of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import capsviz
from capsviz.analysis.metrics import contributions
from capsviz.data import load, to_float
from capsviz.data.exemplars import exemplars
from capsviz.figures.csv_table import figure_csv
from capsviz.figures.describe import describe
from capsviz.figures.errors import FigureError
from capsviz.figures.parse_tree import WIDEST, in_words, parse_tree, parts, wholes
from capsviz.figures.theme import class_colour
from capsviz.network import CapsNet, preset
from tests.figures.conftest import opened
from tests.known import known


@pytest.fixture(scope="module", params=["digits-dr", "digits-l1"])
def trace(request: pytest.FixtureRequest) -> capsviz.Trace:
    images = to_float(load("digits", "test").images[:3])
    return capsviz.trace(capsviz.load(request.param), images, name=request.param)


def test_contributions_of_couplings_and_coefficients_sum_to_the_length_of_the_sum(trace: capsviz.Trace):
    for image in range(3):
        votes, given = known(trace.layer.votes)[image], contributions(trace, image)
        dr = "couplings" in trace.layer
        weights = trace.layer["couplings"][-1, image] if dr else trace.layer["coefficients"][-1]
        total = (weights[..., None] * votes).sum(0)
        for lower, upper in ((0, 0), (17, 3), (287, 9)):
            along = sum(float(a) * float(b) for a, b in zip(votes[lower, upper], total[upper], strict=True))
            expected = float(weights[lower, upper]) * along / float(total[upper].norm())
            assert float(given[lower, upper]) == pytest.approx(expected, abs=1e-5)
        torch.testing.assert_close(given.sum(0), total.norm(dim=-1), atol=1e-4, rtol=1e-4)


def test_the_tree_explains_the_named_class_and_the_next_by_those_that_give_most(trace: capsviz.Trace):
    uppers, given = wholes(trace, 1), contributions(trace, 1).numpy()
    assert uppers == trace.activations[1].topk(2).indices.tolist()
    chosen = parts(given, uppers, 2)
    for upper in uppers:
        best = sorted(range(288), key=lambda lower: -given[lower, upper])[:2]
        assert set(best) <= set(chosen)
    assert len(chosen) == len(set(chosen)) <= 4
    figure = parse_tree(trace, image=1, each=2)
    lines = {each.name: each for each in figure.data if each.type == "scatter" and "to" in each.name.split()}
    assert set(lines) == {f"capsule {capsule} to {upper}" for capsule in chosen for upper in uppers}
    largest = max(abs(given[capsule, upper]) for capsule in chosen for upper in uppers)
    for capsule in chosen:
        for upper in uppers:
            line, value = lines[f"capsule {capsule} to {upper}"], float(given[capsule, upper])
            assert line.text[0] == f"{value:+.4f}"
            assert line.line.width == pytest.approx(max(1.0, WIDEST * abs(value) / largest))
            assert line.line.dash == ("solid" if value >= 0 else "dot")


def test_a_part_is_pictured_by_what_it_sees(trace: capsviz.Trace):
    model = capsviz.load(trace.name)
    uppers = wholes(trace, 0)
    chosen = parts(contributions(trace, 0).numpy(), uppers, 3)
    figure = parse_tree(trace, image=0)
    assert len(figure.layout.images) == len(chosen)
    for capsule, shown in zip(chosen, figure.layout.images, strict=True):
        top, left, bottom, right = model.receptive_field(capsule)
        seen = (255 * trace.images[0, 0, top:bottom, left:right]).round().numpy()
        assert np.array_equal(opened(shown)[..., 0], seen)
    given = contributions(trace)[chosen][:, uppers].amax(1).tolist()
    assert figure.data[-1].text == tuple(f"{most:.2f}" for most in given)
    of = contributions(trace)[chosen][:, uppers].argmax(1).tolist()
    said = [f"capsule {each} to {trace.called(uppers[place])}" for each, place in zip(chosen, of, strict=True)]
    assert list(figure.data[-1].customdata) == said and all(f",{words}," in figure_csv(figure) for words in said)
    boxes = [each for each in figure.data if each.type == "scatter" and each.xaxis == "x"]
    assert [box.name for box in boxes] == [f"capsule {capsule}" for capsule in chosen]


def test_boxes_pictures_numbers_and_lines_of_a_part_belong_together():
    trace = capsviz.trace(CapsNet(preset("tiny", "digits", "dr", image=(1, 28, 36))).eval(), torch.rand(1, 1, 28, 36))
    given, uppers = contributions(trace).numpy(), wholes(trace)
    chosen, figure = parts(given, uppers, 3), parse_tree(trace)
    of = [max(uppers, key=lambda upper: given[capsule, upper]) for capsule in chosen]
    drawn, notes = {each.name: each for each in figure.data}, {note.text: note.x for note in figure.layout.annotations}
    heads, numbers = drawn["class capsules"], drawn["parts"]
    assert heads.marker.color == tuple(map(class_colour, uppers))
    for place, (capsule, most) in enumerate(zip(chosen, of, strict=True)):
        top, left, bottom, right = trace.config.receptive_field(*divmod(capsule // trace.grid[2], trace.grid[1]))
        box = drawn[f"capsule {capsule}"]
        edges = (min(box.x), max(box.x), min(box.y), max(box.y))
        assert edges == pytest.approx((left - 0.5, right - 0.5, top - 0.5, bottom - 0.5), abs=0.71)
        assert box.line.color == class_colour(most)
        for upper, head in zip(uppers, heads.x, strict=True):
            line = drawn[f"capsule {capsule} to {upper}"]
            assert line.x == (figure.layout.images[place].x, head) and line.line.color == class_colour(upper)
            assert line.x[0] == notes[str(capsule)] == numbers.x[place]


def test_its_words_say_how_much_the_strongest_give(trace: capsviz.Trace):
    given, uppers = contributions(trace, 2), wholes(trace, 2)
    said = in_words(trace, image=2, each=1)
    for upper in uppers:
        best = int(given[:, upper].argmax())
        most = float(given[best, upper])
        share = 100 * most / float(given[:, upper].sum())
        assert f"{trace.called(upper)} (‖v‖ = {float(trace.activations[2, upper]):.2f}): " in said
        assert f"capsule {best} adds {most:.2f}: {share:.1f} % of the net ‖s‖" in said
    assert "288 primary capsules, each with its number and the most that it adds to one ‖s‖, that of the class" in said
    assert describe(parse_tree(trace, image=2, each=1)) == said


def test_what_has_no_such_parts_is_one_sentence(trace: capsviz.Trace):
    with pytest.raises(FigureError, match="trace a model by DR, L2 or L1"):
        parse_tree(capsviz.trace(capsviz.load("digits-em"), trace.images[:1]))
    with pytest.raises(FigureError, match="give at least 1"):
        parse_tree(trace, each=0)


def test_what_adds_next_to_nothing_has_no_sign(trace: capsviz.Trace):
    every = in_words(trace, each=288)
    assert "0.00, 0.00" in every and "-0.00" not in every


def test_a_part_of_two_classes_adds_to_each_what_is_said_of_that_class():
    trace = capsviz.trace(capsviz.load("cifar10-dr-residual"), to_float(exemplars("cifar10").images[:40]))
    for image in range(40):
        given, uppers = contributions(trace, image), wholes(trace, image)
        said = in_words(trace, image=image).split("; ")[1:]
        for upper, words in zip(uppers, said, strict=True):
            strongest = given[:, upper].topk(3).indices.tolist()
            added = ", ".join(f"{float(given[capsule, upper]):.2f}" for capsule in strongest)
            assert f"capsules {', '.join(map(str, strongest))} add {added}: " in words
