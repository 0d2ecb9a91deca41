"""Fetching a data set through torchvision, with its progress told and nothing half-done left behind."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

from capsviz.data.dataset import download_command
from capsviz.data.errors import DownloadFailed
from capsviz.data.torchvision_sets import Published
from capsviz.waiting import Progress

POLL_SECONDS = 0.1
STALL_SECONDS = 60.0  # torchvision sets no time-out: without a new byte for this long the caller is told
_ABANDONED_SECONDS = 24 * 3600


def download(data: Published, root: Path, progress: Progress | None = None) -> None:
    """Fetch a published data set to the data root, unless it is there.

    torchvision's own download runs in a thread, in a folder of its own below the root; only files of full length that
    torchvision has opened are then moved to their place. `progress(done_bytes, total_bytes)` is called from the
    calling thread. A second caller joins the download under way; a caller that leaves does not stop it. Raises
    `DownloadFailed`.
    """
    total = data.download_bytes
    if data.available(root):
        return
    running = _join_or_start(data, root)
    if running is None:
        return
    seen, last_change = -1, time.monotonic()
    while running.thread.is_alive():
        running.thread.join(POLL_SECONDS)
        done = min(max(running.bytes_on_disk(), seen), total)  # the packed files go before the thread ends
        if done != seen:
            seen, last_change = done, time.monotonic()
            if progress is not None:
                progress(done, total)
        elif done < total and time.monotonic() - last_change > STALL_SECONDS:
            _forget(running)
            raise DownloadFailed(
                f"The download of {data.title} has stopped at {done / 1e6:.1f} of {total / 1e6:.1f} MB: "
                f"check the network and run `{download_command(data.name)}` again."
            )
    if running.error is not None:
        raise DownloadFailed(_sentence(data, root, running.error)) from running.error
    if progress is not None:
        progress(total, total)


class _Running:
    """One download under way."""

    def __init__(self, data: Published, root: Path) -> None:
        self.data = data
        self.root = root
        self.staging: Path | None = None
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run, name=f"download-{data.name}", daemon=True)

    def bytes_on_disk(self) -> int:
        """The bytes that have arrived: the size of the packed files, complete or not."""
        staging, size = self.staging, 0
        if staging is None:
            return 0
        for folder, _, files in os.walk(staging):
            for file in files:
                if file.endswith(".gz"):
                    try:
                        size += os.stat(os.path.join(folder, file)).st_size
                    except FileNotFoundError:  # the thread cleans up while we look
                        continue
        return size

    def _run(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            _sweep(self.root)
            self.staging = Path(tempfile.mkdtemp(prefix=".download-", dir=self.root))
            self._fetch(self.staging)
            self._install(self.staging)
        except Exception as error:  # carried to the caller's thread, which turns it into a DownloadFailed
            self.error = error
        finally:
            if self.staging is not None:
                shutil.rmtree(self.staging, ignore_errors=True)
            _forget(self)

    def _fetch(self, staging: Path) -> None:
        from torchvision import datasets

        with _without_bar():
            getattr(datasets, self.data.torchvision)(staging, train=False, download=True)
        if not self.data.complete(staging):
            raise RuntimeError("files arrived incomplete")

    def _install(self, staging: Path) -> None:
        """Move the files to their place; a set counts as there only once all have arrived, so the order is free."""
        for file in self.data.files:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staging / file, self.root / file)


_LOCK = threading.Lock()
_RUNNING: dict[tuple[str, Path], _Running] = {}
_BAR_LOCK = threading.Lock()
_bars_hidden = 0
_bar: object = None


def _join_or_start(data: Published, root: Path) -> _Running | None:
    """The download under way, else a new one, else None where one has ended between the caller's look and ours."""
    with _LOCK:
        running = _RUNNING.get((data.name, root))
        if running is None:
            if data.available(root):
                return None
            running = _RUNNING[data.name, root] = _Running(data, root)
            running.thread.start()
        return running


def _forget(running: _Running) -> None:
    with _LOCK:
        if _RUNNING.get((running.data.name, running.root)) is running:
            del _RUNNING[running.data.name, running.root]


@contextmanager
def _without_bar() -> Iterator[None]:
    """Keep torchvision's bar, which no argument hides, off stderr; counts, as downloads may overlap."""
    from torchvision.datasets import utils

    global _bars_hidden, _bar
    with _BAR_LOCK:
        if _bars_hidden == 0:
            _bar = utils.tqdm
            utils.tqdm = functools.partial(utils.tqdm, disable=True)
        _bars_hidden += 1
    try:
        yield
    finally:
        with _BAR_LOCK:
            _bars_hidden -= 1
            if _bars_hidden == 0:
                utils.tqdm = _bar  # pyright: ignore[reportAttributeAccessIssue]


def _sweep(root: Path) -> None:
    """Remove what downloads of killed processes left behind, once it is too old to be under way anywhere."""
    for left in root.glob(".download-*"):
        if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _sentence(data: Published, root: Path, error: Exception) -> str:
    title, again = data.title, f"run `{download_command(data.name)}` again"
    if isinstance(error, OSError) and not isinstance(error, (URLError, ConnectionError, TimeoutError)):
        reason = error.strerror or str(error)
        return f"{title} could not be written to {root} ({reason}): set CAPSVIZ_DATA to another folder and {again}."
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"{title} could not be downloaded ({lines[-1].strip()}): check the network and {again}."
