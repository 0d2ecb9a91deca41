"""Three commands on a folder of one's own images: what is chosen, what is said, what comes of it."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from capsviz import Trace, TraceSet, memory, zoo
from capsviz.commands import models
from capsviz.commands.main import app
from capsviz.data import DatasetMissing
from capsviz.data.folder import listed
from capsviz.errors import CapsvizError
from capsviz.files import CheckpointError
from capsviz.network import Network, fourier
from capsviz.routing import parts
from capsviz.training import choosing, forecast
from capsviz.training.choosing import choose
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.feed import Batch, Feed, multi_hot, training_sets
from capsviz.training.loop import build, train
from capsviz.training.publish import exemplar_images
from capsviz.training.runs import OtherSettings
from capsviz.training.step import ForwardPass, descend
from tests.folders import BROKEN, COUNTS, drawn, renamed
from tests.programs import command

pytestmark = pytest.mark.long

CLASSES = tuple(sorted(name.replace("/", "∕") for name in COUNTS))


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder of drawn images, the run of a network on it, and a zoo with that network."""
    place = tmp_path_factory.mktemp("own")
    drawn(place / "my shapes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSVIZ_ZOO", str(place / "zoo"))
        patch.chdir(place)
        words = ("--data", "folder:my shapes", "--routing", "dr", "--steps", "8", "--device", "cpu")
        (place / "said").write_text(command("train", *words).stderr)
        command("zoo", "add", "runs/my-shapes-dr-residual")
    return place


@pytest.fixture
def own(place, monkeypatch) -> Path:
    monkeypatch.setenv("CAPSVIZ_ZOO", str(place / "zoo"))
    monkeypatch.chdir(place)
    return place


def test_training_says_what_it_chose_what_it_left_out_and_what_it_takes(own):
    said = (own / "said").read_text()
    # 16 + 12 + 4 images; every fifth is a test image. Of the 25 that are left one is broken, and 2 are for validation.
    assert "my shapes: 22 images to learn from, 2 held out and 7 to test on, of 3 classes, as 20×20 in colour" in said
    assert "preset residual (--preset), 11 images a step (--batch), 8 steps (--steps)." in said
    assert f"1 of 25 training files cannot be read and are left out: {BROKEN}." in said
    assert "A step takes about " in said and " are free." in said
    assert "the 2 that are left about" in said


