"""Derivatives of runs of many states, of many frictions, and beside diodes, against exact ones."""

import warnings

import numpy as np
import pytest
from benches import wired
from benches.analysis import derivatives
from benches.friction import dry
from numpy.testing import assert_allclose
from scipy.linalg import expm

import library.electrical as el
import library.isothermal_liquid as il
import library.translational as tr
from blocks import Component, Parameter, Variable, der, quantity, sqrt, where
from blocks.analysis.sensitivity.sensitivities import SensitivityWarning
from blocks.exceptions import ParameterError
from library.signal import Constant, Integrator, Pulse, Sum, TransferFunction, ZeroOrderHold


def test_all_frictions_of_a_long_train_slow_it_down_alike():
    """All slide alike, so that springs stay as they are: v = v0 - F/m t until they stop."""
    n = 500
    model = wired("train", "springs.R masses[1:].M", "springs.C masses[:-1].M",
                  "frictions.R masses.M", "frictions.C ground.V",
                  ground=tr.Reference(), masses=tr.Mass(count=n, v="1 m/s", mass="2 kg"),
                  springs=tr.Spring(count=n - 1, stiffness="50 N/m"), frictions=dry(4, count=n))
    result = model.simulate("0.2 s", sensitivities=["frictions.coulomb_force"])
    for k in (0, n // 2, n - 1):
        found = result.sensitivities[f"masses[{k}].v", "frictions.coulomb_force"]
        assert found.final.to("m/s/N").m == pytest.approx(-0.1, rel=1e-6)


def test_a_ladder_of_many_time_constants_has_the_derivatives_of_its_matrix():
    """Changes obey linear equations, too: exp of both together."""
    n, end = 30, 2e-2
    c = np.logspace(-6, -9, n)
    model = wired("ladder", "source.p r[0].p", "r.n c.p", "r[:-1].n r[1:].p",
                  "c.n source.n ground.V",
                  source=el.DCVoltageSource(voltage="10 V"), ground=el.ElectricalReference(),
                  r=el.Resistor(count=n, resistance="1 kohm"),
                  c=el.Capacitor(count=n, capacitance=quantity(c, "F")))

    def matrix(r0, c0):
        a, g = np.zeros((n + 1, n + 1)), np.full(n, 1e-3)
        g[0] = 1 / r0
        for k in range(n):
            a[k, k - 1 if k else n] += g[k]
            a[k, k] -= g[k]
            if k + 1 < n:
                a[k, k] -= g[k + 1]
                a[k, k + 1] += g[k + 1]
        return a / np.append(np.append(c0, c[1:]), 1.0)[:, None]

    run = model.simulate(quantity(end, "s"), rtol=1e-9, sensitivities=[
        "r[0].resistance", "c[0].capacitance", "source.voltage"])
    a, start = matrix(1e3, c[0]), np.append(np.zeros(n), 10.0)
    by_r = (matrix(1e3 * (1 + 1e-6), c[0]) - matrix(1e3 * (1 - 1e-6), c[0])) / 2e-3
    by_c = (matrix(1e3, c[0] * (1 + 1e-6)) - matrix(1e3, c[0] * (1 - 1e-6))) / (2e-6 * c[0])
    for path, by in (("r[0].resistance", by_r), ("c[0].capacitance", by_c)):
        both = np.block([[a, np.zeros_like(a)], [by, a]])
        exact = (expm(both * end) @ np.append(start, np.zeros(n + 1)))[n + 1 :]
        for k in (0, n // 2, n - 1):
            found = run.sensitivities[f"c[{k}].v", path].final.to_base_units().m
            assert found == pytest.approx(exact[k], rel=1e-6)
    assert run.sensitivities[f"c[{n - 1}].v", "source.voltage"].final.m == pytest.approx(
        expm(a * end)[:n, n][-1], rel=1e-7)
    assert len(run.sensitivities._course.steps) < 2 * len(run.recording.episodes.steps.starts)


def test_pressures_behind_restrictions_in_a_row_follow_what_flows():
    """In the steady state every restriction takes the whole flow: its pressure is
    Δp (m/m0)^2 to a small part, whatever stiff chambers lie between."""
    n = 17
    model = wired("line", "pump.B c[0].A", "c.A r.A", "r[:-1].B c[1:].A",
                  f"r[{n - 1}].B tank.A pump.A oil.A",
                  tank=il.Reservoir(), pump=il.FlowRateSource(mass_flow="0.1 kg/s"),
                  oil=il.IsothermalLiquidProperties(density="850 kg/m^3", bulk_modulus="1.2 GPa",
                                                    viscosity="32 cSt"),
                  c=il.ConstantVolumeChamber(
                      count=n, volume=quantity(1 / np.arange(1, n + 1), "l")),
                  r=il.FlowResistance(count=n, pressure_drop="0.1 MPa"))
    run = model.simulate("20 s", rtol=1e-6, sensitivities=["pump.mass_flow", "r[0].pressure_drop"])
    fraction = 0.01  # of the nominal flow, below which it is laminar: m |m| -> m sqrt(m^2 + ml^2)
    m = 0.1
    whole = np.sqrt(1 + fraction**2)
    by_flow = n * 1e5 * (1 / m) * (whole + 1 / whole) / whole
    found = run.sensitivities["c[0].p_I", "pump.mass_flow"].final.to("Pa/(kg/s)").m
    assert found == pytest.approx(by_flow, rel=1e-3)
    for k, exact in ((0, 1.0), (1, 0.0)):
        found = run.sensitivities[f"c[{k}].p_I", "r[0].pressure_drop"].final.to("").m
        assert found == pytest.approx(exact, abs=1e-3)
    assert len(run.sensitivities._course.steps) < 2 * len(run.recording.episodes.steps.starts)


def test_frictions_at_rest_beside_one_that_slides_are_many_without_harm():
    """The first block of 30 slides, x = (F - Fc) (1 - cos wt)/k; it is followed in steps of its
    own, as beside few."""
    model = wired("chain", "b.M f.R s.C", "b[0].M push.R", "b[1:].M s[:-1].R",
                  "s[29].R f.C push.C ground.V",
                  ground=tr.Reference(), push=tr.ForceSource(force="12 N"), b=tr.Mass(count=30),
                  s=tr.Spring(count=30, stiffness="1000 N/m"), f=dry(5, 7, count=30))
    run = model.simulate("40 ms", rtol=1e-9, sensitivities=["push.force", "f[0].coulomb_force"])
    exact = (1 - np.cos(np.sqrt(1000) * 0.04)) / 1000
    for path, sign in (("push.force", 1), ("f[0].coulomb_force", -1)):
        found = run.sensitivities["s[0].x", path].final.to("m/N").m
        assert abs(found) == pytest.approx(exact, rel=1e-8)
        assert np.sign(run.sensitivities["b[0].v", path].final.m) == sign


class Limited(Component):
    """What is driven by a sine of just the size of its limit; beyond it grows by steps."""

    limit, gain, beyond = Parameter("1 V"), Parameter(1.0), Parameter(1.0)
    x, y = Variable("V*s", "0 V*s", priority="high"), Variable("V", "0 V", priority="high")
    z = Variable("V/s", "1 V/s", priority="high")

    def equations(self):
        given = self.gain * self.y
        yield der(self.y) == self.z
        yield der(self.z) == -self.y * quantity("1 1/s^2")
        yield der(self.x) == where(given > self.limit, self.beyond * self.limit, given)


@pytest.mark.parametrize("method", ["auto", "RK23", "rodas4"])
@pytest.mark.parametrize(("beyond", "told"), [(1.0, 0), (2.0, 1)])
def test_a_touch_is_told_where_slopes_jump_and_not_where_they_bend(beyond, told, method):
    model = wired("limited", part=Limited(beyond=beyond))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = model.simulate("3 s", rtol=1e-9, method=method, sensitivities=["part.gain"])
    assert run.sensitivities["part.x", "part.gain"].final.m == pytest.approx(1 - np.cos(3.0))
    assert len(run.sensitivities.notes) == told


class Handed(Component):
    """One half ends when the other begins: nothing changes, unless one moves alone."""

    ends, begins = Parameter("1 s"), Parameter("1 s")
    x, t = Variable("s", "0 s", priority="high"), Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.x) == where(self.t > self.ends, 0, 1) + where(self.t > self.begins, 1, 0)
        yield der(self.t) == 1


def test_what_happens_at_once_and_makes_up_for_each_other_moves_alone():
    found = derivatives(wired("handed", part=Handed()), "2 s", "part.x", "part.ends", "part.begins")
    assert_allclose(found, [1, -1], rtol=1e-9)


@pytest.mark.parametrize("kind", ["piecewise linear", "ideal"])
def test_a_bridge_of_diodes_is_differentiated_without_a_note(kind):
    """v = R (V |sin wt| - 2 Vf) / (R + Rs + 2 Ron) while it conducts."""
    model = wired("bridge", "source.p series.p filter.p", "series.n diode[0].p diode[2].n",
                  "source.n capacitor.n diode[1].p diode[3].n", "filter.n capacitor.p",
                  "diode[:2].n load.p", "diode[2:].p load.n ground.V",
                  source=el.ACVoltageSource(amplitude="20 V", frequency="50 Hz"),
                  series=el.Resistor(resistance="2 ohm"), load=el.Resistor(resistance="50 ohm"),
                  filter=el.Resistor(resistance="1 kohm"),
                  capacitor=el.Capacitor(capacitance="1 uF"), ground=el.ElectricalReference(),
                  diode=el.Diode(count=4, model=kind, forward_voltage="0.5 V",
                                 on_resistance="0.1 ohm"))
    run = model.simulate("45 ms", rtol=1e-9, sensitivities=["source.amplitude", "load.resistance"])
    assert run.sensitivities.notes == []
    for t in (0.003, 0.016, 0.044):
        whole, across = 52.2, 20 * abs(np.sin(100 * np.pi * t)) - 1.0
        for path, exact in (("source.amplitude", 50 / whole * abs(np.sin(100 * np.pi * t))),
                            ("load.resistance", across * 2.2 / whole**2)):
            found = run.sensitivities["load.v", path].at(f"{t} s").to_base_units().m
            assert found == pytest.approx(exact, rel=1e-6)


def test_a_pulse_train_whose_first_pulse_is_yet_to_come_moves_nothing():
    """y' = u - y with u = 0 so far: no event has happened."""
    model = wired("waiting", "pulses.y sum.u1", "offset.y sum.u2", "sum.y filter.u",
                  pulses=Pulse(period="2 s", start="1 s"),
                  filter=TransferFunction(numerator=[1.0], denominator=[1.0, 1.0]),
                  offset=Constant(value=3.0), sum=Sum())
    run = model.simulate("0.5 s", rtol=1e-9, sensitivities=["pulses.period", "offset.value"])
    assert len(run.events) == 0
    assert run.sensitivities["filter.y", "pulses.period"].final.m == 0
    assert run.sensitivities["filter.y", "offset.value"].final.m == pytest.approx(
        1 - np.exp(-0.5), rel=1e-7)


def test_a_mode_has_no_derivative_and_says_so():
    model = wired("slide", "block.M friction.R", "friction.C ground.V",
                  block=tr.Mass(mass="1 kg", v="1 m/s"), ground=tr.Reference(), friction=dry(1))
    run = model.simulate("2 s", sensitivities=["friction.coulomb_force"])
    with pytest.raises(ParameterError, match="friction.mode: is a whole number that changes at "
                                             "events: it has no derivative.*sensitivities.events"):
        run.sensitivities["friction.mode", "friction.coulomb_force"]


def test_a_hold_of_itself_keeps_its_value_whatever_moves_beside_it():
    """y = 2 t beside a hold that nobody feeds but itself."""
    model = wired("held", "hold.y hold.u", "source.y sum.u",
                  hold=ZeroOrderHold(), source=Constant(value=2.0), sum=Integrator())
    assert derivatives(model, "3 s", "sum.y", "source.value") == pytest.approx([3])
    assert derivatives(model, "3 s", "hold.y", "source.value") == [0]


class Drained(Component):
    """What a root of nothing fills: neither it nor how it follows the area is known."""

    area = Parameter("1 m^(1/2)")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == self.area * sqrt(self.x) * quantity("1 1/s")


@pytest.mark.parametrize(("sliding", "at_rest"), [("1 N", "1 N"), ("1 N", "1.5 N")])
def test_a_model_without_states_has_derivatives_and_tells_who_is_at_its_bound(sliding, at_rest):
    """A load F(t) on dry friction and a damper, without mass: v = (F - F_C) / c once it slides."""
    def loaded(force):
        return wired("massless", "load.R damper.R rub.R", "load.C damper.C rub.C floor.V",
                     damper=tr.Damper(damping="2 N*s/m"), load=tr.ForceSource(force=force),
                     rub=tr.TranslationalFriction(law="coulomb", coulomb_force=sliding,
                                                  breakaway_force=at_rest), floor=tr.Reference())

    by = "rub.coulomb_force", "damper.damping"
    found = derivatives(loaded(lambda t: quantity("2 N/s") * t), "2 s", "damper.v", *by)
    assert_allclose(found, [-1 / 2, -(4 - 1) / 2**2], rtol=1e-9)
    with pytest.warns(SensitivityWarning, match="rub is at the end of its mode"):
        loaded(at_rest).simulate("1 s", sensitivities=["rub.breakaway_force"])


def test_derivatives_that_become_infinite_are_told():
    model = wired("drained", part=Drained())
    with pytest.warns(SensitivityWarning, match="By part.x derivatives become infinite, as that "
                                                "of a square root does at zero"):
        model.simulate("1 s", sensitivities=["part.x"])
