"""Compare says what each model says, and draws one model's capsules with another's decoder."""

from __future__ import annotations

import pytest
import torch

from capsviz import zoo
from capsviz.analysis.comparison import CompareError, compare, redraw
from capsviz.data import load
from capsviz.network import CapsNet, preset
from capsviz.tracing.pixels import PixelsError


def tiny(routing: str, *, decoder: bool = True, data: str = "digits") -> CapsNet:
    return CapsNet(preset("tiny", data, routing, decoder=decoder)).eval()


@pytest.fixture
def images() -> torch.Tensor:
    return torch.rand(3, 1, 28, 28)


def test_every_model_answers_with_its_longest_capsule_and_its_own_drawing(images: torch.Tensor):
    models = {"dr": tiny("dr"), "em": tiny("em"), "l2": tiny("l2")}
    comparison = compare(models, images)
    assert list(comparison.answers) == ["dr", "em", "l2"]
    for name, model in models.items():
        answer, drawing = comparison.answers[name], comparison.drawings[name]
        with torch.inference_mode():
            output = model(images)
        assert torch.equal(answer.predicted, output.activations.argmax(1))
        torch.testing.assert_close(drawing.reconstruction, output.reconstruction)
        torch.testing.assert_close(drawing.mse, (output.reconstruction - images).square().flatten(1).mean(1))


def test_pretrained_models_are_compared_by_name():
    digits = load("digits", "test").images[:3]
    named, given = (compare({"dr": model}, digits).answers["dr"] for model in ("digits-dr", zoo.load("digits-dr")))
    assert torch.equal(named.activations, given.activations)
    drawn = [redraw(model, model, digits).drawn for model in ("digits-dr", zoo.load("digits-dr"))]
    assert torch.equal(drawn[0], drawn[1])


def test_names_alone_are_their_own_titles(images: torch.Tensor):
    assert list(compare(["digits-dr", "digits-l2"], images).answers) == ["digits-dr", "digits-l2"]


def test_of_two_objects_every_model_names_and_draws_two(images: torch.Tensor):
    model = tiny("dr")
    answer = compare({"dr": model}, images, objects=2).answers["dr"]
    with torch.inference_mode():
        output = model(images)
    assert torch.equal(answer.named, output.activations.topk(2).indices)
    assert torch.equal(answer.drawing.reconstruction, model.reconstruct(output.poses, output.activations, objects=2))


def test_a_model_without_decoder_classifies_and_draws_nothing(images: torch.Tensor):
    comparison = compare({"fc": tiny("l1", decoder=False)}, images)
    assert comparison.answers["fc"].predicted.shape == (3,)
    assert comparison.drawings == {}


@pytest.mark.parametrize("given", [torch.Tensor.double, lambda images: (images * 255).round().byte()])
def test_images_of_any_type_are_compared_as_they_are_traced(given):
    whole, model = torch.randint(0, 256, (3, 1, 28, 28)) / 255, tiny("dr")
    one, other = compare({"dr": model}, whole), compare({"dr": model}, given(whole))
    torch.testing.assert_close(other.images, one.images)
    assert torch.equal(other.answers["dr"].named, one.answers["dr"].named)
    assert torch.equal(redraw(model, model, given(whole)).predicted, one.answers["dr"].named)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (torch.rand(3, 1, 28, 28)[:0], "There is no image in the batch; give batch × 1 × 28 × 28 with at least one."),
        (torch.rand(3, 1, 28, 28) * 255, "divide bytes by 255"),
    ],
)
def test_images_that_no_network_takes_are_refused(given, says):
    for call in (lambda: compare({"dr": tiny("dr")}, given), lambda: redraw(tiny("dr"), tiny("dr"), given)):
        with pytest.raises(PixelsError, match=says):
            call()


def test_images_of_another_shape_are_refused_by_name(images: torch.Tensor):
    with pytest.raises(CompareError, match="big takes images of 3 × 32 × 32, not 1 × 28 × 28"):
        compare({"big": tiny("l2", data="cifar10")}, images)


def test_redrawing_decodes_the_capsules_of_one_model_with_the_other(images: torch.Tensor):
    encoder, decoder = tiny("l2", decoder=False), tiny("dr")
    redrawing = redraw(encoder, decoder, images)
    with torch.inference_mode():
        output = encoder(images)
        predicted = output.activations.argmax(1)
        drawn = decoder.decode(output.poses, predicted)
        reread = decoder(drawn).activations.argmax(1)
    torch.testing.assert_close(redrawing.drawn, drawn)
    assert torch.equal(redrawing.reread[:, 0], reread)
    for image, label in enumerate(predicted.tolist()):
        assert torch.equal(redrawing.capsules[image, 0], output.poses[image, label])


def test_of_two_objects_both_capsules_are_drawn_over_one_another(images: torch.Tensor):
    encoder, decoder = tiny("l2", decoder=False), tiny("dr")
    redrawing = redraw(encoder, decoder, images, 2)
    with torch.inference_mode():
        output = encoder(images)
        first, second = output.activations.topk(2).indices.unbind(1)
        drawn = torch.maximum(decoder.decode(output.poses, first), decoder.decode(output.poses, second))
        reread = decoder(drawn).activations.topk(2).indices
    torch.testing.assert_close(redrawing.drawn, drawn)
    assert torch.equal(redrawing.predicted, torch.stack([first, second], dim=1))
    assert torch.equal(redrawing.reread, reread)
    assert torch.equal(redrawing.capsules[0], output.poses[0, redrawing.predicted[0]])


def test_a_model_may_read_its_own_drawings(images: torch.Tensor):
    model = tiny("em")
    with torch.inference_mode():
        reconstruction = model(images).reconstruction
    torch.testing.assert_close(redraw(model, model, images).drawn, reconstruction)


def test_a_drawing_model_without_decoder_is_refused(images: torch.Tensor):
    with pytest.raises(CompareError, match="without a decoder"):
        redraw(tiny("dr"), tiny("l2", decoder=False), images)


def test_capsules_of_another_size_cannot_be_drawn(images: torch.Tensor):
    other = CapsNet(preset("tiny", "digits", "dr", class_dim=8)).eval()
    with pytest.raises(CompareError, match="differ in number or size"):
        redraw(tiny("l2"), other, images)
