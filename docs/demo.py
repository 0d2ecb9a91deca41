"""Record the README's short demo from the running app: `make demo` (needs Chromium at /usr/bin/chromium).

Dynamic routing is stepped through line by line, then a number of a class capsule is moved on Perturb. Each picture is a
screenshot; nothing is drawn for it.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from docs.screenshots import IMAGES, settle
from tests.serving import CHROMIUM, FLAGS, served

SIZE = (1280, 720)
SHOWN = (960, 540)
STEP_MS, DRAG_MS, REST_MS = 900, 160, 2200


def picture(page: Page) -> Image.Image:
    """The window as it is, at the size of the demo."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS)


def routing(page: Page, address: str, query: str) -> list[tuple[Image.Image, int]]:
    """Every line of every iteration of dynamic routing."""
    page.goto(f"{address}/?{query}&frame=0")
    settle(page)
    page.wait_for_timeout(1500)  # a presented page is drawn again once it knows how large its window is
    page.locator(".st-key-strip .main-svg").first.wait_for()
    count = int(page.locator(".player-controls input").first.get_attribute("max") or 0)
    frames = []
    for index in range(count + 1):
        page.wait_for_selector(f'section.routing[data-frame="{index}"]')
        frames.append((picture(page), REST_MS if index in (0, count) else STEP_MS))
        page.keyboard.press("ArrowRight")
    return frames


def perturbing(page: Page, address: str, query: str, dimension: int) -> list[tuple[Image.Image, int]]:
    """One slider of Perturb, there and back."""
    page.goto(f"{address}/perturb?{query}")
    settle(page)
    page.wait_for_selector('.live-decoder[data-ready="true"]', timeout=120_000)
    slider = page.locator(f"#dimension-{dimension}")
    slider.wait_for()
    slider.focus()
    frames = [(picture(page), STEP_MS)]
    for key in ["ArrowRight"] * 5 + ["ArrowLeft"] * 10 + ["ArrowRight"] * 5:
        page.keyboard.press(key)
        page.wait_for_timeout(60)
        frames.append((picture(page), DRAG_MS))
    frames[-1] = (frames[-1][0], REST_MS)
    return frames


def main() -> None:
    """Write docs/images/demo.webp."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--query", default="model=mnist-dr-paper&image=108&present=1", help="what follows ? in links")
    parser.add_argument(
        "--dimension", type=int, default=7, help="the number that is moved, one whose meaning has a word"
    )
    parser.add_argument("--out", type=Path, default=IMAGES / "demo.webp")
    arguments = parser.parse_args()
    log = tempfile.TemporaryDirectory()
    with log, served("app/main.py", Path(log.name)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="dark").new_page()
        frames = routing(page, address, arguments.query)
        frames += perturbing(page, address, arguments.query, arguments.dimension)
        browser.close()
    first, *rest = [image for image, _ in frames]
    first.save(
        arguments.out,
        save_all=True,
        append_images=rest,
        duration=[wait for _, wait in frames],
        loop=0,
        quality=72,
        method=6,
    )
    print(f"{arguments.out.name}: {len(frames)} pictures, {arguments.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
