"""A slice of `capsviz benchmark load`: visitors act at random, none sees an exception, nothing they ask for is lost."""

from __future__ import annotations

import asyncio
import time

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.PageInfo_pb2 import PageInfo

from app.benchmarks.load import measure, report
from app.benchmarks.load.actions import HOWS
from app.benchmarks.load.page import Page, key_of
from app.benchmarks.load.visitor import Visitor
from app.benchmarks.serving import serving
from app.page.text import sentence
from app.server.failures import SENTENCE

SOON = [
    (name, "model=digits-dr") for name in ("dynamic", "em", "perturb", "basics", "mixtures", "viewpoint", "training")
]


def test_visitors_who_act_at_random_meet_no_exception_and_lose_nothing(tmp_path):
    seen = measure.Outcome()

    async def visit(address: str) -> None:
        there = await measure.crowd(address, 1, visitors=3, actions=30, pause=0, seen=seen, known=[*SOON], haste=3)
        for visitor in there:
            await visitor.leave()

    with serving("app/main.py", tmp_path, CAPSVIZ_DATA=str(tmp_path)) as server:
        asyncio.run(visit(server.address))
        assert server.memory() > 2**27
    assert (seen.boxes, seen.lost) == ([], [])
    assert "Traceback" not in server.log.read_text()
    assert len(seen.answers) == 30 and all(seen.times[how] for how in HOWS)


def test_a_button_that_leads_to_another_page_is_followed_there(address: str):
    async def visit() -> str:
        visitor = await measure.arrive(address, ("tours", "model=digits-dr"))
        [first, *_] = [node for node in visitor.page.all("button") if key_of(node.proto.id).startswith("begin-")]
        since = time.perf_counter()
        await visitor.click(first)
        await visitor.until(lambda: "tour" in visitor.page.choices, since)
        await visitor.leave()
        return visitor.page.choices.get("tour", "")

    assert asyncio.run(visit())


def element(place: list[int], **of: object) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path[:] = place
    kind, fields = next(iter(of.items()))
    made = getattr(message.delta.new_element, kind)
    made.SetInParent()
    for name, value in dict(fields).items():  # type: ignore[call-overload]
        getattr(made, name).extend(value) if isinstance(value, list) else setattr(made, name, value)
    return message


