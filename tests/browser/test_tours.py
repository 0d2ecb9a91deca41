"""Tours in Chromium: one key leads through each of them, another back to the path, and the notes come along."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, parse_qsl

import pytest

from app.tours import store
from app.tours.tour import Tour, TourStep
from tests.browser.api import sync_api
from tests.browser.test_words import LEAST, QUESTIONS, asked
from tests.browser.visitor import PATIENT, SCREEN, Visitor, visits
from tests.known import known

HALL: sync_api.ViewportSize = {"width": 1920, "height": 1080}
NARROWER: sync_api.ViewportSize = {"width": 1024, "height": 768}
CUT_OFF = """() => {
  const box = (node) => node.getBoundingClientRect(), found = [];
  const tour = document.querySelector(".st-key-tour"), within = box(tour);
  for (const node of tour.querySelectorAll("p, li, .katex, .katex-error, .katex-html > *")) {
    const at = box(node), text = node.matches("p, li");
    if (node.matches(".katex-error")) found.push(`not a formula: ${node.textContent}`);
    const outside = at.left < 0 || at.right > innerWidth || at.top < -1 || at.bottom > within.bottom + 1;
    if (outside || (text && node.scrollWidth > node.clientWidth + 1))
      found.push(`cut off: ${node.textContent.slice(0, 60)}`);
  }
  if (within.top < -1 || within.height > innerHeight * 0.3)
    found.push(`the words take ${within.top} to ${within.bottom}`);
  const bars = [...document.querySelectorAll("*")].map((node) => node.shadowRoot ?? node);
  const bar = bars.map((root) => root.querySelector(".bar:not([hidden])")).find(Boolean);
  const words = box(tour.querySelector(".st-key-tour-words")), at = bar && box(bar);
  if (!at || !at.width) found.push("there is no bar");
  else if (words.right > at.left && words.top < at.bottom) found.push("the words stand below the bar");
  const main = document.querySelector("[data-testid=stMain]");
  if (main.scrollWidth > main.clientWidth) found.push("the page is wider than its window");
  return found;
}"""
"""What of a screen of a tour cannot be read."""
PANEL = """(panel) => {
  const at = document.querySelector(`.stMainBlockContainer [class*="st-key-${panel}"]`)?.getBoundingClientRect();
  const words = document.querySelector(".st-key-tour").getBoundingClientRect();
  const seen = Math.min(at?.bottom ?? 0, innerHeight) - Math.max(at?.top ?? 0, words.bottom);
  return seen / Math.min(at?.height || 1, innerHeight - words.bottom);
}"""
"""How much of what may be seen of a panel stands below the words: 1 is all."""


class Listener(Visitor):
    """Somebody in the hall; the page's own heading is not there during a tour."""

    def settle(self) -> None:
        """Wait until the script has run and all that is on the page is of that run."""
        self.window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        self.fresh()
        assert self.failures() == []

    def step(self) -> int:
        """The step that the link says."""
        return int(parse_qs(self.query()).get("step", ["1"])[0])

    def title(self) -> str:
        """The title on screen."""
        return self.window.locator(".tour-title").inner_text()

    def arrives(self, tour: Tour, number: int) -> TourStep:
        """Wait until a step stands: its link, title and view."""
        step = tour.steps[number - 1]
        self.eventually(lambda: self.step() == number, f"step {number} in the link, which is {self.query()}")
        self.eventually(lambda: self.title() == step.title, step.title)
        self.settle()
        return step

    def choices(self) -> dict[str, str]:
        """What the link says of the view."""
        said = {name: values[0] for name, values in parse_qs(self.query()).items()}
        return {name: value for name, value in said.items() if name not in ("tour", "step", "present", "talk", "frame")}

    def chooses_another_than(self, linked: dict[str, str]) -> None:
        """Wait until the link says another view."""
        self.eventually(lambda: self.choices() != linked, "another view in the link")


@pytest.fixture
def listen(open_window: Callable[..., sync_api.Page], address: str) -> Iterator[Callable[..., Listener]]:
    """Opens windows of the hall."""
    with visits(Listener, open_window, address) as visit:
        yield visit


@pytest.fixture
def listener(listen: Callable[..., Listener]) -> Callable[..., Listener]:
    """A window at a step of a tour: `listener(name, number)`."""

    def at(name: str, number: int, mode: str = "&present=1", **options: object) -> Listener:
        tour = store.find(name)
        view = tour.steps[number - 1].view
        guest = listen(f"{view}&tour={name}&step={number}{mode}", **options)
        guest.arrives(tour, number)
        return guest

    return at


