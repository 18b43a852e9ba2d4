"""What there is along an axis alone: gaps, supports, rings, vehicles, rolling; and its sensors."""

import numpy as np
import pytest
from benches import seconds, signal, values, wire, wired
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import ConnectionRefused, quantity, sin
from library.signal import Derivative

TIGHT = {"rtol": 1e-11, "method": "DOP853"}


# -- gaps, supports and rings ----------------------------------------------------------------------
def sweep(part, start, velocity, end):
    """(x, f) while R moves at constant velocity from start to end, in m and N."""
    part.x = quantity(start, "m")
    run = driven(part, quantity(velocity, "m/s")).simulate(
        quantity((end - start) / velocity, "s"), **TIGHT)
    return values(run, "part.x", "m"), values(run, "part.f", "N")


def test_a_gap_stores_the_work_of_its_elastic_force():
    gap = tr.ElastoGap(stiffness="1 kN/m", damping="20 N*s/m", free_length="30 mm", x="10 mm")
    run = driven(gap, "0 m/s").simulate("1 s")
    assert_allclose(values(run, "part.energy_stored", "J"), 1e3 * 0.02**2 / 2, rtol=1e-12)


@pytest.mark.parametrize("velocity", [0.5, -0.5])
def test_a_gap_pushes_with_a_damping_force_that_never_exceeds_the_elastic_one(velocity):
    gap = tr.ElastoGap(stiffness="1 kN/m", damping="20 N*s/m", free_length="30 mm")
    ends = (0.0, 0.05) if velocity > 0 else (0.05, 0.0)
    x, f = sweep(gap, ends[0], velocity, ends[1])
    elastic = -1e3 * (0.03 - x)
    exact = np.where(x < 0.03, elastic + np.clip(20 * velocity, elastic, -elastic), 0.0)
    assert_allclose(f, exact, atol=1e-9)
    assert np.all(f <= 1e-12)


def test_a_position_dependent_support_interpolates_force_and_damping():
    support = tr.PositionDependentSupport(
        positions=quantity([-1, 0, 2], "cm"), forces=quantity([3, 0, 8], "N"),
        dampings=quantity([10, 10, 30], "N*s/m"))
    x, f = sweep(support, -0.02, 0.1, 0.03)
    force = np.interp(x, [-0.02, -0.01, 0, 0.02, 0.03], [6, 3, 0, 8, 12])
    assert_allclose(f, force + 0.1 * np.interp(x, [-0.01, 0, 0.02], [10, 10, 30]), atol=1e-9)


def test_a_friction_ring_loads_on_one_line_and_unloads_on_another():
    k, preload, ring, amplitude = 1000.0, 50.0, 8.0, 0.02
    press = tr.PositionSource(position=lambda t: quantity(amplitude,
                                                          "m") * sin(t * quantity("1 1/s")))
    part = tr.FrictionRing(stiffness="1 kN/m", preload="50 N", ring_friction="8 N")
    run = driven(part, source=press).simulate(f"{2 * np.pi} s", rtol=1e-10)
    for t in (0.7, 2.4, 4.0, 5.9):
        x = amplitude * np.sin(t)
        expected = preload + k * x + ring * np.sign(np.cos(t))
        assert_allclose(run["part.f"].at(f"{t} s").to("N").m, expected, rtol=1e-9)
    assert_allclose(run.energy()["part"].dissipated, 4 * ring * amplitude, rtol=1e-9)


# -- road load of a vehicle ------------------------------------------------------------------------
CAR = {"mass": "1000 kg", "frontal_area": "2 m^2", "drag_coefficient": 0.5,
       "air_density": "1.2 kg/m^3"}
DRAG = 1.2 * 0.5 * 2 / 2  # N s²/m²


def drive(force="0 N", **values_):
    return wired("drive", "engine.R car.H", "engine.C ground.V",
                 car=tr.VehicleBody(**CAR, **values_), engine=tr.ForceSource(force=force),
                 ground=tr.Reference())


def test_a_vehicle_approaches_the_speed_where_drag_takes_the_drive():
    run = drive("960 N", rolling_coefficient=0).simulate("60 s", **TIGHT)
    top = np.sqrt(960 / DRAG)
    assert_allclose(values(run, "car.v", "m/s"),
                    top * np.tanh(960 / 1000 / top * seconds(run)), atol=1e-8)


@pytest.mark.parametrize(("wind", "push"), [("5 m/s", DRAG * 25**2), ("-30 m/s", -DRAG * 10**2)])
def test_headwind_adds_to_the_airspeed_and_tailwind_pushes(wind, push):
    run = drive(rolling_coefficient=0, v="20 m/s", headwind=wind).simulate("1 s")
    assert_allclose(values(run, "car.f_air", "N", [0.0]), push, rtol=1e-12)


