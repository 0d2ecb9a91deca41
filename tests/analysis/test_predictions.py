"""The records say exactly what the shipped models do with their test sets, and a stale one is found."""

from __future__ import annotations

import dataclasses
import shutil
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from safetensors import safe_open
from typer.testing import CliRunner

from capsviz import data, zoo
from capsviz.analysis.measuring import columns, control_drawer_of, drawer_of, measure, wanting
from capsviz.analysis.metrics import mean_squared_error, structural_similarity
from capsviz.analysis.predictions import (
    FORMAT,
    Predictions,
    PredictionsError,
    drawings,
    most_confused,
    path_of,
    recorded,
    summary,
)
from capsviz.commands.main import app
from capsviz.data import DIGITS
from capsviz.files import safetensors_bytes
from capsviz.network import CapsNet, assemble, configure, preset
from capsviz.training.evaluate import evaluate
from tests import zoos
from tests.known import known, single_digits
from tests.zoos import SECOND, with_second_seed

RECORDED = [name for name, entry in zoo.models().items() if path_of(entry).is_file()]


def record(**changes: Any) -> Predictions:
    """Four images of three classes: two named rightly, one of these drawn wrong."""
    whole = Predictions(
        name="m",
        data="digits",
        weights="1" * 64,
        drawn_by="m",
        drawn_by_weights="2" * 64,
        labels=torch.tensor([0, 1, 2, 2], dtype=torch.uint8),
        predicted=torch.tensor([0, 1, 1, 1], dtype=torch.uint8),
        activations=torch.tensor([0.9, 0.8, 0.7, 0.6]).half(),
        capsules=torch.rand(4, 16).half(),
        mse=torch.tensor([0.01, 0.04, 0.02, 0.03]).half(),
        ssim=torch.tensor([0.9, 0.5, 0.8, 0.7]).half(),
        reread=torch.tensor([0, 2, 1, 1], dtype=torch.uint8),
    )
    return dataclasses.replace(whole, **changes)


def test_the_mean_capsule_of_a_class_is_of_the_images_that_were_read_rightly():
    whole = record(labels=torch.tensor([0, 1, 2, 1], dtype=torch.uint8))  # images 1 and 3 are read as 1, and are
    means = whole.class_means(2)
    capsules = known(whole.capsules)
    torch.testing.assert_close(means[0], capsules[0].float())
    torch.testing.assert_close(means[1], capsules[[1, 3]].float().mean(0), rtol=1e-3, atol=1e-3)
    with pytest.raises(PredictionsError, match="reads a class never rightly"):
        whole.class_means(3)
    with pytest.raises(PredictionsError, match="No capsules"):
        record(capsules=None).class_means(2)


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A zoo of two models, one drawing the other's capsules, with their records, in a folder that may be damaged."""
    monkeypatch.setenv("CAPSVIZ_ZOO", str(zoos.copied(tmp_path, "digits-dr", "digits-l2-fc", measured=True)))
    return tmp_path


def rewrite(folder, name: str, **changes: object) -> None:
    """Change what the manifest says of a model."""
    rows = zoos.rows(folder)
    zoos.state(folder, *(rows | {name: rows[name] | changes}).values())


def test_every_model_is_measured():
    assert set(zoo.models()) == set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_belongs_to_the_weights_and_states_exactly_the_error_of_the_manifest(name):
    entry = zoo.entry(name)
    found = recorded(entry)
    assert (found.error, len(found)) == (entry.test_error, entry.test_count)
    assert found.drawn_by == (drawer.name if (drawer := drawer_of(entry)) else "")
    assert path_of(entry).stat().st_size < 45 * entry.objects * len(found) + 2000


def test_measuring_again_finds_the_same():
    entry = zoo.entry("digits-l2-fc")
    told: list[tuple[int, int]] = []
    again, found = measure(entry, progress=lambda *done: told.append(done)), recorded(entry)
    assert told == [(128, 360), (256, 360), (360, 360)]
    assert torch.equal(again.labels, data.load("digits", "test").labels)
    for name in ("labels", "predicted", "reread"):
        assert torch.equal(getattr(again, name), getattr(found, name))
    for name in ("activations", "capsules", "mse", "ssim"):
        torch.testing.assert_close(getattr(again, name), getattr(found, name), rtol=2e-3, atol=1e-4)


