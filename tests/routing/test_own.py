"""Algorithms that other packages and files bring: `CAPSVIZ_ROUTINGS`, and the entry points of what is installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from capsviz.routing import ALGORITHMS, ASCENDING, Ascending
from capsviz.routing.own import add_own
from tests.programs import python

PAIRED = """
from capsviz.routing import squash
from capsviz.routing.dynamic import Dynamic


class Twice(Dynamic):
    name, title, short, colour = "dr-2", "Dynamic routing, twice", "DR 2", "#8c564b"


class Small(Dynamic):
    def __init__(self, name):
        self.name = name


class Elsewhere(Twice):
    page = "elsewhere"


SMALL, UPPER, TAKEN, BASELINE = map(Small, ("small", "Small", "em", "cnn"))
"""
ASCENT = """
from copy import copy
from capsviz.routing.discriminative import L1

THIRD = copy(L1)
object.__setattr__(THIRD, "name", "l3")
"""
BARE = """
from capsviz.routing import Algorithm

class Bare(Algorithm):
    name = "bare"
    def route(self, *given, **more):
        yield
"""


ABSENT = "ModuleNotFoundError: No module named"
ELSEWHERE = "write module:name, and name the folder of the module in PYTHONPATH."


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., list[str]]]:
    """Writes modules, has the environment name algorithms of theirs, and gives the names that came in."""
    before = list(ALGORITHMS)
    monkeypatch.syspath_prepend(tmp_path)
    modules = {"paired": PAIRED, "ascent": ASCENT, "bare": BARE, "broken": "1 / 0"}
    modules |= {"wanting": "import want", "round": "from round import circle"}
    for name, source in modules.items():
        (tmp_path / f"{name}.py").write_text(source)

    def named(value: str = "") -> list[str]:
        monkeypatch.setenv("CAPSVIZ_ROUTINGS", value)
        add_own()
        return list(ALGORITHMS)[len(before) :]

    yield named
    for name in ALGORITHMS.keys() - before:
        ALGORITHMS.pop(name), ASCENDING.pop(name, None)
    for name in modules:
        sys.modules.pop(name, None)


def test_those_that_the_environment_names_stand_behind_the_others_by_their_names(own):
    assert own() == []
    assert own("paired:Twice, paired:SMALL,") == ["dr-2", "small"]
    assert ALGORITHMS["dr-2"].title == "Dynamic routing, twice" and "dr-2" not in ASCENDING


def test_one_that_ascends_stands_among_those(own):
    assert own("ascent:THIRD") == ["l3"]
    assert isinstance(ASCENDING["l3"], Ascending) and ASCENDING["l3"] is ALGORITHMS["l3"]
    b = torch.tensor([[0.0, 0.5, -0.5]])
    by_l3, by_l1 = (ASCENDING[name].ascend(b, b, step=0.1, regularisation=0.2) for name in ("l3", "l1"))
    assert torch.equal(by_l3, by_l1) and not torch.equal(by_l3, b)


def test_an_installed_package_names_its_own(own, tmp_path: Path):
    folder = tmp_path / "paired-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: paired\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[capsviz.routing]\nanything = paired:Twice\n")
    assert own("paired:SMALL") == ["dr-2", "small"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("absent:Twice", f"cannot be imported ({ABSENT} 'absent'); {ELSEWHERE}"),
        ("absent.inner:Twice", f"cannot be imported ({ABSENT} 'absent'); {ELSEWHERE}"),
        ("paired.py:Twice", f"cannot be imported ({ABSENT} 'paired.py'; 'paired' is not a package); {ELSEWHERE}"),
        ("wanting:Twice", f"cannot be imported ({ABSENT} 'want'); mend it, and let its file import of capsviz only"),
        ("round:Twice", "cannot be imported (ImportError: cannot import name 'circle' from "),
        ("broken:Twice", "cannot be imported (ZeroDivisionError: division by zero); mend it, and let its file import"),
        ("paired:Small", "cannot be imported (TypeError: "),
        ("paired", "is none; derive it from capsviz.routing.Algorithm"),
        ("paired:squash", "is none; derive it from capsviz.routing.Algorithm"),
        ("bare:Bare", "lacks title, short, colour, step, page, explanation; see capsviz.routing.Algorithm"),
        ("paired:TAKEN", "is called 'em', as another one; choose a name beside attention, cnn, dr, em, l1, l2"),
        ("paired:BASELINE", "is called 'cnn', as another one; choose a name beside attention, cnn, dr, em, l1, l2"),
        ("paired:SMALL,paired:SMALL", "is called 'small', as another one; choose a name beside attention, cnn, dr, em"),
        ("paired:Elsewhere", "has the page 'elsewhere'; choose one of dynamic, em, discriminative"),
        ("paired:UPPER", "is called 'Small'; choose small letters, digits and hyphens"),
    ],
)
def test_what_is_no_algorithm_is_refused_in_a_sentence(own, value: str, fault: str):
    with pytest.raises(ImportError) as raised:
        own(value)
    said = str(raised.value)
    refused = value.split(",")[-1]
    assert said.startswith(f"CAPSVIZ_ROUTINGS names {refused} as a routing algorithm, which {fault}")
    assert ("PYTHONPATH" in said) is (ELSEWHERE in fault)
    assert said.endswith(".") and raised.value.name == "CAPSVIZ_ROUTINGS"
    assert len(ALGORITHMS) == 5, "none is taken in where one is refused"


def test_a_file_that_imports_what_reads_the_algorithms_is_refused(own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "whole.py").write_text("import sys\nsys.modules['capsviz.network'] = sys\n" + PAIRED)
    monkeypatch.delitem(sys.modules, "capsviz.network", raising=False)
    assert own("paired:Twice") == ["dr-2"], "as where it is not imported at all"
    with pytest.raises(ImportError, match=r"imports capsviz[.]network; let its file import of caps"):
        own("whole:SMALL")
    sys.modules.pop("whole")
    assert own("whole:SMALL") == ["dr-2", "small"], "it had been imported before"


@pytest.mark.long
def test_the_command_line_trains_one_and_says_of_another_why_it_cannot(own, tmp_path: Path):
    path = os.pathsep.join([str(tmp_path), *sys.path])
    training = ["-m", "capsviz", "train", "--data", "digits", "--preset", "tiny", "--steps", "2", "--device", "cpu"]
    training += ["--out", str(tmp_path / "runs"), "--routing", "dr-2"]
    done = python(*training, CAPSVIZ_ROUTINGS="paired:Twice", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "digits-dr-2" / "model.safetensors").is_file()
    refused = python(*training, CAPSVIZ_ROUTINGS="paired:UPPER", PYTHONPATH=path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines() == [
        "CAPSVIZ_ROUTINGS names paired:UPPER as a routing algorithm, which is called 'Small'; choose small letters, "
        "digits and hyphens."
    ]
