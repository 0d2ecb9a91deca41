"""What max pooling keeps of a feature map, and what it discards: where in its square the largest number stood."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor
from torch.nn import functional

from capsviz import device
from capsviz.data.images import to_float
from capsviz.data.viewpoint import shift
from capsviz.network import CNN
from capsviz.network.cnn import POOL

SAME = 1e-4
"""Share of a map's largest number below which two numbers are the same: sums of other pixels round otherwise."""


@dataclass(frozen=True)
class Pooling:
    """One feature map of an image (first) and of the image shifted by a pixel (second), and what pooling keeps.

    channel: which map. places: where on its map each kept number stands, counted row by row. busy: the squares that are
    not of one number in both; same: those of them whose kept number is the same; moved: those of these where it stands
    elsewhere in its square.
    """

    channel: int
    maps: Float[Tensor, "2 height width"]
    kept: Float[Tensor, "2 down across"]
    places: Int64[Tensor, "2 down across"]
    busy: Bool[Tensor, "down across"]
    same: Bool[Tensor, "down across"]
    moved: Bool[Tensor, "down across"]


@device.or_cpu
@torch.inference_mode()
def pooling(network: CNN, image: UInt8[Tensor, "channel height width"], right: int = 1) -> Pooling:
    """The first pooling of a network, of the feature map that varies most over an image, and of the image shifted.

    right: by how many pixels, below 0 to the left. Raises ImageError for an image that is no bytes.
    """
    pair = torch.cat([image[None], shift(image[None], right, 0)])
    found = device.results(network.convolutions[:2](to_float(pair).to(device.of(network))))
    channel = int(found[0].flatten(1).std(1).argmax())
    maps = found[:, channel]
    kept, places = functional.max_pool2d(maps, POOL, return_indices=True)
    least = -functional.max_pool2d(-maps, POOL)
    near = SAME * float(maps.abs().max())
    busy = ((kept - least) > near).any(0)
    same = busy & ((kept[0] - kept[1]).abs() <= near)
    return Pooling(channel, maps, kept, places, busy, same, same & (places[0] != places[1]))
