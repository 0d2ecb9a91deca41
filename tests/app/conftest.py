"""The app as AppTest runs it: the real script on the real models, on a machine without any downloaded data set."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner

from app import scene
from app.shared import resources
from app.tours import tour
from app.tours.tour import TourStep
from capsviz import zoo
from tests.known import known

SCRIPT = Path(__file__).resolve().parents[2] / "app" / "script.py"
Visit = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def brief_runs() -> Iterator[None]:
    """Leave out what `AppTest` does beside running the script, which took longer than that.

    It looks for components in all that is installed before each first run, and asks a thousand times a second whether
    the script has ended.
    """
    asked = local_script_runner.require_widgets_deltas

    def ended(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
        script = known(runner._script_thread)
        script.join(timeout)
        asked(runner, 0 if script.is_alive() else timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        patch.setattr(local_script_runner, "require_widgets_deltas", ended)
        yield


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with nothing in it; what the app remembered of another machine is forgotten."""
    st.cache_resource.clear()
    st.cache_data.clear()
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, empty_folder: Path) -> Path:
    """A machine on which only the embedded digits are: where its downloads would lie."""
    monkeypatch.setenv("CAPSVIZ_DATA", str(empty_folder))
    return empty_folder


@pytest.fixture
def show_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Let the app know these models only, each as if it had been trained on the named data set."""
    remembered = (scene.catalogue, resources.trace, resources.comparison)

    def only(names: Iterable[str], data: str) -> None:
        models = zoo.models()
        monkeypatch.setattr(resources, "entries", lambda: {name: replace(models[name], data=data) for name in names})
        for cache in remembered:
            cache.clear()

    yield only
    for cache in remembered:
        cache.clear()


def _no_panels(app: AppTest, page: str) -> Iterator[str]:
    """What is wrong with a tour's step whose panel is a picture of the page."""
    for key in app.session_state["shown"].pictures if "shown" in app.session_state else ():
        step = TourStep("A step", f"{page}?model=digits-dr", panel=key)
        yield from tour.step_problems(1, step)


@pytest.fixture
def visit(bare_machine: Path) -> Visit:
    """Open a page at a link: `visit("perturb", image=7)`; nothing may have gone wrong in the script."""

    def open_page(page: str = "dynamic", **query: object) -> AppTest:
        app = AppTest.from_file(SCRIPT, default_timeout=120)
        app.switch_page(f"views/{page}.py")
        for key, value in query.items():
            app.query_params[key] = str(value)
        app.run()
        assert not app.exception, [error.value for error in app.exception]
        assert not [*_no_panels(app, page)], "whatever can be taken away is the panel of a step"
        return app

    return open_page
