"""What the packages offer by name is there."""

from __future__ import annotations

import importlib

import pytest

PACKAGES = ("capsviz", "capsviz.data", "capsviz.figures", "capsviz.network", "capsviz.routing", "capsviz.training")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_that_a_package_offers_is_there(package: str):
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
