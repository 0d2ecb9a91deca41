"""Many images, many methods: a grid of reconstructions or error maps, and the images on which two methods differ."""

from __future__ import annotations

import textwrap

import streamlit as st
import torch
from plotly.graph_objects import Figure

from app.comparing import methods
from app.page import layout
from app.page.widgets import chosen, segments
from app.scene import Scene, SceneError
from app.shared import resources
from app.sources import images
from app.state.choices import FEWEST, MOST, Choices
from capsviz.analysis import disagreement
from capsviz.analysis.predictions import Predictions
from capsviz.figures.network import Part
from capsviz.figures.reconstructions import method_grid
from capsviz.figures.text import literal, literals, short

HEADLINE = "The same images through every method. <b>Click</b> a picture, and it is the image of every page."
SUBJECT: Part = "reconstruction"
_ORDERS = {"next": "From this image on", "different": "Most different", "worst": "Worst drawn"}
_NARROW, _LETTERS, _LINES = 9, 8, 3
"""From so many columns on, the name of a class has so many letters to a line, and so many lines."""
_MEASURES = {"mse": "MSE", "ssim": "SSIM", "drawings": "Drawings"}


def show(current: Scene) -> None:
    """The controls, and the grid."""
    records = methods.records(current, drawing=True)
    test = methods.test_images(current, records.values())
    pair = pair_of(current.choices, records)
    with st.container(key="many_choices"):
        measure = _controls(current, records, pair, test)
    which = images_of(current, records, pair, measure)
    order = order_of(current.choices, pair)
    said = f"from image {int(which[0])} on" if order == "next" else _ORDERS[order].lower()
    layout.show(
        _grid(current, records, pair, measure, which, test),
        f"grid-{current.choices.order}-{int(which[0])}",
        f"Many images, {said}",
        choose=methods.chooser(current, records.values()),
    )


def pair_of(choices: Choices, records: dict[str, Predictions]) -> tuple[str, str] | None:
    """The two models whose difference counts: the chosen ones, else the first two; None where there is one only."""
    pair = choices.pair
    if pair and set(pair) <= records.keys():
        return pair
    names = list(records)
    return (names[0], names[1]) if len(names) > 1 else None


def order_of(choices: Choices, pair: tuple[str, str] | None) -> str:
    """How the images follow one another: only two models differ."""
    return "next" if choices.order == "different" and not pair else choices.order


def images_of(
    current: Scene, records: dict[str, Predictions], pair: tuple[str, str] | None, measure: str
) -> torch.Tensor:
    """The numbers of the test images to show."""
    choices, first = current.choices, next(iter(records.values()))
    order = order_of(choices, pair)
    if order == "different" and pair:
        return disagreement.most(resources.difference(*pair, measure), choices.count)
    if order == "worst":
        return disagreement.worst_drawn(list(records.values()), measure, choices.count)
    begin = methods.test_image(current, records.values())
    only = None if begin is None else images.only_of(choices, current.entry)
    found = disagreement.from_on(first, begin or 0, choices.count, only)
    if only is not None and not len(found):
        kind = current.entry.classes[only]
        raise SceneError(f"No test image shows {kind}; choose another class in the sidebar, or all.")
    return found


def _controls(
    current: Scene, records: dict[str, Predictions], pair: tuple[str, str] | None, test: methods.TestImages | None
) -> str:
    """Which images, how many, by what measure; returns the measure."""
    choices = current.choices
    orders = {order: title for order, title in _ORDERS.items() if pair or order != "different"}
    order = order_of(choices, pair)
    left, middle, right, switch = st.columns([43, 25, 16, 17], vertical_alignment="bottom")
    with left:
        segments("Images", "order", order, orders)
    measures = {name: title for name, title in _MEASURES.items() if name != "drawings" or order == "different"}
    measure = choices.measure if choices.measure in measures else "mse"
    with middle:
        segments("Measured by", "measure", measure, measures)
    with right:
        chosen(st.slider, "How many", "count", choices.count, FEWEST, MOST)
    with switch:
        chosen(
            st.toggle, "Error maps", "errors", choices.errors and test is not None, disabled=test is None,
            help="Reconstruction minus input, from −1 to 1: blue is missing, orange new.",
        )  # fmt: skip
    if order == "different" and pair:
        _pair_picker(records, pair)
    return measure


