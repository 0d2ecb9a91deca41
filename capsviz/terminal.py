"""How the command line reads and writes: lengths of time, errors, sentences."""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from capsviz.errors import CapsvizError
from capsviz.waiting import first_process


def _use(threads: int | None) -> int | None:
    """Run on so many threads."""
    if threads:
        import torch  # `--help` answers without

        torch.set_num_threads(threads)
    return threads


Threads = Annotated[
    int | None, typer.Option(min=1, max=1024, help="CPU threads; all cores unless given.", callback=_use)
]
Device = Annotated[
    str | None, typer.Option(help="auto, cpu, cuda, cuda:1 or mps; unless given what CAPSVIZ_DEVICE says, else auto.")
]
Out = Annotated[Path, typer.Option(help="Where runs are kept.")]


def duration(text: str) -> float:
    """Seconds in "9m", "90s", "1.5h" or "90"; raises CapsvizError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not match or float(match[1]) == 0:
        raise CapsvizError(f"{text!r} is no length of time; write it like 90s, 9m or 1.5h.")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def stop_after(more: str = "") -> Any:
    """The option of a time limit, in seconds; more: what its help says beside."""
    return typer.Option(parser=duration, metavar="TIME", help=f"Stop with a checkpoint after, say, 9m{more}.")


def say(sentence: str) -> None:
    """One line on stderr from the first process only."""
    if first_process():
        print(sentence, file=sys.stderr)


def error_of(percent: float, count: int) -> str:
    """ "0.83 % (83 of 10000)"."""
    return f"{percent:.2f} % ({round(percent * count / 100)} of {count})"
