"""A figure on a page of its own says what it is."""

from __future__ import annotations

from plotly.graph_objects import Figure
from plotly.subplots import make_subplots

from capsviz.figures import standalone_html
from capsviz.figures.describe import remember


def test_the_page_of_a_figure_has_its_title_above_it_and_in_its_tab():
    figure = remember(Figure(), "Nothing.")
    page = standalone_html(figure, "Distributions, <folder>, Digits test image 7")
    called = "Distributions, &lt;folder&gt;, Digits test image 7"
    assert f"<title>{called}</title>" in page and f">{called}</h1>" in page
    assert "<title>capsviz</title>" in standalone_html(figure) and "<h1" not in standalone_html(figure)


def test_panels_beside_one_another_keep_the_width_at_which_their_words_stand_apart():
    for rows, columns, kept in ((1, 1, False), (2, 1, False), (1, 3, True)):
        page = standalone_html(remember(make_subplots(rows, columns), "Nothing."))
        assert ('aria-label="Nothing." style="min-width:980px">' in page) == kept, (rows, columns)
