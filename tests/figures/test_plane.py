"""The plane that votes and poses are looked at in."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from capsviz.figures.errors import FigureError
from capsviz.figures.plane import fit_plane


@pytest.fixture
def cloud():
    random = np.random.default_rng(3)
    return random.normal(size=(200, 16)) * np.linspace(0.1, 1, 16), random.normal(size=(4, 16))


def test_the_plane_is_the_pca_of_votes_and_poses_together(cloud):
    votes, poses = cloud
    plane = fit_plane(votes, poses)
    fitted = PCA(n_components=2, svd_solver="full").fit(np.concatenate([votes, poses]))
    np.testing.assert_allclose(plane.project(votes), fitted.transform(votes), atol=1e-12)
    np.testing.assert_allclose(plane.explained, fitted.explained_variance_ratio_)
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)


def test_the_projected_covariance_is_exact(cloud):
    votes, poses = cloud
    plane = fit_plane(votes, poses)
    variances = np.linspace(0.01, 0.4, 16)
    expected = plane.axes @ np.diag(variances) @ plane.axes.T
    np.testing.assert_allclose(plane.covariance(variances), expected, atol=1e-14)


def test_votes_that_coincide_still_have_a_plane():
    plane = fit_plane(np.ones((5, 16)), np.ones((2, 16)))
    assert not plane.project(np.ones((5, 16))).any()
    assert plane.explained.tolist() == [0, 0]


def test_one_dimension_is_no_plane():
    with pytest.raises(FigureError, match="two dimensions"):
        fit_plane(np.zeros((5, 1)))
