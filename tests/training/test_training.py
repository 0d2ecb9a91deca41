"""Real trainings on real digits, small enough for a test."""

import json
from functools import partial
from typing import Any

import pytest
import torch

from capsviz.data import load
from capsviz.device import DeviceError
from capsviz.files import CheckpointError
from capsviz.network import CapsNet
from capsviz.routing.discriminative import L2
from capsviz.training import loop, step
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.feed import Feed
from capsviz.training.journal import read_metrics
from capsviz.training.processes import launch
from capsviz.training.runs import open_run
from tests.known import known, single_digits
from tests.weights import assert_same

pytestmark = pytest.mark.long


def tiny(**settings) -> TrainingConfig:
    return TrainingConfig(**({"data": "digits", "routing": "dr", "preset": "tiny"} | settings))


@pytest.fixture(scope="module", params=["dr", "l2"])
def run(request, tmp_path_factory):
    """A finished training of a few seconds."""
    folder = tmp_path_factory.mktemp("runs") / request.param
    lines: list[dict[str, Any]] = []
    config = tiny(routing=request.param, epochs=5, batch=64, schedule="one-cycle")
    return loop.train(config, folder, device="cpu", quiet=True, watch=lines.append), config, lines


def test_a_hundred_steps_of_training_read_most_digits(run):
    outcome, *_ = run
    assert outcome.step == 100 and outcome.summary["test_error"] <= 8


