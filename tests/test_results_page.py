"""The pages that show results say what the result files hold."""

from __future__ import annotations

from pathlib import Path

from capsviz.experiments.reports import document, report

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_results_is_what_the_result_files_say():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert page == document() + "\n", "run `capsviz experiment show > docs/results.md`"


def test_the_readme_shows_table_ii_of_the_result_files():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("table", "convergence", "cost", "robustness"):
        assert report(name).markdown in readme, f"paste the table of `capsviz experiment show {name}` into README.md"
