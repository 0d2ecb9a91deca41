"""A board as one HTML file: what draws it and what it shows lie in the file, and no server is asked."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from string import Template

from capsviz.boards.board import Board
from capsviz.boards.built import bundle

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<main id="board"></main>
<script type="application/json" id="content">$content</script>
<script type="module">
$script</script>
</body>
</html>
""")


MOST = 64 * 2**20
"""Bytes of the numbers of all classes, up to which a page holds them."""


def holds_all(board: Board) -> bool:
    """Whether a page of the board has the numbers of every class, and not only of the one that is shown."""
    return board.count * len(board.packed(board.upper, without=board.shared)) <= MOST


def board_page(board: Board) -> str:
    """The board as a page that any browser opens from disk: it plays, answers keys, and saves its pictures.

    Of classes whose numbers are more than `MOST` bytes it shows one alone.
    """
    script, style = bundle("page.js"), bundle("page.css")
    assert script and style, "the bundles are committed"
    classes = range(board.count) if holds_all(board) else [board.upper]
    content = {
        "board": board.kind,
        "name": board.file,
        "title": board.title,
        "upper": board.upper,
        "first": [b64encode(message).decode() for message in board.first],
        "shared": b64encode(board.packed_shared()).decode(),
        "messages": [b64encode(board.packed(upper, without=board.shared)).decode() for upper in classes],
    }
    return _PAGE.substitute(
        title=html.escape(board.title),
        style=style,
        content=json.dumps(content).replace("<", "\\u003c"),
        script=script,
    )
