"""The command line's `capsviz benchmark`: the library measured here, the app by what comes with the app."""

import importlib
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from capsviz.commands.app import app_folder
from capsviz.errors import CapsvizError
from capsviz.terminal import Device, Threads, say


def benchmark(
    what: Annotated[
        str,
        typer.Argument(
            help="speed; memory: what training takes; app: how soon it opens, moves and answers; load: many visitors."
        ),
    ] = "speed",
    preset: Annotated[str, typer.Option(help="Speed, memory: paper, compact, tiny, …")] = "paper",
    batch: Annotated[int, typer.Option(min=1, help="Speed, memory: images a step.")] = 128,
    routing: Annotated[str | None, typer.Option(help="Memory: the algorithm; dynamic routing unless given.")] = None,
    image: Annotated[str, typer.Option(help="Memory: channels, rows and columns of an image.")] = "1x28x28",
    classes: Annotated[int, typer.Option(min=2, help="Memory: class capsules.")] = 10,
    device: Device = None,
    threads: Threads = None,
    visitors: Annotated[int, typer.Option(min=1, max=100, help="Load: how many are there at once.")] = 20,
    actions: Annotated[int, typer.Option(min=1, max=100_000, help="Load: what they do in all.")] = 1000,
    hours: Annotated[float, typer.Option(min=0, max=24, help="Load: how long one visitor stays afterwards.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Load: of what the visitors do.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Also write the result as JSON; of memory, beside what is there.",
        ),
    ] = None,
) -> None:
    """Measure step, pass, routing and trace against a plain formulation, in one process on one device; or the app."""
    from capsviz.experiments import results
    from capsviz.files import make_folder, write_json

    if what not in ("speed", "memory", "app", "load"):
        raise CapsvizError(f"There is no benchmark of {what!r}; choose speed, memory, app or load.")
    if what == "app":
        live = of_app("app.benchmarks.live")
        result = live.measure()
        print(live.table(result))
    elif what == "load":
        result = of_app("app.benchmarks.load.measure").measure(visitors, actions, hours, seed, say)
        report = of_app("app.benchmarks.load.report")
        print(report.table(result), report.failures(result), sep="\n\n")
        output = output or results.folder() / "load.json"
    elif what == "memory":
        from capsviz.benchmarks import peak

        result = peak.measure(preset, routing, image, classes, batch, threads)
        print(peak.sentence(result))
    else:
        from capsviz.benchmarks.speed import measure, table

        result = measure(preset, batch, threads, device)
        print(table(result))
    if output:
        make_folder(output.parent)
        with results.held() if output.parent.resolve() == results.folder().resolve() else nullcontext():
            if what == "memory":
                kept = results.read_file(output, "memory")
                result = {**results.machine(), "rows": peak.beside(result, kept)}
            write_json(output, result, indent=1)


def of_app(name: str) -> ModuleType:
    """A module of the app, which measures itself: it comes with the app and not with the library."""
    sys.path.insert(0, str(app_folder().parent))
    return importlib.import_module(name)
