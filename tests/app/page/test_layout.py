"""The app's sheet: whose place is kept for what."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from app.page import layout
from app.state.choices import Choices


def test_no_rule_for_a_boards_place_holds_for_a_widget_that_took_the_place_of_another():
    """Under its number: “exhibit-1” had the empty room of the boards “exhibit-squash” and “exhibit-margin-loss”."""
    rules = Path(layout.__file__).with_name("style.css").read_text().split("}")
    kept = "".join(rule for rule in rules if "container-type: inline-size" in rule or "--room:" in rule)
    begun = set(re.findall(r'\[class\*="(st-key-[^"]+)"\]', kept))
    assert begun
    turned = {f"st-key-{field.name}-1" for field in dataclasses.fields(Choices)}
    assert [(start, name) for start in begun for name in turned if start in name] == []
