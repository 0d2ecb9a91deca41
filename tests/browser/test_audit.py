"""Pages measured in Chromium: text can be read, pictures are described, nothing is cut, a strip says where one is."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from capsviz.figures.theme import ink
from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

QUESTIONS = Path(__file__).with_name("audit.js").read_text(encoding="utf-8").rstrip()
LIGHT = {
    "": "Dynamic<br>routing",
    "discriminative?part=coefficients": "L2",
    "compare?view=many": "reconstruction",
    "results": "",
    "viewpoint": "",
    "training": "",
}
DARK = {
    "?lab=toy": "Dynamic<br>routing",
    "em": "EM<br>routing",
    "perturb?hand=cells": "10 class capsules",
    "compare?view=confusions": "10 class capsules",
    "viewpoint?change=shear": "",
    "training": "",
}
"""Pages, and what of the network is marked on their strips."""
HARD = 0.25
"""Share of the pixels behind a text on which it may be hard to read: lines and points cross some words."""

SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
p { margin-bottom: 2em !important; }"""
"""How far apart a reader may set letters, words, lines and paragraphs (WCAG 2.2, 1.4.12)."""
ADOPTED = """css => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    document.adoptedStyleSheets.push(sheet);
}"""
WIDGETS = '[data-testid="stMain"] :is([role="radio"], [data-testid="stMetric"])'
CUT = """widgets => widgets.flatMap((widget) => [...widget.querySelectorAll("p")].filter((words) => {
    const range = new Range(), box = widget.getBoundingClientRect();
    range.selectNodeContents(words);
    const own = range.getBoundingClientRect();
    return own.top < box.top - 1 || own.bottom > box.bottom + 1 || own.right > box.right + 1;
}).map((words) => words.textContent))"""


def asked(window: sync_api.Page, question: str) -> Any:
    """The page's answer to one of the questions in audit.js."""
    return window.evaluate(f"{QUESTIONS}.{question}()")


def light(colours: np.ndarray) -> np.ndarray:
    """Relative luminance of red, green and blue from 0 to 255 (WCAG 2.2), "… 3" to "…"."""
    share = np.asarray(colours, dtype=float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def hard_to_read(window: sync_api.Page) -> tuple[int, list[str]]:
    """How many texts are painted, and those with a contrast below 4.5:1, large ones below 3:1, to what is behind."""
    # What the script has drawn anew fades in.
    while not window.evaluate("document.getAnimations().every((each) => !(each instanceof CSSTransition))"):
        window.wait_for_timeout(50)
    texts = asked(window, "texts")
    asked(window, "hideTexts")
    behind = np.asarray(Image.open(io.BytesIO(window.screenshot(animations="disabled"))).convert("RGB"), dtype=float)
    asked(window, "showTexts")
    bad = []
    for text in texts:
        left, top, right, bottom = (round(edge) for edge in text["box"])
        ground = behind[top:bottom, left:right].reshape(-1, 3)
        front = ground + text["alpha"] * (np.array(text["colour"]) - ground)
        dark, bright = np.sort([light(front), light(ground)], axis=0)
        ratio = (bright + 0.05) / (dark + 0.05)
        if (ratio < (3 if text["large"] else 4.5)).mean() > HARD:
            bad.append(f"{text['text']}: {np.median(ratio):.2f}")
    return len(texts), bad


def wrong_with(window: sync_api.Page) -> dict[str, Any]:
    """By question what is wrong with the page as it is now; empty where nothing is."""
    found = {question: asked(window, question) for question in ("undescribed", "outline", "tooWide", "written")}
    found["hard to read"] = hard_to_read(window)[1]
    return {question: answer for question, answer in found.items() if answer}


def test_the_questions_find_what_is_wrong(chromium: sync_api.Browser):
    window = chromium.new_page()
    window.set_content(
        '<main data-testid="stMain"><p>Plain words</p><p style="color: #999">Pale words</p>'
        '<p style="color: #767676">Muted words</p><canvas></canvas><div style="width: 9000px">Wide</div>'
        "<h2>One</h2><h4>Three</h4><h2>One</h2><h3>Two</h3><table><tr><th></th><th>Named</th></tr></table></main>"
    )
    asked(window, "listen")
    window.evaluate(
        "() => { const pen = document.querySelector('canvas').getContext('2d'); pen.font = '14px serif';"
        " pen.fillText('dark words', 9, 20); pen.fillStyle = '#999'; pen.fillText('grey words', 9, 60); }"
    )
    assert [text.split(":")[0] for text in asked(window, "written")] == ["grey words"]
    assert len(asked(window, "undescribed")) == 1
    assert asked(window, "outline") == ["H4 after H2: Three", "empty: Named"]
    assert asked(window, "tooWide")
    count, bad = hard_to_read(window)
    assert count == 9 and [text.split(":")[0] for text in bad] == ["Pale words"]
    window.close()


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("scheme", "mode", "pages"), [("light", "", LIGHT), ("dark", "&present=1", DARK)], ids=["light", "dark, presented"]
)
def test_pages_can_be_read_are_described_and_say_where_they_are(
    open_window: Callable[..., sync_api.Page], address: str, scheme: str, mode: str, pages: dict[str, str]
):
    tall = {"width": 1280, "height": 1400}
    window = open_window(viewport=tall, color_scheme=scheme, reduced_motion="no-preference")
    window.add_init_script(f"{QUESTIONS}.listen()")
    visitor, wrong = Visitor(window, address), {}
    links = [f"{path}{'&' if '?' in path else '?'}model=digits-dr{mode}" for path in pages]
    visitor.open(links[0])
    ground = window.locator('[data-testid="stApp"]').evaluate("app => getComputedStyle(app).backgroundColor")
    pen = ink(dark=scheme == "dark")
    assert ground == "rgb({}, {}, {})".format(*bytes.fromhex(pen.ground[1:]))
    if mode:  # the page tells how large its window is, and is drawn again
        visitor.eventually(lambda: visitor.messages_sent >= 2, "the size of the window")
        window.wait_for_timeout(500)
        visitor.settle()
    for link, (path, subject) in zip(links, pages.items(), strict=True):
        if link != links[0]:
            visitor.follow(f"/{link}")
        if subject:
            strip = window.locator('.st-key-strip[data-stale="false"] .js-plotly-plot:has(.main-svg)')
            look = "plot => [plot.layout.font.color, ...(plot.layout.annotations ?? []).map(({ text }) => text)]"
            seen: list[str] = []

            def drawn(mark: str = f"<b>{subject}</b>", seen: list[str] = seen) -> bool:
                seen[:] = strip.evaluate(look)  # noqa: B023  (asked here and now)
                return mark in seen

            visitor.eventually(drawn, f"{subject} marked on the strip of {path}")
            assert seen[0] == pen.text, path
        least = 15 if mode and path == "training" else 30  # presented before it begins there is little to read

        def written(least: int = least) -> bool:
            return len(asked(window, "texts")) > least

        visitor.eventually(written, f"the texts of {path}")
        wrong[path] = visitor.remaining(lambda: wrong_with(window))
        assert written(), path
    visitor.leave()
    assert {path: found for path, found in wrong.items() if found} == {}


def test_no_word_of_a_widget_is_cut_where_a_reader_sets_letters_apart(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr")
    visitor.window.evaluate(ADOPTED, SPACED)
    visitor.still()
    widgets = visitor.window.locator(WIDGETS)
    assert widgets.count() == 16
    assert widgets.evaluate_all(CUT) == []