@pytest.mark.timeout(900)
@pytest.mark.parametrize("screen", [SCREEN, HALL], ids=["1280", "1920"])
@pytest.mark.parametrize("name", store.SHIPPED)
def test_one_key_leads_through_a_tour_and_no_word_of_it_is_cut_off(
    open_window: Callable[..., sync_api.Page], address: str, name: str, screen: dict[str, int]
):
    tour, window = store.find(name), open_window(viewport=screen)
    window.add_init_script(f"window.words = {QUESTIONS}; words.listen();")
    guest = Listener(window, address)
    wrong: dict[str, list[str]] = {}
    guest.open(f"{tour.steps[0].view}&tour={name}&present=1")
    for number in range(1, len(tour.steps) + 1):
        step = guest.arrives(tour, number)
        if step.panel:

            def seen(panel: str = step.panel) -> bool:
                return window.evaluate(PANEL, panel) > 0.95

            guest.eventually(seen, f"{step.panel} below its words")
        window.wait_for_timeout(800)

        def unreadable() -> list[str]:
            alerts = window.locator('[data-testid="stAlert"]').all_inner_texts()
            small = asked(window, f"smaller({LEAST})") if screen == HALL else []
            return [*window.evaluate(CUT_OFF), *alerts, *asked(window, "overprinted()"), *small]

        found = guest.remaining(unreadable)
        wrong |= {f"{number} {step.title}": found} if found else {}
        sent = guest.messages_sent
        window.keyboard.press("PageDown")
    assert wrong == {}
    guest.eventually(lambda: guest.messages_sent > sent, "the last key on its way")
    guest.settle()
    assert guest.step() == len(tour.steps), "after the last step there is none"
    window.keyboard.press("PageUp")
    guest.arrives(tour, len(tour.steps) - 1)
    guest.leave()


def test_a_question_leaves_the_path_and_one_key_leads_back(listener: Callable[..., Listener]):
    name = store.SHIPPED[0]
    tour, guest = store.find(name), listener(name, 2)
    before = guest.choices()
    for key in ("b", "Backspace"):
        guest.window.keyboard.press(".")
        guest.eventually(lambda: "class" in guest.choices(), "another class")
        sync_api.expect(guest.window.locator(".st-key-tour-words")).to_contain_text("Off the path")
        guest.window.keyboard.press("6")
        guest.window.wait_for_url("**/results?*")
        guest.settle()
        assert guest.step() == 2
        guest.window.keyboard.press(key)
        guest.window.wait_for_url(re.compile(r"/(dynamic)?\?"))
        guest.arrives(tour, 2)
        assert guest.choices() == before
        sync_api.expect(guest.window.locator(".st-key-tour-words")).not_to_contain_text("Off the path")


def test_a_key_that_removes_a_point_removes_it_and_leads_nowhere(listener: Callable[..., Listener]):
    name = "gaussians-that-compete"
    tour = store.find(name)
    number = 1 + [step.title for step in tour.steps].index("A mixture of Gaussians")
    guest = listener(name, number)
    plane = guest.window.locator(".mixture[data-ready] .plane canvas")
    points = "canvas => canvas.getRootNode().querySelector('.mixture').capsvizBoard.points.length"
    plane.focus()
    guest.window.keyboard.press("n")
    guest.window.keyboard.press("Backspace")
    assert plane.evaluate(points) == 29
    guest.eventually(lambda: "points" in guest.choices(), "the points that are left, in the link")
    guest.settle()
    assert guest.step() == number and plane.evaluate(points) == 29


def test_back_leads_to_the_step_before_as_it_was(listener: Callable[..., Listener]):
    name = store.SHIPPED[0]
    tour = store.find(name)
    number = next(at for at, step in enumerate(tour.steps) if _page(step) != _page(tour.steps[at - 1]) and at > 1)
    guest = listener(name, number)
    before = guest.window.url
    guest.window.keyboard.press("PageDown")
    guest.arrives(tour, number + 1)
    guest.window.go_back()
    guest.arrives(tour, number)
    assert guest.window.url == before
    sync_api.expect(guest.window.locator(".st-key-tour-words")).not_to_contain_text("Off the path")


