"""EM routing: every class capsule is a Gaussian, fitted to the votes that it is responsible for."""

from __future__ import annotations

from html import escape

from app import scene
from app.boards import routing_boards
from app.page import layout
from app.page.details import Detail, details
from capsviz.analysis import metrics
from capsviz.figures import sankey
from capsviz.figures.objects import in_words
from capsviz.routing.em import EM

current = scene.current()
entry, other = current.on_page(EM.page)
whole = current.trace(entry, touched=True)

sentence, held = entry.config.algorithm.explanation.headline, metrics.held(whole)
if held is not None:
    rank = {1: "the most", held.upper: "the least"}.get(held.rank, f"number {held.rank} of {held.upper}")
    name, amount = escape(whole.classes[held.predicted]), f"{held.amount:,.{0 if held.amount >= 10 else 2}f}"
    sentence += f" Here <b>{name}</b>, the most active, holds {amount} of {held.lower:,} capsules by R: {rank}."
layout.headline(entry.method.title, sentence)
layout.note(other)
draw_strip = layout.strip_later(whole, entry, "routing", current.dark)

trace = layout.layer_picker(current, whole)
summary = metrics.summarise(trace)
upper = routing_boards.pickers(current, entry, trace)
routing_boards.show(entry.routing)
draw_strip()
routing_boards.answer(current, entry)

said = {}
if {"variances", "cost"} <= trace.layer.keys():  # another program may have recorded neither
    spread = metrics.gaussian_summary(trace, upper)
    said[f"Spread σ of {trace.called(upper)}"] = f"{spread.deviation[0]:.2f} → {spread.deviation[-1]:.2f}"
    said[f"Cost of {trace.called(upper)}"] = f"{spread.cost[0]:.2f} → {spread.cost[-1]:.2f}".replace("-", "−")
indecision = f"Indecision of R, M-step 1 → {trace.layer.iterations}"
if trace.kind == "class":  # a layer's convolutional shares are one position's, beside which those of others compete
    said[indecision] = f"{100 * summary.entropy[0]:.1f} → {100 * summary.entropy[-1]:.1f} %"
layout.numbers(
    {
        "Most active" if trace.kind == "type" else "Predicted": f"{in_words(trace)} (a = {summary.activation:.2f})",
        **said,
    },
    {indecision: "The entropy of how a capsule is shared out, of its maximum: 100 % evenly, 0 % all to one class."},
)

details(
    current,
    Detail(
        "flow",
        lambda: sankey.type_flow(trace, dark=current.dark),
        f"Which types of capsules speak for which {trace.kind}",
    ),
)

explanation = entry.config.algorithm.explanation
layout.explain(explanation.text, explanation.formulas, explanation.source)