def test_broken_test_files_and_a_class_that_nothing_is_left_of_are_said(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    monkeypatch.chdir(tmp_path)
    files = listed(drawn(tmp_path / "some", 28, "L")).files
    broken = [next(path for path in files["test"] if path.parent.name == "bar"), *tmp_path.glob("some/<b>*/*.png")]
    for path in broken:
        path.write_bytes(b"no picture")
    words = ("--data", "folder:some", "--routing", "dr", "--preset", "tiny", "--steps", "2", "--device", "cpu")
    said = command("train", *words).stderr
    assert f"of 25 training files cannot be read and are left out: {CLASSES[0]}/" in said
    assert f"bar/005.png; no image is left of {CLASSES[0]}." in said
    ending = f"{broken[0].relative_to(tmp_path / 'some')}; no image is left of {CLASSES[0]}.\n"
    for line in (
        said,
        command("zoo", "add", "runs/some-dr").stderr,
        command("zoo", "measure", "some-dr").stderr,
    ):
        assert "2 of 7 test files cannot be read and are left out: " in line and ending in line


def test_on_a_terminal_reading_and_measuring_is_seen(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path)
    drawn(tmp_path / "some", 28, "L")
    words = ("--data", "folder:some", "--routing", "dr", "--preset", "tiny", "--steps", "1", "--device", "cpu")
    said = command("train", *words).stderr
    assert "looking at the images" in said and "reading the images" in said and "looking at the test images" in said
    for said in (command("zoo", "add", "runs/some-dr").stderr, command("evaluate", "--model", "some-dr").stderr):
        assert "reading and measuring some-dr" in said and "100%" in said
    monkeypatch.delenv("FORCE_COLOR")
    assert "reading" not in command("evaluate", "--model", "some-dr").stderr


def test_the_model_of_the_zoo_knows_its_images_and_its_classes(own):
    entry = zoo.entry("my-shapes-dr-residual")
    assert entry.data == f"folder:{own}/my shapes@3x20x20"
    assert (entry.classes, entry.network.image, entry.test_count) == (CLASSES, (3, 20, 20), 7)
    exemplars, spread = zoo.exemplar_capsules(entry.name), zoo.capsule_spread(entry.name)
    assert exemplars.shape == (3, zoo.EXEMPLARS, 16) and bool(spread.isfinite().all())
    for words in ((), ("--data", "folder:my shapes"), ("--data", f"folder:{own}/../{own.name}/my shapes@3x20x20")):
        said = command("evaluate", "--model", entry.name, *words).output
        assert f"error {entry.test_error:.2f} %" in said and "it agrees" in said
    assert models.usual_model("folder:my shapes") == entry.name
    assert entry.name in command("zoo", "measure").output


def test_a_trace_keeps_the_names_of_the_classes(own):
    picture = next((own / "my shapes" / "bar").glob("*.png"))
    for model in ("my-shapes-dr-residual", "runs/my-shapes-dr-residual"):
        said = command("trace", picture, "--model", model, "-o", "one.safetensors").output
        found = Trace.open(own / "one.safetensors")
        assert found.classes == CLASSES
        assert f"sees {CLASSES[int(found.predicted[0])]} " in said
    command("trace", "--data", "folder:my shapes", "--model", "my-shapes-dr-residual", "-o", "set")
    assert TraceSet.open(own / "set")[0].classes == CLASSES


def test_experiments_are_told_beside_models_of_a_folder(own):
    command("experiment", "show")


def test_a_folder_that_moved_is_one_sentence(own, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    entry = zoo.entry("my-shapes-dr-residual")
    manifest = zoo.folder() / "manifest.json"
    before = manifest.read_text()
    manifest.write_text(before.replace(f'"test_count": {entry.test_count}', f'"test_count": {entry.test_count + 1}'))
    try:
        with pytest.raises(CapsvizError, match="its images are others now, `capsviz zoo add` the run again"):
            CliRunner().invoke(app, ["evaluate", "--model", entry.name], catch_exceptions=False)
    finally:
        manifest.write_text(before)
    with renamed(own / "my shapes", "elsewhere") as elsewhere:
        with pytest.raises(DatasetMissing, match=r"There is no folder .*my shapes; put it back there, or into"):
            CliRunner().invoke(app, ["evaluate", "--model", "my-shapes-dr-residual"], catch_exceptions=False)
        (tmp_path / "my shapes").symlink_to(elsewhere)
        assert "it agrees" in command("evaluate", "--model", "my-shapes-dr-residual").output


def test_classes_that_were_renamed_since_are_said_and_neither_measured_nor_published(own):
    shutil.copytree(own / "my shapes", own / "theirs")
    (own / "theirs" / "bar").rename(own / "theirs" / "rod")
    said = command("evaluate", "--model", "my-shapes-dr-residual", "--data", "folder:theirs").stderr
    assert "my-shapes-dr-residual learned <b>cross<∕b>, a *round* one, bar; they count as" in said
    evaluating = ("evaluate", "--model", "my-shapes-dr-residual")
    with renamed(own / "my shapes" / "bar", "rod"):
        for words in (
            evaluating,
            (*evaluating, "--data", "folder:my shapes"),
            ("zoo", "add", "runs/my-shapes-dr-residual"),
        ):
            with pytest.raises(CapsvizError, match=r"learned .*, bar; give its folders their names back"):
                CliRunner().invoke(app, words, catch_exceptions=False)


def test_a_run_does_not_go_on_with_other_images(tmp_path):
    config = TrainingConfig(f"folder:{drawn(tmp_path / 'some', 28, 'L')}@1x28x28", "l2", "tiny", steps=4, batch=4)
    training = partial(train, config, tmp_path / "run", device="cpu", quiet=True, resume=True)
    assert training(time_limit=1e-6).stopped == "time limit"
    assert training(time_limit=1e-6).step > 1, "the same ones are taken"
    theirs = replace(config, data=f"folder:{drawn(tmp_path / 'theirs' / 'some', 28, 'L')}@1x28x28")
    place = f"--out {tmp_path} --name run --resume"
    with pytest.raises(
        OtherSettings,
        match=rf"started with data .* and not folder:.*theirs/some.*; give another --name, or .* {place}\.",
    ):
        train(theirs, tmp_path / "run", device="cpu", quiet=True)
    picture, elsewhere = tmp_path / "some" / "bar" / "001.png", tmp_path / "some" / "<b>cross<∕b>" / "another.png"
    for _ in ("cut off", "finished"):
        picture.rename(elsewhere)
        with pytest.raises(CheckpointError, match="The images in the folder are not those that the run was started"):
            training()
        elsewhere.rename(picture)
        assert training().summary == training().summary


def test_of_a_small_folder_with_a_broken_file_an_epoch_shows_every_image(tmp_path):
    chosen = choose(f"folder:{drawn(tmp_path / 'some')}", "dr")
    config = TrainingConfig(chosen.data, "dr", batch=chosen.batch)
    feed = Feed(training_sets(config)[0], config)
    assert feed.steps_per_epoch * chosen.batch == len(feed.data) == 22


def test_files_of_a_large_folder_are_not_read_to_be_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "FEW", 25)
    chosen = choose(f"folder:{drawn(tmp_path / 'some')}", "dr")
    assert chosen.sentence.startswith("some: 23 files to learn from, 2 held out and 7 to test on")


@pytest.mark.parametrize(
    ("side", "mode", "routing", "preset"),
    [
        (20, "L", "dr", "compact"),
        (28, "L", "em", "compact"),
        (16, "L", "dr", "residual"),
        (64, "L", "dr", "residual"),
        (28, "RGB", "l2", "residual"),
        (28, "RGB", "cnn", "compact"),
    ],
)
def test_the_preset_suits_the_images_and_can_be_built(tmp_path, side, mode, routing, preset):
    chosen = choose(f"folder:{drawn(tmp_path / 'some', side, mode)}", routing)
    assert chosen.preset == preset and f"as {side}×{side} in {'grey' if mode == 'L' else 'colour'}" in chosen.sentence
    config = TrainingConfig(chosen.data, routing, chosen.preset)
    assert build(config, (1 if mode == "L" else 3, side, side), 3).config.classes == 3


def test_what_is_asked_for_is_taken_and_resampling_is_said(tmp_path):
    chosen = choose(f"folder:{drawn(tmp_path / 'some')}", "dr", size=48, preset="tiny", epochs=3, batch=4)
    assert (chosen.data, chosen.preset) == (f"folder:{tmp_path}/some@3x48x48", "tiny")
    assert (chosen.epochs, chosen.batch) == (3, 4) and "as 48×48 in colour, resampled from 20×20" in chosen.sentence
    assert "as 20×20 in colour (--size)" in choose(f"folder:{tmp_path}/some", "dr").sentence
    Image.new("RGB", (30, 26)).save(tmp_path / "some" / "bar" / "000.png")
    assert (
        "as 20×20 in colour, resampled from several sizes (--size)" in choose(f"folder:{tmp_path}/some", "dr").sentence
    )
    said = [choose(f"folder:{tmp_path}/some", "dr", steps=steps).sentence for steps in (1, 2000)]
    assert said[0].endswith("(--batch), 1 step (--steps).") and said[1].endswith("(--batch), 2,000 steps (--steps).")
    assert not any("epochs" in each for each in said)
    once = choose(f"folder:{tmp_path}/some", "dr", epochs=1, batch=1).sentence
    assert once.endswith("1 image a step (--batch), 1 epoch (--epochs).")
    assert choose("mnist", "dr").sentence == "" and choose("mnist", "dr").batch == 128
    with pytest.raises(SettingsError, match="size of their own; leave out --size"):
        choose("mnist", "dr", size=48)
    for share in (math.nan, math.inf, 5.0):
        with pytest.raises(SettingsError, match="give a share between 0 and 1"):
            choose(f"folder:{tmp_path}/some", "dr", validation_share=share)


def learn(config: TrainingConfig, model: Network) -> None:
    """A step of a training, but for the optimizer's own, on black images of the first class."""
    images = torch.zeros(config.batch, *model.config.image, dtype=torch.uint8)
    labels = torch.zeros(config.batch, 1, dtype=torch.int64)
    batch = Batch(images, labels, multi_hot(labels, model.config.classes), images.unsqueeze(1))
    descend(config, forecast._Alone(), model, ForwardPass(model), forecast._Alone(), batch, 0.5)


@pytest.mark.parametrize(("routing", "classes"), [("l2", 4), ("dr", 100)])
def test_the_forecast_is_what_a_step_or_a_validation_takes(routing, classes):
    config = TrainingConfig("folder:some", routing, "residual", batch=16)
    model = build(config, (3, 20, 20), classes)
    with memory.Watch() as learning:
        learn(config, model)
    model.zero_grad()
    images = torch.zeros(16, 3, 20, 20, dtype=torch.uint8)
    with memory.Watch() as validating, torch.inference_mode():
        model.eval()(images / 255, reconstruct=False)
    expected = max(learning.peak, validating.peak)
    assert forecast._taken(config, model, 16) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("routing", ["dr", "em"])
def test_what_is_routed_in_parts_is_forecast_by_two_of_them(routing, monkeypatch):
    config = TrainingConfig("folder:some", routing, "tiny", batch=16)
    model = build(config, (1, 28, 28), 60)
    monkeypatch.setattr(parts, "LIMIT", 0)
    whole = forecast._taken(config, model, 16)
    monkeypatch.setattr(parts, "PART", 2**18)
    seen: list[object] = []
    count = parts.Cut.parts

    def counted(*given: Any) -> Iterator[Any]:
        for each in count(*given):
            seen.append(each)
            yield each

    monkeypatch.setattr(parts.Cut, "parts", counted)
    taken = forecast._taken(config, model, 16)
    assert taken < 0.8 * whole and len(seen) < 40
    with memory.Watch() as learning:
        learn(config, model)
    assert len(seen) > 100
    assert taken == pytest.approx(learning.peak, rel=0.05)


def test_a_forecast_and_the_steps_around_it_leave_one_another_their_numbers():
    config = TrainingConfig("folder:some", "dr", "compact", batch=32)
    model = build(config, (1, 28, 28), 2)
    fourier._transforms.cache_clear()
    for expected in (0, 1):
        forecast.room(config, model)
        assert fourier._transforms.cache_info().currsize == expected
        learn(config, model)
        assert fourier._transforms.cache_info().currsize == 1


@pytest.mark.parametrize(
    ("preset", "side", "classes", "batches"), [("residual", 20, 20, (8, 16, 64)), ("compact", 28, 20, (8, 16, 64))]
)
def test_the_batch_that_a_refusal_names_fits_and_no_larger_half_does(preset, side, classes, batches, monkeypatch):
    """What a step takes is in no proportion to its images: gradients of weights, and routing in parts."""
    config = TrainingConfig("folder:some", "dr", preset, batch=batches[-1])
    model = build(config, (1, side, side), classes)
    weights = 4 * sum(tensor.numel() for tensor in model.parameters())
    for batch in batches[:2]:
        taken = forecast._taken(config, model, batch)
        monkeypatch.setattr(memory, "free", partial(int, 2 * weights + taken))
        with pytest.raises(SettingsError, match=r"; give --batch (\d+)") as refused:
            forecast.room(config, model)
        named = int(str(refused.value).rpartition(" ")[2].rstrip("."))
        assert named >= batch
        forecast.room(replace(config, batch=named), model)
        with pytest.raises(SettingsError):
            forecast.room(replace(config, batch=2 * named), model)
        monkeypatch.setattr(memory, "free", partial(int, taken))
        forecast.room(replace(config, batch=batch), model, moments=True)


@pytest.mark.parametrize(("free", "remedy"), [(60_000_000, "--batch 32"), (12_000_000, "--size 10 or another")])
def test_a_training_that_does_not_fit_names_the_option(monkeypatch, free, remedy):
    monkeypatch.setattr(memory, "free", lambda: free)
    config = TrainingConfig("folder:some", "l2", "residual", batch=128)
    model = build(config, (3, 20, 20), 4)
    with pytest.raises(SettingsError, match=rf"A step takes about \d+ MB of memory, and .* are free; give {remedy}"):
        forecast.room(config, model)


def test_images_that_do_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free", lambda: 50_000)
    with pytest.raises(SettingsError, match="The 25 images take 1 MB and 1 MB are free; give --size 10"):
        forecast.check_images(TrainingConfig(f"folder:{drawn(tmp_path / 'some')}", "dr"))


def test_images_have_to_fit_where_they_are_trained_on_and_in_every_process(tmp_path, monkeypatch):
    config = TrainingConfig(f"folder:{drawn(tmp_path / 'some')}", "dr")
    gpu = torch.device("meta")
    monkeypatch.setattr(memory, "free", lambda: 200_000)
    monkeypatch.setattr(forecast, "free_bytes", lambda place: 10_000 if place == gpu else 10**12)
    forecast.check_images(config)
    with pytest.raises(SettingsError, match="give --size 10"):
        forecast.check_images(config, gpu)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    with pytest.raises(SettingsError, match="give --size 10"):
        forecast.check_images(config)


def test_of_several_gpus_each_takes_its_part_of_the_batch(monkeypatch):
    config = TrainingConfig("folder:some", "l2", "residual", batch=128)
    model = build(config, (3, 20, 20), 4)
    weights = 4 * sum(tensor.numel() for tensor in model.parameters())
    free = 2 * weights + forecast._taken(config, model, 32)
    monkeypatch.setattr(forecast, "of_network", lambda _: torch.device("cpu:0"))
    monkeypatch.setattr(forecast, "CPU", torch.device("meta"))
    monkeypatch.setattr(forecast, "free_bytes", lambda _: free)
    assert "are free" in forecast.room(config, model, processes=4)
    with pytest.raises(SettingsError, match="give --batch 32"):
        forecast.room(config, model)


@pytest.mark.parametrize(
    ("seconds", "steps", "said"),
    [
        (0.02, 50, "about 1 second."),
        (0.25, 144, "about 36 seconds"),
        (1.3, 2000, "about 44 minutes"),
        (9.0, 2000, "about 5 hours"),
    ],
)
def test_time_is_told_in_units_of_people(seconds, steps, said):
    assert said in forecast.told(seconds, steps)


@pytest.mark.parametrize(("start", "slow", "first"), [(0, 1, 2), (100, 5, 106)])
def test_time_is_told_by_steps_after_those_that_are_slow(start, slow, first, monkeypatch):
    """Of a step that is recorded for a GPU: four that are launched kernel by kernel, and the recording."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    pace, said = forecast.Pace(start, 10_000, slow), []
    for done in range(start + 1, start + 20):
        clock[0] += 9.0 if done < first else 0.002
        said.append(pace.told(done))
    [sentence] = filter(None, said)
    assert sentence.startswith("A step takes 0.002 s, the ")
    ended = forecast.Pace(start, start + slow + forecast.TIMED, slow)
    assert not any(ended.told(done) for done in range(start + 1, ended.total + 1)), "nothing is left"


def test_exemplars_are_taken_of_every_class(tmp_path):
    data = f"folder:{drawn(tmp_path / 'some')}"
    images, labels = exemplar_images(TrainingConfig(data, "dr"))
    assert len(images) == len(labels) and set(labels.tolist()) == {0, 1, 2}


def test_an_unknown_form_is_a_sentence(tmp_path):
    with pytest.raises(CapsvizError, match="8 to 224 pixels a side"):
        choose(f"folder:{drawn(tmp_path / 'some')}@3x4x4", "dr")
