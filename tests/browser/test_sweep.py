"""The sweep of a viewpoint in Chromium: played, left at an amount, which is then the viewpoint of all pages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.browser.api import sync_api
from tests.browser.pen import marks, told
from tests.browser.visitor import Visitor


def is_drawn(sweep: sync_api.Locator, said: dict) -> None:
    """The pictures of a sweep are those of its numbers."""
    for place, method in enumerate(said["methods"]):
        drawn = marks(sweep, f"board.activations[{place}].panel")
        zero, one = (each.given[2] for each in drawn if each.given[:1] in (["0"], ["1"]))
        dashed, solid = (each for each in drawn if len(each.path) == len(said["amounts"]))
        assert dashed.dash and not solid.dash
        for curve, whose in ((dashed, "other"), (solid, "own")):
            heights = [(zero - y) / (zero - one) for _, y in curve.path]
            assert heights == pytest.approx(said[f"{whose}{place}"], abs=1e-4)
        grey = [each.given for each in drawn if each.did == "fillRect"]
        assert [any(left <= x <= left + wide for left, _, wide, _ in grey) for x, _ in solid.path] == method["lost"]
    for place in range(len(said["panels"])):
        columns = [each.pixels for each in marks(sweep, f"board.numbers[{place}].panel", "drawImage")]
        values, strongest = said[f"numbers{place}"], np.abs(said[f"numbers{place}"]).argmax()
        colours = said["theme"]["diverging"]
        assert np.transpose(columns).flat[strongest] == colours[-1 if values[strongest] > 0 else 0][1]


def test_where_the_sweep_is_left_the_image_of_all_pages_stands(visitor: Visitor):
    visitor.open("viewpoint?model=mnist-dr-paper")
    window, sweep = visitor.window, visitor.window.locator(".sweep[data-ready]")
    sweep.wait_for()
    captions = sweep.locator(".pictures figcaption")
    sync_api.expect(captions.first).to_have_text("The image at 0°")
    before, said = sweep.locator(".charts > figure > figcaption").all_inner_texts(), told(sweep)
    assert said["named"][said["neutral"]] != said["named"][0]
    sync_api.expect(captions.nth(1)).to_have_text(f"mnist-dr-paper draws its {said['named'][said['neutral']]}")
    visitor.press("Home")
    sync_api.expect(captions.first).to_have_text("The image at −60°")
    visitor.eventually(lambda: "viewpoint=rotation_-60" in visitor.query(), "the amount in the link")
    visitor.settle()
    after = sweep.locator(".charts > figure > figcaption").all_inner_texts()
    assert len(after) == 5 and all(was != now for was, now in zip(before, after, strict=True))
    for k, each in enumerate(said["methods"]):
        own, other = (f"{said[f'{whose}{k}'][0]:.2f}" for whose in ("own", "other"))
        caption = f"{said['label']}: {own}, {each['others'][0]}: {other}" + " ✗" * each["lost"][0]
        assert after[k].split("\n")[:2] == [each["title"], caption]
    assert said["methods"][0]["title"] == "DR" and said["methods"][0]["lost"][0], "at −60° it has lost this digit"
    is_drawn(sweep, said)
    sync_api.expect(window.get_by_text("rotation −60°").first).to_be_visible()
    visitor.press("1")
    sync_api.expect(window.locator("h2")).to_have_text("Dynamic routing")
    visitor.settle()
    sync_api.expect(window.get_by_text("rotation −60°").first).to_be_visible()
    visitor.press("9")
    sync_api.expect(captions.first).to_have_text("The image at −60°")


@pytest.fixture
def turned(visitor: Visitor) -> sync_api.Locator:
    """The sweep over turns, which stands at 20°."""
    visitor.open("viewpoint?model=digits-dr&viewpoint=rotation_20")
    sweep = visitor.window.locator(".sweep[data-ready]")
    sync_api.expect(sweep.locator("output.frame")).to_have_text("20°")
    return sweep


def stays_at(visitor: Visitor, sweep: sync_api.Locator, amount: str, link: str) -> None:
    """The sweep stands at an amount, and stays there once the link says so."""
    sync_api.expect(sweep.locator("output.frame")).to_have_text(amount)
    visitor.eventually(lambda: link in visitor.query(), f"{link} in the link")
    visitor.settle()
    sync_api.expect(sweep.locator("output.frame")).to_have_text(amount)


def test_an_amount_between_the_usual_ones_is_the_one_that_is_named(visitor: Visitor, turned: sync_api.Locator):
    slider = visitor.window.get_by_role("slider", name="Rotation")
    for key, amount in (("ArrowLeft", 19), ("ArrowLeft", 18), ("ArrowRight", 19), ("ArrowRight", 20)):
        slider.press(key)
        stays_at(visitor, turned, f"{amount}°", f"viewpoint=rotation_{amount}")
        sync_api.expect(turned.locator(".pictures figcaption").first).to_have_text(f"The image at {amount}°")
    slider.press("ArrowLeft")
    sync_api.expect(turned.locator("output.frame")).to_have_text("19°")
    turned.get_by_role("button", name="One amount on").click()
    stays_at(visitor, turned, "20°", "viewpoint=rotation_20")


def test_under_another_change_it_stands_where_nothing_is_changed(visitor: Visitor, turned: sync_api.Locator):
    visitor.window.get_by_role("radio", name="Scale").click()
    stays_at(visitor, turned, "× 1", "change=scale")


def test_it_plays_to_the_end_by_one_key_and_back_leads_to_where_it_began(visitor: Visitor):
    visitor.open("viewpoint?model=digits-dr&change=scale")
    sweep = visitor.window.locator(".sweep[data-ready]")
    sweep.wait_for()
    seen: set[str] = set()
    visitor.press(" ")

    def ended() -> bool:
        seen.add(sweep.locator("output.frame").inner_text())
        return "viewpoint=scale_1.6" in visitor.query()

    visitor.eventually(ended, "the last amount in the link")
    assert len(seen) > 3 and "× 1.6" in seen
    visitor.settle()
    visitor.window.go_back()
    sync_api.expect(sweep.locator("output.frame")).to_have_text("× 1")


SHOWN = (
    "mnist-dr-paper&viewpoint=rotation_30",
    "digits-dr&change=right&viewpoint=right_3",  # six methods, of which some lose the class in three places
    "multi-mnist-dr-residual",
    "cifar10-dr-residual&change=brightness",
)


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1280, 720)])
def test_presented_the_whole_exhibit_and_what_its_lines_are_stand_in_one_window(
    open_window: Callable[..., sync_api.Page], address: str, width: int, height: int
):
    visitor, low = Visitor(open_window(viewport={"width": width, "height": height}), address), {}
    parts = ".sweep :is(.charts, .rows) canvas", "[data-testid=stCaptionContainer]:has-text('Solid:')"

    def ends() -> list[float]:
        shown = [each for part in parts for each in visitor.window.locator(part).all()]
        return [box["y"] + box["height"] for each in shown if (box := each.bounding_box())]

    for model in SHOWN:

        def sized(least: int = visitor.messages_sent + 2) -> bool:
            return visitor.messages_sent >= least

        visitor.open(f"viewpoint?model={model}&present=1")
        visitor.eventually(sized, "the size of the window")
        visitor.settle()
        visitor.window.locator(".sweep[data-ready]").wait_for()
        visitor.eventually(lambda: len(ends()) >= 5, f"the whole exhibit of {model}")
        low[model] = visitor.remaining(lambda: [end for end in ends() if end > height])
    visitor.leave()
    assert {model: max(each) for model, each in low.items() if each} == {}
