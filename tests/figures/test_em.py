"""The EM player draws the Gaussians that routing fitted."""

from __future__ import annotations

import re

import numpy as np
import pytest

from capsviz.figures import FigureError, describe, em_curves, em_player
from capsviz.figures.em import describe_player
from capsviz.figures.flow import type_flow
from capsviz.figures.geometry import Geometry
from capsviz.figures.plane import fit_plane

from .conftest import record

IMAGE, UPPER = 2, 3


@pytest.fixture(scope="module")
def player(em):
    return em_player(em, image=IMAGE, upper=UPPER)


@pytest.fixture(scope="module")
def plane(em):
    return fit_plane(
        em.layer.votes[IMAGE, :, UPPER].double().numpy(), em.layer["means"][:, IMAGE, UPPER].double().numpy()
    )


def test_there_is_one_frame_per_iteration(player, em):
    assert [frame.name for frame in player.frames] == ["1", "2", "3"]
    assert len(player.layout.sliders[0].steps) == em.layer.iterations


def test_outlines_are_the_gaussian_projected_exactly(player, em, plane):
    for step, frame in enumerate(player.frames):
        centre = plane.project(em.layer["means"][step, IMAGE, UPPER].double().numpy())
        covariance = plane.axes @ np.diag(em.layer["variances"][step, IMAGE, UPPER].double().numpy()) @ plane.axes.T
        for trace, sigmas in ((frame.data[3], 1), (frame.data[2], 2)):
            away = np.stack([trace.x, trace.y], 1) - centre
            distance = np.sqrt(np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away))
            np.testing.assert_allclose(distance, sigmas, rtol=0.01)
            reach = np.abs(away).max(axis=0)
            np.testing.assert_allclose(reach, sigmas * np.sqrt(np.diag(covariance)), rtol=0.01)
        np.testing.assert_allclose([frame.data[4].x[0], frame.data[4].y[0]], centre, atol=1e-4)


def test_one_plane_serves_all_iterations(player):
    assert all(
        frame.data[1].x is None and list(frame.layout.to_plotly_json()) == ["annotations"] for frame in player.frames
    )
    assert "% of variance" in player.layout.xaxis2.title.text


def test_responsibilities_activations_and_cost_are_those_of_the_trace(player, em):
    grid, layer = Geometry(*em.grid), em.layer
    for step, frame in enumerate(player.frames):
        shares = layer["responsibilities"][step, IMAGE].numpy()
        np.testing.assert_allclose(np.array(frame.data[0].z).T, shares[grid.by_type], atol=5.1e-5)
        np.testing.assert_allclose(frame.data[1].marker.size, shares[:, UPPER], atol=5.1e-5)
        np.testing.assert_allclose(frame.data[1].marker.color, shares[:, UPPER], atol=5.1e-5)
        np.testing.assert_allclose(frame.data[5].x, layer["activations"][step, IMAGE], atol=5.1e-5)
        np.testing.assert_allclose(frame.data[6].x, layer["cost"][step, IMAGE].sum(-1), atol=1e-3)


def test_votes_outside_the_picture_are_counted_and_not_claimed(player, em):
    places = np.stack([player.data[1].x, player.data[1].y], 1)
    inside = np.ones(len(places), dtype=bool)
    for axis, name in enumerate(("xaxis2", "yaxis2")):
        low, high = player.layout[name].range
        inside &= (places[:, axis] >= low) & (places[:, axis] <= high)
    claimed = (em.layer["responsibilities"][:, IMAGE, :, UPPER] > 0.15).any(0).numpy()
    assert inside[claimed].all()
    told = re.search(r"(\d+) far votes outside", " ".join(note.text for note in player.layout.annotations))
    assert (~inside).sum() <= int(told.group(1) if told else 0)


def test_lambda_of_each_iteration_is_written(player, em):
    for step, frame in enumerate(player.frames):
        assert f"λ = {float(em.layer['inverse_temperature'][step]):.3g}" in frame.layout.annotations[0].text


def test_the_description_holds_the_numbers(player, em):
    assert f"{em.layer['activations'][-1, IMAGE, UPPER]:.2f}" in describe(player)
    assert f"{em.layer['variances'][-1, IMAGE, UPPER].sqrt().mean():.3f}" in describe(player)


def test_ten_iterations_with_1152_capsules_stay_small():
    recorded = record("em", name="compact", iterations=10, conv_channels=4, decoder=False)
    assert recorded.config.lower == 1152
    assert len(em_player(recorded, upper=0).to_json()) < 5_000_000


def test_what_cannot_be_drawn_is_said_in_a_sentence(dr):
    with pytest.raises(FigureError, match="trace a model of EM routing"):
        em_player(dr, upper=0)


def test_a_layer_of_a_matrix_network_is_drawn_by_itself():
    """At one position: capsules of every type, their window below them, the Gaussians that the layer fitted."""
    whole = record("em", name="matrix-tiny", votes="all")
    for layer, position in ((0, 12), (1, 4), (2, 0)):
        view = whole.at(layer, position)
        figure = em_player(view, image=IMAGE, upper=1)
        shares = view.layer["responsibilities"][0, IMAGE, :, 1].numpy()
        np.testing.assert_allclose(figure.frames[0].data[1].marker.size, shares, atol=5.1e-5)
        assert len(shares) == 9 * 4
        called = "class 1" if layer == 2 else "type 1"
        assert f"the Gaussian of {called} goes" in describe(figure)
        assert f"Votes for {called}: " in str(figure.frames[-1].layout.annotations)
        assert called in type_flow(view, image=IMAGE).data[0].node.label
        assert len(em_curves(view, image=IMAGE, upper=1).data) == 3 * 16
    assert "2 convolutional layers" in describe(whole)


def test_the_words_of_the_player_are_its_alt_text(em):
    assert describe_player(em, image=1, upper=3) == describe(em_player(em, image=1, upper=3))
