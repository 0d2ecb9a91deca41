"""What a board's pictures are made of: whatever a pen draws on a picture, in its order and its colours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright import sync_api

RECORD = """(root, picture) => {
  const board = root.capsvizBoard, pen = document.createElement("canvas").getContext("2d"), marks = [];
  let path = [];
  const place = (x, y) => { const at = new DOMPoint(x, y).matrixTransform(pen.getTransform()); return [at.x, at.y]; };
  const pixels = (source, ...box) => {
    const [x, y, width, height] = box.length > 4 ? box : [0, 0, source.width, source.height];
    const { data } = source.getContext("2d").getImageData(x, y, width, height);
    return Array.from({ length: width * height }, (_, k) => data[4 * k + 3] === 0 ? "" : "#" +
      [...data.slice(4 * k, 4 * k + 3)].map((part) => part.toString(16).padStart(2, "0")).join(""));
  };
  const draw = (did, given) => {
    if (did === "beginPath") path = [];
    if (/^(moveTo|lineTo|arc|ellipse)$/.test(did)) path.push([...place(...given), ...given.slice(2)]);
    if (/^(stroke|fill)/.test(did)) marks.push([did, given, /^(stroke|fill)$/.test(did) ? path : [],
      did.startsWith("fill") ? pen.fillStyle : pen.strokeStyle, pen.getLineDash(), []]);
    if (did === "drawImage") marks.push([did, given.slice(1), [], "", [], pixels(...given)]);
    return pen[did](...given);
  };
  eval(picture).redraw(new Proxy(pen, {
    get: (_, name) => typeof pen[name] === "function" ? (...given) => draw(name, given) : pen[name],
    set: (_, name, value) => { pen[name] = value; return true; },
  }));
  return JSON.stringify(marks);
}"""


class Mark(NamedTuple):
    """One thing that is drawn: by what it is, with which numbers and words, along which path, in which colour.

    path: points in CSS pixels, each with whatever else an arc or an ellipse has; pixels: those of an image, or of its
    part that is drawn, "" where it is clear.
    """

    did: str
    given: list[Any]
    path: list[list[float]]
    colour: str
    dash: list[float]
    pixels: list[str]


def marks(board: sync_api.Locator, picture: str, *did: str) -> list[Mark]:
    """What a picture, an expression of `board`, is made of now; did: what alone is asked for."""
    made = [Mark(*each) for each in json.loads(board.evaluate(RECORD, picture))]
    return [each for each in made if not did or each.did in did]


def words(board: sync_api.Locator, picture: str) -> list[str]:
    """The words on a picture."""
    return [str(each.given[0]) for each in marks(board, picture, "fillText")]


def told(board: sync_api.Locator) -> dict[str, Any]:
    """What the host has told a board."""
    script = "root => JSON.stringify(root.capsvizBoard.message, (_, it) => ArrayBuffer.isView(it) ? [...it] : it)"
    return json.loads(board.evaluate(script))
