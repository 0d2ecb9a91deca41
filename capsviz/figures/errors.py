"""The error that asking for an impossible picture raises."""

from capsviz.errors import CapsvizError


class FigureError(CapsvizError):
    """The picture asked for cannot be drawn from what was given."""
