"""The URL holds every choice, and means something whatever it says."""

from __future__ import annotations

import dataclasses
import gc
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from app.sources import linked_picture
from app.state import capsule_sets
from app.state.choices import DECLARED, VIEWS, Catalogue, Choices
from app.state.session import changed, parse, tied, to_query
from capsviz.tracing.intervention import Intervention

PICTURE = linked_picture.written(torch.arange(784, dtype=torch.int64).remainder(251).byte().view(1, 28, 28))
CATALOGUE = Catalogue(
    "mnist-dr",
    {"mnist-dr": 10, "mnist-em": 10, "shapes-l2": 3, "shapes-em": 3},
    ("mnist", "digits"),
    {"old-em": "mnist-em"},
    {"shapes-em": 6},
)


@st.composite
def choices(draw: st.DrawFn) -> Choices:
    """Any choices that a link can say: each is left at its default or takes a value that it may have."""
    random = draw(st.randoms(use_true_random=True))
    found = Choices(random.choice(["mnist-dr", "mnist-em"]))
    for name, declared in list(DECLARED.items())[1:]:
        if draw(st.booleans()):
            found = dataclasses.replace(found, **{name: declared.codec.draw(random, found, CATALOGUE)})
    return found


def capsules() -> st.SearchStrategy[tuple[int, ...]]:
    return st.sets(st.integers(0, 1151), max_size=20).map(lambda found: tuple(sorted(found)))


@given(choices())
def test_a_link_reproduces_every_choice(chosen: Choices):
    assert parse(to_query(chosen), CATALOGUE) == (chosen, ())


def test_no_two_choices_share_a_name_in_the_link():
    keys = [declared.key for declared in DECLARED.values()]
    assert len(set(keys)) == len(keys) == len(dataclasses.fields(Choices))


def test_every_choice_resets_choices_that_there_are():
    assert {other for declared in DECLARED.values() for other in declared.resets} <= DECLARED.keys()


def test_what_depends_on_a_change_goes_back_to_its_default_unless_it_is_given_too():
    start = Choices(
        "mnist-dr", image=7, upper=3, kind=2, capsule=40, frame=2, touched=Intervention(muted=(1,)), layer=1
    )
    moved = changed(start, image=8)
    assert (moved.image, moved.upper, moved.kind, moved.capsule, moved.frame) == (8, None, None, 40, 2)
    other = changed(start, model="mnist-em", image=7)
    assert other == Choices("mnist-em", image=7)
    assert changed(start, layer=None) == Choices("mnist-dr", image=7, upper=3, touched=Intervention(muted=(1,)))


def test_what_is_picked_again_changes_nothing():
    start = Choices("mnist-dr", image=7, upper=3, capsule=40, layer=1, position=2, offsets=(0.5,), lengths=((3, 1.0),))
    for name in ("model", "image", "layer", "upper", "split"):
        assert changed(start, **{name: getattr(start, name)}) == start, name


def test_offsets_stay_with_their_class_on_all_capsules_and_go_along_on_the_sliders():
    start = Choices("mnist-dr", upper=3, offsets=(0.5,))
    assert changed(start, upper=4).offsets == (0.5,)
    cells = dataclasses.replace(start, hand="cells")
    assert changed(cells, upper=4).offsets == changed(cells, model="mnist-em").offsets == ()
    assert changed(cells, image=4).offsets == (), "its class may be another one"
    assert changed(start, image=4).offsets == (0.5,)
    assert changed(cells, offsets=(0.123, 0.0)).offsets == (0.12, 0.0)
    assert changed(start, share=0.123).share == 0.12


def test_a_choice_is_tied_to_what_puts_it_back():
    start = Choices("mnist-dr", image=3)
    for other in (changed(start, image=4), changed(start, model="mnist-em")):
        assert tied(other, "lengths") != tied(start, "lengths")
    assert tied(changed(start, hand="cells", upper=4), "lengths") == tied(start, "lengths")


def test_the_link_of_the_start_names_only_the_model():
    assert to_query(Choices("mnist-dr")) == {"model": "mnist-dr"}


def test_an_empty_query_is_the_start():
    assert parse({}, CATALOGUE) == (Choices("mnist-dr"), ())


