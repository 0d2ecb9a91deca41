"""What a visitor may do on a page by key, click, drag and link, and what the page has to say once it is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import parse_qsl

from app.benchmarks.load.boards import BOARDS, board
from app.benchmarks.load.page import Node, Page, key_of
from app.benchmarks.load.visitor import Visitor

HOWS = ("key", "click", "drag", "link")
Link = tuple[str, str]
"""The name of a page, and a query."""
START: Link = ("start", "")


@dataclass(frozen=True)
class Action:
    """Something that a visitor does."""

    how: str
    """One of HOWS."""
    what: str
    do: Callable[[Visitor], Awaitable[None]]
    shown: Callable[[Visitor], bool]
    """Whether the page says what was asked."""


def draw(visitor: Visitor, random: Random, known: list[Link]) -> Action:
    """Something that can be done on the page as it is; known: links that one visitor may have from another."""
    for how in random.sample(HOWS, len(HOWS)):
        found = links(visitor, random, known) if how == "link" else WAYS[how](visitor, random)
        able = [action for action in found if not action.shown(visitor)]
        if able:
            return random.choice(able)
    raise AssertionError(f"nothing can be done at {visitor.history[-1]}")  # every page has its links


def keys(visitor: Visitor, random: Random) -> Iterator[Action]:
    """The keys that move something here."""
    page = visitor.page
    here = page.choices

    def command(name: str, shown: Callable[[Visitor], bool]) -> Action:
        return Action("key", name, lambda visitor: visitor.press(name), shown)

    yield presenting(visitor)
    step = random.choice((-1, 1))
    if (thumbs := page.widget("image_thumbs")) and len(thumbs.proto.options) > 1:
        at, options = page.shows("image_thumbs"), [option.content for option in thumbs.proto.options]
        place = options.index(at[0]) + step if at and at[0] in options else -1
        if 0 <= place < len(options):
            wanted = [options[place]]
            yield command(f"image{step:+d}", lambda visitor: visitor.page.shows("image_thumbs") == wanted)
        else:
            yield command(f"image{step:+d}", lambda visitor: visitor.page.choices.get("image") != here.get("image"))
    if (upper := page.widget("upper")) and (picked := page.shows("upper")):
        classes = [option.content for option in upper.proto.options]
        number = (classes.index(picked[0]) + step) % len(classes) if picked[0] in classes else 0
        yield command(f"class{step:+d}", lambda visitor: _starts(visitor.page.shows("upper"), classes[number]))
    if (rounds := page.shows("iterations")) and not page.component("routing-board"):
        wanted_rounds = [max(1.0, min(10.0, rounds[0] + step))]
        yield command(f"T{step:+d}", lambda visitor: visitor.page.shows("iterations") == wanted_rounds)
    if here.get("tour") and (said := page.data("tour")):
        wanted_step = max(1, min(said["steps"], said["step"] + step))
        yield command(f"page{step:+d}", lambda visitor: visitor.page.data("tour").get("step") == wanted_step)


def presenting(visitor: Visitor) -> Action:
    """The key of presenter mode, on or off, which every page has and no other choice depends on."""
    on = visitor.page.choices.get("present") != "1"
    return Action(
        "key",
        "present",
        lambda visitor: visitor.press("present"),
        lambda visitor: (visitor.page.data("address").get("present") == "1") is on,
    )


def _starts(shown: list[str] | None, option: str) -> bool:
    """Whether a class is picked, whatever mark of the predicted one is beside it by now."""
    return shown is not None and [_bare(each) for each in shown] == [_bare(option)]


def _bare(option: str) -> str:
    return option.removesuffix(" ◂").strip("*")


BUTTONS: dict[str, Callable[[Visitor, dict[str, str]], bool]] = {
    "random": lambda visitor, before: "image" in visitor.page.choices,
    "redraw": lambda visitor, before: visitor.page.choices.get("draw") != before.get("draw"),
    "viewpoint_reset": lambda visitor, before: "viewpoint" not in visitor.page.choices,
    "present": lambda visitor, before: visitor.page.choices.get("present") == "1",
    "add_view": lambda visitor, before: visitor.page.choices.get("talk", "") != before.get("talk", ""),
    "take_away": lambda visitor, before: visitor.page.widget("taken_key") is not None,
    "begin": lambda visitor, before: "tour" in visitor.page.choices,
    "read": lambda visitor, before: "tour" in visitor.page.choices,
}
"""By their keys the buttons that are pressed, and whether the page then says so."""


def clicks(visitor: Visitor, random: Random) -> Iterator[Action]:
    """Other options of all pickers, and buttons."""
    page, before = visitor.page, visitor.page.choices
    for node in page.all("button_group", "radio", "selectbox", "checkbox", "pagination"):
        if (key := key_of(node.proto.id)) and (picks := _others(node, page.values.get(node.proto.id))):
            yield _picked(node, key, random.choice(picks), "click")
    for node in page.all("button"):
        name, _, _ = key_of(node.proto.id).partition("-")
        if name in BUTTONS and not node.proto.disabled:
            yield _pressed(node, name, page, before)


def _pressed(node: Node, name: str, page: Page, before: dict[str, str]) -> Action:
    def shown(visitor: Visitor) -> bool:
        return visitor.page is not page or BUTTONS[name](visitor, before)

    return Action("click", name, lambda visitor: visitor.click(node), shown)


def _others(node: Node, shown: Any) -> list[Any]:
    match node.kind:
        case "button_group":
            return [[option.content] for option in node.proto.options if [option.content] != shown]
        case "checkbox":
            return [not shown]
        case "pagination":
            return [at for at in range(1, node.proto.num_pages + 1) if at != shown]
    return [option for option in node.proto.options if option != shown]


def _picked(node: Node, key: str, value: Any, how: str) -> Action:
    def shown(visitor: Visitor) -> bool:
        found = visitor.page.shows(key)
        return _starts(found, value[0]) if key == "upper" else bool(found == value)

    return Action(how, key, lambda visitor: visitor.pick(node, value), shown)


def drags(visitor: Visitor, random: Random) -> Iterator[Action]:
    """Sliders, and what is taken into the hand on a board."""
    page = visitor.page
    for node in page.all("slider"):
        if key := key_of(node.proto.id):
            yield _picked(node, key, [_slid(node, random)], "drag")
    for name, told in BOARDS.items():
        if found := board(page, name):
            node, given = found
            what, value, said = told(random, given)

            def shown(visitor: Visitor, name: str = name, said: Any = said) -> bool:
                now = board(visitor.page, name)
                return now is not None and said(now[1].fields)

            def do(visitor: Visitor, node: Node = node, what: str = what, value: Any = value) -> Awaitable[None]:
                return visitor.tell(node, what, [value])

            yield Action("drag", f"{name} {what}", do, shown)


def _slid(node: Node, random: Random) -> Any:
    if node.proto.options:
        return random.choice(node.proto.options)
    steps = round((node.proto.max - node.proto.min) / node.proto.step)
    return round(node.proto.min + random.randint(0, steps) * node.proto.step, 6)


def links(visitor: Visitor, random: Random, known: list[Link]) -> Iterator[Action]:
    """The links of the page, the way back, and a link from another visitor."""
    page = visitor.page
    for node in page.all("page_link"):
        yield _led(node.proto.page_script_hash, node.proto.query_string, page.pages)
    if len(visitor.history) > 1:
        before, left = visitor.history[-2]
        back = next((each for each, other in page.pages.items() if other == before), page.script)
        yield Action("link", "back", Visitor.back, lambda visitor: _leads(visitor, back, left))
    if known:
        name, told = random.choice(known)
        yield Action(
            "link",
            f"another's, to {name}",
            lambda visitor: visitor.anew(name, told),
            lambda visitor: visitor.page is not page and _says(visitor, told),
        )


def _led(script: str, query: str, pages: dict[str, str]) -> Action:
    return Action(
        "link",
        f"to {pages.get(script)}",
        lambda visitor: visitor.follow(script, query),
        lambda visitor: _leads(visitor, script, query),
    )


def _leads(visitor: Visitor, script: str, query: str) -> bool:
    """Whether a page is open that is drawn for the choices of a query."""
    return visitor.page.script == script and _says(visitor, query)


def _says(visitor: Visitor, query: str) -> bool:
    """Whether the page was drawn for these choices; whoever hurries has asked for presenter mode meanwhile."""
    apart = visitor.page.data("address").items() ^ dict(parse_qsl(query)).items()
    return {name for name, _ in apart} <= ({"present"} if visitor.hurried else set())


WAYS: dict[str, Callable[[Visitor, Random], Iterator[Action]]] = {"key": keys, "click": clicks, "drag": drags}
