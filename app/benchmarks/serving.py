"""Streamlit scripts of the repository served as `make app` serves the app, and the browser that visits them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from capsviz.errors import CapsvizError

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path(os.environ.get("CAPSVIZ_CHROMIUM", "/usr/bin/chromium"))
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 240
"""Quarters of a second until a script has to answer."""


class ServingError(CapsvizError):
    """A page that cannot be served, or visited, on this machine."""


@dataclass(frozen=True)
class Server:
    """A process that serves."""

    address: str
    process: int
    """Its number."""
    log: Path

    def memory(self) -> int:
        """Bytes of memory that it holds now (Linux)."""
        rows = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return int(next(row for row in rows if row.startswith("VmRSS")).split()[1]) * 1024


@contextmanager
def served(script: str, folder: Path, **environment: str) -> Iterator[str]:
    """The address of a script as `serving` serves it."""
    with serving(script, folder, **environment) as server:
        yield server.address


@contextmanager
def serving(script: str, folder: Path, **environment: str) -> Iterator[Server]:
    """A script of the repository on a free port. The server's log goes to `folder` and stops with it.

    Raises ServingError, with the log, where the server does not come up.
    """
    if not (ROOT / script).is_file():
        raise ServingError(f"{script} is not in {ROOT}; run this from a clone of the repository.")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "log"
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / script), "--server.port", str(port)]
    with log.open("wb") as file:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        server = subprocess.Popen(command, cwd=ROOT / "app", env=variables, stdout=file, stderr=subprocess.STDOUT)
    try:
        wait_for_health(f"http://localhost:{port}", server, log)
        yield Server(f"http://localhost:{port}", server.pid, log)
    finally:
        server.kill()  # it holds nothing that has to be kept, and takes four seconds to end of itself
        server.wait(timeout=20)


def wait_for_health(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server at an address answers; raises ServingError, with the log, where it does not."""
    for _ in range(PATIENCE):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
        except OSError:
            time.sleep(0.25)
        else:
            return
    raise ServingError(f"Streamlit did not serve the page; its log says: {log.read_text()}")
