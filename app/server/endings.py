"""What is to be done when the server ends."""

from __future__ import annotations

from contextlib import ExitStack

asked = ExitStack()
"""Each by `callback`; the last one that was asked for comes first."""
