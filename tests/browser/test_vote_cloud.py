"""The cloud of votes in Chromium: every vote lies in its own direction from the origin, near or far, at every zoom."""

from __future__ import annotations

import math

import pytest

from tests.browser.test_routing_board import at, written
from tests.browser.visitor import Visitor

TURNED = """[...Array(board.run.lower).keys()].filter(i => board.cloud.outside.has(i)).map(i => {
    const { cloud, run } = board, { camera } = cloud, [x, y] = camera.screen(run.data.origin), [a, b] = cloud.spots[i];
    const [c, d] = camera.screen(run.spot(i));
    const share = Math.hypot(a - x, b - y) / Math.hypot(c - x, d - y);
    return [Math.atan2(b - y, a - x), Math.atan2(d - y, c - x), share]; })"""

NOTE = 22
"""Pixels from the edge of the picture to the top of the note."""


def note(visitor: Visitor) -> list[str]:
    """What the picture says of the votes that it has no room for."""
    return [word for word in written(visitor, "cloud") if "farther out" in word]


@pytest.mark.parametrize(
    "page", ["?model=mnist-dr-paper&image=3", "?model=mnist-dr-paper&image=3&3d=0.6,0.35", "em?model=mnist-matrix"]
)
def test_a_far_vote_is_shortened_along_its_ray_and_the_picture_says_so(visitor: Visitor, page: str):
    visitor.open(page)
    far = at(visitor, TURNED)
    assert far, "no vote of this image lies far out"
    for drawn, true, share in far:
        assert math.remainder(drawn - true, 2 * math.pi) == pytest.approx(0, abs=1e-6)
        assert share < 1
    assert note(visitor) == [
        f"{len(far)} vote{'s' * (len(far) > 1)} farther out, shortened along the ray from the origin"
    ]
    lowest = at(visitor, "Math.max(...board.cloud.spots.map(([, y]) => y))")
    assert lowest < at(visitor, "board.cloud.frame.bottom") - NOTE, "a vote lies behind what is said of them"


def test_the_zoom_keeps_the_origin_shows_the_far_votes_and_goes_to_the_link(visitor: Visitor):
    visitor.open("?model=mnist-dr-paper&image=3")
    unit, origin = at(visitor, "[board.cloud.camera.unit, board.cloud.camera.screen(board.run.data.origin)]")
    board = visitor.window.locator("section.routing")
    board.get_by_role("button", name="Zoom into the votes").click()
    assert at(visitor, "board.cloud.camera.unit") == pytest.approx(1.5 * unit)
    assert at(visitor, "board.cloud.camera.screen(board.run.data.origin)") == pytest.approx(origin)
    visitor.eventually(lambda: "zoom=1" in visitor.query(), "the zoom in the link")
    out = board.get_by_role("button", name="Zoom out of the votes")
    while at(visitor, "board.cloud.outside.size"):
        out.click()
    assert note(visitor) == []
    assert at(visitor, "board.cloud.camera.zoom") >= -6
    zoom = at(visitor, "board.cloud.camera.zoom")
    visitor.eventually(lambda: f"zoom={zoom}" in visitor.query(), "in the link, how far one zoomed out")
    visitor.window.reload()
    visitor.settle()
    assert at(visitor, "[board.cloud.camera.zoom, board.cloud.outside.size]") == [zoom, 0]


def test_the_gaussian_of_a_matrix_capsule_is_no_dot_among_votes_far_away(visitor: Visitor):
    """The votes of convolutional matrix capsules have long tails: the scale is that of their middle."""
    visitor.open("em?model=mnist-matrix")
    spread, box = at(
        visitor,
        "(() => { const { cloud, run } = board, c = run.part(run.data.covariances, run.data.iterations - 1, 9);"
        " return [4 * cloud.camera.unit * Math.sqrt(Math.max(c[0], c[4])), Math.min(cloud.width, cloud.height)]; })()",
    )
    assert 0.15 * box < spread < box
