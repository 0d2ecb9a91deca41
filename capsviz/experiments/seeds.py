"""Mean and spread of the test error over runs that differ in nothing but their seed.

capsviz zoo train digits --seeds 3
capsviz zoo seeds digits
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from capsviz import zoo
from capsviz.errors import CapsvizError
from capsviz.experiments import results
from capsviz.experiments.result_files import Routing
from capsviz.files import make_folder, write
from capsviz.reading import Inside, Name, Number, Percent, Text, understood
from capsviz.training.journal import METRICS, read_lines
from capsviz.training.recipes import Recipe
from capsviz.training.runs import SUMMARY, check_same_run, read_summary

RESULT = "seeds"
"""The name of the result file."""
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""As large as a training takes it."""


class SpreadError(CapsvizError):
    """There are no runs to average."""


@dataclass(frozen=True)
class Spread:
    """The test errors of one recipe under several seeds, in percent, each measured once on the final weights.

    deviation: the standard deviation of the runs (n - 1 in the denominator), None of a single one. steps: of each run.
    command: what trains seed 0, or the one seed of a model that left the zoo. note: what the data set says of its
    images. elsewhere: errors of the same command and seed on other machines, whose weights are gone.
    """

    name: Inside
    data: Name
    routing: Routing
    preset: Name
    decoder: bool
    n: Annotated[int, Meta(ge=1, le=10_000)]
    mean: Percent
    deviation: Percent | None
    seeds: Annotated[tuple[Seed, ...], Meta(max_length=10_000)]
    errors: Annotated[tuple[Percent, ...], Meta(max_length=10_000)]
    test_count: Annotated[int, Meta(ge=1, le=2**53)]
    steps: Number
    command: Text
    note: Text = ""
    elsewhere: Annotated[tuple[Percent, ...], Meta(max_length=100)] = ()

    def __post_init__(self) -> None:
        if not len(self.seeds) == len(self.errors) == self.n:
            raise SpreadError(f"{self.name} has no seed and error for each of {self.n} runs; collect them again.")

    def __str__(self) -> str:
        """ "0.46 ± 0.09 % (3 seeds)"."""
        if self.deviation is None:
            return f"{self.mean:.2f} % (1 seed)"
        return f"{self.mean:.2f} ± {self.deviation:.2f} % ({self.n} seeds)"


def collect(chosen: Sequence[Recipe], out: Path) -> list[Spread]:
    """The spread of every recipe (of seed 0) that has finished runs, OUT/NAME and OUT/NAME-seed1 and so on.

    Seeds whose runs are not in OUT stay as they are recorded, if the same command trained them; one that ships counts
    by the error of its rounded weights where nothing else is known of it. Raises CheckpointError for a run with other
    settings than its recipe's, SpreadError where no run is finished, ResultError.
    """
    before = recorded()
    spreads = [spread for recipe in chosen if (spread := _spread_of(recipe, out, before.get(recipe.name))) is not None]
    if not spreads:
        raise SpreadError(f"{out} holds no finished run of these models; `capsviz zoo train --seeds 3` makes some.")
    return spreads


@dataclass(frozen=True)
class Spreads:
    """What the result file holds of them."""

    rows: Annotated[tuple[Spread, ...], Meta(max_length=10_000)]


def _spread_of(recipe: Recipe, out: Path, before: Spread | None) -> Spread | None:
    found = {}
    for folder in (out / recipe.name, *out.glob(f"{recipe.name}-seed*")):
        number = folder.name.removeprefix(recipe.name).removeprefix("-seed") or "0"
        if number.isdigit() and (folder / SUMMARY).is_file():
            summary = read_summary(folder)
            check_same_run(replace(recipe.config, seed=int(number)), summary, folder)
            found[int(number)] = summary
    if not found:
        return None
    config, first = recipe.config, found[min(found)]
    by_seed = {seed: summary["test_error"] for seed, summary in found.items()}
    elsewhere: tuple[float, ...] = ()
    if before is not None and before.command == config.command():
        elsewhere = before.elsewhere
        by_seed = dict(zip(before.seeds, before.errors, strict=True)) | by_seed
    shipped = zoo.models().get(recipe.name)
    if shipped is not None and shipped.command == config.command():
        by_seed.setdefault(shipped.seed, shipped.test_error)
    seeds = tuple(sorted(by_seed))
    errors = tuple(by_seed[seed] for seed in seeds)
    return Spread(
        name=recipe.name,
        data=config.data,
        routing=config.routing,
        preset=config.preset,
        decoder=config.decoder,
        n=len(seeds),
        mean=statistics.fmean(errors),
        deviation=statistics.stdev(errors) if len(errors) > 1 else None,
        seeds=seeds,
        errors=errors,
        test_count=first["test_count"],
        steps=first["steps"],
        command=config.command(),
        note=first.get("note", ""),
        elsewhere=elsewhere,
    )


