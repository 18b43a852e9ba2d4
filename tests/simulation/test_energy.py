"""The energy audit closes: work done = stored + dissipated - supplied, for every component."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from benches import wire, wired
from benches.parts import Capacitor, Ground, Inductor, Resistor, VoltageSource
from benches.rigid_bodies import falling_pole
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import blocks
import library.translational as tr
from blocks import Component, EnergyWarning, Parameter, Port, Variable, der, exp, quantity, sin
from library import electrical, rotational, thermal
from library.planar import Body, Circle, Contact, Line, Prismatic, Revolute, RigidOffset
from library.planar import Ground as World


def machine(damping=None, force=None):
    model = wired("machine", "body.M spring.R", "spring.C ground.V",
                  body=tr.Mass(mass="2 kg", v="1 m/s"),
                  spring=tr.Spring(stiffness="8 N/m", x="10 cm"), ground=tr.Reference())
    for name, part in [("damper", damping and tr.Damper(damping=damping)),
                       ("push", force and tr.ForceSource(force=force))]:
        if part:
            model.add(name, part)
            model.connect(part.R, model.body.M)
            model.connect(part.C, model.ground.V)
    return model


@pytest.mark.parametrize(("damping", "force"), [
    (None, None),
    ("1.5 N*s/m", None),
    ("1.5 N*s/m", lambda t: quantity("3 N") * sin(quantity("2 rad/s") * t))])
def test_the_audit_of_an_oscillator_closes(damping, force):
    ledger = machine(damping, force).simulate("5 s", method="DOP853", rtol=1e-11).energy()
    assert abs(ledger.relative_residual) <= 1e-9
    for term in ledger:
        missing = term.work_in - (term.stored + term.dissipated - term.supplied)
        assert abs(missing) <= 1e-9 * ledger.throughput.to("J").magnitude


def test_a_stone_that_falls_alone_is_measured_by_the_energy_it_reaches():
    ledger = wired("fall", stone=Body(mass="2 kg")).simulate("3 s").energy()
    kinetic = 2 * (9.81 * 3) ** 2 / 2  # from rest at height zero, so all in all it has none
    assert ledger.peak_stored.to("J").magnitude == pytest.approx(kinetic, rel=1e-9)
    assert ledger.throughput.to("J").magnitude < 1e-9
    assert ledger.relative_residual < 1e-12


class Stone(Component):
    """Falls along the axis, and says that its kinetic energy is ``share`` times m v^2."""

    M = Port(tr.translational)
    share = Parameter(0.5)
    v, h = Variable("m/s", "0 m/s", priority="high"), Variable("m", "0 m", priority="high")
    energy_stored = Variable("J")

    def equations(self):
        m, g = quantity("2 kg"), quantity("10 m/s^2")
        yield self.v == self.M.v
        yield der(self.h) == self.v
        yield m * der(self.v) == self.M.f - m * g
        yield self.energy_stored == self.share * m * self.v**2 + m * g * self.h


@pytest.mark.parametrize(("share", "missing"), [(0.5, 0.0), (0.25, 0.5)])
def test_a_stone_that_says_a_wrong_energy_is_found_out(share, missing):
    model = wired("fall", stone=Stone(share=share))  # falls from h = 0 to v^2 / 2 = g h
    run = model.simulate("3 s")
    with pytest.warns(EnergyWarning, match="stone") if missing else nullcontext():
        assert run.energy().relative_residual == pytest.approx(missing, abs=1e-9)


def test_a_damped_oscillator_dissipates_what_it_had():
    run = machine("1.5 N*s/m").simulate("200 s", method="DOP853", rtol=1e-9)
    start = 2 * 1.0**2 / 2 + 8 * 0.1**2 / 2
    assert run.energy().dissipated.to("J").magnitude == pytest.approx(start, rel=1e-7)
    assert run.energy().stored.to("J").magnitude == pytest.approx(-start, rel=1e-7)


def test_a_force_at_resonance_supplies_the_work_of_the_closed_form():
    # at rest, F sin(w t) at w² = k/m: x = F/(2 m w²) (sin w t - w t cos w t)
    model = machine(force=lambda t: quantity("3 N") * sin(quantity("2 rad/s") * t))
    model.body.v, model.spring.x = "0 m/s", "0 m"
    run = model.simulate("5 s", method="DOP853", rtol=1e-11)
    v = 3 / (2 * 2) * 5 * np.sin(10)
    x = 3 / (2 * 2 * 4) * (np.sin(10) - 10 * np.cos(10))
    exact = v**2 + 4 * x**2
    assert run.energy().supplied.to("J").magnitude == pytest.approx(exact, rel=1e-9)


def test_charging_a_capacitor_through_a_resistor_loses_half_the_energy():
    model = wired("rc", "source.R r.R", "r.C c.R", "c.C source.C ground.P",
                  source=VoltageSource(voltage="5 V"), ground=Ground(),
                  r=Resistor(resistance="2 kohm"), c=Capacitor(capacitance="3 uF"))
    ledger = model.simulate("200 ms", method="DOP853", rtol=1e-10).energy()
    half = 3e-6 * 25 / 2
    assert ledger.stored.to("J").magnitude == pytest.approx(half, rel=1e-7)
    assert ledger.dissipated.to("J").magnitude == pytest.approx(half, rel=1e-6)
    assert ledger.supplied.to("J").magnitude == pytest.approx(2 * half, rel=1e-6)
    assert abs(ledger.relative_residual) <= 1e-8


def test_a_ringing_circuit_closes_its_audit():
    model = wired("lc", "l.R c.R", "l.C c.C ground.P",
                  l=Inductor(inductance="10 mH"), c=Capacitor(capacitance="4 uF", v="10 V"),
                  ground=Ground())
    ledger = model.simulate("5 ms", method="DOP853", rtol=1e-11).energy()
    assert abs(ledger.relative_residual) <= 1e-9


def test_a_component_that_makes_energy_is_found_out():
    class Perpetual(Component):
        M = Port(tr.translational)

        def equations(self):
            yield self.M.f == quantity("-1 N*s/m") * self.M.v

    model = wired("perpetual", "body.M engine.M", body=tr.Mass(v="1 m/s"), engine=Perpetual())
    run = model.simulate("1 s", rtol=1e-9)
    with pytest.warns(EnergyWarning, match="engine says nothing of energy"):
        ledger = run.energy()
    gained = (np.exp(2) - 1) / 2
    worst = max(ledger, key=lambda term: abs(term.violation))
    assert worst.component == "engine"
    assert worst.work_in == pytest.approx(-gained, rel=1e-6)
    assert ledger.relative_residual > 0.1


def test_one_that_says_what_it_loses_as_heat_but_not_what_it_stores_is_told_so():
    class Cell(electrical.TwoPort):
        H = Port(thermal.thermal, carries="power_dissipated")
        charge, power_dissipated = Variable("C", "0 C", priority="high"), Variable("W")

        def equations(self):
            yield der(self.charge) == self.i
            yield self.v == quantity("3.6 V") + quantity("1 ohm") * self.i
            yield self.power_dissipated == quantity("1 ohm") * self.i**2

    model = wired("charger", "source.p cell.p", "source.n cell.n ground.V", "cell.H lump.M",
                  cell=Cell(), lump=thermal.ThermalMass(mass="100 kg"),
                  source=electrical.DCVoltageSource(voltage="4.6 V"),
                  ground=electrical.ElectricalReference())
    run = model.simulate("10 s")
    with pytest.warns(EnergyWarning, match=r"most of it in cell \(36 J\)\. Look .* leaves out"):
        ledger = run.energy()
    assert ledger.peak_stored > quantity("10 MJ")  # the lump is warm: what are 36 J
    assert ledger.relative_residual == pytest.approx(36 / 46, rel=1e-4)
    assert next(term for term in ledger if term.component == "cell").carried == pytest.approx(10)


def dissipated_and_supplied(ledger):
    return [getattr(ledger, name).to("J").magnitude for name in ("dissipated", "supplied")]


@pytest.mark.parametrize(("options", "error"), [
    ({"method": "dopri5", "rtol": 1e-9}, 1e-7),
    ({"method": "BDF", "rtol": 1e-9}, 1e-6),
    ({"method": "moreau_jean", "step": "0.1 ms"}, 3e-3),  # of first order in the step
])  # fmt: skip
def test_a_table_that_is_driven_upwards_gives_its_impulses_work(options, error):
    """Seen from the table the ball falls on a floor: it comes with u, and leaves with e u."""
    m, g, h, e, speed, impacts = 2.0, 10.0, 0.2, 0.5, 1.0, 2
    model = wired("juggler", "ball.M weight.R stop.R", "table.M lift.R stop.C",
                  "lift.C weight.C ground.V",
                  ball=tr.Mass(mass="2 kg"), table=tr.Mass(), ground=tr.Reference(),
                  weight=tr.ForceSource(force="-20 N"), lift=tr.VelocitySource(velocity="1 m/s"),
                  stop=tr.HardStop(model="restitution", restitution=e, lower_bound="0 m",
                                   upper_bound="9 m", x=f"{h} m"))
    u = np.sqrt(speed**2 + 2 * g * h)
    first = (u - speed) / g
    end = first + 2 * e * u / g * (1 + e / 2)  # in the middle of the third flight
    lost = m / 2 * u**2 * (1 - e ** (2 * impacts))
    pushed = m * (1 + e) * u * (1 + e) * speed
    fallen = h - speed * end - e**4 * u**2 / (2 * g)
    ledger = model.simulate(quantity(end, "s"), **options).energy()
    assert dissipated_and_supplied(ledger) == pytest.approx(
        [lost, pushed + m * g * fallen], rel=error)
    assert abs(ledger.relative_residual) < 1e-9


@pytest.mark.parametrize("method", ["dopri5", "DOP853"])
def test_what_falls_on_a_belt_and_is_taken_along_costs_the_belt_twice_what_it_gains(method):
    m, height, speed = 3.0, 0.2, 1.5
    model = wired("belt", "ground.P way.B", "way.F belt.P touch.B", "way.A drive.R",
                  "drive.C frame.V", "parcel.P touch.F",
                  ground=World(), way=Prismatic(drive=True), belt=Body(),
                  drive=tr.VelocitySource(velocity=f"{speed} m/s"), frame=tr.Reference(),
                  parcel=Body(mass="3 kg", inertia="1e9 kg*m^2", y=f"{0.1 + height} m"),
                  touch=Contact(curve=Circle("0.1 m"), base=Line(), friction=0.4))
    ledger = model.simulate("0.7 s", method=method, rtol=1e-9).energy()
    assert dissipated_and_supplied(ledger) == pytest.approx(
        [m * 9.81 * height + m / 2 * speed**2, m * speed**2], rel=1e-7)


def test_nothing_but_rounding_goes_through_a_port_without_work():
    """A pole that tips over on its foot."""
    model, lean = falling_pole()
    run = model.simulate("0.5 s")
    ledger = run.energy()
    kinetic = 9.81 * (np.cos(lean) - np.cos(run["pole.phi"].final.m))
    assert ledger.peak_stored.to("J").m >= kinetic > 1.0
    for term in ledger:
        assert max(abs(term.work_in), abs(term.dissipated)) <= 1e-8


def test_rounding_beside_a_singular_position_blames_no_component():
    """Rod and crank of 1 m and 1 kg, as long as each other: with the crank upright the slider may
    stand still or move, and forces there are rounding over the distance from that position."""
    model = wired("crank",
                  ground=World(), main=Revolute(), pin=Revolute(), end=Revolute(),
                  to_pin=RigidOffset(dx="1 m"), to_end=RigidOffset(dx="1 m"), guide=Prismatic())
    bar = {"mass": "1 kg", "inertia": quantity(1 / 12, "kg*m^2"), "center_x": "0.5 m"}
    wire(model, "ground.P main.B guide.B", "main.F crank.P to_pin.B", "to_pin.F pin.B",
         "pin.F rod.P to_end.B", "to_end.F end.B", "end.F guide.F",
         crank=Body(phi="45 deg", w="-4 rad/s", **bar),
         rod=Body(phi=blocks.Target("-45 deg", priority="low"), **bar))
    run = model.simulate("5 s", method="rodas4", rtol=1e-8)

    def rates(_, state):  # the rod leans against the crank: its centre is at (1.5 cos, 0.5 sin)
        phi, w = state
        inertia = 5 / 12 + 2.25 * np.sin(phi) ** 2 + 0.25 * np.cos(phi) ** 2
        return [w, -(9.81 + 2.0 * np.sin(phi) * w**2) * np.cos(phi) / inertia]

    exact = solve_ivp(rates, (0, 5), [np.pi / 4, -4.0], rtol=1e-11, atol=1e-12).y[0, -1]
    assert run["crank.phi"].final.m == pytest.approx(exact, abs=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnergyWarning)
        ledger = run.energy()
    assert abs(ledger.stored.to("J").m) < 1e-6 * ledger.throughput.to("J").m


# -- motions that are prescribed --------------------------------------------------------------
METHODS = ["auto", "DOP853", "RK45", "RK23", "ode45", "ode23s", "Radau", "BDF", "dopri5", "rodas4"]
FIXED = ["euler", "rk4", "backward_euler", "trapezoidal"]


def shaken(rate, coasting="1 m/s"):
    """A damper between a table that shakes a load and the floor; a trolley coasts beside it."""
    return wired("shaken", "table.R load.M damper.R", "table.C damper.C floor.V",
                 floor=tr.Reference(), load=tr.Mass(), trolley=tr.Mass(v=coasting),
                 damper=tr.Damper(damping="7 N*s/m"),
                 table=tr.VelocitySource(
                     velocity=lambda t: quantity("2 m/s") * sin(t * quantity(rate, "rad/s"))))


def heat(rate, end):
    return 7 * 4 / 2 * (end - np.sin(2 * rate * end) / (2 * rate))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [3.0, 47.0])
def test_the_heat_of_a_prescribed_motion_is_its_integral(rate, method):
    energy = shaken(rate).simulate("3 s", method=method).energy()
    assert_allclose(energy["damper"].dissipated, heat(rate, 3.0), rtol=1e-8)
    assert energy.relative_residual < 1e-6
    assert energy.uncertainty.to("J").m < 1e-6 * heat(rate, 3.0)


@pytest.mark.parametrize("method", FIXED)
def test_the_heat_does_not_depend_on_a_step_that_is_too_long(method):
    run = shaken(47.0).simulate("3 s", method=method, step="0.1 s")
    assert_allclose(run.energy()["damper"].dissipated, heat(47.0, 3.0), rtol=1e-8)


def test_the_work_of_a_burst_is_counted():
    # 1 kg takes the impulse of a burst, sqrt(pi) F w, and with it impulse^2/2 of energy
    model = wired("struck", body=tr.Mass(mass="1 kg"), floor=tr.Reference())
    model.hammer = tr.ForceSource(force=lambda t: quantity("1 kN") * exp(
        -(((t - quantity("3.3 s")) / quantity("1 ms")) ** 2)))  # fmt: skip
    model.connect(model.body.M, model.hammer.R)
    model.connect(model.floor.V, model.hammer.C)
    for method in ("auto", "Radau", "RK45"):
        run = model.simulate("10 s", method=method)
        impulse = np.sqrt(np.pi)
        assert_allclose(run["body.v"].final.m, impulse, rtol=1e-5)
        assert_allclose(run.energy()["hammer"].supplied, impulse**2 / 2, rtol=1e-5)


def test_runs_that_are_made_several_at_once_find_the_burst_too():
    model = wired("struck", body=tr.Mass(mass="1 kg"), floor=tr.Reference(),
                  film=tr.Damper(damping="0.1 N*s/m"))
    model.hammer = tr.ForceSource(force=lambda t: quantity("1 kN") * exp(
        -(((t - quantity("3.3 s")) / quantity("1 ms")) ** 2)))  # fmt: skip
    model.connect(model.body.M, model.hammer.R, model.film.R)
    model.connect(model.floor.V, model.hammer.C, model.film.C)
    mass = np.linspace(1, 2, 40)
    data = model.sweep({"body.mass": quantity(mass, "kg")}, "10 s", outputs=["final(body.v)"],
                       method="dopri5")  # fmt: skip
    assert "at once" in data.encoding["execution"]
    exact = np.sqrt(np.pi) / mass * np.exp(-0.1 / mass * 6.7)
    assert_allclose(data["final(body.v)"].values, exact, rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "ode45"])
def test_extremes_of_what_is_prescribed_lie_between_the_steps(method):
    run = shaken(47.0).simulate("3 s", method=method)
    assert_allclose(run["damper.f"].max().m, 14.0, rtol=1e-6)
    assert_allclose(run["damper.f"].min().m, -14.0, rtol=1e-6)


class Backwards(tr.TwoPort):
    """A damper whose heat has the wrong sign."""

    power_dissipated = Variable("W")

    def equations(self):
        yield self.f == quantity("5 N*s/m") * self.v
        yield self.power_dissipated == -self.f * self.v


class Silent(tr.TwoPort):
    """A damper that does not say where its energy goes."""

    def equations(self):
        yield self.f == quantity("5 N*s/m") * self.v


@pytest.mark.parametrize("rubber, told", [
    (Backwards, r"wrong does not close: 18 J .* rubber \(18 J\)"),
    (Silent, "rubber says nothing of energy: declare a Variable")])
def test_an_energy_that_does_not_close_is_a_warning_that_names_the_component(rubber, told):
    model = wired("wrong", "body.M rubber.R", "floor.V rubber.C",
                  body=tr.Mass(mass="2 kg", v="3 m/s"), floor=tr.Reference(), rubber=rubber())
    run = model.simulate("10 s")
    with pytest.warns(EnergyWarning, match=told):
        run.energy()


def test_no_warning_where_it_closes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shaken(3.0).simulate("1 s").energy()


TEETH = [0, 0.5, 0.55, 0.6, 0.65, 0.7, 1.0], [0, 0, 3.0, 0, -3.0, 0, 0]


class Cogging(rotational.TwoPort):
    """A tooth a turn of a radian: a table of its torque over the angle, which stores energy."""

    angle = Variable("rad", "0 rad", priority="high")
    energy_stored = Variable("J")

    def equations(self):
        place = blocks.mod(self.angle, quantity("1 rad"))
        table = quantity(TEETH[0], "rad"), quantity(TEETH[1], "N*m")
        yield der(self.angle) == self.w
        yield self.t == blocks.interpolate(place, *table)
        yield self.energy_stored == blocks.integral_of_table(place, *table)


def test_what_many_corners_of_a_table_add_up_falls_with_the_tolerance_and_is_told():
    """Over the angle a: d(w**2)/da = -2 (torque + damping w)/inertia, from corner to corner."""
    model = wired("cogging", "rotor.I teeth.R damper.R", "teeth.C damper.C ground.W",
                  rotor=rotational.Inertia(inertia="0.02 kg*m^2", w="40 rad/s"), teeth=Cogging(),
                  damper=rotational.RotationalDamper(damping="1e-3 N*m*s/rad"),
                  ground=rotational.RotationalReference())
    square = [1600.0]
    for k in range(20 * 6):
        square = solve_ivp(lambda a, y: -100 * (np.interp(a, *TEETH) + 1e-3 * np.sqrt(y)),
                           TEETH[0][k % 6 : k % 6 + 2], square, rtol=1e-11).y[:, -1]
    for method, limit in (("auto", 1e-6), ("rodas4", 1e-6), ("DOP853", 1e-7), ("RK23", 1e-5),
                          ("ode45", 1e-6), ("ode23s", 1e-5), ("Radau", 1e-6), ("BDF", 1e-5)):
        run = model.simulate("0.6 s", until="teeth.angle > 20 rad", method=method)
        assert run["rotor.w"].final.m == pytest.approx(np.sqrt(square[0]), rel=limit)
        assert run.energy().relative_residual < 1e-5
    assert model.simulate("30 s").energy().relative_residual < 1e-6  # of some 600 teeth
    with pytest.warns(EnergyWarning, match="cogging does not close: .* a smaller rtol= mends"):
        model.simulate("0.6 s", method="rk4", step="8 ms").energy()
