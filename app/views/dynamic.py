"""Dynamic routing: primary capsules vote, and turn to the classes that agree with them."""

from __future__ import annotations

from app import scene
from app.boards import routing_boards, toy
from app.page import layout
from app.page.details import Detail, details
from app.page.widgets import segments
from app.state.choices import LABS
from capsviz.analysis import metrics
from capsviz.figures import couplings, sankey
from capsviz.figures.objects import in_words
from capsviz.routing.dynamic import DYNAMIC

current = scene.current()
entry, other = current.on_page(DYNAMIC.page)
trace, algorithm = current.trace(entry, touched=True), entry.config.algorithm

layout.headline(
    entry.method.title,
    "A few votes for two parents: round by round, a capsule turns to the parent that <b>agrees</b> with it."
    if current.choices.lab == "toy"
    else algorithm.explanation.headline.format(lower=entry.config.lower),
)
TITLES = dict(zip(LABS, ("The network", toy.TITLE), strict=True))
segments("Laboratory", "lab", current.choices.lab, TITLES, bare=True)
layout.note(other)
draw_strip = layout.strip_later(trace, entry, "routing", current.dark)
if current.choices.lab == "toy":
    toy.toy()
    draw_strip()
else:
    upper = routing_boards.pickers(current, entry, trace)
    routing_boards.show(entry.routing)
    draw_strip()
    routing_boards.answer(current, entry)
    routing_boards.objects(current, trace)

    summary, several = metrics.summarise(trace), trace.objects > 1
    strength = algorithm.strength.title + f" of {trace.classes[summary.predicted]}" * several
    lengths, shares = (summary.first_activation, summary.activation), summary.largest_share
    layout.numbers(
        {
            "Predicted": in_words(trace),
            f"{strength}, first → last": f"{lengths[0]:.2f} → {lengths[1]:.2f}",
            "Runner-up": "–"
            if summary.runner_up is None
            else f"{trace.classes[summary.runner_up]} ({summary.runner_up_activation:.2f})",
            f"Largest coupling{' to any class' * several}, first → last": f"{shares[0]:.2f} → {shares[-1]:.2f}",
        }
    )

    dark = current.dark
    details(
        current,
        (
            Detail(
                "lengths",
                lambda: couplings.lengths_over_iterations(trace, dark=dark),
                f"{algorithm.strength.word.capitalize()} of every class capsule",
            ),
            Detail(
                "entropy",
                lambda: couplings.coupling_entropy_figure(trace, dark=dark),
                "Indecision of the primary capsules",
            ),
        ),
        Detail("flow", lambda: sankey.type_flow(trace, dark=dark), "Which types of capsules speak for which class"),
    )

layout.explain(algorithm.explanation.text, algorithm.explanation.formulas, algorithm.explanation.source)
