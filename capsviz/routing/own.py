"""Algorithms of other packages and of files of one's own, which stand beside those of capsviz everywhere."""

from __future__ import annotations

import os
import re
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .algorithm import Algorithm, Ascending
from .algorithms import ALGORITHMS, ASCENDING

GROUP = "capsviz.routing"
"""Of entry points, by which an installed package names its algorithms; the name of what `add_own` raises."""
VARIABLE = "CAPSVIZ_ROUTINGS"
"""Of the environment, which names others as "module:name", with commas between them."""
WANTED = ("name", "title", "short", "colour", "step", "page", "explanation")


def add_own() -> None:
    """Take the algorithms of installed packages, and those that the environment names, into `ALGORITHMS`.

    Each is an `Algorithm`, or a class of one. Raises ImportError for what cannot be imported, is none, does not say
    what everything here asks of it, or bears a name that is taken or fits into no link.
    """
    named = filter(None, (name.strip() for name in os.environ.get(VARIABLE, "").split(",")))
    for point in (*entry_points(group=GROUP), *(EntryPoint(name, name, VARIABLE) for name in named)):
        where = f"{point.group} names {point.value} as a routing algorithm"
        try:
            found = point.load()
            found = found() if isinstance(found, type) else found
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ImportError(
                f"{where}, which cannot be imported ({why}); mend it or leave it out.", name=GROUP
            ) from error
        if fault := _fault(found):
            raise ImportError(f"{where}, which {fault}.", name=GROUP)
        ALGORITHMS[found.name] = found
        if isinstance(found, Ascending):
            ASCENDING[found.name] = found


def _fault(found: Any) -> str:
    if not isinstance(found, Algorithm):
        return f"is none; derive it from {GROUP}.Algorithm"
    if missing := [name for name in WANTED if not hasattr(found, name)]:
        return f"lacks {', '.join(missing)}; see {GROUP}.Algorithm"
    if found.name in ALGORITHMS:
        return f"is called {found.name!r}, as another one; choose a name beside {', '.join(ALGORITHMS)}"
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", found.name):
        return f"is called {found.name!r}; choose small letters, digits and hyphens"
    return ""
