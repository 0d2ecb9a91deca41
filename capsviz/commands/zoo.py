"""The command line's `capsviz zoo`: the pretrained models, and training all of them.

Only typer is imported here, as in main.py.
"""

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from capsviz.commands.naming import NamingCommand
from capsviz.errors import CapsvizError
from capsviz.terminal import Device, Out, Threads, error_of, say, stop_after
from capsviz.waiting import under_way

if TYPE_CHECKING:
    from capsviz.zoo import Entry

zoo_app = typer.Typer(no_args_is_help=True, help="The pretrained models, and training all of them.")


@zoo_app.command("list")
def zoo_list(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the table of docs/models.md.")] = False,
) -> None:
    """List the pretrained models with the test error that the manifest states."""
    from capsviz import zoo

    if markdown:
        print(zoo.markdown())
        return
    models = zoo.models()
    if not models and not zoo.unrouted():
        say(f"No model is in {zoo.folder()}; train one, and put it there with `capsviz zoo add RUN`.")
    for name, entry in models.items():
        print(
            f"{name:20} {entry.preset:8} {entry.parameters:>10,} parameters {entry.bytes / 1e6:6.1f} MB  "
            f"test error {error_of(entry.test_error, entry.test_count)}"
        )
    _say_left_out()


def _say_left_out() -> None:
    from capsviz import zoo

    for sentence in zoo.unrouted().values():
        say(sentence)


@zoo_app.command("verify")
def zoo_verify() -> None:
    """Check every model's weights against the manifest's sha256; exit code 1 when one is missing or altered."""
    from capsviz import zoo

    wrong = 0
    for name, entry in zoo.models().items():
        try:
            zoo.verify(entry)
            zoo.verify_history(entry)
            zoo.verify_checkpoints(entry)
        except zoo.ZooError as error:
            wrong += 1
            print(error, file=sys.stderr)
        else:
            print(f"{name}: as the manifest says")
    _say_left_out()
    if wrong:
        raise typer.Exit(1)


@zoo_app.command("measure")
def zoo_measure(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models; all whose record is missing or stale unless given.")
    ] = None,
    threads: Threads = None,
) -> None:
    """Run models over their whole test sets and keep what they do with each image in the zoo."""
    from capsviz import zoo
    from capsviz.analysis import measuring, predictions
    from capsviz.data import DatasetMissing, load

    named = [zoo.entry(name) for name in names or ()]
    for entry in named:
        predictions.check_trained(entry)
    chosen = [(entry, drawer) for entry in named for drawer in measuring.drawers(entry)] or measuring.wanting()
    if not chosen:
        print("Every model has been measured with the weights that are here.")
        _say_left_out()

    tests: dict[str, Any] = {}
    for entry, drawer in chosen:
        try:
            with under_way(f"reading and measuring {entry.name}") as told:
                if entry.data not in tests:
                    tests.clear()  # one data set at a time
                    tests[entry.data] = load(entry.data, "test")
                found = measuring.measure(entry, drawer, images=tests[entry.data], progress=told)
        except (DatasetMissing, predictions.PredictionsError) as error:
            if names:
                raise
            say(f"{entry.name} is left out: {error}")
            continue
        found.save(predictions.path_of(entry, drawer))
        print(predictions.summary(found))
        if entry.note:
            say(entry.note)


@zoo_app.command("add")
def zoo_add(
    run: Annotated[Path, typer.Argument(help="The folder of a finished training run, or a file NAME.capsviz.")],
    name: Annotated[
        str | None,
        typer.Option(
            help="The model's name; DATA-ROUTING and what it adds unless given, whatever the folder is called."
        ),
    ] = None,
    eight_bits: Annotated[
        bool, typer.Option("--8-bits", help="Weights in eight bits, about half the file, instead of float16.")
    ] = False,
    replaces: Annotated[
        str | None, typer.Option(help="A model that leaves the zoo; links that name it open the new one.")
    ] = None,
) -> None:
    """Put a finished run into the zoo: rounded weights, curves, snapshots of b, and its line in the manifest.

    Or a model that `capsviz zoo export` wrote, as it is.
    """
    from capsviz import zoo
    from capsviz.analysis import exchange
    from capsviz.experiments import results, seeds
    from capsviz.training.publish import publish
    from capsviz.training.recipes import own

    with results.apart(replaces is not None and own([])):
        left = None if replaces is None else seeds.record_of(zoo.entry(replaces))
        if run.suffix == exchange.SUFFIX:
            if eight_bits:
                raise CapsvizError("A model in a file keeps its weights as they are; leave out --8-bits.")
            entry = exchange.add(run, name, replaces=replaces)
        else:
            with under_way(f"reading and measuring {run.name}") as told:
                entry = publish(run, name, bits=8 if eight_bits else 16, replaces=replaces, progress=told)
        if left is not None:
            seeds.keep_record(*left)
            what = "error and the curves" if left[1] else "error"
            say(f"The {what} of {replaces} {'are' if left[1] else 'is'} kept in {results.folder()}.")
            zoo.replace(left[0].name, entry.name)
    _tell(entry)


