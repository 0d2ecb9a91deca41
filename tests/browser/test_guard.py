"""Whom the server answers, and what it lets a browser do with its pages."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from app.server.security import HEADERS
from app.shared import own_models
from app.sidebar import own_files
from app.sources import uploads
from capsviz.analysis import exchange
from tests.serving import WAIT


def asked(address: str, host: str | None = None) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer; host: the name by which the server is asked."""
    request = urllib.request.Request(address, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=WAIT / 1000) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)


@pytest.mark.parametrize("path", ["", "em", "_stcore/health"])
def test_every_answer_has_a_policy_and_no_frame_of_another_host(address: str, path: str):
    status, headers = asked(f"{address}/{path}")
    assert status == 200
    assert {name.lower(): value for name, value in headers.items()}.items() >= {
        name.lower(): value for name, value in HEADERS.items()
    }.items()


@pytest.mark.parametrize("path", ["", "_stcore/health", "_stcore/stream"])
def test_a_foreign_host_is_refused(address: str, path: str):
    assert asked(f"{address}/{path}", "elsewhere.test")[0] == 400
    assert asked(f"{address}/{path}", f"elsewhere.test:{address.rsplit(':', 1)[1]}")[0] == 400


def test_the_browser_itself_keeps_a_page_from_another_host(visitor):
    visitor.open("?model=digits-dr")
    said = visitor.window.evaluate(
        """() => new Promise(done => {
            document.addEventListener('securitypolicyviolation', event => done(event.effectiveDirective));
            const picture = document.createElement('img');
            picture.src = 'http://elsewhere.test/p.png';
        })"""
    )
    assert said == "img-src"

    def on_the_console() -> bool:
        return any(each.startswith("console: ") and "elsewhere.test" in each for each in visitor.problems)

    visitor.eventually(on_the_console, "what the console says of it")
    visitor.resting(lambda: [*visitor.problems], "all that is said of it")
    visitor.problems.clear()


def test_a_file_of_a_model_passes_that_is_larger_than_a_picture_may_be(visitor):
    """Streamlit holds a file against its server's bound, whatever the place on the page allows."""
    visitor.open("perturb?model=mnist-dr-residual&image=3")
    visitor.window.get_by_text(own_files.TITLE, exact=True).click()
    content = exchange.export("mnist-dr-paper")
    assert uploads.LARGEST * 2**20 < len(content) < own_models.LARGEST * 2**20
    file = {"name": "large.capsviz", "mimeType": "", "buffer": content}
    visitor.window.locator(".st-key-own_model input[type=file]").set_input_files(file)
    visitor.window.get_by_text("large.capsviz: paper").wait_for()
    visitor.settle()
    assert "model=large.capsviz" in visitor.query()
