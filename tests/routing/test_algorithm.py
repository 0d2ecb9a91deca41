"""What an algorithm says beside its steps: what it is called, and the weights that its layer begins with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from capsviz.routing import ALGORITHMS, LayerSizes, parts
from capsviz.routing.em import InverseTemperature

SETTINGS: Any = SimpleNamespace(through="last", inverse_temperature=InverseTemperature(), coefficient_start=0.3)
LINEAR = [name for name, each in ALGORITHMS.items() if not each.matrix]


def layer(name: str, sizes: LayerSizes) -> Any:
    """A module with the weights of an algorithm's layer, as they are drawn."""
    owner = nn.Module()
    ALGORITHMS[name].add_weights(owner, sizes, SETTINGS)
    return owner


def sizes(lower: int = 400, upper_dim: int = 16, types: int | None = None) -> LayerSizes:
    return LayerSizes(lower, 4 if upper_dim != 16 else 16, 5, upper_dim, torch.rand(lower, 2), types)


def test_a_method_has_another_name_without_a_decoder_where_the_papers_have_one():
    called = {name: [each.called(decoder=has) for has in (True, False)] for name, each in ALGORITHMS.items()}
    assert called["l2"] == ["L2", "L2/FC"] and called["l1"] == ["L1", "L1/FC"]
    assert called["dr"] == ["DR", "DR"]


@pytest.mark.parametrize("name", LINEAR)
def test_weights_of_linear_votes_begin_small(name):
    owner = layer(name, sizes())
    assert owner.transform.shape == (16, 400, 5, 16) and owner.transform.requires_grad
    assert float(owner.transform.detach().std()) == pytest.approx(0.1, rel=0.02)
    assert float(owner.transform.detach().mean()) == pytest.approx(0, abs=0.001)


@pytest.mark.parametrize("name", LINEAR)
def test_votes_are_poses_times_the_weights_of_the_layer(name):
    owner, poses = layer(name, sizes(lower=6, upper_dim=8)), torch.randn(2, 6, 4)
    votes = ALGORITHMS[name].votes(owner, poses)
    torch.testing.assert_close(votes.materialise(), torch.einsum("bid,dijh->bijh", poses, owner.transform))


def test_attention_begins_with_a_normalisation_that_changes_nothing_and_a_readout_of_length_one():
    owner = layer("attention", sizes(lower=2, upper_dim=10_000))
    assert torch.equal(owner.gain, torch.ones(10_000)) and torch.equal(owner.offset, torch.zeros(10_000))
    assert float(owner.readout.detach().norm()) == pytest.approx(1, rel=0.05)
    assert all(each.requires_grad for each in (owner.gain, owner.offset, owner.readout))


@pytest.mark.parametrize("name", ["l2", "l1"])
def test_coefficients_begin_around_what_the_settings_say_and_no_optimiser_has_them(name):
    owner = layer(name, sizes())
    assert owner.coefficients.shape == (400, 5)
    assert float(owner.coefficients.mean()) == pytest.approx(0.3, abs=0.002)
    assert float(owner.coefficients.std()) == pytest.approx(0.01, rel=0.1)
    assert "coefficients" in owner.state_dict() and "coefficients" not in dict(owner.named_parameters())


@pytest.mark.parametrize(("types", "spread", "active"), [(None, 0.5, -2.0), (100, 1.0, 0.0)])
def test_matrix_capsules_begin_with_votes_of_their_size_and_off_or_undecided(types, spread, active):
    asked = sizes(types=types)
    owner = layer("em", asked)
    assert owner.transform.shape == (types or 400, 5, 4, 4)
    assert float(owner.transform.detach().std()) == pytest.approx(spread, rel=0.05)
    assert torch.equal(owner.beta_u, torch.zeros(5)) and torch.equal(owner.beta_a, torch.full((5,), active))
    assert owner.beta_u.requires_grad and owner.beta_a.requires_grad
    coordinates = owner.coordinates.clone()
    assert torch.equal(coordinates[:, :2, 3], asked.centres)
    coordinates[:, :2, 3] = 0
    assert not coordinates.any() and "coordinates" not in owner.state_dict()


@pytest.mark.parametrize("types", [2, 3])
def test_positions_share_the_matrices_of_their_type_and_nothing_is_copied_where_there_is_one(types):
    em: Any = ALGORITHMS["em"]
    owner, poses = layer("em", sizes(lower=6, types=types)), torch.randn(3, 6, 16)
    assert em.votes(owner, poses).shape == (3, 6, 5, 16)
    alone = layer("em", sizes(lower=6))
    assert em.votes(alone, poses).weight is alone.transform


def test_positions_share_the_matrices_and_betas_of_their_type():
    em: Any = ALGORITHMS["em"]
    asked = sizes(lower=6, types=2)
    owner, poses = layer("em", asked), torch.randn(3, 6, 16)
    votes = em.votes(owner, poses).materialise()
    for i in range(6):
        for j in range(5):
            expected = poses[:, i].view(3, 4, 4) @ owner.transform[i % 2, j] + owner.coordinates[i]
            torch.testing.assert_close(votes[:, i, j], expected.flatten(1))
    owner.beta_u, owner.beta_a = nn.Parameter(torch.arange(5.0)), nn.Parameter(10 + torch.arange(5.0))
    beta_u, beta_a = em.betas(owner, 15)
    assert beta_u.tolist() == [*range(5)] * 3 and beta_a.tolist() == [*range(10, 15)] * 3
    assert em.drawn_weights(owner, slice(5, 10))["beta_a"].tolist() == [*range(10, 15)]
    assert ALGORITHMS["dr"].drawn_weights(owner, slice(5, 10)) == {}


@pytest.mark.parametrize("whole", [True, False], ids=["at once", "in parts"])
@pytest.mark.parametrize("through", ["last", "all"])
@pytest.mark.parametrize("name", [name for name, each in ALGORITHMS.items() if each.iterates])
def test_a_layer_is_routed_by_the_settings_of_its_network(name, through, whole, monkeypatch):
    if not whole:
        monkeypatch.setattr(parts, "LIMIT", 0)
    algorithm = ALGORITHMS[name]
    owner = layer(name, sizes(lower=6, upper_dim=16))
    schedule = InverseTemperature(final=2.0, decay=0.3, start=0.1)
    settings: Any = SimpleNamespace(through=through, inverse_temperature=schedule, coefficient_start=0.1)
    votes, presence = algorithm.votes(owner, torch.randn(2, 6, 16)), torch.rand(2, 6)

    def steps(**options: Any) -> list[Any]:
        return list(algorithm.route(owner, votes, presence, settings, iterations=3, **options))

    found = steps(progress=0.25)
    assert [step.iteration for step in found] == [1, 2, 3]
    # Through the last iteration alone, what stood before it is constant.
    assert [getattr(step, "sums", step.poses).requires_grad for step in found] == [through == "all"] * 2 + [True]
    told = "posteriors" if algorithm.tempered else "agreement"
    assert getattr(found[-1], told) is None and getattr(steps(record=True)[-1], told) is not None
    in_parts = not whole and name in ("dr", "em")
    assert (getattr(found[0], algorithm.shares) is None) == in_parts
    if algorithm.tempered:
        assert [step.inverse_temperature for step in found] == [schedule.at(t, 0.25) for t in (1, 2, 3)]
        assert [step.inverse_temperature for step in steps()] == [schedule.at(t) for t in (1, 2, 3)]
