"""Figures of changes of viewpoint."""

from __future__ import annotations

import torch

from capsviz.analysis.pooling import Pooling
from capsviz.figures import describe
from capsviz.figures.theme import ROUTING_COLOURS, ink
from capsviz.figures.viewpoint import pooling_figures, recovery


def test_recovery_draws_every_r2_and_hatches_what_was_cut_down():
    def row(routing: str, change: str, r2: float, numbers: int, of: int) -> dict:
        return {
            "data": "mnist",
            "fitted": 9,
            "held": 9,
            "model": f"m-{routing}",
            "routing": routing,
            "change": change,
            "r2": r2,
            "numbers": numbers,
            "of": of,
        }

    rows = [
        row("cnn", "rotation", 0.8, 6272, 6272),
        row("cnn", "rotation", 0.7, 16, 6272),
        row("dr", "rotation", 0.5, 16, 16),
        row("dr", "shear", -0.1, 16, 16),
    ]
    figure = recovery({"rows": rows}, dark=True)
    capsule, pooled, reduced = figure.data
    assert list(capsule.x) == ["Rotation", "Shear"] and list(capsule.y) == [0.5, -0.1]
    assert (capsule.marker.color, pooled.marker.color) == (ROUTING_COLOURS["dr"], ink(True).text)
    assert (pooled.name, reduced.name) == ("CNN (6,272)", "CNN (16 components)")
    assert reduced.marker.pattern.shape == "/" and not pooled.marker.pattern.shape
    assert "m-dr, class capsule of 16 numbers: rotation 0.50, shear -0.10" in describe(figure)
    assert "(MNIST, first 9 and 9 images)" in describe(figure)
    twice = recovery({"rows": [*rows, row("dr", "rotation", 0.4, 16, 16) | {"model": "m-dr-paper"}]}).data
    assert {bar.name for bar in twice} == {"m-dr (16)", "m-dr-paper (16)", "CNN (6,272)", "CNN (16 components)"}
    assert len({(bar.marker.color, bar.marker.pattern.shape) for bar in twice}) == 4


def test_pooling_marks_where_kept_numbers_stood_and_which_stay():
    maps = torch.arange(32.0).reshape(2, 4, 4)
    busy = torch.ones(2, 2, dtype=torch.bool)
    same, moved = torch.tensor([[True, True], [False, False]]), torch.tensor([[False, True], [False, False]])
    places = torch.tensor([[[0, 3], [9, 15]]] * 2)
    figures = pooling_figures(Pooling(5, maps, maps[:, :2, :2], places, busy, same, moved))
    before, pooled, shifted = (figure.data for figure in figures.values())
    assert before[0].zmax == pooled[0].zmax == shifted[0].zmax == 31, "one scale"
    assert list(zip(before[1].y, before[1].x, strict=True)) == [(0, 0), (0, 3), (2, 1), (3, 3)]
    _, still, elsewhere = shifted
    assert (still.y, still.x, elsewhere.y, elsewhere.x) == ((0,), (0,), (0,), (1,))
    assert elsewhere.marker.symbol == "circle-open"
    assert "2 of 4 are as before, 1 from another place" in describe(figures["shifted"])
