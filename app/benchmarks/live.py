"""The running app, measured in Chromium: how soon it opens, how smoothly players move, how soon a hand is answered."""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.benchmarks.serving import CHROMIUM, FLAGS, ServingError, served

MODEL = "mnist-dr-paper"
"""Its decoder has the paper's size: 160, 512, 1024 and 784 units; the three beside it have half of its hidden units."""
ASKED = {1: 25.0, 4: 33.0}
"""Milliseconds that 95 % of the answers may take at most, by the number of decoders."""
WARM_UP, MOVES, EVERY = 30, 300, 16
"""Moves of the pointer that do not count, those that do, and the milliseconds between two of them."""
FRAME = 1000 / 30
"""Milliseconds that may pass at most between 95 % of the pictures of a player: 30 frames a second."""
SCREENS = ((1280, 720), (1920, 1080))
FIRST = f"dynamic?model={MODEL}"
"""The page whose board the first view draws, and on which keys are answered."""
PLAYERS = {
    "dynamic routing": (FIRST, "section.routing"),
    "EM": ("em?model=mnist-em-residual", "section.routing"),
    "ascent": ("discriminative?model=mnist-l2-residual&part=ascent", "section.capsule-maps"),
}
"""Pages with a player, and where it is on them."""
PLAY = """root => new Promise((played) => {
  const { controls } = root.capsvizBoard, { options } = controls, { show } = options, times = [];
  options.show = (position) => { times.push(performance.now()); show(position); };
  controls.player.hold = 0; // frames that stand still draw nothing, and are not counted
  controls.go(0);
  times.length = 0;
  controls.play();
  const wait = () => (controls.timer ? setTimeout(wait, 50) : played(times));
  wait();
})"""
"""Plays once from start to end; gives the moments of the pictures in milliseconds."""
AHEAD = 10
"""Seconds that a speaker's server has been up before the first visit, when it has not just been started."""
WAIT = 60_000
FIRST_VIEW = 2500.0
"""Milliseconds that the first view of a server may take that has been up for a while."""
ANSWERS = {
    "another T": ("+-", FRAME, 40),
    "the next image": ("]]", 300.0, 12),
    "another page, until its board stands": ("21", 500.0, 12),
    "presenter mode": ("pp", 300.0, 12),
}
"""By what is asked for on the page of dynamic routing: the two keys that do so in turn, the milliseconds that 95 % of
the answers may take at most, and how often it is asked."""
HELP = 500.0
"""Milliseconds that `capsviz --help` may take."""
PAUSE = 600
"""Milliseconds between an answer and the next key: a speaker's hand, and time for the rest of the page."""
ANSWER = """async (key) => {
  const find = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at.capsvizBoard?.root.dataset.frame) return at.capsvizBoard;
    const found = at.shadowRoot && find(at.shadowRoot); if (found) return found; } };
  const seen = () => { const board = find(document); return board && {
    T: board.run.iterations, image: String(board.run.data.image), page: board.run.data.symbol,
    presented: board.look.scale > 1 && !document.querySelector('[data-testid="stSidebar"]')?.checkVisibility() }; };
  const what = { "+": "T", "-": "T", "]": "image", 1: "page", 2: "page", p: "presented" }[key];
  const before = seen()[what], began = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
  while (performance.now() - began < 60000) {
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    const now = seen();
    if (now && now[what] !== before) return performance.now() - began;
  }
  return null;
}"""
"""Presses a key; gives the milliseconds until what it asks for is painted on the board, null where it never is."""


def measure() -> dict[str, Any]:
    """Serve the app and visit it: seconds until the first view, milliseconds between a player's pictures and until a
    slider of Perturb is answered, with one decoder and with four, and a key is: T, image, page, presenter mode. And
    those that the command line's help takes.

    The clock of players, slider and keys runs in the page: from picture to picture, and from the event until the
    canvases are painted. The first view is measured in fresh processes of Streamlit, one visited as soon as it answers.
    Raises ServingError where Playwright, Chromium, Streamlit or the app are not on this machine.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError as error:
        raise ServingError(
            "The app is measured in a browser that Playwright drives; install it with `pip install playwright`."
        ) from error
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        try:
            path = str(CHROMIUM) if CHROMIUM.exists() else None
            browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        except Error as error:
            raise ServingError(
                "There is no Chromium to measure in: run `playwright install chromium`, or name one in "
                "CAPSVIZ_CHROMIUM."
            ) from error
        with served("app/main.py", Path(folder)) as address:
            time.sleep(AHEAD)
            ahead = _first_view(browser, address)
        began = time.perf_counter()
        with served("app/main.py", Path(folder)) as address:
            answered = time.perf_counter() - began
            first = {"server": round(answered, 1), "board": _first_view(browser, address), "board_ahead": ahead}
            players = [_player(browser, address, name, screen) for screen in SCREENS for name in PLAYERS]
            bars = [_bar(browser, address, count) for count in ASKED]
            answers = _answers(browser, address)
        version = browser.version
        browser.close()
    return {
        "model": MODEL,
        "machine": platform.machine(),
        "chromium": version,
        "first_view": first,
        "players": players,
        "bars": bars,
        "answers": answers,
        "help": _help(),
    }


def _help() -> dict[str, Any]:
    """How long `capsviz --help` takes, from the start of its process to the end."""
    took = []
    for _ in range(12):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "capsviz", "--help"], check=True, stdout=subprocess.DEVNULL)
        took.append(1000 * (time.perf_counter() - began))
    return {"times": len(took), **_spread(took, HELP)}


def _spread(milliseconds: Sequence[float], asked: float) -> dict[str, Any]:
    """The middle of what was measured, what 95 % of it stay below, and whether that is what is asked at most."""
    middle, most = (round(float(value), 1) for value in np.percentile(milliseconds, (50, 95)))
    return {"p50": middle, "p95": most, "asked": round(asked, 1), "met": most <= asked}


def _open(browser: Any, address: str, path: str, screen: Sequence[int]) -> Any:
    page = browser.new_page(viewport={"width": screen[0], "height": screen[1]})
    page.set_default_timeout(WAIT)
    page.goto(f"{address}/{path}")
    return page


def _rest(page: Any) -> None:
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_timeout(1000)  # figures draw themselves


def _first_view(browser: Any, address: str) -> float:
    """Seconds from a server's first visit, to the page of dynamic routing, until its board is drawn."""
    began = time.perf_counter()
    page = _open(browser, address, FIRST, SCREENS[0])
    page.locator("section.routing[data-frame]").wait_for()
    drawn = time.perf_counter()
    page.close()
    return round(drawn - began, 1)


