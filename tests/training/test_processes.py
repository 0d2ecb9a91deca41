"""Training in two processes that talk through gloo."""

from contextlib import nullcontext
from unittest.mock import Mock

import pytest
import torch

from capsviz.network import METHODS
from capsviz.routing.dynamic import Dynamic
from capsviz.training import loop, processes, step
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.processes import launch, step_products
from capsviz.training.runs import open_run
from tests.programs import python

pytestmark = pytest.mark.long


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "tiny", "steps": 20},
        {"preset": "residual", "steps": 1, "average": 0.5, "rotate": 5.0, "learning_rate": 0.01},
    ],
)
def test_two_processes_with_half_a_batch_each_train_like_one(tmp_path, settings):
    config = TrainingConfig("digits", "l2", batch=128, shift=2, precision="32-true", **settings)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "capsviz"]
    options = ["--out", tmp_path, "--name", "two", "--device", "cpu", "--threads", "1"]
    finished = python(*launcher, *config.command().split()[1:], *options, timeout=500, OMP_NUM_THREADS="1")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.count("test error") == 1, "one rank writes and speaks"
    assert "2 processes" in finished.stderr

    alone = loop.train(config, tmp_path / "one", device="cpu", quiet=True)
    two, one = (open_run(folder)[0].state_dict() for folder in (tmp_path / "two", alone.folder))
    start = loop.build(config, (1, 28, 28), 10).state_dict()
    for name in one:
        moved = (one[name] - start[name]).double()
        assert moved.abs().max() > 5e-4, f"{name} has not moved, so the comparison says nothing"
        if config.preset == "tiny":
            torch.testing.assert_close(two[name], one[name], rtol=0, atol=1e-4)
        elif name.endswith(("running_mean", "running_var")):
            assert (two[name] - one[name]).double().norm() < 5e-4 * moved.norm(), name
        else:  # Adam follows the sign of gradients that rounding decides where they are next to nothing
            same = (two[name] - one[name]).double().abs() < 0.05 * moved.abs().max()
            assert same.double().mean() > 0.9, name


@pytest.mark.parametrize("ends", ["stopped", "diverged", "finished"])
def test_however_a_training_ends_its_processes_wait_for_one_another_and_part(tmp_path, monkeypatch, ends):
    def step_of(*arguments):
        loss, *others = take_step(*arguments)
        return (loss * torch.nan if ends == "diverged" else loss, *others)

    take_step, parted = step.take_step, Mock()
    monkeypatch.setattr(loop, "take_step", step_of)
    monkeypatch.setattr(loop, "part", parted)
    config = TrainingConfig("digits", "l2", "tiny", steps=3)
    with pytest.raises(loop.Diverged) if ends == "diverged" else nullcontext():
        outcome = loop.train(
            config, tmp_path, device="cpu", quiet=True, time_limit=0.001 if ends == "stopped" else None
        )
        assert bool(outcome.stopped) == (ends == "stopped")
    parted.assert_called_once()


@pytest.mark.parametrize(
    ("device", "precision", "inside"),
    [("cpu", "bf16-mixed", "medium"), ("cpu", "32-true", "highest"), ("cuda", "bf16-mixed", "high")],
)
def test_a_step_multiplies_by_another_library_than_what_is_measured(device, precision, inside, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        with step_products(device, precision):
            assert torch.get_float32_matmul_precision() == inside
            assert torch.backends.cudnn.allow_tf32 is (device == "cuda")
        assert torch.get_float32_matmul_precision() == "highest" and torch.backends.cudnn.allow_tf32 is False
    finally:
        torch.set_float32_matmul_precision(before)


def test_an_image_is_learned_by_the_products_of_a_step_and_validated_by_others(tmp_path, monkeypatch):
    seen: dict[str, set[str]] = {"take_step": set(), "evaluate": set()}

    def heard(name):
        function = getattr(loop, name)

        def call(*args, **kwargs):
            seen[name].add(torch.get_float32_matmul_precision())
            return function(*args, **kwargs)

        monkeypatch.setattr(loop, name, call)

    for name in seen:
        heard(name)
    config = TrainingConfig("digits", "l2", preset="tiny", steps=2, precision="bf16-mixed")
    loop.train(config, tmp_path, device="cpu", quiet=True)
    assert seen == {"take_step": {"medium"}, "evaluate": {"highest"}}


@pytest.mark.filterwarnings("ignore:You passed")
def test_a_precision_that_the_device_has_not_is_refused_instead_of_replaced():
    with pytest.raises(SettingsError, match="cpu does not train in 16-mixed; give --precision bf16-mixed, or another"):
        launch("cpu", "16-mixed")


def test_alone_a_training_is_no_process_of_a_job(monkeypatch: pytest.MonkeyPatch):
    """Eight tasks are how one asks SLURM for cores, and Fabric would refuse them."""
    monkeypatch.setenv("SLURM_NTASKS", "8")
    monkeypatch.setenv("SLURM_JOB_NAME", "train")
    monkeypatch.delenv("SLURM_NTASKS_PER_NODE", raising=False)
    assert launch("cpu", "32-true").world_size == 1


def test_more_processes_than_gpus_are_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(processes, "chosen", lambda _: torch.device("cuda", 0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(SettingsError, match=r"^2 processes need a GPU each, and 1 are here; start fewer, or add"):
        launch("cuda", "32-true")


def test_a_routing_of_ones_own_is_not_recorded_as_it_may_read_how_far_training_is(monkeypatch: pytest.MonkeyPatch):
    class Rising(Dynamic):
        """Whose loss rises with the progress."""

    gpu = Mock(device=torch.device("cuda"), world_size=1)
    assert step.recordable(TrainingConfig("digits", "dr", "tiny"), gpu, "32-true")
    assert not step.recordable(TrainingConfig("digits", "em", "tiny"), gpu, "32-true")
    monkeypatch.setitem(METHODS, "dr", Rising())
    assert not step.recordable(TrainingConfig("digits", "dr", "tiny"), gpu, "32-true")
