"""Putting a model into the zoo, and taking one out: its weights, its exemplars, its line in the manifest."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from types import EllipsisType, MappingProxyType

import torch
from jaxtyping import Float, Int64, UInt8
from safetensors.torch import save as save_tensors
from torch import Tensor

from capsviz import device
from capsviz.data import to_float
from capsviz.letters import LONGEST_FILE, caseless, one_form, with_letters
from capsviz.network import CapsNet, CapsOutput, Network, assemble
from capsviz.network.finite import check_finite
from capsviz.zoo.manifest import AtStep, Entry, ZooError, changing, check_seen, entry, folder, models, unrouted
from capsviz.zoo.storage import CAPSULES, packed, unpacked

_LONGEST = 100
EXEMPLARS = 8
"""Class capsules of real training images kept with each model, per class."""
_BATCH = 100


def check_word(name: str) -> None:
    """Raise ZooError for what is no name of a model, and where its files would take the place of another's."""
    strange = not name or name.startswith(".") or with_letters(name, "._-", "") != one_form(name)
    if strange or len(name) > _LONGEST or len(name.encode()) > LONGEST_FILE:
        raise ZooError(
            f"A model cannot be called {name[:_LONGEST]!r}; give it a --name of up to {_LONGEST} letters, digits, "
            f"dashes and dots, and {LONGEST_FILE} bytes."
        )
    left_out = unrouted()
    if name in left_out:
        raise ZooError(f"{left_out[name]} Until then give this model another --name.")
    known = [*models(), *left_out]
    for other in known if name not in known else ():
        if caseless(other) == caseless(name):
            raise ZooError(
                f"A model called {name} would be one file with {other} on some systems; give it another --name."
            )


def check_new(name: str) -> None:
    """Raise ZooError for what is no name of a model, or that of one that is in the zoo."""
    check_word(name)
    if name in models():
        raise ZooError(f"{name} is in the zoo; give this model another --name.")


def leaving(name: str, successor: str) -> Entry:
    """The model that is to leave the zoo for one of another name.

    Raises ZooError where it is not in the manifest, is a step of a training, or both names are the same.
    """
    found = entry(name)
    if isinstance(found, AtStep):
        raise ZooError(f"{name} is a step of a training; name the trained model, {found.trained}, instead.")
    if name == successor:
        raise ZooError(f"{name} cannot take its own place; name another model as its successor.")
    return found


