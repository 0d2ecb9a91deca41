"""Images as they are given, and as a network takes them."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from capsviz.errors import CapsvizError
from capsviz.network import Network
from capsviz.tensors import written

ROUNDING = 1e-3
"""How far beyond 0 and 1 a pixel may be: resampling leaves such."""


class PixelsError(CapsvizError):
    """Images that a network does not take."""


class ModeError(CapsvizError):
    """A network reads images while it is being trained."""


def tensor_of(given: object, name: str, error: type[CapsvizError]) -> Tensor:
    """The numbers of a tensor, of an array of any layout and order of bytes, or of lists of these, as a dense tensor.

    Raises `error`, which calls them `name`, where they are no real numbers or lie in rows of unequal length.
    """
    try:
        if isinstance(given, Tensor):
            found = given.to_dense()
        elif isinstance(given, list | tuple) and any(isinstance(each, Tensor | list | tuple) for each in given):
            found = torch.stack([tensor_of(each, name, error) for each in given])
        else:
            array = np.array(given, order="C")
            found = torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))
    except (TypeError, ValueError, RuntimeError) as inner:
        raise _no_numbers(given, name, error) from inner
    if found.is_complex() or found.is_meta:
        raise _no_numbers(given, name, error)
    return found


def _no_numbers(given: object, name: str, error: type[CapsvizError]) -> CapsvizError:
    kind = f"{given.dtype} on {given.device}" if isinstance(given, Tensor) else type(given).__name__
    return error(f"The {name} are no real numbers in rows of one length ({kind}); give a tensor or an array of them.")


def inputs(given: object, network: Network, name: str = "") -> Float[Tensor, "batch channel height width"]:
    """Images as `pixels` gives them, of the size that a network takes, on its device.

    name: the network's. Raises PixelsError as `pixels`, and for a network that does not compute in float32; ModeError
    as `check_mode`.
    """
    check_mode(network, name)
    weights = next(network.parameters())
    if weights.dtype != torch.float32:
        kind = str(weights.dtype).removeprefix("torch.")
        raise PixelsError(f"The network is in {kind} and takes images in float32; call `.float()` on it first.")
    return pixels(given, network.config.image).to(weights.device)


def check_mode(network: Network, name: str = "") -> None:
    """Raise ModeError for a network with running statistics that are being trained: looking at it would move them."""
    if any(module.training for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)):
        raise ModeError(
            f"{name or 'The network'} is in training mode, in which the images beside one change how it is read; call "
            "`.eval()` on the network first."
        )


def pixels(given: object, image: tuple[int, ...]) -> Float[Tensor, "batch channel height width"]:
    """Images in float32, 0..1, "batch channel height width", of bytes or of any floating type, as `tensor_of` takes.

    image: channels, height and width that the network takes. Raises PixelsError for other sizes, types and ranges, and
    for numbers that are not finite.
    """
    images = tensor_of(given, "images", PixelsError)
    size = f"batch × {written(image)}"
    if images.ndim == 5 and len(images) == 1:  # what takes one image was given a batch
        several = written(tuple(images.shape[1:]))
        raise PixelsError(f"One image of {written(image)} is taken and these are {several}; give one of them.")
    if images.ndim != 4 or tuple(images.shape[1:]) != tuple(image):
        raise PixelsError(
            f"The network takes images of {size} and these are {written(tuple(images.shape))}; resize or stack them."
        )
    if not len(images):
        raise PixelsError(f"There is no image in the batch; give {size} with at least one.")
    if images.dtype == torch.uint8:
        return images.to(torch.float32) / 255
    if not images.is_floating_point():
        kind = str(images.dtype).removeprefix("torch.")
        raise PixelsError(f"Images of {kind} may mean anything; give bytes 0 to 255 (uint8) or floats from 0 to 1.")
    low, high = (float(each) for each in images.detach().aminmax())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise PixelsError("The images hold numbers that are not finite; give floats from 0 to 1.")
    if low < -ROUNDING or high > 1 + ROUNDING:
        raise PixelsError(
            f"The images reach from {low:.4g} to {high:.4g}; divide bytes by 255, or undo a normalisation, so that "
            "they lie in 0 to 1."
        )
    return images.to(torch.float32)
