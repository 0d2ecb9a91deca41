"""L2 and L1: couplings learned once, signed by the label, instead of negotiated for every image."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.boards import routing_boards
from app.page import layout
from app.page.details import Detail, details
from app.page.text import plain
from app.page.widgets import chosen, segments
from app.shared import coefficients as learned
from app.shared import resources
from app.sources import browsing, images
from app.state.choices import BATCHES, CLIMBS, MAX_ASCENT_STEPS, MAX_DRAW, PENALTIES, REGULARISATIONS, STEP_SIZES
from capsviz.analysis import metrics
from capsviz.boards import CapsuleMaps, agreement_maps, ascent_maps, coefficient_maps, history_maps
from capsviz.data import title_of
from capsviz.figures import discriminative
from capsviz.figures.geometry import Geometry
from capsviz.figures.objects import in_words
from capsviz.routing import ASCENDING
from capsviz.routing.discriminative import L2, sparsity
from capsviz.routing.dynamic import DYNAMIC

current = scene.current()
choices = current.choices
entry, other = current.on_page(L2.page)
penalty = entry.routing
trace = current.trace(entry)
SECTIONS = {
    "agreement": "Agreement: kept or spent",
    "coefficients": "b, capsule by capsule",
    "history": "How b was learned",
    "ascent": "Run the ascent",
}
STARTS = {"fresh": "fresh, 0.1 + N(0, 0.01²)", "trained": "as trained"}


def played(shown: CapsuleMaps, key: str, *about: str) -> None:
    """The maps of the section that is open, with their player; about: the image that they are of."""
    routing_boards.maps(shown, entry, key, ", ".join([SECTIONS[choices.section], entry.name, *about]))


def climb_title(climb: str) -> str:
    """The penalty, and which of its steps where it has two."""
    name, proximal = CLIMBS[climb]
    which = f", {'proximal' if proximal else 'subgradient'}"
    return ASCENDING[name].title + which * ASCENDING[name].proximal


def agreement(upper: int) -> None:
    layout.say(
        "<b>û · s is agreement, as is the û · v that dynamic routing adds to its logits</b>, v being its s at another "
        "length; here it is signed by the label, averaged over a batch and kept."
    )
    truth = current.labels(trace.classes)
    labels = truth or tuple(trace.named[0].tolist())
    left, right = st.container(key="agreement_choices").columns([3, 2])
    with left:
        titles = {"same": f"the same votes, of {plain(entry.name)}", "own": "a model of its own"}
        segments("Dynamic routing runs on", "votes", choices.votes, titles)
    routed = current.iterated(L2.page)
    with right:
        layout.iterations_picker(current, routed)
    dynamic = current.same_votes(entry, DYNAMIC.name) if choices.votes == "same" else current.trace(routed)
    whose = routed.name
    delta = metrics.label_signs([labels], len(trace.classes))[0]
    played(agreement_maps(trace, dynamic, signs=delta, upper=upper), "maps-agreement", current.picture.title)
    st.caption(
        f"δ is +1 for {plain(images.names(labels, trace.classes))}, "
        + ("as this image is labelled" if truth else "as predicted, since this image has no label here")
        + ", and −1 for the others. Two numbers are called b: left the coefficient that was learned, right the logit "
        "of this one image. "
        + (
            f"Both sides take the same primary capsules and the same votes of {plain(entry.name)}."
            if whose == entry.name
            else f"Left {plain(entry.name)}, right {plain(whose)}, trained apart: "
            "position and sign compare, types do not."
        )
    )


def coefficients(upper: int) -> None:
    b = trace.layer["coefficients"][0]
    share, below = sparsity(b[:, upper]), int((b[:, upper] < 0).sum())
    played(coefficient_maps(trace, upper=upper), "maps-coefficients")
    layout.numbers(
        {
            "Predicted, from one pass": in_words(trace),
            f"b below zero, class {trace.classes[upper]}": f"{below:,} of {len(b):,}",
            "Exact zeros": f"{100 * share.exact:.1f} %",
            "Near zeros, |b| < 0.001 max |b|": f"{100 * share.near:.1f} %",
        }
    )
    details(
        current,
        Detail(
            "histogram",
            lambda: discriminative.coefficient_histogram(b, dark=current.dark, classes=trace.classes),
            "How b is distributed",
        ),
    )


def is_absent() -> bool:
    """Say so where the network is not here, of which a recording holds one b and no images to climb on."""
    if resources.has_network(entry):
        return False
    st.info(f"{resources.ABSENT.format(name=plain(entry.name))}.", icon=":material/link_off:")
    return True


def history(upper: int) -> None:
    if is_absent():
        return
    kept = learned.history(entry.name)
    if kept is None:
        st.info(f"How b of {plain(entry.name)} came to be was not kept when it was trained.", icon=":material/history:")
        return
    below = "some of it below zero" if bool((kept.coefficients < 0).any()) else "here all of it above zero"
    layout.say(f"<b>b begins nearly equal for every class</b>, and the labels pull it apart: {below}.")
    grid = Geometry(*entry.config.grid)
    played(
        history_maps(
            kept.coefficients,
            kept.steps,
            grid,
            upper=upper,
            classes=entry.classes,
            penalty=penalty,
            proximal="--proximal" in entry.command.split(),
        ),
        "maps-history",
    )


def ascend(upper: int) -> None:
    if is_absent():
        return
    source = images.labelled(choices, entry)
    if source is None:
        title = plain(title_of(entry.data))
        st.info(
            f"No labelled images of {title} are on this machine; choose another model."
            if entry.objects == 1
            else f"The ascent needs images of one object, and those of {title} show {entry.objects}; choose another "
            "model."
        )
        return
    layout.say("<b>The weights stand still, b climbs</b>: long capsules for the labels, short ones for all others.")
    climb = choices.climb or penalty
    with st.container(key="climb_choices"):
        first, second, third = st.columns([3, 3, 2])
        with first:
            segments("Penalty and step", "climb", climb, {name: climb_title(name) for name in CLIMBS})
            segments("Start of b", "start", choices.start, STARTS)
        with second:
            chosen(st.select_slider, "γ, the step", "step_size", choices.step_size, STEP_SIZES)
            chosen(st.select_slider, "λ, the penalty", "regularisation", choices.regularisation, REGULARISATIONS)
        with third:
            chosen(st.slider, "Steps", "ascent_steps", choices.ascent_steps, 1, MAX_ASCENT_STEPS)
            chosen(st.select_slider, "Images", "batch", choices.batch, BATCHES)
    taken, every = learned.batch_of(source, choices.batch)
    with layout.errors_as_sentences():
        record = learned.climbed(
            entry.name,
            source,
            browsing.state(source),
            choices.batch,
            choices.draw,
            choices.start,
            climb,
            choices.step_size,
            choices.regularisation,
            choices.ascent_steps,
        )
        played(
            ascent_maps(record, Geometry(*entry.config.grid), upper=upper, classes=entry.classes),
            "maps-ascent",
        )
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.caption(
        f"{'All ' * (taken == every)}{taken:,} training images of {plain(title_of(source))}, "
        f"draw {choices.draw}; "
        "g is averaged over them. Training takes γ = 0.005 at its peak, and the weights step with b. "
        "Here they stand still: nothing bounds the objective from above, and under a small λ b grows on."
    )
    right.button(
        "Another batch" if taken < every else "Another fresh b",
        icon=":material/casino:",
        width="stretch",
        key="redraw",
        disabled=taken == every and choices.start == "trained",
        on_click=lambda: scene.keep(draw=(scene.choices().draw + 1) % (MAX_DRAW + 1)),
    )


layout.headline(
    "L2 / L1: discriminative routing",
    entry.config.algorithm.explanation.headline,
)
layout.note(other or layout.untouched(current, entry))
layout.strip(trace, entry, "routing", current.dark)

left, right = st.columns([4, 1], vertical_alignment="bottom")
with left:
    upper = layout.class_picker(current, trace)
with right:
    here = [name for name in PENALTIES if current.has(name)]
    if len(here) > 1:
        segments("Penalty", "penalty", penalty, {name: ASCENDING[name].title for name in here})
segments("Part", "section", choices.section, SECTIONS, bare=True)
with layout.errors_as_sentences():
    {"agreement": agreement, "coefficients": coefficients, "history": history, "ascent": ascend}[choices.section](upper)
routing_boards.objects(current, trace)

explanation = entry.config.algorithm.explanation
layout.explain(explanation.text, explanation.formulas, explanation.source)
