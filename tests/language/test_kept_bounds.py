"""What is given for a parameter keeps its bounds; what laws and tables ask of numbers."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
from blocks import Model, Parameter, Variable, contact, cos, der, interpolate, quantity, sin, where
from blocks import time as now
from blocks.exceptions import BlocksError, EquationError, ParameterError, SimulationError
from blocks.language.tracing import kernel_of
from library.tables import table
from library.translational import ForceSource, Mass, Reference, TwoPort, VelocitySource

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
    return wired("slowed", "body.M drag.R", "drag.C ground.V",
                 body=Mass(v="1 m/s"), drag=Drag(**values), ground=Reference())


@pytest.mark.parametrize("values, told, at", [
    ({"d": lambda t: N * (1 - t / S)}, "d is no longer at least 0.0 N", 1.0),
    ({"d": lambda t: N * (5 + 8 * sin(t / S))}, "d is no longer at most 9.0 N", np.pi / 6),
    ({"n": lambda t: cos(t / S)}, "n is no longer above 0.0", np.pi / 2),
    ({"n": lambda t: 1 + 2 * t / S}, "n is no longer below 5.0", 2.0),
    ({"d": lambda t: N * where(t < S, 1, 3 - t / S)}, "d is no longer at least 0.0 N", 3.0),
    ({"d": table(["0 s", "1 s"], ["2 N*s/m", "1 N*s/m"], ends="continued")},
     "d is no longer at least 0.0 N", 2.0)])  # fmt: skip
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
     "d: must be at least 0 .*-2 .* at 4 s")])  # fmt: skip
def test_a_point_of_a_table_that_leaves_a_bound_is_refused_before_the_run(values, told):
    model = slowed(**values)
    (error,) = model.check().errors
    assert error.code == "parameter.bounds"
    with pytest.raises(ParameterError, match=rf"^drag\.{told}"):
        model.simulate("1 s")


@pytest.mark.parametrize("values", [
    {"d": table(["0 s", "0.3 s"], ["1 N*s/m", "0 N*s/m"])},
    {"d": table(quantity(np.linspace(0, 1, 500), "s"), N * np.linspace(9, 0, 500) ** 2 / 9)},
    {"d": lambda t: N * blocks.maximum(9 * cos(t / S), 0)},
    {"d": lambda t: N * (4 + 4 * sin(t / S))},
    {"d": lambda t: N * where(t < 0.5 * S, 9, 0)},
    {"n": lambda t: 2 + sin(t / S) * table(["0 s", "1 s"], ["1", "-1.9"])(t)}])  # fmt: skip
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
    model = wired("lists", "body.M drag.R", "drag.C ground.V",
                  body=Mass(v="1 m/s"),
                  drag=Steps(d=lambda t: N * np.array([2, 1]) * (1 - t / S * np.array([0, 0.5]))),
                  ground=Reference())
    with pytest.raises(SimulationError, match="^drag: .* d is no longer at least 0") as error:
        model.simulate("5 s")
    assert_allclose(error.value.time, 2.0, rtol=1e-8)


def test_a_function_may_come_to_a_bound_that_is_allowed():
    # 0.3 - 0.1 t at 3 s is -6e-17 in the last digits; v = exp(-0.45) there
    run = slowed(d=lambda t: N * (0.3 - 0.1 * t / S)).simulate("3 s", rtol=1e-9)
    assert_allclose(run["body.v"].final.to("m/s").magnitude, np.exp(-0.45), rtol=1e-8)


# -- what laws and tables ask -----------------------------------------------------------------
class Table(TwoPort):
    xs, ys = Parameter(["0 m/s", "1 m/s", "2 m/s"]), Parameter(["0 N", "1 N", "3 N"])

    def equations(self):
        yield self.f == interpolate(self.v, self.xs, self.ys)


class Curve(Table):
    def equations(self):
        yield self.f == interpolate(self.v, self.xs, self.ys, smooth="akima")


class Grid(Table):
    def equations(self):
        yield self.f == blocks.interpolate_grid([self.v], [self.xs], self.ys)


class Area(Table):
    def equations(self):
        yield self.f == blocks.integral_of_table(self.v, self.xs, self.ys) / quantity("1 m/s")


class Rub(TwoPort):
    static, kinetic = Parameter("2 N"), Parameter("1 N")

    def equations(self):
        yield blocks.dry_friction(self.f, self.v, static=self.static, kinetic=self.kinetic)


class Bounce(TwoPort):
    restitution = Parameter(0.5)
    N, gap = Variable("N"), Variable("m", "1 cm", priority="high")

    def equations(self):
        yield der(self.gap) == -self.v
        yield self.f == self.N
        yield contact(self.N, self.gap, restitution=self.restitution)


class Ratchet(TwoPort):
    back, forth = Parameter("-5 N"), Parameter("1 N")

    def equations(self):
        bounds = self.back, self.forth
        yield blocks.set_valued(self.f, self.v, static=bounds, kinetic=bounds)


def dragged(part, by=None):
    model = Model("dragged")
    model.by, model.part, model.ground = by or VelocitySource(velocity="1.5 m/s"), part, Reference()
    model.connect(model.by.R, model.part.R)
    model.connect(model.by.C, model.part.C, model.ground.V)
    return model


def thrown(part):
    model = dragged(part, ForceSource(force="0 N"))
    model.body = Mass(mass="1 kg", v="1 m/s")
    model.connect(model.body.M, model.part.R)
    return model


@pytest.mark.parametrize("kind", [Table, Curve, Grid, Area])
@pytest.mark.parametrize(("points", "says"), [
    (["0 m/s", "2 m/s", "1 m/s"], "2 m/s is followed by 1 m/s"),
    (["0 m/s", "1 m/s", "1 m/s"], "1 m/s is followed by 1 m/s")])  # fmt: skip
def test_a_short_table_whose_points_do_not_increase_is_refused(kind, points, says):
    findings = dragged(kind(xs=points)).check().errors
    assert [f.where for f in findings] == [("part",)]
    assert says in findings[0].problem
    with pytest.raises(BlocksError, match=says):
        dragged(kind(xs=points)).simulate("1 s")
    assert not dragged(kind()).check().errors


def test_a_short_table_of_numbers_that_do_not_increase_is_refused_by_its_equation():
    class Written(TwoPort):
        def equations(self):
            yield self.f == interpolate(self.v, quantity([0, 2, 1], "m/s"),
                                        quantity([0, 1, 2], "N"))

    with pytest.raises(EquationError, match="Written, equation 1: .*2 m/s is followed by 1 m/s"):
        dragged(Written()).simulate("1 s")


def test_a_table_of_numbers_over_time_may_jump():
    class Jump(TwoPort):
        def equations(self):
            yield self.f == interpolate(now, quantity([0, 1, 1, 2], "s"),
                                        quantity([0, 1, 5, 5], "N"), hold=True)

    run = dragged(Jump()).simulate("1.5 s")
    assert run["part.f"].at("1.2 s").to("N").magnitude == pytest.approx(5)


@pytest.mark.parametrize(("part", "says"), [
    (Rub(static="-1 N"), "part: dry_friction() takes static >= 0, but it is -1 N"),
    (Rub(kinetic="-1 N"), "part: dry_friction() takes kinetic >= 0, but it is -1 N"),
    (Rub(kinetic="3 N"), "part: dry_friction() takes kinetic <= static, but kinetic is 3 N and "
     "static is 2 N"),
    (Bounce(restitution=1.5), "part: contact() takes a restitution from 0 to 1, but it is 1.5"),
    (Bounce(restitution=-0.1), "part: contact() takes a restitution from 0 to 1, but it is -0.1"),
    (Ratchet(back="2 N"), "part: set_valued() takes static[0] <= static[1], but static[0] is 2 N "
     "and static[1] is 1 N")])  # fmt: skip
def test_a_law_is_told_by_which_values_it_is_broken(part, says):
    findings = thrown(part).check().errors
    assert len(findings) == 1 and says in findings[0].problem


def test_the_instance_of_an_array_is_named():
    model = wired("many", "body.M rub.R", "rub.C ground.V",
                  body=Mass(count=3), ground=Reference(),
                  rub=Rub(count=3, kinetic=["1 N", "2 N", "4 N"]))
    findings = model.check().errors
    assert [f.where for f in findings] == [("rub[2]",)] and "kinetic is 4 N" in findings[0].problem


def test_a_study_leaves_out_values_that_break_a_law():
    model = thrown(Bounce())
    study = model.sweep({"part.restitution": [0.0, 0.5, 1.5]}, "0.1 s", outputs=["final(body.v)"])
    after = study["final(body.v)"].values  # it flies 10 mm at 1 m/s, and turns back
    assert after[:2] == pytest.approx([0.0, -0.5], abs=1e-6)
    assert np.isnan(after[2])


def test_numbers_that_break_a_law_are_told_with_the_equation():
    class Elastic(Bounce):
        def equations(self):
            yield contact(self.N, self.gap, restitution=1.5)

    with pytest.raises(EquationError, match=r"Elastic, equation 1: contact\(\) .* but it is 1.5"):
        thrown(Elastic()).simulate("1 s")


def test_laws_that_keep_to_what_is_demanded_run():
    for part in (Rub(), Rub(static="1 N"), Bounce(restitution=1), Ratchet()):
        assert not thrown(part).check().errors
