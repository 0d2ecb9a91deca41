"""The order in which a page of a board is drawn: the board, and then the figures."""

from __future__ import annotations

WATCH = """() => {
  const order = window.order = [];
  const find = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at.capsvizBoard?.root.dataset.frame) return at.capsvizBoard;
    const found = at.shadowRoot && find(at.shadowRoot); if (found) return found; } };
  const image = () => String(find(document)?.run.data.image);
  const drawn = () => document.querySelector(".st-key-strip .js-plotly-plot")?.data;
  const strip = () => drawn()?.find((each) => each.type === "bar")?.y.join();
  const before = [image(), strip()];
  const look = () => {
    if (!order.includes("board") && image() !== before[0]) order.push("board");
    if (!order.includes("strip") && strip() !== before[1]) order.push("strip");
    if (order.length < 2) requestAnimationFrame(look);
  };
  look();
}"""


def test_the_board_says_that_it_is_drawn_and_the_strip_comes_after_it(visitor):
    said: list[int] = []
    window = visitor.window

    def heard(response):
        if "_capsviz/drawn" in response.url:
            said.append(response.status)

    window.on("response", heard)
    visitor.open("dynamic?model=digits-dr&image=7")
    visitor.eventually(lambda: said, "the answer to what the board told")
    assert set(said) == {204}
    for _ in range(3):
        del said[:]
        window.evaluate(WATCH)
        visitor.press("]")
        visitor.eventually(lambda: len(window.evaluate("window.order")) == 2, "board and strip of another image")
        assert window.evaluate("window.order") == ["board", "strip"]
        visitor.eventually(
            lambda: said, "the answer to what the board told"
        )  # it may reach the browser after the strip
        assert said == [204], "once for each image"
