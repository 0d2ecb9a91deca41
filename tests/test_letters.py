"""Names in any script."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest

from capsviz.letters import LONGEST_FILE, as_file, caseless, with_letters

TITLES = [
    ("Bäume, moved", "baume-moved"),
    ("Über Kapseln, Straße?", "uber-kapseln-strasse"),
    ("The routing of 树叶-dr", "the-routing-of-树叶-dr"),
    ("Tiếng Việt", "tieng-viet"),
    ("हिन्दी", "हिन्दी"),
    ("தமிழ்", "தமிழ்"),
    ("가나다", "가나다"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("ガンダム", "ガンダム"),
    ("Юлий, ёж", "юлий-ёж"),
    ("../a/b.txt", "a-b-txt"),
    ("😀", ""),
]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(("title", "file"), TITLES)
def test_a_title_in_any_script_is_a_file_alike_however_it_is_composed(
    title: str, file: str, form: Literal["NFC", "NFD"]
):
    assert as_file(unicodedata.normalize(form, title)) == file


def test_a_files_name_is_as_short_as_file_systems_want_and_ends_in_a_whole_letter():
    assert as_file("树" * 300) == "树" * (LONGEST_FILE // 3)


@pytest.mark.parametrize("name", ["हिन्दी", "Tiếng Việt", "Bäume", "ไทย"])
def test_marks_stay_at_their_letters(name: str):
    assert with_letters(unicodedata.normalize("NFD", name), " ", "-") == unicodedata.normalize("NFC", name)


def test_names_that_some_systems_take_for_one_are_folded_alike():
    assert caseless("Digits-DR") == caseless("digits-dr") != caseless("digits-l2")
    assert caseless(unicodedata.normalize("NFD", "Bäume")) == caseless("bäume")
