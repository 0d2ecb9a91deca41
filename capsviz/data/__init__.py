"""Data sets, and the pictures that visitors bring."""

from capsviz.data.dataset import Dataset, download_command
from capsviz.data.datasets import DATASETS, describe, known, prepare_for, same, title_of
from capsviz.data.digits import DIGITS
from capsviz.data.errors import DatasetMissing, DownloadFailed, ImageError, UnknownDataset
from capsviz.data.images import ImageSet, to_bytes, to_float
from capsviz.data.loading import available, download, load
from capsviz.data.multi import MultiDigits
from capsviz.data.torchvision_sets import MNIST, data_root
from capsviz.data.viewpoint import Viewpoint
from capsviz.data.visitor import Prepared, VisitorImage, prepare, read_image

__all__ = [
    "DATASETS",
    "DIGITS",
    "MNIST",
    "Dataset",
    "DatasetMissing",
    "DownloadFailed",
    "ImageError",
    "ImageSet",
    "MultiDigits",
    "Prepared",
    "UnknownDataset",
    "Viewpoint",
    "VisitorImage",
    "available",
    "data_root",
    "describe",
    "download",
    "download_command",
    "known",
    "load",
    "prepare",
    "prepare_for",
    "read_image",
    "same",
    "title_of",
    "to_bytes",
    "to_float",
]
