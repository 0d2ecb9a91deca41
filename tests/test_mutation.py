"""The changes that `make mutation` makes, and how one is put into a running program."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.mutation import report
from tests.mutation.mutants import mutants
from tests.mutation.replacing import Functions

ROOT = Path(__file__).resolve().parents[1]
SOURCE = '''
"""Text stays."""
from torch import Tensor
LIMIT = 2

def clipped(values: Tensor, low: float = 0.5, *, deep=True):
    """So does this."""
    total = values
    if total > low and deep:
        total = total - values.sum(dim=1)
    return f"{1} is text", min(total, -low), values.flatten(0, 1)
'''


def changes(source: str) -> set[tuple[str, str]]:
    return {(each.original, each.changed) for each in mutants(source.encode())}


def test_comparisons_operators_numbers_arguments_and_statements_change_and_text_does_not():
    assert changes(SOURCE) == {
        ("2", "3"), ("2", "1"), ("0.5", "1.0"), ("True", "False"),
        ("total > low", "(total >= low)"), ("total > low", "(total < low)"),
        ("total > low and deep", "(total > low or deep)"), ("total > low and deep", "not (total > low and deep)"),
        ("total = total - values.sum(dim=1)", "pass"), ("total - values.sum(dim=1)", "(total + values.sum(dim=1))"),
        ("values.sum(dim=1)", "values.sum()"), ("values.sum(dim=1)", "values"), ("1", "2"), ("1", "0"),
        ("-low", "low"), ("values.flatten(0, 1)", "values.flatten(1, 0)"), ("values.flatten(0, 1)", "values"),
        ("0", "1"),
    }  # fmt: skip


def test_a_change_is_one_of_the_source_and_knows_its_place():
    source = SOURCE.encode()
    for each in mutants(source):
        changed = each.applied(source).decode()
        assert len(changed.splitlines()) == len(SOURCE.splitlines()) and changed != SOURCE
        assert each.original in SOURCE.splitlines()[each.line - 1]
        assert each.reach[0] <= each.line <= each.reach[1]
        assert each.live == (each.line > 7) and each.function == ("clipped" if each.live else "")


HARNESS = """
from dataclasses import replace
from pathlib import Path
import hypothesis, pytest, torch
from tests.mutation import __main__ as program
from tests.mutation.mutants import mutants
from tests.mutation.running import Task, Test, in_imports
torch.set_num_threads(1)
path = program.MODULES["losses"]
weight = next(each for each in mutants(path.read_bytes()) if each.original == "0.5" and not each.live)
tasks = [Task(path, each) for each in (replace(weight, changed="0.50"), weight, replace(weight, changed="(")) ]
class Same(dict):
    def __missing__(self, name):
        return Test(0.1, {str(path): {1}})
print([outcome for _, outcome in in_imports(["tests/routing/test_losses.py"], Same(), tasks, 1)])
"""


def test_nothing_that_is_the_same_is_noticed_and_what_is_not_is():
    """At an import: the same number written otherwise, another one, and what is no Python."""
    done = subprocess.run([sys.executable, "-c", HARNESS], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.stdout.splitlines()[-1:] == ["['survived', 'killed', 'killed']"], done.stderr


@pytest.fixture
def module(tmp_path: Path):
    """A module of two functions, one of them within the other, that is imported."""
    path = tmp_path / "changing.py"
    path.write_text(
        "def outer(x):\n    def inner(y):\n        return x + y\n    return inner\nSAME = [lambda x: x + 1]\n"
    )
    spec = spec_from_file_location("changing", path)
    assert spec and spec.loader
    sys.modules["changing"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module, path
    del sys.modules["changing"]


def test_a_change_is_put_into_functions_that_are_there_and_nowhere_else(module):
    changing, path = module
    old, source = changing.SAME[0], path.read_bytes()
    functions = Functions({path})
    assert functions.change(path, source.replace(b"x + y", b"x - y"))
    assert changing.outer(3)(2) == 1 and old(1) == 2
    assert functions.change(path, source.replace(b"x + 1", b"x + 2"))
    assert old(1) == 3
    assert not functions.change(path, source.replace(b"SAME = [", b"SAME = [None, ")), "nothing of it is in a function"


def test_the_report_counts_and_names_what_was_not_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    known = tmp_path / "equivalent.toml"
    known.write_text('[[change]]\nmodule = "em"\nsource = "f"\noriginal = "a"\nchanged = "b"\nwhy = "the same"\n')
    monkeypatch.setattr(report, "EQUIVALENT", known)
    one = {"module": "em", "line": 3, "source": "f", "original": "a", "changed": "b"}
    outcomes = [("em", "killed"), ("em", "killed"), ("em", "survived"), ("votes", "unreached")]
    done = [one | {"module": module, "outcome": outcome} for module, outcome in outcomes]
    found = report.result(done, 1, 7) | {"machine": "paper"}
    assert found["rows"] == [
        {"module": "em", "mutants": 3, "missed": 0, "equivalent": 1},
        {"module": "votes", "mutants": 1, "missed": 1, "equivalent": 0},
    ]
    assert "| `em` | 3 | 2 | 67% | 1 | 0 |" in report.table(found)
    assert report.table(found).endswith("4 changes, 7 tests: 50.0% were noticed, on paper.")
    assert report.survivors(found).splitlines()[2:] == [
        "| `em:3` | `a` | `b` | the same |",
        "| `votes:3` | `a` | `b` | missed: no test reaches it |",
    ]
