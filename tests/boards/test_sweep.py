"""What the board of a sweep is given."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
import torch

import capsviz
from capsviz import zoo
from capsviz.analysis.viewpoint import amounts, seen_by, sweep
from capsviz.boards import board_csv, board_page
from capsviz.boards.sweep import Swept, Swing, lost_in_words, sweep_board, sweep_message
from capsviz.data.viewpoint import CHANGES, Viewpoint
from tests.known import single_digits

SHIFT = CHANGES["right"]


@pytest.fixture(scope="module")
def swing() -> Swing:
    digits, along = single_digits(), amounts(SHIFT)
    images, label = seen_by(digits.images[0], Viewpoint(rotation=10.0), "right", along), int(digits.labels[0])
    networks = tuple(
        Swept(title, name, colour, sweep(network, images, label))
        for title, name, colour, network in (
            ("DR", "digits-dr", "#0000ff", capsviz.load("digits-dr")),
            ("CNN", "mnist-cnn", "", zoo.load_network("mnist-cnn")),
        )
    )
    return Swing(SHIFT, along, images, digits.classes, (label,), networks, networks[0], networks[1])


def test_the_message_holds_what_the_networks_said_of_the_changed_images(swing: Swing):
    digits = single_digits()
    message = sweep_message(swing, frame=3)
    assert (
        message.fields["names"][:2] == ["−8 px", "−7 px"] and message.fields["amounts"][message.fields["neutral"]] == 0
    )
    third = Viewpoint(rotation=10.0, right=-5.0)(digits.images[0])
    assert message.arrays["images"][3] == pytest.approx(third.numpy() / 255, abs=1e-3)
    output = capsviz.load("digits-dr")(third[None] / 255.0)
    assert message.arrays["own0"][3] == pytest.approx(float(output.activations[0, swing.labels[0]].detach()), abs=1e-5)
    assert message.arrays["drawn"][3] == pytest.approx(output.reconstruction[0].detach().numpy(), abs=2e-3)
    others = output.activations[0].detach().clone()
    others[swing.labels[0]] = -1
    assert message.fields["methods"][0]["others"][3] == digits.classes[int(others.argmax())]
    lost = message.arrays["own0"] < message.arrays["other0"]
    assert message.fields["methods"][0]["lost"] == lost.tolist() and 0 < lost.sum() < len(lost)
    assert message.fields["named"][3] == digits.classes[int(output.activations.argmax())]


def test_as_many_pooled_features_as_the_capsule_has_numbers_and_those_that_move_most(swing: Swing):
    message = sweep_message(swing, frame=None)
    capsule, pooled = message.fields["panels"]
    assert capsule["rows"] == list(range(16)) and len(pooled["rows"]) == 16
    assert pooled["title"] == "mnist-cnn, max pooling: the 16 of its 6,272 numbers that move most"
    moved = swing.networks[1].sweep.numbers.std(0)
    assert moved[pooled["rows"]].min() >= moved.sort().values[-17]
    for panel, rows in ((capsule, message.arrays["numbers0"]), (pooled, message.arrays["numbers1"])):
        assert panel["reach"] == pytest.approx(float(np.abs(rows).max()))
    assert np.array_equal(message.arrays["numbers1"][5], swing.networks[1].sweep.numbers[:, pooled["rows"][5]].numpy())


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_amounts_are_steps_from_end_to_end_with_the_one_that_changes_nothing(change):
    found = amounts(change)
    assert (found[0], found[-1]) == (change.low, change.high) and change.neutral in found
    assert 15 <= len(found) <= 31


def test_an_amount_in_between_takes_its_place(swing: Swing):
    one = sweep(capsviz.load("digits-dr"), swing.images[4:5], swing.labels[0])
    whole = swing.networks[0].sweep
    more = whole.inserted(one, 2)
    assert len(more.activations) == len(whole.activations) + 1
    assert torch.allclose(more.activations[2], whole.activations[4], atol=1e-6)
    assert torch.equal(more.numbers[3], whole.numbers[2])
    assert more.drawn is not None and one.drawn is not None
    assert torch.allclose(more.drawn[2], one.drawn[0])


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ([False] * 4, "never lost"),
        ([True] * 4, "lost at every amount"),
        ([True, True, False, True], "lost: −8 px to −7 px, 8 px"),
    ],
)
def test_where_a_class_is_lost_in_words(gone, words):
    assert lost_in_words(SHIFT, [-8.0, -7.0, 0.0, 8.0], gone) == words


def test_a_page_of_its_own_holds_the_board(swing: Swing):
    page = board_page(sweep_board(swing, "Shift of a digit", frame=None))
    assert "Shift of a digit" in page and '"board": "sweep"' in page


def test_its_table_says_which_network_and_which_number_at_which_amount(swing: Swing):
    table = list(csv.DictReader(io.StringIO(board_csv(sweep_board(swing, "Shift", frame=None)))))
    values = {(row["array"], row["index"]): float(row["value"]) for row in table}
    assert [values["amounts", str(at)] for at in range(len(swing.amounts))] == list(swing.amounts)
    first = swing.networks[0]
    active = first.sweep.activations
    assert values[f"{first.name}: activations", "2 3"] == pytest.approx(float(active[2, 3]), rel=1e-5)
    numbers = swing.drawing.sweep.numbers
    assert values[f"{swing.drawing.name}: number 5", "1"] == pytest.approx(float(numbers[1, 5]), rel=1e-5)
