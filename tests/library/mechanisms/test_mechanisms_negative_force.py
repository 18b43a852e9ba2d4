"""A clutch that is pulled instead of pressed is named at the instant it happens."""

import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, ParameterError, SimulationError, quantity
from library.mechanisms import DiscClutch
from library.rotational import Inertia, RotationalReference, TorqueSource
from library.signal import Ramp


def pressed(force) -> Model:
    return wired("pressed", "engine.I clutch.R drag.R", "load.I clutch.C", "drag.C ground.W",
                 engine=Inertia(inertia="1 kg*m^2", w="10 rad/s"), load=Inertia(inertia="1 kg*m^2"),
                 clutch=DiscClutch(normal_force=force), drag=TorqueSource(torque="0 N*m"),
                 ground=RotationalReference())


@pytest.mark.parametrize("given, told", [
    ("function", "normal_force is no longer at least 0.0 N, by the function given for it"),
    ("signal", "the normal force N becomes negative, but linings can only be pressed"),
])  # fmt: skip
def test_a_normal_force_that_falls_below_zero_stops_the_run_and_names_the_clutch(given, told):
    if given == "function":
        model = pressed(lambda t: quantity("10 N") - quantity("20 N/s") * t)
    else:
        model = pressed("10 N")
        wire(model, "press.y clutch.N", press=Ramp(initial="10 N", slope="-20 N/s"))
    with pytest.raises(SimulationError) as caught:
        model.simulate("2 s")
    error = caught.value
    assert_allclose(error.time, 0.5, atol=1e-3)
    assert error.code == "simulation.required" and error.variables == ("clutch",)
    assert told in str(error)
    assert str(error).startswith("clutch: at t = 0.5")
    assert_allclose(error.result.time.final.to("s").m, error.time)  # what was computed is kept


def test_a_negative_normal_force_as_parameter_is_refused_at_once():
    with pytest.raises(ParameterError, match="normal_force.*must be at least 0 N"):
        pressed("-5 N")
