"""The app's own colours, light and dark: every text that they make has contrast 4.5:1 or more."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from capsviz.figures.theme import contrast, ink

ROOT = Path(__file__).resolve().parents[3]
THEME = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
STYLE = (ROOT / "app" / "page" / "style.css").read_text(encoding="utf-8")


def grounds(mode: str) -> list[str]:
    """What text stands on: the page, its fields, the sidebar, and the sidebar's fields."""
    own, side = THEME[mode], THEME[mode]["sidebar"]
    return [place[kind] for place in (own, side) for kind in ("backgroundColor", "secondaryBackgroundColor")]


def over(colour: str, ground: str, opacity: float) -> str:
    """A colour seen through, as the browser mixes it with what is behind."""
    pairs = zip(*(re.findall("..", each[1:]) for each in (colour, ground)), strict=True)
    return "#" + "".join(f"{round(opacity * int(a, 16) + (1 - opacity) * int(b, 16)):02x}" for a, b in pairs)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("kind", ["textColor", "linkColor", "primaryColor"])
def test_text_links_and_marked_text_read_on_every_ground(mode: str, kind: str):
    for ground in grounds(mode):
        assert contrast(THEME[mode][kind], ground) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_secondary_text_still_reads(mode: str):
    opacities = [float(value) for value in re.findall(r"color: inherit; opacity: ([\d.]+)", STYLE)]
    assert opacities
    for ground in grounds(mode):
        assert contrast(over(THEME[mode]["textColor"], ground, min(opacities)), ground) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_pressed_button_is_written_in_the_page_on_the_primary_colour(mode: str):
    assert contrast(THEME[mode]["backgroundColor"], THEME[mode]["primaryColor"]) >= 4.5


def test_figures_lie_on_the_page_that_they_are_drawn_for():
    assert THEME["light"]["backgroundColor"] == ink(False).ground
    assert THEME["dark"]["backgroundColor"] == ink(True).ground
