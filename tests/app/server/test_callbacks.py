"""No action is lost to another that follows it at once: Streamlit's own way with messages, and ours."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType
from streamlit.runtime.state.safe_session_state import SafeSessionState

from app.benchmarks.load.actions import presenting
from app.benchmarks.load.boards import BOARDS, board
from app.benchmarks.load.visitor import Visitor
from app.page.navigation import PAGES
from app.server import callbacks
from capsviz.routing.dynamic import DYNAMIC
from tests.known import known

MODEL = "model=digits-dr"


def test_another_streamlit_is_left_as_it_is_and_the_log_says_so(monkeypatch, caplog):
    own = SafeSessionState.on_script_will_rerun
    monkeypatch.delattr(ScriptRequests, "request_rerun_batch")
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", callbacks._take_in)
    callbacks.install()
    assert SafeSessionState.on_script_will_rerun is callbacks._take_in
    assert "has no request_rerun_batch" in caplog.text
    monkeypatch.undo()
    callbacks.install()
    assert SafeSessionState.on_script_will_rerun is callbacks._whole
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", own)


class State:
    """What a message is taken into: its callback reads and writes, and looks for a newer message each time."""

    def __init__(self) -> None:
        self.safe: Any = None
        self.done: list[str] = []

    def on_script_will_rerun(self, *_: Any, **__: Any) -> None:
        self.done.append("begun")
        self.safe["choice"] = 1
        self.done.append("done")

    def __setitem__(self, name: str, value: object) -> None:
        self.done.append(name)


@pytest.fixture
def waiting(monkeypatch) -> tuple[State, ScriptRequests]:
    """A message that is to be taken in while a newer one waits."""
    requests, state = ScriptRequests(), State()

    def look() -> None:
        found = requests.on_scriptrunner_yield()
        if found is not None:
            raise RerunException(found.rerun_data)

    state.safe = SafeSessionState(state, look)  # type: ignore[arg-type]
    context = SimpleNamespace(script_requests=requests, page_script_hash="open", fragment_ids_this_run=None)
    monkeypatch.setattr(callbacks, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr("streamlit.session_state", {})
    requests.request_rerun(RerunData(query_string="newer", page_script_hash="open"))
    return state, requests


def test_streamlit_ends_a_message_for_a_newer_one(waiting):
    state, _ = waiting
    with pytest.raises(RerunException):
        callbacks._take_in(state.safe, None)
    assert state.done == []


def test_a_message_is_taken_in_whole_and_the_newer_one_comes_next(waiting):
    state, requests = waiting
    callbacks._whole(state.safe, None)
    assert state.done == ["begun", "choice", "done"]
    found = requests.on_scriptrunner_yield()
    assert (found.type, found.rerun_data.query_string) == (ScriptRequestType.RERUN, "newer")


def test_a_callback_that_fails_leaves_streamlit_as_it_was(waiting):
    state, requests = waiting
    state.on_script_will_rerun = lambda *_, **__: 1 / 0
    with pytest.raises(ZeroDivisionError):
        callbacks._whole(state.safe, None)
    assert requests.on_scriptrunner_yield().type is ScriptRequestType.RERUN


@pytest.mark.parametrize(("asked", "next_query"), [("open", "of the callback"), ("another", "newer")])
def test_a_page_that_was_asked_for_meanwhile_is_newer_than_what_a_callback_runs_again(waiting, asked, next_query):
    state, requests = waiting
    requests.request_rerun(RerunData(query_string="newer", page_script_hash=asked))
    again = RerunData(query_string="of the callback", page_script_hash="open", is_fragment_scoped_rerun=True)
    state.on_script_will_rerun = lambda *_, **__: requests.request_rerun_batch([again])
    callbacks._whole(state.safe, None)
    found = requests.on_scriptrunner_yield().rerun_data
    assert (found.page_script_hash, found.query_string) == (asked, next_query)


@pytest.mark.parametrize(("begun", "goes_on"), [("open", "again"), ("another", "newer")])
def test_a_page_is_drawn_whole_whatever_was_told_on_the_one_before(waiting, monkeypatch, begun, goes_on):
    state, requests = waiting
    monkeypatch.setattr("streamlit.session_state", {callbacks._BEGUN: begun})
    again = RerunData(query_string="again", page_script_hash="open", fragment_id_queue=["board"])
    state.on_script_will_rerun = lambda *_, **__: requests.request_rerun_batch([again])
    callbacks._whole(state.safe, None)
    assert requests.on_scriptrunner_yield().rerun_data.query_string == goes_on


@pytest.mark.parametrize(("ended", "goes_on"), [(False, "newer"), (True, "again")])
def test_a_page_whose_run_was_ended_on_the_way_is_drawn_whole(waiting, ended, goes_on):
    """A line of the player, told while an image is drawn, and a link, behind which the two come as one message."""
    state, requests = waiting
    callbacks._whole(state.safe, None)  # the image; what is drawn of it ends for the newer message
    if ended:
        callbacks.end()
    again = RerunData(query_string="again", page_script_hash="open", fragment_id_queue=["board"])
    state.on_script_will_rerun = lambda *_, **__: requests.request_rerun_batch([again])
    callbacks._whole(state.safe, None)
    assert requests.on_scriptrunner_yield().rerun_data.query_string == goes_on


@pytest.mark.timeout(400)
def test_back_behind_what_a_board_tells_leads_back(address: str):
    assert asyncio.run(_gone_back(address)) == []


async def _gone_back(address: str) -> list[str]:
    """Where a visitor is who goes back right behind a frame, and is not back."""
    random, visitor, lost = Random(3), Visitor(address), []
    await visitor.open("compare", MODEL)
    assert await visitor.until(lambda: visitor.page.component("address") is not None, time.perf_counter())
    for wait in (0, 0.001, 0.002, 0.003, 0.005, 0.01) * 2:
        since, name = time.perf_counter(), DYNAMIC.page
        await visitor.follow(next(script for script, page in visitor.page.pages.items() if page == name), MODEL)
        assert await visitor.until(lambda: board(visitor.page, "routing-board") is not None, since)
        node, given = known(board(visitor.page, "routing-board"))
        frame = random.choice([each for each in range(9) if each != given.fields["frame"]])
        since = time.perf_counter()
        await visitor.tell(node, "frame", [frame])
        await asyncio.sleep(wait)
        await visitor.back()
        wanted, _ = visitor.history[-1]  # the page before the frame, where the browser has heard of the frame by now

        def shown(wanted: str = wanted) -> bool:
            said = visitor.page.data("address")
            there = visitor.page.pages[visitor.page.script] == wanted and visitor.page.component("address") is not None
            return there and said == visitor.page.choices and said.keys() <= {"model", "frame"}

        if await visitor.until(shown, since) is None:
            lost.append(f"{wait} s behind: {visitor.page.pages[visitor.page.script]}, {visitor.page.choices}")
            break
        if wanted == name:
            await visitor.back()
    await visitor.leave()
    return lost


@pytest.mark.timeout(400)
def test_back_behind_what_a_board_tells_while_a_page_is_drawn_takes_that_back(address: str):
    assert asyncio.run(_taken_back(address)) == []


async def _taken_back(address: str) -> list[str]:
    """Where a visitor is, and is not back, who chooses a capsule while another image is drawn, and goes back."""
    visitor, lost = Visitor(address), []
    await visitor.open(DYNAMIC.page, MODEL)
    assert await visitor.until(lambda: board(visitor.page, "routing-board") is not None, time.perf_counter())
    for wait in (0, 0.005, 0.02, 0.05):
        node, _ = known(board(visitor.page, "routing-board"))
        await visitor.follow(visitor.page.script, f"{MODEL}&image=2")
        while visitor.page.data("address").get("image") != "2":  # then what is below it is being drawn
            await asyncio.sleep(0.01)
        await visitor.tell(node, "capsule", [3])
        await asyncio.sleep(wait)
        since = time.perf_counter()
        await visitor.back()

        def shown() -> bool:
            return visitor.page.data("address") == visitor.page.choices == {"model": "digits-dr"}

        if await visitor.until(shown, since) is None:
            lost.append(f"{wait} s behind: {visitor.page.data('address')}, {visitor.page.choices}")
    await visitor.leave()
    return lost


@pytest.mark.timeout(400)
@pytest.mark.parametrize("page", ["", "start"])
def test_what_a_board_tells_first_reaches_every_link(address: str, page: str):
    assert asyncio.run(_told_first(address, page))


async def _told_first(address: str, page: str) -> bool:
    """Whether every link of a page says what its board tells, before the visitor has done anything else."""
    visitor = Visitor(address)
    await visitor.open(page, "")
    assert await visitor.until(lambda: visitor.page.component("toy") is not None, time.perf_counter())
    node, given = known(board(visitor.page, "toy"))
    (what, votes, _), since = BOARDS["toy"](Random(3), given), time.perf_counter()
    await visitor.tell(node, what, [votes])

    def shown() -> bool:
        links = [parse_qs(node.proto.query_string).get("toy") for node in visitor.page.all("page_link")]
        return len(links) > len(PAGES) and all(links) and visitor.page.data("address") == visitor.page.choices

    told = await visitor.until(shown, since)
    await visitor.leave()
    return told is not None and visitor.page.fragments != ()  # else the page was run anew, to mend what differed


@pytest.mark.timeout(400)
def test_a_slider_and_a_key_within_milliseconds_both_count(address: str):
    assert asyncio.run(_hurried(address)) == []


async def _hurried(address: str) -> list[str]:
    """What of a visitor is lost who lets go of a slider and presses a key at once, again and again."""
    random, visitor, lost = Random(3), Visitor(address), []
    await visitor.open("perturb", "model=digits-dr")
    assert await visitor.until(lambda: board(visitor.page, "live-decoder") is not None, time.perf_counter())
    for wait in (0, 0.002, 0.01, 0.03) * 3:
        node, given = known(board(visitor.page, "live-decoder"))
        what, value, said = BOARDS["live-decoder"](random, given)
        key, since = presenting(visitor), time.perf_counter()
        await visitor.tell(node, what, [value])
        await asyncio.sleep(wait)
        await key.do(visitor)

        def shown(said: Callable[[Any], bool] = said, key: Any = key) -> bool:
            now = board(visitor.page, "live-decoder")
            return now is not None and said(now[1].fields) and key.shown(visitor)

        if await visitor.until(shown, since) is None:
            lost.append(f"{what} or the key {wait} s after it")
    await visitor.leave()
    return lost


def told(*events: tuple[str, Any], of: str = "board") -> WidgetStates:
    """A message in which a component tells this."""
    said = [{"event": event, "value": [value]} for event, value in events]
    return WidgetStates(
        widgets=[WidgetState(id=of, json_trigger_value=json.dumps(said[0] if len(said) == 1 else said))]
    )


def test_of_two_messages_in_one_each_event_that_was_told_is_left_and_the_newer_of_its_kind():
    callbacks.install()
    requests, earlier = ScriptRequests(), told(("capsule", 3), ("frame", 1))
    earlier.widgets.append(WidgetState(id="other", json_trigger_value='{"event": "frame", "value": [9]}'))
    earlier.widgets.append(WidgetState(id="slider", int_value=1))
    newer = told(("frame", 2))
    newer.widgets.append(WidgetState(id="slider", int_value=2))
    for states in (earlier, newer, told(("look", {}))):
        requests.request_rerun(RerunData(widget_states=states))
    found = {each.id: each for each in requests.on_scriptrunner_ready().rerun_data.widget_states.widgets}
    assert json.loads(found["board"].json_trigger_value) == [
        {"event": "capsule", "value": [3]}, {"event": "frame", "value": [2]}, {"event": "look", "value": [{}]},
    ]  # fmt: skip
    assert json.loads(found["other"].json_trigger_value)["value"] == [9] and "slider" not in found


@pytest.mark.timeout(400)
def test_what_a_board_tells_while_a_page_is_drawn_all_counts(address: str):
    assert asyncio.run(_told_together(address)) == []


async def _told_together(address: str) -> list[str]:
    """What of a visitor's is lost who chooses a capsule and a frame of a board while a page is drawn."""
    random, visitor, lost = Random(3), Visitor(address), []
    await visitor.open(DYNAMIC.page, MODEL)
    assert await visitor.until(lambda: board(visitor.page, "routing-board") is not None, time.perf_counter())
    for wait in (0, 0.005, 0.02, 0.05):
        node, given = known(board(visitor.page, "routing-board"))
        capsule = random.choice([each for each in range(20) if each != given.fields["capsule"]])
        frame, since = random.choice([each for each in range(4) if each != given.fields["frame"]]), time.perf_counter()
        wanted = {"capsule": capsule, "frame": frame}
        await presenting(visitor).do(visitor)
        for what, value in wanted.items():
            await asyncio.sleep(wait)
            await visitor.tell(node, what, [value])

        def shown(wanted: dict[str, int] = wanted) -> bool:
            now = board(visitor.page, "routing-board")
            return now is not None and all(now[1].fields[what] == value for what, value in wanted.items())

        if await visitor.until(shown, since) is None:
            now = board(visitor.page, "routing-board")
            lost.append(f"{wait} s apart: {wanted}, {now and {what: now[1].fields[what] for what in wanted}}")
    await visitor.leave()
    return lost
