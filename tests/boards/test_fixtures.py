"""The numbers that unit tests of `frontend/` hold the browser to are Python's; run as a module, this writes them."""

from __future__ import annotations

import base64
import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from capsviz.analysis.mixtures import FLOOR, Covariance, begin, half_steps
from capsviz.analysis.perturbation import lerp, masked, slerp
from capsviz.boards import pack_weights
from capsviz.boards.basics import MARGINS
from capsviz.boards.message import pack
from capsviz.network import CapsNet
from capsviz.routing import DenseVotes, InverseTemperature, dynamic_routing, squash
from capsviz.routing.losses import margin_losses
from tests.as_votes import as_votes

FOLDER = Path(__file__).parents[2] / "frontend" / "fixtures"
CLASSES, DIM, EXEMPLARS, IMAGE = 3, 4, 2, (3, 3, 2)


def message() -> dict[str, Any]:
    """A packed message with every kind of array."""
    arrays = {
        "halves": np.array([0.5, -2.0, 6.1035e-05], np.float16),
        "numbers": np.array([[0.1, -7.25], [np.inf, 1e-20]]),
        "nothing": np.zeros(0),
    }
    shown = {name: [str(float(value)) for value in array.astype(np.float32).ravel()] for name, array in arrays.items()}
    packed = pack({"title": "û·v × 3", "upper": None, "nested": {"frames": ["a", "b"]}}, arrays)
    return {"packed": base64.b64encode(packed).decode(), "arrays": shown}


class OnlyDecoder(CapsNet):
    """Of a network the decoder, smaller than a preset has one."""

    def __init__(self, layers: nn.Module, config: Any):
        nn.Module.__init__(self)
        self.decoder: Any = SimpleNamespace(layers=layers)
        self.config = config


def decoder() -> dict[str, Any]:
    """A small decoder, packed as those of the zoo are, and what it draws of single capsules and on walks."""
    torch.manual_seed(3)
    widths = (CLASSES * DIM, 7, 9, int(np.prod(IMAGE)))
    linear = [nn.Linear(inputs, outputs) for inputs, outputs in itertools.pairwise(widths)]
    layers = nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2], nn.Sigmoid())
    config = SimpleNamespace(image=IMAGE, classes=CLASSES, class_dim=DIM)
    exemplars, spread = torch.randn(CLASSES, EXEMPLARS, DIM) * 0.4, torch.rand(CLASSES, DIM)
    model = OnlyDecoder(layers, config)
    cases = []
    with torch.inference_mode():
        for number in range(12):
            pose, label = torch.randn(DIM), number % CLASSES
            image = layers(masked(pose[None], label, CLASSES).flatten(1))[0]
            cases.append({"label": label, "pose": pose.tolist(), "image": image.tolist()})
        walks = [
            _walk(layers, exemplars, end, share, sphere)
            for end in ((0, 1), (2, 0))
            for sphere in (False, True)
            for share in (0.0, 0.3, 0.75, 1.0)
        ]
    weights = pack_weights(model, exemplars, spread, spread / 2)
    return {"packed": base64.b64encode(weights).decode(), "cases": cases, "walks": walks}


def _walk(layers: nn.Module, exemplars: torch.Tensor, to: tuple[int, int], share: float, sphere: bool) -> dict:
    start, end = masked(exemplars[0, :1], 0, CLASSES)[0], masked(exemplars[to[0], to[1]][None], to[0], CLASSES)[0]
    image = layers((slerp if sphere else lerp)(start, end, share).flatten()[None])[0]
    return {"to": list(to), "share": share, "sphere": sphere, "image": image.tolist()}


def routing() -> list[dict[str, Any]]:
    """Dynamic routing of random votes in the plane, zeros among them, and all that every iteration has."""
    generator = torch.Generator().manual_seed(5)
    cases = []
    for number in range(20):
        lower, iterations = 2 + number % 5, 1 + number % 6
        votes = (2.4 * torch.rand(lower, 2, 2, generator=generator, dtype=torch.float64) - 1.2).round(decimals=3)
        if number == 0:
            votes[0] = 0
        steps = dynamic_routing(DenseVotes(votes[None]), iterations, final_agreement=True)
        names = ("logits", "couplings", "sums", "poses", "agreement")
        recorded = [{name: getattr(step, name)[0].tolist() for name in names} for step in steps]
        cases.append({"votes": votes.tolist(), "steps": recorded})
    return cases