def _page(step: TourStep) -> str:
    return step.view.partition("?")[0]


def test_a_step_that_plays_begins_to_play_on_arrival_and_again_when_led_back_to(listener: Callable[..., Listener]):
    name = store.SHIPPED[0]
    tour = store.find(name)
    number = next(number for number, step in enumerate(tour.steps, start=1) if step.play)
    guest = listener(name, number - 1, reduced_motion="no-preference")
    playing = guest.window.get_by_role("button", name="Play or pause").first
    for key in ("PageDown", "b", "b"):
        guest.window.keyboard.press(key)
        guest.eventually(lambda: "Pause" in playing.inner_text(), f"the player plays after {key}")
        guest.eventually(lambda: "Play" in playing.inner_text(), "the player has come to its end")


def test_back_to_a_step_that_plays_shows_it_and_leaves_the_way_forward(listener: Callable[..., Listener]):
    name = store.SHIPPED[0]
    tour = store.find(name)
    number = next(number for number, step in enumerate(tour.steps, start=1) if step.play)
    guest = listener(name, number - 1, reduced_motion="no-preference")
    guest.window.keyboard.press("PageDown")
    playing = guest.window.get_by_role("button", name="Play or pause").first
    guest.eventually(lambda: "Pause" in playing.inner_text(), "the player plays")
    guest.window.keyboard.press("PageDown")  # before it has come to its end
    guest.arrives(tour, number + 1)
    there = guest.window.url
    guest.window.go_back()
    guest.arrives(tour, number)
    before = guest.window.url
    guest.window.wait_for_timeout(6000)  # in which it would have played
    assert "Play" in playing.inner_text() and guest.window.url == before
    guest.window.go_forward()
    guest.arrives(tour, number + 1)
    assert guest.window.url == there


def test_where_less_motion_is_asked_for_a_step_waits_for_the_visitor_to_play(listener: Callable[..., Listener]):
    name = store.SHIPPED[0]
    tour = store.find(name)
    number = next(number for number, step in enumerate(tour.steps, start=1) if step.play)
    guest = listener(name, number - 1)
    guest.window.keyboard.press("PageDown")
    guest.arrives(tour, number)
    playing = guest.window.get_by_role("button", name="Play or pause").first
    guest.window.wait_for_timeout(1500)
    assert "Play" in playing.inner_text()
    playing.click()
    guest.eventually(lambda: "Pause" in playing.inner_text(), "the player plays")


def test_a_step_stands_where_its_link_has_the_amount_or_the_share(listen: Callable[..., Listener]):
    views = {
        "viewpoint?model=digits-dr&image=3&viewpoint=rotation_-30": "−30°",
        "perturb?model=digits-dr&image=3&hand=walk&walk=0.3": "30 %",
    }
    tour = Tour("A talk", tuple(TourStep(stands, view, "As linked.") for view, stands in views.items()))
    guest = listen(f"{next(iter(views))}&tour={store.packed(tour)}&present=1")
    for number, (view, stands) in enumerate(views.items(), start=1):
        linked = dict(parse_qsl(view.partition("?")[2]))
        for moved in (False, True):
            guest.arrives(tour, number)
            guest.window.wait_for_timeout(1000)  # what a player tells of itself, it has told by then
            sync_api.expect(guest.window.locator("output.frame")).to_have_text(stands)
            assert guest.choices() == linked
            guest.press("PageDown" if moved else "Home")
            if not moved:
                guest.chooses_another_than(linked)
                sync_api.expect(guest.window.locator(".st-key-tour-words")).to_have_text("As linked.")
                guest.press("b")


