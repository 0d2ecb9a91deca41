"""From the weights of a public network to a model of the zoo."""

import io
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from capsviz import zoo
from capsviz.data import data_root, load
from capsviz.data.dataset import FOLDER_PREFIX
from capsviz.data.folder import named
from capsviz.network.layouts import LAYOUTS, LayoutError, adopted
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.publish import exemplar_images

WORST = 0.9
"""Of the error of guessing: a network that gets more wrong was not trained on these images."""


def adopt(
    file: str | Path,
    layout: str,
    data: str,
    name: str | None = None,
    *,
    iterations: int = 3,
) -> zoo.Entry:
    """Put a CapsNet that public PyTorch code trained into the zoo.

    file: its state dict as torch.save wrote it, read with `weights_only=True`, so that nothing in it is run. layout:
    a key of `capsviz.network.layouts.LAYOUTS`. data: the data set of its training, whose images are in 0..1. name: the
    model's, the file's unless given. iterations: T of its routing. The weights are rounded to float16, as all of the
    zoo, and the test error is measured on those. Raises LayoutError for a file that is no state dict of that layout, or
    whose network computes something else than ours; ZooError for a name that is taken; UnknownDataset, DatasetMissing.
    """
    path = Path(file)
    name = name or Path(path.name.removesuffix(".tar")).stem
    zoo.check_new(name)
    if data.startswith(FOLDER_PREFIX):
        data = named(data, data_root())
    test = load(data, "test")
    network = adopted(state_dict(path), layout, test.image, iterations)
    if network.config.classes != len(test.classes):
        raise LayoutError(
            f"The network knows {network.config.classes} classes and {data} has {len(test.classes)}; name the data set "
            "that it was trained on."
        )
    result = evaluate(zoo.shipped(network), test)
    if result.error > WORST * (100 - 100 / len(test.classes)):
        raise LayoutError(
            f"The network gets {result.error:.1f} % of {data} wrong, hardly less than by guessing; name the data set "
            "and the iterations of its training."
        )
    command = ["capsviz", "zoo", "adopt", path.name, "--layout", layout, "--data", data]
    images, labels = exemplar_images(TrainingConfig(data, network.config.routing))
    return zoo.save(
        network,
        name=name,
        data=data,
        classes=test.classes,
        preset=layout,
        test_error=result.error,
        test_count=result.count,
        command=shlex.join([*command, "--iterations", str(iterations)]),
        curves="",
        images=images,
        labels=labels,
        note=". ".join(filter(None, (f"Trained by {LAYOUTS[layout].repository}", test.note))),
        seen=None,
    )


def state_dict(path: Path) -> Mapping[str, Tensor]:
    """The tensors in a file by name, nothing of it run; raises LayoutError where it holds anything else."""
    if not path.is_file():
        raise LayoutError(f"There is no file {path}; give the state dict that torch.save wrote.")
    content = io.BytesIO(path.read_bytes())  # what the system refuses is another matter than what the file holds
    try:
        with warnings.catch_warnings(action="ignore"):  # of other formats: the sentence below says what to do
            found = torch.load(content, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises whatever it stumbles over
        raise LayoutError(
            f"{path} is no state dict; write one with torch.save(model.state_dict(), …) where the model's code is."
        ) from error
    if not isinstance(found, Mapping) or not all(isinstance(value, Tensor) for value in found.values()):
        raise LayoutError(f"{path} holds more than weights; save the model's state_dict() alone.")
    return found
