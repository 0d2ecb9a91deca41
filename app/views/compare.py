"""Compare: the same image through every algorithm, and capsules drawn by a decoder that never met them."""

from __future__ import annotations

import streamlit as st

from app import images, layout, resources, scene
from app.scene import Scene
from capsviz import data
from capsviz.compare import Comparison
from capsviz.figures.compare import fc_decoded_wrong, reconstruction_grid
from capsviz.network import ROUTING_TITLES
from capsviz.zoo import Entry

ORDER = ("dr", "em", "l1", "l2")
EXAMPLES = 20
SEARCHED = 1000
"""How many test images are searched for capsules drawn wrong: a few seconds for the largest model here."""


def methods(current: Scene) -> dict[str, Entry]:
    """The models of one data set that reconstruct, by routing."""
    kind = current.sibling("dr", decoder=True)[0].data
    able = [entry for entry in resources.entries().values() if entry.data == kind and entry.config.decoder]
    by_routing = {entry.routing: entry for entry in reversed(able)}
    return {routing: by_routing[routing] for routing in ORDER if routing in by_routing}


def table(names: dict[str, Entry], comparison: Comparison, classes: tuple[str, ...], label: int | None) -> None:
    """What each method says of the image, and how well it draws it."""
    rows = []
    for routing, entry in names.items():
        answer = comparison.answers[routing]
        predicted, drawing = int(answer.predicted[0]), comparison.drawings[routing]
        verdict = "" if label is None else (" ✓" if predicted == label else f" ✗ ({classes[label]})")
        rows.append(
            {
                "Method": ROUTING_TITLES[routing],
                "Predicted": classes[predicted] + verdict,
                "Length ‖v‖ (EM: activation)": float(answer.activations[0, predicted]),
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
            "Length ‖v‖ (EM: activation)": st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.3f"),
            "MSE": st.column_config.NumberColumn(format="%.4f"),
            "SSIM": st.column_config.NumberColumn(format="%.3f"),
            "Test error": st.column_config.NumberColumn(format="%.2f %%"),
        },
    )


def captions(comparison: Comparison, classes: tuple[str, ...], current: Scene) -> dict[str, str]:
    """What stands under each picture."""
    label = current.picture.label
    lines = {"input": "no label" if label is None else f"labelled {current.entry.classes[label]}"}
    for routing, answer in comparison.answers.items():
        predicted, drawing = int(answer.predicted[0]), comparison.drawings[routing]
        lines[routing] = (
            f"<b>{classes[predicted]}</b>, length {float(answer.activations[0, predicted]):.2f}<br>"
            f"MSE {float(drawing.mse[0]):.4f}, SSIM {float(drawing.ssim[0]):.2f}"
        )
    return lines


def without_decoder(current: Scene) -> tuple[Entry, Entry] | None:
    """An L2 model trained without decoder and the DR model of one data set: the chosen one's, else the digits'."""
    entries = resources.entries().values()
    for kind in dict.fromkeys((current.entry.data, "digits")):
        fc = [e for e in entries if e.data == kind and e.routing == "l2" and not e.config.decoder]
        dr = [e for e in entries if e.data == kind and e.routing == "dr" and e.config.decoder]
        if fc and dr and data.available(kind):
            return fc[0], dr[0]
    return None


def drawn_wrong(current: Scene) -> None:
    """Seed 003, Figure 2 (c), from the models here."""
    st.subheader("Classified right, drawn wrong", anchor=False)
    pair = without_decoder(current)
    if pair is None:
        st.info(
            "This needs an L2 model trained without decoder: `capsviz train --data digits --routing l2 --no-decoder`."
        )
        return
    fc, dr = pair
    whole = resources.redrawing(fc.name, dr.name, fc.data, SEARCHED)
    seen, right, wrong = whole.counts
    examples, own = resources.redrawn_examples(fc.name, dr.name, fc.data, SEARCHED, EXAMPLES)
    layout.say(
        f"<b>{fc.name}</b> was trained without a decoder. Of the first {seen} "
        f"{images.title_of(fc.data)} test images it reads {right} right; drawn by the decoder of <b>{dr.name}</b>, "
        f"which never met its capsules, <b>{wrong}</b> of those look like another "
        "class (framed): a capsule can be right without being drawable."
    )
    texts = [
        f"read as {fc.classes[read]}, its drawing reads as {fc.classes[again]}"
        for read, again in zip(examples.predicted.tolist(), examples.reread.tolist(), strict=True)
    ]
    figure = fc_decoded_wrong(
        examples.images,
        own.reconstruction,
        examples.drawn,
        texts=texts,
        dark=current.dark,
        wrong=examples.right_but_redrawn_wrong.tolist(),
    )
    layout.show(figure, "drawn-wrong")


current = scene.current()
names = methods(current)
comparison = resources.comparison(tuple((routing, entry.name) for routing, entry in names.items()), current.picture.key)
first = next(iter(names.values()))
classes = first.classes

layout.headline(
    "Compare",
    "One image, four ways to route it, each drawn from its longest capsule: <b>blue</b> is missing, <b>orange</b> new.",
)
layout.note(current.sibling("dr", decoder=True)[1] if first.data != current.entry.data else "")
layout.strip(current.trace(current.entry), "reconstruction", current.dark)
drawings = {routing: drawing.reconstruction[0] for routing, drawing in comparison.drawings.items()}
layout.show(
    reconstruction_grid(
        comparison.images[0], drawings, dark=current.dark, captions=captions(comparison, classes, current)
    ),
    "reconstructions",
)
table(names, comparison, classes, current.picture.label if classes == current.entry.classes else None)
if missing := [ROUTING_TITLES[routing] for routing in ORDER if routing not in names]:
    st.caption(f"Not in pretrained/ for {images.title_of(first.data)} yet: {', '.join(missing)}.")
drawn_wrong(current)

layout.explain(
    "MSE is the mean over pixels of the squared difference, SSIM compares local means, contrasts and structure (window "
    "of 11 pixels; 1 is identical). All decoders have the same layers; they differ in the capsules that they learned "
    "to draw. In the lower figure the decoder of dynamic routing draws capsules of an L2 network that was trained for "
    "classification only: (a) inputs, (b) dynamic routing's own reconstructions, (c) the L2 capsules drawn.",
    r"\mathrm{MSE}=\tfrac1P\sum_p(\hat x_p-x_p)^2,\qquad "
    r"\mathrm{SSIM}=\frac{(2\mu_x\mu_{\hat x}+c_1)(2\sigma_{x\hat x}+c_2)}"
    r"{(\mu_x^2+\mu_{\hat x}^2+c_1)(\sigma_x^2+\sigma_{\hat x}^2+c_2)}",
    "seed 003, Figure 2 and section IV-B; Wang et al., *Image Quality Assessment*, 2004.",
)
