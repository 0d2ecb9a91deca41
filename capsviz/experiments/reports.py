"""What each experiment found, in one form for the command line, the app and docs/results.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from capsviz import zoo
from capsviz.data import title_of
from capsviz.data.multi import MULTI_MNIST
from capsviz.experiments import (
    ascent,
    convergence,
    cost,
    iterations,
    multi,
    pairs,
    results,
    robustness,
    same_images,
    sparsity,
    sweep,
    table2,
    viewpoint,
)
from capsviz.experiments.results import machines
from capsviz.tensors import written


@dataclass(frozen=True)
class Report:
    """One experiment.

    sentences: computed from what was measured, or first that it was not; markdown: its table, "" where nothing was;
    conditions: data, preset, steps, seeds, device; command: what measures it (again); source: which figure or table of
    which seed it answers. measured: what figures are drawn from, None where there is nothing yet.
    """

    name: str
    title: str
    question: str
    sentences: tuple[str, ...]
    markdown: str
    conditions: str
    command: str
    source: str
    measured: Any


def report(name: str) -> Report:
    """The report of an experiment by its name, from the result files as they are; raises ResultError, ZooError."""
    if name not in _REPORTS:
        raise results.ResultError(f"There is no experiment {name!r}; choose one of {', '.join(_REPORTS)}.")
    found = _REPORTS[name]()
    if found.measured is None:
        return replace(found, sentences=(f"Not measured here yet: `{found.command}` does it.", *found.sentences))
    return found


def _table() -> Report:
    lines = table2.lines()
    counts = sorted({line.ours.count for line in lines if line.ours})
    ends = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1]))) if counts else ""
    seeds = f"seeds for each model: {ends}" if counts else "nothing trained yet"
    return Report(
        "table",
        "Table II",
        "How far from the paper's test errors are the models trained here?",
        tuple(table2.sentences(lines)),
        table2.markdown(lines),
        "Test error of the shipped, rounded weights; means over seeds, and what does not ship, of the float32 weights "
        "(rounded ones where the run is gone), some trained again on another machine. It chose no epoch. Of the "
        "papers' network several recipes were tried for some rows, the test error of each read once, and the lowest "
        "stands here; it chose as well how long our encoder learns CIFAR-10, and EM Fashion-MNIST with a quarter of "
        f"the convolution; {seeds}",
        "capsviz experiment table",
        "Yang, Li & Yu 2021, Table II",
        lines,
    )


def _convergence() -> Report:
    curves = convergence.curves()
    found, early = convergence.crossings(curves), convergence.early(curves)
    names = convergence.data_sets(curves)
    data = ", ".join(map(title_of, names))
    compared = [curve for curve in curves if curve.data in names]
    presets = ", ".join(sorted({f"{title_of(curve.data)} {curve.preset}" for curve in compared}))
    cycle = sum("one-cycle" in curve.command for curve in compared)
    trained = (
        f"{data}: one training, one seed for each curve (presets: {presets}). Error on validation images held out of "
        "the training set, where the paper draws test error, after each epoch, of the averaged weights where a "
        "training averages them; the margin loss is that of the weights in training. "
        f"{cycle} of {len(compared)} under a one-cycle learning rate, which settles all of them towards the end"
    )
    return Report(
        "convergence",
        "Figure 3",
        "Do L1 and L2 converge faster than dynamic routing?",
        (*convergence.sentences(found), *([convergence.early_sentence(early)] if early else [])),
        convergence.markdown(found) if found else "",
        trained if names else "No trainings of DR and of L2 or L1 that differ in nothing else are here yet",
        "capsviz experiment convergence",
        "Yang, Li & Yu 2021, Figure 3",
        curves or None,
    )


def _same_images() -> Report:
    records, missing = same_images.records()
    found = same_images.compared(records)
    return Report(
        same_images.NAME,
        "Same images",
        "Which models err differently on the same images, and which only by chance?",
        tuple(same_images.sentences(found, missing)) if found else (),
        same_images.markdown(found),
        "All test images of each data set, as the shipped, rounded weights name them",
        f"capsviz experiment {same_images.NAME}",
        "McNemar 1947 and Holm 1979, asked of Table II of Yang, Li & Yu 2021",
        found or None,
    )


def _cost() -> Report:
    found = cost.costs()
    first = f"batch {found[0].batch}; medians" if found else "nothing measured yet"
    return Report(
        "cost",
        "Figure 4",
        "How much time do L1 and L2 save?",
        tuple(cost.sentences(found)),
        cost.markdown(found) if found else "",
        f"MNIST-sized noise, {first}",
        "capsviz experiment cost",
        "Yang, Li & Yu 2021, Figure 4",
        found or None,
    )


def _iterations() -> Report:
    result, (shipped, left) = results.read(iterations.NAME), _of_present_weights(iterations.SHIPPED)
    trained: dict[str, Any] = result or {"rows": []}
    return Report(
        "iterations",
        "Iterations",
        "How many routing iterations does it take?",
        (*(iterations.sentences(trained, shipped) if result or shipped else ()), *_not_again(left)),
        iterations.markdown(result) if result else "",
        sweep.conditions(result),
        "capsviz experiment iterations --seeds 3",
        "Sabour, Frosst & Hinton 2017",
        {"trained": trained, "shipped": shipped} if result or shipped else None,
    )


def _sparsity() -> Report:
    made = _of_file(
        sparsity,
        "Sparsity",
        "How sparse does L1 leave its coefficients?",
        sweep.conditions,
        "--seeds 3",
        "Yang, Li & Yu 2021, equations 14 and 15",
    )()
    shipped, left = _of_present_weights(sparsity.SHIPPED)
    return replace(made, sentences=(*made.sentences, *sparsity.of_shipped(shipped), *_not_again(left)))


def _multi() -> Report:
    result, left = _of_present_weights(multi.NAME)
    found = multi.rows(result)
    drawn = pairs.read() if found else None
    if drawn is not None:
        drawn = replace(drawn, drawn=tuple(one for one in drawn.drawn if one.by.name not in left))
    return Report(
        "multi-mnist",
        "MultiMNIST",
        "Can the networks read two digits over one another?",
        (*multi.sentences(found), *_not_again(left)),
        multi.markdown(found) if found else "",
        f"Two digits, {written(MULTI_MNIST.image[1:])}; wrong unless both are named; one model each{_where(result)}",
        "capsviz experiment multi-mnist --runs runs",
        "Yang, Li & Yu 2021, section IV; Sabour, Frosst & Hinton 2017, section 6",
        {"rows": found, "drawn": drawn if drawn and drawn.drawn else None} if found else None,
    )


def _not_again(left: Sequence[str]) -> tuple[str, ...]:
    """A sentence that names the models that are left out; none where none is."""
    return (f"Not measured again since their weights changed: {', '.join(left)}.",) if left else ()


def _of_present_weights(name: str) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """A result without the rows of models that have other weights by now, and the names of these."""
    result, present = results.read(name), zoo.models() | zoo.at_steps()
    if result is None:
        return None, ()

    def stays(row: dict[str, Any]) -> bool:
        return "sha256" not in row or row["model"] not in present or row["sha256"] == present[row["model"]].sha256

    left = tuple(dict.fromkeys(row["model"] for row in result["rows"] if not stays(row)))
    rows = [row for row in result["rows"] if stays(row)]
    return ({**result, "rows": rows} if rows or not left else None), left


def _where(result: dict[str, Any] | None) -> str:
    """On what the rows were measured."""
    if result is None:
        return ""
    places = (f"{each.get('device', 'CPU')}, {each['machine']}, torch {each['torch']}" for each in machines(result))
    return f"; {' and '.join(dict.fromkeys(places))}"


def _data(result: dict[str, Any] | None) -> str:
    """The data sets of a result's rows, MNIST where there is none yet."""
    names = dict.fromkeys(row["data"] for row in (result or {"rows": []})["rows"]) or ("mnist",)
    return " and ".join(map(title_of, names))


