"""The pretrained models: `pretrained/manifest.json`, its files, their checksums."""

from .manifest import (
    RECORDS,
    Entry,
    ZooError,
    entry,
    folder,
    markdown,
    models,
    successors,
    verify,
    verify_history,
    version,
)
from .publishing import EXEMPLARS, class_capsules, replace, save, shipped
from .weights import capsule_spread, exemplar_capsules, history, load, load_network

__all__ = [
    "EXEMPLARS",
    "RECORDS",
    "Entry",
    "ZooError",
    "capsule_spread",
    "class_capsules",
    "entry",
    "exemplar_capsules",
    "folder",
    "history",
    "load",
    "load_network",
    "markdown",
    "models",
    "replace",
    "save",
    "shipped",
    "successors",
    "verify",
    "verify_history",
    "version",
]
