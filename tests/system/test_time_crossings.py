"""Instants at which functions of time cross zero, against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.numerics.arrays import distinct
from blocks.system.time_crossings import crossings_of_time


def found(functions, looks, known=()):
    return distinct(np.concatenate(list(crossings_of_time(
        lambda t: np.array([f(t) for f in functions]), looks, np.array(known, dtype=float), 0.0))))


def test_crossings_are_found_to_the_last_bits_wherever_parts_of_the_looks_end():
    looks = np.array_split(np.linspace(0.1, 100.0, 1001), 7)
    assert_allclose(found([np.sin], looks), np.pi * np.arange(1, 32), rtol=4e-16)


@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-12])
def test_what_comes_below_zero_between_looks_only_is_found(depth):
    # sin t < depth - 1 about 3 pi / 2 and every 2 pi after it; the looks are 0.1 s apart
    looks = [np.linspace(0.0, 50.0, 501)]
    away = np.arccos(1 - depth)
    lowest = 3 * np.pi / 2 + 2 * np.pi * np.arange(8)
    at = found([lambda t: np.sin(t) + 1 - depth], looks)
    assert_allclose(at, np.sort([lowest - away, lowest + away], axis=None), atol=1e-15 / away)


def test_what_dips_at_the_border_of_two_pieces_is_found_though_one_look_is_hardly_away():
    border = 10.0
    looks = [np.concatenate([np.arange(0.0, 10.0), border + np.array([-1e-6, 1e-6]),
                             np.arange(11.0, 20.0)])]
    for centre in border + np.linspace(-0.6, 0.6, 49):
        at = found([lambda t, c=centre: (t - c) ** 2 - 1e-6], looks)
        assert_allclose(at, centre + np.array([-1e-3, 1e-3]), rtol=1e-12)


def test_what_a_known_instant_announces_is_left_out():
    step = found([lambda t: t - np.floor(t) - 0.5], [np.linspace(0.05, 3.95, 40)], [1.0, 2.0, 3.0])
    assert_allclose(step, [0.5, 1.5, 2.5, 3.5], rtol=4e-16)


def test_equal_functions_are_searched_as_one():
    def effort(count):
        evaluated = []

        def values(t):
            evaluated.append(count * len(t))
            return np.tile(np.sin(t), (count, 1))

        (part,) = crossings_of_time(values, [np.linspace(0.1, 100.0, 1001)], np.zeros(0), 0.0)
        assert len(part) == 31
        return sum(evaluated)

    assert effort(64) == 64 * effort(1)
