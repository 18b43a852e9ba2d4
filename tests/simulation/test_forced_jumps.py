"""What can only change by degrees and is forced to jump is named, instead of going on wrongly."""

import pytest
from benches import wired
from numpy.testing import assert_allclose

import library.electrical as el
import library.translational as tr
from blocks import Model, SimulationError, quantity, where
from library.rotational import AngularVelocitySource, Inertia, RotationalReference
from library.tables import table


def step(value, unit, at=0.001):
    return lambda t: where(t < quantity(at, "s"), quantity(0, unit), quantity(value, unit))


def on_voltage(*parts, voltage):
    """A source over parts in series, with a resistor over the last one."""
    model = wired("circuit", "s.n r.n g.V",
                  s=el.ControlledVoltageSource(voltage=voltage), r=el.Resistor(),
                  g=el.ElectricalReference())
    above = model.s.p
    for k, part in enumerate(parts, 1):
        model.add(f"c{k}", part)
        model.connect(above, part.p)
        above = part.n
    model.connect(above, model.g.V)
    model.connect(parts[-1].p, model.r.p)
    return model


def refused(model, duration="2 ms", **settings):
    with pytest.raises(SimulationError) as caught:
        model.simulate(duration, **settings)
    assert caught.value.code == "simulation.jump"
    return caught.value


@pytest.mark.parametrize("method", ["auto", "ode45", "BDF"])
def test_a_capacitor_on_a_voltage_that_steps_is_named(method):
    error = refused(on_voltage(el.Capacitor(), voltage=step(5, "V")), method=method)
    assert str(error) == (
        "c1: at t = 0.001 s c1.vc would have to follow s and jump from 0 to 5 V, which takes an "
        "endless current: nothing gives way. Put a resistor between c1 and s, or prescribe a ramp "
        "instead of a step.")
    assert error.time == pytest.approx(1e-3)


def test_capacitors_in_series_on_a_voltage_that_steps_are_named_together():
    error = refused(on_voltage(el.Capacitor(), el.Capacitor(), voltage=step(5, "V")))
    assert "c1.vc" in str(error) and "c2.v" in str(error)


def test_an_inductor_behind_a_current_that_steps_is_named():
    model = wired("circuit", "s.head l.p", "s.tail l.n g.V",
                  s=el.ControlledCurrentSource(current=step(1, "A")),
                  l=el.Inductor(inductance="1 mH"), g=el.ElectricalReference())
    error = refused(model)
    assert "l.i_L would have to follow s and jump from 0 to 1 A" in str(error)
    assert "endless voltage" in str(error) and "in parallel with l" in str(error)


def pushed(source, body, ground, *more):
    model = Model("pushed")
    model.s, model.m, model.g = source, body, ground
    port = model.m.M if isinstance(body, tr.Mass) else model.m.I
    earth = model.g.V if isinstance(ground, tr.Reference) else model.g.W
    if more:
        model.k = more[0]
        model.connect(model.s.R, model.k.R)
        model.connect(model.k.C, port)
    else:
        model.connect(model.s.R, port)
    model.connect(model.s.C, earth)
    return model


def test_a_mass_on_a_velocity_that_steps_is_named():
    error = refused(pushed(tr.VelocitySource(velocity=step(2, "m/s")), tr.Mass(), tr.Reference()))
    assert "m.v would have to follow s and jump from 0 to 2 m/s" in str(error)
    assert "endless force" in str(error)


def test_an_inertia_on_an_angular_velocity_that_steps_is_named():
    error = refused(pushed(AngularVelocitySource(velocity=step(2, "rad/s")), Inertia(),
                           RotationalReference()))  # fmt: skip
    assert "endless torque" in str(error)


def test_a_position_that_steps_is_named():
    """The spring behind it would never know of the step."""
    error = refused(pushed(tr.PositionSource(position=step(0.1, "m")), tr.Mass(), tr.Reference(),
                           tr.Spring()))
    assert "s.x would have to jump from 0 to 0.1 m: its rate would be endless." in str(error)


