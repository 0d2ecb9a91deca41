"""Table II of Yang, Li & Yu 2021 beside what `pretrained/` holds: errors, and what separates the two.

capsviz experiment table
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from capsviz import zoo
from capsviz.data import DATASETS, MNIST
from capsviz.experiments import chance, seeds
from capsviz.experiments.seed_means import SeedMean
from capsviz.network import MATRIX_PRESETS, METHODS, PRESETS, CapsNetConfig
from capsviz.routing import ASCENDING
from capsviz.routing.dynamic import DYNAMIC

CALLED = tuple(
    dict.fromkeys(method.called(decoder=decoder) for method in METHODS.values() for decoder in (True, False))
)
"""As Table II calls them; those without a decoder, where they have a name, after those with one."""
SEED = (DYNAMIC.name, *ASCENDING)
"""The routings that Yang, Li & Yu 2021 trained."""
PAPER: dict[str, dict[str, float]] = {
    "mnist": {"DR": 0.34, "L2": 0.35, "L1": 0.32, "L2/FC": 0.35, "L1/FC": 0.44},
    "fashion-mnist": {"DR": 7.21, "L2": 7.01, "L1": 6.76, "L2/FC": 6.75, "L1/FC": 6.77},
    "cifar10": {"DR": 15.3, "L2/FC": 14.52, "L1/FC": 14.04},
}
"""Test error in percent, Yang, Li & Yu 2021, Table II."""
PAPERS, OURS = "The papers' network", "Our encoder"
"""The papers' two convolutions, of whatever width, and residual blocks in their place."""
BASELINE = "Without capsules"
"""The block of the networks that are compared with both."""
BARE = {method.called(decoder=False) for method in METHODS.values() if not method.has_capsules}
"""As Table II would call these."""
UNSHIPPED = "weights not shipped"
"""Said of a model that was trained here, measured, and left out of pretrained/."""
DIFFERS = {
    "compact": "a quarter of the convolution",
    "tiny": "a tiny network",
    "paper": "",
    "matrix-compact": "matrix capsules, half of the paper's channels",
    "residual": "",
}

BATCH, BATCH_BARE = 128, 32
"""Images a step in Yang, Li & Yu 2021, section IV.B: of Fashion-MNIST, and taken for what it does not say; of MNIST
without a decoder."""
RATE = "0.001"
"""Where the learning rate begins there, of Fashion-MNIST and MultiMNIST; taken for the others."""

MOVED = {"--rotate": "turned", "--scale": "scaled", "--shear": "sheared"}
"""What augmentation did with an image."""
OWN = ("paper", "residual")
"""The presets of the blocks; others stand there too, with what is otherwise."""
LEARNED = {"--gamma": "γ", "--regularisation": "λ", "--coefficient-start": "b from"}
"""What the routing was trained with, where that was not its usual."""


@dataclass(frozen=True)
class TableRow:
    """One method on one data set; `ours` is None where none was trained.

    paper and ours: test error in percent; preset: of the network that was trained, or that nobody trained yet; steps:
    of the training, 0 where nobody says; differs: how ours was made otherwise; shipped: whether the weights of ours are
    in pretrained/; same_images: whether ours was measured on the paper's test images, so that the two compare.
    """

    data: str
    method: str
    paper: float | None
    ours: SeedMean | None
    count: int = 0
    preset: str = ""
    steps: int = 0
    differs: str = ""
    shipped: bool = True
    same_images: bool = True

    @property
    def block(self) -> str:
        """The block of the table in which it stands."""
        return BASELINE if self.method in BARE else block_of(self.preset)

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, in percentage points; None where one is not there, or the images are others."""
        return None if self.ours is None or self.paper is None or not self.same_images else self.ours.mean - self.paper

    @property
    def verdict(self) -> int | None:
        """-1 where ours is below the paper's by more than chance, +1 above it, 0 within; None as of `difference`.

        Both are taken as shares of `count` images.
        """
        if self.difference is None or self.ours is None or self.paper is None:
            return None
        errors = (chance.error_of_share(each, self.count) for each in (self.ours.mean, self.paper))
        return chance.verdict(self.difference, *errors)


def block_of(preset: str) -> str:
    """The block of the table in which a capsule network of this preset stands."""
    return OURS if PRESETS.get(preset, {}).get("stages") else PAPERS


def amid(block: str) -> str:
    """What a block is called amid a sentence."""
    return f"{block[0].lower()}{block[1:]}"


def method_of(entry: zoo.Entry) -> str:
    """The name that Table II has for a model."""
    return entry.method.called(decoder=entry.has_decoder)


def lines() -> list[TableRow]:
    """Table II, line by line, with every model of pretrained/ on its data sets, and what was trained and not shipped.

    The papers' network comes first, then our encoder, then what has no capsules. A model that was trained under several
    seeds stands with their mean, those of the float32 weights; a single one with what the manifest says of the shipped
    weights, or with its float32 weights' error where they do not ship. A narrower network than the paper's that does
    not ship gives way to the paper's own.
    """
    spreads = seeds.recorded()
    trained = [_row(entries, spreads) for entries in _alike(zoo.models().values())] + _unshipped()
    table = []
    for data, paper in PAPER.items():
        for method in CALLED:
            here = [line for line in trained if (line.data, line.method) == (data, method)]
            if any(line.preset == "paper" for line in here):
                here = [line for line in here if line.shipped or line.preset != "compact"]
            if method in paper:
                blocks_here = {line.block for line in here}
                untrained = [
                    TableRow(data, method, paper[method], None, preset=preset) for preset in ("paper", "residual")
                ]
                here += [line for line in untrained if line.block not in blocks_here]
            table += here
    return sorted(table, key=lambda line: (PAPERS, OURS, BASELINE).index(line.block))


def _alike(entries: Iterable[zoo.Entry]) -> list[list[zoo.Entry]]:
    """Models that one command trained, seeds aside, on one of the table's data sets, together."""
    found: dict[tuple[str, str, str, str], list[zoo.Entry]] = {}
    for entry in entries:
        if entry.data in PAPER:
            command = re.sub(r" --seed \S+", "", entry.command)
            found.setdefault((entry.data, method_of(entry), entry.preset, command), []).append(entry)
    return list(found.values())