def test_notes_follow_the_hall_and_lead_it(listener: Callable[..., Listener], listen: Callable[..., Listener]):
    name = store.SHIPPED[0]
    tour, hall = store.find(name), listener(name, 1)
    notes = listen(f"dynamic?notes=1&tour={name}")
    heading = notes.window.locator(".notes-title").first
    sync_api.expect(heading).to_have_text(tour.steps[0].title)
    hall.window.keyboard.press("PageDown")
    hall.arrives(tour, 2)
    sync_api.expect(heading).to_have_text(tour.steps[1].title)
    sync_api.expect(notes.window.locator(".notes-title").nth(1)).to_have_text(tour.steps[2].title)
    hall.window.keyboard.press(".")
    sync_api.expect(notes.window.get_by_role("status")).to_contain_text("The hall sees another view")
    notes.window.keyboard.press("PageDown")
    sync_api.expect(heading).to_have_text(tour.steps[2].title)
    hall.arrives(tour, 3)
    sync_api.expect(notes.window.get_by_role("status")).to_have_text("")
    hall.window.keyboard.press(".")
    hall.eventually(lambda: "class" in hall.choices(), "another class")
    sync_api.expect(notes.window.get_by_role("status")).to_contain_text("The hall sees another view")
    notes.window.keyboard.press("b")
    sync_api.expect(notes.window.get_by_role("status")).to_have_text("")
    hall.eventually(lambda: "class" not in hall.choices(), "the hall back at the step")
    notes.window.keyboard.press("?")
    sheet = notes.window.get_by_role("dialog", name="Keys")
    sync_api.expect(sheet.get_by_text("next, previous step of the tour")).to_be_visible()
    assert sheet.locator("dt:visible").all_inner_texts() == ["Page Down  Page Up", "b  or  Backspace", "?"]
    notes.window.keyboard.press("?")
    for key in ("p", "6", "]"):
        notes.window.keyboard.press(key)
    notes.window.wait_for_timeout(1000)
    assert "present" not in notes.query() and "image" not in notes.choices() and "/dynamic" in notes.window.url
    clock = notes.window.get_by_role("timer")
    assert clock.inner_text() == "0:00"
    notes.window.get_by_role("button", name="Start").click()
    sync_api.expect(clock).not_to_have_text(re.compile("^0:0[01]$"))
    notes.window.get_by_role("button", name="Stop").click()
    stood = clock.inner_text()
    notes.window.reload()
    sync_api.expect(clock).to_have_text(stood)
    notes.settle()
    notes.window.wait_for_timeout(1200)
    assert clock.inner_text() == stood


def test_a_moved_number_leaves_the_path_at_once(listener: Callable[..., Listener]):
    guest = listener("gaussians-that-compete", 2)
    words = guest.window.locator(".st-key-tour-words")
    sync_api.expect(words).not_to_contain_text("Off the path")
    guest.window.get_by_role("slider").first.press("ArrowRight")
    sync_api.expect(words).to_contain_text("Off the path")
    guest.window.get_by_role("button", name="Back").click()
    sync_api.expect(words).not_to_contain_text("Off the path")


def test_the_panel_of_a_step_begins_with_the_heading_of_its_chart(listener: Callable[..., Listener]):
    guest = listener("routing-by-agreement", 7)
    panel = guest.window.locator('.stMainBlockContainer [class*="st-key-lengths"]').first
    sync_api.expect(panel.get_by_role("heading")).to_have_text("Length of every class capsule")


def test_the_legend_of_the_turned_nine_is_in_sight_below_its_curves(listener: Callable[..., Listener]):
    guest = listener("gaussians-that-compete", 3)
    legend = guest.window.locator("[data-testid=stCaptionContainer] p", has_text="Solid: the activation")

    guest.eventually(lambda: guest.window.evaluate(PANEL, "sweep") > 0.95, "the curves below the words")
    box = guest.resting(lambda: known(legend.bounding_box()), "the legend at rest")
    assert box["y"] + box["height"] <= SCREEN["height"]


NEAREST = """root => {
  const { parents, seen, look } = root.capsvizBoard;
  return Math.min(...parents.map(({ plane }, j) => {
    const tips = seen.map((vote) => plane.place(vote[j]));
    const apart = tips.flatMap((a, i) => tips.slice(i + 1).map((b) => Math.hypot(a.x - b.x, a.y - b.y)));
    return Math.min(...apart) / (2 * 12 * plane.size * look.scale);
  }));
}"""
"""How far apart the nearest two handles of the toy are, in diameters of one."""


@pytest.mark.parametrize("screen", [SCREEN, HALL], ids=["1280", "1920"])
def test_the_handles_of_the_toy_stand_apart_in_a_hall_too(listener: Callable[..., Listener], screen: dict[str, int]):
    guest = listener("routing-by-agreement", 4, viewport=screen)
    guest.eventually(lambda: guest.window.locator(".toy").evaluate(NEAREST) > 1, "the handles apart")


BETWEEN = """() => {
  const words = document.querySelector(".st-key-tour").getBoundingClientRect();
  const panel = document.querySelector(`.stMainBlockContainer [class*="st-key-maps-history"]`).getBoundingClientRect();
  return panel.top - words.bottom;
}"""