def _tell(entry: "Entry") -> None:
    """What a model that has come into the zoo is."""
    print(f"{entry.file}: {entry.bytes / 1e6:.1f} MB, test error {error_of(entry.test_error, entry.test_count)}")
    if entry.note:
        say(entry.note)


@zoo_app.command("checkpoints")
def zoo_checkpoints(
    names: Annotated[list[str], typer.Argument(help="Models of the zoo.")],
    out: Out = Path("runs"),
    threads: Threads = None,
) -> None:
    """Train models of the zoo again, by their recipes, and ship them as they were after a few early steps.

    Each is a model of its own, by a name such as digits-dr@40; the app has a slider for them.
    """
    from capsviz.training.publish_checkpoints import publish_checkpoints

    for name in names:
        kept = publish_checkpoints(name, out, threads=threads).checkpoints
        assert kept is not None
        for step, error in zip(kept.steps, kept.errors, strict=True):
            print(f"{name}@{step}: test error {error:.2f} %")


@zoo_app.command("export")
def zoo_export(
    name: Annotated[str, typer.Argument(help="A model of the zoo.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The file; NAME.capsviz unless given.")] = None,
) -> None:
    """Write a model to one file, for another zoo (`capsviz zoo add`) or for the app, into whose sidebar it is dropped.

    It holds weights, config, exemplars, what the manifest says and, where that is small, what the model does with each
    test image; of a folder of images the name alone.
    """
    from capsviz.analysis import exchange
    from capsviz.files import make_folder, write

    content = exchange.export(name)
    file = output or Path(f"{name}{exchange.SUFFIX}")
    if file.suffix != exchange.SUFFIX:
        raise CapsvizError(f"A model is written to a file NAME{exchange.SUFFIX}; give such a name.")
    make_folder(file.parent)
    write(file, content)
    print(f"{file}: {len(content) / 1e6:.1f} MB; `capsviz zoo add {quote(str(file))}` puts it into another zoo")


@zoo_app.command("adopt", cls=NamingCommand)
def zoo_adopt(
    file: Annotated[Path, typer.Argument(help="A state dict that torch.save wrote.")],
    layout: Annotated[str, typer.Option(help="Whose network it is: {layouts}.")],
    data: Annotated[str, typer.Option(help="The data set that it was trained on: {data_sets}, or folder:PATH.")],
    name: Annotated[str | None, typer.Option(help="The model's name; the file's unless given.")] = None,
    iterations: Annotated[int, typer.Option(min=1, help="Iterations of its routing.")] = 3,
) -> None:
    """Put a CapsNet that public PyTorch code trained into the zoo, after comparing what both compute."""
    from capsviz.training.adopt import adopt

    entry = adopt(file, layout, data, name, iterations=iterations)
    _tell(entry)


Names = Annotated[
    list[str] | None, typer.Argument(help="Models (mnist-dr) or data sets (digits); all but `paper` ones unless given.")
]
Preset = Annotated[str | None, typer.Option(help="Only models of this preset: tiny, compact, residual, paper, …")]


@zoo_app.command("train")
def zoo_train(
    names: Names = None,
    preset: Preset = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Train each model with seeds 0 to SEEDS - 1.")] = 1,
    out: Out = Path("runs"),
    device: Device = None,
    threads: Threads = None,
    time_limit: Annotated[float | None, stop_after(", all models together")] = None,
    only_list: Annotated[
        bool, typer.Option("--list", help="Say what there is and how far it is; train nothing.")
    ] = False,
) -> None:
    """Train models by their recipes, skipping what is done and going on with what was cut off.

    The papers' network is trained only where it is named, or its preset.

    `capsviz zoo train digits` takes minutes. `capsviz zoo train --preset paper --device cuda --time-limit 9m`,
    repeated, fits a borrowed GPU.
    """
    from capsviz.training.interrupt import EXIT_CODES
    from capsviz.training.recipes import choose
    from capsviz.training.series import table, train_series

    chosen = choose(names or (), preset, seeds)
    if only_list:
        given = {"--device": device, "--threads": threads, "--time-limit": time_limit}
        if unused := [option for option, value in given.items() if value is not None]:
            raise CapsvizError(f"--list trains nothing; leave out {' and '.join(unused)}.")
        print(table(chosen, out))
        return
    series = train_series(chosen, out, device=device, threads=threads, time_limit=time_limit, say=say)
    print(series.summary())
    if series.stopped:
        raise typer.Exit(EXIT_CODES[series.stopped])
    if series.failed:
        raise typer.Exit(1)


@zoo_app.command("seeds")
def zoo_seeds(names: Names = None, preset: Preset = None, out: Out = Path("runs")) -> None:
    """Write mean and spread of the test error over the seeds in OUT to benchmarks/results/seeds.json.

    Seeds recorded there before of the same command stay. The curves of models that do not ship are kept beside it.
    """
    from capsviz.experiments.seeds import collect, keep_curves, record
    from capsviz.training.recipes import choose

    spreads = collect(choose(names or (), preset), out)
    for spread in spreads:
        print(f"{spread.name:24} {spread}")
    written = [record(spreads), *keep_curves(spreads, out)]
    print(f"Written to {', '.join(str(path) for path in written)}.")
