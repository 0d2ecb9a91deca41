"""Where the files lie that come with capsviz and are not code of the library, and which version they are of."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent


def root() -> Path:
    """The folder of `pretrained/`, `benchmarks/results/`, `app/`: a checkout, or `bundled/` in an installed capsviz."""
    bundled = _PACKAGE / "bundled"
    return bundled if bundled.is_dir() else _CHECKOUT


def chosen(variable: str, otherwise: Path | str) -> Path:
    """The folder that an environment variable names, or the other where it is unset or empty; ~ resolved."""
    return Path(os.path.expanduser(os.environ.get(variable) or otherwise))


def own_version() -> str:
    """The installed version of capsviz, or "source" where it runs from a checkout."""
    try:
        return version("capsviz")
    except PackageNotFoundError:
        return "source"