def test_a_kink_of_a_position_is_a_jump_only_of_what_has_mass():
    kink = lambda t: where(t < quantity("1 ms"), quantity("0 m"),  # noqa: E731
                           quantity("2 m/s") * (t - quantity("1 ms")))
    assert "m.v" in str(refused(pushed(tr.PositionSource(position=kink), tr.Mass(),
                                       tr.Reference())))
    run = pushed(tr.PositionSource(position=kink), tr.Mass(), tr.Reference(),
                 tr.Spring()).simulate("3 ms")
    assert run["s.x"].final.to("mm").magnitude == pytest.approx(4)


def ramped(late=0.0):
    """2 m/s from 1 ms to 2 ms; then a place that is so much farther."""
    ramp = lambda t: quantity("2 m/s") * (t - quantity("1 ms"))  # noqa: E731
    course = lambda t: where(t < quantity("1 ms"), quantity("0 m"), where(  # noqa: E731
        t < quantity("2 ms"), ramp(t), quantity(2e-3 + late, "m")))
    return pushed(tr.PositionSource(position=course), tr.Mass(), tr.Reference(), tr.Spring())


def test_machine_code_passes_kinks_of_a_course_that_never_jumps():
    run = ramped().simulate("3 ms")
    assert "events in Python" not in run.statistics and len(run.events) == 2
    assert_allclose(run["s.x"].at(["1.5 ms", "3 ms"]).to("mm").m, [1, 2], rtol=1e-12)


@pytest.mark.parametrize("late", [1e-3, -1e-3])
def test_a_step_behind_a_kink_is_named(late):
    error = refused(ramped(late), "3 ms")
    assert f"s.x would have to jump from 0.002 to {2e-3 + late:g} m" in str(error)
    assert error.time == pytest.approx(2e-3)


def test_a_step_in_a_later_part_of_a_driven_run_is_named():
    run = ramped(1e-3).stepper()
    with pytest.raises(SimulationError, match="would have to jump"):
        for _ in range(300):
            run.advance("10 us")


def test_points_of_a_table_are_no_kinks_but_its_steps_are_jumps():
    smooth = table(quantity([0, 1, 2, 3], "ms"), quantity([0, 0, 1, 0], "mm"))
    run = pushed(tr.PositionSource(position=smooth), tr.Mass(), tr.Reference()).simulate("3 ms")
    assert run["m.v"].at("1.5 ms").to("m/s").magnitude == pytest.approx(1)
    held = table(quantity([0, 1, 2, 3], "ms"), quantity([0, 0, 1, 0], "m/s"), between="held")
    error = refused(pushed(tr.VelocitySource(velocity=held), tr.Mass(), tr.Reference()), "3 ms")
    assert "m.v would have to jump from 0 to 1 m/s" in str(error)


def test_with_a_resistance_in_between_the_charge_divides():
    model = wired("divider", "s.p r.p", "r.n a.p", "a.n b.p", "b.n s.n g.V",
                  s=el.ControlledVoltageSource(voltage=step(5, "V")),
                  r=el.Resistor(resistance="1 mohm"), a=el.Capacitor(), b=el.Capacitor(),
                  g=el.ElectricalReference())
    run = model.simulate("1.1 ms")
    assert_allclose([run["a.vc"].final.m, run["b.vc"].final.m], 2.5, rtol=1e-6)


def test_what_only_reads_a_rate_may_see_a_step():
    """The acceleration of a velocity that steps is read, but moves nothing."""
    model = wired("read", "s.R d.R sensor.R", "s.C d.C sensor.C g.V",
                  s=tr.VelocitySource(velocity=step(1, "m/s")), d=tr.Damper(),
                  sensor=tr.MotionSensor(acceleration_port=True), g=tr.Reference())
    assert model.simulate("2 ms")["d.f"].final.to("N").m == pytest.approx(100)


def test_a_continuous_piecewise_voltage_charges_a_capacitor():
    ramp = lambda t: where(t < quantity("1 ms"), quantity("0 V"),  # noqa: E731
                           quantity("5 V/ms") * (t - quantity("1 ms")))
    run = on_voltage(el.Capacitor(), el.Capacitor(), voltage=ramp).simulate("1.2 ms", rtol=1e-8)
    assert run["c1.vc"].final.m + run["c2.vc"].final.m == pytest.approx(1.0, rel=1e-9)
    assert run.energy().relative_residual < 1e-5
