"""What is typed: every command that there is, each of its options and arguments wrong, doubled or out of its range."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import typer
from PIL import Image
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from capsviz import zoo
from capsviz.commands.main import app, main
from capsviz.errors import CapsvizError
from tests.fuzz import damage
from tests.fuzz.files import Act, Make, variable

NUMBERS = (*map(str, damage.NUMBERS), "inf", "nan", "1e-3")
WORDS = (
    *NUMBERS,
    *(word for word in damage.WORDS if "\x00" not in word),  # no shell can pass it on
    *["dr", "em", "cnn", "tiny", "paper", "digits", "mnist", "digits-dr", "digits-none", "folder:.", "folder:none"],
    *["auto", "cuda:7", "test", "train", "16-mixed", "one-cycle", "last", "9m", "0s", "--help"],
    *["picture.png", "text.txt", "none", ".", "text.txt/below", "board.html", "digits-dr.capsviz"],
)
"""Values that some option takes and the others do not; the files among them are made in the folder of the run."""
ENDS = {
    "train": ("--data", "digits", "--routing", "dr", "--preset", "tiny", "--batch", "4", "--steps", "1"),
    "zoo train": ("--list",),
}
"""What stands before the rest of a line, so that it is one that does something; later options may overrule it."""
OFTEN = ("train", "evaluate", "trace", "zoo add", "zoo export", "zoo adopt") * 3
"""Commands that read what they are given, beside once more all that there are."""
LIMITS = {"train": ("--time-limit", "1s"), "zoo train": ("--list",)}
"""What stands after the rest, so that no input trains for long."""
ONLY_READ = ("app", "benchmark", "data download", "zoo checkpoints", "zoo measure", "experiment")
"""Commands that serve, fetch, or measure for minutes: what is typed is checked by them, and not run."""


def leaves(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, TyperCommand]]:
    """Every command that can be run, by what is typed for it."""
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(command, TyperCommand):
        yield " ".join(path), command


def line(commands: dict[str, TyperCommand], random: Random) -> list[str]:
    """One command line: what is required is mostly there, of the rest up to four."""
    name = random.choice((*commands, *OFTEN))
    found = [*name.split(), *ENDS.get(name, ())]
    parameters = commands[name].get_params(typer.Context(commands[name]))
    required = [each for each in parameters if each.required and name not in ENDS]
    others = [each for each in parameters if each not in required]
    for parameter in (*required, *random.choices(others, k=random.randrange(5) if others else 0)):
        if parameter in required and random.random() < 0.1:
            continue
        if isinstance(parameter, TyperOption):
            found.append(random.choice((*parameter.opts, *parameter.secondary_opts)))
        if not getattr(parameter, "is_flag", False) or random.random() < 0.1:
            number = isinstance(parameter, TyperOption | TyperArgument) and (
                parameter.type_descriptor.annotation in (int, float) and random.random() < 0.8
            )
            found.append(random.choice(NUMBERS if number else WORDS))
    return [*found, *LIMITS.get(name, ())]


def command_lines(folder: Path) -> tuple[Make, Act]:
    """Lines for `capsviz`, run in a folder and with a zoo of their own; none starts a server or fetches anything."""
    commands = dict(leaves(typer.main.get_command(app)))
    own = folder / "zoo"
    own.mkdir()
    shutil.copy(zoo.entry("digits-dr").path, own)
    manifest = (zoo.folder() / "manifest.json").read_bytes()
    (folder / "text.txt").write_text("text")
    Image.new("L", (28, 28), 99).save(folder / "picture.png")
    with contextlib.chdir(folder):
        ended(lambda: typed(["train", *ENDS["train"]]))  # what a first training imports counts for no input

    def read(given: object) -> None:
        assert isinstance(given, list)
        (own / "manifest.json").write_bytes(manifest)
        with variable("CAPSVIZ_ZOO", own), variable("CAPSVIZ_RESULTS", folder / "results"), contextlib.chdir(folder):
            if " ".join(given).startswith(ONLY_READ) and "show" not in given:
                said = ended(lambda: checked(given, commands))
            else:
                said = ended(lambda: typed(given))
        assert "Traceback" not in said, said[-200:]

    return lambda random: line(commands, random), read


def typed(given: list[str]) -> None:
    """Run a line as a shell does."""
    before, sys.argv = sys.argv, ["capsviz", *given]
    try:
        main()
    finally:
        sys.argv = before


def checked(given: list[str], commands: dict[str, TyperCommand]) -> None:
    """Have a line read by its command, without running it."""
    name = max((name for name in commands if " ".join(given).startswith(name)), key=len)
    try:
        commands[name].make_context(name, given[len(name.split()) :])
    except typer.exceptions.TyperException as error:
        raise CapsvizError(" ".join(error.format_message().split())) from None
    except typer.Exit:
        pass  # it was asked for help


def ended(act: Callable[[], None]) -> str:
    """What is printed; raises CapsvizError where that is a refusal, AssertionError for an exit code that none has."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            act()
        except SystemExit as end:
            if end.code not in (0, 1, 2, None):
                raise AssertionError(f"exit code {end.code}") from None
            if end.code:
                lines = [text for text in said.getvalue().splitlines() if text.strip(" ╰─╯")]
                raise CapsvizError(lines[-1] if lines else f"exit code {end.code}") from None
    return said.getvalue()
