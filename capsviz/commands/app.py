"""The command line's `capsviz app`: the app on this machine, or for those who share its network."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Annotated

import typer

from capsviz import places
from capsviz.errors import CapsvizError

PACKAGES = ("streamlit", "plotly", "torchmetrics", "PIL")
"""What the extra `app` brings, as it is imported."""


def app(
    port: Annotated[int, typer.Option(help="Where it listens.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Who is answered: localhost, this machine; 0.0.0.0, everybody who can reach it.")
    ] = "localhost",
) -> None:
    """Start the app; Ctrl-C ends it. It offers the recordings in traces/, below the folder where it is started."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise CapsvizError(f'The app needs {", ".join(missing)}; run `pip install "capsviz[app]"`.')
    script = places.root() / "app" / "main.py"
    if not script.is_file():
        raise CapsvizError(f"{script} is not there; install capsviz again, or restore app/ with git.")
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.address", address]
    os.execv(sys.executable, [*command, *options])


def live_benchmark() -> ModuleType:
    """The app's own measurement of itself, which comes with the app and not with the library."""
    sys.path.insert(0, str(places.root()))
    return importlib.import_module("app.benchmark")
