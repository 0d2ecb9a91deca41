"""The dynamic routing player draws what the trace recorded."""

from __future__ import annotations

import json

import numpy as np
import pytest

from capsviz.figures import (
    FigureError,
    describe,
    panels,
    routing_player,
)
from capsviz.figures.dynamic import describe_player
from capsviz.figures.geometry import Geometry
from capsviz.figures.plane import fit_plane

from .conftest import record

IMAGE, UPPER = 1, 4


@pytest.fixture(scope="module")
def player(dr):
    return routing_player(dr, image=IMAGE, upper=UPPER)


def frame_data(figure, step):
    return figure.frames[step].data


def test_there_is_one_frame_per_iteration_and_one_slider_step_per_frame(player, dr):
    names = [str(number) for number in range(1, dr.layer.iterations + 1)]
    assert [frame.name for frame in player.frames] == names
    assert [step.args[0][0] for step in player.layout.sliders[0].steps] == names
    assert [button.label for button in player.layout.updatemenus[0].buttons] == ["▶ Play", "Slow", "❚❚ Pause"]


def test_the_couplings_drawn_are_those_of_the_trace(player, dr):
    grid = Geometry(*dr.grid)
    for step, frame in enumerate(player.frames):
        drawn = np.array(frame.data[0].z)
        recorded = dr.layer["couplings"][step, IMAGE].numpy()
        assert drawn.shape == (len(dr.classes), grid.lower)
        for column, capsule in enumerate(grid.by_type.tolist()):
            assert player.data[0].x[column] == grid.label(capsule)
            np.testing.assert_allclose(drawn[:, column], recorded[capsule], atol=5.1e-5)


def test_the_first_frame_is_maximum_confusion(player):
    share = 1 / 10
    assert np.allclose(player.frames[0].data[0].z, share)
    assert np.allclose(player.data[0].z, share)
    assert "maximum confusion" in player.frames[0].layout.annotations[0].text
    assert "1/10 = 0.100" in player.layout.annotations[0].text
    assert "maximum confusion" not in player.frames[1].layout.annotations[0].text


def test_points_are_the_votes_sized_by_coupling_and_coloured_by_agreement(player, dr):
    layer = dr.layer
    votes, poses = layer.votes[IMAGE, :, UPPER].double().numpy(), layer["poses"][:, IMAGE, UPPER].double().numpy()
    plane = fit_plane(votes, poses)
    np.testing.assert_allclose(np.stack([player.data[1].x, player.data[1].y], 1), plane.project(votes), atol=1e-4)
    for step, frame in enumerate(player.frames):
        marker = frame.data[1].marker
        np.testing.assert_allclose(marker.size, layer["couplings"][step, IMAGE, :, UPPER], atol=5.1e-5)
        np.testing.assert_allclose(marker.color, layer["agreement"][step, IMAGE, :, UPPER], atol=5.1e-5)
    assert list(player.data[1].customdata) == list(range(votes.shape[0]))


def test_one_plane_serves_all_iterations(player):
    """Votes stand still: no frame moves a point, only the arrow moves, within axes that no frame touches."""
    for frame in player.frames:
        assert frame.data[1].x is None
        assert list(frame.layout.to_plotly_json()) == ["annotations"]
    assert "% of variance" in player.layout.xaxis2.title.text
    assert "% of variance" in player.layout.yaxis2.title.text


def test_the_arrow_runs_from_the_origin_to_v(player, dr):
    votes, poses = dr.layer.votes[IMAGE, :, UPPER].numpy(), dr.layer["poses"][:, IMAGE, UPPER].numpy()
    plane = fit_plane(votes, poses)
    for step, frame in enumerate(player.frames):
        ends = np.stack([frame.data[3].x, frame.data[3].y], 1)
        np.testing.assert_allclose(ends, [plane.project(np.zeros(16)), plane.project(poses[step])], atol=1e-4)
        assert len(frame.data[2].x or ()) == step


def test_bars_are_the_lengths_in_class_order(player, dr):
    assert tuple(player.data[4].y) == dr.classes
    assert tuple(player.layout.xaxis3.range) == (0, 1)
    for step, frame in enumerate(player.frames):
        np.testing.assert_allclose(frame.data[4].x, dr.layer["activations"][step, IMAGE], atol=5.1e-5)


def test_hover_names_capsule_place_and_number(player):
    assert player.data[1].text[9] == "capsule 9: row 0 column 1 type 1"
    assert "c = %{marker.size" in player.data[1].hovertemplate
    assert "%{x}" in player.data[0].hovertemplate
    assert "c = %{z" in player.data[0].hovertemplate


@pytest.mark.parametrize(("iterations", "limit"), [(3, 2_000_000), (10, 5_000_000)])
def test_the_page_stays_small_with_1152_capsules(iterations, limit):
    recorded = record("dr", name="compact", iterations=iterations, conv_channels=4, decoder=False)
    assert recorded.config.lower == 1152
    text = routing_player(recorded, upper=0).to_json()
    assert len(text) < limit
    assert len(json.loads(text)["frames"]) == iterations


def test_one_iteration_has_one_frame():
    figure = routing_player(record("dr", iterations=1), upper=0)
    assert len(figure.frames) == 1


def test_the_description_holds_the_numbers(player, dr):
    text = describe(player)
    assert "4 iterations" in text
    assert f"{dr.layer['couplings'][-1, IMAGE].max():.2f}" in text
    assert f"{dr.layer['activations'][-1, IMAGE, UPPER]:.2f}" in text


def test_what_cannot_be_drawn_is_said_in_a_sentence(dr, l2):
    with pytest.raises(FigureError, match="trace a model of Dynamic routing"):
        routing_player(l2, upper=0)
    with pytest.raises(FigureError, match="no class 10; choose one from 0 to 9"):
        routing_player(dr, upper=10)
    with pytest.raises(FigureError, match="votes=True"):
        routing_player(record("dr", votes=False), upper=0)


def test_single_capsules_do_not_drown_the_others():
    """One coupling near 1 among many near 1/J: the colours are made for the many, and the scale says so."""
    shares = np.full((2, 1000, 10), 0.1)
    shares[1] += np.random.default_rng(0).normal(size=(1000, 10)) * 0.01
    shares[1, 0] = [0.91, *[0.01] * 9]
    assert 0.02 < panels.share_reach(shares) < 0.04
    assert panels.share_reach(shares[:1]) == 0.01
    figure = panels.shares_heatmap(shares, Geometry(5, 5, 40), list("0123456789"), axes=1, symbol="c", dark=False)
    assert figure.colorbar.ticktext[2].startswith("≥ 0.1")
    assert figure.zmin + figure.zmax == pytest.approx(2 * 0.1)


def test_the_words_of_the_player_are_its_alt_text(dr):
    assert describe_player(dr, image=1, upper=3) == describe(routing_player(dr, image=1, upper=3))