@pytest.mark.parametrize(("key", "field"), [("model", "model"), ("second", "second")])
def test_a_link_to_a_model_that_left_opens_its_successor_and_says_so(key: str, field: str):
    choices, notices = parse({key: "old-em", "T": "5"}, CATALOGUE)
    assert (getattr(choices, field), choices.iterations) == ("mnist-em", 5)
    assert notices == ("old-em is no longer here; showing mnist-em, which took its place.",)


def test_a_link_to_a_pair_of_which_one_left_opens_its_successor_beside_the_other_and_says_so():
    choices, notices = parse({"pair": "mnist-dr,old-em"}, CATALOGUE)
    assert choices.pair == ("mnist-dr", "mnist-em")
    assert notices == ("Of mnist-dr,old-em not both are here any longer; showing mnist-dr and mnist-em.",)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"model": "resnet"}, "There is no model “resnet”; showing mnist-dr instead."),
        ({"capsule": "-3"}, "There is no primary capsule “-3”; showing no capsule instead."),
        (
            {"touch": "mute:x"},
            "“x” names no capsules; write them like 3,12,40-44; showing the network untouched instead.",
        ),
        ({"second": "resnet"}, "There is no model “resnet” to put beside it; showing nothing beside it instead."),
        ({"lambda": "0.0004"}, "λ goes from 0.001 to 10; showing the model's own λ instead."),
        ({"lambda": "-1"}, "λ goes from 0.001 to 10; showing the model's own λ instead."),
        ({"image": "-1"}, "There is no image “-1”; showing the image to begin with instead."),
        ({"image": "seven"}, "There is no image “seven”; showing the image to begin with instead."),
        ({"image": "9" * 40}, f"There is no image “{'9' * 40}”; showing the image to begin with instead."),
        ({"class": "10"}, "mnist-dr has no class “10” (0 to 9); showing the class that the model predicts instead."),
        (
            {"model": "shapes-l2", "class": "3"},
            "shapes-l2 has no class “3” (0 to 2); showing the class that the model predicts instead.",
        ),
        (
            {"model": "shapes-em", "class": "3"},
            "shapes-em has no class “3” (0 to 2); showing the class that the model predicts instead.",
        ),
        ({"model": "shapes-em", "type": "6"}, "There is no type “6” (0 to 5); showing the most active type instead."),
        ({"only": "1000"}, "There is no class “1000” (0 to 999); showing all classes instead."),
        ({"only": "x"}, "There is no class “x” (0 to 999); showing all classes instead."),
        ({"T": "11"}, "Routing cannot run “11” times here (1 to 10); showing what the model was trained with instead."),
        (
            {"gamma": "7"},
            "γ cannot be “7” here (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3); showing γ = 0.05 instead.",
        ),
        ({"steps": "0"}, "The number of ascent steps cannot be “0” (1 to 200); showing 60 steps instead."),
        ({"T": "0"}, "Routing cannot run “0” times here (1 to 10); showing what the model was trained with instead."),
        (
            {"data": "imagenet"},
            "There is no data set “imagenet” (mnist, digits); showing the model's own data set instead.",
        ),
        ({"split": "validation"}, "There is no split “validation” (test, train); showing “test” instead."),
        (
            {"source": "film"},
            "There is no source of images “film” (data, upload, camera, pad, generated, recorded, overlaid); "
            "showing images of a data set instead.",
        ),
        ({"penalty": "l3"}, "There is no penalty “l3” (l2, l1); showing L2 instead."),
        (
            {"offsets": "0.1,much"},
            "The capsule offsets in the link are not numbers; showing the capsule as it is instead.",
        ),
        ({"offsets": "nan"}, "Capsule offsets go from −1 to 1; showing the capsule as it is instead."),
        ({"offsets": "9"}, "Capsule offsets go from −1 to 1; showing the capsule as it is instead."),
        ({"view": "all"}, f"There is no view “all” ({', '.join(VIEWS)}); showing one image instead."),
        ({"n": "40"}, "“40” images do not fit side by side (4 to 12); showing 9 images instead."),
        (
            {"pair": "mnist-dr,mnist-dr"},
            "“mnist-dr,mnist-dr” is no pair of models; showing the first two methods instead.",
        ),
        ({"cell": "4-12"}, "mnist-dr has no class “12” (0 to 9); showing all cells instead."),
        ({"cell": "4"}, "mnist-dr has no class “” (0 to 9); showing all cells instead."),
        ({"method": "resnet"}, "There is no model “resnet”; showing the first method instead."),
        (
            {"hand": "foot"},
            "There is no way to move a capsule “foot” (sliders, cells, walk); showing “sliders” instead.",
        ),
        ({"beside": "no"}, "A link says beside=1 or leaves it out, not “no”; showing one model instead."),
        (
            {"to": "12.1"},
            "mnist-dr has no class “12” (0 to 9); showing a walk to the class that is second likely instead.",
        ),
        (
            {"to": "3.9"},
            "A class has no exemplar “9” (1 to 8); showing a walk to the class that is second likely instead.",
        ),
        ({"walk": "2"}, "A walk goes from 0 to 1; showing the start of the walk instead."),
        ({"walk": "far"}, "“far” is no share of a walk; showing the start of the walk instead."),
        ({"path": "arc"}, "A link says path=sphere or leaves it out, not “arc”; showing the straight walk instead."),
        (
            {"present": "yes"},
            "A link says present=1 or leaves it out, not “yes”; showing the page with its sidebar instead.",
        ),
        ({"heat": "1"}, "A link says heat=off or leaves it out, not “1”; showing the couplings on the image instead."),
        (
            {"viewpoint": "tilt_3"},
            "There is no change of viewpoint “tilt” (rotation, right, down, scale, shear, brightness); "
            "showing the image as it is instead.",
        ),
        ({"viewpoint": "scale_nan"}, "Scale goes from 0.6 to 1.6; showing the image as it is instead."),
        ({"viewpoint": "rotation_61"}, "Rotation goes from −60 to 60; showing the image as it is instead."),
        (
            {"viewpoint": "rotation"},
            "The rotation in the link, “”, is no number; showing the image as it is instead.",
        ),
        ({"range": "huge"}, "A link says range=wide or leaves it out, not “huge”; showing the paper's range instead."),
    ],
)
def test_what_means_nothing_is_said_in_one_sentence_and_the_default_shown(query: dict[str, str], sentence: str):
    parsed, notices = parse(query, CATALOGUE)
    assert notices == (sentence,)
    assert parsed == Choices(query["model"] if query.get("model") in CATALOGUE.classes else "mnist-dr")


