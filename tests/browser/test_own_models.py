"""A model that is dropped into the sidebar, in a browser, and a second visitor who does not meet it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
import torch

from capsviz import zoo
from capsviz.analysis import exchange
from capsviz.data import load, to_float
from tests.browser.visitor import Visitor, visits

if TYPE_CHECKING:
    from playwright import sync_api


def test_a_dropped_model_is_offered_and_shown_and_nobody_else_sees_it(
    open_window: Callable[..., sync_api.Page], address: str
):
    with visits(Visitor, open_window, address) as visit:
        visitor = visit("dynamic?model=digits-l2&data=digits&image=3")
        window = visitor.window
        window.get_by_text("Your own model or trace", exact=True).click()
        file: sync_api.FilePayload = {"name": "leaves.capsviz", "mimeType": "", "buffer": exchange.export("digits-dr")}
        window.locator(".st-key-own_model input[type=file]").set_input_files(file)
        window.get_by_text("leaves.capsviz: tiny").wait_for()
        visitor.settle()
        assert "model=leaves.capsviz" in visitor.query() and "image=3" in visitor.query(), "the image stays on stage"
        chosen = window.get_by_role("radio", name="Dynamic routing, yours")
        assert chosen.is_checked()
        with torch.inference_mode():
            image = to_float(load("digits", "test").images[3:4])
            length = float(zoo.load("digits-dr")(image).activations.max())

        def longest() -> list[float]:
            return [max(y) for _, _, y, _ in json.loads(visitor.figure("strip")) if y is not None and len(y) == 10]

        bars = [pytest.approx(length, abs=5.1e-5)]
        visitor.eventually(lambda: longest() == bars, "the bars of the strip")
        other = visit("dynamic?model=leaves.capsviz")
        assert other.window.get_by_text("There is no model “leaves.capsviz”").count() == 1
        assert other.window.get_by_role("radio", name="yours").count() == 0
