"""What can be wrong with a data set or with a visitor's picture."""

from __future__ import annotations

from capsviz.errors import CapsvizError


class UnknownDataset(CapsvizError):
    """A data set or split was asked for by a name that does not exist."""


class DatasetMissing(CapsvizError):
    """A data set is not on this machine, or not whole; the sentence names the command that fetches it."""


class DownloadFailed(CapsvizError):
    """A download did not come to its end; nothing of it was kept."""


class ImageError(CapsvizError):
    """A file could not be used as a picture."""
