"""Whatever a board tells changes the whole page and all links: the page then is the one that its link opens."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import LED, Visitor

Act = Callable[[Visitor], None]
WHOLE = Path(__file__).with_name("whole_page.js").read_text(encoding="utf-8")
FIND = """name => { const find = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at[name]) return at[name];
    const found = at.shadowRoot && find(at.shadowRoot); if (found) return found; } };
    return find(document); }"""
STILL = 4
"""How often in a row a page says the same when it stays as it is."""


def whole(visitor: Visitor) -> list[str]:
    """All that the page says and shows, line by line, the pointer away from its pictures."""
    return visitor.window.evaluate(WHOLE)


def settled(visitor: Visitor, *, unlike: list[str] | None = None) -> list[str]:
    """The same, once it is so STILL times in a row, and another page than `unlike`."""
    visitor.window.mouse.move(0, 0)
    seen: list[list[str]] = []

    def still() -> bool:
        visitor.settle()
        now = whole(visitor)
        seen[:] = [*seen, now] if now in seen else [now]
        return len(seen) >= STILL and now != unlike

    visitor.eventually(still, "another page, that stays as it is")
    return seen[-1]


class Pair:
    """A visitor who acts, and one who only follows links to where the first one is."""

    def __init__(self, acting: Visitor, following: Visitor) -> None:
        self.acting, self.following = acting, following

    def open(self, page: str) -> None:
        for visitor in (self.acting, self.following):
            if visitor.window.url.startswith(visitor.address):
                visitor.follow(f"/{page}")
            else:
                visitor.open(page)
        self.before = settled(self.acting)

    def do(self, act: Act, change: str) -> None:
        """Check that an action leads to another link, with `change` in it (or without it, where it begins with "-").

        And that text, figures, fields and links of the page are then those that the same link leads to.
        """
        link = self.acting.window.locator(".st-key-pages a").last
        was = link.get_attribute("href")
        act(self.acting)
        there, word = not change.startswith("-"), change.removeprefix("-")

        def changed() -> bool:
            now = link.get_attribute("href") or ""
            return now != was and (word in now) == there

        self.acting.eventually(changed, f"{change} in the links")
        here = settled(self.acting, unlike=self.before)
        to = self.acting.window.url.removeprefix(self.acting.address)
        self.following.window.evaluate(LED, to)
        led = settled(self.following, unlike=self.before)
        assert "\n".join(difflib.unified_diff(here, led, "after the action", "by its link", n=1, lineterm="")) == ""
        links = [line for line in here if line.startswith("link ") and "?" in line]
        assert len(links) >= 6 and all((word in link) == there for link in links)
        self.before = here


@pytest.fixture(scope="module")
def two(open_window: Callable[..., sync_api.Page], address: str) -> Iterator[Pair]:
    """Two visitors of the app, who go from one page to the next: to load one anew takes longer than all else here."""
    pair = Pair(Visitor(open_window(), address), Visitor(open_window(), address))
    yield pair
    pair.acting.leave()
    pair.following.leave()


@pytest.fixture
def pair(two: Pair) -> Iterator[Pair]:
    """These two, in whose windows nothing has gone wrong when a test ends."""
    yield two
    for visitor in (two.acting, two.following):
        assert visitor.failures() == visitor.problems == []


def button(text: str) -> Act:
    """A click on a button of the board."""
    return lambda visitor: visitor.window.locator("section").get_by_role("button", name=text).first.click()


def on_canvas(part: str, x: str, y: str) -> Act:
    """A click on a canvas of the routing board, x and y in JavaScript of `board` and `part`."""

    def act(visitor: Visitor) -> None:
        board = visitor.window.evaluate_handle(f"({FIND})('capsvizBoard')")
        board.evaluate(f"board => board.{part}.canvas.scrollIntoView({{ block: 'center' }})")
        visitor.still()
        at = board.evaluate(
            f"board => {{ const part = board.{part}, box = part.canvas.getBoundingClientRect();"
            f" return [box.x + {x}, box.y + {y}]; }}"
        )
        visitor.window.mouse.click(*at)

    return act


CLASS_ON_MAP = on_canvas("map", "10", "part.top + 5.5 * (part.height - part.top - part.bottom) / part.run.upperCount")
TYPE_ON_MAP = on_canvas("map", "10", "part.top + 0.5 * (part.height - part.top - part.bottom) / part.run.upperCount")
CLASS_ON_BARS = on_canvas("bars", "60", "part.under + 5.5 * part.row")
CAPSULE_ON_MAP = on_canvas("map", "part.left + 0.3 * part.width", "part.top + 20")
CAPSULE_IN_CLOUD = on_canvas("cloud", "part.spots[40][0]", "part.spots[40][1]")
CAPSULE_ON_TILES = on_canvas("tiles", "part.spot(board.run, 30)[0] + 2", "part.spot(board.run, 30)[1] + 2")


def key(name: str) -> Act:
    """A key of the player."""
    return lambda visitor: visitor.press(name)


def slide(name: str, pressed: str) -> Act:
    """A key on a slider of the board."""
    return lambda visitor: visitor.window.locator("section").get_by_role("slider", name=name).first.press(pressed)


def pick(field: str, name: str) -> Act:
    """Another answer of a picker of the page."""
    return lambda visitor: visitor.window.locator(f'[class*="st-key-{field}"]').get_by_text(name, exact=True).click()


def on_the_row(visitor: Visitor) -> None:
    """A click on the first image of the sweep."""
    visitor.still()
    visitor.window.locator(".sweep .images canvas").click(position={"x": 20, "y": 20})


def drag_a_vote(visitor: Visitor) -> None:
    """The vote of the toy's first capsule for its first parent, moved."""
    visitor.still()
    toy = visitor.window.evaluate_handle(f"({FIND})('capsvizBoard')")
    x, y = toy.evaluate(
        "toy => { const { plane } = toy.parents[0], box = plane.canvas.getBoundingClientRect();"
        " const at = plane.place(toy.votes[0][0]);"
        " return [box.x + at.x, box.y + at.y]; }"
    )
    visitor.drag(x, y, 40, -40)


