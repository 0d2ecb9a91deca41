"""The load test: a crowd of visitors who act at random, and one who stays long; what they saw, and what it cost.

The visitors speak Streamlit's own protocol over WebSockets, as its page in a browser does: they send the state of
every widget, the messages that they have kept, keys until they are acknowledged; the server cannot tell. Twenty windows
of Chromium would take most of two cores for themselves and measure Chromium. What needs a window, that a page draws
what it was sent and that hands reach it, `capsviz benchmark app` and the browser tests look at. Chromium's fetching of
Streamlit's own files, once for each visitor, is left out.

An answer's time runs from the moment in which an action is sent until a run of the script has ended whose page says
what was asked: a picker shows the option, a board was given what the hand left, links and address carry the choice. An
action is lost where no run does, also not after what a browser sends again. Between two actions a visitor looks at the
page for PAUSE seconds on average, as long by chance as the waits of customers are (exponentially distributed); one in
HASTE presses a key at once, while the page still changes.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from app.benchmarks.load.actions import HOWS, START, Link, draw, presenting
from app.benchmarks.load.visitor import Visitor
from app.benchmarks.serving import Server, ServingError, serving
from app.page.text import sentence
from app.server.failures import SENTENCE
from capsviz.experiments import results

PAUSE = 10.0
"""Seconds on average for which a visitor looks at what has come before they act again."""
HASTE = 8
"""One action in so many is followed by a key at once."""
HURRY = 0.1
"""Seconds until then."""
ALONE = 60
"""Actions of the one visitor before the others come, so that what all share is there: models, data sets, traces."""
LEFT = 120.0
"""Seconds after the visitors have left at which memory has to be back."""
ASKED = 2.0
"""Seconds that 95 % of the answers may take at most, on two cores."""
BACK = 1.05
"""What memory may be afterwards against what it was with one visitor, and at the end of a long visit against its
beginning."""
SAMPLES = 40
"""How often memory is looked at during a long visit."""
KNOWN = 50
"""Links that visitors have from one another."""


@dataclass
class Outcome:
    """What became of the actions of some visitors."""

    times: dict[str, list[float]] = field(default_factory=lambda: {how: [] for how in HOWS})
    """Seconds until the answers, by how they were asked for."""
    lost: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    """What visitors saw of exceptions, and when."""

    @property
    def answers(self) -> list[float]:
        """All times."""
        return [each for how in HOWS for each in self.times[how]]


async def arrive(address: str, link: Link) -> Visitor:
    """A new visitor, once the page of a link is there."""
    visitor, since = Visitor(address), time.perf_counter()
    await visitor.open(*link)
    await visitor.until(lambda: visitor.page.component("address") is not None, since)
    return visitor


async def act(visitor: Visitor, random: Random, known: list[Link], seen: Outcome, haste: int = HASTE) -> None:
    """One action, or one in `haste` (0: none) with a key right behind it, and what became of it."""
    action, where, before = draw(visitor, random, known), visitor.history[-1], len(visitor.seen)
    asked = [action]
    visitor.hurried = haste > 0 and random.randrange(haste) == 0 and action.what not in ("present", "take_away")
    since = time.perf_counter()
    await action.do(visitor)
    if visitor.hurried:
        await asyncio.sleep(HURRY)
        asked.append(presenting(visitor))
        since = time.perf_counter()
        await asked[-1].do(visitor)
    took = await visitor.until(lambda: all(each.shown(visitor) for each in asked), since)
    doing = f"{' and at once '.join(f'{each.how} {each.what}' for each in asked)} at {'?'.join(where)[:300]}"
    if took is None:
        missing = ", ".join(each.what for each in asked if not each.shown(visitor))
        seen.lost.append(f"{doing}: {missing} never came{', the connection was closed' if visitor.closed else ''}")
        if visitor.closed:
            await visitor.anew(*where)
    else:
        seen.times[action.how].append(took)
        known.append(visitor.history[-1])
        del known[:-KNOWN]
    seen.boxes += [f"{doing}: {said}" for said in _boxes(visitor, before)]


def _boxes(visitor: Visitor, since: int) -> list[str]:
    """The exceptions that the visitor saw; what a page says of a choice that it cannot show is none."""
    found = (
        node.proto.message if node.kind == "exception" else node.proto.body
        for node in visitor.seen[since:]
        if node.kind == "exception" or sentence(SENTENCE) in node.proto.body
    )
    return list(found)


async def alone(address: str, seed: int, actions: int, seen: Outcome, known: list[Link]) -> Visitor:
    """A visitor who has been on every page, and then did so many actions; who is still there."""
    visitor, random = await arrive(address, START), Random(f"{seed} alone")
    for script in [script for script, name in visitor.page.pages.items() if name and name != START[0]]:
        since = time.perf_counter()
        await visitor.follow(script, visitor.page.query)
        await visitor.until(lambda script=script: visitor.page.script == script, since)  # type: ignore[misc]
    for _ in range(actions):
        await act(visitor, random, known, seen)
    return visitor


async def crowd(
    address: str,
    seed: int,
    visitors: int,
    actions: int,
    pause: float,
    seen: Outcome,
    known: list[Link],
    haste: int = HASTE,
) -> list[Visitor]:
    """So many visitors who did so many actions in all; who are still there. haste: as in `act`."""
    begun = 0

    async def one(number: int) -> Visitor:
        nonlocal begun
        random = Random(f"{seed} {number}")
        await asyncio.sleep(random.uniform(0, pause))
        visitor = await arrive(address, random.choice(known) if known else START)
        while begun < actions:
            begun += 1
            await asyncio.sleep(random.expovariate(1 / pause) if pause else 0)
            await act(visitor, random, known, seen, haste)
        return visitor

    return list(await asyncio.gather(*(one(number) for number in range(visitors))))


async def stay(server: Server, seed: int, hours: float, seen: Outcome) -> list[int]:
    """One visitor for so many hours, who acts every second or so; the memory of the server meanwhile, in bytes."""
    visitor, random, known = await arrive(server.address, START), Random(f"{seed} long"), list[Link]()
    begun, samples = time.perf_counter(), list[int]()
    while (passed := time.perf_counter() - begun) < hours * 3600:
        if passed >= len(samples) * hours * 3600 / SAMPLES:
            samples.append(server.memory())
        await asyncio.sleep(random.expovariate(1))
        await act(visitor, random, known, seen)
    samples.append(server.memory())
    await visitor.leave()
    return samples


def measure(visitors: int, actions: int, hours: float, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Serve the app on this machine alone and visit it; say: gets a line at each stage.

    Raises ServingError where the app cannot be served, and where another system than Linux would have to tell what it
    holds.
    """
    if sys.platform != "linux":
        raise ServingError("What the server holds is read from Linux; measure load there.")
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, serving("app/main.py", Path(folder)) as server:
        many, few, long = asyncio.run(_all(server, visitors, actions, hours, seed, say))
        tracebacks = server.log.read_text(errors="replace").count("Traceback")
    seen, memory = many
    return {
        "seed": seed,
        "visitors": visitors,
        "actions": actions,
        "pause": PAUSE,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(before, 1),
        "boxes": few.boxes + seen.boxes,
        "lost": few.lost + seen.lost,
        "tracebacks": tracebacks,
        "answers": {"asked": ASKED, **_percentiles(seen.answers)},
        "by": {how: _percentiles(times) for how, times in seen.times.items()},
        "memory": memory,
        "long": long,
        **results.machine(),
    }


