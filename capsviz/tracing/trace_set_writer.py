"""Recording the traces of a whole data set, in shards, by one process or several.

capsviz trace --data mnist --split test -o FOLDER
torchrun --nproc-per-node 2 -m capsviz trace --data mnist --split test -o FOLDER     (shards are dealt out by rank)

A shard is written whole or not at all, and the index last, by rank 0: the same command goes on with a recording that
was cut off, by as many processes as there are then.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import torch
from torch import Tensor, distributed

from capsviz.data import ImageSet, MultiDigits, to_float
from capsviz.data.datasets import in_class_order, sample
from capsviz.data.multi import looked_at
from capsviz.errors import line
from capsviz.files import json_text, locked, safetensors_parts, write
from capsviz.network import CapsNet
from capsviz.reading import parsed, understood
from capsviz.tensors import tensor_file
from capsviz.tracing.layout import FORMAT as TRACE_FORMAT
from capsviz.tracing.layout import LABELS, TraceError
from capsviz.tracing.recorder import check_asked, trace
from capsviz.tracing.trace_set import FORMAT, INDEX, SHARDS, Recording, Shard, TraceSet

LARGE = ("primary_poses", "primary_activations")
"""What float16 applies to, beside all iterations and votes; images, class capsules and reconstructions stay exact."""


def record(
    model: CapsNet,
    data: ImageSet | MultiDigits,
    folder: Path | str,
    *,
    name: str,
    count: int | None = None,
    shard_size: int = 128,
    iterations: int | None = None,
    votes: bool = False,
    float16: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> TraceSet:
    """Trace `count` images of a set (by `sample`; all unless given) to shards in `folder`, and open them as one.

    model: in eval mode, on the device where it is to run. float16: keep iterations, votes and primary capsules in half
    precision, which halves the files: numbers of 6e-5 and more to 0.05 % of themselves, smaller ones to 3e-8, so that
    what is below that becomes 0, as many of EM's responsibilities do. Under torchrun every rank writes its own shards.
    Shards that are there already are kept. Raises TraceError where they belong to another recording and for iterations
    of a routing that has none, Busy where another process records in the folder, WriteError where it cannot be written
    to.
    """
    check_asked(model, name, iterations)
    folder = Path(folder)
    available = looked_at(data)
    count = available if count is None else count
    if not 0 < count <= available or shard_size < 1:
        raise TraceError(f"{data.name} has {available} images in {data.split}; give a count from 1 to {available}.")
    own = data.checksum() if isinstance(data, ImageSet) and in_class_order(data.name) else ""
    made = fingerprint(model)
    plan = Recording(name, made, data.name, data.split, count, shard_size, iterations, votes, float16, own)
    shards, places = range(0, count, shard_size), sample(data.name, available, count)
    with together() as (rank, ranks), locked(folder, "records", wait=False) if rank == 0 else nullcontext():
        plan = continued(plan, folder)
        missing = [first for first in shards if not _is_whole(path_of(folder, first, shard_size))]
        barrier(ranks)  # all have looked before the first of them writes
        (folder / INDEX).unlink(missing_ok=True)
        for number, first in enumerate(missing[rank::ranks], start=1):
            write_shard(model, data, places[first : first + shard_size], path_of(folder, first, shard_size), plan)
            if rank == 0:
                say(
                    f"shard {number} of {len(missing[rank::ranks])}" + (f", in each of {ranks} processes" * (ranks > 1))
                )
        barrier(ranks)
        if rank == 0:
            write_index(plan, folder, shards)
        barrier(ranks)
    return TraceSet.open(folder)


def _is_whole(path: Path) -> bool:
    """Whether a shard is there as long as it was written; its checksum is looked at when it is read."""
    try:
        with tensor_file(path, "delete it and repeat the recording", TraceError):
            return True
    except TraceError:
        return False


def write_shard(model: CapsNet, data: ImageSet | MultiDigits, indices: Tensor, path: Path, plan: Recording) -> None:
    """Trace some images and write them as one ordinary trace file, with their labels and the plan beside them."""
    images, labels = data.batch(indices)
    recorded = trace(
        model,
        to_float(images),
        iterations=plan.iterations,
        votes=plan.votes,
        name=plan.model,
        classes=data.classes,
        objects=labels.shape[1] if labels.ndim > 1 else 1,
    )
    tensors = {
        name: _halved(tensor) if plan.float16 and ("." in name or name in LARGE) else tensor
        for name, tensor in recorded.tensors().items()
    }
    metadata = {
        "format": TRACE_FORMAT,
        "trace": json.dumps(recorded.header()),
        "recording": json.dumps(asdict(plan)),
    }
    tensors[LABELS] = labels.cpu()
    write(path, safetensors_parts(tensors, metadata))


def _halved(tensor: Tensor) -> Tensor:
    """In float16, where its numbers are not too large for that."""
    fits = not tensor.numel() or float(tensor.abs().amax()) <= torch.finfo(torch.float16).max
    return tensor.half() if fits else tensor


def write_index(plan: Recording, folder: Path, shards: range) -> None:
    """Say which files make up the set: what turns the shards into one."""
    parts = []
    for first in shards:
        path = path_of(folder, first, plan.shard_size)
        parts.append(Shard(path.name, first, min(plan.shard_size, plan.count - first), path.stat().st_size))
    content = {"format": FORMAT, "recorded": asdict(plan), "shards": [asdict(part) for part in parts]}
    write(folder / INDEX, json_text(content, indent=1))


def continued(plan: Recording, folder: Path) -> Recording:
    """The plan, without the images' checksum where the shards in a folder, of an older capsviz, have none.

    Raises TraceError, naming the difference, where they belong to another recording.
    """
    for path in sorted(folder.glob(SHARDS))[:1]:
        with tensor_file(path, "delete it, or choose another folder", TraceError) as file:
            said = parsed(file.metadata.get("recording", ""), path, "choose another folder", TraceError)
            recording: Recording = understood(Recording, said, path, "choose another folder", TraceError)
        before = asdict(recording)
        for name, now in asdict(plan).items():
            if before[name] != now and (before[name] or name != "images"):
                raise TraceError(
                    line(f"{folder} holds a recording with {name} {before[name]} and not {now}; choose another folder.")
                )
        return recording
    return plan


def path_of(folder: Path, first: int, shard_size: int) -> Path:
    """The file of the shard that begins with an image."""
    return folder / f"shard-{first // shard_size:06d}.safetensors"


def fingerprint(model: CapsNet) -> str:
    """A short checksum of the weights: two halves of a recording must come from one network."""
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


@contextmanager
def together() -> Iterator[tuple[int, int]]:
    """This process's rank and how many there are; joins them where torchrun started several."""
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if ranks == 1:
        yield 0, 1
        return
    # Ranks only wait for one another, so gloo does on every device; one may wait long where it had nothing to do.
    distributed.init_process_group("gloo", timeout=timedelta(days=1))
    try:
        yield distributed.get_rank(), ranks
    finally:
        distributed.destroy_process_group()


def barrier(ranks: int) -> None:
    """Wait for the other processes, if any."""
    if ranks > 1:
        distributed.barrier()