def test_a_panel_stands_right_below_its_words_also_when_the_window_is_resized(listener: Callable[..., Listener]):
    guest = listener("do-we-need-the-loop", 7, viewport=HALL)
    for size in (SCREEN, NARROWER, HALL):
        guest.eventually(lambda: 3 <= guest.window.evaluate(BETWEEN) <= 5.5, "nothing between words and panel")
        guest.window.wait_for_timeout(3000)  # until nothing brings it up any more
        guest.window.set_viewport_size(size)
    guest.eventually(lambda: 3 <= guest.window.evaluate(BETWEEN) <= 5.5, "nothing between words and panel")


def test_the_sheet_of_keys_says_what_leads_through_a_tour(listener: Callable[..., Listener]):
    guest = listener(store.SHIPPED[0], 1)
    guest.window.keyboard.press("?")
    sheet = guest.window.get_by_role("dialog", name="Keys")
    sync_api.expect(sheet.get_by_text("next, previous step of the tour")).to_be_visible()
    sync_api.expect(sheet.get_by_text("back to the tour's step")).to_be_visible()
    sync_api.expect(sheet.get_by_text("[  ]  or  Page Up  Page Down")).to_be_hidden()


def with_a_view(listen: Callable[..., Listener]) -> Listener:
    """Somebody on the page Tours who has added a view of Compare to a talk of their own."""
    guest = listen("compare?model=digits-dr&image=7")
    guest.window.get_by_role("button", name="Add this view").click()
    guest.eventually(lambda: "talk=" in guest.query(), "the talk in the link")
    guest.settle()
    guest.window.get_by_role("link", name="Your own talk: 1 view").click()
    guest.window.wait_for_url("**/tours?*")
    guest.settle()
    return guest


def test_the_link_to_the_own_talk_says_what_the_address_says(listen: Callable[..., Listener]):
    guest = listen("dynamic?model=digits-dr&image=7")
    guest.window.get_by_role("button", name="Add this view").click()
    link = guest.window.get_by_role("link", name="Your own talk: 1 view")
    sync_api.expect(link).to_have_attribute("href", re.compile("talk="))
    guest.settle()
    guest.press("Home")
    guest.eventually(lambda: "frame=0" in guest.query(), "the frame in the address")
    sync_api.expect(link).to_have_attribute("href", re.compile("frame=0"))


def test_a_view_is_added_named_saved_opened_and_begun(listen: Callable[..., Listener]):
    guest = with_a_view(listen)
    title = guest.window.get_by_label("Title of the talk")
    title.fill("What <b>all</b> methods see")
    title.press("Enter")
    name = guest.window.get_by_role("heading", name="What <b>all</b> methods see")
    sync_api.expect(name).to_be_visible()
    caption = guest.window.get_by_label("Caption: Markdown")
    before = guest.query()
    caption.fill("A $7$ is **read**.")
    caption.press("Control+Enter")
    guest.eventually(lambda: guest.query() != before, "the caption in the talk")
    guest.settle()
    with guest.window.expect_download() as saved:
        guest.window.get_by_role("button", name="Save as a file").click()
    file = saved.value.path().rename(saved.value.path().with_suffix(".toml"))
    assert saved.value.suggested_filename == "what-b-all-b-methods-see.toml"
    other = listen("tours?model=digits-dr")
    other.window.locator("input[type=file]").set_input_files(file)
    sync_api.expect(other.window.get_by_role("heading", name="What <b>all</b> methods see")).to_be_visible()
    other.eventually(lambda: "talk=" in other.query(), "the talk in the link")
    other.settle()
    begin = other.window.locator('[class*="st-key-begin-opened"] button:visible')
    begin.last.click()
    other.window.wait_for_url("**/compare?*")
    sync_api.expect(other.window.locator(".st-key-tour-words .katex").first).to_be_visible()
    assert other.choices() == {"model": "digits-dr", "image": "7"}
    assert "present=1" in other.query()


