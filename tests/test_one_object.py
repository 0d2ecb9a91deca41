"""An algorithm is one object: nobody else compares names, and each says all that is asked of it."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from capsviz.network import METHODS
from capsviz.routing import ALGORITHMS

ROOT = Path(__file__).resolve().parents[1]
OWN = ("capsviz/routing/", "capsviz/network/cnn.py")
"""Where a method says its own name."""
LISTS = ("capsviz/training/recipes.py", "app/script.py")
"""Which models are trained, and the addresses of the pages: names as data."""


def sources() -> list[Path]:
    found = [path for folder in ("capsviz", "app") for path in (ROOT / folder).rglob("*.py")]
    return [path for path in found if not str(path.relative_to(ROOT)).startswith((*OWN, *LISTS))]


def test_no_name_of_a_method_is_written_but_in_its_own_file():
    written = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in METHODS
    ]
    assert written == [], "ask the object of the algorithm instead"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_name_and_titles_of_its_own(name: str):
    method = METHODS[name]
    assert method.name == name
    for field in ("name", "title", "short"):
        assert len({getattr(each, field) for each in METHODS.values()}) == len(METHODS), field


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_with_a_board_says_what_each_line_gives_and_when_it_is_known(name: str):
    algorithm = ALGORITHMS[name]
    assert ("board" in algorithm.pictures) == (algorithm.program is not None) == algorithm.iterates
    assert algorithm.explanation.text and algorithm.explanation.source and algorithm.page
    if algorithm.program is not None:
        lines = len(algorithm.program.lines)
        known = itertools.chain(algorithm.program.since.values(), (tip.since for tip in algorithm.program.tips))
        assert all(-1 <= since < lines for since in known)
        assert algorithm.share is not None and algorithm.share.field in algorithm.pairs
