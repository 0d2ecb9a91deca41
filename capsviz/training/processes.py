"""Device, precision and processes, through Lightning Fabric.

Several GPUs have not been tried.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from capsviz.device import chosen, full, title
from capsviz.errors import needed
from capsviz.training.config import SettingsError

# A later reason outranks an earlier one when processes disagree.
DUE, DIVERGED = "a checkpoint is due", "the loss is not finite"
REASONS = ("", DUE, "time limit", "SIGTERM", "Ctrl-C", DIVERGED)


def launch(device: str | None, precision: str) -> Any:
    """A Fabric on the chosen device, joined to the other processes where torchrun started several.

    device: as `capsviz.device.chosen` takes it. precision: Fabric's name for it, or "auto". Raises DeviceError where
    there is no such device, SettingsError for more processes than GPUs, CapsvizError where Fabric is not installed.
    """
    with needed("training", "Training"):
        from lightning_fabric import Fabric
        from lightning_fabric.plugins.environments import LightningEnvironment

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    place = chosen(device)
    here, everywhere = together(), int(os.environ.get("WORLD_SIZE", "1"))
    if place.type == "cuda" and here > (gpus := torch.cuda.device_count()):
        raise SettingsError(f"{here} processes need a GPU each, and {gpus} are here; start fewer, or add --device cpu.")
    fabric = Fabric(
        accelerator=place.type,
        # One process takes the device that was named, several take the first so many.
        devices=[place.index or 0] if here == 1 and place.type == "cuda" else here,
        num_nodes=everywhere // here,
        strategy="ddp" if everywhere > 1 else "auto",
        precision=precision_on(place.type) if precision == "auto" else precision,
        # Alone it is no process of a job's, whatever a scheduler says of that.
        plugins=LightningEnvironment() if everywhere == 1 else None,
    )
    fabric.launch()
    found = fabric.strategy.precision.precision
    if precision not in ("auto", found):  # Fabric takes another one where the device has not this one
        raise SettingsError(
            f"{place.type} does not train in {precision}; give --precision {found}, or another --device."
        )
    return fabric


def together() -> int:
    """How many processes of a training share this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def precision_on(device: str) -> str:
    """bfloat16 autocast where the device multiplies bfloat16 natively, else float32."""
    if device == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        native = device == "cpu" and torch.cpu._is_avx512_bf16_supported()
    return "bf16-mixed" if native else "32-true"


@contextmanager
def step_products(device: str, precision: str) -> Iterator[None]:
    """In here, what a training step multiplies in float32 is multiplied in less time.

    These are the products with W, of the votes and of their gradients. On a CPU they go through oneDNN, if the rest is
    in bfloat16: that takes half of the time that PyTorch's usual library takes on an AMD processor, in float32; a
    processor with bfloat16 tiles (AMX) rounds the factors to bfloat16 and sums in float32. On a GPU they, and
    convolutions, are rounded to 10 bits of mantissa (TF32), which its tensor cores multiply. Outside a step products
    stay as they were, so that what is measured of a network is measured in float32.
    """
    before, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    if device == "cpu" and precision == "bf16-mixed":
        torch.set_float32_matmul_precision("medium")
    elif device == "cuda":
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        torch.backends.cudnn.allow_tf32 = convolutions


@contextmanager
def or_smaller(place: torch.device) -> Iterator[None]:
    """In here a step is taken; raises SettingsError, which says what can be done, where memory runs out."""
    try:
        with full():
            yield
    except torch.OutOfMemoryError as error:
        raise SettingsError(
            f"A step takes more memory than {title(place)} has left; free some and go on with --resume, or train with "
            "a smaller --batch under another --name."
        ) from error


def part(fabric: Any) -> None:
    """Wait for the other processes and leave them: one that ends while it is joined to them may be aborted."""
    fabric.barrier()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def agreed(fabric: Any, reason: str) -> str:
    """Why any process wants to stop, or to save: all of them do so at the same step, or the others would wait."""
    if fabric.world_size == 1:
        return reason
    wish = torch.tensor(REASONS.index(reason), device=fabric.device)
    return REASONS[int(fabric.all_reduce(wish, reduce_op="max"))]
