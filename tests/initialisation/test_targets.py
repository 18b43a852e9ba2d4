"""Targets are met as well as they can be: by search, level by level, beside exact friction."""

import warnings

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry
from numpy.testing import assert_allclose

import library.electrical as el
import library.isothermal_liquid as il
import library.mechanisms as mech
import library.planar as pl
import library.rotational as rot
import library.signal as sig
import library.translational as tr
from blocks import Component, Port, Target, Variable, quantity, tanh
from blocks.initialisation.initial_values import InitialWarning
from blocks.initialisation.lexicographic import lexicographic_step

# -- targets that the first search misses are met from elsewhere, or told ---------------------
G = 9.81


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
    model = wired("apart", ground=tr.Reference())
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
    tr.HardStop(f=f"{-G} N", x=Target("0 m", priority="low"), lower_bound="0 m", upper_bound="1 m"),
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


# -- beside exact friction, by the forces that the run starts with ----------------------------
STIFFNESS, FRICTION = 200.0, 20.0  # N/m, N


def pulled(force, v="1 m/s", **options):
    """A body behind a force sensor, with a spring and 20 N of dry friction to the ground."""
    return wired("pulled", "block.M sensor.R", "sensor.C spring.R rub.R", "spring.C rub.C ground.V",
                 block=tr.Mass(mass="2 kg", v=v), sensor=tr.ForceSensor(f=force),
                 spring=tr.Spring(stiffness="200 N/m", **options),
                 rub=tr.TranslationalFriction(law="coulomb", coulomb_force="20 N"),
                 ground=tr.Reference())


