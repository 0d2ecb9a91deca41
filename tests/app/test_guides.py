"""The guides: every view that they send their reader to stands, without a notice."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.app.conftest import Visit

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
VIEWS = sorted(
    {
        (page, query)
        for guide in GUIDES.glob("*.md")
        for page, query in re.findall(r"\]\(http://localhost:8501/([a-z]+)\??([^)]*)\)", guide.read_text("utf-8"))
    }
)


def test_the_guides_of_talk_and_class_lead_through_the_app():
    assert {page for page, _ in VIEWS} >= {"start", "dynamic", "em", "discriminative", "perturb", "compare", "results"}


@pytest.mark.parametrize(("page", "query"), VIEWS)
def test_a_view_of_a_guide_stands_without_a_notice(page: str, query: str, visit: Visit):
    app = visit(page, **dict(parse_qsl(query)))
    assert not app.exception and not app.error and not app.warning
    assert page == "tours" or app.get("plotly_chart") or app.get("bidi_component")