def drag_s(visitor: Visitor) -> None:
    """The vector of squash, moved to below the axis."""
    x, y = visitor.middle(visitor.window.locator("section.squash canvas").first)
    visitor.drag(x + 60, y - 40, 10, 90)


def capsule_of_the_maps(visitor: Visitor) -> None:
    """A click on the first tile of the maps."""
    canvas = visitor.window.locator(".capsule-maps .map canvas").first
    canvas.scroll_into_view_if_needed()
    board = visitor.window.evaluate_handle(f"({FIND})('capsvizBoard')")
    x, y = board.evaluate("board => [board.maps[0].tiles.left + 4, board.maps[0].tiles.label + 4]")
    canvas.click(position={"x": x, "y": y})


ACTIONS: dict[str, tuple[str, Sequence[tuple[Act, str]]]] = {
    "mute": ("?model=digits-dr", [(button("Mute"), "touch=mute"), (button("Undo"), "-touch=")]),
    "boost": (
        "?model=digits-dr&capsule=17",
        [(button("Boost"), "touch=boost"), (button("Difference"), "difference=off")],
    ),
    "isolate": ("em?model=digits-em&image=5", [(button("Isolate"), "touch=only"), (CLASS_ON_MAP, "class=5")]),
    "class": ("?model=digits-dr", [(CLASS_ON_MAP, "class=5"), (key("Home"), "frame=0")]),
    "class of a Gaussian": ("em?model=digits-em", [(CLASS_ON_BARS, "class=5"), (CAPSULE_ON_TILES, "capsule=")]),
    "type of a layer": ("em?model=digits-matrix&layer=0", [(TYPE_ON_MAP, "type=0"), (key("."), "type=1")]),
    "capsule under an intervention": (
        "?model=digits-dr&touch=mute:17",
        [(CAPSULE_ON_MAP, "capsule="), (button("3-D"), "3d=")],
    ),
    "capsule of the cloud": ("?model=digits-dr", [(CAPSULE_IN_CLOUD, "capsule="), (button("Heat"), "heat=off")]),
    "T": ("?model=digits-dr", [(slide("Iterations T", "ArrowRight"), "T=4"), (key("+"), "T=5")]),
    "T of a Gaussian": ("em?model=digits-em", [(slide("Iterations T", "ArrowLeft"), "T=2")]),
    "T of matrix capsules": ("em?model=mnist-matrix", [(key("+"), "T=3")]),
    "toy": ("?model=digits-dr&lab=toy", [(drag_a_vote, "toy="), (slide("Iterations T", "ArrowRight"), "T=4")]),
    "preset of the toy": (
        "?model=digits-dr&lab=toy",
        [(button("Two clusters"), "toy="), (key("Home"), "frame=0")],
    ),
    "capsule maps": ("discriminative?model=digits-l2", [(capsule_of_the_maps, "capsule=")]),
    "player of the maps": ("discriminative?model=digits-l2&part=history", [(key("Home"), "frame=0")]),
    "slider": ("perturb?model=digits-dr&image=0", [(slide("dimension 4", "ArrowRight"), "offsets=%2C%2C%2C%2C0.05")]),
    "all capsules": ("perturb?model=digits-dr&hand=cells", [(button("class capsule 3"), "class=3")]),
    "all models": ("perturb?model=digits-dr&image=0", [(pick("beside", "All models"), "beside=1")]),
    "vector": ("basics?model=digits-dr", [(drag_s, "angle="), (slide("Length of s", "ArrowRight"), "s=")]),
    "margin loss": (
        "basics?model=digits-dr&exhibit=loss",
        [
            (slide("m⁺", "ArrowLeft"), "mplus=0.89"),
            (slide("Length of class 3", "ArrowRight"), "lengths=3"),
            (button("As trained"), "-lengths="),
        ],
    ),
    "mixture": (
        "mixtures?model=digits-dr",
        [
            (button("Overlapping"), "preset=overlapping"),
            (button("diagonal"), "covariance=diag"),
            (key("Home"), "frame=0"),
        ],
    ),
    "points as votes": (
        "mixtures?model=digits-dr&preset=outlier",
        [(button("The points are votes"), "as=votes"), (slide("λ rises to", "ArrowRight"), "lambda=1.5")],
    ),
    "viewpoint": (
        "viewpoint?model=digits-dr",
        [
            (key("Home"), "viewpoint=rotation_-60"),
            (slide("amount", "ArrowRight"), "viewpoint=rotation_-56"),
            (pick("change", "Shear"), "change=shear"),
            (on_the_row, "viewpoint=rotation_-56_shear_-30"),
        ],
    ),
    "walk": (
        "perturb?model=digits-dr&hand=walk",
        [(button("walk to class 3"), "to=3"), (button("on the sphere, 50 %"), "walk=0.5")],
    ),
}
"""By what is done: a page, and one action after the other with what it changes in the link."""


