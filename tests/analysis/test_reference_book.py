"""Rows of the book of operating points and linear models beside its main cases."""

import numpy as np
import pytest
from benches import wire, wired
from benches.analysis import assert_poles, block, chain, oscillator, stribeck
from scipy.optimize import brentq

from blocks import Component, Variable, abs_, der, quantity, sqrt
from blocks.analysis import free
from blocks.exceptions import ParameterError
from library.translational import Damper, Reference, Spring, TranslationalFriction
from tests.analysis.test_linear_models import motor
from tests.analysis.test_operating_points import Crank, SnapThrough, carried


def test_chain_between_two_walls():
    """Poles of s^2 + (c/k) w^2 s + w^2 with w = 2 sqrt(k/m) sin(j pi / (2 (N + 1)))."""
    n, m, k, c = 5, 2.0, 300.0, 1.5
    model = chain(n)
    wire(model, "last.R drag.R wall.V",
         wall=Reference(), last=Spring(stiffness="300 N/m"), drag=Damper(damping="1.5 N*s/m"))
    model.connect(model.last.C, model.drag.C, getattr(model, f"m{n - 1}").M)
    linear = model.linearise("push.force", "sensor.x")
    w = 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    upper = -c / k * w**2 / 2 + 1j * w * np.sqrt(1 - (c / k * w / 2) ** 2)
    assert_poles(linear.poles(), [*upper, *upper.conj()])
    assert linear.dcgain()[0, 0] == pytest.approx(n / ((n + 1) * k), rel=1e-9)


def test_motor_is_hardest_to_shake_beside_its_zero():
    linear = motor().linearise("source.voltage", "rotor.w")

    def slope(omega, step=1e-3):
        low, high = (abs(linear.response(f"{omega + s!r} rad/s")) ** 2 for s in (-step, step))
        return high - low

    assert brentq(slope, 203.9, 204.1, xtol=1e-7) == pytest.approx(203.983539426, rel=1e-8)


@pytest.mark.parametrize(("border", "inside"), [(0.0005000125007813, 1), (0.2492292157593, -1)])
def test_belt_speeds_at_which_sliding_is_unstable(border, inside):
    """There d + F' is zero: both poles are on the imaginary axis."""
    for side in (1, -1):
        model = oscillator(border * (1 + 1e-7 * side))
        assert model.linearise(at=model.operating_point()).is_stable == (side != inside)


@pytest.mark.parametrize(("law", "poles"), [
    ({"law": "simscape", "breakaway_force": "25 N", "breakaway_velocity": "0.1 m/s",
      "viscous_coefficient": "0 N*s/m"},
     (-0.0480102614458, -2082.888053274)),
    ({"law": "tanh", "band": "1 mm/s"}, (-0.004999876253032, -20000.49500012))],
    ids=["simscape", "tanh"])
def test_regularised_friction_at_rest_is_a_damper(law, poles):
    friction = TranslationalFriction(coulomb_force="20 N", **law)
    assert_poles(oscillator(friction=friction).linearise().poles(), poles)


@pytest.mark.parametrize(("speed", "force"), [(0.01010258483157, 25.05025427189),
                                              (0.1679630610428, 21.97731511135)])
def test_extrema_of_a_friction_curve_are_where_the_pole_is_zero(speed, force):
    model = block(0, stribeck(20, 25, 0.1, 10), v=quantity(speed, "m/s"))
    op = model.operating_point({"block.v": quantity(speed, "m/s"), "push.force": free})
    assert op["push.force"].magnitude == pytest.approx(force, rel=1e-9)
    assert abs(model.linearise(at=op).poles()[0]) < 1e-8


def test_fold_of_a_snap_through_truss():
    y = 0.160198481093
    model = carried(SnapThrough(mass="2 kg", damping="5 N*s/m", x=quantity(y, "m")), 0)
    op = model.operating_point({"part.x": quantity(y, "m"), "push.force": free})
    assert op["push.force"].magnitude == pytest.approx(-256.9538915775, rel=1e-9)
    assert_poles([p for p in model.linearise(at=op).poles() if abs(p) > 1e-6], [-2.5])


def test_largest_torque_of_a_slider_crank():
    """The force bears 60 (t - 0.2) N*m; at the largest torque per force that is 78.6 N*m / 1500 N.
    """
    def torque(angle):
        model = wired("crank", crank=Crank(t=quantity(angle, "rad")))
        op = model.operating_point({"crank.t": quantity(angle, "rad"), "crank.force": free})
        return 1500 * 60 * (angle - 0.2) / op["crank.force"].magnitude

    top = 1.291738068761
    at, below, above = (torque(top + s) for s in (0, -1e-3, 1e-3))
    assert at == pytest.approx(78.60531576672, rel=1e-9)
    assert at > max(below, above) and below == pytest.approx(above, rel=1e-8)


class Tank(Component):
    """It empties through an orifice: the outflow goes with the root of the level."""

    level = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.level) == -quantity("0.1 m^0.5/s") * sqrt(abs_(self.level))


def test_an_orifice_without_level_is_refused_by_name():
    model = wired("basin", tank=Tank())
    with pytest.raises(ParameterError, match=r"tank.*infinite slope"):
        model.linearise()
    model.tank.level = "4 m"
    assert_poles(model.linearise().poles(), [-0.1 / (2 * 2)])
