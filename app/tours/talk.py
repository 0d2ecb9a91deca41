"""A visitor's own talk: views collected while they work, then edited; its name is in the link, so that Back undoes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from app import scene
from app.page.text import sentence
from app.page.widgets import chosen
from app.state import session
from app.state.choices import Choices
from app.tours import links, store
from app.tours import tour as tours
from app.tours.tour import LONGEST_TITLE, Tour, TourError, TourStep
from capsviz.letters import as_file

UNNAMED = "My talk"
PROBLEM = "talk-problem"
"""The matter of what was wrong with the file that was opened last."""


def own(choices: Choices) -> Tour | None:
    """The talk that the visitor collects; None where there is none yet."""
    return store.draft(choices.talk) if choices.talk else None


def full(choices: Choices) -> bool:
    """Whether the talk has as many steps as a talk may have."""
    talk = own(choices)
    return talk is not None and len(talk.steps) >= tours.MOST_STEPS


def add(page: str, title: str) -> None:
    """Add what is on screen as the last step; to be called from a callback. title: what the step is called at first."""
    choices = scene.choices()
    talk = own(choices) or Tour(UNNAMED, ())
    if not full(choices):
        step = TourStep(" ".join(title.split())[:LONGEST_TITLE], links.view_of(page, choices))
        scene.keep(talk=store.keep(replace(talk, steps=(*talk.steps, step))))


def opened(choices: Choices, name: str, content: bytes) -> None:
    """Open a file in the place of the talk; what is wrong with it is said on the page."""
    try:
        found = tours.read(content.decode("utf-8-sig"))  # some editors begin a file with a mark
        for sentence in links.problems(found):
            raise TourError(sentence)
    except (UnicodeDecodeError, TourError) as error:
        said = str(error) if isinstance(error, TourError) else "It is no text; choose the TOML file of a tour."
        session.say(PROBLEM, f"{name}: {said}")
        return
    session.update(choices, talk=store.keep(found))


def editor(choices: Choices, talk: Tour) -> None:
    """Title, order and words of the talk, step by step."""

    def field(
        kind: Callable[..., object], label: str, of: Tour | TourStep, name: str, number: int, **options: Any
    ) -> None:
        def read(text: str, choices: Choices) -> dict[str, object]:
            said: dict[str, Any] = {name: text.strip()}
            now = own(choices) or talk  # another edit may have come since the page was made
            if isinstance(of, Tour):
                return {"talk": store.keep(replace(now, **said))}
            places = [place for place, step in enumerate(now.steps, start=1) if step.view == of.view]
            if places:
                at = number if number in places else places[0]
                now = replace(now, steps=_with(now, at, replace(now.steps[at - 1], **said)))
            return {"talk": store.keep(now)}

        chosen(kind, label, "talk", getattr(of, name), key=f"talk-{name}-{number}", read=read, **options)

    field(st.text_input, "Title of the talk", talk, "title", 0)
    for number, step in enumerate(talk.steps, start=1):
        with st.container(border=True, key=f"talk-step-{number}"):
            left, right = st.columns([5, 2], vertical_alignment="bottom")
            with left:
                field(st.text_input, f"Step {number}", step, "title", number)
            with right, st.container(horizontal=True):
                _buttons(choices, talk, number)
            field(st.text_area, "Caption: Markdown, formulas between dollar signs", step, "caption", number, height=90)
            with st.container(horizontal=True, vertical_alignment="center"):
                _view(step)
            for problem in tours.step_problems(number, step):
                st.error(sentence(problem), icon=":material/edit:")


def _with(talk: Tour, number: int, step: TourStep) -> tuple[TourStep, ...]:
    return (*talk.steps[: number - 1], step, *talk.steps[number:])


def _buttons(choices: Choices, talk: Tour, number: int) -> None:
    """Up, down, out."""
    count = len(talk.steps)

    def order(places: list[int]) -> Callable[[], None]:
        def ordered() -> None:
            choices = scene.choices()
            now = own(choices) or talk  # another edit may have come since the page was made
            if len(now.steps) == count:
                steps = tuple(now.steps[place - 1] for place in places)
                session.update(choices, talk=store.keep(replace(now, steps=steps)) if places else "")

        return ordered

    def swapped(other: int) -> list[int]:
        return [{number: other, other: number}.get(place, place) for place in range(1, count + 1)]

    without = [place for place in range(1, count + 1) if place != number]
    for icon, does, act, able in (
        ("arrow_upward", "up", order(swapped(number - 1)), number > 1),
        ("arrow_downward", "down", order(swapped(number + 1)), number < count),
        ("delete", "out", order(without), True),
    ):
        label = f"Step {number}: {'take it out' if does == 'out' else f'move it {does}'}"
        st.button(
            "", icon=f":material/{icon}:", help=label, key=f"talk-{does}-{number}", on_click=act, disabled=not able
        )


def _view(step: TourStep) -> None:
    """The step's view to look at, and what of its link means nothing here."""
    try:
        page, view, notices = links.opened(step, scene.catalogue())
    except TourError as error:
        st.error(sentence(f"{error}."), icon=":material/link_off:")
        return
    query = session.to_query(replace(view, talk=scene.choices().talk))
    st.page_link(links.script_of(page), label="Look at its view", icon=":material/visibility:", query_params=query)
    st.code(step.view, language=None)
    for notice in notices:
        st.warning(sentence(notice), icon=":material/link_off:")


def take_away(choices: Choices, talk: Tour) -> None:
    """The talk as a file, and as a link where it is short enough for one."""
    problem = next(talk.problems(), "")
    st.download_button(
        "Save as a file",
        lambda: tours.write(talk),
        f"{as_file(talk.title) or 'talk'}.toml",
        "application/toml",
        icon=":material/download:",
        key="talk-file",
        on_click="ignore",
        disabled=bool(problem),
        help="TOML: edit it with any editor, open it here again, or give it to `capsviz app --tour`.",
    )
    if problem:
        st.caption(sentence(problem))
        return
    name = store.packed(talk)
    if name is None:
        st.caption("The talk is too long for a link: hand over its file.")
        return
    address = (st.context.url or "").split("?")[0]
    st.caption("The whole talk as a link:")
    st.code(f"{address}?{urlencode({'model': choices.model, 'talk': name})}", language=None)
