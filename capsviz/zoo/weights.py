"""A pretrained model's weights, and what is kept with them: exemplars, spread, the history of b."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from capsviz import device as devices
from capsviz.network import CapsNet, Network, NoCapsulesError, assemble
from capsviz.network.finite import check_finite
from capsviz.reading import refused
from capsviz.tensors import all_finite, tensor_file
from capsviz.zoo import checkpoints
from capsviz.zoo.coefficient_history import CoefficientHistory, read_history
from capsviz.zoo.manifest import AtStep, Entry, ZooError, entry, folder, verify, verify_history
from capsviz.zoo.storage import CAPSULES, unpacked


def tensors_of(name: str) -> tuple[Entry, dict[str, Tensor]]:
    """What the manifest says of a model, and what its file holds. Raises ZooError."""
    model = entry(name)
    verify(model)
    if isinstance(model, AtStep):
        return model, checkpoints.read(model)
    with tensor_file(model.path, "restore it with git", ZooError, name=model.file) as file:
        if file.numbers < model.network.weights:
            file.refuse("", f"holds {file.numbers:,} numbers and its config wants {model.network.weights:,} at least")
        return model, file.whole()


def load(name: str, device: str | None = None) -> CapsNet:
    """A pretrained capsule network by name, in float32 and in evaluation mode.

    device: where it runs, such as "cpu" or "cuda:1"; that of `CAPSVIZ_DEVICE` unless given (`capsviz.device`). Raises
    ZooError, DeviceError, and NoCapsulesError for the CNN baseline, which `load_network` opens.
    """
    network = load_network(name, device)
    if not isinstance(network, CapsNet):
        raise NoCapsulesError(name)
    return network


def load_network(name: str, device: str | None = None) -> Network:
    """A pretrained model by name, the CNN baseline too, in float32 and in evaluation mode.

    device: as of `load`. Raises ZooError, DeviceError, and NotFinite for weights of a training that diverged.
    """
    devices.chosen(device)  # before a file is read
    return devices.placed(network_of(*tensors_of(name), "restore it with git"), device)


def network_of(model: Entry, tensors: dict[str, Tensor], remedy: str) -> Network:
    """The network of an entry with the weights that a file holds, on the CPU and in evaluation mode.

    remedy: what the sentence says to do. Raises ZooError where they do not fit the config, NotFinite.
    """
    weights = unpacked(tensors)
    check_finite(weights, f"The model {model.name}")
    network = assemble(model.network, seed=0)
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        refused(model.file, "", f"does not fit its config ({error})", remedy, ZooError)
    return network.float().eval().requires_grad_(False)


def exemplar_capsules(name: str) -> Float[Tensor, "upper exemplar dim"]:
    """Class capsules of training images, stored with a model so that its decoder can draw without the data set.

    Shape "upper exemplar dim": the images of each class that the model is surest of, in falling order. Raises ZooError,
    and NoCapsulesError for the CNN baseline.
    """
    return _capsules(name, "exemplars")


def capsule_spread(name: str) -> Float[Tensor, "upper dim"]:
    """Standard deviation of each number of each class capsule over the training images of that class."""
    return _capsules(name, "spread")


def history(name: str) -> CoefficientHistory | None:
    """How b of an L2 or L1 model came to be, snapshot by snapshot; None where no snapshots were kept.

    Raises ZooError where the file is missing or altered.
    """
    model = entry(name)
    if not model.history:
        return None
    verify_history(model)
    return read_history(folder() / model.history)


def _capsules(name: str, what: str) -> Tensor:
    return capsules_of(*tensors_of(name), what, "restore it with git")


def capsules_of(model: Entry, tensors: dict[str, Tensor], what: str, remedy: str) -> Tensor:
    """The "exemplars" or the "spread" of the class capsules that a file holds; remedy: as in `network_of`.

    Raises ZooError, NoCapsulesError.
    """
    if not model.has_capsules:
        raise NoCapsulesError(model.name)
    found, field = tensors.get(f"{CAPSULES}{what}"), f"{CAPSULES}{what}"
    size, axes = (model.config.classes, model.config.class_dim), 2 if what == "spread" else 3
    if found is None or found.ndim != axes or (found.shape[0], found.shape[-1]) != size or not found.numel():
        refused(model.file, field, f"are not those of {size[0]} classes", remedy, ZooError)
    if not all_finite(found):
        refused(model.file, field, "hold numbers that are not finite", remedy, ZooError)
    return found.float()
