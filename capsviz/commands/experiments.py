"""`capsviz experiment NAME`: every experiment of the papers, one command each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from capsviz.terminal import Threads, say, stop_after

app = typer.Typer(
    no_args_is_help=True,
    help="The papers' experiments: measured, written to benchmarks/results (one's own to results), told.",
)

Seeds = Annotated[
    int, typer.Option(min=1, max=100, help="Trainings for each setting; those that are done are skipped.")
]
Data = Annotated[str, typer.Option(help="The data set whose models are compared.")]
Models = Annotated[list[str] | None, typer.Option(help="Only this model; may be repeated.")]
Limit = Annotated[float | None, stop_after(" of one training")]


@contextmanager
def apart(models: Iterable[str], data: str = "") -> Iterator[None]:
    """Keep what is measured of a folder of images, or of models that do not ship, apart from what ships; say where."""
    from capsviz.experiments import moving, results

    shipped = results.folder()
    with results.apart(moving.own_of(models, data)):
        yield
        if (mine := results.folder().resolve()) != shipped.resolve():
            say(
                f"This is of images or models of your own and stands in {mine}, apart from the results that ship; "
                f"CAPSVIZ_RESULTS={quote(str(mine))} shows it in the app and by `capsviz experiment show`."
            )


def tell(name: str) -> None:
    """The table as Markdown, what it says, and under which conditions."""
    from capsviz.experiments.reports import report

    found = report(name)
    print("\n".join([found.markdown, "", *found.sentences, f"{found.conditions}."]).lstrip())


@app.command()
def show(name: Annotated[str | None, typer.Argument(help="An experiment; all of them unless given.")] = None) -> None:
    """Print what stands in the result files, without measuring anything."""
    from capsviz.experiments.reports import document

    if name:
        tell(name)
    else:
        print(document())


@app.command()
def table() -> None:
    """Table II of Yang, Li & Yu 2021 beside the models of pretrained/."""
    tell("table")


@app.command()
def same_images() -> None:
    """Which models differ by more than chance on the same test images, by the records that `zoo measure` keeps?"""
    tell("same-images")


@app.command()
def convergence() -> None:
    """Figure 3: do L1 and L2 converge faster than DR, by the curves of the trainings in pretrained/?"""
    tell("convergence")


@app.command()
def cost(
    threads: Threads = None,
    again: Annotated[bool, typer.Option("--again", help="Measure although there is a result.")] = False,
) -> None:
    """Figure 4: seconds per 100 steps, and per 100 routings, of DR, L2 and L1, on the device chosen."""
    from capsviz import device
    from capsviz.benchmarks.speed import measure
    from capsviz.experiments import cost, results

    for preset in cost.ENCODERS:
        name = cost.file_of(preset, device.chosen().type)
        if again or results.read(name) is None:
            results.write(name, measure(preset, threads=threads))
        else:
            say(f"{name}.json was measured before and is shown as it is; --again measures it anew.")
    tell("cost")


@app.command()
def robustness(
    data: Data = "mnist",
    count: Annotated[int, typer.Option(min=1, help="Test images: the first, of a folder evenly spread.")] = 2000,
    model: Models = None,
    threads: Threads = None,
) -> None:
    """Error on test images shifted by 0 to 8 pixels and turned by 0 to 60 degrees."""
    from capsviz.experiments import moving, robustness

    with apart(model or moving.candidates(data), data):
        robustness.run(data, model, count, say=say)
        tell("robustness")


@app.command()
def viewpoint(
    data: Data = "mnist",
    fitted: Annotated[int, typer.Option(min=20, help="Training images to fit on, taken as by robustness.")] = 2000,
    held: Annotated[int, typer.Option(min=20, help="Test images to judge by, taken likewise.")] = 1000,
    model: Models = None,
    threads: Threads = None,
) -> None:
    """R² of the viewpoint that a linear map reads from class capsules, and from the CNN's pooled features."""
    from capsviz.experiments import moving, viewpoint

    with apart(model or moving.candidates(data), data):
        viewpoint.run(data, model, fitted, held, say=say)
        tell("viewpoint")


@app.command()
def iterations(seeds: Seeds = 3, threads: Threads = None, time_limit: Limit = None) -> None:
    """Train with T = 1 to 5 routing iterations, and ask shipped models with T = 1 to 10."""
    from capsviz.experiments import iterations

    with apart(models := iterations.shipped()):
        iterations.ask_shipped(models, say=say)
    train(iterations, seeds, threads, time_limit)
    tell(iterations.NAME)


@app.command()
def sparsity(seeds: Seeds = 3, threads: Threads = None, time_limit: Limit = None) -> None:
    """L1's zeros against lambda, by subgradient and by soft threshold."""
    from capsviz.experiments import sparsity

    with apart(sparsity.shipped()):
        sparsity.measure_shipped()
    train(sparsity, seeds, threads, time_limit)
    tell(sparsity.NAME)


@app.command()
def ascent(seeds: Seeds = 3, threads: Threads = None, time_limit: Limit = None) -> None:
    """The step gamma of b's ascent, and where b starts."""
    from capsviz.experiments import ascent

    train(ascent, seeds, threads, time_limit)
    tell(ascent.NAME)


@app.command("multi-mnist")
def multi_mnist(
    threads: Threads = None,
    runs: Annotated[Path | None, typer.Option(help="Finished runs there draw the first test images, too.")] = None,
) -> None:
    """Error of the MultiMNIST models, both digits asked for, and what they draw of each digit."""
    from capsviz.experiments import multi, pairs

    with apart(multi.shipped()):
        multi.run(say=say)
        pairs.run(runs, say=say)
        tell(multi.NAME)


def train(experiment: Any, seeds: int, threads: int | None, time_limit: float | None) -> None:
    """Run what is missing of a sweep."""
    from capsviz.experiments.sweep import sweep

    sweep(experiment.NAME, experiment.configs(seeds), threads=threads, time_limit=time_limit, say=say)