def test_a_switch_in_a_link_reads_what_people_write_for_on_and_off():
    for text, on in {"1": True, "true": True, "0": False, "false": False}.items():
        assert parse({"present": text, "details": text}, CATALOGUE) == (
            Choices("mnist-dr", present=on, details=on),
            (),
        ), text


def test_a_link_names_any_type_of_a_convolutional_layer_also_beyond_the_classes():
    parsed, notices = parse({"model": "shapes-em", "class": "2", "type": "5"}, CATALOGUE)
    assert (parsed.upper, parsed.kind, notices) == (2, 5, ())


def test_a_link_names_any_class_of_a_model_that_stands_in_where_the_chosen_one_has_not_what_a_page_shows():
    able = dataclasses.replace(CATALOGUE, most={"shapes-l2": 10})
    link = {"model": "shapes-l2", "class": "7", "to": "8.2", "lengths": "9:0.5"}
    parsed, notices = parse(link, able)
    assert (parsed.upper, parsed.to, parsed.lengths, notices) == (7, (8, 1), ((9, 0.5),), ())
    assert [notice.split(";")[0] for notice in parse(link, CATALOGUE)[1]] == [
        f"shapes-l2 has no class “{number}” (0 to 2)" for number in (7, 8, 9)
    ]


def test_a_pair_may_be_of_a_file_with_a_comma_in_its_name():
    mine = dataclasses.replace(CATALOGUE, classes={**CATALOGUE.classes, "my, own.capsviz": 10})
    for pair in (("my, own.capsviz", "mnist-dr"), ("mnist-dr", "my, own.capsviz")):
        chosen = dataclasses.replace(Choices("mnist-dr"), pair=pair)
        assert parse(to_query(chosen), mine) == (chosen, ())


