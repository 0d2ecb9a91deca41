"""A network with several EM layers offers a choice of layer; others do not."""

from __future__ import annotations

import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from app.page import layout
from app.state.choices import Choices
from capsviz.network import CapsNet, preset
from capsviz.tracing.recorder import trace as record


def page(name: str, layer: int | None, position: int | None) -> None:
    """The picker alone, over an untrained network's trace."""
    from tests.app.page.test_layer_picker import shown

    shown(name, layer, position)


def shown(name: str, layer: int | None, position: int | None) -> None:
    """Draw the picker and write down what it chose."""
    torch.manual_seed(0)
    whole = record(CapsNet(preset(name, "digits", "em", decoder=False)).eval(), torch.rand(1, 1, 28, 28))
    scene = type("Scene", (), {"choices": Choices("mnist-matrix", layer=layer, position=position)})()
    view = layout.layer_picker(scene, whole)
    st.text(f"{view.classes[0]} {view.layer.lower_grid} {view is whole}")


def run(*args: object) -> AppTest:
    return AppTest.from_function(page, args=args, default_timeout=60).run()


def test_every_layer_and_position_of_a_stack_can_be_chosen():
    app = run("matrix-tiny", None, None)
    assert not app.exception
    assert app.segmented_control[0].options == ["Convolutional layer 1", "Convolutional layer 2", "Class capsules"]
    assert app.text[0].value == "0 (3, 3, 4) False" and not app.selectbox
    app = run("matrix-tiny", 1, None)
    assert app.text[0].value == "type 0 (3, 3, 4) False"
    assert app.selectbox[0].value == 4, "the middle of 3 × 3"


def test_a_network_of_one_routed_layer_is_shown_without_a_choice():
    app = run("tiny", 1, 3)
    assert not app.exception and not app.segmented_control and app.text[0].value.endswith("True")
