"""Runs tests against changes, each in a process of its own that was forked when everything was imported."""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import coverage
import pytest

from .mutants import Mutant
from .replacing import Functions, change_import

KILLED, SURVIVED, UNREACHED, ELSEWHERE = "killed", "survived", "unreached", "elsewhere"
ENDS = {0: SURVIVED, 1: KILLED, 2: ELSEWHERE, 3: UNREACHED}
"""By the exit code of a process; one that was ended from outside was killed: for its time, or its memory."""
BROKEN = 70
"""Where no test but this program failed."""
ENOUGH = 15.0
"""Seconds of tests that a change has to pass to count as not noticed: of those that reach it, the quickest."""
QUICK = 0.02
"""Seconds of a test that has to pass a change to what runs at an import, though it runs none of its lines: it may read
what the import has made.
"""
SECONDS = 100
"""Of CPU time, after which a change counts as noticed."""
MEMORY = 4 * 2**30
"""Bytes beside those that the process has when it begins."""
PYTEST = [
    *("-s", "-p", "no:terminal", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("--timeout=0", "--hypothesis-profile=mutation"),
]
"""No limit by the clock, which what else the machine does would reach."""


@dataclass
class Test:
    """What one test takes, in seconds of CPU time, and the lines of each file that it runs."""

    seconds: float
    lines: dict[str, set[int]] = field(default_factory=dict)

    def reaches(self, path: Path, reach: tuple[int, int]) -> bool:
        """Whether it runs one of the lines from the first to the last."""
        return not self.lines.get(str(path), set()).isdisjoint(range(reach[0], reach[1] + 1))


@dataclass(frozen=True)
class Task:
    """A change to the module at a path."""

    path: Path
    mutant: Mutant

    @property
    def source(self) -> bytes:
        """The module with its change."""
        return self.mutant.applied(self.path.read_bytes())


def forked(run: Callable[[], int], seconds: int = SECONDS) -> int:
    """The process id of a child that runs a function, quietly and in bounds, and ends with what it returns."""
    child = os.fork()
    if child:
        return child
    status = BROKEN
    try:
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(quiet, stream)
        pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (pages + MEMORY, pages + MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = run()
    finally:
        os._exit(status)


def outcomes(against: Callable[[Task], int], tasks: Iterable[Task], jobs: int) -> Iterator[tuple[Task, str]]:
    """What becomes of each change, so many at a time, in the order in which they end."""
    running: dict[int, Task] = {}

    def ended() -> tuple[Task, str]:
        child, status = os.wait()
        task, code = running.pop(child), os.waitstatus_to_exitcode(status)
        assert code <= max(ENDS), f"the run against {task} broke down"
        return task, ENDS.get(code, KILLED)

    for task in tasks:
        if len(running) == jobs:
            yield ended()
        running[forked(partial(against, task))] = task
    while running:
        yield ended()


class Session:
    """A plugin of pytest that lets a function run the collected tests, and hears whether one failed."""

    def __init__(self, loop: Callable[[Session, list[pytest.Item]], None]):
        self.loop, self.failed = loop, False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of pytest's own loop, which does not begin either where a file could not be collected."""
        if not session.testsfailed:
            self.loop(self, session.items)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Setup and teardown count as well."""
        self.failed = self.failed or report.failed

    def run(self, items: Sequence[pytest.Item], before: Callable[[pytest.Item], None] = lambda item: None) -> int:
        """1 as soon as one of the tests fails, 0 if none does."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            before(item)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return 1
        return 0


def collected(tests: Sequence[str], loop: Callable[[Session, list[pytest.Item]], None]) -> int:
    """Let pytest collect tests, and a function run them; what pytest returns."""
    return int(pytest.main([*PYTEST, *tests], plugins=[Session(loop)]))


def measured(session: Session, items: list[pytest.Item], folder: str) -> dict[str, Test]:
    """What every test takes and reaches, without a change; raises SystemExit where one fails."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        child = forked(lambda: _measure(session, items, folder, file.name), 36000)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit("a test fails without any change; see `pytest tests/routing`")
        found: dict[str, Any] = json.load(file)
    return {
        name: Test(each["seconds"], {path: set(lines) for path, lines in each["lines"].items()})
        for name, each in found.items()
    }


def _measure(session: Session, items: list[pytest.Item], folder: str, result: str) -> int:
    tracer = coverage.Coverage(data_file=None, config_file=False, source=[folder])
    tracer.set_option("run:core", "ctrace")  # that of Python 3.14 tells a line of the first test alone that reaches it
    begun: dict[str, float] = {}

    def before(item: pytest.Item) -> None:
        begun[item.nodeid] = _now()
        tracer.switch_context(item.nodeid)

    with tracer.collect():
        status = session.run(items, before)
    ends = [*list(begun.values())[1:], _now()]
    found = {name: Test(end - start) for (name, start), end in zip(begun.items(), ends, strict=True)}
    data = tracer.get_data()
    for path in data.measured_files():
        for line, contexts in data.contexts_by_lineno(path).items():
            for context in filter(None, contexts):
                found[context].lines.setdefault(path, set()).add(line)
    plain = {
        name: {"seconds": each.seconds, "lines": {path: sorted(lines) for path, lines in each.lines.items()}}
        for name, each in found.items()
    }
    Path(result).write_text(json.dumps(plain), encoding="utf-8")
    return status


def _now() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def chosen(
    items: list[pytest.Item],
    tests: dict[str, Test],
    path: Path,
    reach: tuple[int, int] = (1, 10**6),
    *,
    anyway: float = 0.0,
) -> list[pytest.Item]:
    """The tests that run one of these lines of a module, the quickest first, of `ENOUGH` seconds together.

    anyway: seconds below which a test is one of them whatever it runs.
    """
    found: list[pytest.Item] = []
    seconds = 0.0
    for item in sorted(items, key=lambda item: tests[item.nodeid].seconds):
        test = tests[item.nodeid]
        if (test.seconds < anyway or test.reaches(path, reach)) and (not found or seconds + test.seconds < ENOUGH):
            found.append(item)
            seconds += test.seconds
    return found


def in_functions(
    session: Session, items: list[pytest.Item], tests: dict[str, Test], tasks: list[Task], jobs: int
) -> Iterator[tuple[Task, str]]:
    """What becomes of changes to the code of functions; of those that need an import, "elsewhere"."""
    functions = Functions({task.path for task in tasks})
    gc.freeze()  # so that a process that is forked from this one shares what it does not change

    def against(task: Task) -> int:
        reaching = chosen(items, tests, task.path, task.mutant.reach)
        try:
            there = functions.change(task.path, task.source)
        except ValueError:
            there = False
        return (session.run(reaching) if reaching else 3) if there else 2

    yield from outcomes(against, tasks, jobs)


def in_imports(
    names: Sequence[str], tests: dict[str, Test], tasks: list[Task], jobs: int
) -> Iterator[tuple[Task, str]]:
    """What becomes of changes to what runs when a module is imported; nothing of capsviz may be imported yet."""

    def against(task: Task) -> int:
        ends: list[int] = []

        def loop(session: Session, items: list[pytest.Item]) -> None:
            ends.append(session.run(chosen(items, tests, task.path, anyway=QUICK)))

        change_import(task.path, task.source)
        collected(names, loop)
        return ends[0] if ends else 1  # what cannot be imported is noticed by every test

    yield from outcomes(against, tasks, jobs)
