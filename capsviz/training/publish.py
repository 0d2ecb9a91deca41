"""From a finished run to a model of the zoo."""

import json
from pathlib import Path

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from capsviz import zoo
from capsviz.data import MultiDigits, load
from capsviz.errors import line
from capsviz.files import CheckpointError
from capsviz.letters import one_form
from capsviz.network import folded
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.feed import training_sets
from capsviz.training.journal import abridged, read_metrics
from capsviz.training.runs import CHECKPOINT, SUMMARY, open_run, read_summary
from capsviz.waiting import Progress
from capsviz.zoo.coefficient_history import HISTORY

EXEMPLAR_IMAGES, OF_A_CLASS = 5_000, 5 * zoo.EXEMPLARS
"""Of the training images the first so many, and so many of each class."""


def exemplar_images(
    config: TrainingConfig,
) -> tuple[UInt8[Tensor, "image channel height width"], Int64[Tensor, "image"]]:
    """Training images, and their labels, of which a model's exemplars are chosen."""
    train, _ = training_sets(config)
    if isinstance(train, MultiDigits):
        parts, pair = train.parts(torch.arange(EXEMPLAR_IMAGES))
        return parts[:, 0], pair[:, 0]
    chosen = torch.arange(len(train)) < EXEMPLAR_IMAGES
    for label in range(len(train.classes)):
        chosen[(train.labels == label).nonzero().flatten()[:OF_A_CLASS]] = True
    return train.batch(chosen.nonzero().flatten())


def publish(
    run: Path | str,
    name: str | None = None,
    *,
    bits: int = 16,
    replaces: str | None = None,
    progress: Progress | None = None,
) -> zoo.Entry:
    """Put a finished run's weights, rounded, into the zoo, with its curves and its line in the manifest.

    A run that learned b and kept its snapshots brings these along. Batch normalisation is folded into the weights.
    The test error of the manifest is measured on the rounded weights, which are what everybody gets. name: the
    model's, the run's unless given; a model of that name that the same command trained is replaced. bits: 16 for
    float16, or 8 (capsviz.zoo.storage). replaces: the model that is to leave for it, which must be able to. progress:
    as `evaluate` takes it. Raises CheckpointError when the run is not finished, ZooError where another training's model
    has the name, and as `zoo.leaving`.
    """
    run = Path(run)
    if not (run / SUMMARY).is_file():
        if (run / CHECKPOINT).is_file():
            raise CheckpointError(f"The run in {run} is not finished; go on with it with --resume first.")
        what = "holds no run" if run.is_dir() else "is no folder of a run"
        raise CheckpointError(line(f"{run} {what}; give the folder of a finished one, or a file that was exported."))
    summary = read_summary(run)
    name = name or summary["name"]
    zoo.check_word(name)
    if replaces is not None:
        zoo.leaving(replaces, name)
    seen = zoo.models().get(name)
    if seen is not None and seen.command != summary["command"]:
        raise zoo.ZooError(
            f"{name} is in the zoo, from another training; give this one a name of its own with --name, and "
            f"--replaces {name} where it is to take that one's place."
        )
    config = TrainingConfig.from_dict(summary["training"])
    network = folded(open_run(run)[0])
    test = load(config.data, "test")
    if summary.get("classes") and tuple(map(one_form, summary["classes"])) != tuple(test.classes):
        raise CheckpointError(
            line(
                f"The classes of {config.data} are {', '.join(test.classes)} and the run learned "
                f"{', '.join(summary['classes'])}; give its folders their names back, or train again."
            )
        )
    result = evaluate(zoo.shipped(network, bits), test, progress=progress)

    images, labels = exemplar_images(config)
    curves, history = f"curves/{name}.jsonl", f"histories/{name}.safetensors"
    files = {curves: "".join(json.dumps(line) + "\n" for line in abridged(read_metrics(run))).encode()}
    if (run / HISTORY).is_file():
        files[history] = (run / HISTORY).read_bytes()
    return zoo.save(
        network,
        name=name,
        data=config.data,
        classes=test.classes,
        preset=config.preset,
        test_error=result.error,
        test_count=result.count,
        command=summary["command"],
        curves=curves,
        images=images,
        labels=labels,
        note=test.note,
        history=history if history in files else "",
        files=files,
        bits=bits,
        seen=seen,
    )
