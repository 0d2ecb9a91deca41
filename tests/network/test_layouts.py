"""A public network that was adopted computes what its published code computes, written here once more."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from capsviz.errors import CapsvizError
from capsviz.network import ConfigError, preset
from capsviz.network.layouts import LAYOUTS, OTHERWISE, adopted, difference
from capsviz.tracing.recorder import trace

IMAGE, CHANNELS, TYPES, CLASSES = (1, 20, 20), 6, 4, 5
PLACES = 2 * 2  # 20 → 12 → 2 on each side
LOWER = TYPES * PLACES


def squash(vector: Tensor) -> Tensor:
    length = vector.norm()
    return length / (1 + length**2) * vector


def route(votes: list[list[Tensor]], iterations: int) -> Tensor:
    """Procedure 1 of Sabour, Frosst & Hinton 2017 over single vectors: votes[i][j]."""
    logits = torch.zeros(len(votes), CLASSES)
    for _ in range(iterations):
        shares = torch.stack([functional.softmax(row, dim=0) for row in logits])
        sums = [torch.stack([shares[i, j] * row[j] for i, row in enumerate(votes)]).sum(0) for j in range(CLASSES)]
        upper = [squash(each) for each in sums]
        logits = logits + torch.tensor([[float(vote @ v) for vote, v in zip(row, upper, strict=True)] for row in votes])
    return torch.stack(upper)


def layers(*sizes: int) -> list[nn.Linear]:
    return [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]


class Flat(nn.Module):
    """XifengGuo/CapsNet-Pytorch and danielhavir/capsule-network: eight numbers in a row of memory are a capsule."""

    def __init__(self, second: str, votes: str, leading: bool, mean: float = 0.0, deviation: float = 1.0) -> None:
        super().__init__()
        self.mean, self.deviation = mean, deviation
        self.conv1, self.conv2 = nn.Conv2d(1, CHANNELS, 9), nn.Conv2d(CHANNELS, 8 * TYPES, 9, 2)
        self.W = nn.Parameter(torch.randn(CLASSES, LOWER, 16, 8))
        first, third, last = layers(16 * CLASSES, 12, 14, 400)
        self.decoder = nn.Sequential(first, nn.ReLU(), third, nn.ReLU(), last, nn.Sigmoid())
        self.called = {"conv2": second, "W": votes}, leading

    def named(self) -> dict[str, Tensor]:
        names, leading = self.called
        found = {name.replace("conv2", names["conv2"]): value for name, value in self.state_dict().items()}
        weight = found.pop("W")
        return {**found, names["W"]: weight[None] if leading else weight}

    def forward(self, image: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
        shown = (image[None] - self.mean) / self.deviation
        numbers = self.conv2(self.conv1(shown).relu())[0].flatten().tolist()
        lower = [squash(torch.tensor(numbers[8 * i : 8 * i + 8])) for i in range(LOWER)]
        upper = route([[self.W[j, i] @ u for j in range(CLASSES)] for i, u in enumerate(lower)], iterations)
        kept = torch.zeros_like(upper)
        kept[upper.norm(dim=1).argmax()] = upper[upper.norm(dim=1).argmax()]
        return upper, self.decoder(kept.flatten())


class Separate(nn.Module):
    """laubonghaudoi/CapsNet_guide_PyTorch since December 2018: a convolution for each type, votes u W, and a decoder
    that reads one capsule."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv1 = nn.Conv2d(1, CHANNELS, 9)
        self.PrimaryCaps = nn.Module()
        self.PrimaryCaps.capsules = nn.ModuleList(nn.Conv2d(CHANNELS, 8, 9, 2) for _ in range(TYPES))
        self.DigitCaps = nn.Module()
        self.DigitCaps.W = nn.Parameter(torch.randn(1, LOWER, CLASSES, 8, 16))
        self.Decoder = nn.ModuleDict(dict(zip(("fc1", "fc2", "fc3"), layers(16, 12, 14, 400), strict=True)))

    def named(self) -> dict[str, Tensor]:
        return self.state_dict()

    def forward(self, image: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
        hidden = self.Conv1(image[None]).relu()
        maps = [conv(hidden)[0] for conv in self.PrimaryCaps.capsules]
        lower = [squash(each[:, row, column]) for row in range(2) for column in range(2) for each in maps]
        weight = self.get_parameter("DigitCaps.W")[0]
        upper = route([[u @ weight[i, j] for j in range(CLASSES)] for i, u in enumerate(lower)], iterations)
        longest = upper[upper.norm(dim=1).argmax()]
        hidden = self.Decoder["fc2"](self.Decoder["fc1"](longest).relu()).relu()
        return upper, self.Decoder["fc3"](hidden).sigmoid()


PUBLIC: dict[str, Callable[[], Flat | Separate]] = {
    "xifengguo": lambda: Flat("primarycaps.conv2d", "digitcaps.weight", leading=False),
    "danielhavir": lambda: Flat("primary.conv", "digits.W", leading=True, mean=0.1307, deviation=0.3081),
    "laubonghaudoi": Separate,
}


def made(layout: str) -> Flat | Separate:
    torch.manual_seed(3)
    return PUBLIC[layout]().requires_grad_(False)


def test_every_layout_is_written_here_once_more():
    assert PUBLIC.keys() == LAYOUTS.keys()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("iterations", [1, 3])
def test_an_adopted_network_computes_what_the_public_one_does(layout, iterations):
    public = made(layout)
    network = adopted(public.named(), layout, IMAGE, iterations)
    images = torch.rand(3, *IMAGE)
    output = network(images)
    for number, image in enumerate(images):
        upper, drawn = public(image, iterations)
        assert upper.norm(dim=1).max() > 0.05  # there is something to compare
        torch.testing.assert_close(output.poses[number], upper, atol=1e-5, rtol=0)
        torch.testing.assert_close(output.activations[number], upper.norm(dim=1), atol=1e-5, rtol=0)
        torch.testing.assert_close(output.reconstruction[number].flatten(), drawn, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_in_another_order_are_noticed(layout):
    """What is compared on random images is not the mapping compared with itself."""
    public = made(layout)
    network = adopted(public.named(), layout, IMAGE)
    assert difference(network, public.named(), layout) < 1e-5
    network.transform.copy_(network.transform.roll(1, 1))
    assert difference(network, public.named(), layout) > 1e-3


def test_capsules_of_neighbouring_pixels_lie_at_one_place_that_sees_the_whole_image():
    network = adopted(made("xifengguo").named(), "xifengguo", IMAGE)
    assert network.config.grid == (1, 1, LOWER) and network.receptive_field(LOWER - 1) == (0, 0, 20, 20)
    assert adopted(made("laubonghaudoi").named(), "laubonghaudoi", IMAGE).config.grid == (2, 2, TYPES)
    found = trace(network, torch.rand(2, *IMAGE))
    assert found.layer["couplings"].shape == (3, 2, LOWER, CLASSES)
    with pytest.raises(ConfigError, match="Reshaped primary capsules"):
        preset("residual", "mnist", "dr", reshaped=True)


def test_a_network_trained_on_several_gpus_is_adopted():
    public = made("danielhavir").named()
    adopted({f"module.{name}": value for name, value in public.items()}, "danielhavir", IMAGE)


def test_weights_of_code_that_routed_a_batch_as_a_whole_are_not_taken():
    """Before December 2018 W was "lower upper dim d", the logits were added over a batch, the decoder had no ReLU."""
    weights = made("laubonghaudoi").named()
    earlier = {**weights, "DigitCaps.W": weights["DigitCaps.W"][0].transpose(2, 3)}
    with pytest.raises(CapsvizError, match=r"^DigitCaps\.W is 16 × 5 × 16 × 8, where \S+ has 1 × lower .* × 8 × D\.$"):
        adopted(earlier, "laubonghaudoi", IMAGE)


def test_images_in_colour_are_shifted_and_scaled_as_by_the_code_that_trained_on_them():
    torch.manual_seed(4)
    public = Flat("primary.conv", "digits.W", leading=True, mean=0.5, deviation=0.5)
    public.conv1 = nn.Conv2d(3, CHANNELS, 9)
    public.decoder[4] = nn.Linear(14, 1200)
    public.requires_grad_(False)
    image = torch.rand(3, 20, 20)
    upper, drawn = public(image, 3)
    output = adopted(public.named(), "danielhavir", (3, 20, 20))(image[None])
    torch.testing.assert_close(output.poses[0], upper, atol=1e-5, rtol=0)
    torch.testing.assert_close(output.reconstruction[0].flatten(), drawn, atol=1e-5, rtol=0)


def cut(weights: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    return {**weights, name: weights[name][1:]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            lambda all_: {name: each for name, each in all_.items() if name != "conv1.bias"},
            r"lacks conv1\.bias, unlike",
        ),
        (lambda all_: {**all_, "fc.weight": torch.ones(2)}, r"also has fc\.weight, unlike the state dicts of Xifeng"),
        (lambda all_: cut(all_, "decoder.2.bias"), r"^decoder\.2\.bias is 13, where XifengGuo/\S+ has 14\.$"),
        (lambda all_: dict(enumerate(all_.values())), r"^A state dict has tensors by name; give what"),
        (lambda all_: {**all_, "conv1.bias": [0.0]}, r"^A state dict has tensors by name; give what"),
        (lambda all_: {**all_, "conv1.bias": torch.ones(CHANNELS, 1)}, r"^conv1\.bias is 6 × 1, where .* has 6\.$"),
        (lambda all_: {**all_, "conv1.bias": torch.full((CHANNELS,), torch.nan)}, r"not finite in conv1\.bias"),
    ],
)
def test_weights_that_are_not_those_of_the_layout_are_named(wrong, said, unchecked_types):
    with pytest.raises(CapsvizError, match=said):
        adopted(wrong(made("xifengguo").named()), "xifengguo", IMAGE)


def test_another_size_of_image_is_said():
    with pytest.raises(CapsvizError, match=r"400 pixels in all with 16 primary capsules, the data set's have 1, 784"):
        adopted(made("laubonghaudoi").named(), "laubonghaudoi", (1, 28, 28))


@pytest.mark.parametrize("layout", [*OTHERWISE, "nobody"])
def test_a_network_that_routes_otherwise_is_not_adopted(layout):
    with pytest.raises(CapsvizError, match=r"routes otherwise \(.*\); record|choose one of xifengguo") as error:
        adopted({}, layout, IMAGE)
    assert "\n" not in str(error.value)
