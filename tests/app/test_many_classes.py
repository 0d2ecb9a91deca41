"""Pages of a model of 130 classes: what is shown is as much as can be read, and no more is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from app.comparing.confusions import MOST
from app.shared import resources
from capsviz.analysis import dimensions
from capsviz.figures.couplings import LINES
from capsviz.figures.network import LISTED
from capsviz.figures.sankey import SHOWN
from tests.app.conftest import Visit
from tests.app.reading import charts, live, spoken
from tests.app.test_own_images import published

CLASSES = 130
IMAGES = 2
"""Of each class."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A zoo of one untrained network for a folder of 130 classes."""
    place = tmp_path_factory.mktemp("many")
    for label in range(CLASSES):
        folder = place / "plants" / f"*{label:03d}* plant"
        folder.mkdir(parents=True)
        for number in range(IMAGES):
            Image.new("RGB", (24, 24), (label, 255 - label, 40 * number)).save(folder / f"{number}.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSVIZ_ZOO", str(place / "zoo"))
        published(place / "plants", "dr")
    return place / "zoo"


@pytest.fixture
def many(made: Path, monkeypatch) -> Path:
    monkeypatch.setenv("CAPSVIZ_ZOO", str(made))
    return made


@pytest.fixture
def measured(monkeypatch) -> list[int]:
    """The classes whose dimensions are measured meanwhile."""
    found: list[int] = []
    measure = dimensions.meanings

    def counted(model, exemplars, spread, label):
        found.append(label)
        return measure(model, exemplars, spread, label)

    monkeypatch.setattr(resources, "measure_meanings", counted)
    return found


@pytest.mark.parametrize("hand", ["sliders", "cells", "walk"])
def test_perturb_measures_the_class_on_screen_and_no_other(many: Path, visit: Visit, measured: list[int], hand: str):
    resources.meanings.clear()
    sent = live(visit("perturb", model="plants-dr", **{"class": 77, "hand": hand}))
    assert measured == [77]
    assert sent["state"]["upper"] == 77 and len(sent["labels"]) == CLASSES
    own = resources.meanings("plants-dr", 77)
    assert sent["labels"][77] == list(own.labels) and not any(sent["labels"][:77] + sent["labels"][78:])


def test_where_ten_classes_are_on_screen_each_has_its_words(visit: Visit, measured: list[int]):
    resources.meanings.clear()
    sent = live(visit("perturb", model="digits-dr", hand="cells"))
    assert sorted(measured) == list(range(10)) and any(sent["labels"][3])


def test_the_strip_lists_the_most_active_classes_and_says_of_how_many(many: Path, visit: Visit):
    strip = charts(visit("dynamic", model="plants-dr"))["strip"]
    [bars] = [trace for trace in strip["data"] if trace["type"] == "bar"]
    assert len(bars["x"]) == LISTED and list(bars["x"]) == sorted(bars["x"], reverse=True)
    assert any(note["text"] == f"{LISTED} of {CLASSES} classes at the end" for note in strip["layout"]["annotations"])


@pytest.mark.parametrize("method", ["", "plants-dr"])
def test_of_the_confusions_as_many_classes_are_shown_as_can_be_read(many: Path, visit: Visit, method: str):
    app = visit("compare", model="plants-dr", view="confusions", method=method)
    assert not app.error
    said = f"{MOST} of {CLASSES} classes are shown: those between which the commonest errors are."
    assert said in spoken(app)
    [shown] = [figure for key, figure in charts(app).items() if "strip" not in key and "cell" not in key][:1]
    maps = [trace for trace in shown["data"] if trace["type"] == "heatmap"]
    assert all(len(trace["z"]) == MOST for trace in maps)


def test_a_cell_of_a_link_is_shown_with_the_most_confused(many: Path, visit: Visit):
    record = resources.predictions("plants-dr")
    rare = next(label for label in range(CLASSES) if not (record.predicted == label).any())
    app = visit("compare", model="plants-dr", view="confusions", method="plants-dr", cell=f"{rare}-{rare}")
    assert not app.error and "classes are shown" in spoken(app)


def test_the_figures_of_details_show_the_surest_classes_and_those_that_get_most(many: Path, visit: Visit):
    shown = charts(visit("dynamic", model="plants-dr", details=1))
    lines = shown["lengths"]
    assert len(lines["data"]) == LINES
    assert lines["layout"]["legend"]["title"]["text"] == f"{LINES} of {CLASSES} classes"
    [flow] = shown["flow"]["data"]
    ends = flow["node"]["label"][-SHOWN - 1 :]
    assert ends[-1] == f"{CLASSES - SHOWN} other classes" and all(name.endswith("plant") for name in ends[:-1])
    assert len(set(flow["link"]["target"])) == SHOWN + 1
