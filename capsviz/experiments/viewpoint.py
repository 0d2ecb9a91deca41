"""How well a linear map of what a network says of an image recovers the viewpoint from which it is seen.

capsviz experiment viewpoint --threads 1

Invariance against equivariance (Hinton, Sabour & Frosst 2018): every image is changed once, by an amount drawn evenly
from the steps of the change's whole range, the same for all models. The map is fitted on training images and judged on
test images, none of which it has seen. A class capsule has sixteen numbers, the CNN's last pooling keeps thousands, and
more numbers tell more: so the CNN also answers with as many principal components as a class capsule has numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from capsviz import device, zoo
from capsviz.analysis.viewpoint import Seen, numbers, recovered
from capsviz.data import ImageSet, to_float
from capsviz.data.viewpoint import CHANGES, Change, transformed
from capsviz.errors import CapsvizError
from capsviz.experiments import chance, moving, results
from capsviz.experiments.moving import candidates, compared, measured, own_of, sampled, tables, which
from capsviz.network import METHODS, Network

NAME = "viewpoint"
COUNTS = ("fitted", "held")
"""Only rows of as many images compare."""
COMPONENTS = 16
BATCH = 100


def run(
    data: str = "mnist",
    models: Sequence[str] | None = None,
    fitted: int = 2000,
    held: int = 1000,
    *,
    changes: Iterable[str] = tuple(CHANGES),
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every model (those of `robustness`, unless given) under every change of viewpoint.

    fitted, held: so many training images, on which the maps are fitted, and test images, on which R² is
    measured. A row is added as soon as it is measured, and what stands is skipped; a model whose weights changed is
    measured again. Raises CapsvizError where a class has too few images to fit on, and as `sampled` and `compared`.
    """
    with results.apart(own_of(models or candidates(data), data)):
        both = [
            (sampled(data, split, count, models), seed)
            for split, count, seed in (("train", fitted, 0), ("test", held, 1))
        ]
        data = both[0][0].name
        entries = compared(NAME, both[0][0], models)
        least = 2 if all(entry.has_capsules for entry in entries) else COMPONENTS
        for label, name in enumerate(both[0][0].classes):
            if (few := int((both[0][0].labels == label).sum())) < least:
                raise CapsvizError(
                    f"Of class {name} there are {few} among the {which(data, f'{fitted:,}')} training images of {data} "
                    f"and {least} are needed to fit on; give more with --fitted."
                )
        for entry in entries:
            done = measured(results.begun(NAME), entry.name, data, "change", *COUNTS)
            sizes = tuple(len(images) for images, _ in both)
            for change in (CHANGES[change] for change in changes if (change, *sizes) not in done):
                network = zoo.load_network(entry.name)
                fit, test = (seen(network, images, change, seed) for images, seed in both)
                count = fit.numbers.shape[1]
                rows = []
                for components in (None, COMPONENTS) if not entry.has_capsules else (None,):
                    told = recovered(fit, test, components)
                    row = {
                        "model": entry.name,
                        "data": data,
                        "routing": entry.routing,
                        "sha256": entry.sha256,
                        "change": change.name,
                        "fitted": sizes[0],
                        "held": sizes[1],
                        "numbers": components or count,
                        "of": count,
                        "r2": told.r2,
                        "r2_error": told.error,
                    }
                    rows.append(row)
                    say(f"{called(row)}, {change.title.lower()}: R² {row['r2']:.3f}")
                with results.changing(NAME) as result:
                    results.put(result, rows, "model", "data", "change", *COUNTS, place=device.of(network))
        return results.begun(NAME)


def seen(network: Network, images: ImageSet, change: Change, seed: int) -> Seen:
    """The images, each changed by an amount drawn from the steps of a change, as a network has them."""
    drawn = torch.randint(change.steps + 1, (len(images),), generator=torch.Generator().manual_seed(seed))
    amounts = change.low + change.step * drawn.double()
    found = [
        numbers(network, to_float(transformed(images.images[part], {change.name: amounts[part]})), images.labels[part])
        for part in torch.arange(len(images)).split(BATCH)
    ]
    return Seen(torch.cat(found), amounts, images.labels)


