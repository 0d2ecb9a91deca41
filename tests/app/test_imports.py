"""Each module of the app can be the first that is imported: no circle of imports hides behind a lucky order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
    assert "app.resources" in chosen
    ran = subprocess.run([sys.executable, "-c", ALONE, *chosen], capture_output=True, text=True, cwd=ROOT, timeout=200)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout + ran.stderr
