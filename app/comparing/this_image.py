"""One image through every method that reconstructs: what each says of it, and what it draws."""

from __future__ import annotations

import streamlit as st

from app.comparing import methods as measured
from app.page import layout
from app.page.text import plain
from app.scene import Scene
from app.shared import resources
from app.sources import browsing, images
from capsviz.analysis.comparison import Comparison
from capsviz.data import title_of
from capsviz.figures.compare import reconstruction_grid
from capsviz.figures.network import Part
from capsviz.figures.objects import inked
from capsviz.figures.text import literal
from capsviz.routing import ALGORITHMS
from capsviz.routing.dynamic import DYNAMIC
from capsviz.zoo import Entry

HEADLINE = (
    "One image, routed by every method, drawn from what each names in it: <b>blue</b> is missing, <b>orange</b> new."
)

SUBJECT: Part = "reconstruction"


def show(current: Scene) -> None:
    """The reconstructions with their differences, and the numbers."""
    names, comparison = _compared(current)
    first = next(iter(names.values()))
    classes = first.classes
    instead = "" if resources.comparable(first, current.entry) else current.sibling(DYNAMIC.name, decoder=True)[1]
    layout.note(" ".join(filter(None, [instead, layout.untouched(current, current.entry)])))
    drawings = {routing: drawing.reconstruction[0] for routing, drawing in comparison.drawings.items()}
    coloured = {
        routing: inked(drawing.each[0], comparison.answers[routing].named[0].tolist(), len(classes))
        for routing, drawing in comparison.drawings.items()
        if first.objects > 1
    }
    layout.show(
        reconstruction_grid(
            comparison.images[0],
            drawings,
            dark=current.dark,
            captions=captions(names, comparison, classes, current),
            coloured=coloured,
        ),
        "reconstructions",
        "Reconstructions",
        of_others=True,
        height=layout.BELOW_STRIP,
    )
    table(names, comparison, classes, current.labels(classes))
    if missing := [ALGORITHMS[routing].title for routing in ALGORITHMS if routing not in names]:
        others = [entry for entry in resources.peers(first).values() if entry.data == first.data]
        apart = " of these classes and this form of images" * any(not resources.alike(entry, first) for entry in others)
        st.caption(f"No model of {plain(title_of(first.data))}{apart} is here yet by {', '.join(missing)}.")


def _compared(current: Scene) -> tuple[dict[str, Entry], Comparison]:
    names = methods(current)
    asked = tuple((routing, entry.name) for routing, entry in names.items())
    return names, resources.comparison(asked, current.picture.key)


def agreed(current: Scene) -> str:
    """What all compared models name in the image on stage; empty where they do not agree."""
    names, comparison = _compared(current)
    answers = {frozenset(answer.named[0].tolist()) for answer in comparison.answers.values()}
    return images.names(sorted(*answers), next(iter(names.values())).classes) if len(answers) == 1 else ""


def methods(current: Scene) -> dict[str, Entry]:
    """The comparable models that reconstruct, by routing: the chosen one, else one of its preset, or the first."""
    able = [entry for entry in resources.peers(current.entry).values() if entry.has_decoder]
    own = any(resources.comparable(entry, current.entry) for entry in able)
    base = current.entry if own else current.sibling(DYNAMIC.name, decoder=True)[0]
    able = [entry for entry in able if resources.comparable(entry, base)]
    able.sort(key=lambda entry: (entry.name != current.entry.name, entry.preset != current.entry.preset))
    by_routing = {entry.routing: entry for entry in reversed(able)}
    return {routing: by_routing[routing] for routing in ALGORITHMS if routing in by_routing}


def contested(current: Scene) -> int | None:
    """The test image about which the compared models disagree most, of those that are here; None where there is none,
    where they were not all measured, and where the visitor has chosen an image.
    """
    choices, compared = current.choices, tuple(entry.name for entry in methods(current).values())
    entry, first = current.entry, resources.entries()[compared[0]]
    if choices.image is not None or not images.of_test_set(choices, entry, first.data):
        return None
    here = None if browsing.whole(first.data) else tuple(browsing.indices(first.data, "test"))
    found = resources.contested(compared, here)
    if found is None or here is not None:
        return found
    return found if measured.as_measured(current, [resources.predictions(compared[0])]) else None


def table(names: dict[str, Entry], comparison: Comparison, classes: tuple[str, ...], labels: tuple[int, ...]) -> None:
    """What each method says of the image, and how well it draws it."""
    rows = []
    sure = " / ".join(dict.fromkeys(ALGORITHMS[routing].strength.word for routing in names)).capitalize()
    sure += " of the weaker" * any(entry.objects > 1 for entry in names.values())
    for routing, entry in names.items():
        answer = comparison.answers[routing]
        named, drawing = answer.named[0].tolist(), comparison.drawings[routing]
        # A model that names fewer classes than the image shows is right where all of these are there.
        right = set(named) <= set(labels) if len(named) < len(labels) else set(named[: len(labels)]) == set(labels)
        verdict = "" if not labels else " ✓" if right else f" ✗ ({images.names(labels, classes)})"
        rows.append(
            {
                "Method": ALGORITHMS[routing].title,
                "Predicted": images.names(named, classes) + verdict,
                sure: float(answer.activations[0, named[-1]]),
                "MSE": float(drawing.mse[0]),
                "SSIM": float(drawing.ssim[0]),
                "Test error": entry.test_error,
                "Model": entry.name,
            }
        )
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        key="answers",
        column_config={
            sure: st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.3f"),
            "MSE": st.column_config.NumberColumn(format="%.4f"),
            "SSIM": st.column_config.NumberColumn(format="%.3f"),
            "Test error": st.column_config.NumberColumn(format="%.2f %%"),
        },
    )


def captions(
    names: dict[str, Entry], comparison: Comparison, classes: tuple[str, ...], current: Scene
) -> dict[str, str]:
    """What stands under each picture; of networks of several presets also which it is, as they draw unequally well."""
    several = len({entry.preset for entry in names.values()}) > 1
    labels = current.picture.labels
    lines = {"input": f"labelled {literal(images.names(labels, current.entry.classes))}" if labels else "no label"}
    for routing, answer in comparison.answers.items():
        drawing, kind = comparison.drawings[routing], ALGORITHMS[routing].strength.word
        named = answer.named[0].tolist()
        each = [
            f"<b>{literal(classes[label])}</b>, {kind} {float(answer.activations[0, label]):.2f}" for label in named
        ]
        quality = f"MSE {float(drawing.mse[0]):.4f}, SSIM {float(drawing.ssim[0]):.2f}"
        lines[routing] = "<br>".join([*each, quality, *[f"preset {literal(names[routing].preset)}"] * several])
    return lines
