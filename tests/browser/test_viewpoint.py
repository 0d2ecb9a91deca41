"""The viewpoint's sliders move the whole page: image, numbers, pictures and every link."""

from __future__ import annotations

import pytest

from tests.browser.test_whole_page import Act, Pair, pair, two  # noqa: F401  (fixtures)
from tests.browser.visitor import Visitor


def slider(name: str, pressed: str) -> Act:
    """A key on a slider of the sidebar."""
    return lambda visitor: visitor.window.get_by_role("slider", name=name).press(pressed)


def as_it_is(visitor: Visitor) -> None:
    """The way back."""
    visitor.window.get_by_role("button", name="As it is").click()


@pytest.mark.parametrize("page", ["dynamic", "perturb"])
def test_a_slider_of_the_viewpoint_changes_the_whole_page(pair: Pair, page: str):  # noqa: F811
    pair.open(f"{page}?model=digits-dr&image=7&viewpoint=rotation_29")
    pair.do(slider("Rotation", "ArrowRight"), "viewpoint=rotation_30")
    pair.do(slider("Shift down", "ArrowLeft"), "viewpoint=rotation_30_down_-1")
    pair.do(as_it_is, "-viewpoint=")
