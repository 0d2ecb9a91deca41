"""Where tours come from: those that ship, the one that the server was started with, opened files, and links."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
import zlib
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path

from app.tours import tour as tours
from app.tours.tour import Tour, TourError
from capsviz.errors import line

SHIPPED = ("routing-by-agreement", "gaussians-that-compete", "do-we-need-the-loop")
"""Names of the tours that come with the app, in the order in which they build on one another."""
PASSED = "CAPSVIZ_TOUR"
"""The environment's variable that names the file of `--tour`."""
IN_A_LINK = "~"
"""With what a name begins that is the tour itself."""
LONGEST_NAME = 6000
"""Characters of a tour that fits in a link."""
_KEPT = "opened-"
_MOST_KEPT = 120_000_000
"""Characters of all tours that are remembered: each edit of a talk is another one, and a link may lead to any."""
_LEAST = 2_000
"""Characters for which a tour counts at least."""

_opened: OrderedDict[str, tuple[Tour, int]] = OrderedDict()
"""By name the tour, and for how many characters it counts; the one that nobody asked for longest first."""
_lock = threading.Lock()


def names() -> tuple[str, ...]:
    """The tours that every visitor of this server has: the one that it was started with first."""
    return tuple(dict.fromkeys([*filter(None, [passed()]), *SHIPPED]))


def passed() -> str:
    """The name of the tour that the server was started with; empty where it was with none."""
    return Path(os.environ.get(PASSED, "")).stem


def start_with(path: str) -> Tour:
    """Have the server offer a file's tour before all others; that tour. Raises TourError."""
    file = Path(path).expanduser().resolve()
    if file.stem in SHIPPED:
        raise TourError(f"A tour named {file.stem} comes with the app; give {file.name} another name.")
    tour = _read(file)
    os.environ[PASSED] = str(file)
    return tour


def find(name: str) -> Tour:
    """The tour of a name. Raises TourError."""
    if name and name == passed():
        return _read(Path(os.environ[PASSED]))  # each time: its author mends it while the server runs
    if name.startswith(IN_A_LINK):
        return _unpacked(name)
    if name in SHIPPED:
        return _shipped(name)
    return draft(name).checked()


def draft(name: str) -> Tour:
    """As `find`, also a tour that is still being written and may not be right yet. Raises TourError."""
    with _lock:
        if name in _opened:
            _opened.move_to_end(name)
            return _opened[name][0]
    if name.startswith(_KEPT):
        raise TourError("The tour of this link was open on a server that has forgotten it; open its file again.")
    if name in names() or name.startswith(IN_A_LINK):
        return find(name)
    raise TourError(line(f"There is no tour “{name[:60]}” ({', '.join(names())}); choose one on the page Tours."))


def keep(tour: Tour) -> str:
    """Remember a tour while the server runs, and as long as not too many others come: its name, from what is in it."""
    said = repr(tour)
    name = _KEPT + hashlib.sha256(said.encode()).hexdigest()[:16]
    with _lock:
        _opened[name] = tour, max(_LEAST, len(said))
        _opened.move_to_end(name)
        over = sum(size for _, size in _opened.values()) - _MOST_KEPT
        while over > 0:
            over -= _opened.popitem(last=False)[1][1]
    return name


def packed(tour: Tour) -> str | None:
    """The name that is the tour itself, which a link can hold; None where it is too long for one."""
    said = json.dumps(tours.to_mapping(tour), ensure_ascii=False, separators=(",", ":")).encode()
    name = IN_A_LINK + base64.urlsafe_b64encode(zlib.compress(said, 9)).decode().rstrip("=")
    return name if len(name) <= LONGEST_NAME else None


@lru_cache(maxsize=64)
def _unpacked(name: str) -> Tour:
    try:
        if len(name) > LONGEST_NAME:
            raise ValueError("too long")
        stream = zlib.decompressobj()
        said = stream.decompress(base64.urlsafe_b64decode(name[1:] + "=" * (-len(name[1:]) % 4)), tours.MOST_CHARACTERS)
        found = json.loads(said.decode()) if stream.eof else None
    except (ValueError, zlib.error, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise TourError("The tour in the link cannot be read; ask for the link again, or for the file.")
    return tours.of_mapping(found)


@lru_cache
def _shipped(name: str) -> Tour:
    return _read(Path(__file__).with_name(f"{name}.toml"))


def _read(path: Path) -> Tour:
    try:
        return tours.read(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise TourError(f"{path} cannot be read as text; name the TOML file of a tour.") from error
    except TourError as error:
        raise TourError(f"{path.name}: {error}") from error
