"""The command line: `capsviz app | train | evaluate | trace | data | zoo | experiment | benchmark`.

Beside typer only what names methods and data sets is imported here; a command imports what else it needs, so that
`--help` answers at once.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from capsviz.commands.app import app as start_app
from capsviz.commands.app import live_benchmark
from capsviz.commands.experiments import app as experiment_app
from capsviz.commands.models import evaluate, trace
from capsviz.commands.zoo import zoo_app
from capsviz.data import DATASETS
from capsviz.errors import CapsvizError
from capsviz.network import METHODS, PRESETS
from capsviz.routing import ALGORITHMS, ASCENDING, shorts
from capsviz.terminal import Threads, duration, error_of, say

ROUTINGS = f"{', '.join(ALGORITHMS)}; without capsules: {', '.join(METHODS.keys() - ALGORITHMS.keys())}."
ITERATING = shorts(each for each in ALGORITHMS.values() if each.iterates)
TEMPERED = shorts(each for each in ALGORITHMS.values() if each.tempered)
BY_MATRICES = shorts(each for each in ALGORITHMS.values() if each.matrix)
LEARNED = shorts(ASCENDING.values())
PROXIMAL = shorts(each for each in ASCENDING.values() if each.proximal)
FETCHED = " or ".join(name for name, each in DATASETS.items() if not each.embedded)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Capsule networks, routed in sight.",
)
data_app = typer.Typer(no_args_is_help=True, help="Data sets: which are here, and fetching the others.")
app.add_typer(data_app, name="data")
app.add_typer(zoo_app, name="zoo")
app.add_typer(experiment_app, name="experiment")


def main() -> None:
    """Run the command line; an error that a user can meet is one sentence on stderr and exit code 1."""
    try:
        app()
    except CapsvizError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; closing stdout now keeps Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


@app.command()
def train(
    data: Annotated[str, typer.Option(help=f"{', '.join(DATASETS)} or folder:PATH.")],
    routing: Annotated[str, typer.Option(help=ROUTINGS)],
    preset: Annotated[
        str, typer.Option(help=f"{', '.join(PRESETS)}; for {BY_MATRICES} also matrix-compact, …")
    ] = "compact",
    epochs: Annotated[int, typer.Option(help="Passes over the training set.")] = 10,
    steps: Annotated[int | None, typer.Option(help="Steps, instead of epochs.")] = None,
    batch: Annotated[int, typer.Option(help="Images a step, over all processes together.")] = 128,
    lr: Annotated[float, typer.Option(help="Adam's peak learning rate.")] = 1e-3,
    decoder_lr: Annotated[float | None, typer.Option(help="That of the decoder; the same unless given.")] = None,
    schedule: Annotated[
        str, typer.Option(help="constant, one-cycle, paper-fashion, paper-mnist-fc or paper-multi-mnist.")
    ] = "paper-fashion",
    shift: Annotated[int, typer.Option(help="Augment by random shifts of up to this many pixels.")] = 0,
    mirror: Annotated[bool, typer.Option("--mirror", help="Augment by mirroring half of the images.")] = False,
    cutout: Annotated[int, typer.Option(help="Augment by blanking a random square of this many pixels a side.")] = 0,
    rotate: Annotated[float, typer.Option(help="Augment by random turns of up to so many degrees.")] = 0.0,
    scale: Annotated[float, typer.Option(help="Augment by random scaling by up to this share, such as 0.1.")] = 0.0,
    shear: Annotated[float, typer.Option(help="Augment by random shears of up to so many degrees.")] = 0.0,
    weight_decay: Annotated[float, typer.Option(help="Decoupled weight decay of matrices and kernels.")] = 0.0,
    average: Annotated[
        float, typer.Option(help="Decay of the moving average of the weights that is saved; 0: none.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 0,
    no_decoder: Annotated[bool, typer.Option("--no-decoder", help="Train without the reconstruction network.")] = False,
    name: Annotated[str | None, typer.Option(help="The run's folder below --out; by default data-routing.")] = None,
    out: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this run where it was cut off.")] = False,
    precision: Annotated[str, typer.Option(help="auto, 32-true, bf16-mixed or 16-mixed.")] = "auto",
    gamma: Annotated[float, typer.Option(help=f"{LEARNED}: the step of the coefficients' ascent.")] = 0.005,
    regularisation: Annotated[float, typer.Option(help=f"{LEARNED}: lambda of the coefficients' objective.")] = 1e-3,
    proximal: Annotated[
        bool, typer.Option("--proximal", help=f"{PROXIMAL}: soft threshold instead of the subgradient.")
    ] = False,
    validation_share: Annotated[float, typer.Option(help="Part of the training set held out.")] = 1 / 12,
    warm_up_steps: Annotated[
        int | None, typer.Option(help=f"{TEMPERED}: steps over which margin and lambda rise; half of all unless given.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help=f"{ITERATING}: routing iterations; the preset's unless given.")
    ] = None,
    through: Annotated[
        str | None, typer.Option(help=f"{ITERATING}: iterations that gradients flow through, last or all.")
    ] = None,
    coefficient_start: Annotated[
        float | None, typer.Option(help=f"{LEARNED}: around which b is drawn; 0.1 unless given.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Threads = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop with a checkpoint after, say, 9m.")] = None,
) -> None:
    """Train a network: metrics, checkpoints, final weights and a summary go to OUT/NAME."""
    from capsviz.training.config import TrainingConfig
    from capsviz.training.interrupt import EXIT_CODES
    from capsviz.training.loop import train as run

    config = TrainingConfig(
        data=data,
        routing=routing,
        preset=preset,
        decoder=not no_decoder,
        epochs=epochs,
        steps=steps,
        batch=batch,
        learning_rate=lr,
        decoder_rate=decoder_lr,
        schedule=schedule,
        shift=shift,
        mirror=mirror,
        cutout=cutout,
        rotate=rotate,
        scale=scale,
        shear=shear,
        weight_decay=weight_decay,
        average=average,
        seed=seed,
        precision=precision,
        ascent_step=gamma,
        regularisation=regularisation,
        proximal=proximal,
        validation_share=validation_share,
        warm_up_steps=warm_up_steps,
        iterations=iterations,
        through=through,
        coefficient_start=coefficient_start,
    )
    limit = None if time_limit is None else duration(time_limit)
    folder = out / (name or config.name)
    outcome = run(config, folder, resume=resume, device=device, threads=threads, time_limit=limit)
    if outcome.stopped:
        say(f"Stopped at step {outcome.step} ({outcome.stopped}); repeat the command with --resume to go on.")
        raise typer.Exit(EXIT_CODES[outcome.stopped])
    if outcome.summary:
        error = error_of(outcome.summary["test_error"], outcome.summary["test_count"])
        print(f"{folder}: test error {error}")


app.command()(evaluate)
app.command()(trace)
app.command("app")(start_app)


@data_app.command("list")
def data_list() -> None:
    """Say which data sets are on this machine and what fetching the others costs."""
    from capsviz.data import available, data_root

    print(f"Data sets below {data_root()} (set CAPSVIZ_DATA to look elsewhere):")
    for name, info in DATASETS.items():
        state = "here" if available(name) else f"capsviz data download {name}  ({info.download_bytes / 1e6:.0f} MB)"
        shape = "×".join(map(str, info.image))
        print(f"  {name:14} {info.train_count:>10,} train {info.test_count:>10,} test  {shape:8} {state}")
        print(f"  {'':14} {info.source}; licence: {info.licence}")


@data_app.command("download")
def data_download(name: Annotated[str, typer.Argument(help=f"{FETCHED}.")]) -> None:
    """Fetch a data set to the folder that CAPSVIZ_DATA names, with a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    from capsviz.data import available, data_root, download

    if not available(name):
        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(name)
            download(name, lambda done, total: bar.update(task, completed=done, total=total))
    comes_along = name in DATASETS and DATASETS[name].embedded
    print(f"{name} comes with capsviz." if comes_along else f"{name} is here, below {data_root()}.")


@app.command()
def benchmark(
    what: Annotated[
        str, typer.Argument(help="speed, or app: how soon it opens, moves and answers in a browser.")
    ] = "speed",
    preset: Annotated[str, typer.Option(help="Speed: paper, compact or tiny.")] = "paper",
    batch: Annotated[int, typer.Option(min=1, help="Speed: images a step.")] = 128,
    threads: Threads = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Also write the result as JSON.")] = None,
) -> None:
    """Measure step, pass, routing and trace against a plain formulation, in one process on the CPU; or the app."""
    import json

    if what not in ("speed", "app"):
        raise CapsvizError(f"There is no benchmark of {what!r}; choose speed or app.")
    if what == "app":
        live = live_benchmark()
        result = live.measure()
        print(live.table(result))
    else:
        from capsviz.benchmarks.speed import measure, table

        result = measure(preset, batch, threads)
        print(table(result))
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
