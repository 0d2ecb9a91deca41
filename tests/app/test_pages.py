"""Every page on real models: it stands, follows the visitor, and stays usable whatever the link says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from app.boards import second_board
from app.components.page_link import ONWARDS
from app.shared import resources
from app.sources import browsing, images, linked_picture
from app.state.choices import Choices
from capsviz import data, zoo
from capsviz.analysis import metrics, perturbation
from capsviz.analysis.perturbation import OFFSETS
from capsviz.data.exemplars import exemplars
from capsviz.figures.csv_table import figure_csv
from capsviz.figures.describe import describe
from capsviz.network import CapsNet, preset
from capsviz.routing import ALGORITHMS
from capsviz.routing.em import BETA_A
from capsviz.tracing.adopting import record
from capsviz.tracing.recorder import trace
from tests import zoos
from tests.app.conftest import Visit
from tests.app.reading import board, boards, charts, live, spoken
from tests.known import first_digit, known

PAGES = (
    *("start", "dynamic", "em", "discriminative", "perturb", "compare", "results", "basics", "mixtures", "viewpoint"),
    "training",
)
START, FIRST = exemplars("mnist").start, data.DIGITS.start


@pytest.mark.parametrize(
    ("page", "figures"),
    [
        ("dynamic", {"strip", "lengths", "entropy"}),
        ("em", {"strip"}),
        ("discriminative", {"strip"}),
        ("perturb", {"strip", "meanings", "sheet"}),
        ("compare", {"strip", "reconstructions"}),
    ],
)
def test_a_page_shows_its_figures_its_explanation_and_its_source(visit: Visit, page: str, figures: set[str]):
    app = visit(page, details=1)
    assert figures <= charts(app).keys()
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    assert not app.error
    assert not app.warning
    assert app.header[0].value
    assert app.latex
    assert "Source:" in spoken(app)


def test_without_mnist_the_app_starts_with_an_image_of_it_that_comes_with_capsviz(visit: Visit):
    app = visit()
    assert app.radio(key="model").value == "mnist-dr-paper"
    assert f"MNIST test image {START}" in spoken(app)
    assert "image" not in app.query_params
    assert thumbnails(app).value in (None, START)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_page_carries_the_choices_along(visit: Visit, page: str):
    app = visit(page, model="digits-em", image=17, T=5, **{"class": 2})
    links = [link for link in app.get("page_link") if "**" not in link.proto.label]
    assert [link.proto.page for link in links if link.proto.page in PAGES] == list(PAGES)
    for link in links:
        assert link.proto.query_string == "model=digits-em&image=17&class=2&T=5"


def test_the_board_has_the_iterations_of_the_link(visit: Visit):
    assert board(visit("dynamic", model="digits-dr", T=5)).fields["rounds"] == 5


@pytest.mark.parametrize(
    ("page", "model"), [("perturb", "digits-em"), ("compare", "digits-em"), ("basics", "digits-dr")]
)
def test_a_page_that_says_nothing_of_t_and_temperature_runs_as_trained(visit: Visit, page: str, model: str):
    app = visit(page, model=model, image=1, T=1, **{"lambda": 10})
    trace = app.session_state["shown"].trace
    assert (trace.layer.iterations, trace.called(int(trace.predicted[0]))) == (3, "class 0")
    assert trace.config.inverse_temperature == zoo.entry(model).config.inverse_temperature


def test_an_intervention_of_the_link_is_on_the_board_and_held_against_the_untouched_run(visit: Visit):
    given = board(visit("dynamic", model="digits-dr", touch="mute:0-7;boost:9"))
    assert given.fields["touched"] == "8 muted, 1 boosted"
    assert "base_shares" in given.arrays
    assert "base_shares" not in board(visit("dynamic", model="digits-dr")).arrays


@pytest.mark.parametrize(
    ("page", "model", "link"),
    [
        *(("perturb", "digits-dr", {}), ("viewpoint", "digits-dr", {}), ("discriminative", "digits-l2", {})),
        *(("compare", "digits-dr", {}), ("compare", "digits-dr", {"view": "many"})),
    ],
)
def test_a_page_that_runs_the_network_untouched_says_so_of_a_link_with_an_intervention(
    visit: Visit, page: str, model: str, link: dict
):
    touched = spoken(visit(page, model=model, touch="mute:0-7", **link))
    assert touched.count("muted, boosted or isolated; this page runs the network untouched") == 1
    assert "untouched" not in spoken(visit(page, model=model, **link))


@pytest.mark.parametrize("view", ["many", "distributions", "confusions", "wrong"])
def test_where_figures_of_a_test_set_are_presented_they_have_the_room_of_that_sentence(visit: Visit, view: str):
    link = {"model": "mnist-dr-paper", "touch": "mute:0-7", "view": view}
    assert "this page runs the network untouched" in spoken(visit("compare", **link))
    assert "this page runs the network untouched" not in spoken(visit("compare", present=1, **link))


def test_what_is_muted_in_the_chosen_model_is_not_said_of_another_that_runs_in_its_place(visit: Visit):
    said = spoken(visit("perturb", model="digits-l2-fc", touch="mute:0-7"))
    assert "runs on the same image" in said and "untouched" not in said


def test_what_an_intervention_changed_in_the_reconstruction_is_no_error_of_it(visit: Visit):
    _, figure = (
        visit("dynamic", model="digits-dr", touch="mute:0-7").session_state["shown"].pictures["answer-difference"]
    )
    for said in (figure.data[0].hovertemplate, describe(figure), figure_csv(figure)):
        assert "now − untouched" in said and "input" not in said and "error" not in said


def test_another_image_is_routed_beside_the_first_and_plays_in_step(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=3, second="image", image2=5)
    given = boards(app)
    assert [each.fields["group"] for each in given] == ["pair", "pair"]
    assert "Digits test image 5" in spoken(app)


ROUTED = [name for name, each in ALGORITHMS.items() if "board" in each.pictures]


@pytest.mark.parametrize("routing", ROUTED)
@pytest.mark.parametrize("page", ["dynamic", "em"])
def test_beside_it_stands_any_algorithm_by_its_own_model(visit: Visit, page: str, routing: str):
    name = f"digits-{routing}"
    app = visit(page, model=f"digits-{'em' if page == 'em' else 'dr'}", image=7, second=name)
    if not app.selectbox(key="second").value:
        assert name == app.query_params["model"]
        return
    first, second = boards(app)
    assert first.fields["group"] == second.fields["group"] == "pair"
    assert f"**{name}**" in spoken(app)
    own = resources.trace(name, images.from_data("digits", "test", 7, zoo.entry(name)).key, 3)
    np.testing.assert_allclose(second.arrays["lengths"].reshape(-1, 10)[2], own.layer["activations"][-1, 0], atol=1e-6)
    titles = [zoo.entry(each).method.title for each in (app.query_params["model"], name)]
    for figure in ("certainty", "shares"):
        assert [bars["name"] for bars in charts(app)[figure]["data"]] == titles
    assert "trained apart" in spoken(app)


@pytest.mark.parametrize(("page", "model", "other"), [("dynamic", "digits-dr", "em"), ("em", "digits-em", "dr")])
@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_beside_it_another_algorithm_routes_the_same_votes(
    visit: Visit, page: str, model: str, other: str, rounds: int
):
    app = visit(page, model=model, image=7, second=f"same:{other}", T=rounds)
    first, second = boards(app)
    assert second.fields["rounds"] == rounds == first.fields["rounds"]
    assert f"**{ALGORITHMS[other].title}** · the votes of {model}" in spoken(app)
    own = resources.trace(model, images.from_data("digits", "test", 7, zoo.entry(model)).key, rounds)
    votes = known(own.layer.votes)
    lower, upper = votes.shape[1:3]
    weights = ALGORITHMS[other].unlearned(lower, upper)
    routed = record(None, votes, other, iterations=rounds, weights=weights, activations=own.primary_activations)
    found = torch.tensor(second.arrays["lengths"].reshape(-1, upper)[rounds - 1])
    torch.testing.assert_close(found, routed.activations[0], atol=1e-6, rtol=1e-6)
    shares = ALGORITHMS[other].share.field
    torch.testing.assert_close(
        torch.tensor(second.arrays["shares"].reshape(-1, lower, upper)[rounds - 1]),
        routed.layer[shares][-1, 0],
        atol=1e-6,
        rtol=1e-6,
    )
    drawn = {each["name"]: each["y"] for each in charts(app)["certainty"]["data"]}
    assert list(drawn) == [ALGORITHMS[name].title for name in (zoo.entry(model).routing, other, "l2")]
    np.testing.assert_allclose(drawn[ALGORITHMS[other].title], routed.activations[0], atol=1e-3)
    given = {each["name"]: each["y"] for each in charts(app)["shares"]["data"]}
    np.testing.assert_allclose(given[ALGORITHMS[other].title], routed.layer[shares][-1, 0].mean(0), atol=1e-3)
    assert "every b = 0.1" in spoken(app) and "thought experiment" in spoken(app)
    if other == "em":
        em = routed.layer.steps
        sure, cost = em["activations"][-1, 0], em["cost"][-1, 0].sum(-1)
        logits = em["inverse_temperature"][-1] * (BETA_A - cost)
        torch.testing.assert_close(sure, logits.sigmoid())
        ends = " to ".join(f"{float(end):.1f}".replace("-", "−") for end in (cost.min(), cost.max()))
        assert "EM routing is sure of every class (a ≥ 0." in spoken(app) and sure.min() > 0.5
        assert f"the costs are negative, from {ends}, and" in spoken(app) and cost.max() < 0
    else:
        assert "sure of every class" not in spoken(app)


def test_the_numbers_below_a_board_go_from_the_first_iteration_to_the_last(visit: Visit):
    said = {each.label: each.value for each in visit("dynamic", model="digits-dr").metric}
    layer = trace("digits-dr", first_digit()).layer
    lengths, largest = layer["activations"][:, 0], layer["couplings"][:, 0].flatten(1).amax(1)
    _, second = lengths[-1].topk(2).indices.tolist()
    assert said["Runner-up"] == f"{second} ({lengths[-1, second]:.2f})"
    assert said["Largest coupling, first → last"] == f"{largest[0]:.2f} → {largest[-1]:.2f}"
    said = {each.label: each.value for each in visit("em", model="digits-em", **{"class": 2}).metric}
    spread = trace("digits-em", first_digit()).layer["variances"][:, 0, 2].log().mean(-1).div(2).exp()
    assert said["Spread σ of class 2"] == f"{spread[0]:.2f} → {spread[-1]:.2f}"


@pytest.mark.parametrize(
    ("model", "image", "holds"),
    [
        ("mnist-em-residual", START, "<b>9</b>, the most active, holds 266 of 784 capsules by R: the most."),
        ("mnist-matrix", START, "<b>9</b>, the most active, holds 0.05 of 72 capsules by R: the least."),
    ],
)
def test_the_headline_of_em_says_what_the_most_active_class_holds_here(
    visit: Visit, model: str, image: int, holds: str
):
    said = "\n".join(each.value for each in visit("em", model=model, image=image).markdown)
    assert f"over the votes. Here {holds}</p>" in said


def test_what_may_stand_beside_is_marked_by_its_kind(visit: Visit):
    [picker] = [each for each in visit("dynamic", model="mnist-dr-paper").selectbox if each.label == "Beside it"]
    marks = [label[0] for label in picker.options[2:]]
    assert marks == sorted(marks, key=list(second_board.MARKS).index) and set(marks) == second_board.MARKS.keys()
    assert all(f"{mark} {said}" in picker.help for mark, said in second_board.MARKS.items())


@pytest.mark.parametrize(("page", "model"), [("em", "mnist-matrix"), ("dynamic", "digits-dr")])
def test_what_cannot_route_the_votes_is_not_offered(visit: Visit, page: str, model: str):
    offered = visit(page, model=model).selectbox(key="second").options
    same = [each for each in offered if "on the same votes" in each]
    assert same == ([] if page == "em" else ["≡ EM routing, on the same votes"])


def test_the_inverse_temperature_is_moved_and_goes_to_the_url(visit: Visit):
    app = visit("em", model="digits-em")
    app.select_slider(key="temperature").set_value(5.0).run()
    assert app.query_params["lambda"] == "5"


def test_a_board_holds_every_t_at_once_where_one_routing_contains_the_others(visit: Visit):
    given = board(visit("em", model="digits-em", T=6)).fields
    assert (given["rounds"], given["iterations"], given["most"], given["trained"]) == (6, 10, 10, 3)
    given = board(visit("em", model="mnist-matrix", T=2)).fields
    assert (given["rounds"], given["iterations"], given["shorter"]) == (2, 2, False)


def test_a_chosen_class_goes_to_the_url_and_back_to_the_predicted_one_with_another_image(visit: Visit):
    app = visit("dynamic", model="digits-dr")
    app.button_group(key="upper").set_value(3).run()
    assert app.query_params["class"] == "3"
    app.button(key="random").click().run()
    assert "class" not in app.query_params
    assert not app.exception


def test_a_model_without_decoder_has_one_name_wherever_it_is_offered_or_compared(visit: Visit):
    app = visit("compare", model="digits-l2-fc", view="confusions")
    assert "L2/FC, no decoder · 0.28 %" in app.radio(key="model").options
    titles = [note["text"] for note in charts(app)["confusions"]["layout"]["annotations"]]
    assert "<b>L2/FC</b><br>1 wrong" in titles
    entry = zoo.entry("digits-l2-fc")
    assert resources.kind(replace(entry, command=f"{entry.command} --seed 1")) == "L2/FC, seed 1"


def test_a_page_about_another_algorithm_runs_the_sibling_and_says_so(visit: Visit):
    app = visit("em", model="digits-dr")
    assert "digits-dr is Dynamic routing; here **digits-em** runs on the same image." in spoken(app)
    assert app.radio(key="model").value == "digits-em" and app.query_params["model"] == "digits-dr"


def test_a_model_without_decoder_is_perturbed_through_its_sibling(visit: Visit):
    assert "digits-l2-fc has no decoder; here **digits-l2** runs" in spoken(visit("perturb", model="digits-l2-fc"))


@pytest.mark.parametrize("page", ["perturb", "viewpoint"])
def test_the_only_model_of_its_images_that_draws_nothing_is_not_said_to_be_missing(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str
):
    known = resources.entries()
    theirs = replace(known["digits-l2-fc"], data="their leaves (not here)")
    monkeypatch.setattr(resources, "entries", lambda: known | {theirs.name: theirs})
    said = spoken(visit(page, model=theirs.name))
    assert "digits-l2-fc has no decoder; here **digits-l2** runs on the same image." in said
    assert "There is no L2 model" not in said


def test_where_no_decoder_draws_such_images_the_sentence_says_what_to_do(visit: Visit, show_only: Callable[..., None]):
    show_only(["digits-l2-fc"], "mnist")
    wanted = "that takes these images and has a decoder is here; "
    [error] = visit("perturb", model="digits-l2-fc").error
    assert error.value == f"No L2 model {wanted}`capsviz train --data mnist --routing l2` trains one."
    show_only(["digits-l2-fc"], "cifar10")  # whose presets have no decoder to train
    [error] = visit("compare", model="digits-l2-fc").error
    assert error.value == f"No Dynamic routing model {wanted}choose a model of another data set than CIFAR-10."


def test_where_nothing_is_known_of_the_images_another_model_runs_without_advice_to_train(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
):
    known = dict(resources.entries())
    theirs = replace(known["digits-dr"], data="their leaves (not here)")
    monkeypatch.setattr(resources, "entries", lambda: known | {"digits-dr": theirs})
    said = spoken(visit("em", model="digits-dr"))
    assert "There is no EM routing model of their leaves (not here) here yet, so **digits-em** runs on the same" in said
    assert "capsviz train" not in said


def test_where_no_model_takes_the_image_links_lead_to_pages_that_show_it_and_a_button_to_another_model(visit: Visit):
    app = visit("em", model="multi-mnist-l1-residual", image=7)
    [error] = app.error
    assert "`capsviz train --data multi-mnist --routing em` trains one." in error.value
    ways = [link.proto for link in app.get("page_link") if "MultiMNIST test image 7," in link.proto.label]
    assert [way.page for way in ways] == ["dynamic", "discriminative"]
    assert {way.query_string for way in ways} == {"model=multi-mnist-l1-residual&image=7"}
    [way] = [button for button in app.main.button if button.label == "EM routing of MNIST"]
    way.click().run()
    assert not app.error and zoo.entry(app.query_params["model"]).routing == "em"
    assert app.header[0].value == "EM routing" and "strip" in charts(app)


def test_one_model_that_draws_is_compared_though_dynamic_routing_is_missing(
    visit: Visit, show_only: Callable[..., None]
):
    show_only(["digits-l2"], "digits")
    app = visit("compare", model="digits-l2")
    assert not app.error and list(app.dataframe[0].value["Model"]) == ["digits-l2"]


def test_models_of_other_classes_or_another_form_of_images_are_not_compared(
    visit: Visit, show_only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    show_only(["digits-dr", "digits-l2", "digits-em", "cifar10-l2-residual"], data="digits")
    known = resources.entries()
    dr, em, l2 = known["digits-dr"], known["digits-em"], known["digits-l2"]
    known |= {"digits-em": replace(em, classes=(*em.classes[1:], "0"))}
    monkeypatch.setattr(resources, "entries", lambda: known)
    app = visit("compare", model="digits-dr")
    assert list(app.dataframe[0].value["Model"]) == ["digits-dr", "digits-l2"]
    assert "of these classes and this form of images is here yet by" in spoken(app)
    assert list(visit("compare", model="cifar10-l2-residual").dataframe[0].value["Model"]) == ["cifar10-l2-residual"]
    assert [each["title"] for each in live(visit("perturb", model="digits-dr", beside=1))["decoders"]] == ["DR", "L2"]
    assert "digits-em" not in second_board.options(dr) and "digits-dr" in second_board.options(l2)


def test_the_sentence_on_agreement_is_on_screen(visit: Visit):
    text = spoken(visit("discriminative", model="digits-l2"))
    assert "the û · v that dynamic routing adds to its logits</b>, v being its s at another length" in text
    assert "signed by the label, averaged over a batch and kept" in text


def test_the_penalty_can_be_changed_on_the_page(visit: Visit):
    app = visit("discriminative", model="digits-l2")
    app.button_group(key="penalty").set_value("l1").run()
    assert app.query_params["penalty"] == "l1"
    assert "**digits-l1** runs" in spoken(app)


def test_a_link_brings_its_offsets_to_the_live_decoder(visit: Visit):
    sent = live(visit("perturb", model="digits-dr", offsets=",,,0.25" + "," * 12))
    assert sent["state"]["offsets"] == [0, 0, 0, 0.25] + [0] * 12
    assert (sent["reach"], sent["hand"]) == (0.25, "sliders")
    assert [decoder["title"] for decoder in sent["decoders"]] == ["digits-dr"]
    output = zoo.load("digits-dr")(first_digit())
    assert sent["state"]["upper"] == int(output.activations.argmax())
    for ours, theirs in zip(sent["decoders"][0]["poses"], output.poses[0].tolist(), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)
    assert len(sent["labels"]) == 10 and any(any(words) for words in sent["labels"])


def test_the_wider_range_is_wider_and_narrowing_it_keeps_the_sliders_inside(visit: Visit):
    app = visit("perturb", model="digits-dr", range="wide", offsets="0.8" + "," * 15)
    assert (live(app)["reach"], live(app)["state"]["offsets"][0]) == (1.0, 0.8)
    app.toggle(key="wide").set_value(False).run()
    assert (live(app)["reach"], live(app)["state"]["offsets"][0]) == (0.25, 0.25)
    assert app.query_params["offsets"] == "0.25" + "," * 15
    assert not app.exception


def test_offsets_beyond_the_range_of_the_paper_widen_the_sliders(visit: Visit):
    app = visit("perturb", model="digits-dr", offsets="-0.4" + "," * 15)
    assert (live(app)["reach"], live(app)["state"]["offsets"][0]) == (1.0, -0.4)
    assert app.toggle(key="wide").value


def test_all_models_stand_side_by_side_each_with_its_own_capsules_of_the_same_image(visit: Visit):
    sent = live(visit("perturb", model="digits-em", beside=1, offsets="0.2" + "," * 15))
    assert [decoder["title"] for decoder in sent["decoders"]] == [each.short for each in ALGORITHMS.values()]
    assert sent["lead"] == list(ALGORITHMS).index("em") and sent["state"]["offsets"][0] == 0.2
    image = first_digit()
    for decoder, routing in zip(sent["decoders"], ALGORITHMS, strict=True):
        name = f"digits-{routing}"
        pose = zoo.load(name)(image).poses[0, 3] / perturbation.unit(zoo.exemplar_capsules(name))
        assert decoder["poses"][3] == pytest.approx(pose.tolist(), abs=1e-5)


def test_a_link_to_a_walk_is_a_walk(visit: Visit):
    app = visit("perturb", model="digits-dr", hand="walk", to="8.3", walk="0.4", path="sphere")
    assert "offsets can make it longer, also where a walk begins" in spoken(app)
    sent = live(app)
    assert sent["hand"] == "walk"
    assert (sent["state"]["to"], sent["state"]["share"], sent["state"]["sphere"]) == ([8, 2], 0.4, True)
    app = visit("perturb", model="digits-dr")
    activations = zoo.load("digits-dr")(first_digit()).activations[0]
    assert live(app)["state"]["to"] == [int(activations.argsort(descending=True)[1]), 0]


def test_the_sheet_has_a_cell_per_dimension_and_offset(visit: Visit):
    texts = next(trace["text"] for trace in charts(visit("perturb"))["sheet"]["data"] if "text" in trace)
    assert (len(texts), len(texts[0])) == (16, len(OFFSETS))


def test_matrix_capsules_are_moved_by_as_much_as_can_be_seen(visit: Visit):
    app = visit("perturb", model="digits-matrix")
    model, image = zoo.load("digits-matrix"), first_digit()
    unit, poses = perturbation.unit(zoo.exemplar_capsules("digits-matrix")), model(image).poses[0]
    assert live(app)["decoders"][0]["unit"] == pytest.approx(unit)
    for ours, theirs in zip(live(app)["decoders"][0]["poses"], poses, strict=True):
        assert ours == pytest.approx((theirs / unit).tolist(), abs=1e-5)
    label = live(app)["state"]["upper"]
    plain, scaled = (
        perturbation.sheet(model, poses[label], label, [of * end for end in (-0.25, 0.25)]) for of in (1, unit)
    )
    change = [float((images[:, 1] - images[:, 0]).abs().mean((1, 2, 3)).max()) for images in (plain, scaled)]
    assert change[0] < 0.02 < 0.05 < change[1]
    assert f"pixels change most, by {change[1]:.3f} on average" in charts(app)["sheet"]["layout"]["meta"]["alt"]
    assert live(visit("perturb", model="digits-dr"))["decoders"][0]["unit"] == 1


def test_compare_asks_every_method(visit: Visit):
    app = visit("compare", model="digits-dr")
    answers = app.dataframe[0].value
    assert list(answers["Method"]) == [each.title for each in ALGORITHMS.values()]
    assert list(answers["Test error"]) == [zoo.entry(name).test_error for name in answers["Model"]]
    notes = [note["text"] for note in charts(app)["reconstructions"]["layout"]["annotations"]]
    image = first_digit()
    for name, mse, ssim in zip(answers["Model"], answers["MSE"], answers["SSIM"], strict=True):
        drawn = known(zoo.load(name)(image).reconstruction)
        expected = float((drawn - image).square().mean()), float(metrics.structural_similarity(drawn, image))
        assert (mse, ssim) == pytest.approx(expected, abs=1e-4)
        assert any(f"MSE {mse:.4f}, SSIM {ssim:.2f}" in note for note in notes)


def test_of_two_models_by_one_algorithm_the_chosen_one_is_compared(visit: Visit):
    matrix, plain = (visit("compare", model=name, image=3) for name in ("digits-matrix", "digits-l2"))
    names = [f"digits-{routing}" for routing in ALGORITHMS]
    assert list(plain.dataframe[0].value["Model"]) == names
    names[names.index("digits-em")] = "digits-matrix"
    assert list(matrix.dataframe[0].value["Model"]) == names


def thumbnails(app: AppTest) -> ButtonGroup:
    """The images to choose from, under whatever key they stand at present."""
    return next(group for group in app.button_group if group.key.startswith("image_thumbs"))


def test_browsing_a_class_shows_only_its_images(visit: Visit):
    app = visit(model="digits-dr", image=0)
    app.selectbox(key="only").set_value(4).run()
    assert app.query_params["only"] == "4"
    labels = [option.content for option in thumbnails(app).proto.options]
    assert len(labels) == 15
    assert all(", class 4](data:image/png" in label for label in labels)
    assert "class 4" in spoken(app)


def test_a_thumbnail_picked_before_those_of_another_data_set_are_drawn_picks_none_of_theirs(visit: Visit):
    for choice in ("data", "model_data"):
        app = visit(model="digits-dr", image=0)
        app.selectbox(key=choice).set_value("mnist")
        thumbnails(app).set_value(7)
        app.run()
        assert "image" not in app.query_params, choice
        assert "MNIST test image" in spoken(app) and "test image 7" not in spoken(app), choice
    app = visit("perturb", model="digits-dr", image=0)
    app.radio(key="model").set_value("digits-l2")
    thumbnails(app).set_value(7)
    app.run()
    assert (app.query_params["model"], app.query_params["image"]) == ("digits-l2", "7"), "the images are the same"


def test_for_a_model_that_draws_nothing_a_generated_picture_stays_on_stage(visit: Visit):
    app = visit("perturb", model="digits-dr", source="generated", image=29)
    before = app.session_state["shown"].trace.images
    app.radio(key="model").set_value("digits-l2-fc").run()
    assert not app.exception and app.query_params["model"] == "digits-l2-fc"
    assert torch.equal(app.session_state["shown"].trace.images, before)
    assert "Digits test image 29" not in spoken(app)


def test_labelled_images_are_those_of_the_first_data_set_that_fits_in_every_way(monkeypatch: pytest.MonkeyPatch):
    """A folder of the same classes in another size is no reason to find none."""
    entry, real = zoo.entry("digits-l2"), data.describe
    theirs = SimpleNamespace(image=(3, 32, 32))
    for asked in ("labelled", "whole", "here"):
        monkeypatch.setattr(browsing, asked, lambda name: name in ("digits", "theirs"))
    monkeypatch.setattr(browsing, "classes", lambda _: entry.classes)
    monkeypatch.setattr(data, "describe", lambda name: theirs if name == "theirs" else real(name))
    assert images.labelled(Choices("digits-l2", data="theirs"), entry) == "digits"
    theirs.image = (1, 28, 28)
    assert images.labelled(Choices("digits-l2", data="theirs"), entry) == "theirs"


def test_what_is_browsed_by_class_is_of_that_class_from_whatever_source(visit: Visit):
    app = visit("perturb", model="digits-dr", only=7)
    app.segmented_control(key="source").set_value("generated").run()
    assert "generated 7, exemplar 0" in spoken(app)
    app.segmented_control(key="source").set_value("data").run()
    assert "class 7" in spoken(app)
    [split] = [each for each in app.selectbox if each.label == "Split"]
    split.set_value("train").run()
    assert thumbnails(app).value is not None


def test_a_class_picked_before_the_images_of_another_data_set_are_drawn_is_of_these(visit: Visit):
    app = visit(model="digits-dr", image=0)
    app.selectbox(key="model_data").set_value("mnist")
    app.selectbox(key="only").set_value(7)
    app.run()
    assert app.query_params["only"] == "7" and "MNIST test image" in spoken(app) and "class 7" in spoken(app)


def test_leafing_through_the_thumbnails_changes_no_image(visit: Visit):
    app = visit(model="digits-dr", image=20)
    leaf = app.get("pagination")[0]
    assert leaf.value == 2
    leaf.set_value(5).run()
    assert app.get("pagination")[0].value == 5
    assert app.query_params["image"] == "20"
    thumbnails(app).set_value(60).run()
    assert app.query_params["image"] == "60"
    assert "Digits test image 60" in spoken(app)


def led_to(app: AppTest) -> tuple[str, dict[str, str]]:
    """The page and the choices of the link that the browser is to follow."""
    [link] = [each.proto for each in app.get("page_link") if each.proto.label == ONWARDS]
    return link.page, dict(parse_qsl(link.query_string))


def test_another_model_of_the_same_data_set_keeps_the_image(visit: Visit):
    app = visit(model="digits-dr", image=33)
    app.radio(key="model").set_value("digits-l1").run()
    assert led_to(app) == ("discriminative", {"model": "digits-l1", "image": "33"})


def test_drawn_images_are_labelled_as_generated(visit: Visit):
    app = visit(model="digits-dr", source="generated", image=70)
    assert "generated 8, exemplar 6" in spoken(app)
    assert "Generated: no photograph" in spoken(app)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"model": "resnet"}, "There is no model “resnet”; showing mnist-dr-paper instead."),
        (
            {"image": 9999},
            f"Image 9999 of MNIST is not among the 200 that come with capsviz; showing image {START} instead. "
            "Download MNIST in the sidebar to see it.",
        ),
        ({"image": "x"}, "There is no image “x”; showing the image to begin with instead."),
        ({"split": "train"}, "The train images of MNIST are not on this machine; showing test images."),
        (
            {"class": 10},
            "mnist-dr-paper has no class “10” (0 to 9); showing the class that the model predicts instead.",
        ),
        ({"T": 99}, "Routing cannot run “99” times here (1 to 10); showing what the model was trained with instead."),
    ],
)
def test_what_a_link_cannot_have_is_said_and_the_default_shown(visit: Visit, query: dict, sentence: str):
    app = visit("compare" if "image" in query else "dynamic", **query)
    assert [warning.value for warning in app.warning] == [sentence]
    assert "strip" in charts(app)
    assert f"MNIST test image {START}" in spoken(app)


def test_an_image_that_the_digits_have_not_is_said_and_the_first_shown(visit: Visit):
    app = visit(model="digits-dr", image=360)
    assert [warning.value for warning in app.warning] == [
        f"There is no image 360 (0 to 359); showing image {FIRST} instead."
    ]
    assert f"Digits test image {FIRST}" in spoken(app)


def test_a_model_whose_data_set_is_absent_has_the_images_of_capsviz_and_offers_the_download(visit: Visit):
    app = visit(model="mnist-dr-paper")
    assert "200 test images of MNIST come with capsviz." in spoken(app)
    assert app.button(key="download-mnist").label == "Download MNIST (11.6 MB)"
    assert f"MNIST test image {START}" in spoken(app)
    assert board(app).fields["symbol"] == "c"


def test_a_download_that_fails_is_one_sentence_and_the_page_stays(visit: Visit, monkeypatch, tmp_path):
    app = visit(model="mnist-dr-paper")
    blocked = tmp_path / "a-file"
    blocked.write_text("where a folder ought to be")
    monkeypatch.setenv("CAPSVIZ_DATA", str(blocked))
    app.button(key="download-mnist").click().run()
    assert not app.exception
    assert len(app.error) == 1
    assert app.error[0].value.startswith("MNIST could not be written to")
    assert board(app).fields["symbol"] == "c"


def test_the_toy_of_two_parents_stands_on_the_page_of_dynamic_routing(visit: Visit):
    app = visit("dynamic", model="digits-dr", lab="toy")
    assert "Take the votes into your hand" in spoken(app)
    assert not boards(app)


def test_the_algorithm_is_the_one_that_the_page_runs_and_another_leads_to_its_own_page(visit: Visit):
    app = visit("em", model="digits-l2", image=5, T=4)
    assert app.radio(key="model").value == "digits-em"
    assert any("digits-em: " in caption.value for caption in app.caption)
    app.radio(key="model").set_value("digits-matrix").run()
    assert app.header[0].value == "EM routing" and app.query_params["model"] == "digits-matrix"
    app.radio(key="model").set_value("digits-l1").run()
    page, query = led_to(app)
    assert query == {"model": "digits-l1", "image": "5", "T": "4"}
    app = visit(page, **query)
    assert app.header[0].value == "L2 / L1: discriminative routing"
    assert not [each for each in app.get("page_link") if each.proto.label == ONWARDS], "one goes there once"
    assert app.radio(key="model").value == "digits-l1"


def test_the_penalty_of_the_page_is_its_algorithm_and_the_other_way_round(visit: Visit):
    app = visit("discriminative", model="digits-l2", penalty="l1")
    assert app.radio(key="model").value == "digits-l1"
    app.radio(key="model").set_value("digits-l2").run()
    assert dict(app.query_params) == {"model": "digits-l2"}


def test_where_nothing_of_it_is_shown_no_model_and_no_image_can_be_chosen(visit: Visit):
    app = visit("results", model="digits-dr", image=7)
    assert not app.radio and not app.sidebar.selectbox and not app.sidebar.button_group
    assert {link.proto.query_string for link in app.get("page_link")} == {"model=digits-dr&image=7"}


def test_a_damaged_model_beside_leaves_the_page(visit: Visit, monkeypatch):
    decoder = resources.decoder

    def damaged(name: str) -> bytes:
        if name == "digits-em":
            raise zoo.ZooError("digits-em.safetensors is missing; restore it with git.")
        return decoder(name)

    monkeypatch.setattr(resources, "decoder", damaged)
    app = visit("perturb", model="digits-dr", beside=1)
    assert [error.value for error in app.error] == ["digits-em.safetensors is missing; restore it with git."]
    assert app.sidebar.selectbox(key="model_data") and any("What the numbers" in each.value for each in app.subheader)


def test_a_picture_that_is_moved_out_of_sight_is_said_in_plain_words(visit: Visit):
    picture = torch.zeros(1, 28, 28, dtype=torch.uint8)
    picture[0, 14, 27] = 255
    link = {"source": "upload", "picture": linked_picture.written(picture), "viewpoint": "right_8"}
    [warning] = [each.value for each in visit("dynamic", model="digits-dr", **link).warning]
    assert "nothing of the picture is left" in warning and "*" not in warning


def test_a_model_of_more_iterations_than_may_be_chosen_plays_its_own(visit: Visit, monkeypatch, tmp_path):
    for routing, iterations in (("dr", 15), ("l2", None)):
        network = CapsNet(preset("tiny", "digits", routing))
        if iterations:
            network = CapsNet(replace(network.config, iterations=iterations))
        monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
        zoos.saved(network, f"digits-{routing}")
    given = board(visit("dynamic", model="digits-dr")).fields
    assert given["iterations"] >= given["rounds"] == 15 <= given["most"]
    app = visit("discriminative", model="digits-l2", votes="own")
    assert app.slider(key="iterations").value == 15
    app.slider(key="iterations").set_value(8).run()
    assert app.query_params["T"] == "8" and app.slider(key="iterations").value == 8
    app.slider(key="iterations").set_value(15).run()
    assert "T" not in app.query_params and app.slider(key="iterations").value == 15
