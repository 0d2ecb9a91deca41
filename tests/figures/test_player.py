"""The player plays in a real browser, alone, without a server or a network."""

from __future__ import annotations

import pytest

from capsviz.figures import describe, routing_player, standalone_html


@pytest.fixture
def page(dr, tmp_path, chromium):
    file = tmp_path / "player.html"
    file.write_text(standalone_html(routing_player(dr, upper=2, dark=True)), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda asked: page.complaints.append(asked.url) if asked.url.startswith("http") else None)
    page.goto(file.as_uri(), timeout=90_000)
    page.wait_for_selector(".slider-label", timeout=60_000)
    yield page
    page.close()


def current(page) -> str:
    return page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame")


def heading(page) -> str:
    return page.locator(".annotation-text").first.text_content()


def test_play_runs_to_the_last_iteration_and_keys_step(page, dr):
    assert "maximum confusion" in heading(page)
    page.get_by_text("▶ Play").click()
    page.wait_for_function(
        "document.querySelector('.js-plotly-plot')._fullLayout._currentFrame === '4'", timeout=60_000
    )
    page.wait_for_timeout(1000)
    assert heading(page).startswith("Iteration 4")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame === '3'")
    page.keyboard.press("Home")
    page.wait_for_function("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame === '1'")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame === '2'")
    drawn = page.evaluate("Array.from(document.querySelector('.js-plotly-plot').data[4].x)")
    assert drawn == pytest.approx(dr.layer["activations"][1, 0].tolist(), abs=5.1e-5)
    assert page.get_by_role("img").first.get_attribute("aria-label") == describe(routing_player(dr, upper=2))
    assert page.complaints == []


def test_pause_stops_and_the_slider_scrubs(page):
    page.get_by_text("▶ Play").click()
    page.wait_for_timeout(300)
    page.get_by_text("Pause").click()
    page.wait_for_timeout(500)
    stopped = current(page)
    page.wait_for_timeout(2000)
    assert current(page) == stopped
    # The labels lie under the rail that takes the clicks.
    page.locator('.slider-label[data-unformatted="3"]').click(force=True)
    page.wait_for_function("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame === '3'")
    page.keyboard.press("Space")
    page.wait_for_timeout(300)
    page.keyboard.press("Home")
    page.wait_for_function("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame === '1'")
    assert page.complaints == []
