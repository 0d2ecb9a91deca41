"""The data sets, in the order in which every list, table and page has them."""

from __future__ import annotations

from capsviz.data.dataset import Dataset
from capsviz.data.digits import DIGITS
from capsviz.data.errors import UnknownDataset
from capsviz.data.multi import MULTI_MNIST
from capsviz.data.torchvision_sets import CIFAR10, FASHION_MNIST, MNIST

DATASETS: dict[str, Dataset] = {each.name: each for each in (MNIST, FASHION_MNIST, CIFAR10, MULTI_MNIST, DIGITS)}
"""By name."""


def describe(name: str) -> Dataset:
    """The data set of a name; raises `UnknownDataset` for one that is not in `DATASETS`."""
    if name not in DATASETS:
        raise UnknownDataset(f"There is no data set {name!r}: choose one of {', '.join(DATASETS)}, or folder:PATH.")
    return DATASETS[name]