def test_weight_pulls_back_uphill_and_loads_the_wheels_less():
    slope = quantity(np.arctan(0.1), "rad")
    run = drive(rolling_coefficient=0.02, v="10 m/s", incline=slope).simulate("1 s", **TIGHT)
    weight = 1000 * 9.81
    assert_allclose(values(run, "car.f_grade", "N"), weight * 0.1 / np.sqrt(1.01), rtol=1e-12)
    assert_allclose(values(run, "car.f_roll", "N"), 0.02 * weight / np.sqrt(1.01), rtol=1e-12)
    start = -(DRAG * 100 + weight * 0.12 / np.sqrt(1.01)) / 1000
    assert_allclose(values(run, "car.v", "m/s", [1e-4]) - 10, 1e-4 * start, rtol=1e-4)


def test_incline_and_wind_may_come_as_signals():
    model = drive(rolling_coefficient=0, v="10 m/s")
    model.road = signal("rad", lambda t: quantity("0.1 rad/s") * t)
    model.wind = signal("m/s", lambda t: quantity("2 m/s^2") * t)
    wire(model, "road.y car.beta", "wind.y car.W")
    run = model.simulate("2 s")
    t, v = seconds(run), values(run, "car.v", "m/s")
    assert_allclose(values(run, "car.f_grade", "N"), 9810 * np.sin(0.1 * t), atol=1e-9)
    assert_allclose(values(run, "car.f_air", "N"), DRAG * (v + 2 * t) ** 2, rtol=1e-12)


# -- rolling resistance ----------------------------------------------------------------------------
def test_rolling_resistance_is_the_coefficient_times_the_load():
    wheel = tr.RollingResistance(coefficient=0.02, normal_force="3 kN",
                                 threshold_velocity="0.1 m/s")
    run = driven(wheel, lambda t: quantity("1 m/s^2") * t - quantity("1 m/s")).simulate("2 s")
    v = seconds(run) - 1
    assert_allclose(values(run, "part.f", "N"), 60 * np.tanh(v / 0.1), atol=1e-12)


@pytest.mark.parametrize("slope", ["200 N/s", "-1 kN/s"])
def test_rolling_resistance_follows_a_load_by_a_signal_until_the_wheel_is_lifted_off(slope):
    model = driven(tr.RollingResistance(coefficient=0.02), "5 m/s")
    wire(model, "load.y part.N", load=signal("N", lambda t: quantity("1 kN") + quantity(slope) * t))
    run = model.simulate("2 s")
    load = np.maximum(1000 + quantity(slope).m_as("N/s") * seconds(run), 0)
    assert_allclose(values(run, "part.f", "N"), 0.02 * load, rtol=1e-13, atol=1e-12)


# -- sensors ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("sensor", "speed", "place"), [
    (tr.MotionSensor(acceleration_port=True, offset="10 cm"), -0.5, 0.1),
    (tr.MotionSensor(reference="absolute", x="1 m"), 0.5, 1.0)], ids=["against C", "absolute"])
def test_motion_is_read_against_c_or_the_reference(sensor, speed, place):
    """A body at 3 m/s² on a sensor, and a platform at 1 m/s."""
    model = wired("falling", "body.M pull.R sensor.R", "pull.C platform.C ground.V",
                  body=tr.Mass(mass="2 kg", v="0.5 m/s"), pull=tr.ForceSource(force="6 N"),
                  platform=tr.VelocitySource(velocity="1 m/s"), ground=tr.Reference(),
                  sensor=sensor)
    if sensor.reference != "absolute":
        model.connect(model.sensor.C, model.platform.R)
    run = model.simulate("1 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "sensor.V", "m/s"), 3 * t + speed, atol=1e-11)
    assert_allclose(values(run, "sensor.P", "m"), place + 1.5 * t**2 + speed * t, atol=1e-11)
    if sensor.reference != "absolute":
        assert_allclose(values(run, "sensor.A", "m/s^2"), 3.0, rtol=1e-11)
        assert_allclose(values(run, "platform.f", "N"), 0.0, atol=1e-12)  # draws no force


def test_outputs_and_ports_that_were_not_chosen_do_not_exist():
    sensor = tr.MotionSensor(reference="absolute", velocity_port=False)
    for name in ("C", "V", "A"):
        with pytest.raises(ConnectionRefused):
            getattr(sensor, name)
    assert sensor.P.path.endswith("P")


@pytest.mark.parametrize("model", [
    driven(tr.Damper(), tr.table(["0 s", "0.1 s", "0.1 s"], ["-1 m/s", "-1 m/s", "0.7 m/s"])),
    thrown(tr.HardStop(model="restitution", restitution=0.7, lower_bound="-0.1 m"),
           velocity="-1 m/s"),  # strikes at 0.1 s
], ids=["step", "impact"])  # fmt: skip
def test_a_jump_of_the_velocity_is_a_pulse_behind_a_derivative_alone(model):
    wire(model, "sensor.R part.R", "sensor.V rate.u",
         sensor=tr.MotionSensor(reference="absolute", acceleration_port=True),
         rate=Derivative(input="m/s"))
    run = model.simulate("0.2 s", rtol=1e-9)
    assert run["sensor.A"].integral().to("m/s").magnitude == 0
    assert_allclose(run["rate.y"].integral().to("m/s").magnitude, 1.7, rtol=1e-6)
