"""What a researcher gives in a form of their own is taken as it is meant, or refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import capsviz
from capsviz import Intervention, Trace, zoo
from capsviz.analysis import comparison, perturbation
from capsviz.boards import board_page, decoder_board, pack_weights, trace_board
from capsviz.data import to_float
from capsviz.figures import error_map
from capsviz.files import read_tensors
from capsviz.tracing.adopting import same_votes
from capsviz.training.config import TrainingConfig
from capsviz.training.loop import train
from tests.programs import python


@pytest.fixture(scope="module")
def images() -> Tensor:
    return capsviz.data.load("digits", "test").batch([0, 1, 2])[0]


@pytest.fixture(scope="module")
def trace(images: Tensor) -> Trace:
    return capsviz.trace("digits-dr", images)


def test_a_set_gives_the_images_at_a_list_a_range_or_an_array():
    digits = capsviz.data.load("digits", "test")
    wanted = digits.batch(torch.arange(3))
    for indices in ([0, 1, 2], range(3), np.arange(3)):
        assert all(map(torch.equal, digits.batch(indices), wanted))


def test_a_figure_shows_bytes_as_it_shows_their_shares(images: Tensor, trace: Trace):
    drawn = trace.reconstruction
    assert drawn is not None
    as_bytes, as_shares = (error_map(each[0], drawn[0]) for each in (images, to_float(images)))
    assert as_bytes.layout.meta == as_shares.layout.meta and as_bytes.to_json() == as_shares.to_json()


def test_what_means_nothing_is_refused_in_a_sentence():
    """In a program of its own: within these tests the types of arguments are checked."""
    told = python("-m", "tests.senseless")
    assert (told.stdout, told.returncode) == ("", 0), told.stderr


def test_a_class_may_be_a_number_of_any_library(trace: Trace):
    wanted = board_page(trace_board(trace, upper=3, image=1))
    for upper in (np.int64(3), torch.tensor(3), trace.predicted.new_tensor(3)):
        assert board_page(trace_board(trace, upper=upper, image=np.int64(1))) == wanted
    weights = pack_weights(zoo.load("digits-dr"))
    wanted = board_page(decoder_board(trace, weights, upper=3, offsets=[0.1] * 16))
    given: Any = (np.full(16, 0.1), torch.full((16,), 0.1, dtype=torch.float64))
    for offsets in given:
        assert board_page(decoder_board(trace, weights, upper=np.int64(3), offsets=offsets)) == wanted
    model = {"dr": zoo.load("digits-dr")}
    named = [comparison.compare(model, trace.images, objects).answers["dr"].named for objects in (2, np.int64(2))]
    assert torch.equal(*named)
    iterations: Any = np.int64(2)
    assert capsviz.trace("digits-dr", trace.images, iterations=iterations).layer.iterations == 2


def test_what_was_computed_may_be_changed_and_learned_from(trace: Trace):
    model = zoo.load("digits-dr")
    drawn = perturbation.draw(model, trace.poses[:, 3], 3)
    drawn.clamp_(0, 1)
    weight = torch.ones(1, requires_grad=True)
    (weight * drawn).sum().backward()
    assert weight.grad is not None
    assert not comparison.compare({"dr": model}, trace.images).answers["dr"].activations.is_inference()


@pytest.fixture
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("double")
def test_doubles_by_default_change_neither_models_nor_traces(images: Tensor, trace: Trace, tmp_path: Path):
    again = capsviz.trace("digits-dr", images, intervention=Intervention(boosted=(1,)))
    assert again.poses.dtype == torch.float32
    recorded = capsviz.record(None, torch.randn(2, 6, 3, 4))
    recorded.save(tmp_path / "trace.safetensors")
    assert torch.equal(Trace.open(tmp_path / "trace.safetensors").poses, recorded.poses)


@pytest.mark.usefixtures("double")
def test_doubles_by_default_leave_a_training_in_floats(tmp_path: Path):
    train(TrainingConfig("digits", "l2", "tiny", steps=1), tmp_path, device="cpu", quiet=True)
    assert torch.get_default_dtype() == torch.float64
    tensors, _ = read_tensors(tmp_path / "model.safetensors")
    assert {each.dtype for each in tensors.values()} == {torch.float32}


def test_a_capsule_muted_under_em_is_muted_where_the_same_votes_are_routed_by_another(images: Tensor):
    alone = capsviz.trace("digits-em", images, intervention=Intervention(isolated=(5,)))
    whole = capsviz.trace("digits-em", images)
    for routing in ("dr", "l2"):
        shown = same_votes(alone, routing)
        votes = shown.layer.votes
        assert votes is not None
        others = [capsule for capsule in range(votes.shape[1]) if capsule != 5]
        assert not votes[:, others].any()
        assert votes[:, 5].any()
        assert not torch.equal(shown.activations, same_votes(whole, routing).activations)
    untouched = same_votes(whole, "dr").layer.votes
    assert untouched is not None and whole.layer.votes is not None
    assert torch.equal(untouched, whole.layer.votes)
