"""Device, precision and processes, through Lightning Fabric.

What concerns a GPU here and in feed.py was written without one at hand and has not been run. Neither torch.compile nor
CUDA graphs are used: whether they pay is for a measurement to say.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from capsviz.device import chosen
from capsviz.training.config import SettingsError

# A later reason outranks an earlier one when processes disagree.
DUE, DIVERGED = "a checkpoint is due", "the loss is not finite"
REASONS = ("", DUE, "time limit", "SIGTERM", "Ctrl-C", DIVERGED)


def launch(device: str | None, precision: str) -> Any:
    """A Fabric on the chosen device, joined to the other processes where torchrun started several.

    device: as `capsviz.device.chosen` takes it. precision: Fabric's name for it, or "auto". Raises DeviceError where
    there is no such device, SettingsError where Fabric is not installed.
    """
    try:
        from lightning_fabric import Fabric
    except ImportError as error:
        raise SettingsError("Training needs lightning-fabric; run `pip install lightning-fabric`.") from error

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    place = chosen(device)
    allow_tf32(place.type)
    here, everywhere = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), int(os.environ.get("WORLD_SIZE", "1"))
    fabric = Fabric(
        accelerator=place.type,
        # One process takes the device that was named, several take the first so many.
        devices=[place.index or 0] if here == 1 and place.type == "cuda" else here,
        num_nodes=everywhere // here,
        strategy="ddp" if everywhere > 1 else "auto",
        precision=precision_on(place.type) if precision == "auto" else precision,
    )
    fabric.launch()
    found = fabric.strategy.precision.precision
    if precision not in ("auto", found):  # Fabric takes another one where the device has not this one
        raise SettingsError(
            f"{place.type} does not train in {precision}; give --precision {found}, or another --device."
        )
    return fabric


def allow_tf32(device: str) -> None:
    """Let a GPU multiply what stays in float32 on its tensor cores, with 10 bits of mantissa.

    For the whole process; other devices are left alone. What is measured afterwards on the GPU is, too: the zoo
    measures its models again on the CPU.
    """
    if device == "cuda":
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True


def precision_on(device: str) -> str:
    """bfloat16 autocast where the device multiplies bfloat16 natively, else float32."""
    if device == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        native = device == "cpu" and torch.cpu._is_avx512_bf16_supported()
    return "bf16-mixed" if native else "32-true"


@contextmanager
def step_products(device: str, precision: str) -> Iterator[None]:
    """In here, what a training step on a CPU multiplies in float32 goes through oneDNN, if the rest is in bfloat16.

    These are the products with W, of the votes and of their gradients. oneDNN takes half of the time that PyTorch's
    usual library takes on an AMD processor, in float32; a processor with bfloat16 tiles (AMX) rounds the factors to
    bfloat16 and sums in float32. Outside a step, and under "32-true", products stay as they were.
    """
    before = torch.get_float32_matmul_precision()
    if device == "cpu" and precision == "bf16-mixed":
        torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def part() -> None:
    """Leave the other processes, where there are any: one that ends while it is joined to them may be aborted."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def agreed(fabric: Any, reason: str) -> str:
    """Why any process wants to stop, or to save: all of them do so at the same step, or the others would wait."""
    if fabric.world_size == 1:
        return reason
    wish = torch.tensor(REASONS.index(reason), device=fabric.device)
    return REASONS[int(fabric.all_reduce(wish, reduce_op="max"))]
