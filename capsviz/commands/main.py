"""The command line: `capsviz app | train | evaluate | trace | data | zoo | experiment | benchmark`.

Beside typer nothing is imported before a command runs, so that `--help` answers at once.
"""

import os
import sys
import warnings
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from capsviz.commands.app import app as start_app
from capsviz.commands.benchmark import benchmark
from capsviz.commands.data import data_app
from capsviz.commands.experiments import app as experiment_app
from capsviz.commands.models import evaluate, trace
from capsviz.commands.train import TrainCommand, train
from capsviz.commands.zoo import zoo_app
from capsviz.errors import CapsvizError, of_system
from capsviz.places import own_version

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Capsule networks, routed in sight.",
)
OWN_ROUTINGS = "CAPSVIZ_ROUTINGS"
"""The name that an ImportError bears where a routing algorithm of one's own cannot be taken in."""


def _version(asked: bool) -> bool:
    if asked:
        print(f"capsviz {own_version()}")
        raise typer.Exit
    return asked


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Say which capsviz this is.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """What stands before a command."""


app.command("app")(start_app)
app.command(cls=TrainCommand)(train)
app.command()(evaluate)
app.command()(trace)
app.command()(benchmark)
app.add_typer(data_app, name="data")
app.add_typer(zoo_app, name="zoo")
app.add_typer(experiment_app, name="experiment")


def main() -> None:
    """Run the command line, in UTF-8; an error that a user can meet is one sentence on stderr and an exit code."""
    warnings.showwarning = _shown
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Many systems have another for files and pipes; a path that is no text there ends no command that is done.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except CapsvizError as error:
        print(error, file=sys.stderr)
        sys.exit(error.status)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; closing stdout now keeps Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(of_system(error), file=sys.stderr)
        sys.exit(1)
    except ImportError as error:
        if error.name != OWN_ROUTINGS:
            raise
        print(error, file=sys.stderr)
        sys.exit(1)


def _shown(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """A warning of ours is a sentence; any other says where it comes from."""
    ours = category.__module__.startswith("capsviz.")
    print(message if ours else warnings.formatwarning(message, category, *where[:2]).rstrip(), file=sys.stderr)
