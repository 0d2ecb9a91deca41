"""The page of results: what stands in the result files, and nothing else."""

from __future__ import annotations

import json
import shutil

import pytest

from capsviz.experiments import reports, results, table2
from tests.app.conftest import Visit


def figures(app) -> dict[str, dict]:
    return {chart.proto.id: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def said(app) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


def test_an_experiment_is_chosen_and_goes_to_the_link(visit: Visit):
    app = visit("results")
    for name in (reports.NAMES[-1], reports.NAMES[0]):
        app.button_group(key="experiment").set_value(name).run()
        assert not app.exception and reports.report(name).question in app.header[0].value
        assert app.query_params.get("experiment", [reports.NAMES[0]]) in (name, [name])


@pytest.mark.parametrize("name", reports.NAMES)
def test_one_sentence_and_one_figure_come_first_and_the_rest_is_folded(visit: Visit, name: str):
    app, report = visit("results", experiment=name), reports.report(name)
    assert len(figures(app)) == (report.measured is not None) and "details" not in app.query_params
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    assert f"`{report.command}`" in said(app) and report.source in said(app)
    [details] = [each for each in app.expander if each.label == "Details"]
    assert not details.proto.expanded and not details.children
    whole = visit("results", experiment=name, details=1)
    [details] = [each for each in whole.expander if each.label == "Details"]
    assert details.proto.expanded
    assert len(figures(whole)) - len(details.get("plotly_chart")) == 1
    inside = [element.value for element in details.markdown]
    for sentence in (*report.sentences[1:], report.markdown):
        assert sentence in inside and sentence not in said(app)
    assert report.sentences[0] not in inside and report.sentences[0] in said(app)


def test_table_ii_shows_the_manifest_beside_the_paper(visit: Visit):
    text = said(visit("results", details=1))
    line = next(line for line in table2.lines() if (line.data, line.method) == ("mnist", "DR"))
    assert f"| MNIST | DR | 0.34 | {line.ours.written()} |" in text


def test_an_experiment_that_was_not_run_says_which_command_runs_it(visit: Visit, monkeypatch, tmp_path):
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    app = visit("results", experiment="sparsity")
    assert not figures(app)
    assert "`capsviz experiment sparsity --seeds 3` does it" in app.info[0].value


def test_a_damaged_result_is_one_sentence(visit: Visit, monkeypatch, tmp_path):
    (tmp_path / "ascent.json").write_text("{")
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    app = visit("results", experiment="ascent")
    assert "ascent.json is damaged" in app.error[0].value
    with pytest.raises(results.ResultError):
        reports.report("ascent")


def test_what_is_measured_while_the_app_runs_is_shown_at_the_next_action(visit: Visit, monkeypatch, tmp_path):
    ours = results.folder() / "ascent.json"
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    app = visit("results", experiment="ascent")
    assert not figures(app)
    shutil.copy(ours, tmp_path)
    app.run()
    assert not app.exception and figures(app)
    assert reports.report("ascent").sentences[0] in said(app)


def test_multi_mnist_shows_what_the_models_of_its_table_drew(visit: Visit):
    measured = reports.report("multi-mnist").measured
    steps = {row["model"].split(",")[0]: row["steps"] for row in measured["rows"]}
    assert {one.by.name: one.by.steps for one in measured["drawn"].drawn} == steps
    assert [row["routing"] for row in measured["rows"]] == ["dr", "l2", "l1"] * 2
    charts = visit("results", experiment="multi-mnist", details=1).get("plotly_chart")
    assert "Image, Dynamic routing, L2, L1." in charts[0].proto.alt
    assert "in rows: Image, Dynamic routing" in charts[0].proto.alt and "error" in charts[1].proto.alt
