"""Curves of solutions, followed around their folds."""

from itertools import islice

import numpy as np
from numpy.testing import assert_allclose

from blocks.numerics.continuation import curve


def test_a_circle_is_followed_around():
    def residual(point):
        return np.array([point @ point - 1.0])

    def jacobian(point):
        return 2 * point[None, :]

    points = np.array([p for p, _ in islice(
        curve(residual, jacobian, np.array([1.0, 0.0]), np.array([0.0, 1.0])), 400)])
    assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-9)
    turned = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    assert np.all(np.diff(turned) > 0)
    assert turned[-1] > 2 * np.pi


def test_a_curve_that_ends_is_followed_no_further():
    def residual(point):
        return np.array([point[0] - np.sqrt(1.0 - point[1])])

    def jacobian(point):
        return np.array([[1.0, 0.5 / np.sqrt(1.0 - point[1])]])

    with np.errstate(invalid="ignore", divide="ignore"):
        points = [p for p, _ in curve(residual, jacobian, np.array([1.0, 0.0]),
                                      np.array([0.0, 1.0]))]
    assert_allclose(points[-1], [0.0, 1.0], atol=1e-3)
