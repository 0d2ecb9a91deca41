"""What a run of the script asks of files: once in that run, and anew in the next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.shared.caching import MOST_OWN, of_zoo, once_a_run


def test_outside_of_a_run_every_look_is_taken():
    looks = []
    look = once_a_run(lambda of: looks.append(of))
    look("a")
    look("a")
    assert looks == ["a", "a"]


def _asks_thrice() -> None:
    import streamlit as st

    from tests.app.shared.test_caching import look

    st.write([look("a"), look("b"), look("a")])


COUNT = {"a": 0, "b": 0}


@once_a_run
def look(of: str) -> int:
    COUNT[of] += 1
    return COUNT[of]


def test_within_a_run_a_look_is_taken_once_and_in_the_next_anew():
    COUNT.update(a=0, b=0)
    app = AppTest.from_function(_asks_thrice)
    assert app.run().json[0].value == "[1, 1, 1]"
    assert app.run().json[0].value == "[2, 2, 2]"


def _asks_of_an_own_trace(often: int) -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import streamlit as st

    from app.shared import own_traces
    from tests.app.shared.test_caching import answers, asked

    st.session_state[own_traces._PLACE] = {"mine": own_traces.OwnTrace(Path("mine.safetensors"), TemporaryDirectory())}
    asked.clear()
    for number in [*range(often), often - 1, 0]:
        answers("mine.safetensors", number)
    st.write(asked)


asked: list[int] = []


@of_zoo(most=32)
def answers(file: str, number: int) -> None:
    asked.append(number)


def test_of_what_a_visitor_brought_few_answers_are_kept():
    app = AppTest.from_function(_asks_of_an_own_trace, args=(MOST_OWN + 1,))
    assert app.run().json[0].value == str([*range(MOST_OWN + 1), 0])
    answers.clear()


MOST = 40
"""Looks at files in a run of the script: it was six hundred, each of which lets the other visitors go first."""


@pytest.mark.parametrize("page", ["dynamic", "em", "discriminative", "perturb", "compare", "basics", "viewpoint"])
def test_a_page_that_has_been_there_looks_at_few_files(visit, monkeypatch, page):
    app = visit(page)
    looks = []

    def noting(function):
        def noted(path, *rest, **named):
            looks.append(path)
            return function(path, *rest, **named)

        return noted

    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    app.run()
    monkeypatch.undo()
    assert not app.exception
    ours = [str(path) for path in looks if not isinstance(path, int)]
    assert len(ours) < MOST, sorted(map(Path, ours))
