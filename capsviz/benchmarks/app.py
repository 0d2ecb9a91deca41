"""The running app, measured in Chromium: how soon it opens, how smoothly players move, how soon a hand is answered."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from capsviz.benchmarks.serving import CHROMIUM, FLAGS, ServingError, served

MODEL = "mnist-dr"
"""Its decoder, and those of the models beside it, have the paper's size: 160, 512, 1024 and 784 units."""
ASKED = {1: 25.0, 4: 33.0}
"""Milliseconds that 95 % of the answers may take at most, by the number of decoders."""
WARM_UP, MOVES, EVERY = 30, 300, 16
"""Moves of the pointer that do not count, those that do, and the milliseconds between two of them."""
FRAME = 1000 / 30
"""Milliseconds that may pass at most between 95 % of the pictures of a player: 30 frames a second."""
SCREENS = ((1280, 720), (1920, 1080))
PLAYERS = {
    "dynamic routing": ("dynamic?model=mnist-dr", "section.routing"),
    "EM": ("em?model=mnist-em", "section.routing"),
    "ascent": ("discriminative?model=mnist-l2&part=ascent", "section.film"),
}
"""Pages with a player, and where it is on them."""
PLAY = """root => new Promise((played) => {
  const { transport } = root.capsvizBoard ?? root.capsvizFilm, { show } = transport, times = [];
  transport.show = (position) => { times.push(performance.now()); show(position); };
  transport.hold = 0; // frames that stand still draw nothing, and are not counted
  transport.go(0);
  times.length = 0;
  transport.play();
  const wait = () => (transport.timer ? setTimeout(wait, 50) : played(times));
  wait();
})"""
"""Plays once from start to end; gives the moments of the pictures in milliseconds."""
AHEAD = 10
"""Seconds that a speaker's server has been up before the first visit, when it has not just been started."""
WAIT = 60_000


def measure() -> dict[str, Any]:
    """Serve the app and visit it: seconds until the first view, milliseconds between a player's pictures and until a
    slider of Perturb is answered, with one decoder and with four.

    The clock of players and slider runs in the page: from picture to picture, and from the pointer's event until the
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
        version = browser.version
        browser.close()
    return {
        "model": MODEL,
        "machine": platform.machine(),
        "chromium": version,
        "first_view": first,
        "players": players,
        "bars": bars,
    }


def _open(browser: Any, address: str, path: str, screen: Sequence[int]) -> Any:
    page = browser.new_page(viewport={"width": screen[0], "height": screen[1]})
    page.set_default_timeout(WAIT)
    page.goto(f"{address}/{path}")
    return page


def _rest(page: Any) -> None:
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_timeout(1000)  # figures draw themselves


def _first_view(browser: Any, address: str) -> float:
    """Seconds from the opening of the first page of a server until its board is drawn."""
    began = time.perf_counter()
    page = _open(browser, address, "", SCREENS[0])
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
    middle, most = (round(float(value), 1) for value in np.percentile(apart, (50, 95)))
    return {
        "player": name,
        "screen": list(screen),
        "pictures": len(apart) + 1,
        "p50": middle,
        "p95": most,
        "asked": round(FRAME, 1),
        "met": most <= FRAME,
    }


def _bar(browser: Any, address: str, count: int) -> dict[str, Any]:
    page = _open(browser, address, f"perturb?model={MODEL}" + ("&beside=1" if count > 1 else ""), SCREENS[0])
    page.locator('.live-decoder[data-ready="true"]').wait_for()
    _rest(page)
    board = page.locator(".live-decoder")
    drawn = board.locator("canvas.after").count()
    if drawn != count:
        raise ServingError(f"The page shows {drawn} decoders instead of {count}; restore pretrained/ with git.")
    slider = board.locator('input[type="range"]').nth(5)
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
    middle, most = (round(float(value), 1) for value in np.percentile(latencies, (50, 95)))
    asked = ASKED[count]
    return {
        "decoders": count,
        "answers": len(latencies),
        "p50": middle,
        "p95": most,
        "asked": asked,
        "met": most <= asked,
    }


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
    for player in result["players"]:
        across, down = player["screen"]
        lines.append(_row(f"between two pictures, {player['player']}, {across}×{down}", player["pictures"] - 1, player))
    for bar in result["bars"]:
        decoders = "one decoder" if bar["decoders"] == 1 else f"{bar['decoders']} decoders"
        lines.append(_row(f"from the hand to the painted canvas, {decoders}", bar["answers"], bar))
    return "\n".join(lines)


def _row(what: str, times: int, found: dict[str, Any]) -> str:
    verdict = "met" if found["met"] else "missed"
    return f"| {what} | {times} | {found['p50']:.1f} | {found['p95']:.1f} | at most {found['asked']:g} ms | {verdict} |"