def begun(run: str, *fragments: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.page_script_hash = message.new_session.main_script_hash = "main"
    message.metadata.run.script_run_id = run
    message.metadata.run.fragment_ids.extend(fragments)
    return message


def ended(how: int = ForwardMsg.FINISHED_SUCCESSFULLY) -> ForwardMsg:
    return ForwardMsg(script_finished=how)  # type: ignore[arg-type]


def test_a_page_forgets_what_a_run_did_not_draw_again_and_a_fragment_only_its_own():
    page = Page()
    radio = {"id": "$$ID-abc-lab", "options": ["a", "b"], "default": 1}
    whole = [begun("1"), element([0, 0], radio=radio), element([0, 1], markdown={"body": "old"})]
    inside = element([0, 2], checkbox={"id": "$$ID-abc-held-3", "default": True})
    inside.delta.fragment_id = "f"
    for message in (*whole, inside, ended()):
        page.take(message)
    assert (page.shows("lab"), page.shows("held")) == ("b", True)
    assert len(page.states().widgets) == 2
    for message in (begun("2", "f"), ended(ForwardMsg.FINISHED_EARLY_FOR_RERUN)):
        page.take(message)
    assert page.shows("held"), "the run was not the last one"
    for message in (begun("3", "f"), ended(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)):
        page.take(message)
    assert (page.shows("lab"), page.shows("held")) == ("b", None)
    for message in (begun("4"), element([0, 0], radio={**radio, "raw_value": "a", "set_value": True}), ended()):
        page.take(message)
    assert page.shows("lab") == "a" and len(page.elements) == 1


def test_a_key_is_that_of_the_app_whichever_widget_stands_in_its_place():
    assert [key_of(f"$$ID-0f-{key}") for key in ("model", "model-2", "image_thumbs", "None")] == [
        "model",
        "model",
        "image_thumbs",
        "",
    ]


def test_an_answer_is_not_there_while_its_page_is_left_for_another():
    """A key that moves a tour is told by the page before, whose link leads to the page of the step."""

    async def wait() -> tuple[float | None, bool]:
        visitor, since = Visitor("http://localhost:1"), time.perf_counter()
        visitor.page.script, visitor.finished, visitor._leaving = "before", since + 0.5, ("after", since)
        answer = asyncio.ensure_future(visitor.until(lambda: True, since))
        await asyncio.sleep(0.05)
        early, visitor.page.script = answer.done(), "after"
        async with visitor._news:
            visitor._news.notify_all()
        return await asyncio.wait_for(answer, 5), early

    took, early = asyncio.run(wait())
    assert took == pytest.approx(0.5) and not early


def test_an_address_that_gets_lost_again_after_it_was_mended_is_asked_for_again(monkeypatch):
    monkeypatch.setattr("app.benchmarks.load.visitor.DIFFERING", 0.01)
    asked: list[str] = []

    async def run(visitor: Visitor, **options: object) -> None:
        asked.append(visitor.page.query)

    async def visit() -> None:
        visitor = Visitor("")
        visitor.history = [("compare", "")]
        monkeypatch.setattr(Visitor, "run", run)
        for shown, address in [("{}", "frame=7"), ("{}", "frame=7"), ('{"frame": "7"}', "frame=7"), ("{}", "frame=7")]:
            await visitor._take(ForwardMsg(page_info_changed=PageInfo(query_string=address)))
            drawn = {"id": "address", "component_name": "capsviz_address", "json": shown}
            await visitor._take(element([0, 0], bidi_component=drawn))
            if shown == "{}":
                await asyncio.sleep(0.05)

    asyncio.run(visit())
    assert asked == ["frame=7", "frame=7"]  # once each time, and not without end


def test_boxes_are_exceptions_and_what_the_app_says_of_them_and_nothing_else():
    visitor = Visitor("http://localhost:1")
    page = visitor.page
    for place, of in enumerate(
        (
            {"exception": {"message": "boom"}},
            {"alert": {"body": sentence(SENTENCE)}},
            {"alert": {"body": "No L2 model"}},
        )
    ):
        page.take(element([0, place], **of))
    visitor.seen = list(page.elements.values())
    assert measure._boxes(visitor, 0) == ["boom", sentence(SENTENCE)]
    assert measure._boxes(visitor, 1) == [sentence(SENTENCE)]


def test_growth_is_that_of_the_end_over_the_second_quarter():
    assert measure._growth([100, 100, 200, 200, 200, 200, 220, 220]) == 1.1
    assert measure._growth([100]) == 1.0


def result(**changed: object) -> dict[str, object]:
    ways = {how: {"count": 250, "p50": 0.5, "p95": 1.5} for how in HOWS}
    stayed = {"hours": 1, "actions": 900, "boxes": [], "lost": [], "growth": 1.01, "asked": 1.05}
    return {
        **dict.fromkeys(("seed", "tracebacks"), 0),
        "visitors": 20,
        "pause": 10.0,
        "cores": 2,
        "load_before": 0.1,
        "machine": "x86_64",
        "boxes": [],
        "lost": [],
        "by": ways,
        "answers": {"asked": 2.0, "p50": 0.5, "p95": 1.5},
        "memory": {"one": 1000e6, "all": 1200e6, "after": 1049e6, "asked": 1.05},
        "long": stayed,
        **changed,
    }


def test_the_table_says_what_is_met_and_what_is_missed():
    said = report.table(result())
    assert "| actions lost | 0 of 1,000 | none | met |" in said
    assert "| … p95 | 1.50 s | ≤ 2 s | met |" in said
    assert "| … two minutes after they left | 1,049 MB | ≤ 1,050 MB | met |" in said
    assert said.endswith("on 2 cores (x86_64) with a load of 0.1 before, seed 0.") and "missed" not in said
    worse = report.table(result(lost=["key present at em: never came"], answers={"asked": 2.0, "p50": 1, "p95": 2.01}))
    assert "| actions lost | 1 of 1,001 | none | missed |" in worse and "2.01 s | ≤ 2 s | missed |" in worse
    assert report.failures(result(boxes=["a", "b"])) == "a\nb"