def test_a_record_holds_the_figures_of_the_networks_own_reconstructions():
    found, network, test = recorded(zoo.entry("digits-em")), zoo.load("digits-em"), data.load("digits", "test")
    images = data.to_float(test.images[:40])
    with torch.inference_mode():
        output = network(images)
        reread = network(output.reconstruction).activations.argmax(1)
    torch.testing.assert_close(
        known(found.mse)[:40].float(), mean_squared_error(output.reconstruction, images), rtol=2e-3, atol=0
    )
    torch.testing.assert_close(
        known(found.ssim)[:40].float(), structural_similarity(output.reconstruction, images), rtol=0, atol=1e-3
    )
    assert torch.equal(known(found.reread)[:40].long(), reread)


@pytest.mark.parametrize("name", ["digits-l1", "digits-em"])
def test_the_reconstructions_come_back_from_the_recorded_capsules(name):
    found, network, test = recorded(zoo.entry(name)), zoo.load(name), data.load("digits", "test")
    chosen = torch.tensor([3, 0, 359])
    with torch.inference_mode():
        expected = network(data.to_float(test.images[chosen])).reconstruction
    torch.testing.assert_close(drawings(found, network, chosen), expected, rtol=0, atol=1 / 255)
    assert drawings(found, network).shape == (360, 1, 28, 28)


def test_a_model_without_decoder_is_drawn_by_dynamic_routing():
    assert drawer_of(zoo.entry("digits-l1-fc")).name == "digits-dr"
    assert drawer_of(zoo.entry("mnist-em-residual")).name == "mnist-em-residual"
    assert not recorded(zoo.entry("digits-l1-fc")).reconstructs


def test_a_second_seed_is_drawn_by_the_first_ones_decoder_as_a_control(tmp_path, monkeypatch):
    with_second_seed(tmp_path)
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    first, second, bare = (zoo.entry(name) for name in ("digits-dr", SECOND, "digits-l2-fc"))
    assert (first.seed, second.seed) == (0, 1)
    assert drawer_of(bare) == first and drawer_of(second) == second
    assert [control_drawer_of(entry) for entry in (first, second, bare)] == [None, first, None]
    assert wanting() == [(second, None), (second, first)]
    for drawer in (None, first):
        measure(second, drawer).save(path_of(second, drawer))
    assert wanting() == []
    own, control = recorded(second), recorded(second, first)
    assert own.reconstructs and (control.name, control.drawn_by) == (SECOND, "digits-dr")
    assert torch.equal(own.predicted, control.predicted), "who draws does not change what is read"
    assert own.drawn_wrong.sum() < 10 < 200 < control.drawn_wrong.sum()
    written = {path.stem for path in (tmp_path / "measured").iterdir()}
    assert written == {"digits-dr", "digits-l2-fc", SECOND, f"{SECOND}-by-digits-dr"}


def test_models_of_one_data_set_are_measured_on_images_that_are_read_once(tmp_path, monkeypatch):
    with_second_seed(tmp_path)
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    read = Mock(side_effect=type(DIGITS).load)
    monkeypatch.setattr(type(DIGITS), "load", lambda self, *asked: read(self, *asked))
    told = CliRunner().invoke(app, ["zoo", "measure", "digits-dr", SECOND, "digits-l2-fc"])
    assert told.exit_code == 0 and len(told.stdout.splitlines()) == 4 and read.call_count == 1


def test_a_network_without_capsules_is_classified_and_nothing_is_drawn():
    network = assemble(configure("tiny", "digits", "cnn")).eval()
    images = data.load("digits", "test").images[:5]
    found = columns(network, None, images)
    assert set(found) == {"predicted", "activations"}
    with torch.inference_mode():
        activations = network(data.to_float(images)).activations
    assert torch.equal(found["predicted"].long(), activations.argmax(1))
    bare = record(drawn_by="", drawn_by_weights="", capsules=None, mse=None, ssim=None, reread=None)
    assert summary(bare) == "m: error 50.00 % (2 of 4)"
    for asked in (
        lambda: bare.drawn_wrong,
        lambda: bare.figures("mse"),
        lambda: drawings(bare, CapsNet(preset("tiny", "digits", "dr"))),
    ):
        with pytest.raises(PredictionsError, match="choose"):
            asked()


