"""A board as a file of its own: what lies in it is the trace, and as a table it reads back."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from PIL import Image

import capsviz
from capsviz import Intervention
from capsviz.boards import board_csv, board_page, coefficient_maps, drawn_weights, maps_board, trace_board
from capsviz.boards import page as pages
from capsviz.boards import routing as routing_board
from capsviz.boards.message import unpack
from capsviz.boards.page import holds_all
from capsviz.data import load, to_float
from capsviz.figures import FigureError
from capsviz.network import CapsNet, preset
from capsviz.tracing.intervention import UNTOUCHED
from tests.figures.conftest import record
from tests.programs import command, refused


def content(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_of_a_routing_holds_every_class(dr):
    board = trace_board(dr, image=1)
    assert board.upper == int(dr.predicted[1])
    assert board_page(board) == board_page(trace_board(dr, image=1 - len(dr.images))), "or from the end"
    inside = content(board_page(board))
    assert inside["board"] == "routing-board" and inside["upper"] == board.upper and len(inside["messages"]) == 10
    for upper in (0, 7):
        message = unpack(base64.b64decode(inside["messages"][upper]))
        assert message.fields["upper"] == upper and message.fields["touched"] is None
        assert f"of class {upper} goes from" in message.fields["alt"]
        np.testing.assert_allclose(message.arrays["votes"], dr.layer.votes[1, :, upper].flatten().numpy(), rtol=1e-6)


def test_a_board_that_holds_more_iterations_than_its_trace_begins_with_those_of_the_trace():
    model, images = capsviz.load("digits-dr"), to_float(load("digits", "test").images[:1])
    short, long = (capsviz.trace(model, images, iterations=count) for count in (3, 10))
    shown, whole = trace_board(short, longest=long).message(0), trace_board(long).message(0)
    assert (shown.fields["rounds"], shown.fields["iterations"]) == (3, 10)
    assert shown.fields["alt"] == trace_board(short).message(0).fields["alt"] != whole.fields["alt"]
    for name, array in whole.arrays.items():  # the plane of the votes is that of the longer one
        np.testing.assert_array_equal(shown.arrays[name], array)
    assert trace_board(short).message(0).fields["rounds"] is None


def test_a_table_has_the_iterations_that_the_board_begins_with():
    model, images = capsviz.load("digits-dr"), to_float(load("digits", "test").images[:1])
    muted = Intervention(muted=(3,))
    (short, touched), (long, long_base) = (
        [capsviz.trace(model, images, iterations=count, intervention=each) for each in (UNTOUCHED, muted)]
        for count in (3, 10)
    )
    table = board_csv(trace_board(touched, longest=long_base, base=long, upper=4))
    assert table == board_csv(trace_board(touched, base=short, upper=4)) and "base_shares" in table
    assert table.count("\nlengths,") == 3 * 10
    stacked = capsviz.load("digits-matrix")
    plain, touched = (capsviz.trace(stacked, images, votes="all", intervention=each) for each in (UNTOUCHED, muted))
    for layer in range(len(plain.layers)):
        here, before = touched.at(layer), plain.at(layer)
        assert "base_shares" in board_csv(trace_board(here, longest=here, base=before))


def test_of_many_classes_a_page_has_one(dr, monkeypatch: pytest.MonkeyPatch):
    board = trace_board(dr, upper=7)
    assert holds_all(board) and len(content(board_page(board))["messages"]) == 10
    monkeypatch.setattr(pages, "MOST", 9 * len(board.packed(7, without=board.shared)))
    [alone] = content(board_page(board))["messages"]
    assert not holds_all(board) and unpack(base64.b64decode(alone)).fields["upper"] == 7


@pytest.mark.parametrize("routing", ["dr", "em", "attention"])
def test_what_is_the_same_for_every_class_is_written_and_computed_once(routing: str, monkeypatch):
    measured = Mock(side_effect=routing_board.share_reach)
    monkeypatch.setattr(routing_board, "share_reach", measured)
    board = trace_board(record(routing))
    inside = content(board_page(board))
    shared = unpack(base64.b64decode(inside["shared"]))
    assert measured.call_count == len(shared.fields["reaches"]), "and not as often for each class"
    assert {"image", "presence", "lengths", "shares"} <= shared.arrays.keys() <= board.shared
    assert {"classes", "theme", "lines"} <= shared.fields.keys() <= board.shared
    for upper, packed in enumerate(inside["messages"]):
        own, whole = unpack(base64.b64decode(packed)), unpack(board.packed(upper))
        assert own.arrays.keys() == whole.arrays.keys() - shared.arrays.keys()
        assert own.fields.keys() == whole.fields.keys() - shared.fields.keys()
        assert {**shared.fields, **own.fields} == whole.fields
        for name, array in whole.arrays.items():
            np.testing.assert_array_equal({**shared.arrays, **own.arrays}[name], array)


def test_the_page_loads_nothing_from_elsewhere(dr):
    page = board_page(trace_board(dr))
    assert not re.findall(r'(?:src|href)\s*=\s*"', page)
    assert "<title>The routing of" in page and page.count("<script") == 2 == page.count("</script")


def test_a_trace_that_does_not_say_whose_it_is_is_of_a_network(dr, l2):
    assert [trace_board(replace(each, name="")).title for each in (dr, l2)] == ["The routing of a network"] * 2


def test_where_nothing_iterates_the_coefficients_are_shown(l2):
    inside = content(board_page(trace_board(l2, upper=3)))
    assert inside["board"] == "capsule-maps" and len(inside["messages"]) == 1
    message = unpack(base64.b64decode(inside["messages"][0]))
    np.testing.assert_array_equal(message.arrays["map0"], l2.layer["coefficients"][0, :, 3].numpy())


def test_what_a_model_adds_is_drawn_too(em):
    torch.manual_seed(7)
    model = CapsNet(preset("tiny", "digits", "em")).eval()
    more = drawn_weights(model, 10)
    assert more["beta_a"].shape == (10,)
    assert "beta_a" in trace_board(em, more=more).message(0).arrays
    assert "beta_a" not in trace_board(em).message(0).arrays


def test_what_cannot_be_shown_is_said_at_once(dr):
    with pytest.raises(FigureError, match="no image 3; choose one from 0 to 2"):
        trace_board(dr, image=3)
    with pytest.raises(FigureError, match="no class 10"):
        trace_board(dr, upper=10)


def test_all_numbers_of_a_board_read_back_from_its_table(dr, l2):
    rows = list(csv.DictReader(io.StringIO(board_csv(trace_board(dr, image=1, upper=3)))))
    shares = [row for row in rows if row["array"] == "shares"]
    couplings = dr.layer["couplings"][:, 1]
    assert len(shares) == couplings.numel()
    for row in shares[:: len(shares) // 50]:
        assert float(row["value"]) == pytest.approx(float(couplings[tuple(map(int, row["index"].split()))]), rel=1e-6)
    maps = coefficient_maps(l2, upper=0)
    values = [float(row["value"]) for row in csv.DictReader(io.StringIO(board_csv(maps_board(maps, "b"))))
              if row["array"] == "map0"]  # fmt: skip
    np.testing.assert_allclose(values, np.ravel(maps.maps[0].values), rtol=1e-6)


def test_trace_writes_a_page_that_shows_what_the_model_sees(tmp_path: Path):
    Image.fromarray(load("digits", "test").images[0, 0].numpy()).save(tmp_path / "digit.png")
    command("trace", tmp_path / "digit.png", "-o", tmp_path / "board.html", "--model", "digits-em")
    inside = content((tmp_path / "board.html").read_text(encoding="utf-8"))
    assert inside["title"] == "The routing of digits-em" and len(inside["messages"]) == 10
    assert "beta_a" in unpack(base64.b64decode(inside["messages"][0])).arrays


def test_a_page_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path):
    Image.fromarray(load("digits", "test").images[0, 0].numpy()).save(tmp_path / "digit.png")
    for name in ("board.html", "digits.safetensors"):
        said = refused("trace", "--data", "digits", "-o", tmp_path / name)
        assert "The traces of a data set fill a folder" in said and not (tmp_path / name).exists()
    said = refused("trace", tmp_path / "digit.png", "-o", tmp_path / "digit.txt", "--model", "digits-dr")
    assert "let it end in .safetensors" in said and not (tmp_path / "digit.txt").exists()
    words = ("trace", tmp_path / "digit.png", "-o", tmp_path / "none.html", "--model", "digits-dr", "--no-votes")
    assert "leave out --no-votes" in refused(*words)
    assert not (tmp_path / "none.html").exists()
