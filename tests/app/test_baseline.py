"""The CNN baseline stands in the zoo beside the capsule networks, and no page trips over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.shared import resources
from capsviz import zoo
from capsviz.network import CNN, cnn_preset
from tests import zoos
from tests.app.conftest import Visit


@pytest.fixture
def zoo_with_cnn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped digits models and a CNN, which has learned nothing: no page should ever run it."""
    names = [name for name, entry in zoo.models().items() if entry.data == "digits"]
    monkeypatch.setenv("CAPSVIZ_ZOO", str(zoos.copied(tmp_path, *names)))
    zoos.saved(CNN(cnn_preset("tiny", "digits")), "digits-cnn", test_error=90.0, curves="curves/digits-cnn.jsonl")
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
