"""The command line's `capsviz app`: the app, which comes with the library and is no part of it, started."""

from __future__ import annotations

import errno
import importlib.util
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from capsviz import places
from capsviz.errors import CapsvizError

PACKAGES = ("streamlit", "plotly", "PIL")
"""What the extra `app` brings, as it is imported."""


LOCAL = ("localhost", "127.0.0.1")


def app(
    port: Annotated[int, typer.Option(help="Where it listens.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Who is answered: localhost, this machine; 0.0.0.0, everybody who can reach it.")
    ] = "localhost",
    host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name under which it is reached, such as capsviz.example.org; may be repeated. With another address "
            "than localhost every name is answered unless some are given."
        ),
    ] = None,
    tour: Annotated[
        Path | None, typer.Option(help="The file of a talk, as the app saves it; its page Tours lists it first.")
    ] = None,
) -> None:
    """Start the app; Ctrl-C ends it. It offers the recordings in traces/, below the folder where it is started."""
    if tour is not None and not tour.is_file():
        raise CapsvizError(f"There is no file {tour}; give the file of a tour, as the app saves it.")
    # -P: a queue.py in the folder where it is started is not the library's
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(app_folder() / "main.py")]
    check_place(address, port)
    options = ["--server.port", str(port), "--server.address", address]
    names = [*LOCAL, *(host or ())] if host or address in LOCAL else ["*"]
    options += [part for name in names for part in ("--server.allowedHosts", name)]
    talk = [] if tour is None else ["--", "--tour", str(tour.resolve())]
    if sys.platform == "win32":  # where a process cannot become another
        server = subprocess.Popen([*command, *options, *talk])
        while server.poll() is None:
            with suppress(KeyboardInterrupt):  # Ctrl-C, which it has heard as well
                server.wait()
        sys.exit(server.returncode)
    os.execv(sys.executable, [*command, *options, *talk])


def check_place(address: str, port: int) -> None:
    """Raise CapsvizError where nothing can listen: the port is taken or kept, or the address is another machine's."""
    reason: int | None = None
    family = socket.AF_INET6 if ":" in address else socket.AF_INET  # as Streamlit chooses
    try:
        for _, kind, _, _, place in socket.getaddrinfo(address, port, family, socket.SOCK_STREAM):
            with socket.socket(family, kind) as trial:
                if sys.platform != "win32":  # where it would bind a port that is taken
                    trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    trial.bind(place)
                except OSError as error:
                    reason = error.errno
                else:
                    return
    except (socket.gaierror, UnicodeError):
        pass  # no such name
    if reason == errno.EADDRINUSE:
        raise CapsvizError(f"Port {port} is taken, perhaps by another capsviz app; end that, or give another --port.")
    if reason == errno.EACCES:
        raise CapsvizError(f"Port {port} is kept for administrators; give a --port from 1024 on.")
    raise CapsvizError(f"{address} is no address of this machine; give one of its own, or 0.0.0.0 for all of them.")


def app_folder() -> Path:
    """Where the app lies; raises CapsvizError where it does not, or what it needs is not installed."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise CapsvizError(f'The app needs {", ".join(missing)}; run `pip install "capsviz[app]"`.')
    folder = places.root() / "app"
    if not (folder / "main.py").is_file():
        raise CapsvizError(f"{folder / 'main.py'} is not there; install capsviz again, or restore app/ with git.")
    return folder