def basics() -> dict[str, Any]:
    """Vectors squashed, and the margin loss of each class with its gradient, the margins of training first."""
    generator = torch.Generator().manual_seed(9)
    vectors = 3 * torch.randn(24, 2, generator=generator, dtype=torch.float64)
    vectors[0] = 0
    squashed = [{"s": s.tolist(), "v": v.tolist()} for s, v in zip(vectors, squash(vectors), strict=True)]
    cases = []
    for number in range(16):
        margins = MARGINS if number < 4 else tuple(torch.rand(3, generator=generator, dtype=torch.float64).tolist())
        lengths = torch.rand(1, 10, generator=generator, dtype=torch.float64).requires_grad_()
        targets = torch.rand(1, 10, generator=generator) < 0.3
        losses = margin_losses(lengths, targets, present=margins[0], absent=margins[1], weight=margins[2])
        (gradients,) = torch.autograd.grad(losses.sum(), lengths)
        found = {"lengths": lengths, "targets": targets, "losses": losses, "gradients": gradients}
        cases.append({"margins": list(margins), **{name: value[0].tolist() for name, value in found.items()}})
    return {"squash": squashed, "margin": cases}


def mixture() -> list[dict[str, Any]]:
    """Mixtures fitted to random points, some of which lie on each other, and the points as votes under EM routing."""
    generator = torch.Generator().manual_seed(11)
    cases = []
    for number in range(12):
        count, rounds, gaussians = 4 + number % 6, 3, 2 + number % 3
        covariance: Covariance = "diag" if number % 2 else "full"
        even = number % 4 == 3
        points = (2 * torch.rand(count, 2, generator=generator, dtype=torch.float64) - 1).round(decimals=2)
        points[: number % 4] = points[0].clone()
        activations = torch.rand(count, generator=generator, dtype=torch.float64).round(decimals=2)
        if number % 5 == 4:
            activations[:] = 0
        start = begin(gaussians, number)
        steps = list(itertools.islice(half_steps(points, start, covariance), 2 * rounds + 1))
        betas, schedule = (
            {"beta_u": number / 4 - 1, "beta_a": 1 - number / 3},
            InverseTemperature(final=2.0**number / 16),
        )
        owned = None if even else steps[1].responsibilities
        routed = as_votes(points, activations, owned, gaussians, rounds, **betas, inverse_temperature=schedule)
        names = ("responsibilities", "means", "variances", "cost", "posteriors")
        cases.append(
            {
                "points": torch.cat([points, activations[:, None]], dim=1).tolist(),
                "start": _gaussians(start),
                "covariance": covariance,
                "floor": FLOOR,
                "rounds": rounds,
                "steps": [
                    {
                        **_gaussians(step.gaussians),
                        "owned": None if step.responsibilities is None else step.responsibilities.tolist(),
                        "likelihood": step.log_likelihood,
                        "bound": step.bound,
                    }
                    for step in steps
                ],
                **betas,
                "even": even,
                "temperatures": [step.inverse_temperature for step in routed],
                "routed": [{name: getattr(step, name)[0].tolist() for name in names} for step in routed],
                "activations": [step.activations[0].tolist() for step in routed],
            }
        )
    return cases


def _gaussians(gaussians: Any) -> dict[str, Any]:
    return {name: getattr(gaussians, name).tolist() for name in ("weights", "means", "covariances")}


WRITTEN = {"message": message, "decoder": decoder, "routing": routing, "basics": basics, "mixture": mixture}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_numbers_are_those_of_python(name: str):
    """If this fails because they should be others: `python -m tests.boards.test_fixtures`, and look at what differs."""
    _same(json.loads((FOLDER / f"{name}.json").read_text()), json.loads(json.dumps(WRITTEN[name]())))


def _same(written: Any, now: Any) -> None:
    """Equal, numbers up to rounding."""
    if isinstance(now, dict):
        assert written.keys() == now.keys()
        for key, value in now.items():
            _same(written[key], value)
    elif isinstance(now, list):
        assert len(written) == len(now)
        for one, other in zip(written, now, strict=True):
            _same(one, other)
    else:
        assert written == (pytest.approx(now, abs=1e-6) if isinstance(now, float) else now)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, write in WRITTEN.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(write()) + "\n")
