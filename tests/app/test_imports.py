"""Arrows point one way within the app as well, and each of its modules can be the first that is imported."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from docs import architecture
from tests.programs import ROOT, printed

SCRIPTS = {"app.main", "app.script"}
"""What runs at import, in a session of Streamlit; so does every file in views/."""
ALONE = """
import importlib, sys
for name in sys.argv[1:]:
    for loaded in [each for each in sys.modules if each == "app" or each.startswith("app.")]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""


def test_every_module_of_the_app_can_be_imported_first():
    files = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "app").rglob("*.py") if path.stem != "__init__"]
    names = [".".join(file.parts) for file in files if "views" not in file.parts]
    chosen = sorted(set(names) - SCRIPTS)
    assert "app.shared.resources" in chosen
    assert printed(ALONE, *chosen) == ""


def test_no_module_of_the_app_leads_back_to_itself():
    known = {name: path for name, path in architecture.modules().items() if name.split(".")[0] == "app"}
    graph = {name: set(architecture.imported(path, known)) - {name} for name, path in known.items()}
    assert "app.scene" in graph["app.page.layout"]
    graph["app.state.codecs"].remove("app.state.choices")  # for types alone
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))
