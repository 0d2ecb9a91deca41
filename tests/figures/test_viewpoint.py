"""Figures of changes of viewpoint."""

from __future__ import annotations

from capsviz.figures import describe
from capsviz.figures.theme import ROUTING_COLOURS, ink
from capsviz.figures.viewpoint import recovery


def test_recovery_draws_every_r2_and_hatches_what_was_cut_down():
    def row(routing: str, change: str, r2: float, numbers: int, of: int) -> dict:
        return {"model": f"m-{routing}", "routing": routing, "change": change, "r2": r2, "numbers": numbers, "of": of}

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
    assert (pooled.name, reduced.name) == ("CNN, 6,272", "CNN, 16 components")
    assert reduced.marker.pattern.shape == "/" and not pooled.marker.pattern.shape
    assert "m-dr, class capsule (16 numbers): rotation 0.50, shear -0.10" in describe(figure)