@pytest.mark.parametrize(("page", "actions"), ACTIONS.values(), ids=ACTIONS)
def test_an_action_of_a_board_changes_the_whole_page(pair: Pair, page: str, actions: Sequence[tuple[Act, str]]):
    pair.open(page)
    for act, change in actions:
        pair.do(act, change)


def test_an_intervention_is_told_by_strip_numbers_and_pictures(visitor: Visitor):
    """The board's length of the muted class stands in strip and numbers, and the reconstruction is answered for."""
    visitor.open("?model=digits-dr")
    window = visitor.window
    before = window.locator(".st-key-numbers").inner_text()
    button("Mute")(visitor)
    answer = window.get_by_role("heading", name="What the intervention did to the reconstruction")
    sync_api.expect(answer).to_be_visible()
    visitor.settle()
    board = window.evaluate_handle(f"({FIND})('capsvizBoard')")
    visitor.eventually(
        lambda: board.evaluate("({ message }) => message.touched") == "1 muted", "the routing without it"
    )
    lengths = board.evaluate("({run}) => [...run.part(run.data.lengths, run.iterations - 1, run.upperCount)]")
    numbers = window.locator(".st-key-numbers")
    sync_api.expect(numbers).to_contain_text(f"→ {max(lengths):.2f}")
    assert numbers.inner_text() != before
    strip = window.locator('.st-key-strip[data-stale="false"] .js-plotly-plot:has(.main-svg)')
    bars = "plot => [...plot.data.find(({ type }) => type === 'bar').y]"
    visitor.eventually(lambda: strip.evaluate(bars) == pytest.approx(lengths, abs=1e-3), "its lengths on the strip")
    window.get_by_role("button", name="Present").click()
    visitor.eventually(lambda: "present=1" in visitor.query(), "presenter mode")
    assert "touch=mute" in visitor.query()


def test_an_offset_of_all_capsules_stays_with_its_class(visitor: Visitor):
    visitor.open("perturb?model=digits-dr&hand=cells&class=2&offsets=0.1")
    button("class capsule 3")(visitor)
    visitor.eventually(lambda: "class=3" in visitor.query(), "another class in the link")
    assert "offsets" not in visitor.query()
    visitor.settle()
    visitor.open("perturb?model=digits-dr&hand=cells&class=2&offsets=0.1")
    visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio", name="4", exact=True).click()
    visitor.eventually(lambda: "class=4" in visitor.query(), "the picked class in the link")
    assert "offsets" not in visitor.query()
