"""How soon the live decoder answers a hand, measured in the running app: event to repainted canvas, in Chromium."""

from __future__ import annotations

import platform
import tempfile
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
WAIT = 60_000


def measure() -> dict[str, Any]:
    """Serve the app, drag a slider of Perturb to and fro with one decoder and with four; latencies in milliseconds.

    The clock runs in the page, from the pointer's event until the canvases are painted.
    Raises ServingError where Playwright, Chromium, Streamlit or the app are not on this machine.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError as error:
        raise ServingError(
            "The app is measured in a browser that Playwright drives; install it with `pip install playwright`."
        ) from error
    with (
        tempfile.TemporaryDirectory() as folder,
        served("app/main.py", Path(folder)) as address,
        sync_playwright() as driver,
    ):
        try:
            path = str(CHROMIUM) if CHROMIUM.exists() else None
            browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        except Error as error:
            raise ServingError(
                "There is no Chromium to measure in: run `playwright install chromium`, or name one in "
                "CAPSVIZ_CHROMIUM."
            ) from error
        bars = [_bar(browser, address, count) for count in ASKED]
        version = browser.version
        browser.close()
    return {"model": MODEL, "machine": platform.machine(), "chromium": version, "bars": bars}


def _bar(browser: Any, address: str, count: int) -> dict[str, Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(WAIT)
    page.goto(f"{address}/perturb?model={MODEL}" + ("&beside=1" if count > 1 else ""))
    page.locator('.live-decoder[data-ready="true"]').wait_for()
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_timeout(1000)  # the figures below draw themselves
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
    """The latencies as a Markdown table."""
    lines = [
        "| decoders | answers | p50, ms | p95, ms | asked of p95 | |",
        "| ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for bar in result["bars"]:
        lines.append(
            f"| {bar['decoders']} | {bar['answers']} | {bar['p50']:.1f} | {bar['p95']:.1f} "
            f"| at most {bar['asked']:g} ms | {'met' if bar['met'] else 'missed'} |"
        )
    return "\n".join(lines)
