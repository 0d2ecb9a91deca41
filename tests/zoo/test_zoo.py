"""The pretrained models are what the manifest says, and a wrong file is named, never half-loaded."""

from __future__ import annotations

import shutil
import unicodedata
from dataclasses import replace

import pytest
import torch
from typer.testing import CliRunner

from capsviz import data, zoo
from capsviz.analysis.predictions import PredictionsError, recorded
from capsviz.commands.main import app
from capsviz.errors import CapsvizError
from capsviz.files import CheckpointError
from capsviz.training.evaluate import evaluate
from capsviz.zoo.manifest import changing, check_seen
from tests import zoos
from tests.programs import refused

LARGEST = {
    False: {"digits": (3.0, 3.0), "mnist": (0.7, 0.9), "fashion-mnist": (8.5, 10.0)},
    True: {"mnist": (0.32, 0.5), "fashion-mnist": (6.7, 7.5), "cifar10": (14.0, 16.0), "multi-mnist": (7.4, 7.4)},
}
"""Test error, in percent, above which a model does not ship, and that for EM: with the papers' encoder, then ours."""


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A zoo of one model in a folder that may be damaged."""
    monkeypatch.setenv("CAPSVIZ_ZOO", str(zoos.copied(tmp_path, "digits-dr")))
    return tmp_path


@pytest.mark.parametrize("name", list(zoo.models()))
def test_every_shipped_model_is_whole_small_and_as_good_as_asked(name):
    entry = zoo.entry(name)
    zoo.verify(entry)
    assert entry.bytes == entry.path.stat().st_size <= 9e6
    assert entry.test_error <= LARGEST[entry.preset == "residual"][entry.data][entry.routing == "em"]
    assert (zoo.folder() / entry.curves).is_file()
    assert f"--routing {entry.routing}" in entry.command


def test_all_of_it_takes_120_megabytes_at_most():
    assert sum(file.stat().st_size for file in zoo.folder().rglob("*") if file.is_file()) <= 120e6


def test_every_algorithm_stands_beside_the_others_on_digits_mnist_and_fashion_mnist():
    methods = ("dr", "em", "l2", "l1")
    wanted = {(data, method, True) for data in ("digits", "mnist", "fashion-mnist") for method in methods}
    wanted |= {(data, method, False) for data in ("digits", "mnist", "fashion-mnist") for method in ("l2", "l1")}
    capsules = [entry for entry in zoo.models().values() if entry.has_capsules]
    assert wanted <= {(entry.data, entry.routing, entry.has_decoder) for entry in capsules}
    assert {"mnist-cnn", "fashion-mnist-cnn", "mnist-matrix"} <= set(zoo.models())


@pytest.mark.parametrize("name", [name for name, entry in zoo.models().items() if entry.data == "digits"])
def test_a_digits_model_makes_exactly_the_errors_of_the_manifest(name):
    entry = zoo.entry(name)
    result = evaluate(zoo.load_network(name), data.load("digits", "test"))
    assert result.error == pytest.approx(entry.test_error) and result.count == entry.test_count


@pytest.mark.parametrize("name", [name for name, entry in zoo.models().items() if entry.history])
def test_a_shipped_history_of_b_ends_in_the_shipped_coefficients(name):
    zoo.verify_history(zoo.entry(name))
    history = zoo.history(name)
    assert history is not None and history.steps[0] == 0 and history.steps == sorted(set(history.steps))
    assert torch.equal(history.coefficients[-1].float(), zoo.load(name).get_buffer("coefficients"))


def test_a_loaded_model_is_the_rounded_one_that_was_measured():
    network = zoo.load("digits-l1")
    for name, value in zoo.shipped(network).state_dict().items():
        assert torch.equal(value, network.state_dict()[name])


def test_exemplars_are_drawn_as_their_class():
    """A digit drawn from a stored capsule is read again as the class of the capsule, for most of them."""
    network, capsules = zoo.load("digits-dr"), zoo.exemplar_capsules("digits-dr")
    upper, exemplars, dim = capsules.shape
    classes = torch.arange(upper).repeat_interleave(exemplars)
    poses = torch.zeros(len(classes), upper, dim)
    poses[torch.arange(len(classes)), classes] = capsules.flatten(0, 1)
    read = network(network.decode(poses, classes)).activations.argmax(1)
    assert (read == classes).float().mean() > 0.9
    assert (zoo.capsule_spread("digits-dr") > 0).all()


@pytest.mark.parametrize("name", ["हिन्दी-dr", "Bäume-dr", "Ba\u0308ume-2", "树叶_l2", "a", "1.5-dr"])
def test_a_model_may_be_called_in_any_script(name):
    zoo.check_word(name)


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a b", "树" * 90, "a" * 101])
def test_what_is_no_name_of_files_on_every_system_is_refused(name):
    with pytest.raises(zoo.ZooError, match="cannot be called"):
        zoo.check_word(name)


def test_a_name_that_some_systems_take_for_anothers_is_refused():
    zoo.check_word("digits-dr")
    with pytest.raises(
        zoo.ZooError, match=r"^A model called Digits-DR would be one file with digits-dr on some systems"
    ):
        zoo.check_word("Digits-DR")


def test_of_an_empty_zoo_the_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    with pytest.raises(zoo.ZooError, match=f"{tmp_path} holds none; add one with `capsviz zoo add`"):
        zoo.entry("digits-dr")


def test_an_unknown_model_is_answered_with_the_known_ones():
    with pytest.raises(zoo.ZooError, match=r"No model is called 'nope'; choose one of .*digits-dr"):
        zoo.load("nope")


def test_a_model_that_leaves_takes_its_files_along_and_names_its_successor(copied):
    first = zoo.entry("digits-dr")
    for folder in ("curves", "measured"):
        (copied / folder).mkdir()
    rows = [zoos.rows()["digits-dr"]]
    for name in ("better", "best"):
        shutil.copy(first.path, copied / f"{name}.safetensors")
        rows.append(rows[0] | {"name": name, "file": f"{name}.safetensors", "curves": f"curves/{name}.jsonl"})
    zoos.state(copied, *rows)
    left = [first.path, copied / first.curves, copied / "measured" / "digits-dr.safetensors"]
    left[1].write_text("")
    left[2].write_bytes(b"")
    (copied / "curves" / "best.jsonl").write_text("")

    zoo.replace("digits-dr", "better")
    assert list(zoo.models()) == ["best", "better"] and zoo.successors() == {"digits-dr": "better"}
    assert not any(file.exists() for file in left) and (copied / "curves" / "best.jsonl").exists()
    with pytest.raises(zoo.ZooError, match=r"^digits-dr left the zoo; use better, which took its place\.$"):
        zoo.load("digits-dr")

    zoo.replace("better", "best")
    assert zoo.successors() == {"better": "best", "digits-dr": "best"}
    with pytest.raises(zoo.ZooError, match="its own place"):
        zoo.replace("best", "best")


def test_a_missing_file_is_named(copied):
    (copied / "digits-dr.safetensors").unlink()
    with pytest.raises(zoo.ZooError, match=r"digits-dr\.safetensors of digits-dr are missing"):
        zoo.load("digits-dr")


@pytest.mark.parametrize("damage", [lambda whole: whole[:-100], lambda whole: whole[:-1] + b"\x00", lambda _: b""])
def test_an_altered_file_is_named_and_not_loaded(copied, damage):
    path = copied / "digits-dr.safetensors"
    path.write_bytes(damage(path.read_bytes()[:-1] + b"\x7f"))
    with pytest.raises(zoo.ZooError, match=r"digits-dr\.safetensors of digits-dr are not those of the manifest"):
        zoo.load("digits-dr")


def test_a_damaged_manifest_is_said_in_one_sentence(copied):
    (copied / "manifest.json").write_text('{"models": [{"name": "digits-dr"')
    with pytest.raises(CapsvizError, match=r"manifest\.json is damaged"):
        zoo.models()


def test_a_model_whose_routing_nothing_defines_is_kept_and_named_and_the_others_open(copied):
    ours = zoos.rows()["digits-dr"]
    theirs = ours | {"name": "a-mine", "routing": "top-3", "config": ours["config"] | {"routing": "top-3"}, "more": 1}
    zoos.state(copied, ours, theirs)
    zoo.load("digits-dr")
    assert list(zoo.models()) == ["digits-dr"] and "digits-dr" in zoo.markdown()
    said = "a-mine routes by 'top-3', which nothing here defines; name what defines it in CAPSVIZ_ROUTINGS."
    for name in ("a-mine", "a-mine@40"):
        with pytest.raises(zoo.ZooError, match=f"^{said}$"):
            zoo.load(name)
    for command in ("list", "verify"):
        told = CliRunner().invoke(app, ["zoo", command])
        assert "digits-dr" in told.output and said in told.stderr
    with pytest.raises(zoo.ZooError, match=f"^{said} Until then give this model another --name"):
        zoo.check_new("a-mine")
    with pytest.raises(zoo.ZooError, match="one file with a-mine"):
        zoo.check_word("A-mine")
    with changing() as (entries, _):
        entries["digits-dr"] = replace(entries["digits-dr"], note="changed")
    assert zoos.rows() == {"a-mine": theirs, "digits-dr": ours | {"note": "changed"}}
    assert list(zoos.rows()) == ["a-mine", "digits-dr"]
    zoos.state(copied, ours, theirs, theirs)
    with pytest.raises(zoo.ZooError, match="has two of one name"):
        zoo.models()
    zoos.state(copied, ours | {"routing": "top-3"})
    with pytest.raises(zoo.ZooError, match="restore the manifest"):
        zoo.models()


def test_of_a_zoo_of_nothing_else_it_is_said_what_defines_its_models(copied):
    ours = zoos.rows()["digits-dr"]
    zoos.state(copied, ours | {"name": "größe", "routing": "top-3", "config": ours["config"] | {"routing": "top-3"}})
    said = "größe routes by 'top-3', which nothing here defines; name what defines it in CAPSVIZ_ROUTINGS."
    for name in ("digits-dr", unicodedata.normalize("NFD", "größe")):
        with pytest.raises(zoo.ZooError, match=said):
            zoo.entry(name)
    for command in ("list", "measure"):
        told = CliRunner().invoke(app, ["zoo", command])
        assert said in told.stderr and "No model is" not in told.output
    with pytest.raises(zoo.ZooError, match="changed in the zoo meanwhile"), changing() as (entries, _):
        check_seen(entries, "größe", None)  # which another shell added while one's own was begun


def test_a_name_is_found_however_its_letters_are_written(copied):
    composed = "gr\u00f6\u00dfe"
    apart = unicodedata.normalize("NFD", composed)
    with changing() as (entries, _):
        entries[apart] = replace(entries["digits-dr"], name=apart)
    assert unicodedata.normalize("NFC", zoo.entry(composed).name) == composed
    with pytest.raises(zoo.ZooError, match="No model is called"):
        zoo.entry("grosse")


def test_a_model_that_left_is_named_also_where_its_name_has_a_dot(copied):
    with changing() as (_, moved):
        moved["leaves-1.5"] = "digits-dr"
    assert "leaves-1.5 left the zoo; use digits-dr" in refused("evaluate", "--model", "leaves-1.5")
    assert "No model is called 'leaves-2.5'" in refused("evaluate", "--model", "leaves-2.5")


def test_a_run_is_opened_though_a_model_of_its_name_left(copied, tmp_path, monkeypatch):
    with changing() as (_, moved):
        moved["mnist-dr"] = "digits-dr"
    (tmp_path / "mnist-dr").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "left the zoo" not in refused("evaluate", "--model", "mnist-dr"), "its folder holds no run yet"


def test_a_step_of_a_training_is_not_measured_and_has_no_record(copied):
    said = "digits-dr@40 is a step of a training; measure the trained model, digits-dr."
    assert refused("zoo", "measure", "digits-dr@40") == said
    with pytest.raises(PredictionsError, match=f"^{said}$"):
        recorded("digits-dr@40")


def test_the_folder_of_a_training_is_answered_with_what_opens_it(copied, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    with pytest.raises(zoo.ZooError, match="'runs/mine' is a folder and no model") as raised:
        zoo.load("runs/mine")
    how = str(raised.value).split("`")[1]
    with pytest.raises(CheckpointError, match="runs/mine"):  # which is empty here
        exec(f"import capsviz; {how}", {})