def _pair_picker(records: dict[str, Predictions], pair: tuple[str, str]) -> None:
    first, second, _ = st.columns([3, 3, 5], vertical_alignment="bottom")
    with first:
        _one_of_pair("Between", pair, 0, records)
    with second:
        _one_of_pair("and", pair, 1, records)


def _one_of_pair(label: str, pair: tuple[str, str], place: int, records: dict[str, Predictions]) -> None:
    called = methods.titles(records)
    chosen(
        st.selectbox, label, "pair", pair[place], list(records), key=f"pair{place}", format_func=called.get,
        read=lambda name, now: {"pair": _with(pair_of(now, records) or pair, place, name)},
    )  # fmt: skip


def _with(pair: tuple[str, str], place: int, name: str) -> tuple[str, str]:
    """The pair with another model in one place; the same model in both changes places instead."""
    other = pair[1 - place] if pair[1 - place] != name else pair[place]
    return (name, other) if place == 0 else (other, name)


def _grid(
    current: Scene,
    records: dict[str, Predictions],
    pair: tuple[str, str] | None,
    measure: str,
    which: torch.Tensor,
    test: methods.TestImages | None,
) -> Figure:
    """Rows: the inputs and each method; of a pair these two, and what the second draws more and less than the first."""
    choices = current.choices
    called = dict(zip(records, literals(methods.titles(records).values()), strict=True))
    against = pair if choices.order == "different" else None
    if against:
        records = {name: records[name] for name in against}
    drawn = {name: resources.drawn(name, which) for name in records}
    maps = choices.errors and test is not None
    inputs = {} if test is None else {"Input": methods.pixels(test, which)}
    rows = inputs | disagreement.rows(
        {called[name]: images for name, images in drawn.items()}, inputs.get("Input") if maps else None
    )
    signed = list(called.values()) if maps else []
    figures = "ssim" if measure == "ssim" else "mse"
    words = {called[name]: _figures(record, figures, which) for name, record in records.items()}
    texts = {called[name]: _texts(current, called[name], record, which) for name, record in records.items()}
    if against:
        first, second = (called[name] for name in against)
        last = f"{second}<br>− {first}"
        rows |= disagreement.rows({last: drawn[against[1]]}, drawn[against[0]])
        signed.append(last)
        apart = resources.difference(*against, measure)[which].tolist()
        words[last] = [f"<b>{value:.3f}</b>" for value in apart]
        texts[last] = [f"{second} − {first}<br>difference in {_MEASURES[measure]}: {value:.4f}" for value in apart]
    record = next(iter(records.values()))
    classes = methods.names(current, record.labels[which])
    numbers = which.tolist()
    names = [_name(kind, columns=len(numbers)) for kind in classes]
    texts["Input"] = [f"image {number}, class {literal(kind)}" for number, kind in zip(numbers, classes, strict=True)]
    return method_grid(
        rows,
        heads=[f"{number}<br><b>{name}</b>" for number, name in zip(numbers, names, strict=True)],
        chosen=numbers,
        texts=texts,
        words=words,
        signed=signed,
        on_stage=methods.on_stage(current, records.values()),
        height=layout.BELOW_STRIP if choices.present else None,
        dark=current.dark,
    )


def _name(kind: str, columns: int) -> str:
    """A class above a column; where many stand side by side, on lines that do not reach into the next one."""
    if columns < _NARROW:
        return literal(kind)
    words = " ".join(short(word, _LETTERS) for word in kind.replace("/", "/ ").split())
    return "<br>".join(literals(textwrap.wrap(words, _LETTERS, max_lines=_LINES, placeholder=" …")))


def _figures(record: Predictions, measure: str, which: torch.Tensor) -> list[str]:
    digits = 4 if measure == "mse" else 2
    return [f"{value:.{digits}f}" for value in record.figures(measure)[which].tolist()]


def _texts(current: Scene, called: str, record: Predictions, which: torch.Tensor) -> list[str]:
    assert record.mse is not None and record.ssim is not None  # the records of this view are of models that draw
    columns = (methods.named(current, record, which), record.mse[which].tolist(), record.ssim[which].tolist())
    return [
        f"{called}<br>image {number} is named {literal(named)}<br>MSE {mse:.4f}, SSIM {ssim:.2f}"
        for number, named, mse, ssim in zip(which.tolist(), *columns, strict=True)
    ]
