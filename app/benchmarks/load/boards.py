"""What a hand can do on each board, and what the board is then told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from app.benchmarks.load.page import Node, Page
from capsviz.boards.message import Message, unpack

Told = tuple[str, Any, Callable[[Mapping[str, Any]], bool]]
"""What the board tells, with what value, and whether the fields of a message say so."""


def board(page: Page, name: str) -> tuple[Node, Message] | None:
    """The board of a bundle, the first of several, and what it was given; None where the page has none."""
    for node in page.components(name):
        given = unpack(node.proto.bytes)
        if "weights" not in given.fields:  # these go to the browser by themselves
            return node, given
    return None


def _says(name: str, value: Any) -> Callable[[Mapping[str, Any]], bool]:
    return lambda fields: bool(fields[name] == value)


def _frame(random: Random, frames: int, told: Mapping[str, Any]) -> Told:
    frame = random.choice([at for at in range(frames) if at != told["frame"]])
    return "frame", frame, _says("frame", frame)


def _routing(random: Random, given: Message) -> Told:
    told, lower = given.fields, math.prod(given.fields["grid"])
    match random.randrange(5):
        case 0:
            capsule = random.choice([at for at in range(lower) if at != told["capsule"]])
            return "capsule", capsule, _says("capsule", capsule)
        case 1:
            look = {
                **told["looked"],
                "zoom": random.choice([at for at in range(-3, 4) if at != told["looked"]["zoom"]]),
            }
            return "look", look, lambda fields: fields["looked"]["zoom"] == look["zoom"]
        case 2:
            rounds = random.choice([at for at in range(1, told["most"] + 1) if at != told["rounds"]])
            return "rounds", rounds, _says("rounds", rounds)
        case 3 if told["able"]:
            capsules = random.sample(range(lower), 5)
            kind = random.choice(("mute", "boost", "only"))
            return kind, capsules, lambda fields: fields["touched"] != told["touched"]
        case _:
            return _frame(random, told["rounds"] * 3, told)


def _maps(random: Random, given: Message) -> Told:
    rows, columns, types = given.fields["grid"]
    if random.random() < 0.5 and given.fields["frames"] and len(given.fields["frames"]) > 1:
        return _frame(random, len(given.fields["frames"]), given.fields)
    capsule = random.choice([at for at in range(rows * columns * types) if at != given.fields["capsule"]])
    return "capsule", capsule, _says("capsule", capsule)


def _toy(random: Random, given: Message) -> Told:
    votes = [[list(vote) for vote in capsule] for capsule in given.fields["votes"]]
    votes[random.randrange(len(votes))][random.randrange(2)] = [round(random.uniform(-1, 1), 2) for _ in range(2)]
    return "votes", votes, _says("votes", votes)


def _squash(random: Random, given: Message) -> Told:
    vector = [round(random.uniform(0, given.fields["longest"]), 2), random.randint(-179, 180)]
    return "vector", vector, _says("vector", vector)


def _margin(random: Random, given: Message) -> Told:
    if random.random() < 0.5:
        margins = [round(random.uniform(0, 1), 2) for _ in range(3)]
        return "margins", margins, _says("margins", margins)
    moved = [[random.randrange(len(given.fields["classes"])), round(random.uniform(0, 1), 2)]]
    return "lengths", moved, _says("moved", moved)


def _decoder(random: Random, given: Message) -> Told:
    state = given.fields["state"]
    offsets = list(state["offsets"])
    reach = given.fields["reach"]
    offsets[random.randrange(len(offsets))] = round(random.uniform(-reach, reach), 2)
    left = {**state, "offsets": offsets}
    return "left", left, lambda fields: fields["state"]["offsets"] == offsets


def _mixture(random: Random, given: Message) -> Told:
    state, presets = given.fields["state"], {each["name"]: each for each in given.fields["presets"]}
    points = [list(point) for point in state["points"] or presets[state["preset"]]["points"]]
    points[random.randrange(len(points))][:2] = [round(random.uniform(-0.9, 0.9), 2) for _ in range(2)]
    left = {**state, "points": points}
    return "left", left, lambda fields: fields["state"]["points"] == points


def _sweep(random: Random, given: Message) -> Told:
    fields = given.fields
    at = -1 if fields["frame"] is None else fields["frame"]
    amount = random.choice([each for each in fields["amounts"] if each != fields["amounts"][at]])
    return "amount", amount, lambda said: said["amounts"][-1 if said["frame"] is None else said["frame"]] == amount


BOARDS: Mapping[str, Callable[[Random, Message], Told]] = {
    "routing-board": _routing,
    "capsule-maps": _maps,
    "toy": _toy,
    "squash": _squash,
    "margin-loss": _margin,
    "live-decoder": _decoder,
    "mixture": _mixture,
    "sweep": _sweep,
}
"""By the bundle of a board: something that a hand does on it."""
