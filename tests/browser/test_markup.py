"""Names that are markup and formulas, in a link, a zoo and a recording: every page shows them as they are written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest

import capsviz
from app.sources import trace_sets
from capsviz import zoo
from capsviz.data import load, to_float
from tests.browser.api import sync_api
from tests.browser.visitor import Visitor
from tests.serving import ROOT, served

HOST = "elsewhere.test"
CLASSES = (
    "<b>zero</b>",
    f"![one](http://{HOST}/1.png)",
    f"[two](http://{HOST}/2)",
    "$x^3$",
    "**four** and _four_",
    "`five`",
    ":red[six] :material/home:",
    f"http://{HOST}/7",
    "=8+1 -> %{x}",
    f'<a href="http://{HOST}/9">nine</a>',
)
MODELS = ("digits-dr", "digits-em", "digits-l2", "digits-l1", "digits-l2-fc")
RECORDING = f"![rec]({HOST}) $y$ <i>.safetensors"
PICKED = ("dynamic", "em", "discriminative", "perturb")
"""The pages whose picker names every class."""
FOREIGN = """host => [...document.querySelectorAll('[href], [src], [action], [http-equiv], [style]')].filter(each => {
    const addresses = ['href', 'src', 'action', 'content', 'style'].map(name => each.getAttribute(name) || '');
    return addresses.some(address => address.includes(`//${host}`)); }).map(each => each.outerHTML)"""
"""What of the page leads to another host, or fetches from there."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app whose models and recording call their classes so."""
    folder = tmp_path_factory.mktemp("markup")
    shutil.copytree(ROOT / "pretrained" / "measured", folder / "zoo" / "measured")
    manifest = json.loads((ROOT / "pretrained" / "manifest.json").read_text())
    entries = [entry for entry in manifest["models"] if entry["name"] in MODELS]
    for entry in entries:
        entry["classes"] = list(CLASSES)
        for kind in ("file", "curves", "history"):
            if entry[kind]:
                (folder / "zoo" / entry[kind]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / "pretrained" / entry[kind], folder / "zoo" / entry[kind])
    (folder / "zoo" / "manifest.json").write_text(json.dumps({"models": entries, "successors": {}}))
    traces = folder / "traces"
    traces.mkdir()
    images = to_float(load("digits", "test").images[:2])
    trace = replace(capsviz.trace(zoo.load("digits-dr"), images), name=CLASSES[1], classes=CLASSES)
    trace.save(traces / RECORDING)
    where = {"CAPSVIZ_DATA": str(folder), "CAPSVIZ_ZOO": str(folder / "zoo"), trace_sets.PLACE: str(traces)}
    with served("app/main.py", folder, **where) as address:
        yield address


@pytest.fixture(scope="module")
def window(open_window: Callable[..., sync_api.Page], place: str) -> Iterator[Visitor]:
    """A visitor of that app who goes from page to page: to load each anew takes longer than all else here."""
    visitor = Visitor(open_window(), place)
    visitor.window.goto(f"{place}/tours")
    _stands(visitor)
    yield visitor
    visitor.leave()


@pytest.fixture
def stranger(window: Visitor) -> Iterator[Visitor]:
    """That visitor; by the end nothing may have gone wrong, and no other host have been asked."""
    yield window
    assert window.failures() == window.problems == []


def arrive(visitor: Visitor, link: str) -> None:
    """Go to a page, whether or not it shows a figure, and wait until it stands."""
    visitor.go_on(f"/{link}")
    _stands(visitor)


def _stands(visitor: Visitor) -> None:
    visitor.window.locator(".st-key-pages").wait_for()
    visitor.window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    visitor.fresh()


def words(visitor: Visitor) -> str:
    """All that the page says, in figures as well."""
    return visitor.window.locator("body").inner_text().replace("\u2060", "")


def check(visitor: Visitor) -> None:
    """Nothing that is not ours has become a link, a picture or a formula."""
    assert visitor.window.evaluate(FOREIGN, HOST) == []
    marked = visitor.window.locator(".stMarkdown b, .stMarkdown strong, svg text a, svg text tspan[style*=bold]")
    assert not [said for said in marked.all_text_contents() if said in ("zero", "four", "nine")]
    formulas = visitor.window.locator("annotation").all_text_contents()
    assert not {"x^3", "y"} & {formula.strip() for formula in formulas}


PAGES = (
    "dynamic?model=digits-dr",
    "em?model=digits-em",
    "discriminative?model=digits-l2",
    "perturb?model=digits-dr",
    *(f"discriminative?model=digits-l2&part={part}" for part in ("coefficients", "history", "ascent")),
    *(f"compare?model=digits-dr&view={view}" for view in ("image", "many", "distributions", "confusions", "wrong")),
    "results?model=digits-dr",
    "basics?model=digits-dr",
    "basics?model=digits-dr&exhibit=loss",
    "viewpoint?model=digits-dr",
    "basics?model=digits-dr&exhibit=parts",
    "training?model=digits-dr",
    "tours?model=digits-dr",
)


@pytest.mark.parametrize("page", PAGES)
def test_names_of_classes_stand_on_every_page_as_they_are_written(stranger: Visitor, page: str):
    arrive(stranger, f"{page}&image=3")
    check(stranger)
    if page.split("?")[0] in PICKED:
        assert stranger.remaining(lambda: [name for name in CLASSES if name not in words(stranger)]) == []


@pytest.mark.parametrize("page", ["dynamic", "basics", "compare"])
def test_a_recording_whose_names_are_markup(stranger: Visitor, page: str):
    arrive(stranger, f"{page}?source=recorded&recording={quote(RECORDING)}&image=1")
    stranger.eventually(lambda: "On stage" in words(stranger), "the sidebar")
    stranger.eventually(lambda: RECORDING in words(stranger), "the recording's name as it is written")
    check(stranger)


@pytest.mark.parametrize("key", ["model", "data", "source", "view", "capsule", "toy", "picture", "touch"])
def test_what_a_link_says_is_repeated_as_it_is_written(stranger: Visitor, key: str):
    said = f"![x](http://{HOST}/p.png) **y** [Session expired](http://{HOST})"
    stranger.open(f"?{key}={quote(said)}")
    check(stranger)
    for alert in stranger.window.locator('[data-testid="stAlert"]').all():
        assert alert.locator("a, img, strong").count() == 0
