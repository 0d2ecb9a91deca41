"""What a page has on demand: figures and sentences in a folded panel, made only while it is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from plotly.graph_objects import Figure

from app.page import layout, takeaway
from app.page.widgets import chosen
from app.scene import Scene


@dataclass(frozen=True)
class Detail:
    """A figure that is made when it is shown or taken away.

    key: its own on the page. title, said: above it, where it needs any. called: its `name`, the title unless given.
    """

    key: str
    made: Callable[[], Figure]
    title: str = ""
    said: str = ""
    called: str = ""

    @property
    def name(self) -> str:
        """What it is called where it can be taken away."""
        return self.called or self.title

    def show(self) -> None:
        """The figure below its title, as one panel."""
        with st.container(key=f"{self.key}-detail"):
            if self.title:
                st.subheader(self.title, anchor=False)
            if self.said:
                st.markdown(self.said)
            with layout.errors_as_sentences():
                layout.show(self.made(), self.key, self.name)


Part = str | Detail | tuple[Detail, ...]
"""A paragraph in Markdown, a figure, or figures beside one another."""


def details(current: Scene, *parts: Part) -> None:
    """The panel at the end of a page; folded, it offers its figures to be taken away, and presented it is not there."""
    opened = current.choices.details
    if not opened:
        for figure in (each for part in parts for each in _figures(part)):
            takeaway.offer(figure.key, figure.made, figure.name)
        if current.choices.present:
            return
    panel = chosen(st.expander, "Details", "details", opened, icon=":material/table_rows:")
    if opened:
        with panel:
            for part in parts:
                _show(part)


def _figures(part: Part) -> tuple[Detail, ...]:
    if isinstance(part, str):
        return ()
    return (part,) if isinstance(part, Detail) else part


def _show(part: Part) -> None:
    if isinstance(part, str):
        st.markdown(part)
        return
    figures = _figures(part)
    for column, figure in zip(st.columns(len(figures)), figures, strict=True):
        with column:
            figure.show()
