"""A state dict of a public network becomes a model of the zoo, by one command."""

from __future__ import annotations

import pickle
import shlex
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torchvision.io import write_png

import capsviz
from capsviz import zoo
from capsviz.errors import CapsvizError
from tests.programs import command, refused


@pytest.fixture(scope="module")
def weights() -> dict[str, Tensor]:
    """digits-dr as laubonghaudoi/CapsNet_guide_PyTorch would name and order its weights, with a decoder of its own."""
    torch.manual_seed(0)
    ours = zoo.load("digits-dr").state_dict()
    types = zoo.entry("digits-dr").config.primary_types
    found = {f"Conv1.{part}": ours[f"encoder.conv.{part}"] for part in ("weight", "bias")}
    for part in ("weight", "bias"):
        for kind, each in enumerate(ours[f"encoder.primary.{part}"].unflatten(0, (8, types)).unbind(1)):
            found[f"PrimaryCaps.capsules.{kind}.{part}"] = each.clone()
    found["DigitCaps.W"] = ours["transform"].permute(1, 2, 0, 3)[None].contiguous()
    for place, (inputs, outputs) in enumerate([(16, 32), (32, 64), (64, 784)], start=1):
        layer = torch.nn.Linear(inputs, outputs).requires_grad_(False)
        found |= {f"Decoder.fc{place}.weight": layer.weight, f"Decoder.fc{place}.bias": layer.bias}
    return found


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """A zoo that is empty."""
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    return tmp_path


def test_a_state_dict_becomes_a_model_of_the_zoo(own, weights):
    with pytest.MonkeyPatch.context() as shipped:
        shipped.delenv("CAPSVIZ_ZOO")
        trained = zoo.entry("digits-dr")
    torch.save(weights, own / "theirs.pth.tar")
    asked = ("zoo", "adopt", own / "theirs.pth.tar", "--layout", "laubonghaudoi", "--data", "digits")
    result = command(*asked)
    entry = zoo.entry("theirs")
    assert f"test error {entry.test_error:.2f} %" in result.output
    # The same weights but for the decoder: the same errors.
    assert entry.test_error == pytest.approx(trained.test_error) and entry.test_count == trained.test_count
    assert entry.note.startswith("Trained by laubonghaudoi/CapsNet_guide_PyTorch")
    zoo.verify(entry)
    images, _ = capsviz.data.load("digits", "test").batch(torch.arange(2))
    found = capsviz.trace(zoo.load("theirs"), capsviz.data.to_float(images))
    assert found.layer["couplings"].shape == (3, 2, 288, 10)
    assert zoo.exemplar_capsules("theirs").shape == (10, 8, 16)

    words = ["capsviz", "zoo", "adopt", "theirs.pth.tar", "--layout", "laubonghaudoi", "--data", "digits"]
    assert shlex.split(entry.command) == [*words, "--iterations", "3"]
    assert "theirs is in the zoo; give" in refused(*asked)


class Harm:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_in_a_file_is_run(own):
    mark, file = own / "mark", own / "evil.pth"
    torch.save({"conv1.weight": Harm(mark)}, file)
    pickle.loads(pickle.dumps(Harm(mark)))
    assert mark.exists()  # it would
    mark.unlink()
    with pytest.raises(CapsvizError, match=r"evil\.pth is no state dict; write one with torch\.save"):
        capsviz.adopt(file, "laubonghaudoi", "digits")
    assert not mark.exists() and not (own / "zoo").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_that_was_cut_short_is_no_state_dict(own, weights, zipped, recwarn):
    file = own / "cut.pth"
    torch.save({"conv1.weight": torch.ones(3, 4), "more": torch.ones(5)}, file, _use_new_zipfile_serialization=zipped)
    whole = file.read_bytes()
    for end in {*range(1, len(whole), 37), 111, 296, 370}:
        file.write_bytes(whole[:end])
        with pytest.raises(CapsvizError, match=r"cut\.pth is no state dict; write one with torch\.save"):
            capsviz.adopt(file, "laubonghaudoi", "digits")
    assert not recwarn.list


def test_a_model_of_own_images_knows_where_they_are_and_how_they_are_seen(own, weights, monkeypatch):
    place = own / "images"
    test = capsviz.data.load("digits", "test")
    for number, (image, label) in enumerate(zip(test.images[:200], test.labels[:200].tolist(), strict=True)):
        (place / str(label)).mkdir(parents=True, exist_ok=True)
        write_png(image, str(place / str(label) / f"{number}.png"))
    torch.save(weights, own / "theirs.pth")
    monkeypatch.chdir(own)
    entry = capsviz.adopt("theirs.pth", "laubonghaudoi", "folder:images")
    assert entry.data == f"folder:{place}@1x28x28"
    monkeypatch.chdir("/")
    assert len(capsviz.data.load(entry.data, "test")) == entry.test_count


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"epoch": 3, "state_dict": {}}, "holds more than weights"),
        ([torch.ones(2)], "holds more than weights"),
        ({"conv1.weight": torch.ones(2)}, r"lacks Conv1\.bias, Conv1\.weight, .* …, unlike"),
    ],
)
def test_what_is_no_such_state_dict_is_said_in_one_sentence(own, content, said):
    torch.save(content, own / "other.pth")
    with pytest.raises(CapsvizError, match=said):
        capsviz.adopt(own / "other.pth", "laubonghaudoi", "digits")
    (own / "other.pth").write_bytes(b"best epoch 3\n")
    with pytest.raises(CapsvizError, match="is no state dict"):
        capsviz.adopt(own / "other.pth", "laubonghaudoi", "digits")
    (own / "other.pth").write_bytes(b"no archive")
    with pytest.raises(CapsvizError, match="is no state dict"):
        capsviz.adopt(own / "other.pth", "laubonghaudoi", "digits")
    (own / "other.pth").unlink()
    with pytest.raises(CapsvizError, match="There is no file"):
        capsviz.adopt(own / "other.pth", "laubonghaudoi", "digits")
    assert not (own / "zoo").exists()


def test_a_network_that_reads_nothing_rightly_leaves_the_zoo_as_it_was(own, weights):
    torch.save({**weights, "DigitCaps.W": weights["DigitCaps.W"].roll(1, 1)}, own / "shifted.pth")
    with pytest.raises(CapsvizError, match=r"The network gets \d+\.\d % of digits wrong, hardly less than by guessing"):
        capsviz.adopt(own / "shifted.pth", "laubonghaudoi", "digits")
    assert not (own / "zoo").exists()


def test_a_network_that_routes_otherwise_is_told_how_to_get_in(own, weights):
    torch.save(weights, own / "theirs.pth")
    said = refused("zoo", "adopt", own / "theirs.pth", "--layout", "gram-ai", "--data", "digits")
    assert "capsviz.record" in said
