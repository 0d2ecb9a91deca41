"""Details: what a page has on demand is made when it is asked for, and stands in the link once it is open."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from app.state.choices import SECTIONS
from tests.app.conftest import Visit
from tests.app.reading import charts

PANELS = [
    ("dynamic", {"model": "digits-dr"}, ["lengths", "entropy", "flow"]),
    ("dynamic", {"model": "mnist-dr-paper", "image": 1}, ["lengths", "entropy", "flow"]),
    ("em", {"model": "digits-em"}, ["flow"]),
    ("discriminative", {"model": "digits-l2", "part": SECTIONS[1]}, ["histogram"]),
    ("results", {"model": "digits-dr", "experiment": "multi-mnist"}, ["figure"]),
]


def panel(app: AppTest) -> list[str]:
    """The figures inside the panel."""
    [details] = [each for each in app.expander if each.label == "Details"]
    ids = [chart.proto.id for chart in details.get("plotly_chart")]
    return [each.rsplit("-", 1)[-1] for each in ids]


@pytest.mark.parametrize(("page", "query", "figures"), PANELS)
def test_figures_are_made_where_the_panel_is_open_and_can_be_taken_away_anyhow(
    visit: Visit, page: str, query: dict[str, str], figures: list[str]
):
    folded = visit(page, **query)
    assert not panel(folded) and not charts(folded).keys() & set(figures)
    shown = visit(page, details=1, **query)
    assert set(figures) <= set(panel(shown))
    assert all(chart.proto.alt for chart in shown.get("plotly_chart"))
    assert charts(shown).keys() - set(panel(shown)) == charts(folded).keys(), "the rest of the page stays as it is"
    for app in (folded, shown):
        app.button(key="take_away").click().run()
        titles = app.session_state["shown"].titles()
        assert app.selectbox(key="taken_key").options == [*titles.values()]
        assert set(figures) <= {key.rsplit("-", 1)[-1] for key in titles}
    offered = {name.rsplit("-", 1)[-1]: made for name, (_, made) in folded.session_state["shown"].pictures.items()}
    for name in figures:
        assert json.loads(offered[name]().to_json()) == charts(shown)[name]


def test_presented_the_panel_is_there_only_where_it_is_open(visit: Visit):
    assert not [each for each in visit("dynamic", present=1).expander if each.label == "Details"]
    shown = visit("dynamic", present=1, details=1)
    assert {"lengths", "entropy", "flow"} <= charts(shown).keys()


def test_links_to_other_pages_carry_it_along(visit: Visit):
    queries = {link.proto.query_string for link in visit("dynamic", details=1).get("page_link")}
    assert all("details=1" in query for query in queries)
