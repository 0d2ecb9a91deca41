"""Change the routing algorithms, one change at a time, and write which the tests notice: `make mutation`."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import hypothesis
import msgspec
import pytest
import torch

from . import report
from .mutants import meanings, mutants
from .report import text
from .running import (
    ELSEWHERE,
    SURVIVED,
    UNREACHED,
    Session,
    Task,
    Test,
    collected,
    in_functions,
    in_imports,
    measured,
)

ROOT = Path(__file__).resolve().parents[2]
ROUTING = ROOT / "capsviz" / "routing"
MODULES = {path.stem: path for path in ROUTING.glob("*.py")} | {
    "training.losses": ROOT / "capsviz" / "training" / "losses.py"
}
TESTS = ["tests/routing", "tests/training/test_losses.py"]
RESULT = ROOT / "benchmarks" / "results" / "mutation.json"

WANTED = 0.9
"""Of all changes, those that the tests have to notice."""

# The same examples in every run, fewer than in the tests, and none made smaller when one fails.
hypothesis.settings.register_profile(
    "mutation",
    deadline=None,
    max_examples=8,
    derandomize=True,
    database=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)


def described(task: Task, outcome: str) -> dict[str, Any]:
    """A change and what became of it, as the result file has those that nothing noticed."""
    mutant = task.mutant
    module = next(name for name, path in MODULES.items() if path == task.path)
    source = task.path.read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
    told = {"module": module, "line": mutant.line, "function": mutant.function, "source": source}
    return told | {"original": text(mutant.original), "changed": text(mutant.changed), "outcome": outcome}


def sources() -> dict[str, dict[str, str]]:
    """By module and function the SHA-256 of what it does, as hexadecimal digits: a result is of these."""
    return {
        name: {
            function: hashlib.sha256(meaning.encode()).hexdigest()
            for function, meaning in sorted(meanings(path.read_bytes()).items())
        }
        for name, path in sorted(MODULES.items())
    }


def due_again(everything: list[Task]) -> tuple[list[Task], list[dict[str, Any]]]:
    """Of all changes those that the last run missed, and those to functions that do something else since; and what that
    run found of all others.

    What a test noticed, one notices as long as the function stays as it was and no tests go. Raises SystemExit where
    there was no run.
    """

    def which(change: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return change["function"], report.key(change)

    if not RESULT.is_file():
        sys.exit("there was no run before; run `make mutation`, which tries every change")
    last, now = json.loads(RESULT.read_text(encoding="utf-8")), sources()
    missed = {which(each) for each in report.explained(last["survivors"]) if each["kind"] == report.MISSED}
    standing = [each for each in last["survivors"] if which(each) not in missed]
    left, outcomes = Counter(map(which, standing)), {which(each): each["outcome"] for each in standing}
    tasks, others = [], []
    for task in everything:
        told = described(task, report.KILLED)
        module, function = told["module"], told["function"]
        same = now[module][function] == last["sources"].get(module, {}).get(function)
        if not same or which(told) in missed:
            tasks.append(task)
        else:
            if left[which(told)]:
                left[which(told)] -= 1
                told["outcome"] = outcomes[which(told)]
            others.append(told)
    return tasks, others


def seen(results: Iterable[tuple[Task, str]], count: int) -> list[tuple[Task, str]]:
    """The results as a list; those that nothing noticed are printed as they come."""
    done = []
    for task, outcome in results:
        done.append((task, outcome))
        if outcome in (SURVIVED, UNREACHED):
            told = described(task, outcome)
            print("{module}:{line} {function}: {original} → {changed} {outcome}".format(**told), flush=True)
        if not len(done) % 50:
            print(f"{len(done)} of {count}", flush=True)
    return done


def live(names: list[str], tasks: list[Task], jobs: int, result: Path) -> None:
    """What becomes of changes inside functions, and what every test takes and reaches, as JSON; ends this process."""

    def loop(session: Session, items: list[pytest.Item]) -> None:
        tests = measured(session, items, str(ROOT / "capsviz"))
        print(f"{len(items)} tests take {sum(each.seconds for each in tests.values()):.0f} s of CPU", flush=True)
        done = seen(in_functions(session, items, tests, tasks, jobs), len(tasks))
        result.write_bytes(msgspec.json.encode(([(tasks.index(task), outcome) for task, outcome in done], tests)))

    os._exit(collected(names, loop))


def main() -> None:
    """Exit code 1 where fewer than nine in ten were noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(MODULES), nargs="+", help="these modules; nothing is written")
    parser.add_argument("--every", type=int, default=1, help="one change of so many, evenly spread; nothing is written")
    parser.add_argument("--again", action="store_true", help="only what is missed or has changed since")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="those that were added since, for --again")
    parser.add_argument("--jobs", type=int, default=1, help="changes at a time")
    options = parser.parse_args()
    if options.again and (options.only or options.every > 1):
        parser.error("--again is of all modules")
    if options.tests is not TESTS and not options.again:
        parser.error("--tests is for --again: what other tests noticed is not known without that")
    torch.set_num_threads(1)
    everything = [
        Task(MODULES[name], mutant)
        for name in options.only or sorted(MODULES)
        for mutant in mutants(MODULES[name].read_bytes())
    ]
    tasks, others = due_again(everything) if options.again else (everything[options.every // 2 :: options.every], [])
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "live"
        inside = [task for task in tasks if task.mutant.live]
        child = os.fork()
        if not child:
            live(options.tests, inside, options.jobs, result)
        os.waitpid(child, 0)
        said = tuple[list[tuple[int, str]], dict[str, Test]]
        numbered, tests = msgspec.json.decode(result.read_bytes(), type=said)
        done = [(inside[number], outcome) for number, outcome in numbered]
    again = [task for task, outcome in done if outcome == ELSEWHERE]
    rest = again + [task for task in tasks if not task.mutant.live]
    done = [each for each in done if each[1] != ELSEWHERE]
    done += seen(in_imports(options.tests, tests, rest, options.jobs), len(rest))
    if options.tests is not TESTS:  # that none of these reaches a change says nothing of the others
        done = [(task, SURVIVED if outcome == UNREACHED else outcome) for task, outcome in done]
    found = report.result([*(described(*each) for each in done), *others], options.every, len(tests))
    found["sources"] = sources()
    # Not before: a change to what runs at an import needs a process that has not imported capsviz yet.
    from capsviz.experiments import results

    found |= results.machine()
    if options.again:
        last = json.loads(RESULT.read_text(encoding="utf-8"))
        count = max(last.get("again", {}).get("changes", 0), len(tasks))
        found |= {"tests": last["tests"], "machine": last["machine"]}
        found["again"] = {"changes": count, "machine": results.machine()["machine"]}
    print(report.survivors(found), report.table(found), sep="\n\n")
    if not options.only and options.every == 1:
        print(results.write("mutation", found))
    sys.exit(report.share(found) < WANTED)


if __name__ == "__main__":
    main()
