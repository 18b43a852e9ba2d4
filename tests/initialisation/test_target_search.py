"""Targets that the first search misses are met from elsewhere, or told as not found."""

import warnings

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import library.electrical as el
import library.isothermal_liquid as il
import library.planar as pl
import library.translational as tr
from blocks import Component, Model, Port, Target, Variable, quantity, tanh
from blocks.initialisation.initial_values import InitialWarning

G = 9.81


def start_of(model, *paths, **options):
    """Values with which a run starts that warns of no target."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialWarning)
        assert not [f for f in model.check().warnings if f.code == "initial.conflict"]
        run = model.simulate("1 us", **options)
    return [run[path].initial.to_base_units().magnitude for path in paths]


def dragged(force, v=None, drag=None):
    """A body in a drag of k v|v|, with k = 1 N*s**2/m**2."""
    return wired("dragged", "body.M drag.R", "drag.C ground.V",
                 body=tr.Mass() if v is None else tr.Mass(v=v),
                 drag=drag or tr.QuadraticSpeedDependentForce(f=force), ground=tr.Reference())


@pytest.mark.parametrize("force", [5.0, -5.0])
@pytest.mark.parametrize("v", [None, Target("0 m/s", priority="low")])
def test_a_drag_without_slope_at_rest_is_set_to_work(force, v):
    f, speed = start_of(dragged(f"{force} N", v), "drag.f", "body.v", method="auto")
    assert_allclose([f, speed], [force, np.sign(force) * np.sqrt(abs(force))], rtol=1e-7)


def test_drags_that_nothing_joins_are_set_to_work_each_its_way():
    model = Model("apart")
    model.ground = tr.Reference()
    for name, force in (("a", "4 N"), ("b", "-9 N")):
        body, drag = tr.Mass(), tr.QuadraticSpeedDependentForce(f=force)
        setattr(model, f"body_{name}", body)
        setattr(model, f"drag_{name}", drag)
        model.connect(body.M, drag.R)
        model.connect(drag.C, model.ground.V)
    assert_allclose(start_of(model, "body_a.v", "body_b.v"), [2.0, -3.0], rtol=1e-7)


@pytest.mark.parametrize("valve", [il.PressureReliefValve, il.CheckValve])
def test_a_closed_valve_opens_by_as_much_as_its_flow_asks_for(valve):
    def between(**options):
        return wired("valve", "chamber.A valve.A", "valve.B tank.A",
                     chamber=il.ConstantVolumeChamber(), valve=valve(**options),
                     tank=il.Reservoir())

    flowing, p = start_of(between(mdot="0.05 kg/s"), "valve.mdot", "chamber.p_I")
    by_pressure = between()
    by_pressure.chamber.p_I = f"{p} Pa"
    assert_allclose([flowing, *start_of(by_pressure, "valve.mdot")], 0.05, rtol=1e-7)


def pressed(part):
    """A body of 1 kg that presses on a part."""
    return wired("pressed", "body.M part.R", "part.C ground.V",
                 body=tr.Mass(mass="1 kg"), part=part, ground=tr.Reference())


def test_a_gap_closes_by_as_much_as_its_force_asks_for():
    f, x, v = start_of(pressed(tr.ElastoGap(f=f"{-G} N")), "part.f", "part.x", "body.v")
    assert_allclose([f, x], [-G, -G / 1e6], rtol=1e-7)
    assert abs(v) < 1e-6


@pytest.mark.parametrize("part", [
    tr.ElastoGap(f=f"{-G} N", x=Target("-1 um", priority="low")),
    tr.HardStop(f=f"{-G} N", x=Target("0 m", priority="low"), lower_bound="0 m",
                upper_bound="1 m"),
], ids=lambda part: type(part).__name__)  # fmt: skip
def test_a_place_of_low_priority_gives_way_to_a_force(part):
    assert_allclose(start_of(pressed(part), "part.f"), -G, rtol=1e-7)


def test_bodies_in_contact_may_be_asked_for_the_force_between_them():
    model = wired("resting disc", "ground.P contact.B", "disc.P contact.F",
                  ground=pl.Ground(), disc=pl.Body(y="0.1 m"),
                  contact=pl.Contact(curve=pl.Circle(radius="0.1 m"), base=pl.Line(), N="9.81 N"))
    assert_allclose(start_of(model, "contact.N", "disc.y"), [G, 0.1], rtol=1e-9)


def test_a_diode_conducts_where_the_current_behind_it_says_so():
    # 1.2 V across the diode at 2 A: 0.6 V, and 2 A through its 0.3 ohm
    model = wired("diode", "source.p diode.p", "diode.n coil.p", "coil.n source.n ground.V",
                  source=el.Capacitor(capacitance="1 mF"), diode=el.Diode(forward_voltage="0.6 V"),
                  coil=el.Inductor(i="2 A", v="0 V"), ground=el.ElectricalReference())
    assert_allclose(start_of(model, "coil.i", "source.v", "coil.v"), [2.0, 1.2, 0.0], atol=1e-8)


class Saturating(Component):
    """A force of at most 4 N."""

    R, C = Port(tr.translational), Port(tr.translational)
    f, v = Variable("N"), Variable("m/s")

    def equations(self):
        yield self.v == self.R.v - self.C.v
        yield self.f == quantity("4 N") * tanh(self.v / quantity("1 m/s"))
        yield self.R.f == self.f
        yield self.C.f == -self.f


def test_what_is_not_found_is_told_as_such_and_moves_nothing_far():
    model = dragged("5 N", drag=Saturating(f="5 N"))
    (finding,) = model.check().warnings
    assert finding.code == "initial.conflict"
    assert finding.problem.startswith("No start was found that meets the initial target drag.f")
    assert "priority='none'" in finding.advice
    with pytest.warns(InitialWarning, match=r"No start was found.*drag\.f"):
        run = model.simulate("1 us")
    assert abs(run["body.v"].initial.to("m/s").magnitude) < 20
    assert 0 <= run["drag.f"].initial.to("N").magnitude <= 4
