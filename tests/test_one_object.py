"""An algorithm, and a data set, is one object: nobody else compares names, and each says all that is asked of it."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

from capsviz.data import DATASETS, UnknownDataset
from capsviz.network import METHODS, configure, preset
from capsviz.routing import ALGORITHMS

ROOT = Path(__file__).resolve().parents[1]
OWN = ("capsviz/routing/", "capsviz/network/cnn.py")
"""Where a method says its own name."""
LISTS = ("capsviz/training/recipes.py",)
"""Which models are trained: names as data."""


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


def test_nothing_is_compared_with_what_a_method_is_called():
    """Neither whole nor as a word of a longer text."""
    called = METHODS.keys() | {method.short for method in METHODS.values()}
    asking = ("startswith", "endswith", "get", "count", "index")
    compared = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare | ast.Subscript)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in asking)
        for part in ast.iter_child_nodes(node)
        for said in ([part, *part.elts] if isinstance(part, ast.Tuple | ast.List | ast.Set) else [part])
        if isinstance(said, ast.Constant)
        and isinstance(said.value, str)
        and set(re.split(r"[^\w@-]+", said.value)) & called
    ]
    assert compared == [], "ask the object of the algorithm instead"


def test_no_name_of_a_data_set_is_compared_with_but_in_capsviz_data():
    """Nor is anything looked up by it. An experiment may be called after its data set."""
    compared = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        if not path.is_relative_to(ROOT / "capsviz" / "data") and path.name != "results.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Compare, ast.Subscript, ast.match_case))
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in DATASETS
    ]
    assert compared == [], "ask the object of the data set instead"


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_says_what_is_known_of_it_before_it_is_read(name: str):
    data = DATASETS[name]
    assert data.name == name and data.title and data.source and data.licence
    assert len(data.classes) == len(set(data.classes)) and min(data.image) >= 1
    assert data.embedded == data.available(Path("/nowhere")) == (data.download_bytes == 0)
    for routing in METHODS:
        assert configure("compact", name, routing).image == data.image
    assert bool(preset("compact", name, next(iter(ALGORITHMS))).decoder) == data.reconstructed


@pytest.mark.parametrize("routing", METHODS)
def test_a_network_for_images_that_nobody_knows_is_not_built(routing: str):
    with pytest.raises(UnknownDataset, match="no data set 'letters': choose one of mnist, "):
        configure("compact", "letters", routing)
    assert configure("compact", "folder:letters", routing, image=(3, 32, 32)).image == (3, 32, 32)


def test_the_browser_compares_no_names_of_methods():
    told = re.compile(rf"""["'`]({"|".join(METHODS)})["'`]""")
    files = [path for path in (ROOT / "frontend").rglob("*.ts") if "node_modules" not in path.parts]
    assert len(files) > 30
    written = [str(path.relative_to(ROOT)) for path in files if told.search(path.read_text(encoding="utf-8"))]
    assert written == [], "let the message say what is asked of the algorithm"


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
