"""Write the test images that come with capsviz: `python -m tools.exemplars` (needs MNIST, Fashion-MNIST, CIFAR-10).

The image to begin with is read rightly by every model of its data set, and of those the one on which dynamic routing
decides most: where the lead of the right class grows most from the first iteration to the last. About one at least the
models disagree, so that there is something to compare.
"""

from __future__ import annotations

import torch
from torch import Tensor

from capsviz import trace, zoo
from capsviz.analysis import disagreement
from capsviz.analysis.predictions import path_of, recorded
from capsviz.data import DATASETS, ImageSet, MultiDigits, load, order, to_float
from capsviz.data.exemplars import chosen, write
from capsviz.data.order import FOLDER
from capsviz.data.torchvision_sets import FASHION_MNIST
from capsviz.network import CapsNet
from capsviz.routing.dynamic import DYNAMIC

SETS = tuple(name for name, described in DATASETS.items() if not described.embedded)


def lead(activations: Tensor, labels: Tensor) -> Tensor:
    """How far the weakest class that is there is ahead of the strongest that is not, "image"."""
    there = torch.zeros_like(activations, dtype=torch.bool).scatter_(1, labels, True)
    weakest = activations.masked_fill(~there, torch.inf).amin(1)
    return weakest - activations.masked_fill(there, -torch.inf).amax(1)


def contested(data: ImageSet | MultiDigits, name: str) -> int | None:
    """The image of the test set about which the models that draw disagree most; None where they do about an exemplar
    anyway, and where fewer than two were measured.
    """
    drawing = [entry for entry in zoo.models().values() if entry.data == name and entry.has_decoder]
    records = [recorded(entry) for entry in drawing if path_of(entry).is_file()]
    if len(records) < 2 or disagreement.contested(records, chosen(data).tolist()) is not None:
        return None
    return disagreement.contested(records)


def ranked(data: ImageSet | MultiDigits, name: str, indices: Tensor) -> list[int]:
    """The images in the order in which one would begin with them; as they come where no model of the set is here."""
    images, labels = data.batch(indices)
    labels = labels.reshape(len(indices), -1)
    right, growth = torch.ones(len(indices), dtype=torch.bool), torch.zeros(len(indices))
    for model, entry in zoo.models().items():
        network = zoo.load_network(model)
        if entry.data != name:
            continue
        with torch.inference_mode():
            right &= lead(network(to_float(images), reconstruct=False).activations, labels) > 0
        if isinstance(network, CapsNet) and network.config.algorithm is DYNAMIC:
            found = trace(network, to_float(images)).layer["activations"]
            growth += lead(found[-1], labels) - lead(found[0], labels)
    order = growth.masked_fill(~right, -torch.inf).argsort(descending=True, stable=True)
    return indices[order].tolist()


def main() -> None:
    """Write every set, and say how large it became."""
    for name in SETS:
        data = load(name, "test")
        wanted = contested(data, name)
        if name == FASHION_MNIST.name and isinstance(data, ImageSet):  # copies in other orders are about
            order.write(name, data.images, data.labels)
        path = write(name, data, ranked(data, name, chosen(data, wanted))[0], wanted=wanted)
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")
    print(f"{sum(file.stat().st_size for file in FOLDER.iterdir()) / 1e6:.2f} MB in all")


if __name__ == "__main__":
    main()
