"""Gives capsviz what means nothing, as a program of one's own might, and prints what is not refused in a sentence."""

from pathlib import Path
from typing import Any

import torch

import capsviz
from capsviz import CapsvizError, Intervention, data, zoo
from capsviz.analysis import ascent, comparison, disagreement, metrics, mixtures, perturbation, predictions
from capsviz.boards import trace_board
from capsviz.figures import (
    coefficient_histogram,
    confusion_matrix,
    lengths_over_iterations,
    network_strip,
    type_flow,
)
from capsviz.routing import InverseTemperature

images = data.load("digits", "test").batch([0, 1])[0]
known = capsviz.trace("digits-dr", images)
model, cnn = zoo.load("digits-dr"), zoo.load_network("mnist-cnn")
mask = known.primary_activations[0] > 0.5
counts = torch.tensor([[9, 1], [4, 6]])
points = torch.rand(5, 2)
record = predictions.recorded("digits-dr")

SENSELESS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (data.to_float, (data.to_float(images),), {}),
    (capsviz.trace, (model, images), {"intervention": Intervention(muted=(True, False))}),
    (Intervention(muted=tuple(mask)).gains, (288,), {}),
    (Intervention(isolated=tuple(mask.tolist())).gains, (288,), {}),
    (capsviz.trace, (model, images), {"intervention": {"muted": (1,)}}),
    (capsviz.trace, (model, images), {"iterations": 1.5}),
    (capsviz.trace, (model, images), {"iterations": True}),
    (confusion_matrix, (counts / 10, ["a", "b"]), {}),
    (confusion_matrix, (counts, ["a", "b"]), {"only": [5]}),
    (confusion_matrix, (counts, ["a", "b"]), {"only": []}),
    (confusion_matrix, (counts, ["a", "b"]), {"cell": (0, 2)}),
    (confusion_matrix, (counts, ["a", "b"]), {"cell": (0, 1), "only": [0]}),
    (coefficient_histogram, (torch.empty(0, 3),), {}),
    *((figure, (known.layer,), {}) for figure in (network_strip, type_flow, lengths_over_iterations)),
    (capsviz.CapsNetConfig, (), {"image": 5}),
    (capsviz.CapsNetConfig, (), {"image": "one"}),
    (mixtures.maximisation, (points, points, "spherical"), {}),
    (model.receptive_field, (288,), {}),
    (model.receptive_field, (-1,), {}),
    (trace_board, (known,), {"image": 1.5}),
    (trace_board, (known,), {"image": 9}),
    (trace_board, (known,), {"upper": "3"}),
    (trace_board, (known,), {"upper": True}),
    (comparison.compare, ({"dr": model}, images), {"objects": 0}),
    (comparison.compare, ({"dr": model}, images), {"objects": True}),
    (comparison.compare, ({"cnn": cnn}, images), {}),
    (comparison.compare, ([model], images), {}),
    (comparison.compare, (model, images), {}),
    (comparison.compare, ("digits-dr", images), {}),
    (predictions.recorded, ("no-such-model",), {}),
    (comparison.compare, ({"none": "no-such-model"}, images), {}),
    (comparison.redraw, (cnn, model, images), {}),
    (comparison.redraw, (model, model, images), {"objects": 0}),
    (comparison.redraw, (model, model, images), {"objects": 1.5}),
    (capsviz.perturb, (model, "an image"), {}),
    (capsviz.perturb, ("digits-dr", images), {}),
    (capsviz.show, ("a.safetensors",), {}),
    (capsviz.show, (known.layer,), {}),
    (known.save, ("page.html",), {}),
    (trace_board, (known,), {"base": capsviz.trace("digits-em", images)}),
    (capsviz.record, (None, known.layer.votes), {"inverse_temperature": InverseTemperature(0.1)}),
    (metrics.mean_squared_error, (known.reconstruction, images[:1]), {}),
    (zoo.load, ("digits-dr@41",), {}),
    (data.load, (Path("digits"), "test"), {}),
    (perturbation.draw, (model, torch.zeros(1, 8), 3), {}),
    (perturbation.draw, (model, torch.zeros(16), 3), {}),
    (perturbation.draw, (cnn, torch.zeros(1, 16), 3), {}),
    (ascent.fix, (cnn, images, known.predicted), {}),
    (disagreement.contested, ([],), {}),
    (disagreement.contested, ([record, record],), {"among": []}),
    (disagreement.contested, ([record, record],), {"among": [len(record)]}),
    (perturbation.sheet, (model, torch.zeros(16), 3, []), {}),
    (Intervention().with_, ("silenced", [1]), {}),
    (zoo.load, ("digits-dr", "another"), {}),
]

for function, given, named in SENSELESS:
    try:
        function(*given, **named)
        print(function.__name__, named, "was taken")
    except CapsvizError as error:
        if not str(error).endswith(".") or "\n" in str(error):
            print(function.__name__, named, "is no sentence:", error)
    except Exception as error:
        print(function.__name__, named, "ends with", type(error).__name__, error)
