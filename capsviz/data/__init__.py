"""Data sets, and the pictures that visitors bring."""

from capsviz.data.errors import DatasetMissing, DownloadFailed, ImageError, UnknownDataset
from capsviz.data.images import ImageSet, to_float
from capsviz.data.info import DATASETS, DatasetInfo, download_command
from capsviz.data.loading import available, download, load
from capsviz.data.multi import MultiDigits
from capsviz.data.torchvision_sets import data_root
from capsviz.data.visitor import Prepared, VisitorImage, prepare, read_image

__all__ = [
    "DATASETS",
    "DatasetInfo",
    "DatasetMissing",
    "DownloadFailed",
    "ImageError",
    "ImageSet",
    "MultiDigits",
    "Prepared",
    "UnknownDataset",
    "VisitorImage",
    "available",
    "data_root",
    "download",
    "download_command",
    "load",
    "prepare",
    "read_image",
    "to_float",
]
