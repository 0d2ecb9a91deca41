"""What visitors share of the zoo, remembered until the zoo is another; what a run asks of files, once in that run."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.server import callbacks
from app.shared import own_models, own_traces
from capsviz import zoo

MOST_OWN = 8
"""Answers of a kind that are kept of a visitor's own models and traces: of the largest, 70 MB each."""
P = ParamSpec("P")
R = TypeVar("R")
_run = threading.local()
_OF_PAGE = "zoo-of-page"


def once_a_run(look: Callable[P, R]) -> Callable[P, R]:
    """Have a look at files taken once for all that one run of the script asks of it, and taken anew in the next.

    A page asks hundreds of times whether the zoo or a data set is still what it was. Each look at a file lets the other
    visitors' threads go first, and waits until they let go.
    """

    @wraps(look)
    def known(*args: P.args, **kwargs: P.kwargs) -> R:
        context = get_script_run_ctx(suppress_warning=True)
        if context is None:
            return look(*args, **kwargs)
        if getattr(_run, "cursors", None) is not context.cursors:  # every run begins with others
            _run.cursors, _run.answers = context.cursors, {}
        answers: dict[Any, R] = _run.answers
        asked = (look, args, tuple(kwargs.items()))
        if asked not in answers:
            answers[asked] = look(*args, **kwargs)
        return answers[asked]

    return known


version = once_a_run(zoo.version)
"""The zoo that a run of the script is about, callbacks included: as it was when it was first asked for."""


def begin_page() -> None:
    """Draw the whole page anew where a part of it would be of another zoo than the rest.

    Not amid a callback: what the visitor did is kept first, and the part is drawn after it.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not context.fragment_ids_this_run:
        st.session_state[_OF_PAGE] = version()
    elif not callbacks.takes_in() and st.session_state.get(_OF_PAGE) != version():
        st.rerun()


class OfZoo(Generic[P, R]):
    """A function whose answers are kept as `st.cache_resource` keeps them, those of an earlier zoo aside.

    Answers that concern a model or a trace which a visitor dropped are kept in that visitor's session, and nobody else
    meets them.
    """

    def __init__(self, compute: Callable[P, R], spinner: str, most: int) -> None:
        def remembered(known: tuple[str | int, ...], own: tuple[str, ...], *arguments: object) -> R:
            return compute(*arguments)  # type: ignore[call-arg, arg-type]  # those that __call__ was given

        # Streamlit tells functions apart by these.
        remembered.__module__, remembered.__qualname__ = compute.__module__, compute.__qualname__
        self.__doc__ = compute.__doc__
        self._signature = inspect.signature(compute)
        keep = partial(st.cache_resource, show_spinner=spinner or False)
        self._cached = keep(scope="global", max_entries=most)(remembered)
        self._of_session = keep(scope="session", max_entries=min(most, MOST_OWN))(remembered)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The answer, computed where it is not known of the zoo as it is now."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        own = own_models.concerning(given.args) + own_traces.concerning(given.args)
        return (self._of_session if own else self._cached)(version(), own, *given.args)

    def clear(self) -> None:
        """Forget all answers."""
        self._cached.clear()


def of_zoo(*, spinner: str = "", most: int) -> Callable[[Callable[P, R]], OfZoo[P, R]]:
    """A decorator: keep the latest `most` answers of a function that depends on the models of pretrained/.

    A model added, replaced or withdrawn while the app runs is met at the next action, and nothing that was computed
    with an earlier one is shown with it. spinner: what is said while it computes.
    """
    return lambda compute: OfZoo(compute, spinner, most)
