"""Numbers of more than three digits are written with a comma, on every page; what names a thing is no number."""

from __future__ import annotations

import json
import re

import pytest

from tests.app.conftest import Visit
from tests.app.reading import charts, spoken

PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("dynamic", {"model": "mnist-dr-paper"}),
    ("em", {"model": "mnist-matrix"}),
    ("discriminative", {"model": "mnist-l2-residual", "part": "coefficients"}),
    ("discriminative", {"model": "mnist-l2-residual", "part": "history"}),
    ("perturb", {"model": "mnist-dr-paper"}),
    ("compare", {"model": "mnist-dr-paper"}),
    ("compare", {"model": "mnist-dr-paper", "view": "confusions"}),
    ("compare", {"model": "mnist-dr-paper", "view": "wrong"}),
    ("basics", {"model": "mnist-dr-paper", "exhibit": "parts"}),
    ("viewpoint", {"model": "mnist-dr-paper"}),
    ("training", {"model": "mnist-dr-paper"}),
    ("tours", {"model": "mnist-dr-paper"}),
    ("results", {}),
    ("results", {"experiment": "convergence"}),
)
NAMES = re.compile(
    r"(?:image|capsules?|number|seed|part)s? \d+(?:(?:, | and )\d+)*"  # which one
    r"|^\d+$"  # a capsule, below its window
    r"|(?:1[89]|20)\d\d"  # a year
    r"|`[^`]*`|\$[^$]*\$|\S*[=/_#]\S*|<[^>]*>"  # commands, formulas, addresses, marks of HTML
)
LONG = re.compile(r"(?<![\w.,−-])\d{4,}(?![\w.])")


def bare(text: str) -> list[str]:
    """Numbers without their comma."""
    return LONG.findall(NAMES.sub(" ", text))


def test_a_number_without_a_comma_is_found_and_a_name_is_none():
    assert bare("9969 of 10000 images") == ["9969", "10000"]
    assert (
        bare("1,152 capsules of image 1234, capsules 1003, 332 and 1009, Sabour 2017, `--steps 14000`, 0.00012") == []
    )


@pytest.mark.parametrize(("page", "query"), PAGES, ids=lambda each: str(each))
def test_numbers_on_a_page_have_their_commas(visit: Visit, page: str, query: dict[str, str]):
    app = visit(page, **query)
    titles = [
        str(note.get("text", ""))
        for chart in charts(app).values()
        for note in json.loads(json.dumps(chart["layout"])).get("annotations", [])
    ]
    assert [number for text in (spoken(app), *titles) for number in bare(text)] == []
