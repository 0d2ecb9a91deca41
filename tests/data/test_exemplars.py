"""The test images that come with capsviz."""

from __future__ import annotations

import pytest
import torch

from capsviz import data, zoo
from capsviz.data import DATASETS, DatasetMissing, exemplars
from capsviz.data.exemplars import PER_CLASS, write
from capsviz.data.order import FOLDER
from tools import exemplars as tools

SETS = ("mnist", "fashion-mnist", "cifar10", "multi-mnist")


def test_every_set_that_wants_a_download_has_exemplars_of_a_megabyte_and_a_half_at_most():
    assert set(exemplars.names()) == set(SETS) == {name for name, info in DATASETS.items() if info.download_bytes}
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 1.5e6
    licences = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(DATASETS[name].title in licences for name in SETS)


@pytest.mark.parametrize("name", SETS)
def test_there_are_twenty_of_each_class(name):
    found, info = exemplars.exemplars(name), DATASETS[name]
    assert found.images.shape == (200, *info.image) and found.parts.shape == (200, info.objects, *info.image)
    assert found.labels[:, 0].bincount().tolist() == [PER_CLASS] * 10
    assert list(found.indices) == sorted(set(found.indices)) and found.start in found.indices
    assert found.images.float().std() > 30, "they are pictures"


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_they_are_the_images_of_the_whole_set_at_their_places(name, mnist_root):
    if not data.available(name, root=mnist_root):
        pytest.skip(f"{name} is not on this machine")
    found = exemplars.exemplars(name)
    images, labels = data.load(name, "test", root=mnist_root).batch(torch.tensor(found.indices))
    assert torch.equal(found.images, images)
    assert torch.equal(found.labels, labels.reshape(200, -1))


def test_an_image_that_is_not_among_them_is_named():
    found = exemplars.exemplars("mnist")
    assert found.place(found.indices[7]) == 7
    with pytest.raises(DatasetMissing, match=r"Image 9999 of MNIST .* download MNIST"):
        found.place(9999)
    with pytest.raises(DatasetMissing, match="choose one of"):
        exemplars.exemplars("digits")


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_the_image_to_begin_with_is_read_rightly_by_every_model_of_its_set(name):
    found = exemplars.exemplars(name)
    place = found.place(found.start)
    image = data.to_float(found.images[place : place + 1])
    for model in (entry for entry in zoo.models().values() if entry.data == name):
        activations = zoo.load_network(model.name)(image, reconstruct=False).activations
        named = activations.topk(found.labels.shape[1]).indices.sort().values
        assert torch.equal(named[0], found.labels[place].sort().values), model.name


@pytest.mark.parametrize("index", ["[]", '{"mnist": {"start": 3}}', '{"mnist": 3}', "{", '{"../x": {}}'])
def test_an_index_that_is_none_is_one_sentence(tmp_path, monkeypatch, index: str):
    (tmp_path / "index.json").write_text(index)
    monkeypatch.setattr(exemplars, "FOLDER", tmp_path)
    exemplars._index.cache_clear()
    try:
        with pytest.raises(DatasetMissing, match=r"^[^\n]*restore it with git[^\n]*\.$"):
            exemplars.names()
    finally:
        exemplars._index.cache_clear()


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    digits = data.load("digits", "test")
    monkeypatch.setattr(exemplars, "FOLDER", tmp_path)
    exemplars._index.cache_clear()
    exemplars.exemplars.cache_clear()
    try:
        start = int(exemplars.chosen(digits)[3])
        write("digits", digits, start, tmp_path)
        found = exemplars.exemplars("digits")
        assert found.start == start
        images, labels = digits.batch(torch.tensor(found.indices))
        assert torch.equal(found.images, images) and torch.equal(found.labels[:, 0], labels)
        last = torch.nonzero(digits.labels == digits.labels[start]).flatten()[-1]
        write("digits", digits, start, tmp_path, wanted=int(last))
        exemplars._index.cache_clear()
        exemplars.exemplars.cache_clear()
        with_wanted = exemplars.exemplars("digits")
        assert set(with_wanted.indices) - set(found.indices) == {int(last)} and len(with_wanted) == len(found)
        assert torch.equal(with_wanted.images, digits.batch(torch.tensor(with_wanted.indices))[0])
        with pytest.raises(ValueError, match="no exemplar"):
            write("digits", digits, 10**6, tmp_path)
    finally:
        exemplars._index.cache_clear()
        exemplars.exemplars.cache_clear()


@pytest.mark.long
def test_of_the_digits_it_is_one_of_ten_that_the_rule_puts_first():
    digits = data.load("digits", "test")
    assert DATASETS["digits"].start in tools.ranked(digits, "digits", torch.arange(len(digits)))[:10]