async def _all(
    server: Server, visitors: int, actions: int, hours: float, seed: int, say: Callable[[str], None]
) -> tuple[tuple[Outcome, dict[str, float]], Outcome, dict[str, Any]]:
    few, many, long, known = Outcome(), Outcome(), Outcome(), list[Link]()
    first = await alone(server.address, seed, min(ALONE, actions), few, known)
    one = server.memory()
    await first.leave()
    say(f"One visitor has been on every page: {one / 1e6:,.0f} MB.")
    there = await crowd(server.address, seed, visitors, actions, PAUSE, many, known)
    all_ = server.memory()
    for visitor in there:
        await visitor.leave()
    say(f"{visitors} visitors have done {actions} actions: {all_ / 1e6:,.0f} MB.")
    await asyncio.sleep(LEFT)
    after = server.memory()
    say(f"They left two minutes ago: {after / 1e6:,.0f} MB.")
    samples = await stay(server, seed, hours, long)
    memory = {"one": one, "all": all_, "after": after, "asked": BACK}
    stayed = {
        "hours": hours,
        "actions": len(long.answers) + len(long.lost),
        "boxes": long.boxes,
        "lost": long.lost,
        "memory": samples,
        "growth": _growth(samples),
        "asked": BACK,
    }
    return (many, memory), few, stayed


def _growth(samples: list[int]) -> float:
    """The last quarter against the second: in the first the caches fill, which are bounded."""
    quarter = max(1, len(samples) // 4)
    return statistics.median(samples[-quarter:]) / statistics.median(samples[quarter : 2 * quarter] or samples)


def _percentiles(times: list[float]) -> dict[str, Any]:
    middle, most = (round(float(each), 2) for each in np.percentile(times, (50, 95))) if times else (0.0, 0.0)
    return {"count": len(times), "p50": middle, "p95": most}
