"""What a decoder is trained on; each method has its own loss on the classes (capsviz.routing.losses)."""

from jaxtyping import Float
from torch import Tensor

RECONSTRUCTION_WEIGHT = 0.0005


def reconstruction_loss(
    reconstruction: Float[Tensor, "batch channel height width"], images: Float[Tensor, "batch channel height width"]
) -> Float[Tensor, ""]:
    """Squared error of the reconstruction: summed over the pixels of an image, averaged over the batch.

    Not yet weighted; the training adds RECONSTRUCTION_WEIGHT times this. Source: Sabour, Frosst & Hinton 2017.
    """
    return (reconstruction - images).square().sum(dim=(1, 2, 3)).mean()
