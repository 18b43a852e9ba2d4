"""A start is found for each of several parts that nothing connects, as it is for one alone."""

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import Component, Domain, Model, Parameter, Port, Variable, quantity, sqrt, where

GAS = Domain("gas", across={"p": "Pa", "T": "K"}, through={"m": "kg/s", "H": "W"},
             typical={"p": "1e5 Pa", "T": "300 K"}, power=lambda port: port.H)
R = 287.0


class Reservoir(Component):
    A = Port(GAS)
    p, T = Parameter("1e5 Pa"), Parameter("300 K")

    def equations(self):
        yield self.A.p == self.p
        yield self.A.T == self.T


class Orifice(Component):
    """Mass flow by the mean density, and what it carries."""

    A, B = Port(GAS), Port(GAS)
    m = Variable("kg/s", nominal="1e-3 kg/s")

    def equations(self):
        a, b = self.A, self.B
        density = (a.p / a.T + b.p / b.T) / quantity(2 * R, "J/(kg*K)")
        drop = a.p - b.p
        yield self.m == quantity("7e-6 m^2") * sqrt(2 * density) * drop / (
            drop**2 + quantity("10 Pa") ** 2) ** 0.25
        yield a.m == self.m
        yield b.m == -self.m
        yield self.m * quantity("1005 J/(kg*K)") * where(self.m > 0, a.T, b.T, events=False) == a.H
        yield b.H == -a.H


def flow_by_hand(p_a, p_b, temp_a, temp_b):
    """Through both orifices; what is between has the temperature of where the gas comes from."""
    temp = temp_a if p_a > p_b else temp_b

    def flow(p, t, other, t_other):
        drop = p - other
        return 7e-6 * np.sqrt((p / t + other / t_other) / R) * drop / (drop**2 + 100) ** 0.25

    between = brentq(lambda p: flow(p_a, temp_a, p, temp) - flow(p, temp, p_b, temp_b),
                     min(p_a, p_b), max(p_a, p_b), xtol=1e-6)
    return flow(p_a, temp_a, between, temp)


@pytest.mark.parametrize(("seed", "pairs"), [(3, 3), (4, 3), (1, 4), (5, 8)])
def test_orifices_in_pairs_start_however_many_stand_beside_them(seed, pairs):
    rng = np.random.default_rng(seed)
    p_a, temp_a, p_b, temp_b = (
        first + size * rng.random(pairs) for first, size in ((1e5, 3e5), (280, 100)) * 2)
    model = Model("pairs")
    for name, p, temp in (("left", p_a, temp_a), ("right", p_b, temp_b)):
        model.add(name, Reservoir(count=pairs, p=quantity(p, "Pa"), T=quantity(temp, "K")))
    wire(model, "left.A one.A", "one.B other.A", "other.B right.A",
         one=Orifice(count=pairs), other=Orifice(count=pairs))
    found = model.stepper()["one.m"].to("kg/s").m
    assert_allclose(found, list(map(flow_by_hand, p_a, p_b, temp_a, temp_b)), rtol=1e-6)

