"""What visitors and browsers say: tours, links, the messages of boards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, quote

import torch
from hypothesis import strategies as st

from app.components import drawing_pad, keys, routing_board, routing_toy
from app.components.hosting import said_in
from app.sources import linked_picture
from app.state import session
from app.state.choices import DECLARED, Catalogue, Choices
from app.tours import store
from app.tours import tour as tours
from capsviz.boards.checks import is_one_of
from capsviz.tracing.intervention import Intervention
from tests.fuzz import damage

CATALOGUE = Catalogue("digits-dr", {"digits-dr": 10, "digits-em": 10}, ("digits", "mnist"), {"old": "digits-em"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=12,
)
"""Whatever a browser may send."""


def tour_files(folder: Path) -> tuple[st.SearchStrategy[object], Callable[[object], object]]:
    """Tours in files, and in links."""
    whole = [Path(store.__file__).with_name(f"{name}.toml").read_bytes() for name in store.SHIPPED]
    packed = [found for name in store.SHIPPED if (found := store.packed(store.find(name)))]
    packed.append(str(store.packed(tours.Tour("a", (tours.TourStep("b", "dynamic"),)))))

    def make(seed: int) -> object:
        random = Random(seed)
        if random.randrange(4) == 0:
            return damage.of_bytes(random.choice(packed).encode(), random).decode("latin-1")
        if random.randrange(3) == 0:
            return damage.of_json(tours.to_mapping(tours.read(random.choice(whole).decode())), random)
        return damage.of_bytes(random.choice(whole), random)

    def read(given: object) -> None:
        if isinstance(given, str):
            store.find(given)
        elif isinstance(given, bytes):
            (folder / "mine.toml").write_bytes(given)
            assert tours.read(tours.write(store._read(folder / "mine.toml"))).steps
        elif isinstance(given, dict):
            tours.of_mapping(given)

    return st.integers(0, 2**62).map(make), read


def links(folder: Path) -> tuple[st.SearchStrategy[object], Callable[[object], object]]:
    """Addresses of the app, whole choices with damage to them, and values of any text."""
    picture = linked_picture.written(torch.arange(784).remainder(251).byte().view(1, 28, 28))

    def make(seed: int, texts: dict[str, str]) -> object:
        random = Random(seed)
        found = Choices("digits-dr")
        query = {"picture": picture, "model": "digits-dr"}
        for declared in list(DECLARED.values())[1:]:
            if random.random() < 0.4:
                query[declared.key] = declared.codec.write(declared.codec.draw(random, found, CATALOGUE))
        for key in random.sample(list(query), k=min(len(query), 3)):
            query[key] = damage.of_bytes(query[key].encode(), random).decode("latin-1")
        return {**query, **texts}

    def read(given: object) -> None:
        assert isinstance(given, dict)
        given = dict(
            parse_qsl("&".join(f"{quote(k, errors='ignore')}={quote(v, errors='ignore')}" for k, v in given.items()))
        )
        choices, notices = session.parse(given, CATALOGUE)
        assert all(isinstance(notice, str) for notice in notices)
        again, said = session.parse(session.to_query(choices), CATALOGUE)
        assert (again, said) == (choices, ()), "a link does not reproduce its choices"

    texts = st.dictionaries(st.sampled_from([each.key for each in DECLARED.values()]), st.text(max_size=40), max_size=4)
    return st.builds(make, st.integers(0, 2**62), texts), read


def messages(folder: Path) -> tuple[st.SearchStrategy[object], Callable[[object], object]]:
    """What boards, keys and the drawing pad send: whatever JSON can say, below the names that they know."""
    named = st.dictionaries(st.sampled_from(routing_board.ACTIONS), JSON, min_size=1, max_size=1)
    look = st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("turned", "zoom", "bare", "absolute", "listed"), JSON)
    ).map(lambda said: {"look": said})
    votes = st.lists(
        st.lists(
            st.lists(st.floats() | st.integers(-(10**400), 10**400), min_size=2, max_size=2), min_size=2, max_size=2
        ),
        max_size=7,
    )
    drawing = st.fixed_dictionaries({"png": JSON})
    state = st.dictionaries(
        st.sampled_from(("capsule", "left", "commands", "screen")), JSON | st.lists(JSON, max_size=2)
    )

    def read(given: object) -> None:
        changes = routing_board.changes(given, range(1152), 10, Intervention())
        if changes:
            choices = session.changed(Choices("digits-dr"), **changes)
            assert session.parse(session.to_query(choices), CATALOGUE) == (choices, ())
        routing_toy.received_votes(given)
        keys.received(given, 0)
        is_one_of(given, 10)
        said_in(given, "left", "a view")
        drawing_pad.received(given)

    return JSON | named | look | votes | drawing | state, read
