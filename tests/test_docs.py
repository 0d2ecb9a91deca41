"""The pages of docs/ and README.md say what the manifest, the result files and the imports say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.sources import linked_picture
from app.tours import store
from capsviz import routing
from capsviz.boards import trace_board
from capsviz.experiments.reports import document
from capsviz.routing import ALGORITHMS
from capsviz.routing.dynamic import DYNAMIC
from capsviz.tracing.trace import Trace
from docs import architecture, tables

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_page_of_results_is_what_the_result_files_say():
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == document() + "\n", "run `make tables`"


@pytest.mark.parametrize("page", tables.tables())
def test_a_page_shows_the_tables_of_manifest_and_result_files(page: str):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert [first for first, table in tables.tables()[page].items() if table not in text] == [], "run `make tables`"


def test_the_figure_of_the_architecture_is_drawn_from_its_imports():
    assert architecture.FIGURE.read_text(encoding="utf-8") == architecture.svg(), "run `make architecture`"


def test_the_library_imports_nothing_of_the_app_and_the_arrows_of_the_walls_point_one_way():
    edges = architecture.graph()
    assert [name for name, others in edges.items() if "app" in others] == []
    for above, below in (("figures", "tracing"), ("tracing", "network"), ("network", "routing")):
        assert f"capsviz.{above}" not in architecture.reachable(f"capsviz.{below}", edges)
    assert edges["capsviz.routing"] == set()


def test_the_readme_is_read_in_one_sitting():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_links_to_is_there(page: Path):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_the_lines_of_python_on_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    own = [block for block in blocks if block.startswith(("import", "from"))]  # others go on with somebody's numbers
    names: dict[str, object] = {}
    for name in ALGORITHMS:
        monkeypatch.setitem(ALGORITHMS, name, ALGORITHMS[name])
    monkeypatch.setitem(ALGORITHMS, "top-3", DYNAMIC)  # the page's own one leaves with the test
    for block in own:
        exec(block, names)
    found = names.get("routed")
    if isinstance(found, Trace):
        assert (found.layer["couplings"] > 0).sum(-1).unique().tolist() == [3]
        called = trace_board(found).message(0).fields["called"]
        assert (tmp_path / "top-3.html").is_file() and called == "Top-3 routing of 288 capsules to 10"
    assert (tmp_path / "digits.safetensors").is_file() and len(own) > 1


def test_pages_and_notebooks_install_from_the_clone_alone():
    pages = [*PAGES, *(ROOT / "docs" / "notebooks").glob("*.ipynb")]
    texts = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    wanted = re.findall(r'pip install \\?"(.*?)\\?"', texts)
    assert len(wanted) > 5 and [each for each in wanted if not re.fullmatch(r"\.\[[a-z,]+\]", each)] == []


def test_sources_are_cited_by_authors_and_year_or_by_title():
    files = [path for name in ("app", "capsviz", "docs", "tests") for path in (ROOT / name).rglob("*.py")]
    number = re.compile(r"\bseed 00\d", re.IGNORECASE)
    pages = [path for path in (*files, *PAGES) if path.name != "test_docs.py"]
    assert [path.name for path in pages if number.search(path.read_text(encoding="utf-8"))] == []


def test_every_package_of_the_library_and_every_algorithm_has_its_place_in_the_reference():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md"))
    inner = {"benchmarks", "commands"}
    packages = {path.parent.name for path in (ROOT / "capsviz").glob("*/__init__.py")} - inner
    assert {name for name in packages if f"::: capsviz.{name}\n" not in pages} == set()
    exported = {each.step.__module__ for each in ALGORITHMS.values() if hasattr(routing, each.step.__name__)}
    told = {each.step.__module__ for each in ALGORITHMS.values() if f"::: {each.step.__module__}\n" in pages}
    assert exported | told == {each.step.__module__ for each in ALGORITHMS.values()}
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f"reference/{path.name}" in listed for path in (ROOT / "docs" / "reference").glob("*.md"))


def test_a_server_in_front_takes_links_with_a_picture_and_a_talk():
    found = re.search(r"large_client_header_buffers \d+ (\d+)k;", (ROOT / "docs/deploy.md").read_text("utf-8"))
    assert found and int(found[1]) * 1024 >= linked_picture.LONGEST + 2 * store.LONGEST_NAME
