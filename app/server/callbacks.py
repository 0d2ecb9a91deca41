"""What a visitor does reaches its callback, and the callback comes to its end, whatever the browser sends meanwhile."""

from __future__ import annotations

import functools
import json
import logging
import threading
from typing import Any

import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType
from streamlit.runtime.state.safe_session_state import SafeSessionState

_log = logging.getLogger(__name__)
_BEGUN, _DRAWN = "page-begun", "page-drawn"
"""The page that runs have come to, and whether all of it is drawn: a run of it may have been ended on the way."""
_thread = threading.local()
_coalesce: Any = getattr(script_requests, "_coalesce_widget_states", None)
_take_in = SafeSessionState.on_script_will_rerun
_NEEDED = ("_lock", "_state", "_rerun_data", "_request_rerun_locked", "on_scriptrunner_yield", "request_rerun_batch")
"""What of Streamlit's own is touched here, and another version of it may call otherwise."""


@functools.wraps(_take_in)
def _whole(state: SafeSessionState, *args: Any, **options: Any) -> None:
    context = get_script_run_ctx()
    requests = context.script_requests if context else None
    if context is None or requests is None:
        return _take_in(state, *args, **options)

    def go_on(rerun_batch: list[RerunData]) -> bool:
        """Whether to end this run for those of the callbacks; a page that is only about to be drawn goes on instead."""
        begun = st.session_state.get(_BEGUN)
        with requests._lock:
            if overtaken() or (whole and not drawn) or begun not in (None, context.page_script_hash):
                return True
            st.session_state[_DRAWN] = drawn and all(each.fragment_id_queue for each in rerun_batch)
            return all(requests._request_rerun_locked(each) for each in rerun_batch)

    requests.on_scriptrunner_yield = lambda: None  # type: ignore[method-assign]  # every place that looks asks this
    requests.request_rerun_batch = go_on  # type: ignore[method-assign]
    _thread.takes_in = True
    try:
        whole, drawn = not context.fragment_ids_this_run, st.session_state.get(_DRAWN, True)
        st.session_state[_DRAWN] = drawn and not whole
        _take_in(state, *args, **options)
    finally:
        del requests.on_scriptrunner_yield, requests.request_rerun_batch
        _thread.takes_in = False


def _joined(old: WidgetStates | None, new: WidgetStates | None) -> WidgetStates | None:
    """What two messages say as one: of a component that told something in both, what the newer one does not tell anew.

    Streamlit lets the newer one stand for all that was told.
    """
    joined = _coalesce(old, new)
    before = {each.id: _told(each) for each in old.widgets} if old else {}
    for each in joined.widgets if joined else ():
        events = {one.get("event") for one in _told(each)}
        if events and (earlier := [one for one in before.get(each.id, []) if one.get("event") not in events]):
            each.json_trigger_value = json.dumps([*earlier, *_told(each)])
    return joined


def _told(state: WidgetState) -> list[dict[str, Any]]:
    """The events of a component that a message has, each with its value."""
    try:
        said = json.loads(state.json_trigger_value or "[]")
    except ValueError:
        return []
    return [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, dict)]


def takes_in() -> bool:
    """Whether this is called from a callback, before the script runs."""
    return getattr(_thread, "takes_in", False)


def begin() -> bool:
    """To be called once a run has opened its page: no callback of the page before comes any more.

    Before that, a run at an address that a browser has come to does not know its page by the name that messages have.
    Returns whether another page is open than in the run before.
    """
    context = get_script_run_ctx()
    if context is None or st.session_state.get(_BEGUN) == context.page_script_hash:
        return False
    st.session_state[_BEGUN] = context.page_script_hash
    return True


def end() -> None:
    """To be called at the end of a run: all of the page is drawn, and its fragments may run alone."""
    st.session_state[_DRAWN] = True


def goes_back() -> bool:
    """Whether Back or Forward has led to this run."""
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))


def overtaken() -> bool:
    """Whether another page, or Back, has been asked for since what is taken in: what that changes is left behind.

    Back may have come behind it as one message.
    """
    if takes_in() and goes_back():
        return True
    context = get_script_run_ctx()
    requests = context.script_requests if context else None
    if context is None or requests is None or getattr(requests, "_state", None) is not ScriptRequestType.RERUN:
        return False
    asked = requests._rerun_data
    return asked.is_history_navigation or asked.page_script_hash not in ("", context.page_script_hash)


def install() -> None:
    """Have Streamlit take in a message whole: what it says of widgets, and their callbacks.

    Streamlit looks for a newer message wherever the session's state or the page is touched, and ends the run for it,
    also before and within callbacks. A button is pressed and a board told once: of two messages that follow each other
    within milliseconds, as a key and the place where a player comes to rest, the first was lost, or half of it. Now the
    newer one waits until the callbacks are done, in the same run: with `fastReruns`, which app/.streamlit/config.toml
    turns off, another would begin beside it.

    Two messages that come while a run is under way become one, and of what a board told in both only the newer was
    left: a capsule that was chosen right before the cloud was turned. Now the callbacks get both.

    Streamlit takes the `st.rerun` of a callback for newer than what has come meanwhile, and of two pages that are asked
    for the newer one: Back, right behind something that a board told, led nowhere. Where both came as one message, only
    fragments of the page before ran again, and the next page stayed empty. Now a page that is asked for comes. So does
    the rest of one whose run was ended on the way, by a link and what a board told just before.

    Where Streamlit is another inside than this was written for, it is left as it is, and the log says so.
    """
    requests = ScriptRequests()
    missing = [name for name in _NEEDED if not hasattr(requests, name)]
    if missing := missing + ["_coalesce_widget_states"] * (_coalesce is None):
        _log.warning(
            "Streamlit %s has no %s: two actions within milliseconds may lose one of them; install the version that "
            "requirements.lock names.",
            st.__version__,
            " and no ".join(missing),
        )
        return
    SafeSessionState.on_script_will_rerun = _whole  # type: ignore[method-assign, assignment]
    script_requests._coalesce_widget_states = _joined  # type: ignore[assignment]