@device.or_cpu
def class_capsules(
    network: CapsNet, images: UInt8[Tensor, "count channel height width"], labels: Int64[Tensor, "count"]
) -> tuple[Float[Tensor, "upper exemplar dim"], Float[Tensor, "upper dim"]]:
    """Exemplars and spread of the class capsules of labelled images.

    Of each class the images that are read rightly, the surest first; where these are fewer than `EXEMPLARS`, others of
    the class, then any by how active its capsule is, and all of them again where there are no more images. The spread
    is over the images that are read rightly, of a class with one at most over its exemplars.
    """
    place = device.of(network)

    def through(of: UInt8[Tensor, "part channel height width"]) -> CapsOutput:
        with torch.inference_mode():
            return network(to_float(of.to(place)), reconstruct=False)

    def seen(part: slice) -> tuple[Tensor, Tensor]:
        output = through(images[part])
        own = output.poses[torch.arange(len(output.poses)), labels[part].to(place)]
        return device.results(own), device.results(output.activations)

    pose, activation = map(torch.cat, zip(*device.parts(network, len(images), _BATCH, seen), strict=True))
    right = activation.argmax(1) == labels
    chosen, spread = [], []
    for label in range(network.config.classes):
        shows = labels == label
        mine = (right & shows).nonzero().squeeze(1)
        surest = (right.double() * shows + shows).mul(2).add(activation[:, label]).argsort(descending=True)
        surest = surest.repeat(-(-EXEMPLARS // len(surest)))[:EXEMPLARS]
        # Every capsule of every image would be too much to keep where there are many classes.
        exemplars = pose[surest] if shows[surest].all() else device.results(through(images[surest]).poses[:, label])
        chosen.append(exemplars)
        spread.append((pose[mine] if len(mine) > 1 else exemplars).std(0))
    return torch.stack(chosen), torch.stack(spread)


def packed_capsules(
    network: CapsNet, images: UInt8[Tensor, "count channel height width"], labels: Int64[Tensor, "count"]
) -> dict[str, Tensor]:
    """What a file holds of the class capsules of labelled images, in float16."""
    chosen, spread = class_capsules(network, images, labels)
    return {f"{CAPSULES}exemplars": chosen.half().contiguous(), f"{CAPSULES}spread": spread.half().contiguous()}


def shipped(network: Network, bits: int = 16) -> Network:
    """The network with its weights rounded as the zoo stores them, which is what every measurement must see."""
    rounded = assemble(network.config, seed=0)
    rounded.load_state_dict(unpacked(packed(network, bits)))
    return rounded.eval().requires_grad_(False)


def save(
    network: Network,
    *,
    name: str,
    data: str,
    classes: tuple[str, ...],
    preset: str,
    test_error: float,
    test_count: int,
    command: str,
    curves: str,
    images: UInt8[Tensor, "count channel height width"],
    labels: Int64[Tensor, "count"],
    note: str = "",
    history: str = "",
    files: Mapping[str, bytes] = MappingProxyType({}),
    bits: int = 16,
    seen: Entry | EllipsisType | None = ...,
) -> Entry:
    """Write a model's weights, its exemplars and its line in the manifest; a line of that name is replaced.

    test_error: measured on `shipped(network, bits)`. images and labels: those of training for the exemplars,
    which a network without capsules has not. curves: the metrics file, history: the snapshots of b, both below
    `pretrained/`, and files: what is to be written there with the weights. What a line of that name had at early steps
    stays where the command and the network are the same, and goes where they are not. Raises NotFinite where a weight
    is not finite, or is not in float16, and WriteError where there is no room; then nothing of the zoo has changed.
    seen: the model of that name, or none, when this one was begun; ZooError where that has changed since.
    """
    tensors = packed(network, bits)
    check_finite(tensors, f"The model {name} as it is rounded")
    if isinstance(rounded := shipped(network, bits), CapsNet):
        tensors |= packed_capsules(rounded, images, labels)
    file, weights = f"{name}.safetensors", save_tensors(tensors)
    snapshots = b"" if not history else files[history] if history in files else (folder() / history).read_bytes()
    written = Entry(
        name=name,
        data=data,
        classes=classes,
        routing=network.config.routing,
        preset=preset,
        network=network.config,
        test_error=test_error,
        test_count=test_count,
        command=command,
        sha256=hashlib.sha256(weights).hexdigest(),
        file=file,
        bytes=len(weights),
        parameters=sum(value.numel() for value in network.state_dict().values()),
        curves=curves,
        note=note,
        history=history,
        history_sha256=hashlib.sha256(snapshots).hexdigest() if history else "",
        bits=bits,
    )
    with changing({**files, file: weights}) as (entries, moved):
        if not isinstance(seen, EllipsisType):
            check_seen(entries, name, seen)
        moved.pop(name, None)
        before = entries.get(name)
        if before and (before.command, before.network) == (command, network.config):
            written = dataclasses.replace(written, checkpoints=before.checkpoints)  # such a training's too
        entries[name] = written
    return written


def replace(name: str, successor: str) -> None:
    """Take a model out of the zoo, with all its files; whoever asks for it is told of its successor.

    Raises ZooError where either is not in the manifest, and as `leaving`; WriteError.
    """
    entry(successor)
    leaving(name, successor)
    with changing() as (entries, moved):
        if name not in entries or successor not in entries:
            raise ZooError(f"{name} or {successor} left the zoo meanwhile; see `capsviz zoo list`.")
        del entries[name]
        followed = {old: successor if new == name else new for old, new in moved.items()}
        moved |= followed | {name: successor}
