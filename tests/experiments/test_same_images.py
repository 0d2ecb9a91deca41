"""Models on the same images: McNemar's test, its correction, and what table, sentences and figure make of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from capsviz import zoo
from capsviz.analysis.predictions import Predictions, PredictionsError, recorded
from capsviz.data import title_of
from capsviz.errors import listed
from capsviz.experiments import reports, same_images
from capsviz.experiments.same_images import Compared, Pair, corrected, mcnemar
from capsviz.figures import FigureError, describe
from capsviz.figures.same_images import beside_dynamic
from capsviz.figures.text import unmarked


@pytest.fixture(scope="module")
def found() -> list[Compared]:
    return same_images.compared(same_images.records()[0])


def of(found: list[Compared], data: str) -> Compared:
    return next(each for each in found if each.data == data)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_exact_binomial_test_of_one_half(first: int, second: int):
    wanted = binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(wanted, rel=1e-9, abs=1e-300)


def test_holm_multiplies_by_what_is_left_and_never_falls():
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([0.9, 0.8]) == [1.0, 1.0] and corrected([]) == []


def test_a_pair_counts_what_each_record_says_image_by_image(found: list[Compared]):
    for pair in of(found, "fashion-mnist").pairs:
        first, second = (recorded(one.entry.name) for one in (pair.first, pair.second))
        answers = list(zip(first.right.tolist(), second.right.tolist(), strict=True))
        assert pair.first_alone == answers.count((True, False)) and pair.second_alone == answers.count((False, True))
        assert pair.difference == pytest.approx(first.error - second.error)
        apart = second.right.double() - first.right.double()
        assert pair.reach == pytest.approx(196 * float(apart.std(correction=0)) / len(apart) ** 0.5, rel=0.02)
        turned = pair.turned()
        assert (turned.first, turned.difference, turned.reach) == (pair.second, -pair.difference, pair.reach)


def test_chance_may_part_two_models_that_err_on_the_same_images():
    """With none of n images, 0.5 in each of the cells that differ of n + 2: a standard error of 1 / (n + 2)."""
    one, other = (same_images.Read(called, zoo.entry("digits-dr"), 360, 0.28) for called in ("DR", "L2"))
    assert Pair(one, other, 0, 0, 1.0).reach == pytest.approx(196 / 362)


def first_of(record: Predictions, count: int) -> Predictions:
    columns: dict[str, Any] = {name: values[:count] for name, values in record.columns().items()}
    return replace(record, **columns)


def other_images(record: Predictions) -> Predictions:
    return replace(record, labels=record.labels.roll(1))


def test_models_of_other_images_are_never_a_pair():
    first, second, third = ((zoo.entry(name), recorded(name)) for name in ("digits-dr", "digits-l2", "digits-l1"))
    assert len(same_images.compared([first, second])) == 1
    assert same_images.compared([first, (second[0], other_images(second[1]))]) == []
    fewer = [(entry, first_of(record, 300)) for entry, record in (first, third)]
    both = same_images.compared([first, second, *fewer])
    assert [each.count for each in both] == [300, 360]
    said = same_images.sentences(both, [])
    assert said[1].startswith("Digits, 300 images: ") and said[2].startswith("Digits, 360 images: ")
    assert [trace.name for trace in beside_dynamic(both).data] == ["Digits, 300 images", "Digits, 360 images"]


def test_of_models_that_err_as_often_none_is_named_alone(found: list[Compared]):
    digits = of(found, "digits")
    least = min(one.error for one in digits.models)
    best = [one.called for one in digits.models if one.error == least]
    assert len(best) > 1
    assert f"Digits: {listed(best)} err least" in "\n".join(same_images.sentences(found, []))


def test_models_of_a_data_set_are_told_apart_and_held_to_dr_by_their_own_encoder(found: list[Compared]):
    for each in found:
        assert len({one.called for one in each.models}) == len(each.models)
        assert len(each.pairs) == len(each.models) * (len(each.models) - 1) / 2
    mnist = of(found, "mnist")
    held = mnist.reference()
    assert held is not None and held.entry.name == "mnist-dr-residual" and held.called == "DR (residual)"
    beside = mnist.beside_reference()
    assert len(beside) == len(mnist.models) - 1 and all(pair.second is held for pair in beside)
    assert same_images.compared([(one.entry, recorded(one.entry)) for one in mnist.models[:1]]) == []


def test_the_table_has_every_pair_and_marks_those_apart(found: list[Compared]):
    table, pairs = same_images.markdown(found), [pair for each in found for pair in each.pairs]
    assert len(re.findall(r"\d+ : \d+", table)) == len(pairs)
    assert table.count("**") // 2 == sum(pair.apart for pair in pairs) + len(found)
    em = next(pair for pair in of(found, "cifar10").pairs if (pair.first.called, pair.second.called) == ("DR", "EM"))
    assert em.apart and f"**{em.first_alone} : {em.second_alone}**" in table


def test_the_sentences_name_who_errs_alike_and_who_errs_more(found: list[Compared]):
    said = same_images.sentences(found, ["a", "b"])
    assert said[-1] == "Not measured image by image with their present weights: a and b."
    for each, sentence in zip(found, said[1:], strict=False):
        first = min(one.error for one in each.models)
        best, *ties = [one for one in each.models if one.error == first]
        mine = [pair for pair in each.pairs if best in (pair.first, pair.second)]
        others = [pair.second if pair.first is best else pair.first for pair in mine]
        apart = {other.called for other, pair in zip(others, mine, strict=True) if pair.apart}
        less, _, more = sentence.removesuffix(".").partition(" no more than chance explains")
        least, _, alike = less.partition(" errs least, " if not ties else " err least, ")
        tied = [best.called, *(one.called for one in ties)]
        assert least == f"{title_of(each.data)}: {listed(tied)}"
        assert set(re.split(", | and ", alike)) == {other.called for other in others} - apart - {*tied}
        assert set(re.split(", | and ", re.sub(" errs? more$", "", more))[1:]) == apart


def test_a_model_without_a_record_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch):
    def without(entry):
        if entry.name == "mnist-l2-residual":
            raise PredictionsError("no record")
        return recorded(entry)

    monkeypatch.setattr(same_images, "recorded", without)
    report = reports.report("same-images")
    assert report.sentences[-1].endswith("present weights: mnist-l2-residual.")
    assert all(one.entry.name != "mnist-l2-residual" for one in of(report.measured, "mnist").models)


@pytest.mark.parametrize("dark", [False, True])
def test_the_figure_holds_every_model_to_dynamic_routing(found: list[Compared], dark: bool):
    figure = beside_dynamic(found, dark=dark)
    axis, lines = figure.layout.yaxis, dict[str, list[float]]()
    assert [trace.name for trace in figure.data] == ["MNIST", "Fashion-MNIST", "CIFAR-10", "MultiMNIST", "Digits"]
    for trace, each in zip(figure.data, found, strict=True):
        pairs = each.beside_reference()
        assert list(trace.x) == [pair.difference for pair in pairs]
        assert list(trace.error_x.array) == [pair.reach for pair in pairs]
        assert ["open" not in symbol for symbol in trace.marker.symbol] == [pair.apart for pair in pairs]
        for pair, y in zip(pairs, trace.y, strict=True):
            lines.setdefault(pair.first.called, []).append(y)
    assert [unmarked(row) for row in axis.ticktext] == sorted(lines, key=lambda row: min(lines[row]))
    for own, tick in zip(sorted(lines.values()), axis.tickvals, strict=True):
        assert sorted(own) == [min(own) + line for line in range(len(own))] and tick == pytest.approx(
            sum(own) / len(own)
        )
    assert len({y for trace in figure.data for y in trace.y}) == sum(len(trace.y) for trace in figure.data)
    assert "CIFAR-10: EM +2.35" in describe(figure) and "MultiMNIST: none apart" in describe(figure)


def test_without_dynamic_routing_there_is_nothing_to_draw(found: list[Compared]):
    mnist = of(found, "mnist")
    others = [(one.entry, recorded(one.entry)) for one in mnist.models if one.entry.routing != "dr"]
    with pytest.raises(FigureError, match="no model to hold to dynamic routing"):
        beside_dynamic(same_images.compared(others))
    assert all(isinstance(pair, Pair) for pair in same_images.compared(others)[0].pairs)