def _of_file(
    experiment: Any,
    title: str,
    question: str,
    conditions: Callable[[dict[str, Any] | None], str],
    options: str,
    source: str,
) -> Callable[[], Report]:
    """Makes the report of what one result file holds; options: of the command that measures it."""

    def made() -> Report:
        result, left = _of_present_weights(experiment.NAME)
        return Report(
            experiment.NAME,
            title,
            question,
            (*(experiment.sentences(result) if result else ()), *_not_again(left)),
            experiment.markdown(result) if result else "",
            conditions(result),
            f"capsviz experiment {experiment.NAME} {options}".rstrip(),
            source,
            result,
        )

    return made


_REPORTS: dict[str, Callable[[], Report]] = {
    "table": _table,
    same_images.NAME: _same_images,
    "convergence": _convergence,
    "cost": _cost,
    "robustness": _of_file(
        robustness, "Viewpoint",
        "What happens to images that are shifted or turned further than training ever showed?",
        lambda result: f"{_data(result)} test images, one model each, evaluation only{_where(result)}",
        "--count 10000", "*Encapsulating Capsule Networks*, invariance against equivariance",
    ),
    "viewpoint": _of_file(
        viewpoint, "Equivariance", "Do a network's numbers tell from which viewpoint an image is seen?",
        lambda result: f"{_data(result)}, one model each, evaluation only{_where(result)}",
        "", "Hinton, Sabour & Frosst 2018, invariance against equivariance",
    ),
    "iterations": _iterations,
    "sparsity": _sparsity,
    "ascent": _of_file(
        ascent, "γ and start of b", "Which ascent step and which start does b need?", sweep.conditions,
        "--seeds 3", "left open by Yang, Li & Yu 2021",
    ),
    "multi-mnist": _multi,
}  # fmt: skip
NAMES = tuple(_REPORTS)


def document() -> str:
    """All experiments as one Markdown page: docs/results.md is this."""
    parts = [
        "# The papers' tables beside ours",
        "`capsviz experiment show > docs/results.md` writes this page from the files in `benchmarks/results` and "
        "`pretrained`; the app's page *Results* draws them.",
    ]
    for name in NAMES:
        found = report(name)
        said = "\n".join(f"- {sentence}" for sentence in found.sentences)
        asked = f"*{found.question}* {found.source[0].upper()}{found.source[1:]}; `{found.command}`."
        parts += [f"## {found.title}", asked, found.markdown, said, f"{found.conditions}."]
    return "\n\n".join(part for part in parts if part)
