"""Compare says what each model says, and draws one model's capsules with another's decoder."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from capsviz.compare import CompareError, Redrawing, compare, redraw, redraw_all
from capsviz.network import CapsNet, preset


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


def test_a_model_without_decoder_classifies_and_draws_nothing(images: torch.Tensor):
    comparison = compare({"fc": tiny("l1", decoder=False)}, images)
    assert comparison.answers["fc"].predicted.shape == (3,)
    assert comparison.drawings == {}


def test_images_of_another_shape_are_refused_by_name(images: torch.Tensor):
    with pytest.raises(CompareError, match="big takes images of 3 × 32 × 32, not 1 × 28 × 28"):
        compare({"big": tiny("l2", data="cifar10")}, images)


def test_redrawing_decodes_the_capsules_of_one_model_with_the_other(images: torch.Tensor):
    encoder, decoder = tiny("l2", decoder=False), tiny("dr")
    redrawing = redraw(encoder, decoder, images, torch.tensor([1, 2, 3]))
    with torch.inference_mode():
        output = encoder(images)
        drawn = decoder.decode(output.poses, output.activations.argmax(1))
        reread = decoder(drawn).activations.argmax(1)
    torch.testing.assert_close(redrawing.drawn, drawn)
    assert torch.equal(redrawing.reread, reread)


def test_right_but_redrawn_wrong_needs_both(images: torch.Tensor):
    redrawing = Redrawing(
        images=images,
        labels=torch.tensor([4, 4, 4]),
        predicted=torch.tensor([4, 4, 9]),
        activations=torch.rand(3, 10),
        drawn=images,
        reread=torch.tensor([4, 9, 9]),
    )
    assert redrawing.right_but_redrawn_wrong.tolist() == [False, True, False]
    assert redrawing.counts == (3, 2, 1)
    with pytest.raises(CompareError, match="need labels"):
        _ = dataclasses.replace(redrawing, labels=None).right_but_redrawn_wrong


def test_examples_begin_with_the_images_redrawn_wrong():
    images = torch.rand(4, 1, 28, 28)
    redrawing = Redrawing(
        images=images,
        labels=torch.tensor([1, 2, 3, 4]),
        predicted=torch.tensor([1, 2, 9, 4]),
        activations=torch.rand(4, 10),
        drawn=images,
        reread=torch.tensor([1, 7, 3, 8]),
    )
    assert redrawing.examples(10).labels.tolist() == [2, 4, 1]
    assert redrawing.examples(1).labels.tolist() == [2]


def test_redrawing_in_batches_is_redrawing_at_once_and_tells_how_far_it_is():
    images = torch.randint(0, 256, (7, 1, 28, 28), dtype=torch.uint8)
    labels = torch.arange(7)
    encoder, decoder = tiny("l2", decoder=False), tiny("dr")
    told = []
    batched = redraw_all(encoder, decoder, images, labels, batch_size=3, progress=lambda *done: told.append(done))
    assert told == [(3, 7), (6, 7), (7, 7)]
    whole = redraw(encoder, decoder, images.float() / 255, labels)
    torch.testing.assert_close(batched.drawn, whole.drawn)
    assert torch.equal(batched.reread, whole.reread)


def test_a_drawing_model_without_decoder_is_refused(images: torch.Tensor):
    with pytest.raises(CompareError, match="without a decoder"):
        redraw(tiny("dr"), tiny("l2", decoder=False), images)


def test_capsules_of_another_size_cannot_be_drawn(images: torch.Tensor):
    other = CapsNet(preset("tiny", "digits", "dr", class_dim=8)).eval()
    with pytest.raises(CompareError, match="differ in number or size"):
        redraw(tiny("l2"), other, images)
