"""What the first visitor would wait for, done while the server starts, and what is done every minute."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import threading
from collections.abc import AsyncIterator
from typing import Any

from app.server import endings, heap

TIDY = 60.0
"""Seconds after which memory that is free is given back, again and again."""
_imported = threading.Event()


@contextlib.asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Begin beside the server, which answers meanwhile; tidy while it runs; when it ends, do what was asked for."""
    _thread.start()
    tidying = asyncio.create_task(_tidy())
    yield
    tidying.cancel()
    endings.asked.close()


async def _tidy() -> None:
    """Give back what pages have freed, which else stays between what is still held, for as long as anyone is there."""
    while True:
        await asyncio.sleep(TIDY)
        await asyncio.to_thread(heap.trim)


def wait() -> None:
    """Wait until the thread has imported what a page imports: two threads must not import the same at once."""
    if _thread.ident is not None:
        _imported.wait()


def _share_cores() -> None:
    """Let a picture be computed on a quarter of the cores, unless `OMP_NUM_THREADS` says on how many.

    What a page computes is small, and visitors are many. Threads that divide an operation wait for the slowest of them;
    where there are more of them than cores, each operation waits for one that is not even running.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, torch.get_num_threads() // 4))


def _prepare() -> None:
    gc.disable()  # a sixth of the time of the imports, in which there is no garbage
    try:
        for name in (
            "app.boards.routing_boards",
            "app.sidebar.sidebar",
            "app.page.takeaway",
            "app.tours.stage",
            "torchvision.datasets",
        ):
            importlib.import_module(name)
        _share_cores()
        # Half a million objects of modules that stay: whoever collects garbage would go through all of them each time,
        # while nobody is answered.
        gc.freeze()
    finally:
        gc.enable()
        _imported.set()
    warm()


def warm() -> None:
    """Route the image that the app opens with, once: files are read and kernels chosen, the page finds both ready."""
    from app import scene
    from app.shared import resources
    from app.sources import browsing, images
    from capsviz import data, trace, zoo
    from capsviz.errors import CapsvizError

    with contextlib.suppress(CapsvizError):  # the page meets the same, and says it to its visitor
        entry = resources.entries()[scene.catalogue().start]
        picture = images.from_data(entry.data, "test", browsing.start(entry.data, "test"), entry)
        trace(zoo.load(entry.name), data.to_float(picture.pixels)[None])


_thread = threading.Thread(target=_prepare, name="startup", daemon=True)
