"""Two images of the visitor's choice over one another: the whole page is about both."""

from __future__ import annotations

import pytest
import torch

from app.shared import resources
from app.sources import browsing, images
from app.sources.picture import in_form
from app.state.choices import Choices
from capsviz.data.exemplars import exemplars
from capsviz.data.multi import composed
from tests.app.conftest import Visit
from tests.app.page.test_presenter import press


@pytest.fixture
def two_objects(show_only, bare_machine) -> str:
    """The app with models of digits that name two objects in each image."""
    show_only(["digits-dr", "digits-l2"], "multi-mnist")
    return "digits-dr"


def test_the_picture_is_the_two_images_at_the_offset_of_the_link(two_objects: str):
    entry = resources.entries()[two_objects]
    first, second = browsing.indices("mnist", "test")[3], browsing.indices("mnist", "test")[70]
    choices = Choices(two_objects, source="overlaid", image=first, over=second, right=-3, down=2)
    picture, notices = images.resolve(choices, entry)
    parts = [browsing.image("mnist", "test", index) for index in (first, second)]
    whole = composed(parts[0][0], parts[1][0], -3, 2)
    # The model of this test takes 28 × 28 pixels, and has the canvas brought into that form.
    assert notices == () and torch.equal(picture.pixels, in_form(whole, entry)[0])
    assert picture.labels == (parts[0][1][0], parts[1][1][0])
    assert f"{first} and {second} over one another" in picture.title


def test_an_image_that_is_not_here_is_one_sentence_and_nothing_else_is_lost(two_objects: str):
    entry = resources.entries()[two_objects]
    choices = Choices(two_objects, source="overlaid", over=9_999_999, right=1)
    picture, notices = images.resolve(choices, entry)
    assert len(notices) == 1 and "9999999" in notices[0]
    assert len(picture.labels) == 2


def test_where_the_first_image_is_not_here_another_and_one_over_it_are_shown(two_objects: str, visit: Visit):
    app = visit("dynamic", model=two_objects, source="overlaid", image=9_999_999)
    assert not app.exception and not app.error
    [said] = app.warning
    start = browsing.start("mnist", "test")
    assert "Image 9999999 of MNIST" in said.value and f"showing image {start} instead" in said.value
    assert f"test images {start} and " in " ".join(each.value for each in app.markdown)


def test_where_the_second_image_is_not_here_sidebar_and_picture_show_the_same_one(visit: Visit):
    app = visit("dynamic", model="multi-mnist-dr-residual", source="overlaid", over=500, split="train")
    assert not app.exception and not app.error
    split, said = (each.value for each in app.warning)
    assert split == "The train images of MNIST are not on this machine; showing test images."
    over = next(group.value for group in app.button_group if group.key == "image_thumbs_over")
    assert f"There is no image 500 of MNIST here; image {over} is laid over the first." == said
    assert f" and {over} over one another" in " ".join(each.value for each in app.markdown)
    assert app.button(key="download-mnist")


def test_a_model_of_one_object_shows_an_image_of_its_data_set(bare_machine):
    entry = resources.entries()["digits-dr"]
    assert images.source_of(Choices("digits-dr", source="overlaid"), entry) == "data"


@pytest.mark.parametrize("page", ["dynamic", "discriminative", "perturb", "compare"])
def test_every_page_says_both_classes_and_draws_both(page: str, two_objects: str, visit: Visit):
    app = visit(page, model=two_objects, source="overlaid", dx=4)
    assert not app.exception and not app.error and not app.warning
    said = " ".join(each.value for each in app.markdown)
    assert "over one another, classes" in said
    strip = next(each for each in app.get("plotly_chart") if "strip" in each.proto.id)
    assert " and " in strip.proto.alt and "strongest" in strip.proto.alt
    if page in ("dynamic", "discriminative"):
        apart = next(each for each in app.get("plotly_chart") if "objects" in each.proto.id)
        assert "each drawn by itself" in apart.proto.alt


def test_another_example_or_offset_changes_image_strip_and_link(two_objects: str, visit: Visit):
    app = visit("dynamic", model=two_objects, source="overlaid")
    before = " ".join(each.value for each in app.markdown)
    slider = next(each for each in app.slider if each.label == "to the right, px")
    app = slider.set_value(-5).run()
    assert app.query_params["dx"] == "-5"
    example = next(each for each in app.number_input if each.label.startswith("Over it"))
    app = example.set_value(4).run()
    assert "over" in app.query_params and app.query_params["dx"] == "-5"
    assert " ".join(each.value for each in app.markdown) != before
    assert not app.exception


def test_another_algorithm_keeps_both_images_and_their_offset(visit: Visit):
    app = visit("compare", model="multi-mnist-dr-residual", source="overlaid", image=7, over=108, dx=3)
    model = next(each for each in app.radio if each.label == "Algorithm, and its test error")
    model.set_value("multi-mnist-l1-residual").run()
    kept = {name: app.query_params[name] for name in ("model", "source", "image", "over", "dx")}
    assert kept == {"model": "multi-mnist-l1-residual", "source": "overlaid", "image": "7", "over": "108", "dx": "3"}


def test_the_class_that_thumbnails_show_is_left_where_two_images_are_overlaid(visit: Visit, two_objects: str):
    app = visit("dynamic", model=two_objects, only=3)
    app.segmented_control(key="source").set_value("overlaid").run()
    assert app.query_params["source"] == "overlaid" and "only" not in app.query_params
    assert press(app, "image+1").query_params["image"] == str(exemplars("mnist").start + 1), "the next one of any class"


def test_an_example_chosen_right_behind_a_class_is_one_of_that_class(two_objects: str, visit: Visit):
    app = visit(model=two_objects, source="overlaid")
    here = [browsing.indices_of("mnist", "test", label) for label in range(10)]
    start = browsing.start("mnist", "test")
    label = next(label for label in range(10) if start in here[label])
    other = (label + 1) % 10
    [pills] = [each for each in app.get("button_group") if each.key.startswith("image_thumbs_image")]
    pills.set_value(here[other][here[label].index(start)])
    [number] = [each for each in app.number_input if each.key.startswith("image-example")]
    number.set_value(4)
    app.run()
    assert int(app.query_params["image"]) == here[other][3]
