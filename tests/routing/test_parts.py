"""Routing in parts gives what routing at once gives, and its gradients, in memory that a large layer does not fill."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from capsviz import memory
from capsviz.network import CapsNet, CapsNetConfig, preset
from capsviz.routing import ALGORITHMS, DenseVotes, LinearVotes, MatrixVotes, parts
from capsviz.routing.dynamic import PAIRS
from capsviz.routing.em import em_routing, em_routing_in_parts
from tests.programs import printed

BOUNDED = ("dr", "em")
"""What can be routed in parts."""


def small(routing: str, **overrides) -> CapsNet:
    torch.manual_seed(0)
    config = preset("tiny", "digits", routing, image=(3, 20, 24), classes=7)
    model = CapsNet(replace(config, conv_channels=6, primary_types=4, decoder=(), **overrides))
    if not config.algorithm.matrix:
        model.transform.data *= 20  # votes that disagree by so much that every iteration counts
    return model


def step(model: CapsNet, images: torch.Tensor) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """Poses and activations of a forward pass, and the gradients of something that depends on both."""
    model.zero_grad()
    output = model(images)
    (output.activations.square().sum() + (output.poses * torch.arange(16.0)).sum()).backward()
    gradients = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
    return [output.poses.detach(), output.activations.detach()], gradients


@pytest.mark.parametrize("through", ["last", "all"])
@pytest.mark.parametrize("routing", BOUNDED)
@pytest.mark.parametrize("iterations", [1, 3])
def test_results_and_gradients_are_those_of_routing_at_once(routing, through, iterations, monkeypatch):
    model, images = small(routing, through=through, iterations=iterations), torch.rand(3, 3, 20, 24)
    at_once, gradients = step(model, images)
    monkeypatch.setattr(parts, "LIMIT", 0)
    monkeypatch.setattr(parts, "PART", 2**13)
    votes = model.votes(model.encode(images))
    assert isinstance(votes, parts.Whole)
    assert parts.Cut.of(votes, 16).size < model.config.lower / 5
    in_parts, again = step(model, images)
    for whole, pieced in zip(at_once, in_parts, strict=True):
        torch.testing.assert_close(pieced, whole, atol=1e-5, rtol=1e-4)
    assert gradients.keys() == again.keys()
    for name, gradient in gradients.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(again[name], gradient, atol=1e-4 * scale, rtol=1e-3, msg=f"the gradient of {name}")


@pytest.mark.parametrize("routing", BOUNDED)
def test_what_is_routed_here_is_changed_by_every_iteration(routing):
    """Else the tests above would not see whether routing in parts goes from one to the next."""
    model = small(routing)
    *_, before, last = (step.poses.detach() for step in model.route(model.encode(torch.rand(3, 3, 20, 24))))
    assert float((last - before).norm() / last.norm()) > 0.02


@pytest.mark.parametrize("routing", BOUNDED)
def test_a_trace_holds_every_pair_whatever_their_number(routing, monkeypatch):
    monkeypatch.setattr(parts, "LIMIT", 0)
    model = small(routing)
    lower = model.encode(torch.rand(2, 3, 20, 24))
    shares = ALGORITHMS[routing].shares
    assert all(getattr(each, shares) is not None for each in model.route(lower, record=True))
    assert all(getattr(each, shares) is None for each in model.route(lower))


@pytest.mark.parametrize("data", ["mnist", "cifar10", "multi-mnist"])
@pytest.mark.parametrize("routing", BOUNDED)
def test_what_ships_is_routed_at_once_at_every_batch_that_it_is_trained_and_measured_with(routing, data):
    from capsviz.zoo import models

    configs: list[CapsNetConfig] = [
        entry.config for entry in models().values() if (entry.data, entry.routing) == (data, routing)
    ]
    for config in configs:
        numbers = 16 if config.algorithm.matrix else 8
        assert 128 * config.lower * config.classes * numbers * 4 <= parts.LIMIT


@pytest.mark.long
@pytest.mark.parametrize("routing", BOUNDED)
def test_a_step_takes_a_share_of_the_memory_of_routing_at_once(routing, monkeypatch):
    """Of a layer with 256 × 64 pairs, whose parts are a sixteenth of what a batch keeps of them."""
    images = torch.rand(16 if ALGORITHMS[routing].matrix else 256, 1, 24, 24)
    torch.manual_seed(0)
    config = replace(
        preset("tiny", "digits", routing, image=(1, 24, 24), classes=64),
        conv_channels=4,
        primary_types=16,
        decoder=(),
    )
    model = CapsNet(config)

    def taken() -> int:
        model.zero_grad(set_to_none=True)
        return memory.peak_of(lambda: model(images).activations.square().sum().backward())

    at_once = taken()
    pairs = len(images) * config.lower * 64 * 4
    monkeypatch.setattr(parts, "LIMIT", 0)
    monkeypatch.setattr(parts, "PART", pairs * (16 if config.algorithm.matrix else 8) // 16)
    weights = sum(weight.nbytes for weight in model.parameters())
    assert taken() - 3 * weights < 0.5 * (at_once - weights)


def test_gradients_are_those_of_float32_where_the_backward_pass_runs_under_autocast(monkeypatch):
    monkeypatch.setattr(parts, "LIMIT", 0)
    model, images = small("em"), torch.rand(3, 3, 20, 24)
    model(images).poses.square().sum().backward()
    gradient = model.transform.grad.clone()
    model.zero_grad()
    loss = model(images).poses.square().sum()
    with torch.autocast("cpu", torch.bfloat16):
        loss.backward()
    torch.testing.assert_close(model.transform.grad, gradient, atol=0, rtol=1e-6)


def test_an_e_step_that_follows_constants_needs_no_gradient_of_what_is_certain():
    """Of three tensors only the weights learn: what the amount of data is made of is then no variable at all."""
    model = small("em", iterations=1)
    lower = model.encode(torch.rand(2, 3, 20, 24))
    votes = model.votes(lower).detach()
    assert isinstance(votes, MatrixVotes)
    learning = replace(votes, weight=votes.weight.clone().requires_grad_())
    presence = [lower.activations.detach()]
    amount, first = parts.added(lambda own, a: (a.sum(1), own.materialise().sum((1, 3))), learning, 16, presence)
    (amount.sum() + first.sum()).backward()
    expected = votes.poses.sum((0, 2))[:, None, :, None].expand_as(votes.weight)
    torch.testing.assert_close(learning.weight.grad, expected)


HELD = """
import json
from capsviz.benchmarks import peak
from capsviz.routing import parts
parts.LIMIT, parts.PART = 0, 2**20
peak.measure("tiny", "{0}", "1x20x20", 4, 2, threads=1)  # whatever a first pass takes
print(json.dumps(peak.measure("tiny", "{0}", "1x28x28", 128, 32, threads=1)))
"""


@pytest.mark.long
def test_a_process_holds_no_more_than_the_tensors_that_there_are_at_once():
    """Its votes take 75 MB, and 391 MB were held where gradients of parts lay between the tensors of others."""
    found = json.loads(printed(HELD.format("em")))
    assert found["bytes"] - found["bytes_before"] < 12 * 4 * found["parameters"] + 40e6


def test_few_parts_stand_for_all_and_only_meanwhile():
    votes = LinearVotes(torch.randn(2, 5, 3), torch.randn(5, 3, 4, 2))
    cut = parts.Cut(LinearVotes, 1)
    beside = torch.randn(2, 5)
    whole = [votes.poses, votes.weight, beside]
    assert len(list(cut.parts(whole))) == 5
    with parts.few():
        assert len(list(cut.parts(whole))) == 2
    with pytest.raises(KeyError), parts.few():
        raise KeyError
    assert len(list(cut.parts(whole))) == 5


def six(batch: int = 2) -> LinearVotes:
    """Votes of six lower capsules for five upper ones."""
    return LinearVotes(torch.randn(batch, 6, 3), torch.randn(6, 3, 5, 4))


OF_ONE = 2 * 5 * 7 * 4
"""Bytes of seven numbers of each pair that a lower capsule of `six` is in."""


def test_a_batch_that_just_fits_is_routed_at_once(monkeypatch):
    monkeypatch.setattr(parts, "LIMIT", 6 * OF_ONE)
    assert not parts.too_large(six(), 7) and parts.too_large(six(), 8)
    monkeypatch.setattr(parts, "LIMIT", 6 * OF_ONE - 1)
    assert parts.too_large(six(), 7) and not parts.too_large(DenseVotes(six().materialise()), 7)


@pytest.mark.parametrize(("room", "size"), [(3 * OF_ONE, 3), (3 * OF_ONE - 1, 2), (OF_ONE, 1), (1, 1)])
def test_a_part_has_as_many_lower_capsules_as_it_has_room_for_and_at_least_one(room, size, monkeypatch):
    monkeypatch.setattr(parts, "PART", room)
    assert parts.Cut.of(six(), 7) == parts.Cut(LinearVotes, size)
    monkeypatch.setattr(parts, "LARGE_PART", 4 * OF_ONE)
    elsewhere = LinearVotes(six().poses.to("meta"), six().weight.to("meta"))
    assert parts.Cut.of(elsewhere, 7).size == 4
    assert parts.Cut.of(six(batch=0), 7).size >= 6, "of no images all capsules are one part"


def test_a_batch_is_large_by_the_documents_and_a_part_fits_the_caches_of_a_core():
    speed = Path(__file__).resolve().parents[2] / "docs" / "speed.md"
    assert f"would keep more than {parts.LIMIT / 2**20:g} MB of them" in speed.read_text(encoding="utf-8")
    assert 2**20 <= parts.PART <= 2**24 and 4 * parts.PART <= parts.LARGE_PART <= parts.LIMIT / 4


@pytest.mark.parametrize(("routing", "numbers"), [("dr", PAIRS), ("em", 16)])
def test_parts_are_as_large_as_what_the_algorithm_keeps_of_each_pair(routing, numbers, monkeypatch):
    """Of dynamic routing what a training step makes of a pair, of EM its vote, a matrix."""
    model, asked = small(routing, iterations=2), []
    whole, cut = parts.too_large, parts.Cut.of

    def large(votes, count):
        asked.append(count)
        return whole(votes, count)

    def of(votes, count):
        asked.append(count)
        return cut(votes, count)

    monkeypatch.setattr(parts, "LIMIT", 0)
    monkeypatch.setattr(parts, "too_large", large)
    monkeypatch.setattr(parts.Cut, "of", of)
    list(model.route(model.encode(torch.rand(1, 3, 20, 24))))
    assert asked == [numbers] * (1 + 2 * (2 if routing == "em" else 1))


def test_what_no_part_reads_has_a_gradient_of_zero():
    votes = LinearVotes(six().poses.requires_grad_(), six().weight.requires_grad_())
    (total,) = parts.added(lambda own: (own.poses.sum(1),), votes, 7, ())
    poses, weight = torch.autograd.grad(total.sum(), (votes.poses, votes.weight))
    assert torch.equal(poses, torch.ones(2, 6, 3)) and torch.equal(weight, torch.zeros(6, 3, 5, 4))


def test_gaussians_that_receive_nothing_are_the_same_in_parts():
    votes = MatrixVotes(torch.rand(2, 6, 4, 4), torch.rand(6, 3, 4, 4), torch.zeros(6, 4, 4))
    presence, betas = torch.zeros(2, 6), (torch.zeros(3), torch.linspace(-1, 1, 3))
    for whole, pieced in zip(
        em_routing(votes, presence, *betas), em_routing_in_parts(votes, presence, *betas), strict=True
    ):
        for name in ("means", "variances", "cost", "activations"):
            torch.testing.assert_close(getattr(pieced, name), getattr(whole, name))
