"""Road load of a vehicle against closed forms."""

import numpy as np
from benches import seconds, signal, values, wire, wired
from numpy.testing import assert_allclose

from blocks import quantity
from library.translational import ForceSource, Reference, VehicleBody

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
CAR = {
    "mass": "1000 kg",
    "frontal_area": "2 m^2",
    "drag_coefficient": 0.5,
    "air_density": "1.2 kg/m^3",
}
DRAG = 1.2 * 0.5 * 2 / 2  # N s²/m²


def drive(force="0 N", **values_):
    return wired("drive", "engine.R car.H", "engine.C ground.V",
                 car=VehicleBody(**CAR, **values_), engine=ForceSource(force=force),
                 ground=Reference())


def test_a_vehicle_approaches_the_speed_where_drag_takes_the_drive():
    run = drive("960 N", rolling_coefficient=0).simulate("60 s", **TIGHT)
    top = np.sqrt(960 / DRAG)
    assert_allclose(
        values(run, "car.v", "m/s"), top * np.tanh(960 / 1000 / top * seconds(run)), atol=1e-8
    )


def test_a_coasting_vehicle_slows_by_drag_as_one_over_time():
    run = drive(rolling_coefficient=0, v="30 m/s").simulate("100 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "car.v", "m/s"), 30 / (1 + 30 * DRAG / 1000 * t), rtol=1e-9)


def test_headwind_adds_to_the_airspeed_and_tailwind_pushes():
    run = drive(rolling_coefficient=0, v="20 m/s", headwind="5 m/s").simulate("1 s")
    assert_allclose(values(run, "car.f_air", "N", [0.0]), DRAG * 25**2, rtol=1e-12)
    run = drive(rolling_coefficient=0, v="20 m/s", headwind="-30 m/s").simulate("1 s")
    assert_allclose(values(run, "car.f_air", "N", [0.0]), -DRAG * 10**2, rtol=1e-12)


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
