"""Algorithms of other packages and of files of one's own, which stand beside those of capsviz everywhere."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .algorithm import Algorithm, Ascending
from .algorithms import ALGORITHMS, ASCENDING

GROUP = "capsviz.routing"
"""Of entry points, by which an installed package names its algorithms."""
VARIABLE = "CAPSVIZ_ROUTINGS"
"""Of the environment, which names others as "module:name", with commas between them; the name of what is raised."""
DEFINE = f"name what defines it in {VARIABLE}"
"""What to do about the name of a routing that nothing here defines."""
MEND = f"mend it, and let its file import of capsviz only {GROUP}"
WANTED = ("name", "title", "short", "colour", "step", "page", "explanation")
WITHOUT_CAPSULES = "cnn"
"""What stands beside the algorithms in every list."""
USER = "capsviz.network"
"""What reads `ALGORITHMS` as it is imported."""


def add_own() -> None:
    """Take the algorithms of installed packages, and those that the environment names, into `ALGORITHMS`.

    Each is an `Algorithm`, or a class of one. Raises ImportError, and takes none, for what cannot be imported, is none,
    does not say what everything here asks of it, or bears a name that is taken or fits into no link.
    """
    named = filter(None, (name.strip() for name in os.environ.get(VARIABLE, "").split(",")))
    own: dict[str, Algorithm] = {}
    for point in (*entry_points(group=GROUP), *(EntryPoint("", name, VARIABLE) for name in named)):
        before = USER in sys.modules
        try:
            found = point.load()
            found = found() if isinstance(found, type) else found
            fault = _fault(found, {*ALGORITHMS, *own, WITHOUT_CAPSULES})
        except Exception as error:
            found, why = None, f"{type(error).__name__}: {error}".splitlines()[0]
            lost = isinstance(error, ModuleNotFoundError) and f"{point.module}.".startswith(f"{error.name}.")
            remedy = "write module:name, and name the folder of the module in PYTHONPATH" if lost else MEND
            fault = f"cannot be imported ({why}); {remedy}"
        if USER in sys.modules and not before:
            fault = fault or f"imports {USER}; let its file import of capsviz only {GROUP}"
        if fault:
            raise ImportError(
                f"{point.group} names {point.value} as a routing algorithm, which {fault}.", name=VARIABLE
            )
        own[found.name] = found
    ALGORITHMS.update(own)
    ASCENDING.update({name: each for name, each in own.items() if isinstance(each, Ascending)})


def _fault(found: Any, taken: set[str]) -> str:
    if not isinstance(found, Algorithm):
        return f"is none; derive it from {GROUP}.Algorithm"
    if missing := [name for name in WANTED if not hasattr(found, name)]:
        return f"lacks {', '.join(missing)}; see {GROUP}.Algorithm"
    if found.page not in (pages := {each.page: None for each in ALGORITHMS.values()}):
        return f"has the page {found.page!r}; choose one of {', '.join(pages)}"
    if found.name in taken:
        return f"is called {found.name!r}, as another one; choose a name beside {', '.join(sorted(taken))}"
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", found.name):
        return f"is called {found.name!r}; choose small letters, digits and hyphens"
    return ""
