"""The changes that `make mutation` makes, and how one is put into a running program."""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.mutation import __main__ as program
from tests.mutation import report
from tests.mutation.mutants import meanings, mutants
from tests.mutation.replacing import Functions
from tests.mutation.running import Task
from tests.programs import printed

pytestmark = pytest.mark.long

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
    assert printed(HARNESS).splitlines()[-1:] == ["['survived', 'killed', 'killed']"]


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
    gc.freeze()  # as the tests' set-up does
    functions = Functions({path})
    gc.freeze()
    assert functions.change(path, source.replace(b"x + y", b"x - y"))
    assert changing.outer(3)(2) == 1 and old(1) == 2
    assert functions.change(path, source.replace(b"x + 1", b"x + 2"))
    assert old(1) == 3
    assert not functions.change(path, source.replace(b"SAME = [", b"SAME = [None, ")), "nothing of it is in a function"


SAME = """
[[equivalent]]
module = "em"
why = "the same"
changes = [["f", "a", "b"], ["f", "a", "b"]]
[[left]]
module = "votes"
why = "not asked for"
changes = [["f", "a", "b"]]
"""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The reasons are these."""
    (tmp_path / "reasons.toml").write_text(SAME)
    monkeypatch.setattr(report, "REASONS", tmp_path / "reasons.toml")


def test_the_report_counts_and_groups_what_was_not_noticed(known):
    one = {"source": "f", "original": "a", "changed": "b"}
    outcomes = [
        ("votes", 9, "unreached"), ("em", 1, "killed"), ("votes", 8, "survived"),
        ("em", 5, "survived"), ("em", 3, "survived"), ("em", 7, "survived"),
    ]  # fmt: skip
    done = [one | {"module": module, "line": line, "outcome": outcome} for module, line, outcome in outcomes]
    found = report.result(done, 1, 7) | {"machine": "paper"}
    assert found["rows"] == [{"module": "em", "mutants": 4}, {"module": "votes", "mutants": 2}]
    assert report.table(found).splitlines()[2:4] == [
        "| `em` | 4 | 1 | 25% | 2 | 0 | 1 |",
        "| `votes` | 2 | 0 | 0% | 0 | 1 | 1 |",
    ]
    assert report.table(found).endswith("\n\n6 changes, 7 tests: 16.7% were noticed, on paper.")
    again = report.table(found | {"again": {"changes": 3, "machine": "slate"}})
    assert again.endswith("on paper. Up to 3 of them, missed then or in functions that have changed since, were tried "
        "again, on slate.")  # fmt: skip
    # A reason counts for as many changes as it is given for.
    assert report.survivors(found).splitlines()[2:] == [
        "| `em` 3, 5 | `a` → `b` | the same |",
        "| `em` 7 | `a` → `b` | missed |",
        "| `votes` 8 | `a` → `b` | not asked for |",
        "| `votes` 9 | `a` → `b` | missed: no test reaches it |",
    ]


def test_every_reason_is_of_a_change_that_is_made():
    made: Counter[tuple[str, ...]] = Counter()
    for module in {which[0] for which, _, _ in report.reasons()}:
        tasks = [Task(program.MODULES[module], each) for each in mutants(program.MODULES[module].read_bytes())]
        made.update(report.key(program.described(task, "")) for task in tasks)
    given: Counter[tuple[str, ...]] = Counter(which for which, _, _ in report.reasons())
    assert not given - made
    assert {kind for _, kind, _ in report.reasons()} == {report.EQUIVALENT, report.LEFT}
    assert all(why and not why.endswith(".") for _, _, why in report.reasons())


def test_what_the_last_run_did_not_notice_has_a_reason_and_every_reason_is_of_that():
    last = json.loads(program.RESULT.read_text(encoding="utf-8"))
    if last["sources"] != program.sources():
        pytest.skip("the routing has changed since the last run; `make mutation` tries its changes")
    survivors = last["survivors"]
    missed = [
        f"{each['module']}:{each['line']}" for each in report.explained(survivors) if each["kind"] == report.MISSED
    ]
    assert not missed
    assert sorted(which for which, _, _ in report.reasons()) == sorted(map(report.key, survivors))


def test_what_was_missed_or_has_changed_is_tried_again_and_the_rest_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    path = program.MODULES["losses"]
    everything = [Task(path, each) for each in mutants(path.read_bytes())]
    left, missed = (program.described(task, "survived") for task in (everything[0], everything[-1]))
    (tmp_path / "reasons.toml").write_text(
        f'[[left]]\nmodule = "losses"\nwhy = "it is"\nchanges = [{json.dumps([*report.key(left)[1:]])}]\n'
    )
    monkeypatch.setattr(report, "REASONS", tmp_path / "reasons.toml")
    monkeypatch.setattr(program, "RESULT", tmp_path / "mutation.json")
    with pytest.raises(SystemExit, match="make mutation"):
        program.due_again(everything)
    sources = program.sources()
    program.RESULT.write_text(json.dumps({"sources": sources, "survivors": [missed, left | {"line": 1}]}))
    tried, others = program.due_again(everything)
    assert {report.key(program.described(task, "")) for task in tried} == {report.key(missed)}
    assert len(tried) + len(others) == len(everything)
    assert [each for each in others if each["outcome"] != "killed"] == [left], "where it stands now"
    function = everything[0].mutant.function
    sources["losses"][function] = "another"
    program.RESULT.write_text(json.dumps({"sources": sources, "survivors": []}))
    tried, others = program.due_again(everything)
    assert {task.mutant.function for task in tried} == {function}
    assert len(tried) + len(others) == len(everything)


def test_what_a_function_does_is_neither_its_words_nor_its_types():
    bare = b"LIMIT = 3\nclass A:\n    x = 1\n    def f(self, a, b=2):\n        return a\n"
    told = b'LIMIT: int = 3\n"""Most."""\n\nclass A:\n    """An A."""\n\n    x: int = 1\n' + (
        b'    def f(self, a: int, b: int = 2) -> int:\n        """a."""\n        return a  # it\n'
    )
    assert meanings(bare) == meanings(told)
    for was, now, where in (
        ("return a", "return b", "A.f"),
        ("b=2", "b=3", "A"),
        ("x = 1", "x = 2", "A"),
        ("3", "4", ""),
    ):
        other = meanings(bare.decode().replace(was, now).encode())
        assert {name for name, said in other.items() if said != meanings(bare)[name]} == {where}
