"""The visitor's choices and the URL that mirrors them, so that a link is a demonstration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.choices import Catalogue, Choices
from app.parameters import PARAMETERS, Replaced
from capsviz.intervene import Intervention


def parse(query: Mapping[str, str], catalogue: Catalogue) -> tuple[Choices, tuple[str, ...]]:
    """The choices that a URL query stands for, and one sentence for each part of it that means nothing here."""
    choices, notices = Choices(catalogue.start), []
    for name, parameter in PARAMETERS.items():
        if parameter.key not in query:
            continue
        try:
            value = parameter.read(query[parameter.key], choices, catalogue)
        except Replaced as error:
            notices.append(str(error))
            value = error.successor
        except ValueError as error:
            notices.append(f"{error}; showing {_default(name, choices)} instead.")
            continue
        choices = dataclasses.replace(choices, **{name: value})
    return choices, tuple(notices)


def _default(name: str, choices: Choices) -> str:
    """What stands on screen where a field keeps its default, in words."""
    sentences = {
        "model": choices.model,
        "source": "images of a data set",
        "picture": "an image of a data set",
        "data": "the model's own data set",
        "recording": "the first recording",
        "image": "the image to begin with",
        "only": "all classes",
        "upper": "the class that the model predicts",
        "layer": "the layer of the class capsules",
        "position": "the middle",
        "capsule": "no capsule",
        "touched": "the network untouched",
        "temperature": "the model's own λ",
        "frame": "the last frame",
        "turned": "the votes in their plane",
        "zoom": "the votes at their usual size",
        "bare": "the couplings on the image",
        "absolute": "what has changed",
        "listed": "the capsules that give most",
        "second": "nothing beside it",
        "second_image": f"image {choices.second_image}",
        "iterations": "what the model was trained with",
        "penalty": "L2",
        "section": "agreement",
        "votes": "the same votes",
        "climb": "the penalty of the page",
        "step_size": f"γ = {choices.step_size:g}",
        "regularisation": f"λ = {choices.regularisation:g}",
        "ascent_steps": f"{choices.ascent_steps} steps",
        "start": "a fresh b",
        "batch": f"{choices.batch} images",
        "draw": "the first draw",
        "toy": "the votes that it begins with",
        "offsets": "the capsule as it is",
        "wide": "the paper's range",
        "view": "one image",
        "order": "the images that follow",
        "count": f"{choices.count} images",
        "pair": "the first two methods",
        "errors": "reconstructions",
        "sort": "the usual order",
        "method": "the first method",
        "cell": "all cells",
        "sample": "those drawn wrong",
        "experiment": "Table II",
        "beside": "one model",
        "to": "a walk to the class that is second likely",
        "share": "the start of the walk",
        "sphere": "the straight walk",
        "present": "the page with its sidebar",
    }
    return sentences.get(name) or f"“{getattr(choices, name)}”"


def to_query(choices: Choices) -> dict[str, str]:
    """The URL query that `parse` turns back into these choices."""
    default = Choices(choices.model)
    changed = {name for name in PARAMETERS if getattr(choices, name) != getattr(default, name)} | {"model"}
    return {p.key: p.write(getattr(choices, name)) for name, p in PARAMETERS.items() if name in changed}


def update(choices: Choices, **changes: Any) -> None:
    """Write `changed` choices to the URL.

    To be called from a widget's callback: the script then reads them back from the URL, the only place they live.
    """
    st.query_params.from_dict(to_query(changed(choices, **changes)))


def changed(choices: Choices, **changes: Any) -> Choices:
    """The choices with changes; what depends on a changed one goes back to its default."""
    if "model" in changes:
        changes = {
            "data": "",
            "only": None,
            "upper": None,
            "penalty": "",
            "layer": None,
            "position": None,
            "capsule": None,
            "touched": Intervention(),
            "pair": None,
            "method": "",
            "cell": None,
            "to": None,
            **changes,
        }
    if "upper" in changes and choices.hand == "cells":
        changes = {"offsets": (), **changes}
    if "layer" in changes:
        changes = {"position": None, "upper": None, "capsule": None, "frame": None, **changes}
    if "source" in changes:
        changes = {"picture": "", **changes}
    if {"source", "data", "split", "recording", "only"} & changes.keys():
        changes = {"image": None, **changes}
    if {"source", "picture", "data", "split", "recording", "only", "image"} & changes.keys():
        changes = {"upper": None, **changes}
    if {"model", "iterations", "section", "lab"} & changes.keys():
        changes = {"frame": None, **changes}
    if "share" in changes:
        changes["share"] = round(changes["share"], 2)
    if "offsets" in changes:
        changes["offsets"] = tuple(round(offset, 2) for offset in changes["offsets"])
    return dataclasses.replace(choices, **changes)