def test_what_is_typed_right_before_the_talk_is_saved_or_begun_is_in_it(listen: Callable[..., Listener]):
    guest = with_a_view(listen)
    guest.window.evaluate(PATIENT)
    guest.window.wait_for_timeout(1000)
    guest.window.get_by_label("Caption: Markdown").fill("Saved at once.")
    with guest.window.expect_download() as saved:
        guest.window.get_by_role("button", name="Save as a file").click()
    assert "Saved at once." in saved.value.path().read_text(encoding="utf-8")
    guest.settle()
    guest.window.wait_for_timeout(1000)
    guest.window.get_by_label("Caption: Markdown").fill("Begun at once.")
    guest.window.locator('[class*="st-key-begin-opened"] button:visible').last.click()
    guest.window.wait_for_url("**/compare?*")
    sync_api.expect(guest.window.locator(".st-key-tour-words")).to_contain_text("Begun at once.")


def test_a_steps_link_leads_to_it_as_the_tour_does_and_back_as_it_was_left(listen: Callable[..., Listener]):
    tour = Tour("A talk", (TourStep("Played", "dynamic?model=digits-dr&image=7&T=3", "Watch.", play=True),))
    name = store.packed(tour)
    guest = listen(f"tours?model=digits-dr&talk={name}", reduced_motion="no-preference")
    playing = guest.window.get_by_role("button", name="Play or pause").first
    for _ in range(2):
        guest.window.locator('[class*="st-key-card-"] summary').last.click()
        guest.window.get_by_role("link", name="1 Played").click()
        guest.window.wait_for_url("**/dynamic?*")
        sync_api.expect(guest.window.locator(".st-key-tour-words")).to_contain_text("Watch.")
        guest.eventually(lambda: "Pause" in playing.inner_text(), "the player plays")
        guest.eventually(lambda: "Play" in playing.inner_text(), "the player has come to its end")
        guest.window.get_by_role("link", name="Tours").first.click()
        guest.window.wait_for_url("**/tours?*")
        guest.settle()
    guest.window.go_back()
    guest.window.wait_for_url("**/dynamic?*")
    guest.settle()
    guest.window.wait_for_timeout(1500)
    assert "Play" in playing.inner_text(), "as it was left"


def test_the_button_that_leads_on_keeps_the_focus_and_keys_behind_a_dialog_move_nothing(
    listen: Callable[..., Listener],
):
    steps = tuple(TourStep(f"Image {image}", f"dynamic?model=digits-dr&image={image}") for image in (7, 8, 9))
    guest = listen(f"dynamic?model=digits-dr&image=7&tour={store.packed(Tour('A talk', steps))}")
    guest.window.get_by_title("Next step (Page Down)").focus()
    for image in ("8", "9"):
        guest.window.keyboard.press("Enter")
        guest.window.wait_for_url(re.compile(rf"image={image}\b"))
        guest.settle()
    guest.window.get_by_title("Previous step (Page Up)").focus()
    guest.window.keyboard.press("Enter")
    guest.window.wait_for_url(re.compile(r"image=8\b"))
    guest.settle()
    before = guest.query()
    guest.window.keyboard.press("?")
    sync_api.expect(guest.window.get_by_role("dialog", name="Keys")).to_be_visible()
    for key in ("Home", "ArrowRight", "Home"):
        guest.window.keyboard.press(key)
    guest.window.wait_for_timeout(1500)
    assert guest.query() == before


def test_the_title_of_a_step_without_a_caption_has_the_room_of_both(listen: Callable[..., Listener]):
    guest = with_a_view(listen)
    guest.window.locator('[class*="st-key-begin-"] button:visible').last.click()
    guest.window.wait_for_url("**/compare?*")
    title = guest.window.locator(".tour-title")
    sync_api.expect(title).to_be_visible()
    guest.settle()
    assert guest.window.locator(".st-key-tour-words").count() == 0
    box, screen = guest.box(title), known(guest.window.viewport_size)
    assert box["width"] > 0.6 * screen["width"] and box["height"] < 40, "in one line"


def test_a_strangers_caption_that_got_past_every_check_would_still_fetch_nothing(listen: Callable[..., Listener]):
    """The page around a caption has no element that leads away or fetches, whatever stands in it as text."""
    tour = Tour("A talk", (TourStep("<img src=x>", "compare?model=digits-dr", "a < b and 3 > 2"),))
    guest = listen(f"compare?model=digits-dr&tour={store.packed(tour)}")
    sync_api.expect(guest.window.locator(".tour-title")).to_have_text("<img src=x>")
    inside = guest.window.locator(".st-key-tour").evaluate(
        "tour => [...tour.querySelectorAll('img, iframe, script, a[href]')].map(node => node.outerHTML)"
    )
    assert inside == [], json.dumps(inside)
