"""Text that is not ours, for where Streamlit reads Markdown."""

from __future__ import annotations

import pytest

from app.page.text import plain, sentence


@pytest.mark.parametrize(
    "name", ["mnist-dr", "MNIST test image 7, class 3", "Trouser / 2", "your picture a.png", "7", "folder:/d/x@3x64x64"]
)
def test_an_ordinary_name_stays_as_it_is(name: str):
    assert plain(name) == name


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("![x](http://host/p.png)", r"!\[x\](http:" + "\u2060//host/p.png)"),
        ("**bold** `code` $x^2$", r"\*\*bold\*\* \`code\` \$x^2\$"),
        ("<b>bold</b> &amp;", r"\<b\>bold\</b\> \&amp;"),
        (":red[alert] :material/home: :+1:", ":\u2060red\\[alert\\] :\u2060material/home: :\u2060+1:"),
        ("www.host.org me@host.org", "www\u2060.host.org me@\u2060host.org"),
        (r"C:\Users\x", r"C:\\Users\\x"),
        ("# head\n- item", r"\# head - item"),
        ("1. first", r"1\. first"),
        ("חתול", "\u2068חתול\u2069"),
        ("a\u202ecba", "\u2068a\u202ecba\u2069"),
        ("a -> b", "a -\u2060\\> b"),
        ("folder:red a::note", "folder:\u2060red a:\u2060:\u2060note"),
    ],
)
def test_a_name_with_marks_is_shown_with_its_marks(name: str, escaped: str):
    assert plain(name) == escaped


def test_in_a_sentence_backticks_are_code_and_nothing_else_is_marked():
    said = sentence("No model “[x](y)” is here;\nrun `capsviz train --data *` and *wait*.")
    assert said == r"No model “\[x\](y)” is here; run `capsviz train --data *` and \*wait\*."
