"""Long tables in machine code: what the reference says, and runs with them."""

import casadi as ca
import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from test_machine_code import machine

from blocks import Model, interpolate, interpolate_grid, quantity
from blocks.language.expression import Expression
from blocks.native import is_large
from library.signal import Integrator, Table1D, TimeTable
from library.translational import ForceSource, Mass, MotionSensor, Reference, Spring

RNG = np.random.default_rng(8)
U = ca.SX.sym("u", 2)
AXES = np.sort(RNG.uniform(0, 1, 40)), np.sort(RNG.uniform(0, 1, 7))
VALUES = RNG.normal(size=(40, 7))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_compiled_tables_and_their_derivatives_are_the_reference(lanes, smooth, order):
    line = interpolate(Expression(U[0]), AXES[0], VALUES[:, 0], smooth=smooth).sx
    grid = interpolate_grid([Expression(U[k]) for k in range(2)], AXES, VALUES.ravel(),
                            smooth=smooth).sx
    what = ca.vertcat(line, grid)
    for _ in range(order):
        what = ca.vec(ca.densify(ca.jacobian(what, U)))
    function = ca.Function("f", [U], [what])
    evaluate = machine(function, lanes)
    for x in RNG.uniform(-0.3, 1.3, size=(50, 2, 8)):
        given = x if lanes == 8 else x[:, :1]
        exact = np.array(function.map(given.shape[1])(given))
        found = evaluate(given if lanes == 8 else given[:, 0])
        assert_allclose(found.reshape(exact.shape), exact, rtol=1e-9,
                        atol=1e-11 * (1 + np.abs(exact).max()))


def test_at_a_point_both_take_the_piece_on_its_right():
    x, y = np.arange(30.0), np.arange(30.0) % 2
    slope = ca.jacobian(interpolate(Expression(U[0]), x, y).sx, U)[0]
    function = ca.Function("f", [U], [slope])
    evaluate = machine(function, 1)
    for k in range(1, 29):
        point = np.array([float(k), 0.0])
        assert evaluate(point)[0] == float(function(point)) == (1 if k % 2 == 0 else -1)


def oscillator(points, interpolation="linear"):
    """1 kg held by a spring of 100 N/m, which a table of so many points says."""
    model = Model("oscillator")
    model.mass, model.ground = Mass(mass="1 kg", v="1 m/s"), Reference()
    model.sensor, model.force = MotionSensor(position_port=True), ForceSource()
    x = np.linspace(-0.3, 0.3, points)
    wire(model, "mass.M sensor.R force.R", "force.C ground.V sensor.C", "sensor.P table.u",
         "table.y force.S",
         table=Table1D(x=quantity(x, "m"), values=quantity(-100 * x, "N"),
                       interpolation=interpolation))
    return model


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "ode45"])
@pytest.mark.parametrize("points, interpolation", [(30, "linear"), (1000, "smooth")])
def test_a_body_on_a_spring_from_a_long_table_swings_as_on_a_spring(method, points, interpolation):
    result = oscillator(points, interpolation).simulate("2 s", method=method, rtol=1e-8, atol=1e-10)
    t = np.linspace(0.1, 2, 20)
    assert result.statistics.method == method
    assert_allclose([result["mass.v"].at(f"{s} s").magnitude for s in t], np.cos(10 * t), atol=2e-5)
    assert_allclose([result["table.y"].at(f"{s} s").magnitude for s in t], -10 * np.sin(10 * t),
                    atol=2e-4)


def test_other_values_of_a_long_table_are_those_of_the_next_run():
    model = oscillator(50)
    model.simulate("1 s", method="dopri5", rtol=1e-8)
    x = np.linspace(-0.3, 0.3, 50)
    model.table.values = quantity(-25 * x, "N")
    result = model.simulate("1 s", method="dopri5", rtol=1e-9, atol=1e-11)
    assert_allclose(result["mass.v"].final.magnitude, np.cos(5.0), atol=1e-6)


def test_a_large_network_reads_long_tables_in_its_loops():
    """Bodies on stiffening springs of a table, alone and among so many that loops are written."""
    x = np.linspace(-1, 1, 400)
    finals = []
    for count in (1, 200):
        model = wired("field", "masses.M springs.R", "springs.C ground.V",
                      ground=Reference(), masses=Mass(count=count, mass="1 kg", v="1 m/s"),
                      springs=Spring(count=count, law="table", deformations=quantity(x, "m"),
                                     forces=quantity(50 * x + 30 * x**3, "N")))
        assert is_large(model.compile()) == (count > 1)
        result = model.simulate("1 s", method="dopri5", rtol=1e-11)
        finals.append(np.ravel(result["masses.v"].final.magnitude))
        kept = np.ravel(result["springs.energy_stored"].final.magnitude) + finals[-1] ** 2 / 2
        assert_allclose(kept, 0.5, rtol=1e-6)
    assert_allclose(finals[1], np.full(200, finals[0][0]), rtol=1e-7)


def test_a_long_table_of_time_is_stepped_onto_and_has_the_integral_of_numpy():
    t, y = np.linspace(0, 1, 2001), RNG.normal(size=2001)
    model = wired("ramp", "source.y sum.u",
                  source=TimeTable(times=quantity(t, "s"), values=y), sum=Integrator())
    assert model.simulate("1 s")["sum.y"].final.magnitude == pytest.approx(np.trapezoid(y, t),
                                                                           abs=1e-12)
