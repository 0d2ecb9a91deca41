"""Which class was taken for which, of images that show one or several."""

from jaxtyping import Bool, Int64
from torch import Tensor


def taken(shown: Int64[Tensor, "count object"], named: Int64[Tensor, "count object"]) -> Bool[Tensor, "count _ _"]:
    """Of each image, which class shown (row) was taken for which class named (column).

    One that is found was taken for itself, one that is missed for each that is wrongly named.
    """
    same = shown[:, :, None] == named[:, None, :]
    return same | ~(same.any(2, keepdim=True) | same.any(1, keepdim=True))


def matrix(
    shown: Int64[Tensor, "count object"], named: Int64[Tensor, "count object"], classes: int
) -> Int64[Tensor, "classes classes"]:
    """How often a class (row) was taken for a class (column)."""
    cells = (shown[:, :, None] * classes + named[:, None, :]).flatten()
    counts = shown.new_zeros(classes * classes).index_add(0, cells, taken(shown, named).long().flatten())
    return counts.reshape(classes, classes)