def _unshipped() -> list[TableRow]:
    """What was trained here on the table's data sets and does not ship."""
    found = []
    for spread in seeds.unshipped():
        if spread.data in PAPER:
            method = METHODS[spread.routing].called(decoder=spread.decoder)
            made = _differences(spread.preset, spread.routing, spread.command), _images(spread.note), UNSHIPPED
            found.append(
                TableRow(
                    spread.data,
                    method,
                    PAPER[spread.data].get(method),
                    SeedMean.of(list(spread.errors)),
                    spread.test_count,
                    spread.preset,
                    spread.steps,
                    ", ".join(filter(None, made)),
                    shipped=False,
                    same_images=not _images(spread.note),
                )
            )
    return found


def _row(entries: list[zoo.Entry], spreads: Mapping[str, seeds.Spread]) -> TableRow:
    first, method = entries[0], method_of(entries[0])
    commands = {entry.command for entry in entries}
    found = (spreads.get(entry.name) for entry in entries)
    told = [spread for spread in found if spread and spread.command in commands]
    errors = [error for spread in told for error in spread.errors]
    if len(errors) < 2:
        errors = [entry.test_error for entry in entries]
    return TableRow(
        first.data,
        method,
        PAPER[first.data].get(method),
        SeedMean.of(errors),
        first.test_count,
        first.preset,
        max(seeds.steps_of(entry) for entry in entries),
        ", ".join(filter(None, (differences(first), *_elsewhere(told)))),
        same_images=not _images(first.note),
    )


def _elsewhere(told: Iterable[seeds.Spread]) -> list[str]:
    """What the same trainings left on other machines."""
    return [f"{error:.2f} % by the same command on another machine" for each in told for error in each.elsewhere]


def differences(entry: zoo.Entry) -> str:
    """What the model has otherwise than the paper's, from its preset, its command and its data set."""
    return ", ".join(filter(None, (_differences(entry.preset, entry.routing, entry.command), _images(entry.note))))


def _images(note: str) -> str:
    """What sets the images apart from the paper's, from the note of their data set."""
    return "images re-encoded as JPEG" if "JPEG" in note else ""


def _differences(preset: str, routing: str, command: str) -> str:
    words = shlex.split(command)

    def given(option: str) -> str:
        return "".join(words[words.index(option) + 1 :][:1]) if option in words else ""

    data, bare = given("--data"), "--no-decoder" in words
    shift, cutout, decay = given("--shift"), given("--cutout"), given("--weight-decay")
    found = [DIFFERS.get(preset, preset)] if METHODS[routing].has_capsules else []
    found += _pace(given, routing, BATCH_BARE if bare and data == MNIST.name else BATCH)
    if routing in SEED and data in PAPER and not DATASETS[data].reconstructed:
        # The papers draw no such image again, and their network has no decoder there.
        found += ["a decoder"] if block_of(preset) == OURS and not bare else []
    found += [f"weight decay {decay}"] if decay else []
    otherwise = shift and (data, shift) != (MNIST.name, "2")
    found += [f"shifts of up to {shift} pixel{'s' * (shift != '1')}"] if otherwise else []
    found += ["mirrored at random"] if "--mirror" in words else []
    found += [f"a square of {cutout} pixels blanked at random"] if cutout else []
    moved = " and ".join(what for option, what in MOVED.items() if given(option))
    found += [f"{moved.replace(' and ', ', ', moved.count(' and ') - 1)} at random"] if moved else []
    found += ["weights averaged over steps"] if given("--average") else []
    found += [f"{what} {given(option)}" for option, what in LEARNED.items() if given(option)]
    found += ["proximal steps"] if "--proximal" in words else []
    found += _iterations(preset, routing, given)
    return ", ".join(part for part in found if part)


