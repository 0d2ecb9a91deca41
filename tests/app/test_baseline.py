"""The CNN baseline stands in the zoo beside the capsule networks, and no page trips over it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from app.shared import resources
from capsviz import zoo
from capsviz.network import CNN, cnn_preset
from tests.app.conftest import Visit


@pytest.fixture
def zoo_with_cnn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped digits models and a CNN, which has learned nothing: no page should ever run it."""
    for entry in zoo.models().values():
        if entry.data == "digits":
            shutil.copy(entry.path, tmp_path)
    rows = json.loads((zoo.folder() / "manifest.json").read_text())["models"]
    (tmp_path / "manifest.json").write_text(json.dumps({"models": [row for row in rows if row["data"] == "digits"]}))
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    zoo.save(
        CNN(cnn_preset("tiny", "digits")),
        name="digits-cnn",
        data="digits",
        classes=tuple("0123456789"),
        preset="tiny",
        test_error=90.0,
        test_count=360,
        command="capsviz train --data digits --routing cnn --preset tiny",
        curves="curves/digits-cnn.jsonl",
        images=torch.zeros(0, 1, 28, 28, dtype=torch.uint8),
        labels=torch.zeros(0, dtype=torch.int64),
    )
    return tmp_path


def test_the_app_offers_capsule_networks_only(zoo_with_cnn: Path):
    assert "digits-cnn" in zoo.models()
    assert "digits-cnn" not in resources.entries()
    assert "digits-dr" in resources.entries()


@pytest.mark.parametrize("page", ["dynamic", "compare"])
def test_a_link_to_the_cnn_is_answered_in_one_sentence(visit: Visit, zoo_with_cnn: Path, page: str):
    app = visit(page, model="digits-cnn")
    assert [warning.value for warning in app.warning] == ["There is no model “digits-cnn”; showing digits-dr instead."]
    assert not app.error