def called(row: dict[str, Any]) -> str:
    """What was read, with its number of numbers: "mnist-dr-paper, class capsule of 16 numbers"."""
    if METHODS[row["routing"]].has_capsules:
        return f"{row['model']}, class capsule of {row['numbers']} numbers"
    reduced = f"{row['numbers']} principal components of its " if row["numbers"] < row["of"] else ""
    return f"{row['model']}, {reduced}{row['of']:,} pooled features"


def table(result: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """The rows of the largest part by what was read, in the order of the methods, and by change."""
    order = list(METHODS)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    rows = moving.parts(result, *COUNTS)[0]["rows"] if result["rows"] else []
    for row in sorted(rows, key=lambda row: (order.index(row["routing"]), -row["numbers"])):
        found.setdefault(called(row), {})[row["change"]] = row
    return found


def markdown(result: dict[str, Any]) -> str:
    """R² by what was read and by change, a table for each part."""
    return tables(result, _markdown, *COUNTS)


def _markdown(result: dict[str, Any]) -> str:
    lines = [
        f"| R² | {' | '.join(f'{change.title.lower()}' for change in CHANGES.values())} |",
        "| --- |" + " ---: |" * len(CHANGES),
    ]
    for read, rows in table(result).items():
        cells = (f"{rows[name]['r2']:.2f}" if name in rows else "" for name in CHANGES)
        lines.append(f"| {read} | {' | '.join(cells)} |".replace("-0.00", "0.00"))
    return "\n".join(lines)


def sentences(result: dict[str, Any]) -> list[str]:
    """How often pooling forgets more than a class capsule; what recovers each change best and worst; how measured."""
    return moving.sentences(result, _sentences, *COUNTS)


def _sentences(result: dict[str, Any]) -> list[str]:
    said = _pooled_or_not(result)
    for change in CHANGES.values():
        rows = [row for row in result["rows"] if row["change"] == change.name]
        if len(rows) > 1:
            best, worst = (pick(rows, key=lambda row: row["r2"]) for pick in (max, min))
            said.append(
                f"{change.title}: R² {best['r2']:.2f} at most ({called(best)}), {worst['r2']:.2f} at least "
                f"({called(worst)})."
            )
    fitted, held = (f"{result['rows'][0][key]:,}" for key in COUNTS)
    said.append(
        "A ridge regression for each class, its strength by leave-one-out; fitted on "
        f"{fitted} training images, R² on {held} test images, each seen once, by an amount drawn from the whole range. "
        "The class is given."
    )
    return said


def _pooled_or_not(result: dict[str, Any]) -> list[str]:
    """In how many changes the pooled features tell more than every class capsule, all of them and cut to as many.

    Nothing where no change has both.
    """
    found: dict[bool, list[int]] = {False: [], True: []}
    for change in CHANGES:
        rows = [row for row in result["rows"] if row["change"] == change]
        best = max((row for row in rows if _has_capsules(row)), key=lambda row: row["r2"], default=None)
        pooled = {row["numbers"] < row["of"]: row for row in rows if not _has_capsules(row)}
        if best and len(pooled) == 2:
            for cut, row in pooled.items():
                found[cut].append(chance.verdict(row["r2"] - best["r2"], row["r2_error"], best["r2_error"]))
    if not found[False]:
        return []
    whole, reduced = (
        f"{found[cut].count(1)} of {len(found[cut])} changes better, in {found[cut].count(-1)} worse"
        for cut in (False, True)
    )
    return [
        f"The CNN's pooled features recover the viewpoint in {whole} than the best class capsule by more than chance; "
        f"cut to {COMPONENTS} principal components, in {reduced}. The two differ in their encoders as well. Chance: "
        f"{chance.CHANCE} standard errors of the difference, over the test images."
    ]


def _has_capsules(row: dict[str, Any]) -> bool:
    return METHODS[row["routing"]].has_capsules
