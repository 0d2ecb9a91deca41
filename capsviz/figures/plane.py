"""The plane, or space of three dimensions, in which votes and poses of 16 are looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from sklearn.decomposition import PCA

from capsviz.figures.errors import FigureError


@dataclass(frozen=True)
class Plane:
    """Orthonormal axes, two unless more were asked for, through the mean of the points that they were fitted to."""

    mean: Float[ndarray, " dim"]
    axes: Float[ndarray, "seen dim"]
    explained: Float[ndarray, " seen"]
    """Share of the points' variance along each axis."""

    def project(self, points: Float[ndarray, "*batch dim"]) -> Float[ndarray, "*batch seen"]:
        """Points of the pose space as seen in the plane."""
        return (points - self.mean) @ self.axes.T

    def covariance(self, variances: Float[ndarray, "*batch dim"]) -> Float[ndarray, "*batch seen seen"]:
        """Covariance in the plane of a Gaussian with these variances along the pose's own axes: A diag(σ²) Aᵀ.

        Exact: a linear image of a Gaussian is a Gaussian, here with correlated axes.
        """
        return (self.axes * variances[..., None, :]) @ self.axes.T


def fit_plane(*points: Float[ndarray, "_ dim"], seen: int = 2) -> Plane:
    """Fit the plane of largest variance to all points at once (scikit-learn PCA).

    Give it the votes and the poses of every iteration: what moves must move, and what stands still must stay. seen: how
    many axes. Raises FigureError where the points have fewer than two dimensions.
    """
    everything = np.concatenate([np.asarray(part, dtype=np.float64) for part in points])
    if everything.shape[1] < 2 or len(everything) < 2:
        raise FigureError(
            "A plane needs at least two points of two dimensions; use a model with longer class capsules."
        )
    if np.ptp(everything, axis=0).max() == 0:
        # All points coincide: any plane shows them as one, and no variance is there to be explained.
        return Plane(everything[0], np.eye(seen, everything.shape[1]), np.zeros(seen))
    there = min(seen, *everything.shape)
    fitted = PCA(n_components=there, svd_solver="full").fit(everything)
    # Where there are fewer directions than axes, nothing lies along the others.
    axes = np.pad(fitted.components_, ((0, seen - there), (0, 0)))
    return Plane(fitted.mean_, axes, np.pad(fitted.explained_variance_ratio_, (0, seen - there)))
