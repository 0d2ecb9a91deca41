"""Matrix capsules: convolutional layers of EM capsules between primary and class capsules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

import capsviz
from capsviz.network import CapsNet, CapsNetConfig, CapsuleLayer, ConfigError, PrimaryCapsules, preset
from capsviz.routing.em import EMStep
from tests.known import known
from tests.networks import images_for


def small(**overrides) -> CapsNetConfig:
    """Two convolutional layers of capsules over 7 × 8 positions; takes milliseconds."""
    values: dict[str, Any] = {
        "image": (1, 17, 19),
        "classes": 4,
        "conv_channels": 5,
        "primary_types": 2,
        "decoder": (12, 20),
        "capsule_layers": (CapsuleLayer(3, 3, 2), CapsuleLayer(2, 2, 1)),
    }
    return replace(preset("matrix-tiny", "digits", "em"), **(values | overrides))


def network(**overrides) -> CapsNet:
    """A small network with weights from a fixed seed."""
    torch.manual_seed(1)
    return CapsNet(small(**overrides)).eval()


def test_the_matrix_paper_preset_is_the_small_network_of_the_paper():
    """A = 64, B = 8, C = D = 16 on 28 × 28: 12 after the 5 × 5 with stride 2, then 5 and 3 positions a side."""
    config = preset("matrix-paper", "mnist", "em")
    assert config.grids == ((12, 12, 8), (5, 5, 16), (3, 3, 16))
    model = CapsNet(config)
    encoder = 5 * 5 * 64 + 64 + 64 * 8 * 17 + 8 * 17
    windows = [9 * 8 * 16 * 16 + 2 * 16, 9 * 16 * 16 * 16 + 2 * 16, 16 * 10 * 16 + 2 * 10]
    decoder = 160 * 512 + 512 + 512 * 1024 + 1024 + 1024 * 784 + 784
    assert sum(p.numel() for p in model.parameters()) == encoder + sum(windows) + decoder


def test_capsules_pass_up_layer_by_layer():
    model = network()
    assert model.config.grids == ((7, 8, 2), (3, 3, 3), (2, 2, 2)) and model.depth == 3
    lower = model.encode(images_for(model))
    for layer, (window, upper) in enumerate([(9 * 2, 27), (4 * 3, 8), (8, 4)]):
        *_, step = model.route(lower, layer=layer, record=True)
        assert isinstance(step, EMStep)
        assert step.poses.shape == (3, upper, 16) and step.activations.shape == (3, upper)
        assert step.responsibilities.shape == step.posteriors.shape == (3, window, upper)
        lower = PrimaryCapsules(step.poses, step.activations)
    output = model(images_for(model).zero_() + 0.5)
    assert output.reconstruction.shape == (3, 1, 17, 19)
    assert ((output.activations >= 0) & (output.activations <= 1)).all()


def test_the_output_is_the_last_step_of_the_last_layer():
    model = network()
    images = images_for(model)
    trace, output = capsviz.trace(model, images, votes="all"), model(images)
    assert torch.equal(trace.poses, output.poses) and torch.equal(trace.activations, output.activations)
    assert torch.equal(known(trace.reconstruction), known(output.reconstruction))


def test_the_weights_of_a_layer_are_those_of_a_place_in_the_window_and_not_of_a_position():
    """An image moved by the step of the first layer's windows gives its capsules moved by one position."""
    model = network(image=(1, 25, 25), leaky=True)
    picture = torch.rand(1, 1, 9, 9)
    images = torch.zeros(2, 1, 25, 25)
    images[0, :, 8:17, 8:17] = picture
    images[1, :, 12:21, 8:17] = picture  # two positions of stride 2 over two pixels: one position up in the next grid
    step = next(model.route(model.encode(images)))
    rows, columns, types = model.config.grids[1]
    poses = step.poses.unflatten(1, (rows, columns, types))
    torch.testing.assert_close(poses[1, 2:-1], poses[0, 1:-2], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(poses[1, 2:-1], poses[0, 2:-1], atol=1e-3)


def test_votes_for_the_classes_share_their_matrix_over_the_positions_and_add_the_place():
    model = network()
    lower = PrimaryCapsules(torch.randn(1, 8, 16), torch.rand(1, 8))
    votes = model.votes(lower, 2).materialise()
    offsets = []
    for i in range(8):
        product = lower.poses[0, i].unflatten(0, (4, 4)) @ model.transform[i % 2, 1]
        offsets.append(votes[0, i, 1].unflatten(0, (4, 4)) - product)
        top, left, bottom, right = model.receptive_field(i, 2)
        assert offsets[-1][0, 3].item() == pytest.approx((top + bottom) / 2 / 17, abs=1e-5)
        assert offsets[-1][1, 3].item() == pytest.approx((left + right) / 2 / 19, abs=1e-5)
        torch.testing.assert_close(offsets[-1], offsets[i - i % 2], rtol=0, atol=1e-5)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_a_capsule_sees_its_receptive_field_and_nothing_else(layer):
    """Layer by layer: the pixels outside change nothing in it. EM itself looks further, through the rivals' shares,
    so this holds after one iteration, when every lower capsule is still shared evenly.
    """
    model = network(iterations=1, leaky=True)
    images = images_for(model, 1)

    def poses(images):
        lower = model.encode(images)
        for below in range(layer):
            step = next(model.route(lower, layer=below))
            lower = PrimaryCapsules(step.poses, step.activations)
        return lower.poses[0]

    rows, columns, types = model.config.grids[layer]
    for capsule in (0, rows * columns * types // 2, rows * columns * types - 1):
        top, left, bottom, right = model.receptive_field(capsule, layer)
        elsewhere = torch.rand_like(images)
        elsewhere[..., top:bottom, left:right] = images[..., top:bottom, left:right]
        torch.testing.assert_close(poses(elsewhere)[capsule], poses(images)[capsule], rtol=0, atol=1e-5)
        for row, column in [(top, left), (bottom - 1, right - 1)]:
            touched = images.clone()
            touched[..., row, column] += 100
            assert (poses(touched)[capsule] - poses(images)[capsule]).abs().max() > 1e-5


def test_activations_are_not_saturated_at_the_start():
    """Capsules that are all on, or all off, leave the spread loss without a gradient: this is why votes start wide."""
    torch.manual_seed(0)
    model = CapsNet(preset("matrix-tiny", "digits", "em")).eval()
    images, _ = capsviz.data.load("digits", "test").batch(torch.arange(16))
    trace = capsviz.trace(model, capsviz.data.to_float(images))
    for layer in trace.layers:
        assert 0.1 < layer["activations"][-1].mean() < 0.8
    assert trace.activations.max() < 0.99


def test_the_same_weights_in_a_file_give_the_same_output():
    model = network()
    twin = CapsNet(CapsNetConfig.from_dict(json.loads(json.dumps(model.config.to_dict())))).eval()
    twin.load_state_dict(model.state_dict())
    images = images_for(model)
    assert torch.equal(twin(images).poses, model(images).poses)
    assert all("seen" not in name for name in model.state_dict()), "the windows follow from the config"


def test_a_stack_that_cannot_be_built_is_refused_in_a_sentence():
    with pytest.raises(ConfigError, match=r"matrix-tiny routes by EM.*preset tiny"):
        preset("matrix-tiny", "digits", "dr")
    with pytest.raises(ConfigError, match="route by EM"):
        CapsNetConfig(capsule_layers=(CapsuleLayer(4),))
    with pytest.raises(ConfigError, match="leave nothing of a 7×8 grid"):
        small(capsule_layers=(CapsuleLayer(3, 9),))
    with pytest.raises(ConfigError, match="at least 1"):
        small(capsule_layers=(CapsuleLayer(0),))
    with pytest.raises(ConfigError, match="5×5 and 1×1, leave nothing of a 4×19"):
        small(image=(1, 4, 19))