def start_of(model, *paths, duration="1 us", **options):
    """Values with which a run starts that warns of no target."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialWarning)
        assert not [f for f in model.check().warnings if f.code == "initial.conflict"]
        run = model.simulate(duration, **options)
    return [run[path].initial.to_base_units().magnitude for path in paths]


def table(model):
    """Per variable: whether its target is met, and its start."""
    columns = model.initial_values().columns
    return {path: (status, start) for path, status, start in zip(
        *(columns[c] for c in ("variable", "status", "start")), strict=True)}


@pytest.mark.parametrize(("v", "friction"), [("1 m/s", FRICTION), ("-1 m/s", -FRICTION)])
@pytest.mark.parametrize("force", [20.0, -35.0])
def test_a_spring_makes_up_for_what_friction_does_in_motion(v, friction, force):
    # sensor.f = k x + friction
    model = pulled(f"{force} N", v)
    f, x = start_of(model, "sensor.f", "spring.x")
    assert_allclose([f, x], [force, (force - friction) / STIFFNESS], rtol=1e-9, atol=1e-12)
    assert table(model)["sensor.f"] == ("met", f"{force:g} N")


def test_at_rest_a_force_is_met_where_friction_gives_way():
    # what sticks takes all that the spring does: 5 N are left over once it pulls with 25 N
    f, x = start_of(pulled("5 N", "0 m/s"), "sensor.f", "spring.x")
    assert_allclose([f, abs(x)], [5.0, 25.0 / STIFFNESS], rtol=1e-9)


def test_what_friction_holds_at_rest_moves_no_spring():
    f, x = start_of(pulled("0 N", "0 m/s", x=Target("50 mm", priority="low")),
                    "sensor.f", "spring.x")
    assert_allclose([f, x], [0.0, 0.05], rtol=1e-12, atol=1e-12)


def test_frictions_at_rest_are_asked_for_their_share_as_results_show_it():
    # equal shares of what they bear at most: 3 N of 20 N beside 6 N of 40 N hold a spring of 9 N
    model = wired("shared", "body.M a.R b.R spring.R", "a.C b.C spring.C ground.V",
                  body=tr.Mass(), spring=tr.Spring(stiffness="200 N/m"), a=dry(20, f="3 N"),
                  b=dry(40), ground=tr.Reference())
    assert_allclose(start_of(model, "a.f", "b.f", "spring.x"), [3.0, 6.0, -9.0 / STIFFNESS],
                    rtol=1e-8)


@pytest.mark.parametrize("method", ["moreau_jean", "Radau"])
def test_other_methods_start_there_too(method):
    step = {"step": "0.1 ms"} if method == "moreau_jean" else {}
    (x,) = start_of(pulled("30 N"), "spring.x", duration="1 ms", method=method, **step)
    assert_allclose(x, 10.0 / STIFFNESS, rtol=1e-9)


def test_a_force_that_friction_excludes_is_told_with_what_the_run_starts_with():
    model = wired("braked", "body.M rub.R", "rub.C ground.V",
                  body=tr.Mass(mass="2 kg", v="1 m/s", f="0 N"),
                  rub=tr.TranslationalFriction(law="coulomb", coulomb_force="20 N"),
                  ground=tr.Reference())
    (finding,) = model.check().warnings
    assert finding.code == "initial.conflict"
    assert "body.f = 0 N" in finding.problem
    assert "starts with body.f = -20 N" in finding.problem
    with pytest.warns(InitialWarning, match=r"body\.f = 0 N.* starts with body\.f = -20 N"):
        rows = table(model)
    assert rows == {"body.v": ("met", "1 m/s"), "body.f": ("not met", "-20 N")}
    with pytest.warns(InitialWarning):
        assert model.simulate("1 ms")["body.f"].initial.to("N").magnitude == -20.0


@pytest.mark.parametrize(("speed", "weight", "part", "found"), [
    ("-1 m/s", "0 N", tr.TranslationalFriction(law="coulomb", coulomb_force="20 N", f="-20 N"),
     {"part.f": -20.0, "body.v": -1.0}),
    ("0 m/s", "-9.81 N", tr.HardStop(model="restitution", x="0 m", lower_bound="0 m",
                                     upper_bound="1 m", f="-9.81 N"),
     {"part.f": -9.81, "part.x": 0.0})], ids=["friction that slides", "a stop that bears"])
def test_friction_and_stops_may_be_asked_for_the_force_that_they_have(speed, weight, part, found):
    model = wired("loaded", "body.M part.R weight.R", "part.C weight.C ground.V",
                  body=tr.Mass(mass="1 kg", v=speed), weight=tr.ForceSource(force=weight),
                  part=part, ground=tr.Reference())
    assert start_of(model, *found) == list(found.values())


def twisted(part):
    """A flywheel at 10 rad/s that is not to accelerate, a shaft to the frame and a part beside."""
    return wired("twisted", "shaft.C frame.W", wheel=rot.Inertia(w="10 rad/s", t="0 N*m"),
                 part=part, shaft=rot.RotationalSpring(phi=Target("0 rad", priority="low"),
                                                       stiffness="100 N*m/rad"),
                 frame=rot.RotationalReference())


@pytest.mark.parametrize("part", [
    mech.DiscBrake(normal_force="100 N"), rot.BearingFriction(),
    rot.RotationalFriction(law="stribeck")], ids=lambda part: type(part).__name__)  # fmt: skip
def test_a_shaft_carries_what_a_brake_takes(part):
    model = twisted(part)
    wire(model, "wheel.I shaft.R part.R", "part.C frame.W")
    torque, brake, phi = start_of(model, "wheel.t", "part.t", "shaft.phi")
    assert abs(brake) > 0.5
    assert_allclose([torque, 100.0 * phi], [0.0, -brake], atol=1e-9)


def test_a_shaft_carries_what_a_lossy_gear_makes_of_its_load():
    # 10 N m at the output drive backward: 2 : 1, of which half is lost once more
    model = twisted(mech.LossyGear(ratio=2, forward_efficiency=0.5, backward_efficiency=0.5))
    model.load = rot.TorqueSource(torque="-10 N*m")
    wire(model, "wheel.I shaft.R part.S", "part.O load.R", "load.C frame.W")
    torque, phi = start_of(model, "wheel.t", "shaft.phi")
    assert_allclose([torque, abs(phi)], [0.0, 10.0 / 2 / 0.5 / 100.0], atol=1e-9)


def test_an_ideal_diode_that_conducts_is_part_of_the_start():
    # 2 A through the coil, whose current is not to change: the source has what diode and load take
    model = wired("freewheeling", "source.p diode.p", "diode.n coil.p", "coil.n load.p",
                  "load.n source.n ground.V", source=el.Capacitor(capacitance="1 mF"),
                  diode=el.Diode(model="ideal"), coil=el.Inductor(i="2 A", v="0 V"),
                  load=el.Resistor(resistance="5 ohm"), ground=el.ElectricalReference())
    i, v, source, diode = start_of(model, "coil.i", "coil.v", "source.v", "diode.v")
    assert_allclose([i, v, source], [2.0, 0.0, diode + 10.0], atol=1e-9)


def test_a_start_beside_friction_is_differentiated():
    # x = (f - F) / k
    run = pulled("30 N").simulate("1 ms", sensitivities=["rub.coulomb_force", "sensor.f"])
    found = [run.sensitivities["spring.x", path].initial.to("m/N").magnitude
             for path in ("rub.coulomb_force", "sensor.f")]
    assert_allclose(found, [-1 / STIFFNESS, 1 / STIFFNESS], rtol=1e-6)


def test_a_target_that_no_start_meets_is_told():
    # the capacitor sets the voltage, its targets, a power and a current miss each other
    model = wired("in vain", "store.p valve.C earth.V load.p",
                  "store.n shorted.D shorted.S valve.E load.n", "gate.y shorted.G",
                  "drive.y valve.G",
                  store=el.Capacitor(capacitance="5.12 uF", parallel_conductance="5.33 S",
                                     energy_stored="1.32e-05 J"),
                  shorted=el.MOSFET(diode_resistance="0.116 ohm", diode_voltage="1.74 V"),
                  gate=sig.Constant(value=0), drive=sig.Pulse(amplitude=1.17, period="30 ms"),
                  valve=el.IGBT(power_dissipated=Target("0.0179 W", priority="high"), v="-1.79 V",
                                i="-0.00544 A", on_resistance="2.28 ohm"),
                  load=el.Resistor(resistance="0.265 ohm"), earth=el.ElectricalReference())
    assert any(f.code == "initial.conflict" for f in model.check().warnings)


# -- least squares level by level -------------------------------------------------------------
def test_several_rows_of_one_unknown_meet_in_the_middle():
    _, step = lexicographic_step([None, np.array([[2.0], [2.0]]), np.array([[1.0]])],
                                 [np.zeros(0), np.array([-2.0, -4.0]), np.array([-9.0])], 1)
    assert_allclose(step, [1.5])