def _pace(given: Callable[[str], str], routing: str, papers: int) -> list[str]:
    """Batch and learning rate where they are not the paper's; of other routings than its own it gives no batches."""
    batch, rate = int(given("--batch") or BATCH), given("--lr") or RATE
    found = [f"batches of {batch}"] if batch != papers and routing in SEED else []
    if given("--schedule") == "one-cycle":
        return [*found, f"one cycle of the learning rate, up to {rate}"]
    return [*found, *([f"learning rate {rate}"] if rate != RATE else [])]


def _iterations(preset: str, routing: str, given: Callable[[str], str]) -> list[str]:
    """How many there were, and which had gradients.

    The first where it is not the preset's number. Yang, Li & Yu 2021 leave the second open, who came to EM and
    attention took all.
    """
    if not METHODS[routing].iterates:
        return []
    usual = (PRESETS | MATRIX_PRESETS).get(preset, {})
    times, own = given("--iterations"), usual.get("iterations", CapsNetConfig.iterations)
    return [*([f"T = {times}"] if times and int(times) != own else []), *_through(routing, given, usual)]


def _through(routing: str, given: Callable[[str], str], usual: Mapping[str, Any]) -> list[str]:
    through = given("--through") or usual.get("through", "last")
    if routing in SEED:
        return ["gradients through all iterations"] if through == "all" else []
    return ["gradients through the last iteration alone"] if through == "last" else []


def markdown(table: list[TableRow]) -> str:
    """The table for docs and screen, a heading for each block."""
    return "\n\n".join(f"**{block}**\n\n{_markdown(lines)}" for block, lines in blocks(table).items())


def blocks(table: list[TableRow]) -> dict[str, list[TableRow]]:
    """The lines by block, in the order of the table."""
    found: dict[str, list[TableRow]] = {}
    for line in table:
        found.setdefault(line.block, []).append(line)
    return found


def _markdown(table: list[TableRow]) -> str:
    written = [
        "| data | method | paper, % | ours, % | ours − paper | seeds | steps | preset | otherwise than the paper |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for line in table:
        title = DATASETS[line.data].title
        paper = "–" if line.paper is None else f"{line.paper:.2f}"
        if line.ours is None:
            written.append(f"| {title} | {line.method} | {paper} | not trained here | | | | | |")
            continue
        off = "" if line.difference is None else f"{line.difference:+.2f}".replace("-", "−")
        written.append(
            f"| {title} | {line.method} | {paper} | {line.ours.written()} | {off} | {line.ours.count} "
            f"| {f'{line.steps:,}' if line.steps else '–'} | {line.preset} | {line.differs} |"
        )
    return "\n".join(written)


def sentences(table: list[TableRow]) -> list[str]:
    """How many of the paper's figures both blocks meet, then how far off each is, and what that counts."""
    if not any(line.ours and line.paper is not None for line in table):
        return ["No model of Table II is in the zoo."]
    compared = {block: lines for block, lines in blocks(table).items() if block != BASELINE}
    said = [f"{_verdicts(lines)} with {amid(block)}" for block, lines in compared.items()]
    others = sorted({DATASETS[line.data].title for line in table if not line.same_images})
    apart = [
        f"The images of {' and '.join(others)} are re-encoded as JPEG here: errors on them compare methods with each "
        "other, not with the paper, and are not counted."
    ]
    return [
        f"Test errors beside Table II: {'; '.join(said)}.",
        f"{chance.MEANT.capitalize()}.",
        *(f"{block}: {_sentence(lines)}" for block, lines in compared.items()),
        *(apart if others else []),
    ]


def _verdicts(table: list[TableRow]) -> str:
    """ "of 6 figures 2 are lower by more than chance, 4 equal within it, 0 higher"."""
    found = [line.verdict for line in one_each(table) if line.verdict is not None]
    lower, equal, higher = (found.count(each) for each in (-1, 0, 1))
    return f"of {len(found)} figures {lower} are lower by more than chance, {equal} equal within it, {higher} higher"


def one_each(table: list[TableRow]) -> list[TableRow]:
    """Of the lines of a block one for each of the paper's figures: that of the block's own preset before others."""
    ordered = sorted(table, key=lambda line: line.preset not in OWN)
    found = {(line.data, line.method): line for line in reversed(ordered)}
    return [line for line in table if found[line.data, line.method] is line]


def _sentence(table: list[TableRow]) -> str:
    trained = [line for line in one_each(table) if line.difference is not None]
    missing = sum(line.paper is not None and line.ours is None for line in table)
    absent = f"; {missing} of the paper's figures have no training yet" if missing else ""
    if not trained:
        return f"nothing to compare{absent}."
    widest = max(trained, key=lambda line: line.difference or 0)
    off = widest.difference or 0
    gap = f"the largest gap is +{off:.2f} points" if off >= 0 else f"the smallest lead is {-off:.2f} points"
    return f"{gap} ({widest.method} on {DATASETS[widest.data].title}){absent}."