def test_the_summary_says_what_was_trained_and_how(run):
    outcome, config, *_ = run
    summary = json.loads((outcome.folder / "summary.json").read_text())
    assert summary == outcome.summary
    assert summary["command"] == config.command()
    assert TrainingConfig.from_dict(summary["training"]) == config
    assert summary["test_count"] == 360 and summary["steps"] == outcome.step == 5 * (1317 // 64)
    assert summary["versions"]["torch"] == torch.__version__


def test_the_final_weights_reproduce_the_summarys_error(run):
    outcome, *_ = run
    model, header = open_run(outcome.folder)
    assert header["name"] == outcome.summary["name"]
    assert all(value.dtype == torch.float32 for value in model.state_dict().values())
    assert evaluate(model, load("digits", "test"), 64).error == outcome.summary["test_error"]
    assert not (outcome.folder / "checkpoint.safetensors").exists()


def test_every_epoch_leaves_a_line_with_validation_error_loss_speed_and_rate(run):
    outcome, config, watched = run
    lines = read_metrics(outcome.folder)
    assert lines == watched
    epochs = [line for line in lines if line["kind"] == "epoch"]
    assert [line["epoch"] for line in epochs] == list(range(1, 6))
    wanted = {"step", "seconds", "images_per_second", "loss", "margin", "reconstruction", "learning_rate"}
    assert all(wanted | {"validation_error", "validation_loss"} <= set(line) for line in epochs)
    assert epochs[-1]["loss"] < epochs[0]["loss"]
    assert ("near_zero_share" in epochs[0]) == config.method.ascends
    assert [line["step"] for line in lines if line["kind"] == "train" and line["step"] % 50 == 0] == [50, 100]


def test_a_finished_run_is_not_trained_again(run, monkeypatch):
    outcome, config, *_ = run
    monkeypatch.setattr(loop, "training_sets", lambda *given: pytest.fail("a training has begun"))
    assert loop.train(config, outcome.folder, resume=True, quiet=True).summary == outcome.summary
    with pytest.raises(SettingsError, match="--resume"):
        loop.train(config, outcome.folder, quiet=True)
    with pytest.raises(CheckpointError, match="seed 0 and not 1"):
        loop.train(
            tiny(routing=config.routing, epochs=5, batch=64, schedule="one-cycle", seed=1), outcome.folder, resume=True
        )


@pytest.mark.parametrize(
    ("routing", "settings"), [("em", {"warm_up_steps": 30}), ("l1", {"proximal": True, "decoder": False})]
)
def test_the_other_algorithms_learn_too(routing, settings, tmp_path):
    lines: list[dict[str, Any]] = []
    config = tiny(routing=routing, steps=30, batch=32, **settings)
    outcome = loop.train(config, tmp_path / "run", device="cpu", quiet=True, watch=lines.append)
    assert known(outcome.summary)["test_error"] < 50
    assert (lines[-1]["reconstruction"] > 0) == config.decoder


def test_a_network_learns_from_two_digits_at_once(tmp_path, monkeypatch):
    from capsviz.data import MultiDigits
    from capsviz.training import feed, runs

    pairs = {split: MultiDigits(single_digits(split)) for split in ("train", "test")}
    monkeypatch.setattr(feed, "load", lambda name, split, **_: pairs[split])
    monkeypatch.setattr(runs, "load", lambda name, split, **_: pairs[split])
    lines: list[dict[str, Any]] = []
    outcome = loop.train(
        tiny(data="multi-mnist", steps=40, batch=32), tmp_path / "run", device="cpu", quiet=True, watch=lines.append
    )
    summary = known(outcome.summary)
    assert summary["test_count"] == 360
    assert summary["test_error"] < 97  # chance finds both digits of 1 image in 45
    assert summary["config"]["image"] == [1, 36, 36]


def step_of(config: TrainingConfig):
    """A fresh network, one batch, and what one training step made of them."""
    digits = load("digits", "train")
    fabric = launch("cpu", "32-true")
    model = loop.build(config, digits.image, 10)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    forward_pass, optimizer = fabric.setup(step.ForwardPass(model), step.optimizer_of(config, model))
    batch = Feed(digits, config).batch(0)
    descent = partial(step.descend, config, fabric, model, forward_pass, optimizer)
    step.take_step(config, model, optimizer, descent, batch, 1e-3, 0.0)
    return model, before, batch


@pytest.mark.parametrize("preset", ["paper", "compact"])
def test_the_rate_of_a_decoder_that_a_network_has_not_is_refused(preset):
    with pytest.raises(SettingsError, match="has no decoder; leave out its learning rate"):
        loop.build(TrainingConfig("cifar10", "dr", preset, decoder_rate=0.1), (3, 32, 32), 10)


@pytest.mark.parametrize("routing", ["l2", "l1"])
def test_coefficients_ascend_along_the_signed_agreement_of_the_same_forward_pass(routing):
    config = tiny(routing=routing, batch=32, ascent_step=0.01, regularisation=0.1)
    model, before, batch = step_of(config)
    again = loop.build(config, (1, 28, 28), 10)
    assert isinstance(again, CapsNet)
    again.load_state_dict(before)
    with torch.no_grad():
        output = again(batch.images.float() / 255)
        votes = again.votes(output.primary).materialise()
        signs = torch.where(batch.targets, 1.0, -1.0)
        g = torch.einsum("bijh,bjh,bj->ij", votes, output.step.sums, signs) / 32
    b = before["coefficients"]
    penalty = 0.05 * b if routing == "l2" else 0.1 * b.sign()
    torch.testing.assert_close(model.coefficients, b + 0.02 * (g - penalty), rtol=1e-4, atol=1e-6)
    assert not torch.equal(model.coefficients, b)


def test_an_ascent_lengthens_the_capsule_of_the_label_and_shortens_the_others():
    config = tiny(routing="l2", batch=64, ascent_step=0.005)
    model, before, batch = step_of(config)
    images, signs = batch.images.float() / 255, torch.where(batch.targets, 1.0, -1.0)
    moved = model.coefficients.clone()
    model.load_state_dict(before)
    with torch.no_grad():
        earlier = L2.objective(model(images).step.sums, signs, model.coefficients, 0.0).sum()
        model.coefficients.copy_(moved)
        later = L2.objective(model(images).step.sums, signs, model.coefficients, 0.0).sum()
    assert later > earlier


@pytest.mark.parametrize(("rate", "expected"), [(None, 1e-3), (1e-5, 1e-5)])
def test_the_decoder_moves_at_its_own_rate_where_it_has_one(rate, expected):
    model, before, _ = step_of(tiny(decoder_rate=rate))
    moved = {name: float((value - before[name]).abs().max()) for name, value in model.state_dict().items()}
    # A first step of Adam is as long as its rate, less where a gradient is as small as its epsilon.
    assert moved["transform"] == pytest.approx(1e-3, rel=0.01)
    assert 0.5 * expected < moved["decoder.layers.0.weight"] < 1.01 * expected


def test_weights_follow_their_seed_and_global_randomness_is_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    networks = (loop.build(tiny(seed=seed), (1, 28, 28), 10) for seed in (0, 0, 1))
    one, same, other = (network.get_parameter("transform") for network in networks)
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("routing", ["dr", "cnn"])
def test_a_time_limit_leaves_a_checkpoint_that_goes_on(tmp_path, routing):
    config = tiny(routing=routing, steps=12, batch=32, shift=1)
    cut = loop.train(config, tmp_path / "run", device="cpu", quiet=True, time_limit=0.001)
    assert cut.stopped == "time limit" and 0 < cut.step < 12 and cut.summary is None
    whole = loop.train(config, tmp_path / "run", resume=True, device="cpu", quiet=True)
    assert whole.step == 12 and whole.summary is not None
    straight = loop.train(config, tmp_path / "other", device="cpu", quiet=True)
    assert_same(whole.folder, straight.folder)
    steps = [line["step"] for line in read_metrics(whole.folder) if line["kind"] == "train"]
    assert steps == sorted(set(steps))


def test_a_missing_device_gets_one_sentence(tmp_path):
    with pytest.raises(DeviceError, match=r"choose one of .*cpu"):
        loop.train(tiny(), tmp_path / "run", device="abacus", quiet=True)


def test_iterations_gradients_through_them_and_the_start_of_b_reach_the_network():
    for routing in ("dr", "em"):
        assert loop.build(tiny(routing=routing), (1, 28, 28), 10).config.through == "last"
        assert loop.build(tiny(routing=routing, through="all"), (1, 28, 28), 10).config.through == "all"
    assert loop.build(tiny(iterations=5), (1, 28, 28), 10).config.iterations == 5
    assert loop.build(tiny(), (1, 28, 28), 10).config.iterations == 3
    b = loop.build(tiny(routing="l2", coefficient_start=0.7), (1, 28, 28), 10).get_buffer("coefficients")
    assert abs(float(b.mean()) - 0.7) < 0.01
