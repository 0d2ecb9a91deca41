"""Compare: the same images through every method, over one image or over the whole test set."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.comparing import confusions, distributions, drawn_wrong, many_images, this_image
from app.page import layout, takeaway
from app.page.text import plain
from app.page.widgets import segments
from app.state import session
from app.state.choices import VIEWS

PAGES = dict(zip(VIEWS, (this_image, many_images, distributions, confusions, drawn_wrong), strict=True))
TITLES = dict(zip(VIEWS, ("This image", "Many images", "Distributions", "Confusions", "Drawn wrong"), strict=True))

current = scene.current()
view = current.choices.view
layout.headline("Compare", PAGES[view].HEADLINE)
views = st.container(horizontal=True, vertical_alignment="center", key="views")
with views:
    segments("View", "view", view, TITLES, bare=True)
layout.strip(
    current.trace(current.entry),
    current.entry,
    PAGES[view].SUBJECT,
    current.dark,
    shown=not (current.choices.present and PAGES[view] is drawn_wrong),  # whose pictures take the whole screen
)
if view != VIEWS[0]:
    takeaway.of_many()
    # Presented, figures of a whole test set take the room of a sentence on the image's network.
    layout.note("" if current.choices.present else layout.untouched(current, current.entry))
with layout.errors_as_sentences():
    PAGES[view].show(current)
    if view == VIEWS[0] and (contested := this_image.contested(current)) is not None:
        agreed = this_image.agreed(current)  # known now that it is shown
        # A button, as a page's link to itself leaves the browser's address as it is.
        views.button(
            f"All name it {plain(agreed)}: see one about which they disagree"
            if agreed
            else "An image about which they disagree",
            icon=":material/alt_route:",
            key="contested",
            on_click=lambda: session.update(scene.choices(), source="data", split="test", only=None, image=contested),
        )

layout.explain(
    "MSE is the mean over pixels of the squared difference, SSIM compares local means, contrasts and structure (window "
    "of 11 pixels; 1 is identical). Decoders of one preset have the same layers; they differ in the capsules that they "
    "learned to draw. Figures over the test set come from `capsviz zoo measure`, which runs every model over it once "
    "and keeps per image the class named, MSE, SSIM, the class capsule, and the class that its drawing is read as. /FC "
    "marks models trained for classification only; their capsules are drawn by the decoder of dynamic routing.",
    r"\mathrm{MSE}=\tfrac1P\sum_p(\hat x_p-x_p)^2,\qquad "
    r"\mathrm{SSIM}=\frac{(2\mu_x\mu_{\hat x}+c_1)(2\sigma_{x\hat x}+c_2)}"
    r"{(\mu_x^2+\mu_{\hat x}^2+c_1)(\sigma_x^2+\sigma_{\hat x}^2+c_2)}",
    "Yang, Li & Yu 2021, Figure 2 and section IV-B; Wang et al., *Image Quality Assessment*, 2004.",
)
