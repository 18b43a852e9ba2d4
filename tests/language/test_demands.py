"""What laws and tables ask of numbers and parameters, before a run."""

import numpy as np
import pytest

from blocks import (
    Model,
    Parameter,
    Variable,
    contact,
    der,
    dry_friction,
    integral_of_table,
    interpolate,
    interpolate_grid,
    quantity,
    set_valued,
)
from blocks import time as now
from blocks.exceptions import BlocksError, EquationError
from library.translational import ForceSource, Mass, Reference, TwoPort, VelocitySource


class Table(TwoPort):
    xs = Parameter(["0 m/s", "1 m/s", "2 m/s"])
    ys = Parameter(["0 N", "1 N", "3 N"])

    def equations(self):
        yield self.f == interpolate(self.v, self.xs, self.ys)


class Curve(Table):
    def equations(self):
        yield self.f == interpolate(self.v, self.xs, self.ys, smooth="akima")


class Grid(Table):
    def equations(self):
        yield self.f == interpolate_grid([self.v], [self.xs], self.ys)


class Area(Table):
    def equations(self):
        yield self.f == integral_of_table(self.v, self.xs, self.ys) / quantity("1 m/s")


class Rub(TwoPort):
    static = Parameter("2 N")
    kinetic = Parameter("1 N")

    def equations(self):
        yield dry_friction(self.f, self.v, static=self.static, kinetic=self.kinetic)


class Bounce(TwoPort):
    restitution = Parameter(0.5)
    N = Variable("N")
    gap = Variable("m", "1 cm", priority="high")

    def equations(self):
        yield der(self.gap) == -self.v
        yield self.f == self.N
        yield contact(self.N, self.gap, restitution=self.restitution)


class Ratchet(TwoPort):
    back = Parameter("-5 N")
    forth = Parameter("1 N")

    def equations(self):
        bounds = self.back, self.forth
        yield set_valued(self.f, self.v, static=bounds, kinetic=bounds)


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
    (["0 m/s", "1 m/s", "1 m/s"], "1 m/s is followed by 1 m/s"),
])  # fmt: skip
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
     "and static[1] is 1 N"),
])  # fmt: skip
def test_a_law_is_told_by_which_values_it_is_broken(part, says):
    findings = thrown(part).check().errors
    assert len(findings) == 1 and says in findings[0].problem


def test_the_instance_of_an_array_is_named():
    model = Model("many")
    model.body, model.ground = Mass(count=3), Reference()
    model.rub = Rub(count=3, kinetic=["1 N", "2 N", "4 N"])
    model.connect(model.body.M, model.rub.R)
    model.connect(model.rub.C, model.ground.V)
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