def test_right_wrong_and_drawn_wrong_are_counted():
    found = record()
    assert found.right.tolist() == [True, True, False, False]
    assert found.error == 50.0
    assert found.drawn_wrong.tolist() == [False, True, False, False]
    assert "1 classified right and drawn wrong" in summary(found)


def test_the_confusion_matrix_has_the_class_shown_in_rows():
    found = record()
    assert found.confusion(3).tolist() == [[1, 0, 0], [0, 1, 0], [0, 2, 0]]
    assert found.taken(2, 1).tolist() == [2, 3]
    assert found.largest_confusions(3, 5) == [(2, 1, 2)]


def test_a_table_of_fewer_classes_than_there_are_is_refused():
    with pytest.raises(PredictionsError, match=r"^m names 3 classes at least; give all of them, not 2\.$"):
        record().confusion(2)


def test_the_most_confused_classes_are_found_error_by_error_over_all_records():
    found = record()  # two images of class 2 are taken for class 1
    assert most_confused([found], 3, 2) == (1, 2) and most_confused([found, found], 3, 3) == (0, 1, 2)
    other = dataclasses.replace(found, predicted=torch.tensor([1, 0, 2, 2], dtype=torch.uint8))
    assert most_confused([other, other, found], 3, 2) == (0, 1)


def test_classes_are_numbers_that_index_and_subtract_and_bytes_in_a_file(tmp_path):
    found = record()
    assert {found.labels.dtype, found.predicted.dtype, known(found.reread).dtype} == {torch.int64}
    found.save(tmp_path / "a.safetensors")
    with safe_open(tmp_path / "a.safetensors", "pt") as file:
        assert file.get_tensor("labels").dtype == torch.uint8
    assert Predictions.open(tmp_path / "a.safetensors").labels.dtype == torch.int64


def test_a_record_opens_as_it_was_saved(tmp_path):
    found = record()
    found.save(tmp_path / "new" / "m.safetensors")
    opened = Predictions.open(tmp_path / "new" / "m.safetensors")
    for field in dataclasses.fields(Predictions):
        one, other = getattr(found, field.name), getattr(opened, field.name)
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


@pytest.mark.parametrize("content", [b"", b"words", None])
def test_a_damaged_or_foreign_record_is_said_in_one_sentence(tmp_path, content):
    path = tmp_path / "m.safetensors"
    if content is None:
        shutil.copy(zoo.entry("digits-dr").path, path)
    else:
        path.write_bytes(content)
    with pytest.raises(PredictionsError, match="`capsviz zoo measure` writes it anew"):
        Predictions.open(path)


def test_records_of_the_same_weights_are_fresh(copied):
    assert wanting() == []
    assert recorded(zoo.entry("digits-l2-fc")).drawn_by == "digits-dr"


def test_a_record_of_other_weights_is_stale(copied):
    rewrite(copied, "digits-l2-fc", sha256="0" * 64)
    with pytest.raises(PredictionsError, match=r"other weights than the zoo's; `capsviz zoo measure digits-l2-fc`"):
        recorded(zoo.entry("digits-l2-fc"))
    assert [entry.name for entry, _ in wanting()] == ["digits-l2-fc"]


def test_a_record_drawn_by_other_weights_is_stale(copied):
    rewrite(copied, "digits-dr", sha256="0" * 64)
    assert [entry.name for entry, _ in wanting()] == ["digits-dr", "digits-l2-fc"]


def test_a_missing_record_is_said_with_the_command_that_makes_it(copied):
    path_of(zoo.entry("digits-dr")).unlink()
    with pytest.raises(PredictionsError, match="`capsviz zoo measure digits-dr` does that"):
        recorded(zoo.entry("digits-dr"))


def test_a_model_that_is_not_as_good_as_the_manifest_says_is_not_recorded(copied):
    rewrite(copied, "digits-dr", test_error=0.0)
    with pytest.raises(PredictionsError, match=r"the manifest says 0\.00 % of 360; run `capsviz zoo verify`"):
        measure(zoo.entry("digits-dr"))