def _said(spread: Spread) -> dict[str, Any]:
    """As a result file says it: without `elsewhere` where there is none."""
    return {name: value for name, value in asdict(spread).items() if name != "elsewhere" or value}


def keep_curves(spreads: Sequence[Spread], out: Path) -> list[Path]:
    """Copy the curves of models that do not ship to the result files, and say where: Figure 3 is read off them.

    Of each the first seed's, where its run is in OUT. Those of shipped models lie in the zoo.
    """
    kept = []
    for spread in unshipped(spreads):
        metrics = out / (spread.name + f"-seed{spread.seeds[0]}" * (spread.seeds[0] > 0)) / METRICS
        if metrics.is_file():
            path = curves_of(spread.name)
            make_folder(path.parent, results.ELSEWHERE)
            write(path, metrics.read_bytes())
            kept.append(path)
    return kept


def record_of(entry: zoo.Entry) -> tuple[Spread, bytes]:
    """Error and curves of a model of the zoo, before it leaves: what `keep_record` takes.

    What is recorded of its very command, else the error of its rounded weights; no curves of one that public code
    trained. Raises ResultError, ZooError where the curves are gone.
    """
    try:
        drawn = (zoo.folder() / entry.curves).read_bytes() if entry.curves else b""
    except FileNotFoundError as error:
        raise zoo.ZooError(f"The curves {entry.curves} of {entry.name} are missing; restore them with git.") from error
    before = recorded().get(entry.name)
    if before is not None and before.command == entry.command:
        return before, drawn
    left = Spread(
        name=entry.name,
        data=entry.data,
        routing=entry.routing,
        preset=entry.preset,
        decoder=entry.has_decoder,
        n=1,
        mean=entry.test_error,
        deviation=None,
        seeds=(entry.seed,),
        errors=(entry.test_error,),
        test_count=entry.test_count,
        steps=steps_of(entry),
        command=entry.command,
        note=entry.note,
    )
    return left, drawn


def keep_record(left: Spread, drawn: bytes) -> None:
    """Keep error and curves of a model that left the zoo among what was trained here and does not ship.

    Raises ResultError, WriteError.
    """
    if drawn:
        path = curves_of(left.name)
        make_folder(path.parent, results.ELSEWHERE)
        write(path, drawn)
    record([left])


def steps_of(entry: zoo.Entry) -> int:
    """How many steps a model was trained for, by its curves, or else by its command; 0 where neither says."""
    path = zoo.folder() / entry.curves
    if path.is_file():
        return max((line["step"] for line in read_lines(path)), default=0)
    asked = re.search(r"(?:^|\s)--steps[ =](\d{1,15})(?:\s|$)", entry.command)
    return int(asked[1]) if asked else 0


def curves_of(name: str) -> Path:
    """Where the curves of a model that does not ship are kept."""
    return results.folder() / "curves" / f"{name}.jsonl"


def unshipped(spreads: Iterable[Spread] | None = None) -> list[Spread]:
    """Those of trainings whose weights are not in pretrained/: of all that is recorded, unless given.

    A model of the same name may ship that was trained otherwise. Raises ResultError, ZooError.
    """
    shipped = {(entry.name, entry.command) for entry in zoo.models().values()}
    chosen = recorded().values() if spreads is None else spreads
    return [spread for spread in chosen if (spread.name, spread.command) not in shipped]


def recorded() -> dict[str, Spread]:
    """The spreads in the result file, by name; empty where there is none yet. Raises ResultError for a damaged one."""
    result = results.read(RESULT)
    if result is None:
        return {}
    remedy = "restore it with git, or run `capsviz zoo seeds`"
    found: Spreads = understood(Spreads, result, f"{RESULT}.json", remedy, results.ResultError)
    return {row.name: row for row in found.rows}


def record(spreads: Sequence[Spread]) -> Path:
    """Put spreads into the result file and say where it is; lines of the same names are replaced, the others stay."""
    with results.changing(RESULT) as result:
        rows = recorded() | {spread.name: spread for spread in spreads}
        result["rows"] = [_said(rows[name]) for name in sorted(rows)]
    return results.folder() / f"{RESULT}.json"
