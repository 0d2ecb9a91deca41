"""The ascent of b alone: each step is the prescribed one, and each record what the network then does."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

from capsviz import data, memory, zoo
from capsviz.analysis.ascent import AscentError, FixedVotes, ascent, climb, fix, starting_point
from capsviz.network import CapsNet, preset
from capsviz.routing import LinearVotes
from tests.routing import reference

PLAIN: dict[str, Any] = {"step": 0.01, "regularisation": 1e-3, "penalty": "l2"}


@pytest.fixture(scope="module")
def model() -> CapsNet:
    return zoo.load("digits-l2")


@pytest.fixture(scope="module")
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    train = data.load("digits", "train")
    return data.to_float(train.images[:32]), train.labels[:32]


@pytest.fixture(scope="module")
def fixed(model, batch) -> FixedVotes:
    return fix(model, *batch)


@pytest.mark.parametrize(("penalty", "proximal"), [("l2", False), ("l1", False), ("l1", True)])
def test_every_step_is_the_papers_with_the_gradient_averaged_over_the_batch(penalty, proximal):
    torch.manual_seed(3)
    poses, weight = torch.randn(3, 5, 2).double(), torch.randn(5, 2, 4, 3).double()
    signs = torch.tensor([[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, -1, 1]])
    start = 0.1 + 0.1 * torch.randn(5, 4).double()
    record = climb(
        FixedVotes(poses, weight, signs.float()),
        start,
        step=0.02,
        regularisation=0.3,
        penalty=penalty,
        proximal=proximal,
        steps=4,
    )
    votes, b = LinearVotes(poses, weight).materialise().numpy(), start.numpy()
    for step in range(5):
        np.testing.assert_allclose(record.coefficients[step].numpy(), b, rtol=1e-9, atol=1e-9)
        g = reference.ascent_gradient(votes, b, signs.numpy()) / 3
        b = reference.ascend_proximal(b, g, 0.02, 0.3) if proximal else reference.ascend(b, g, 0.02, 0.3, penalty)


def test_the_record_says_what_the_network_does_with_these_coefficients(model, batch, fixed):
    record = climb(fixed, starting_point(model, "fresh"), **PLAIN, steps=3)
    images, labels = batch
    for step in (0, 3):
        network = copy.deepcopy(model)
        network.coefficients.copy_(record.coefficients[step])
        lengths = network(images, reconstruct=False).activations
        present = torch.nn.functional.one_hot(labels, 10).bool()
        assert float(record.true_length[step]) == pytest.approx(float(lengths[present].mean()), abs=1e-5)
        assert float(record.other_length[step]) == pytest.approx(float(lengths[~present].mean()), abs=1e-5)
        assert float(record.error[step]) == pytest.approx(float((lengths.argmax(1) != labels).float().mean()))
    assert 0 < float(record.error[0]) <= 1


def test_the_batch_is_averaged_so_that_showing_it_twice_changes_nothing(model, batch, fixed):
    images, labels = batch
    twice = fix(model, torch.cat([images, images]), torch.cat([labels, labels]))
    start = starting_point(model, "fresh")
    once, doubled = (climb(each, start, **PLAIN, steps=2) for each in (fixed, twice))
    torch.testing.assert_close(once.coefficients, doubled.coefficients)
    torch.testing.assert_close(once.objective, doubled.objective)


def test_without_a_penalty_every_small_step_raises_the_objective_of_every_class(model, fixed):
    record = climb(fixed, starting_point(model, "trained"), step=0.001, regularisation=0.0, penalty="l2", steps=5)
    assert (record.objective.diff(dim=0) > 0).all()


def test_the_penalty_is_taken_from_the_objective_once(model, fixed):
    start = starting_point(model, "trained")
    free, paid = (
        climb(fixed, start, step=0.001, regularisation=weight, penalty="l1", steps=1) for weight in (0.0, 0.5)
    )
    torch.testing.assert_close(free.objective[0] - paid.objective[0], 0.5 * start.abs().sum(0), rtol=1e-4, atol=1e-4)


def test_only_the_proximal_step_finds_exact_zeros(model, fixed):
    start = starting_point(model, "fresh")
    options: dict[str, Any] = {"step": 0.005, "regularisation": 0.3, "penalty": "l1", "steps": 60}
    subgradient, proximal = (climb(fixed, start, **options, proximal=choice) for choice in (False, True))
    assert float(proximal.exact[-1]) > 0.1
    assert float(proximal.near[-1]) >= float(proximal.exact[-1])
    assert float(subgradient.exact[-1]) == 0
    shares = (proximal.coefficients[-1] == 0).float().mean(), (proximal.coefficients[-1] < 0).float().mean()
    assert (float(proximal.exact[-1]), float(proximal.negative[-1])) == pytest.approx(tuple(map(float, shares)))


def test_sixty_steps_are_sixty_one_records_and_the_model_keeps_its_own_coefficients(model, fixed):
    before = model.coefficients.clone()
    record = climb(fixed, starting_point(model, "trained"), **PLAIN)
    assert record.steps == 60 and record.coefficients.shape == (61, 288, 10)
    assert torch.equal(record.coefficients[0], before)
    assert torch.equal(model.coefficients, before)
    assert [step.step for step in ascent(fixed, before, **PLAIN, steps=2)] == [0, 1, 2]


def test_coefficients_of_any_precision_climb_as_the_layer_computes(model, fixed):
    start = starting_point(model, "trained")
    for given in (start.double(), start.detach().requires_grad_()):
        assert torch.equal(climb(fixed, given, **PLAIN).coefficients, climb(fixed, start, **PLAIN).coefficients)


def test_a_fresh_start_is_that_of_a_training_and_is_given_by_its_seed(model):
    fresh = starting_point(model, "fresh", 4)
    assert torch.equal(fresh, starting_point(model, "fresh", 4))
    assert not torch.equal(fresh, starting_point(model, "fresh", 5))
    new = CapsNet(preset("tiny", "digits", "l2")).coefficients
    for b in (fresh, new):
        assert float(b.mean()) == pytest.approx(0.1, abs=1e-3)
        assert float(b.std()) == pytest.approx(0.01, rel=0.1)


def test_what_cannot_be_climbed_is_said_in_a_sentence(model, batch, fixed):
    images, labels = batch
    start = starting_point(model, "trained")
    with pytest.raises(AscentError, match="Dynamic routing has no coefficients"):
        fix(zoo.load("digits-dr"), images, labels)
    with pytest.raises(AscentError, match="Dynamic routing has no coefficients"):
        starting_point(zoo.load("digits-dr"), "trained")
    with pytest.raises(AscentError, match="1 × 36 × 36 and the model takes 1 × 28 × 28"):
        fix(model, torch.zeros(2, 1, 36, 36), labels[:2])
    with pytest.raises(AscentError, match="outside 0 to 9"):
        fix(model, images, labels + 5)
    with pytest.raises(AscentError, match="288 × 9 and the layer 288 × 10"):
        climb(fixed, start[:, :9], **PLAIN)
    wrong: dict[str, Any]
    for wrong, sentence in (
        ({"step": 0.0}, "γ is 0; give a number above 0"),
        ({"step": float("nan")}, "γ is nan"),
        ({"regularisation": -1.0}, "λ is -1; give 0"),
        ({"proximal": True}, "belongs to the L1 penalty"),
        ({"steps": 0}, "goes nowhere"),
    ):
        with pytest.raises(AscentError, match=sentence):
            climb(fixed, start, **{**PLAIN, **wrong})


@pytest.mark.parametrize("given", [torch.Tensor.double, lambda images: (images * 255).round().byte()])
def test_images_of_any_type_are_fixed_alike(model, batch, fixed, given):
    images, labels = batch
    torch.testing.assert_close(fix(model, given(images), labels).poses, fixed.poses)


def test_many_images_are_fixed_as_few_are_and_in_the_room_of_few():
    network = zoo.load("mnist-l2-residual")
    images, labels = torch.rand(256, 1, 28, 28), torch.zeros(256, dtype=torch.long)
    with torch.no_grad():
        assert torch.equal(fix(network, images, labels).poses, network.encode(images).poses)
    peak = memory.peak_of(lambda: fix(network, images, labels))
    assert peak < 2 * memory.peak_of(lambda: fix(network, images[:32], labels[:32]))


def test_between_two_steps_the_caller_may_learn_by_gradients(model, fixed):
    for _ in ascent(fixed, starting_point(model, "fresh"), steps=2, **PLAIN):
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


def test_an_ascent_that_outgrows_float32_says_after_how_many_steps(model, fixed):
    with pytest.raises(AscentError, match=r"outgrown the numbers of float32 in step \d+; choose a smaller γ"):
        climb(fixed, starting_point(model, "trained"), step=1000.0, regularisation=0.0, penalty="l2")


def test_what_the_types_already_forbid_is_a_sentence_too(model, batch, fixed, unchecked_types):
    images, labels = batch
    for given in (torch.nn.functional.one_hot(labels), labels[:, None], labels + 0.4):
        with pytest.raises(AscentError, match="one whole number for each image"):
            fix(model, images, given)
    with pytest.raises(AscentError, match="32 images came with 31 labels"):
        fix(model, images, labels[:31])
    with pytest.raises(AscentError, match="starts “trained” or “fresh”"):
        starting_point(model, "random")  # type: ignore[arg-type]  # what is refused here
    with pytest.raises(AscentError, match="The penalty is l2 or l1"):
        climb(fixed, starting_point(model, "trained"), step=0.01, regularisation=0.0, penalty="l3")
