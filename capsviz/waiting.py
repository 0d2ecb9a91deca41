"""What is told while something takes long, and by which process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


def first_process() -> bool:
    """Whether this is the first of the processes that torchrun started, or the only one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def under_way(what: str, *, quiet: bool = False) -> Iterator[Progress]:
    """A bar on stderr until the block ends; called with how much is done and of how much, it says so.

    Nothing is shown where stderr is no terminal, by other processes than the first, and where quiet.
    """
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal or not first_process()
    with Bar(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
