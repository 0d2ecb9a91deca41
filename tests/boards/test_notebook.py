"""What a notebook's widget tells the browser, and what it answers; what is missing is said in a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import capsviz
from capsviz import zoo
from capsviz.analysis.perturbation import PerturbError
from capsviz.boards import notebook, pack_weights
from capsviz.boards.message import Message, unpack
from capsviz.boards.theme import theme
from capsviz.errors import CapsvizError
from capsviz.figures.errors import FigureError
from capsviz.routing import InverseTemperature
from capsviz.tracing.layout import TraceError
from capsviz.tracing.trace_set_writer import record
from tests.figures.conftest import digits
from tests.known import known
from tests.programs import printed


def told(widget: Any) -> Message:
    """What the browser is told of the class that is shown."""
    shown = unpack(widget.messages[widget.upper if len(widget.messages) > 1 else 0])
    return Message(shown.fields, {**unpack(widget.shared).arrays, **shown.arrays})


def test_of_many_classes_the_kernel_is_asked_for_each(monkeypatch):
    monkeypatch.setattr(notebook, "TOGETHER", 9)
    trace = capsviz.trace("digits-dr", digits())
    widget = capsviz.show(trace, upper=3)
    assert len(widget.messages) == 1 and told(widget).fields["upper"] == 3
    widget.upper = 7  # as the browser sets it
    assert told(widget).fields["upper"] == 7


def test_a_trace_is_shown_as_its_board_and_has_every_class(dr):
    widget = capsviz.show(dr, image=1, upper=3)
    assert (widget.board, widget.upper) == ("routing-board", 3)
    message, shared = unpack(widget.messages[7]), unpack(widget.shared)
    assert message.fields["upper"] == 7 and len(widget.messages) == widget.count == 10
    assert not message.arrays.keys() & shared.arrays.keys() and shared.arrays
    assert repr(widget).startswith("<The routing of ") and "strongest is class" in repr(widget)
    with pytest.raises(FigureError, match=r"^There is no class 10; choose one from 0 to 9\.$"):
        widget.upper = 10
    assert widget.upper == 3
    np.testing.assert_allclose(message.arrays["votes"], dr.layer.votes[1, :, 7].flatten().numpy(), rtol=1e-6)


def test_a_board_is_as_the_notebook_unless_it_is_told(dr):
    assert capsviz.show(dr).themes == [theme(False), theme(True)]
    assert capsviz.perturb("digits-dr", digits()[0]).themes == [theme(False), theme(True)]
    for dark in (False, True):
        told_so = capsviz.show(dr, dark=dark)
        assert not told_so.themes and unpack(told_so.shared).fields["theme"] == theme(dark)


def test_of_a_set_one_image_is_shown(tmp_path: Path):
    test = capsviz.data.load("digits", "test")
    traces = record(capsviz.load("digits-dr"), test, tmp_path, name="digits-dr", count=3, votes=True)
    shown = told(capsviz.show(traces, image=2, upper=3))
    alone = told(capsviz.show(traces[2], upper=3))
    np.testing.assert_array_equal(shown.arrays["votes"], alone.arrays["votes"])
    np.testing.assert_array_equal(shown.arrays["image"], alone.arrays["image"])
    with pytest.raises(IndexError, match="the set has 3 images; there is no image 3"):
        capsviz.show(traces, image=3)


def test_the_model_of_a_trace_adds_what_the_trace_does_not_hold():
    model = capsviz.load("digits-em")
    trace = capsviz.trace(model, digits(), name="digits-em")
    for given in (model, "digits-em"):
        assert "beta_a" in told(capsviz.show(trace, model=given)).arrays
    assert "beta_a" not in told(capsviz.show(trace)).arrays


def test_a_model_that_was_not_recorded_is_refused():
    em = capsviz.trace("digits-em", digits(), iterations=2, inverse_temperature=InverseTemperature(0.5))
    assert "beta_a" in told(capsviz.show(em, model="digits-em")).arrays
    with pytest.raises(TraceError, match="The trace is of digits-em and the model digits-dr is not that one; give the"):
        capsviz.show(em, model="digits-dr")
    with pytest.raises(TraceError, match="The trace is of another network and the model given is not that one"):
        capsviz.show(replace(em, name=""), model=capsviz.load("digits-dr"))
    step = known(zoo.entry("digits-dr").checkpoints).steps[0]
    with pytest.raises(TraceError, match="is of digits-dr and the model digits-dr@"):
        capsviz.show(capsviz.trace("digits-dr", digits()), model=f"digits-dr@{step}")


def test_a_capsule_of_a_pretrained_model_is_moved_every_way():
    image = digits()[0]
    for hand in ("sliders", "cells", "walk"):
        widget = capsviz.perturb("digits-dr", image, hand=hand)
        state = told(widget).fields
        poses = capsviz.trace(capsviz.load("digits-dr"), image[None]).poses[0]
        np.testing.assert_allclose(state["decoders"][0]["poses"], poses.numpy(), atol=1e-6)
        assert state["hand"] == hand and state["state"]["upper"] == int(poses.norm(dim=-1).argmax())
        weights = unpack(widget.first[0]).fields["weights"]
        assert weights["digest"] == state["decoders"][0]["digest"]
        assert weights["exemplars"] == zoo.exemplar_capsules("digits-dr").shape[1]


def test_of_a_model_of_two_objects_the_capsules_of_both_stand_on_the_board():
    image = torch.rand(zoo.entry("multi-mnist-dr-residual").network.image)
    [decoder] = told(capsviz.perturb("multi-mnist-dr-residual", image)).fields["decoders"]
    assert len(decoder["present"]) == 2


def test_a_network_and_its_name_give_capsules_of_one_size():
    """Those of matrix capsules are tens long: an offset of 0.25 would move nothing."""
    model, image = capsviz.load("digits-matrix"), digits()[0]
    poses = [
        np.abs(told(capsviz.perturb(each, image)).fields["decoders"][0]["poses"]).max()
        for each in (model, "digits-matrix")
    ]
    assert max(poses) < 2 * min(poses) and max(poses) < 4
    packed = [unpack(pack_weights(model, poses=poses)) for poses in (None, 64 * torch.ones(10, 16))]
    assert [each.fields["weights"]["unit"] for each in packed] == [1, 256]
    first, second = (each.arrays["numbers"].astype(float) for each in packed)
    inputs, units, *_ = packed[0].fields["weights"]["widths"]
    np.testing.assert_allclose(second[: inputs * units], 256 * first[: inputs * units], rtol=1e-2)
    np.testing.assert_allclose(second[inputs * units :], first[inputs * units :], rtol=1e-2)


def test_a_network_without_exemplars_has_sliders_alone():
    model = capsviz.load("digits-l2")
    assert told(capsviz.perturb(model, digits()[0], upper=4)).fields["state"]["upper"] == 4
    with pytest.raises(PerturbError, match="exemplars per class, which walk needs"):
        capsviz.perturb(model, digits()[0], hand="walk")
    with pytest.raises(PerturbError, match="without a decoder"):
        capsviz.perturb(capsviz.load("digits-l2-fc"), torch.zeros(1, 28, 28))


@pytest.mark.long
@pytest.mark.parametrize("absent", ["anywidget", "plotly"])
def test_capsviz_imports_without_what_shows_boards_and_says_what_to_install(absent: str, dr, tmp_path: Path):
    dr.save(tmp_path / "trace.safetensors")
    script = (
        "import sys\n"
        f"for name in ('anywidget', 'plotly', 'streamlit') if {absent!r} == 'plotly' else ('anywidget',):\n"
        "    sys.modules[name] = None\n"
        "import capsviz\n"
        f"trace = capsviz.Trace.open({str(tmp_path / 'trace.safetensors')!r})\n"
        "try:\n"
        "    capsviz.show(trace)\n"
        "except capsviz.CapsvizError as error:\n"
        "    print(error)\n"
    )
    assert printed(script) == f'A board in a notebook needs {absent}; run `pip install "capsviz[notebook]"`.\n'


def test_a_failure_of_its_own_is_no_missing_package():
    with pytest.raises(ModuleNotFoundError), capsviz.errors.needed("notebook", "A board"):
        raise ModuleNotFoundError(name="capsviz.nothing")
    with pytest.raises(CapsvizError, match="A board needs plotly"), capsviz.errors.needed("notebook", "A board"):
        raise ModuleNotFoundError(name="plotly.graph_objects")
