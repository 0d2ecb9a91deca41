"""What a visitor does reaches its callback, and the callback comes to its end, whatever the browser sends meanwhile."""

from __future__ import annotations

import functools
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.safe_session_state import SafeSessionState

_take_in = SafeSessionState.on_script_will_rerun


@functools.wraps(_take_in)
def _whole(state: SafeSessionState, *args: Any, **options: Any) -> None:
    context = get_script_run_ctx()
    requests = context.script_requests if context else None
    if requests is None:
        return _take_in(state, *args, **options)
    requests.on_scriptrunner_yield = lambda: None  # type: ignore[method-assign]  # every place that looks asks this
    try:
        _take_in(state, *args, **options)
    finally:
        del requests.on_scriptrunner_yield


def install() -> None:
    """Have Streamlit take in a message whole: what it says of widgets, and their callbacks.

    Streamlit looks for a newer message wherever the session's state or the page is touched, and ends the run for it,
    also before and within callbacks. A button is pressed and a board told once: of two messages that follow each other
    within milliseconds, as a key and the place where a player comes to rest, the first was lost, or half of it. Now the
    newer one waits until the callbacks are done, in the same run: with `fastReruns`, which app/.streamlit/config.toml
    turns off, another would begin beside it.
    """
    SafeSessionState.on_script_will_rerun = _whole  # type: ignore[method-assign, assignment]
