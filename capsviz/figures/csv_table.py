"""The numbers of a figure as a table: one row per point, so that any other program can go on with them."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from PIL import Image
from plotly.graph_objects import Figure

from capsviz.figures.text import unmarked

_FIRST = ("trace", "kind", "name", "axes", "reads", "x", "y", "z")
_GRIDS = ("heatmap", "contour", "histogram2d")
# Per-point fields that style or repeat; what they say is in the others.
_NOT_NUMBERS = ("text", "hovertext", "textposition", "hoverinfo", "ids", "meta", "selectedpoints")
_FORMULA = re.compile(r"((?:^|[,;\t\r\n])\"*)(?=[=+\-@\t\r])")
_SYMBOL = re.compile(r"%\{(?:marker\.)?(\w+)(?:\[(\d+)\])?[^}]*\}")


def figure_csv(figure: Figure) -> str:
    """The numbers of a figure as CSV, one row per point, heat map cell, picture's pixel or Sankey link.

    Columns, as far as the figure has them: trace (its number), kind, name, axes, reads (what the pointer says of a
    point, in terms of the other columns), then x, y, z and every further number of a point (size and color of markers,
    base, value, error_y of error bars and error_yminus where they reach less far down),
    text last. Numbers are those that were drawn: figures round to four digits.
    """
    rows = list(points(figure))
    found = {column for row in rows for column in row}
    columns = [name for name in _FIRST if name in found]
    columns += sorted(found - set(columns) - {"text"}) + ["text"] * ("text" in found)
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: no_formula(value) for column, value in row.items()} for row in rows)
    return file.getvalue()


def points(figure: Figure) -> Iterator[dict[str, Any]]:
    """The rows of `figure_csv`, trace by trace."""
    for number, trace in enumerate(figure.to_plotly_json().get("data", [])):
        yield from _labelled(trace, number)


def _labelled(trace: Mapping[str, Any], number: int) -> Iterator[dict[str, Any]]:
    kind = trace.get("type", "scatter")
    head: dict[str, Any] = {"trace": number, "kind": kind}
    if trace.get("name"):
        head["name"] = _words(trace["name"])
    if "xaxis" in trace or "yaxis" in trace:
        head["axes"] = f"{trace.get('xaxis', 'x')} {trace.get('yaxis', 'y')}"
    if isinstance(trace.get("hovertemplate"), str):
        template = trace["hovertemplate"]
        head["reads"] = _reads(template.replace(" %{z}", "") if kind == "image" else template)
    rows = {"image": _pixels, "sankey": _links}.get(kind, _cells if kind in _GRIDS and "z" in trace else _marks)
    for row in rows(trace):
        yield {**head, **row}


def _reads(template: str) -> str:
    """ "%{x}<br>c = %{z:.3f}<extra></extra>" as "x; c = z"."""
    text = re.sub(r"<extra>.*?</extra>", "", template, flags=re.DOTALL)
    return _words(_SYMBOL.sub(r"\1\2", text))


def _words(text: str) -> str:
    """Plotly's HTML as plain text in one line."""
    return unmarked(re.sub(r"<[^>]+>", "", text.replace("<br>", "; "))).strip()


def _cells(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    z = _array(trace["z"])
    across = _places(trace, "x", z.shape[1])
    down = _places(trace, "y", z.shape[0])
    texts = _array(trace["text"]) if trace.get("text") is not None else None
    for (row, column), value in np.ndenumerate(z):
        if _missing(value):
            continue
        text = {} if texts is None else {"text": _words(str(texts[row, column]))}
        yield {"x": across[column], "y": down[row], "z": _plain(value), **text}


def _places(trace: Mapping[str, Any], axis: str, count: int) -> list[Any]:
    if trace.get(axis) is not None:
        return [_plain(value) for value in _array(trace[axis])]
    return [trace.get(f"{axis}0", 0) + index * trace.get(f"d{axis}", 1) for index in range(count)]


def _pixels(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if trace.get("source"):
        content = base64.b64decode(trace["source"].split(",", 1)[1])
        colours = np.asarray(Image.open(io.BytesIO(content)).convert("RGBA"))
    else:
        colours = _array(trace["z"])
    across, down = _places(trace, "x", colours.shape[1]), _places(trace, "y", colours.shape[0])
    for row, column in np.ndindex(colours.shape[:2]):
        red, green, blue, *alpha = colours[row, column].tolist()
        if alpha and not alpha[0]:
            continue  # the gaps between the images of a mosaic
        yield {"x": across[column], "y": down[row], "red": red, "green": green, "blue": blue}


def _links(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    link, labels = trace["link"], list(trace["node"].get("label") or [])

    def called(index: Any) -> Any:
        return _plain(labels[int(index)]) if int(index) < len(labels) else int(index)

    ends = zip(_array(link["source"]), _array(link["target"]), _array(link["value"]), strict=True)
    for source, target, value in ends:
        yield {"source": called(source), "target": called(target), "value": _plain(value)}


def _marks(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Points, bars, samples: every field with one number, or one word, per point."""
    marker = trace.get("marker") or {}
    fields = {key: value for key, value in trace.items() if key not in _NOT_NUMBERS}
    fields |= {key: marker[key] for key in ("size", "color") if key in marker}
    for axis in ("error_x", "error_y"):
        bars = trace.get(axis) or {}
        fields |= {f"{axis}{end}": bars.get(f"array{end}") for end in ("", "minus")}
    arrays = {key: _array(value) for key, value in fields.items() if _is_array(value)}
    # Samples (box, violin) and points have x or y; nothing else says how many points there are.
    leading = next((arrays[key] for key in ("x", "y", "z", "r", "theta") if key in arrays), None)
    if leading is None:
        return
    columns: dict[str, list[Any]] = {}
    for key, values in arrays.items():
        if len(values) == len(leading) and values.ndim == 1:
            columns[key] = list(values)  # as they were drawn, float32 as well
        elif len(values) == len(leading) and values.ndim == 2:
            columns |= {f"{key}{number}": part.tolist() for number, part in enumerate(values.T)}
    if _is_array(trace.get("text")) and len(trace["text"]) == len(leading):
        columns["text"] = [_words(str(text)) for text in _array(trace["text"])]
    columns.setdefault("x", _places({**trace, "x": None}, "x", len(leading)) if "y" in columns else [])
    if not columns["x"]:
        del columns["x"]
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, map(_plain, row), strict=True))


def _is_array(value: Any) -> bool:
    return isinstance(value, (list, tuple, ndarray)) or (isinstance(value, Mapping) and "bdata" in value)


def _array(value: Any) -> ndarray:
    """A field of a trace as an array: plotly keeps them as lists, arrays or, out of JSON, base64 of their bytes."""
    if isinstance(value, Mapping):
        flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
        shape = value.get("shape", flat.shape)
        return flat.reshape([int(side) for side in shape.split(",")] if isinstance(shape, str) else shape)
    if isinstance(value, ndarray):
        return value
    return np.array(value, dtype=object)


def _missing(value: Any) -> bool:
    return value is None or bool(value != value)


def _plain(value: Any) -> Any:
    """A number as Python writes it, nothing for a gap."""
    if isinstance(value, np.float32):
        value = float(str(value))  # the short number that was drawn, not the digits of its float64
    elif isinstance(value, np.generic):
        value = value.item()
    if _missing(value):
        return ""
    return unmarked(value) if isinstance(value, str) else value


def no_formula(value: Any) -> Any:
    """A text so that no spreadsheet takes it for a formula."""
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value
