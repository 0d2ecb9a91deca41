"""The colours that a board draws in, from the palette of all pictures."""

from __future__ import annotations

from typing import Any

from capsviz.figures.discriminative import sign_colours
from capsviz.figures.theme import CLASS_COLOURS, class_colours, class_inks, diverging, ink, sequential


def theme(dark: bool, classes: int = len(CLASS_COLOURS)) -> dict[str, Any]:
    """Colours for a light or a dark page, with those of so many classes, as `frontend/core/colours.ts` reads them."""
    pen, (negative, positive) = ink(dark), sign_colours(dark)
    return {
        "ground": pen.ground,
        "text": pen.text,
        "muted": pen.muted,
        "grid": pen.grid,
        "accent": pen.accent,
        "negative": negative,
        "positive": positive,
        "classes": class_colours(classes),
        "inks": class_inks(classes),
        "diverging": diverging(dark),
        "sequential": sequential(dark),
    }
