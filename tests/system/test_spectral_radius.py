"""The fastest rate is found among many slower ones, in as few products as it takes."""

import numpy as np
import pytest

from blocks.system.problem import spectral_radius


def rate_and_products(diagonal):
    products = []

    def product(v):
        products.append(1)
        return diagonal * v

    return spectral_radius(product, len(diagonal)), len(products)


def test_where_all_rates_are_alike_a_few_products_tell_them():
    rate, products = rate_and_products(np.full(1000, 7.0))
    assert rate == pytest.approx(7.0, rel=1e-12)
    assert products < 12


@pytest.mark.parametrize("faster", [2.0, 3.0, 1e6])
def test_one_faster_rate_among_a_hundred_thousand_is_not_missed(faster):
    diagonal = np.ones(100_000)
    diagonal[12_345] = faster
    assert rate_and_products(diagonal)[0] == pytest.approx(faster, rel=0.05)


def test_rates_that_turn_go_on_growing_unalike_and_are_told_by_their_mean():
    diagonal = np.array([2.0, -1.9, 0.1])
    assert rate_and_products(diagonal)[0] == pytest.approx(2.0, rel=0.05)


def test_what_stands_still_has_no_rate_and_what_is_not_finite_no_bound():
    assert rate_and_products(np.zeros(3))[0] == 0
    assert rate_and_products(np.array([1.0, np.nan]))[0] == np.inf
