"""A routing algorithm from a file outside of capsviz, which the environment names: the app shows it like the others."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.app.conftest import SCRIPT
from tests.programs import printed, python
from tests.zoos import copied, rows, state

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


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose zoo holds digits-dr, and its weights once more under the name of the other routing."""
    folder = copied(tmp_path / "zoo", "digits-dr")
    model = rows(folder)["digits-dr"]
    other = json.loads(json.dumps(model).replace('"routing": "dr"', '"routing": "other"'))
    state(folder, model, other | {"name": "digits-other"})
    (tmp_path / "others.py").write_text(ROUTING)
    monkeypatch.setenv("CAPSVIZ_ZOO", str(folder))
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    monkeypatch.setenv("CAPSVIZ_ROUTINGS", "others:Other")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))


def visit(*arguments: str) -> dict:
    return json.loads(printed(VISIT, SCRIPT, *arguments).splitlines()[-1])


def test_it_has_a_board_and_a_place_in_every_list_and_runs_on_the_votes_of_other_models():
    said = visit("dynamic", "model=digits-other")
    assert said["wrong"] == []
    assert said["boards"][0]["called"] == "Another routing of 288 capsules to 10"
    assert said["boards"][0]["lines"][0]["math"] == "c = a line of its own"
    assert said["options"]["model"].count("Another routing · 0.28 %") == 1
    said = visit("dynamic", "model=digits-dr", "second=same:other")
    assert said["wrong"] == []
    assert [each["called"] for each in said["boards"]] == [
        "Dynamic routing of 288 capsules to 10",
        "Another routing of 288 capsules to 10",
    ]
    said = visit("compare", "model=digits-other")
    assert said["wrong"] == [] and "Another routing" in said["figures"]


def test_where_nobody_names_it_its_model_is_left_out_and_a_link_to_it_is_told_how(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CAPSVIZ_ROUTINGS", "")
    said = visit("dynamic")
    assert said["wrong"] == [] and not any("Another" in option for option in said["options"]["model"])
    [wrong] = visit("dynamic", "model=digits-other")["wrong"]
    assert wrong.replace("\\", "") == (
        "digits-other routes by 'other', which nothing here defines; name what defines it in CAPSVIZ_ROUTINGS; "
        "showing digits-dr instead."
    )
    manifest = Path(os.environ["CAPSVIZ_ZOO"]) / "manifest.json"
    said = json.loads(manifest.read_text("utf-8"))
    mine = [row for row in said["models"] if row["name"] == "digits-other"]
    manifest.write_text(json.dumps({"models": mine}), "utf-8")
    [wrong] = visit("dynamic")["wrong"]
    assert wrong.replace("\\", "").startswith("digits-other routes by 'other', which nothing here defines; name what")


def test_one_that_cannot_be_imported_is_all_that_the_server_says(tmp_path: Path):
    (tmp_path / "others.py").write_text("import absent")
    started = python("app/main.py")
    assert started.returncode == 1
    [said] = started.stderr.splitlines()
    assert said.startswith("CAPSVIZ_ROUTINGS names others:Other as a routing algorithm, which cannot be imported (")
