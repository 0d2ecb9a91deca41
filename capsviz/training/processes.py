"""Device, precision and processes, through Lightning Fabric.

What concerns a GPU here and in feed.py was written without one at hand and has not been run. Neither torch.compile nor
CUDA graphs are used: whether they pay is for a measurement to say.
"""

import logging
import os
from typing import Any

import torch

from capsviz.training.config import SettingsError

# A later reason outranks an earlier one when processes disagree.
DIVERGED = "the loss is not finite"
REASONS = ("", "time limit", "SIGTERM", "Ctrl-C", DIVERGED)


def launch(device: str, precision: str) -> Any:
    """A Fabric on the chosen device, joined to the other processes where torchrun started several.

    device: "auto", "cpu", "cuda" or "mps". precision: Fabric's name for it, or "auto".
    Raises SettingsError when the device is not there.
    """
    try:
        from lightning_fabric import Fabric
    except ImportError as error:
        raise SettingsError("Training needs lightning-fabric; run `pip install lightning-fabric`.") from error

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    device = find(device)
    allow_tf32(device)
    here, everywhere = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), int(os.environ.get("WORLD_SIZE", "1"))
    fabric = Fabric(
        accelerator=device,
        devices=here,
        num_nodes=everywhere // here,
        strategy="ddp" if everywhere > 1 else "auto",
        precision=precision_on(device) if precision == "auto" else precision,
    )
    fabric.launch()
    return fabric


def allow_tf32(device: str) -> None:
    """Let a GPU multiply what stays in float32 (votes and routing) on its tensor cores, with 10 bits of mantissa.

    For the whole process; other devices are left alone. What is measured afterwards on the GPU is, too: the zoo
    measures its models again on the CPU.
    """
    if device == "cuda":
        torch.set_float32_matmul_precision("high")


def find(device: str) -> str:
    """The device that a name stands for, "auto" being the fastest; raises SettingsError when it is not there."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device == "auto":
        return "cuda" if available["cuda"] else "cpu"
    if not available.get(device):
        usable = ", ".join(name for name, there in available.items() if there)
        raise SettingsError(f"There is no device {device!r} here; choose one of {usable}.")
    return device


def precision_on(device: str) -> str:
    """bfloat16 autocast where the device multiplies bfloat16 natively, else float32."""
    if device == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        native = device == "cpu" and torch.cpu._is_avx512_bf16_supported()
    return "bf16-mixed" if native else "32-true"


def agreed(fabric: Any, reason: str) -> str:
    """Why any process wants to stop: all of them stop at the same step, or the others would wait for ever."""
    if fabric.world_size == 1:
        return reason
    wish = torch.tensor(REASONS.index(reason), device=fabric.device)
    return REASONS[int(fabric.all_reduce(wish, reduce_op="max"))]
