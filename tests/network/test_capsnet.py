"""CapsNet from a config: shapes (Yang et al. 2021, Table I), the decoder's mask, receptive fields, gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from capsviz.network import CapsNet, CapsNetConfig, preset, strongest
from capsviz.routing import ALGORITHMS, DenseVotes, LinearVotes, discriminative_routing, dynamic_routing
from capsviz.routing.discriminative import DiscriminativeStep, ascent_gradient
from tests.network import test_matrix
from tests.networks import images_for

ROUTINGS = ["dr", "em", "l2", "l1"]


def small(routing: str, **overrides) -> CapsNetConfig:
    """A network of 2 × 3 × 2 primary capsules that takes milliseconds."""
    values: dict[str, Any] = {
        "image": (1, 19, 21),
        "classes": 4,
        "conv_channels": 6,
        "primary_types": 2,
        "decoder": (12, 20),
    }
    if routing == "em":
        values["primary_dim"] = 16
    return CapsNetConfig(**(values | {"routing": routing} | overrides))


def network(routing: str, **overrides) -> CapsNet:
    """A small network with weights from a fixed seed."""
    torch.manual_seed(1)
    return CapsNet(small(routing, **overrides)).eval()


# Shapes and counts


@pytest.mark.parametrize(("data", "capsules"), [("mnist", 1152), ("cifar10", 4096)])
def test_the_paper_preset_on_an_image(data, capsules):
    model = CapsNet(preset("paper", data, "l2")).eval()
    with torch.inference_mode():
        output = model(images_for(model, 1))
    assert output.primary.poses.shape == (1, capsules, 8)
    assert output.primary.activations.shape == (1, capsules)
    assert output.poses.shape == (1, 10, 16)
    assert model.coefficients.shape == (capsules, 10)
    assert (output.reconstruction is None) == (data == "cifar10")


def test_the_paper_preset_on_mnist_has_the_parameters_of_sabour_et_al():
    """8.2 million with the decoder and 6.8 million without (Sabour, Frosst & Hinton 2017, section 5)."""
    convolutions = 9 * 9 * 256 + 256 + 9 * 9 * 256 * 256 + 256
    routed = 1152 * 10 * 8 * 16
    decoder = 160 * 512 + 512 + 512 * 1024 + 1024 + 1024 * 784 + 784
    for routing in ("dr", "l1"):
        model = CapsNet(preset("paper", "mnist", routing))
        assert sum(p.numel() for p in model.parameters()) == convolutions + routed + decoder == 8_215_568
    bare = CapsNet(preset("paper", "mnist", "dr", decoder=False))
    assert sum(p.numel() for p in bare.parameters()) == convolutions + routed == 6_804_224


@pytest.mark.parametrize("routing", ROUTINGS)
def test_what_a_forward_pass_leaves_behind(routing):
    model = network(routing)
    images = images_for(model)
    output = model(images)
    lower, d = 2 * 3 * 2, model.config.primary_dim
    assert model.config.grid == (2, 3, 2) and model.config.lower == lower
    assert output.primary.poses.shape == (3, lower, d)
    assert output.primary.activations.shape == (3, lower)
    assert output.poses.shape == (3, 4, 16)
    assert output.activations.shape == (3, 4)
    assert output.reconstruction.shape == images.shape
    for probabilities in (output.primary.activations, output.activations, output.reconstruction):
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert output.step.iteration == (3 if routing in ("dr", "em") else 1)


@pytest.mark.parametrize("routing", ["dr", "l2", "l1"])
def test_the_activation_of_a_capsule_is_its_length(routing):
    output = network(routing)(images_for(network(routing)))
    torch.testing.assert_close(output.primary.activations, output.primary.poses.norm(dim=-1))
    torch.testing.assert_close(output.activations, output.poses.norm(dim=-1))


@pytest.mark.parametrize("routing", ["dr", "l2", "l1"])
def test_votes_are_primary_poses_times_the_weight(routing):
    model = network(routing)
    primary = model.encode(images_for(model))
    votes = model.votes(primary)
    assert tuple(votes.shape) == (3, 12, 4, 16)
    assert model.weight.shape == (12, 8, 4, 16)
    for i, j in [(0, 0), (5, 2), (11, 3)]:
        expected = primary.poses[:, i] @ model.weight[i, :, j]
        torch.testing.assert_close(votes.materialise()[:, i, j], expected)


def test_votes_of_an_em_network_are_matrix_products_plus_the_place_of_the_capsule():
    model = network("em")
    primary = model.encode(images_for(model))
    votes = model.votes(primary).materialise()
    assert votes.shape == (3, 12, 4, 16)
    offsets = []
    for i in range(12):
        product = primary.poses[:, i].unflatten(1, (4, 4)) @ model.transform[i, 1]
        offset = votes[:, i, 1].unflatten(1, (4, 4)) - product
        torch.testing.assert_close(offset, offset[:1].expand_as(offset), rtol=0, atol=1e-5)
        offsets.append(offset[0])
        # the two types at one position share its coordinates
        torch.testing.assert_close(offset[0], offsets[i - i % 2], rtol=0, atol=1e-5)
    distinct = torch.stack(offsets).detach().round(decimals=3).flatten(1).unique(dim=0)
    assert len(distinct) == 2 * 3, "every position should have coordinates of its own"


# The loop


@pytest.mark.parametrize("routing", ROUTINGS)
def test_the_output_is_the_last_step_of_the_loop(routing):
    """What the screen shows is what the network did: forward and a recorded route give the same numbers."""
    model = network(routing)
    images = images_for(model)
    output = model(images)
    *_, step = model.route(model.encode(images), record=True)
    assert (step.poses == output.poses).all()
    assert (step.activations == output.activations).all()


@pytest.mark.parametrize(("routing", "name"), [("dr", "agreement"), ("em", "posteriors"), ("l2", "agreement")])
def test_a_recorded_route_has_every_iteration_complete(routing, name):
    model = network(routing)
    primary = model.encode(images_for(model))
    recorded = list(model.route(primary, 5, record=True))
    assert len(recorded) == (1 if routing == "l2" else 5)
    assert all(getattr(step, name) is not None for step in recorded)
    *_, plain = model.route(primary, 5)
    assert getattr(plain, name) is None


def test_iterations_come_from_the_config_unless_given():
    model = network("dr", iterations=4)
    primary = model.encode(images_for(model))
    assert len(list(model.route(primary))) == 4
    assert len(list(model.route(primary, 7))) == 7


@pytest.mark.parametrize("routing", ["dr", "l2", "l1"])
def test_a_forward_pass_never_writes_the_votes_to_memory(routing, monkeypatch):
    model = network(routing)
    monkeypatch.setattr(LinearVotes, "materialise", lambda _: pytest.fail("the votes were materialised"))
    model(images_for(model)).activations.sum().backward()


@pytest.mark.parametrize("routing", ROUTINGS)
def test_images_of_a_batch_do_not_see_each_other(routing):
    model = network(routing)
    images = images_for(model)
    together = model(images)
    for k in range(len(images)):
        alone = model(images[k : k + 1])
        torch.testing.assert_close(alone.poses[0], together.poses[k], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(alone.reconstruction[0], together.reconstruction[k], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_forward_pass_leaves_nothing_on_the_modules(routing):
    """One model serves every visitor at the same time (DESIGN, wall 2)."""
    model = network(routing)
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model(images_for(model))
    list(model.route(model.encode(images_for(model)), record=True))
    for name, module in model.named_modules():
        assert vars(module).keys() == before[name].keys(), name
    for name, tensor in model.state_dict().items():
        assert (tensor == weights[name]).all(), name


# The decoder


@given(st.integers(0, 3), st.integers(0, 100))
@settings(max_examples=10)
def test_the_decoder_sees_the_capsule_of_the_label_only(label, seed):
    model = network("dr")
    generator = torch.Generator().manual_seed(seed)
    poses = torch.randn(2, 4, 16, generator=generator)
    classes = torch.full((2,), label)
    image = model.decode(poses, classes)
    for other in range(4):
        changed = poses.clone()
        changed[:, other] = torch.randn(2, 16, generator=generator)
        same = torch.equal(model.decode(changed, classes), image)
        assert same == (other != label)


def test_a_label_of_each_image_masks_that_image():
    model = network("dr")
    poses, classes = torch.randn(3, 4, 16), torch.tensor([2, 0, 3])
    for k in range(3):
        alone = model.decode(poses[k : k + 1], classes[k : k + 1])
        torch.testing.assert_close(model.decode(poses, classes)[k], alone[0])


@pytest.mark.parametrize("routing", ROUTINGS)
def test_without_labels_the_longest_capsule_is_decoded_and_with_them_theirs(routing):
    model = network(routing)
    images = images_for(model)
    free = model(images)
    longest = free.activations.argmax(dim=1)
    torch.testing.assert_close(free.reconstruction, model.decode(free.poses, longest))
    labels = (longest + 1) % 4
    told = model(images, labels)
    torch.testing.assert_close(told.poses, free.poses)
    torch.testing.assert_close(told.reconstruction, model.decode(free.poses, labels))


def test_of_several_objects_each_capsule_is_decoded_for_itself():
    model = network("dr")
    output = model(images_for(model))
    first, second = output.activations.topk(2).indices.T
    drawn = model.reconstruct(output.poses, output.activations, objects=2)
    assert torch.equal(drawn, torch.maximum(model.decode(output.poses, first), model.decode(output.poses, second)))
    assert not torch.equal(drawn, output.reconstruction)


def test_of_capsules_that_are_equally_active_the_first_are_the_strongest():
    assert strongest(torch.tensor([[0.2, 1.0, 0.2, 1.0, 1.0]]), 4).tolist() == [[1, 3, 4, 0]]


def test_a_network_without_decoder_says_so():
    model = network("l1", decoder=())
    assert model(images_for(model)).reconstruction is None
    with pytest.raises(ValueError, match="without a decoder"):
        model.decode(torch.zeros(1, 4, 16), torch.zeros(1, dtype=torch.long))


# Where a primary capsule looks


@given(st.integers(17, 26), st.integers(17, 26), st.data())
@settings(max_examples=12)
def test_a_primary_capsule_sees_its_receptive_field_and_nothing_else(height, width, data):
    # LeakyReLU, so that no unit is dead and hides a pixel
    model = network("dr", image=(1, height, width), leaky=True, conv_channels=3)
    capsule = data.draw(st.integers(0, model.config.lower - 1), label="capsule")
    top, left, bottom, right = model.receptive_field(capsule)
    assert 0 <= top < bottom <= height and 0 <= left < right <= width

    images = images_for(model, 1)
    pose = model.encode(images).poses[0, capsule]
    elsewhere = torch.rand_like(images)
    elsewhere[..., top:bottom, left:right] = images[..., top:bottom, left:right]
    torch.testing.assert_close(model.encode(elsewhere).poses[0, capsule], pose, rtol=0, atol=1e-6)
    for row, column in [(top, left), (top, right - 1), (bottom - 1, left), (bottom - 1, right - 1)]:
        touched = images.clone()
        touched[..., row, column] += 100
        change = (model.encode(touched).poses[0, capsule] - pose).abs().max()
        assert change > 1e-5, f"capsule {capsule} should see pixel ({row}, {column})"


def test_capsules_are_numbered_by_row_then_column_then_type():
    model = network("dr")
    rows, columns, types = model.config.grid
    for row in range(rows):
        for column in range(columns):
            for kind in range(types):
                top, left, bottom, right = model.receptive_field((row * columns + column) * types + kind)
                # two 9×9 windows one after the other see 17 pixels, and the second moves by two
                assert (top, left, bottom, right) == (2 * row, 2 * column, 2 * row + 17, 2 * column + 17)


# Training


@pytest.mark.parametrize("make", [*(partial(network, each) for each in ROUTINGS), test_matrix.network])
@pytest.mark.parametrize("kind", ["random", "black", "white"])
def test_every_parameter_gets_a_finite_gradient(make, kind):
    model = make().train()
    images = {"random": torch.rand, "black": torch.zeros, "white": torch.ones}[kind](3, *model.config.image)
    output = model(images, torch.tensor([0, 1, 2]))
    loss = (0.9 - output.activations).square().sum() + (output.reconstruction - images).square().sum()
    loss.backward()
    assert loss.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert kind != "random" or parameter.grad.abs().max() > 0, f"{name} learns nothing"


@pytest.mark.parametrize("routing", ["l2", "l1"])
def test_coefficients_are_a_buffer_that_no_optimiser_touches(routing):
    model = network(routing)
    assert "coefficients" in dict(model.named_buffers())
    assert "coefficients" not in dict(model.named_parameters())
    assert "coefficients" in model.state_dict(), "they are learned, so they are stored"
    assert not model.coefficients.requires_grad
    assert model.coefficients.shape == (12, 4)


def test_the_ascent_gradient_of_a_network_needs_no_votes():
    model = network("l2")
    primary = model.encode(images_for(model))
    (step,) = model.route(primary)
    assert isinstance(step, DiscriminativeStep)
    delta = torch.tensor([[1.0, -1, -1, -1], [-1, -1, 1, -1], [-1, 1, -1, -1]])
    without = ascent_gradient(primary.poses, model.weight, step.sums, delta)
    votes = model.votes(primary).materialise()
    with_votes = torch.einsum("bijh,bjh,bj->ij", votes, step.sums, delta)
    torch.testing.assert_close(without, with_votes, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("make", [partial(network, "em"), test_matrix.network])
def test_an_em_network_stays_finite_over_ten_iterations(make):
    model = make(iterations=10).train()
    output = model(images_for(model))
    (output.activations.sum() + output.poses.sum()).backward()
    assert output.activations.isfinite().all() and output.poses.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_lambda_of_an_em_network_rises_with_training():
    model = network("em")
    images = images_for(model)
    early, late = model(images, progress=0.0).step, model(images, progress=1.0).step
    assert 0 < early.inverse_temperature < late.inverse_temperature


@pytest.mark.parametrize("routing", ROUTINGS)
def test_bfloat16_autocast_changes_little(routing):
    model = network(routing)
    images = images_for(model)
    exact = model(images)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = model(images)
    torch.testing.assert_close(output.activations.float(), exact.activations, rtol=0, atol=0.03)
    torch.testing.assert_close(output.reconstruction.float(), exact.reconstruction, rtol=0, atol=0.03)


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_network_with_the_same_weights_gives_the_same_output(routing):
    model = network(routing)
    twin = CapsNet(model.config).eval()
    twin.load_state_dict(model.state_dict())
    images = images_for(model)
    assert (twin(images).poses == model(images).poses).all()
    assert (twin(images).reconstruction == model(images).reconstruction).all()


@pytest.mark.parametrize("routing", ["dr", "l2"])
def test_the_weight_lies_in_memory_as_the_votes_read_it(routing):
    """d before lower, unbroken: otherwise every pass copies all of W before its one matrix product."""
    model = network(routing)
    assert model.weight.transpose(0, 1).is_contiguous()
    primary = model.encode(images_for(model))
    assert primary.poses.transpose(1, 2).is_contiguous()


@pytest.mark.parametrize("routing", ["dr", "l2"])
def test_stored_votes_route_to_the_same_capsules(routing):
    model = network(routing)
    images = images_for(model)
    output = model(images)
    dense = DenseVotes(model.votes(output.primary).materialise())
    *_, step = dynamic_routing(dense, 3) if routing == "dr" else discriminative_routing(dense, model.coefficients)
    torch.testing.assert_close(step.poses, output.poses, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    ("name", "routing"), [("tiny", each) for each in ALGORITHMS] + [("matrix-tiny", "em"), ("residual", "dr")]
)
def test_a_network_in_another_precision_says_the_same(name, routing, dtype):
    model, images = CapsNet(preset(name, "digits", routing)).eval(), torch.rand(2, 1, 28, 28)
    classes = torch.tensor([3, 5])
    before, after = model(images, classes), model.to(dtype)(images.to(dtype), classes)
    near = 1e-3 if dtype == torch.float64 else 0.1
    for field in ("activations", "reconstruction"):
        assert getattr(after, field).dtype == dtype
        torch.testing.assert_close(getattr(after, field).float(), getattr(before, field), rtol=near, atol=near / 10)
