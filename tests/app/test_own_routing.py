"""A routing algorithm from a file outside of capsviz, which the environment names: the app shows it like the others."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.app.conftest import SCRIPT
from tests.programs import python
from tests.zoos import with_second_seed

ROUTING = """
from dataclasses import replace

from capsviz.routing.dynamic import Dynamic
from capsviz.routing.program import Line


class Other(Dynamic):
    name, title, short, colour = "other", "Another routing", "Other", "#123456"
    first, *rest = Dynamic.program.lines
    program = replace(Dynamic.program, lines=(Line("c = a line of its own", "Said of it.", first.numbers), *rest))
"""
VISIT = """
import json, sys
from streamlit.testing.v1 import AppTest
from tests.app.reading import boards, charts

app = AppTest.from_file(sys.argv[1], default_timeout=120)
app.switch_page(f"views/{sys.argv[2]}.py")
for query in sys.argv[3:]:
    name, value = query.split("=", 1)
    app.query_params[name] = value
app.run()
said = {"wrong": [each.value for each in [*app.exception, *app.error, *app.warning]]}
said["figures"] = json.dumps(charts(app))
said["options"] = {each.key: each.options for each in [*app.radio, *app.selectbox]}
said["boards"] = [{name: each.fields[name] for name in ("called", "lines")} for each in boards(app)]
print(json.dumps(said))
"""


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """The environment of one whose zoo holds digits-dr, and its weights once more under the other routing's name."""
    folder = tmp_path / "zoo"
    with_second_seed(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = {row["name"]: row for row in manifest["models"]}
    text = json.dumps(rows["digits-dr"]).replace('"routing": "dr"', '"routing": "other"')
    other = json.loads(text) | {"name": "digits-other"}
    (folder / "manifest.json").write_text(json.dumps({"models": [*manifest["models"], other]}))
    (tmp_path / "others.py").write_text(ROUTING)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    named = {"CAPSVIZ_ZOO": str(folder), "CAPSVIZ_ROUTINGS": "others:Other", "CAPSVIZ_DATA": str(tmp_path)}
    return {**named, "PYTHONPATH": path}


def visit(environment: dict[str, str], *arguments: str) -> dict:
    done = python("-c", VISIT, SCRIPT, *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_it_has_a_board_and_a_place_in_every_list_and_runs_on_the_votes_of_other_models(machine: dict[str, str]):
    said = visit(machine, "dynamic", "model=digits-other")
    assert said["wrong"] == []
    assert said["boards"][0]["called"] == "Another routing of 288 capsules to 10"
    assert said["boards"][0]["lines"][0]["math"] == "c = a line of its own"
    assert said["options"]["model"].count("Another routing · 0.28 %") == 1
    said = visit(machine, "dynamic", "model=digits-dr", "second=same:other")
    assert said["wrong"] == []
    assert [each["called"] for each in said["boards"]] == [
        "Dynamic routing of 288 capsules to 10",
        "Another routing of 288 capsules to 10",
    ]
    said = visit(machine, "compare", "model=digits-other")
    assert said["wrong"] == [] and "Another routing" in said["figures"]


def test_where_nobody_names_it_a_zoo_with_a_model_of_it_says_how(machine: dict[str, str]):
    said = visit({**machine, "CAPSVIZ_ROUTINGS": ""}, "dynamic")
    [wrong] = said["wrong"]
    assert "No routing is called 'other'; choose one of dr, em, attention, l2, l1, or name what defines it in" in wrong