def _player(browser: Any, address: str, name: str, screen: tuple[int, int]) -> dict[str, Any]:
    path, place = PLAYERS[name]
    page = _open(browser, address, path, screen)
    player = page.locator(f'[data-stale="false"] {place}')
    player.wait_for()
    _rest(page)
    apart = np.diff(player.evaluate(PLAY))
    page.close()
    return {"player": name, "screen": list(screen), "pictures": len(apart) + 1, **_spread(apart, FRAME)}


def _bar(browser: Any, address: str, count: int) -> dict[str, Any]:
    page = _open(browser, address, f"perturb?model={MODEL}" + ("&beside=1" if count > 1 else ""), SCREENS[0])
    page.locator('.live-decoder[data-ready="true"]').wait_for()
    _rest(page)
    board = page.locator(".live-decoder")
    drawn = board.locator("canvas.after").count()
    if drawn != count:
        raise ServingError(f"The page shows {drawn} decoders instead of {count}; restore pretrained/ with git.")
    slider = board.locator('input[type="range"]').first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    across, y = box["width"], box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + across / 2, y)
    page.mouse.down()
    for move in range(WARM_UP + MOVES):
        if move == WARM_UP:
            board.evaluate("board => board.capsvizLatencies.length = 0")
        page.mouse.move(box["x"] + across * (0.5 + 0.45 * np.sin(move / 6)), y)
        page.wait_for_timeout(EVERY)
    latencies = board.evaluate("board => board.capsvizLatencies")
    page.mouse.up()
    page.close()
    return {"decoders": count, "answers": len(latencies), **_spread(latencies, ASKED[count])}


def _answers(browser: Any, address: str) -> list[dict[str, Any]]:
    """How soon keys are answered on the page of dynamic routing and that of EM."""
    page = _open(browser, address, FIRST, SCREENS[0])
    page.locator("section.routing[data-frame]").wait_for()
    _rest(page)
    found = []
    for name, (keys, asked, times) in ANSWERS.items():
        for key in keys:  # once in vain, so that both have been there
            page.evaluate(ANSWER, key)
            _rest(page)
        took = []
        for time_ in range(times):
            took.append(page.evaluate(ANSWER, keys[time_ % 2]))
            page.wait_for_timeout(PAUSE)
        if None in took:
            raise ServingError(f"A key did not lead to {name} within a minute; open the app and try it by hand.")
        _rest(page)
        found.append({"answer": name, "times": times, **_spread(took, asked)})
    page.close()
    return found


def table(result: dict[str, Any]) -> str:
    """What was measured as a Markdown table."""
    first = result["first_view"]
    lines = [
        "| measured | times | p50, ms | p95, ms | asked of p95 | |",
        "| --- | ---: | ---: | ---: | --- | --- |",
        f"| Streamlit's process answers | 1 | {1000 * first['server']:.0f} | | | |",
    ]
    for when, key in (("at once", "board"), (f"{AHEAD} s later", "board_ahead")):
        lines.append(f"| first visit, {when}, until the routing board is drawn | 1 | {1000 * first[key]:.0f} | | | |")
    lines[-1] = lines[-1].removesuffix("| | |") + (
        f"| at most {FIRST_VIEW:g} ms | {'met' if 1000 * first['board_ahead'] <= FIRST_VIEW else 'missed'} |"
    )
    for player in result["players"]:
        across, down = player["screen"]
        lines.append(_row(f"between two pictures, {player['player']}, {across}×{down}", player["pictures"] - 1, player))
    for bar in result["bars"]:
        decoders = "one decoder" if bar["decoders"] == 1 else f"{bar['decoders']} decoders"
        lines.append(_row(f"from the hand to the painted canvas, {decoders}", bar["answers"], bar))
    for answer in result["answers"]:
        lines.append(_row(f"from the key to the painted board, {answer['answer']}", answer["times"], answer))
    lines.append(_row("`capsviz --help`", result["help"]["times"], result["help"]))
    return "\n".join(lines)


def _row(what: str, times: int, found: dict[str, Any]) -> str:
    verdict = "met" if found["met"] else "missed"
    return f"| {what} | {times} | {found['p50']:.1f} | {found['p95']:.1f} | at most {found['asked']:g} ms | {verdict} |"
