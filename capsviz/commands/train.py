"""The command line's `capsviz train`."""

from dataclasses import fields
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from capsviz.commands.naming import NamingCommand
from capsviz.errors import CapsvizError, line, listed
from capsviz.terminal import Device, Out, Threads, error_of, say, stop_after
from capsviz.waiting import under_way


class TrainCommand(NamingCommand):
    """A command in whose place for `settings` stand the options of a training's settings."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options, in the order of the help."""
        return [each for own in super().get_params(ctx) for each in (options() if own.name == "settings" else [own])]

    def invoke(self, ctx: Any) -> Any:
        """Call the function with the settings as one dictionary; refuse one that is given and means nothing here."""
        from capsviz.network import METHODS
        from capsviz.training.config import check_kind

        for each in options():
            if ctx.get_parameter_source(each.name).name == "COMMANDLINE" and ctx.params["routing"] in METHODS:
                check_kind(each.name, ctx.params["routing"])
        ctx.params["settings"] = {each.name: ctx.params.pop(each.name) for each in options()}
        return super().invoke(ctx)


@cache
def options() -> list[Any]:
    """The options of the settings of a training, those for one kind of method last.

    They are made when a command line of `train` is read: their module waits for torch.
    """
    from capsviz.training.config import OPTIONS, TrainingConfig

    def every(**_: Any) -> None: ...

    said = [each for each in fields(TrainingConfig) if each.metadata.get("help")]
    parameters = []
    for each in sorted(said, key=lambda each: each.metadata["kind"] is not None):
        kind, text = each.metadata["kind"], each.metadata["help"]
        negated = each.default is True  # such a flag says what is left out
        about = typer.Option(
            OPTIONS[each.name],
            help=f"{listed([each.short for each in kind.methods])}: {text}" if kind else text,
            callback=(lambda given: not given) if negated else None,
        )
        default, annotation = False if negated else each.default, Annotated[each.type, about]
        parameters.append(Parameter(each.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    every.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False)
    app.command()(every)
    return typer.main.get_command(app).params


def train(
    data: Annotated[str, typer.Option(help="{data_sets} or folder:PATH.")],
    routing: Annotated[str, typer.Option(help="{routings}.")],
    preset: Annotated[
        str | None,
        typer.Option(help="{presets}; for {by_matrices} also matrix-compact, …; compact unless given, or what suits."),
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=8, max=224, help="folder: pixels a side that images are brought to.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training set; 10, of a folder more.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Images a step, over all processes together; 128, of a small folder 32.")
    ] = None,
    *,
    settings: Annotated[dict[str, Any], typer.Option(parser=dict)],
    name: Annotated[
        str | None, typer.Option(help="The run's folder below --out; by default DATA-ROUTING and what it adds.")
    ] = None,
    out: Out = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this run where it was cut off.")] = False,
    device: Device = None,
    threads: Threads = None,
    time_limit: Annotated[float | None, stop_after()] = None,
) -> None:
    """Train a network: metrics, checkpoints, final weights and a summary go to OUT/NAME.

    Of your own images, in a folder with a sub-folder for each class, it chooses size, preset, batch and length, and
    says so: `capsviz train --data folder:leaves --routing dr`.
    """
    from capsviz.training.choosing import choose
    from capsviz.training.config import TrainingConfig
    from capsviz.training.interrupt import EXIT_CODES
    from capsviz.training.loop import train as run
    from capsviz.training.runs import holds_run

    if name and (not Path(name).parts or ".." in Path(name).parts or Path(name).is_absolute()):
        raise CapsvizError(line(f"--name {name} is no folder below {out}; give a plain name, and --out for the place."))
    if epochs is not None and settings["steps"] is not None:
        raise CapsvizError("--epochs and --steps both say how long; leave out one of them.")
    with under_way("looking at the images"):
        suited = choose(
            data,
            routing,
            size=size,
            preset=preset,
            epochs=epochs,
            batch=batch,
            steps=settings["steps"],
            validation_share=settings["validation_share"],
        )
    if suited.sentence:
        say(suited.sentence)
    config = TrainingConfig(suited.data, routing, suited.preset, epochs=suited.epochs, batch=suited.batch, **settings)
    folder = out / (name or config.name)
    if resume and not holds_run(folder):
        say(f"There is no run in {folder} to go on with; it begins.")
    outcome = run(config, folder, resume=resume, device=device, threads=threads, time_limit=time_limit)
    if outcome.stopped:
        say(f"Stopped at step {outcome.step} ({outcome.stopped}); repeat the command with --resume to go on.")
        raise typer.Exit(EXIT_CODES[outcome.stopped])
    if outcome.summary:
        error = error_of(outcome.summary["test_error"], outcome.summary["test_count"])
        print(f"{folder}: test error {error}")
        if note := outcome.summary["note"]:
            say(note)