@given(st.dictionaries(st.sampled_from([declared.key for declared in DECLARED.values()]), st.text()))
def test_no_query_whatever_breaks_the_parser(query: dict[str, str]):
    parsed, notices = parse(query, CATALOGUE)
    assert dataclasses.asdict(parsed) == dataclasses.asdict(parse(to_query(parsed), CATALOGUE)[0])
    assert all(notice.endswith("instead.") for notice in notices)


@given(capsules() | st.builds(lambda kind: tuple(range(kind, 1152, 32)), st.integers(0, 31)))
def test_a_set_of_capsules_survives_the_link(chosen: tuple[int, ...]):
    assert not chosen or capsule_sets.read(capsule_sets.write(chosen)) == chosen


def test_all_capsules_of_a_type_or_of_a_layer_are_a_few_characters():
    assert capsule_sets.write(range(5, 1152, 32)) == "5-1125/32"
    assert capsule_sets.write([*range(1152)]) == "0-1151"
    assert capsule_sets.write([3, 12, 40, 41, 42]) == "3,12,40-42"
    assert capsule_sets.read("5-346085/32")[-1] == 346_085, "of an image of 224 × 224 pixels"
    types = set(range(0, 31, 3))
    several = tuple(capsule for capsule in range(346_112) if capsule % 32 in types)
    assert capsule_sets.read(capsule_sets.write(several)) == several


def test_a_link_of_a_few_characters_does_not_keep_the_server():
    """64 progressions of prime steps: to write 57,000 capsules took a minute, and the links that were kept 8 GB."""
    primes = [step for step in range(67, 600) if all(step % low for low in range(2, step))][: capsule_sets._NEAR]
    chosen = capsule_sets.read(",".join(f"{first}-190000/{step}" for first, step in enumerate(primes)))
    assert len(chosen) > 50_000
    gc.collect()  # of what other tests have left
    began = time.thread_time()
    text = capsule_sets.write(chosen)
    assert time.thread_time() - began < 5 and text.startswith("0-")
    for far in range(300_000, 300_008):
        capsule_sets.read_intervention(";".join(f"{kind}:0-{far}" for kind in capsule_sets.KINDS))
    assert capsule_sets.read_intervention.cache_info().currsize <= 4
    choices, notices = parse({"offsets": "," * 1_000_000}, CATALOGUE)
    assert choices.offsets == () and "more than 10,000 numbers" in notices[0]


def test_a_link_that_means_nothing_learns_of_no_path():
    catalogue = dataclasses.replace(CATALOGUE, data=("mnist", "folder:/home/somebody/patients@1x32x32"))
    _, notices = parse({"data": "x", "recording": "y"}, catalogue)
    assert [each.split(";")[0] for each in notices] == [
        "There is no data set “x” (mnist)",
        "There is no recording “y” here",
    ]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"pair": "," * 26_000}, "is no pair of models"),
        ({"lengths": ",".join(["0:0"] * 6_000)}, "mnist-dr has 10 classes, and the link more lengths"),
        ({"touch": "mute:" + ",".join(f"{at}-320000/{64 + at}" for at in range(63))}, "names no capsules"),
        ({"picture": "A" * 2_000_000}, "The picture in the link is damaged"),
    ],
)
def test_a_link_takes_no_longer_than_a_look(query: dict[str, str], sentence: str):
    linked_picture._read.cache_clear()
    gc.collect()  # of what other tests have left
    began = time.thread_time()
    _, notices = parse(query | {"source": "upload"}, CATALOGUE)
    assert time.thread_time() - began < 0.5
    assert len(notices) == 1 and sentence in notices[0]
    assert linked_picture._read.cache_info().currsize == 0, "nor is it kept"


def test_a_link_does_not_name_the_same_capsules_over_and_over():
    with pytest.raises(ValueError, match="“mute:0-999999” is no intervention"):
        capsule_sets.read_intervention(";".join(["mute:0-999999"] * 100))
    with pytest.raises(ValueError, match="“0-999999” names no capsules"):
        capsule_sets.read(",".join(["0-999999"] * 7000))
    scattered = ",".join(f"{first}-999999/997" for first in range(0, 990, 9))
    with pytest.raises(ValueError, match="names no capsules"):
        capsule_sets.read(scattered)
