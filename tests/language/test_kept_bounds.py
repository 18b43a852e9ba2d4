"""What is given for a parameter keeps its bounds, however it varies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, Parameter, cos, maximum, quantity, sin, where
from blocks.exceptions import ParameterError, SimulationError
from blocks.language.tracing import kernel_of
from library.tables import table
from library.translational import Mass, Reference, TwoPort

N = quantity("1 N*s/m")
S = quantity("1 s")


class Drag(TwoPort):
    """f = d v, with a drag that is 0 to 9, all allowed, and a divisor that is above 0 and below 5.
    """

    d = Parameter("1 N*s/m", minimum=0, maximum="9 N*s/m", varying=True)
    n = Parameter(1.0, above=0, below=5, varying=True)

    def equations(self):
        yield self.f * self.n == self.d * self.v


def slowed(**values):
    model = Model("slowed")
    model.body, model.drag, model.ground = Mass(v="1 m/s"), Drag(**values), Reference()
    model.connect(model.body.M, model.drag.R)
    model.connect(model.drag.C, model.ground.V)
    return model


@pytest.mark.parametrize("values, told, at", [
    ({"d": lambda t: N * (1 - t / S)}, "d is no longer at least 0.0 N", 1.0),
    ({"d": lambda t: N * (5 + 8 * sin(t / S))}, "d is no longer at most 9.0 N", np.pi / 6),
    ({"n": lambda t: cos(t / S)}, "n is no longer above 0.0", np.pi / 2),
    ({"n": lambda t: 1 + 2 * t / S}, "n is no longer below 5.0", 2.0),
    ({"d": lambda t: N * where(t < S, 1, 3 - t / S)}, "d is no longer at least 0.0 N", 3.0),
    ({"d": table(["0 s", "1 s"], ["2 N*s/m", "1 N*s/m"], ends="continued")},
     "d is no longer at least 0.0 N", 2.0),
])  # fmt: skip
def test_a_function_of_time_stops_the_run_where_it_leaves_a_bound(values, told, at):
    with pytest.raises(SimulationError, match=f"^drag: at t = .* {told}.*by the function") as error:
        slowed(**values).simulate("5 s")
    assert_allclose(error.value.time, at, rtol=1e-8)


@pytest.mark.parametrize("values, told", [
    ({"d": table(["0 s", "1 s"], ["1 N*s/m", "-5 N*s/m"])}, "d: must be at least 0 .*-5 .* at 1 s"),
    ({"d": table(["0 s", "1 s", "2 s"], ["1 N*s/m", "12 N*s/m", "1 N*s/m"], between="held")},
     "d: must be at most 9 .*12 .* at 1 s"),
    ({"d": table(["0 s", "1 s", "1 s"], ["1 N*s/m", "-2 N*s/m", "1 N*s/m"])},  # before it jumps
     "d: must be at least 0 .*-2 .* at 1 s"),
    ({"n": table(["0 s", "4 s"], ["1", "0"])}, "n: must be greater than 0, but is 0 at 4 s"),
    ({"d": lambda t: 2 * table(["0 s", "4 s"], ["1 N*s/m", "-1 N*s/m"])(t)},
     "d: must be at least 0 .*-2 .* at 4 s"),
])  # fmt: skip
def test_a_point_of_a_table_that_leaves_a_bound_is_refused_before_the_run(values, told):
    model = slowed(**values)
    (error,) = model.check().errors
    assert error.code == "parameter.bounds"
    with pytest.raises(ParameterError, match=rf"^drag\.{told}"):
        model.simulate("1 s")


@pytest.mark.parametrize("values", [
    {"d": table(["0 s", "0.3 s"], ["1 N*s/m", "0 N*s/m"])},
    {"d": table(quantity(np.linspace(0, 1, 500), "s"), N * np.linspace(9, 0, 500) ** 2 / 9)},
    {"d": lambda t: N * maximum(9 * cos(t / S), 0)},
    {"d": lambda t: N * (4 + 4 * sin(t / S))},
    {"d": lambda t: N * where(t < 0.5 * S, 9, 0)},
    {"n": lambda t: 2 + sin(t / S) * table(["0 s", "1 s"], ["1", "-1.9"])(t)},
])  # fmt: skip
def test_nothing_is_watched_where_no_time_leads_out_of_the_bounds(values):
    model = slowed(**values)
    assert not model.check()
    assert not kernel_of(model.drag).requirements
    assert model.simulate("1 s").status == "finished"


class Steps(TwoPort):
    """Two drags beside each other."""

    d = Parameter(["1 N*s/m", "1 N*s/m"], minimum=0, varying=True)

    def equations(self):
        yield self.f == (self.d[0] + self.d[1]) * self.v


def test_every_number_of_a_list_that_varies_keeps_its_bounds():
    model = Model("lists")
    model.body, model.drag, model.ground = Mass(v="1 m/s"), Steps(
        d=lambda t: N * np.array([2, 1]) * (1 - t / S * np.array([0, 0.5]))), Reference()
    model.connect(model.body.M, model.drag.R)
    model.connect(model.drag.C, model.ground.V)
    with pytest.raises(SimulationError, match="^drag: .* d is no longer at least 0") as error:
        model.simulate("5 s")
    assert_allclose(error.value.time, 2.0, rtol=1e-8)


def test_a_function_may_come_to_a_bound_that_is_allowed():
    # 0.3 - 0.1 t at 3 s is -6e-17 in the last digits; v = exp(-0.45) there
    run = slowed(d=lambda t: N * (0.3 - 0.1 * t / S)).simulate("3 s", rtol=1e-9)
    assert_allclose(run["body.v"].final.to("m/s").magnitude, np.exp(-0.45), rtol=1e-8)
