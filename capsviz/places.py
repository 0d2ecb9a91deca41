"""Where the files lie that come with capsviz and are not code of the library."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent


def root() -> Path:
    """The folder of `pretrained/`, `benchmarks/results/`, `app/`: a checkout, or `bundled/` in an installed capsviz."""
    bundled = _PACKAGE / "bundled"
    return bundled if bundled.is_dir() else _CHECKOUT
