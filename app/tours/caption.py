"""What the caption of a step may hold: words, emphasis, lists, code and formulas.

A tour may come from a stranger, and its caption is Markdown: nothing in it may lead away from the app, or fetch
anything. So whatever could become a link, a picture or HTML in any reading of Markdown is refused, not mended.
"""

from __future__ import annotations

import re

LONGEST = 500
"""Characters that leave the view its room on a screen of 1280 × 720."""

_REFUSED = (
    (r"<[A-Za-z/!?]", "it has HTML; write a space after each <."),
    (r"\][(\[:]", "it has a link or a picture; take it out, or write a space after the ]."),
    (r"!\[", "it has a picture; take it out."),
    (r"&(#|[A-Za-z][A-Za-z0-9]*;)", "it has a coded character; type the character itself."),
    (r"^[ \t>]*#{1,6}([ \t]|$)|^[ \t>]*(=+|-+)[ \t]*$", "it has a heading; the step's title is the heading."),
    (r"\\(href|url|includegraphics|html)", "its formula has a link or a picture; take it out."),
)
_ADDRESS = r"://|www\.|@[\w-]|mailto:|xmpp:"
"""What Markdown makes links of by itself; a backslash between does not keep it from that."""


def unbroken(text: str) -> str:
    """A caption as it is shown: no line ends between a number and its percent sign."""
    return re.sub(r"(?<=\d) (?=%)", "\u00a0", text)


def wrong(text: str) -> str:
    """The end of a sentence that says what is wrong with a caption; empty where nothing is."""
    if len(text) > LONGEST:
        return f"it has {len(text)} characters; a hall reads {LONGEST} at most."
    for pattern, sentence in _REFUSED:
        if re.search(pattern, text, re.IGNORECASE | re.MULTILINE):
            return sentence
    if re.search(_ADDRESS, text.replace("\\", ""), re.IGNORECASE):
        return "it has an address; say it, or show it on a slide."
    return ""
