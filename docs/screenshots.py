"""Take the pictures of docs/pages.md from the running app: `make screenshots` (needs Chromium at /usr/bin/chromium).

Starts the app on a free port, visits the pages with the model that a visitor meets first, stops it.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.serving import CHROMIUM, FLAGS, ROOT, served

IMAGES = ROOT / "docs" / "images"
PAGES = {
    "dynamic-dark": "dynamic",
    "em-light": "em",
    "discriminative-light": "discriminative",
    "perturb-light": "perturb",
    "compare-light": "compare",
    "results-light": "results",
    "multi-mnist-light": "results?experiment=multi-mnist",
}
"""The name of each picture, which ends in its theme, and the path of its page."""


def settle(page: Page) -> None:
    """Wait until the page has drawn everything and runs nothing."""
    page.wait_for_selector("h1, h2", timeout=120_000)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=120_000)
    page.wait_for_selector("[data-stale=true]", state="detached", timeout=120_000)
    page.wait_for_timeout(1500)


def play(page: Page) -> None:
    """Press the key that plays."""
    page.keyboard.press(" ")


def main() -> None:
    """Write every picture to docs/images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--query", default="", help="what follows ? in the links, e.g. model=digits-dr&image=3")
    parser.add_argument("--size", default="1280x1000")
    parser.add_argument("--out", type=Path, default=IMAGES)
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    log = tempfile.TemporaryDirectory()
    with log, served("app/main.py", Path(log.name)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        for name, path in PAGES.items():
            scheme: Any = name.rpartition("-")[2]
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{address}/{path}{'&' if '?' in path else '?'}{arguments.query}")
            settle(page)
            if path in ("dynamic", "em"):
                play(page)
                page.wait_for_timeout(4000)
            if path == "perturb":
                page.wait_for_selector('.live-decoder[data-ready="true"]', timeout=120_000)
            page.mouse.move(5, height - 5)
            page.locator("h2").first.scroll_into_view_if_needed()
            page.wait_for_timeout(500)
            Image.open(io.BytesIO(page.screenshot())).save(arguments.out / f"{name}.png", optimize=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