def pairs_of_digits() -> Predictions:
    """Four images of two digits: both found, in either order; one taken for another; both missed."""
    return record(
        labels=torch.tensor([[0, 1], [0, 1], [1, 2], [2, 3]], dtype=torch.uint8),
        predicted=torch.tensor([[0, 1], [1, 0], [0, 2], [0, 1]], dtype=torch.uint8),
        activations=torch.rand(4, 2).half(),
        capsules=torch.rand(4, 2, 16).half(),
        reread=torch.tensor([[1, 0], [1, 3], [0, 2], [0, 1]], dtype=torch.uint8),
    )


def test_an_image_of_two_digits_is_right_where_both_are_named_in_whatever_order():
    found = pairs_of_digits()
    assert (found.objects, record().objects) == (2, 1)
    assert found.right.tolist() == [True, True, False, False] and found.error == 50
    assert found.drawn_wrong.tolist() == [False, True, False, False]


def test_a_digit_that_was_missed_counts_for_the_one_that_was_named_instead():
    found = pairs_of_digits()
    assert found.confusion(4).tolist() == [[2, 0, 0, 0], [1, 2, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]]
    assert found.taken(1, 0).tolist() == [2]
    assert found.taken(3, 1).tolist() == [3]
    assert found.taken(0, 0).tolist() == [0, 1]
    assert found.taken(2, 2).tolist() == [2]
    assert found.taken(0, 1).tolist() == []


def test_the_mean_capsule_of_a_digit_is_of_those_found_in_images_read_rightly():
    found = pairs_of_digits()
    capsules = known(found.capsules).float()
    means = found.class_means(2)
    torch.testing.assert_close(means[0], (capsules[0, 0] + capsules[1, 1]) / 2, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(means[1], (capsules[0, 1] + capsules[1, 0]) / 2, rtol=1e-3, atol=1e-3)


def test_a_record_of_two_digits_says_what_evaluating_them_says(monkeypatch, tmp_path):
    pairs, network = data.MultiDigits(single_digits(), reach=0), zoo.load("digits-dr")
    monkeypatch.setattr("capsviz.analysis.measuring.load", lambda *_: pairs)
    told = evaluate(network, pairs)
    entry = zoo.entry("digits-dr")
    entry = dataclasses.replace(entry, data="multi-mnist", test_error=told.error, test_count=told.count)
    found = measure(entry)
    assert len(found) == len(pairs.base) and found.labels.shape == found.predicted.shape == (len(pairs.base), 2)
    assert torch.equal(found.confusion(10), told.confusion)

    images, labels = pairs.batch(torch.arange(20))
    with torch.inference_mode():
        output = network(data.to_float(images), reconstruct=False)
        drawn = network.reconstruct(output.poses, output.activations, 2)
        reread = network(drawn, reconstruct=False).activations.topk(2).indices
    assert torch.equal(found.shown()[:20], labels)
    assert torch.equal(found.named()[:20], output.activations.topk(2).indices)
    assert torch.equal(known(found.reread)[:20].long(), reread)
    torch.testing.assert_close(found.activations[:20].float(), output.activations.topk(2).values, rtol=2e-3, atol=0)
    torch.testing.assert_close(drawings(found, network, torch.arange(20)), drawn, rtol=0, atol=2e-3)

    found.save(tmp_path / "pairs.safetensors")
    again = Predictions.open(tmp_path / "pairs.safetensors")
    assert all(torch.equal(value, again.columns()[name]) for name, value in found.columns().items())


def test_a_record_whose_columns_are_of_other_numbers_of_objects_is_refused(tmp_path):
    path, pairs, single = tmp_path / "pairs.safetensors", pairs_of_digits(), record()

    def written(**changed: torch.Tensor) -> None:
        path.write_bytes(safetensors_bytes(pairs.columns() | changed, {"format": FORMAT, "measured": pairs.facts()}))

    written(predicted=single.predicted)
    with pytest.raises(PredictionsError, match="predicted has the shape 4 and not 4 × 2"):
        Predictions.open(path)
    written(mse=pairs.activations)
    with pytest.raises(PredictionsError, match="mse has the shape 4 × 2 and not 4"):
        Predictions.open(path)
    written(labels=single.labels[:, None])
    with pytest.raises(PredictionsError, match="labels"):
        Predictions.open(path)
