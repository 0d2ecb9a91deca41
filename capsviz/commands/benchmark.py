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
            help="speed; memory: what training takes on the CPU; app: how soon it opens, moves and answers; "
            "load: many visitors."
        ),
    ] = "speed",
    preset: Annotated[str | None, typer.Option(help="Speed, memory: compact, tiny, …; paper unless given.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Speed, memory: images a step; 128 unless given.")] = None,
    routing: Annotated[str | None, typer.Option(help="Memory: the algorithm; dynamic routing unless given.")] = None,
    image: Annotated[
        str | None, typer.Option(help="Memory: channels, rows and columns of an image; 1x28x28 unless given.")
    ] = None,
    classes: Annotated[int | None, typer.Option(min=2, help="Memory: class capsules; 10 unless given.")] = None,
    device: Device = None,
    threads: Threads = None,
    visitors: Annotated[
        int | None, typer.Option(min=1, max=100, help="Load: how many are there at once; 20 unless given.")
    ] = None,
    actions: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Load: what they do in all; 1000 unless given.")
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option(min=0, max=24, help="Load: how long one visitor stays afterwards; 0.05 unless given."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Load: of what the visitors do; 0 unless given.")] = None,
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
    options: dict[str, dict[str, object]] = {
        "speed and memory": {"--preset": preset, "--batch": batch, "--threads": threads},
        "speed": {"--device": device},
        "memory": {"--routing": routing, "--image": image, "--classes": classes},
        "load": {"--visitors": visitors, "--actions": actions, "--hours": hours, "--seed": seed},
    }
    for kinds, values in options.items():
        for option, given in values.items():
            if given is not None and what not in kinds.split(" and "):
                raise CapsvizError(f"{option} is for the benchmark of {kinds}; leave it out.")
    preset, batch = preset or "paper", batch or 128
    if what == "app":
        live = of_app("app.benchmarks.live")
        result = live.measure()
        print(live.table(result))
    elif what == "load":
        result = of_app("app.benchmarks.load.measure").measure(
            visitors or 20, actions or 1000, 0.05 if hours is None else hours, seed or 0, say
        )
        report = of_app("app.benchmarks.load.report")
        print(report.table(result), report.failures(result), sep="\n\n")
        output = output or results.folder() / "load.json"
    elif what == "memory":
        from capsviz.benchmarks import peak

        result = peak.measure(preset, routing, image or "1x28x28", classes or 10, batch, threads)
        print(peak.sentence(result))
    else:
        from capsviz.benchmarks.speed import measure, table

        result = measure(preset, batch, threads, device)
        print(table(result))
    if output:
        make_folder(output.parent)
        with results.held() if output.parent.resolve() == results.folder().resolve() else nullcontext():
            if what == "memory":
                kept = results.read_file(output, "memory") or {"rows": []}
                results.put(kept, [result], "command")
                result = kept
            write_json(output, result, indent=1)


def of_app(name: str) -> ModuleType:
    """A module of the app, which measures itself: it comes with the app and not with the library."""
    sys.path.insert(0, str(app_folder().parent))
    return importlib.import_module(name)
