"""The traces that the figures are drawn from."""

from tests.figures.conftest import dr, em, l2

__all__ = ["dr", "em", "l2"]
