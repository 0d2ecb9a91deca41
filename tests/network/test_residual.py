"""The residual encoder: its grid, what its capsules see, its normalisation, and what becomes of it when it ships."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from capsviz.network import CapsNet, CapsNetConfig, ConfigError, Stage, folded, preset
from tests.known import known

ROUTINGS = ["dr", "em", "l2", "l1"]
SMALL = (Stage(4, 1), Stage(6, 1), Stage(8, 2))


def network(routing: str = "dr", image: tuple[int, int, int] = (1, 28, 28), **overrides) -> CapsNet:
    """A narrow network, its running statistics those of two batches."""
    torch.manual_seed(2)
    model = CapsNet(preset("residual", "mnist", routing, image=image, stages=SMALL, primary_types=2, **overrides))
    with torch.no_grad():
        for _ in range(2):
            model.train()(torch.rand(8, *image))
    return model.eval()


@given(st.integers(20, 96), st.integers(20, 96), st.sampled_from([1, 3]))
@settings(max_examples=20)
def test_the_grid_stays_between_six_and_eight_for_every_image(height, width, channels):
    model = CapsNet(preset("residual", "mnist", "dr", image=(channels, height, width), stages=SMALL, primary_types=2))
    rows, columns, types = model.config.grid
    assert 6 <= rows <= 8 and 6 <= columns <= 8
    assert model.encode(torch.rand(1, channels, height, width)).poses.shape == (1, rows * columns * types, 8)


@given(st.integers(20, 64), st.integers(20, 64), st.data())
@settings(max_examples=10, deadline=None)
def test_a_capsule_sees_its_receptive_field_and_nothing_else(height, width, data):
    """By the gradient of its pose, the rectifiers replaced by the identity so that no dead unit hides a pixel."""
    torch.manual_seed(3)
    stages = (Stage(3, 0), Stage(4, 1))
    config = preset("residual", "mnist", "dr", image=(1, height, width), stages=stages, primary_types=2)
    encoder = CapsNet(config).eval().double().encoder
    capsule = data.draw(st.integers(0, config.lower - 1), label="capsule")
    place, kind = divmod(capsule, 2)
    row, column = divmod(place, config.grid[1])
    images = torch.rand(1, 1, height, width, dtype=torch.float64, requires_grad=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch, "relu", lambda features: features)
        encoder.features(images)[0, kind, row, column].backward()
    seen = known(images.grad)[0, 0] != 0
    top, left, bottom, right = config.receptive_field(row, column)
    assert 0 <= top < bottom <= height and 0 <= left < right <= width
    expected = torch.zeros_like(seen)
    expected[top:bottom, left:right] = True
    assert torch.equal(seen, expected)


def test_most_pixels_of_a_small_image_are_seen_by_every_capsule():
    config = preset("residual", "cifar10", "dr")
    assert config.grid == (6, 6, 16)
    assert config.receptive_field(0, 0) == (0, 0, 27, 27)
    assert config.receptive_field(2, 3) == (0, 0, 32, 32)
    assert config.view(0).stride == 4


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_network_with_its_normalisation_folded_answers_alike(routing):
    model = network(routing)
    plain = folded(model)
    assert not plain.config.normalised and plain.config == replace(model.config, normalised=False)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in plain.modules())
    images = torch.rand(6, 1, 28, 28)
    with torch.no_grad():
        one, other = plain(images), model(images)
    torch.testing.assert_close(one.poses, other.poses, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(one.reconstruction, other.reconstruction, atol=1e-5, rtol=1e-4)
    assert model.config.normalised and folded(plain) is plain


def test_folding_leaves_the_network_as_it_was():
    model = network().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    folded(model)
    assert model.training and all(module.training for module in model.modules())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_network_without_normalisation_is_folded_already():
    model = CapsNet(preset("tiny", "digits", "dr"))
    assert folded(model) is model


@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("data", ["mnist", "fashion-mnist", "cifar10", "multi-mnist"])
def test_a_residual_model_fits_into_two_and_a_half_megabytes_of_eight_bits(data, routing):
    model = CapsNet(preset("residual", data, routing))
    learned = sum(parameter.numel() for parameter in model.parameters())
    assert learned * (1 + 4 / 128) < 2.5e6
    assert sum(parameter.numel() for parameter in known(model.decoder).parameters()) <= 600_000
    assert model(torch.rand(2, *model.config.image)).reconstruction.shape == (2, *model.config.image)


@pytest.mark.parametrize(("image", "classes"), [((3, 64, 64), 130), ((1, 20, 20), 2), ((3, 96, 96), 200)])
def test_the_decoder_stays_small_for_many_classes_and_large_images(image, classes):
    pixels = image[0] * image[1] * image[2]
    config = preset("residual", "mnist", "dr", image=image, classes=classes)
    model = CapsNet(config)
    most = max(600_000, 9 * pixels + 8 * 16 * classes + 100)  # eight hidden units are the fewest
    assert sum(parameter.numel() for parameter in known(model.decoder).parameters()) <= most


def test_stages_survive_json_and_nonsense_is_refused():
    config = preset("residual", "cifar10", "l2")
    assert CapsNetConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    with pytest.raises(ConfigError, match="channels must be at least 1"):
        replace(config, stages=(Stage(0, 1),))
    with pytest.raises(ConfigError, match="needs a block"):
        replace(config, stages=(Stage(8, 1), Stage(8, 0)))
    with pytest.raises(ConfigError, match="leave out the stages"):
        replace(preset("matrix-tiny", "digits", "em"), stages=SMALL)


def test_every_parameter_gets_a_finite_gradient():
    for routing in ROUTINGS:
        model = network(routing).train()
        output = model(images := torch.rand(4, 1, 28, 28), torch.tensor([0, 1, 2, 3]))
        loss = (0.9 - output.activations).square().sum() + (output.reconstruction - images).square().sum()
        loss.backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None and parameter.grad.isfinite().all(), name
            assert parameter.grad.abs().max() > 0, f"{name} learns nothing"
