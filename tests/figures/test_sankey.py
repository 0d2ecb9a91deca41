"""The Sankey diagram gives away exactly what the capsules of each type give."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from capsviz.analysis.metrics import summarise
from capsviz.boards import routing_message
from capsviz.figures import describe
from capsviz.figures.errors import FigureError
from capsviz.figures.sankey import type_flow
from capsviz.figures.theme import class_colour, translucent
from capsviz.network.config import CapsuleLayer
from tests.figures.conftest import record
from tests.known import known


def test_every_class_receives_what_the_couplings_give_it(dr):
    link = type_flow(dr, image=1, iteration=2).data[0].link
    couplings, lengths = dr.layer["couplings"][1, 1], dr.layer.votes[1].norm(dim=-1)
    expected = (couplings * lengths).sum(0)
    sources = len(set(link.source))
    received = [sum(v for v, t in zip(link.value, link.target, strict=True) if t == sources + j) for j in range(10)]
    np.testing.assert_allclose(received, expected.numpy(), rtol=1e-4)


@pytest.mark.parametrize(("types", "classes"), [(3, 10), (14, 40)])
def test_a_link_is_what_the_capsules_of_its_type_give_its_class_in_whose_colour_it_is(types: int, classes: int):
    trace = record("dr", primary_types=types, classes=classes)
    figure = type_flow(trace, image=1)
    node, link = figure.data[0].node, figure.data[0].link
    each = (trace.layer["couplings"][-1, 1] * known(trace.layer.votes)[1].norm(dim=-1)).numpy()
    given = np.stack([each[kind::types].sum(0) for kind in range(types)])
    kinds, uppers = (np.argsort(-given.sum(axis)).tolist() for axis in (1, 0))
    sources, targets = (
        {f"{name} {n}": [n] for n in order[:12]} | {f"{len(order) - 12} other {names}": order[12:]}
        for name, names, order in (("type", "types", kinds), ("class", "classes", uppers))
    )
    expected = {(a, b): given[np.ix_(sources[a], targets[b])].sum() for a in sources for b in targets}
    ends = [(node.label[a], node.label[b]) for a, b in zip(link.source, link.target, strict=True)]
    assert dict(zip(ends, link.value, strict=True)) == pytest.approx({k: v for k, v in expected.items() if v}, rel=1e-4)
    assert link.color == tuple(translucent(class_colour(targets[end][0]), 0.25) for _, end in ends)
    assert all(node.color[b] == class_colour(targets[node.label[b]][0]) for b in link.target)
    most = given[:, uppers[0]]
    words = rf"class {uppers[0]} receives {100 * most.sum() / given.sum():.0f} % of .* from type {most.argmax()}\b"
    assert re.search(words, describe(figure))


def test_under_em_the_owned_activation_flows(em):
    link = type_flow(em, image=0).data[0].link
    owned = em.layer["responsibilities"][-1, 0] * em.primary_activations[0].unsqueeze(-1)
    assert sum(link.value) == pytest.approx(float(owned.sum()), rel=1e-4)


def test_board_flow_and_numbers_show_one_r_and_name_it(em):
    """That of the last M-step, which made the class capsules."""
    image, last = 1, em.layer["responsibilities"][-1, 1]
    flow = type_flow(em, image=image)
    links, sources = flow.data[0].link, len(set(flow.data[0].link.source))
    received = [sum(v for v, t in zip(links.value, links.target, strict=True) if t == sources + j) for j in range(10)]
    staged = routing_message(em, image=image, upper=0).arrays
    on_board = (staged["shares"][-1] * staged["presence"][:, None]).sum(axis=0)
    np.testing.assert_allclose(received, on_board, rtol=1e-4)
    np.testing.assert_array_equal(staged["shares"][-1], last.numpy())
    assert summarise(em, image).largest_share[-1] == pytest.approx(float(last.max()))
    owned = last * em.primary_activations[image].unsqueeze(-1)
    made = torch.einsum("iu,iud->ud", owned, em.layer.votes[image]) / owned.sum(0).unsqueeze(-1)
    torch.testing.assert_close(made, em.layer["means"][-1, image], rtol=1e-3, atol=1e-4)
    assert "R of M-step 3" in flow.layout.annotations[0].text and "R of M-step 3" in describe(flow)


def test_the_flow_of_couplings_says_whose_they_are(dr):
    figure = type_flow(dr, image=0, iteration=2)
    assert figure.layout.annotations[0].text == "Σ c ‖û‖, c of iteration 2"


def test_the_types_of_a_layer_above_the_primary_capsules_are_counted_in_words_as_in_the_picture():
    layers = (CapsuleLayer(6, 3, 2), CapsuleLayer(3, 3, 1))
    trace = record("em", name="matrix-tiny", votes="all", capsule_layers=layers)
    figure = type_flow(trace.at(1))
    assert describe(figure).startswith("Sankey diagram from 6 types of lower capsules to 3 upper ones")


def test_the_flow_and_the_board_of_a_stack_are_those_of_its_last_layer():
    layers = (CapsuleLayer(6, 3, 2), CapsuleLayer(3, 3, 1))
    trace = record("em", name="matrix-tiny", votes="all", capsule_layers=layers)
    assert type_flow(trace) == type_flow(trace.at(-1))
    whole, last = (routing_message(each, image=1, upper=2).arrays for each in (trace, trace.at(-1)))
    np.testing.assert_array_equal(whole["presence"], trace.lower_activations()[1].numpy())
    for name in whole:
        np.testing.assert_array_equal(whole[name], last[name])


def test_discriminative_routing_has_no_such_flow(l2):
    with pytest.raises(FigureError, match="trace a model of"):
        type_flow(l2)
