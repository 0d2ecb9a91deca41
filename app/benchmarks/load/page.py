"""What a browser knows of a page that Streamlit serves: its elements by their places, and what its widgets show."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
"""How a run ends that no other one follows."""


class Node(NamedTuple):
    """An element or a container at its place."""

    kind: str
    proto: Any
    script: str
    """The hash of the script that made it: that of all pages, or that of one."""
    fragment: str
    run: str


class Widget(NamedTuple):
    """How a kind of widget says what it shows, and takes what is picked."""

    shown: Callable[[Any], Any]
    write: Callable[[WidgetState, Any], None]


def _one(proto: Any) -> str | None:
    """What a picker of one option shows."""
    if proto.set_value:
        return proto.raw_value if proto.HasField("raw_value") else None
    return proto.options[proto.default] if proto.HasField("default") else None


def _group(proto: Any) -> list[str]:
    return list(proto.raw_values) if proto.set_value else [proto.options[at].content for at in proto.default]


def _slider(proto: Any) -> list[Any]:
    if proto.options:
        return list(proto.raw_value) if proto.set_value else [proto.options[int(at)] for at in proto.default]
    return list(proto.value if proto.set_value else proto.default)


def _write_slider(state: WidgetState, value: list[Any]) -> None:
    if value and isinstance(value[0], str):
        state.string_array_value.data[:] = value
    else:
        state.double_array_value.data[:] = value


def _simple(field: str) -> Widget:
    """A widget whose message has its value as it is."""

    def shown(proto: Any) -> Any:
        return proto.value if proto.set_value else proto.default

    return Widget(shown, lambda state, value: setattr(state, field, value))


def _array(state: WidgetState, value: list[str]) -> None:
    state.string_array_value.data[:] = value


KINDS: Mapping[str, Widget] = {
    "button_group": Widget(_group, _array),
    "radio": Widget(_one, lambda state, value: setattr(state, "string_value", value)),
    "selectbox": Widget(_one, lambda state, value: setattr(state, "string_value", value)),
    "slider": Widget(_slider, _write_slider),
    "checkbox": _simple("bool_value"),
    "pagination": _simple("int_value"),
    "number_input": _simple("double_value"),
    "text_input": _simple("string_value"),
    "text_area": _simple("string_value"),
}
"""The widgets that say what they show with every message. Buttons and components say only what was done to them."""


@dataclass
class Page:
    """The page as its messages made it."""

    elements: dict[tuple[int, ...], Node] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    """What each widget shows, by its id."""
    script: str = ""
    main: str = ""
    run: str = ""
    fragments: tuple[str, ...] = ()
    query: str = ""
    """The address's."""
    pages: dict[str, str] = field(default_factory=dict)
    """The names of the pages in the address, by the hash of their script."""
    running: bool = False

    def take(self, message: ForwardMsg) -> None:
        """Do what a message says."""
        match message.WhichOneof("type"):
            case "new_session":
                self.run, self.running = message.metadata.run.script_run_id, True
                self.fragments = tuple(message.metadata.run.fragment_ids)
                self.script, self.main = message.new_session.page_script_hash, message.new_session.main_script_hash
            case "navigation":
                self.script = message.navigation.page_script_hash
                self.pages = {page.page_script_hash: page.url_pathname for page in message.navigation.app_pages}
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "delta":
                self._draw(tuple(message.metadata.delta_path), message)
            case "script_finished":
                self.running = False
                if message.script_finished in DONE:
                    self._clear()

    def _draw(self, place: tuple[int, ...], message: ForwardMsg) -> None:
        delta = message.delta
        kind = "block"
        proto: Any = delta.add_block
        match delta.WhichOneof("type"):
            case "new_element":
                kind = str(delta.new_element.WhichOneof("type"))
                proto = getattr(delta.new_element, kind)
                for below in [each for each in self.elements if each[: len(place)] == place]:
                    del self.elements[below]
            case "new_transient":  # a spinner, which takes no place
                return
        self.elements[place] = Node(kind, proto, message.metadata.active_script_hash, delta.fragment_id, self.run)
        if kind in KINDS and (proto.set_value or proto.id not in self.values):
            self.values[proto.id] = KINDS[kind].shown(proto)

    def _clear(self) -> None:
        """Forget what the run that has ended did not draw again; a run of fragments speaks for these alone."""

        def stays(node: Node) -> bool:
            return node.run == self.run or bool(self.fragments and node.fragment not in self.fragments)

        self.elements = {place: node for place, node in self.elements.items() if stays(node)}
        there = {node.proto.id for node in self.elements.values() if node.kind in KINDS}
        self.values = {name: value for name, value in self.values.items() if name in there}

    def states(self, *, staying: bool = False) -> WidgetStates:
        """What the widgets show, as it goes with a message; staying: of those only that are on every page."""
        states = WidgetStates()
        for node in self.elements.values():
            if node.kind in KINDS and (node.script == self.main or not staying):
                value = self.values.get(node.proto.id)
                if value is not None:
                    KINDS[node.kind].write(states.widgets.add(id=node.proto.id), value)
        return states

    def all(self, *kinds: str) -> Iterator[Node]:
        """The elements of these kinds."""
        return (node for node in self.elements.values() if node.kind in kinds)

    def widget(self, key: str) -> Node | None:
        """The widget of a key, whichever stands in its place by now (`app.page.widgets.place`)."""
        found = (node for node in self.all(*KINDS, "button") if key_of(node.proto.id) == key)
        return next(found, None)

    def shows(self, key: str) -> Any:
        """What that widget shows; None where there is none."""
        node = self.widget(key)
        return None if node is None else self.values.get(node.proto.id)

    def components(self, name: str) -> Iterator[Node]:
        """The components of a bundle."""
        return (node for node in self.all("bidi_component") if node.proto.component_name.endswith(f"capsviz_{name}"))

    def component(self, name: str) -> Node | None:
        """The first of them."""
        return next(self.components(name), None)

    def data(self, name: str) -> dict[str, Any]:
        """What a component was given that takes JSON; empty where the page has none."""
        node = self.component(name)
        return {} if node is None else json.loads(node.proto.json)

    @property
    def choices(self) -> dict[str, str]:
        """What the address says."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


def key_of(identity: str) -> str:
    """The key that the app gave a widget, from the identity that Streamlit makes of it; "" where it gave none."""
    _, _, key = identity.removeprefix("$$ID-").partition("-")
    return "" if key == "None" else re.sub(r"-\d+$", "", key)
