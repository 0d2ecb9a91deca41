"""Names in any script: one form of each, what of them is a letter, and what they are called as files."""

from __future__ import annotations

import re
import unicodedata

LONGEST_FILE = 200
"""Bytes of a name of which files are made: file systems take 255, and endings follow."""
JOINERS = "\u200c\u200d"
"""Between letters they shape them, as in Persian and Hindi, and have no width."""


def one_form(name: str) -> str:
    """The composed form of a name: systems write "ä" as one character or as two, and both are meant alike (NFC)."""
    return unicodedata.normalize("NFC", name)


def caseless(name: str) -> str:
    """What names have in common which some systems take for one file: those that differ in capitals, or in form."""
    return one_form(name).casefold()


def is_letter(character: str) -> bool:
    """Whether names are made of it: letters, marks on and below them, digits, and what joins them."""
    return unicodedata.category(character)[0] in "LMN" or character in JOINERS


def with_letters(name: str, others: str, instead: str) -> str:
    """The one form of a name; each run of what is no letter, and not among `others`, becomes `instead`."""
    kept = (character if is_letter(character) or character in others else "\0" for character in one_form(name))
    return re.sub("\0+", lambda _: instead, "".join(kept))


def as_file(name: str) -> str:
    """A name in lower case, its letters apart from dashes alone, of at most `LONGEST_FILE` bytes; empty where none is.

    Marks do not stay on Latin letters, so that what is written in these has a name that every system types.
    """
    plain, latin = "", False
    for character in unicodedata.normalize("NFKD", name.casefold()):
        if not unicodedata.combining(character):
            latin = unicodedata.name(character, "").startswith("LATIN ")
        elif latin:
            continue
        plain += character
    letters = with_letters(plain, "", "-").strip("-")
    return letters.encode()[:LONGEST_FILE].decode(errors="ignore").strip("-")
