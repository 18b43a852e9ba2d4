"""Defaults and starts that follow parameters, and the bounds of what is given."""

import copy

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
from blocks import Component, Model, Option, Parameter, Variable, der, interpolate, quantity, sin
from blocks import time as now
from blocks.exceptions import BlocksError, EquationError, ParameterError, SimulationError
from library.tables import table
from library.translational import ForceSource, Mass, Reference, TwoPort, VelocitySource


class Disc(Component):
    radius = Parameter("2 m", above=0)
    kind = Option("disc", ("disc", "square"))
    area = Parameter(lambda c: (np.pi if c.kind == "disc" else 4) * c.radius**2, "cm^2",
                     maximum="1000 m^2")
    strip = Parameter(lambda c: c.area / 2, "m^2")
    edges = Parameter(lambda c: [c.radius, 2 * c.radius, "1 m"], "m")
    painted, length = Variable("m^2", "0 m^2", priority="high"), Variable("m")

    def equations(self):
        yield der(self.painted) == (self.area + self.strip) / quantity("1 s")
        yield self.length == sum(self.edges[k] for k in range(3))


def model_of(part):
    model = Model("made")
    model.part = part
    return model


def painted(model):
    return model.simulate("2 s", rtol=1e-10)["part.painted"].final.to("m^2").magnitude


@pytest.mark.parametrize("radius", [1.0, 4.0])
def test_a_default_follows_what_is_given(radius):
    model = model_of(Disc(radius=f"{radius} m"))
    assert model.part.area.to("m^2").magnitude == pytest.approx(np.pi * radius**2)
    assert painted(model) == pytest.approx(2 * 1.5 * np.pi * radius**2)
    run = model.simulate("1 s")
    assert run["part.length"].final.to("m").magnitude == pytest.approx(3 * radius + 1)


def test_a_default_follows_later_changes_without_a_new_assembly():
    model = model_of(Disc())
    compiled = model.compile()
    model.part.radius = "10 m"
    assert painted(model) == pytest.approx(2 * 1.5 * np.pi * 100)
    assert model.compile() is compiled
    assert_allclose(model.part.edges.to("m").magnitude, [10, 20, 1])


def test_a_value_that_is_given_no_longer_follows():
    model = model_of(Disc(kind="square"))
    assert painted(model) == pytest.approx(2 * 1.5 * 16)
    model.part.area = "3 m^2"
    model.part.radius = "7 m"
    assert painted(model) == pytest.approx(2 * 1.5 * 3)
    assert copy.deepcopy(model).part.strip.to("m^2").magnitude == pytest.approx(1.5)


def test_instances_of_an_array_follow_their_own_values():
    model = model_of(Disc(count=3, radius=["1 m", "2 m", "3 m"]))
    assert_allclose(painted(model), 3 * np.pi * np.array([1, 4, 9]))
    assert_allclose(model.part[2].strip.to("m^2").magnitude, np.pi * 9 / 2)
    model.part[1].area = "5 m^2"
    assert_allclose(painted(model), 3 * np.array([np.pi, 5, np.pi * 9]))


def test_sweeps_and_sensitivities_go_through_a_default():
    model = model_of(Disc())
    study = model.sweep({"part.radius": ["1 m", "2 m", "3 m"]}, "1 s",
                        outputs=["final(part.painted)"])
    assert_allclose(study["final(part.painted)"], 1.5 * np.pi * np.array([1, 4, 9]))
    run = model.simulate("1 s", rtol=1e-10, sensitivities=["part.radius"])
    by_radius = run.sensitivities["part.painted", "part.radius"].at("1 s").to("m").magnitude
    assert by_radius == pytest.approx(1.5 * 2 * np.pi * 2)


def test_a_model_that_is_written_and_read_still_follows(tmp_path):
    model_of(Disc(radius="3 m")).save(tmp_path / "disc.json")
    again = blocks.load(tmp_path / "disc.json")
    again.part.radius = "5 m"
    assert again.part.area.to("m^2").magnitude == pytest.approx(np.pi * 25)


def test_a_composite_passes_on_what_follows():
    class Plate(Component):
        side, area = Parameter("1 m"), Parameter(lambda c: c.side**2, "m^2")

        def compose(self):
            self.disc = Disc(area=self.area)

    model = model_of(Plate())
    model.part.side = "3 m"
    assert model.part.disc.area.to("m^2").magnitude == pytest.approx(9)


def test_either_of_two_that_follow_each_other_is_given():
    class Round(Component):
        radius = Parameter(lambda c: c.diameter / 2, "m")
        diameter = Parameter(lambda c: 2 * c.radius, "m")
        y = Variable("m")

        def equations(self):
            yield self.y == self.radius + self.diameter

    for given in ({"radius": "2 m"}, {"diameter": "4 m"}):
        run = model_of(Round(**given)).simulate("1 s")
        assert run["part.y"].final.to("m").magnitude == pytest.approx(6)
    with pytest.raises(BlocksError, match=r"part\.(radius|diameter): follows from itself"):
        model_of(Round()).simulate("1 s")


def test_a_default_may_choose_and_may_follow_a_function_of_time():
    class Strength(Component):
        high, low = Parameter("1 N", varying=True), Parameter("3 N")
        used = Parameter(lambda c: blocks.where(c.low > quantity("2 N"), 2 * c.high,
                                                blocks.maximum(c.low, c.high)), "N")
        y = Variable("N")

        def equations(self):
            yield self.y == self.used

    assert Strength(low="1 N", high="5 N").used.to("N").magnitude == 5
    run = model_of(Strength(high=lambda t: quantity("4 N/s") * t)).simulate("2 s")
    assert run["part.y"].final.to("N").magnitude == pytest.approx(2 * 4 * 2)


def test_a_default_out_of_bounds_is_a_finding():
    findings = model_of(Disc(radius="100 m")).check().errors
    assert [f.code for f in findings] == ["parameter.bounds"]
    assert "part.area: must be at most 1e+07 cm^2" in findings[0].problem


@pytest.mark.parametrize(("default", "says"), [
    (lambda c: c.a * c.a, "its default is a value in m\\*\\*2, but m is declared"),
    (lambda c: c.a * now / quantity("1 s"), "its default depends on time"),
    (lambda c: c.x, "reads x, which is no parameter or option"),
    (lambda c: min(c.a, c.a), "a condition has no truth value"),
    (lambda c: der(c.a), "its default differentiates")])  # fmt: skip
def test_a_default_that_cannot_follow_is_refused_by_name(default, says):
    wrong = type("Wrong", (Component,), {
        "a": Parameter("1 m"), "b": Parameter(default, "m"), "x": Variable("m")})
    with pytest.raises(BlocksError, match=rf"Wrong\.b: .*{says}"):
        wrong()


def test_structure_does_not_follow_values():
    class Many(Component):
        n = Parameter(3)
        x = Variable(lambda c: ["m"] * int(c.n.magnitude))

    class Perhaps(Component):
        k = Parameter(0.0)
        x = Variable("1", when=lambda c: c.k > 0)

        def equations(self):
            yield self.x == 0

    class Named(Component):
        k = Parameter(0.0)
        x = Variable("1", when="k")

    with pytest.raises(ParameterError, match=r"Many\.x: .* follows from the value of n.*Option"):
        Many(n=5)
    for kind in (Perhaps, Named):
        with pytest.raises(BlocksError, match=r"x: whether it exists follows from the value of k"):
            model_of(kind(k=1.0)).simulate("1 s")


def test_structure_follows_units_and_sizes():
    class Weighted(Component):
        weights = Parameter(["1 N", "2 N"])
        x = Variable(lambda c: [c.weights.units] * len(c.weights))
        total = Variable("N", when=lambda c: c.weights.ndim == 1 and np.shape(c.weights)[0] > 2)

        def equations(self):
            for x, weight in zip(self.x, self.weights, strict=True):
                yield x == weight
            if self.total is not None:
                yield self.total == sum(self.x)

    run = model_of(Weighted(weights=["1 N", "2 N", "4 N"])).simulate("1 s")
    assert run["part.total"].final.to("N").magnitude == pytest.approx(7)


# -- initial targets ---------------------------------------------------------------------------


class Battery(Component):
    """Discharges from a state of charge that a parameter says."""

    charge, rate = Parameter(0.8, minimum=0, maximum=1), Parameter("1 1/s", varying=False)
    soc = Variable("1", lambda c: c.charge, priority="high")
    heat = Variable("K", lambda c: quantity("300 K") * c.charge, priority="high", minimum="200 K")
    used = blocks.Discrete("1", lambda c: 1 - c.charge)
    y = Variable("1")

    def equations(self):
        yield der(self.soc) == -self.rate * self.soc
        yield der(self.heat) == quantity("0 K/s")
        yield blocks.when(self.soc < 0, {self.used: 0})
        yield self.y == self.used


def left(model, path="part.soc"):
    return model.simulate("1 s", rtol=1e-10)[path].final.magnitude


def test_a_variable_starts_where_a_parameter_says():
    model = model_of(Battery())
    assert left(model) == pytest.approx(0.8 / np.e)
    model.part.charge = 0.9
    assert left(model) == pytest.approx(0.9 / np.e)
    assert left(model, "part.heat") == pytest.approx(270)
    assert left(model, "part.y") == pytest.approx(0.1)
    assert model.part.soc.initial.magnitude == 0.9
    model.part.soc = 0.5
    assert left(model) == pytest.approx(0.5 / np.e)


def test_instances_start_where_their_parameters_say():
    model = model_of(Battery(count=3, charge=[0.85, 0.9, 1.0]))
    assert_allclose(left(model), np.array([0.85, 0.9, 1.0]) / np.e, rtol=1e-8)
    model.part[0].soc = 0.2
    assert_allclose(left(model), np.array([0.2, 0.9, 1.0]) / np.e, rtol=1e-8)


def test_sweeps_and_sensitivities_go_through_a_start():
    model = model_of(Battery())
    charges = np.linspace(0.85, 1.0, 12)
    study = model.sweep({"part.charge": charges}, "1 s", outputs=["final(part.soc)"], rtol=1e-10)
    assert_allclose(study["final(part.soc)"], charges / np.e, rtol=1e-8)
    run = model.simulate("1 s", rtol=1e-10, sensitivities=["part.charge"])
    by_charge = run.sensitivities["part.soc", "part.charge"].at("1 s").magnitude
    assert by_charge == pytest.approx(1 / np.e)


def test_a_start_that_follows_is_kept_within_bounds_and_may_not_change():
    findings = model_of(Battery(charge=0.5)).check().errors
    assert len(findings) == 1
    assert "part.heat: has the initial target 150" in findings[0].problem

    class Pushed(Battery):
        charge = Parameter(0.9, varying=True)

    with pytest.raises(BlocksError, match=r"part\.heat: has an initial target that follows"):
        left(model_of(Pushed(charge=lambda t: t / quantity("1 s"))))


def test_numbered_variables_start_where_a_parameter_says():
    class Rows(Component):
        n = Option(3)
        begin = Parameter("2 m")
        x = Variable(lambda c: ["m"] * c.n, lambda c: 2 * c.begin, priority="high")

        def equations(self):
            for x in self.x:
                yield der(x) == quantity("1 m/s")

    run = model_of(Rows(begin="3 m", x2="1 m")).simulate("1 s")
    assert [run[f"part.x{k}"].final.to("m").magnitude for k in (1, 2, 3)] == pytest.approx(
        [7, 2, 7])


def test_a_state_is_given_no_value_initially():
    class Wrong(Battery):
        def equations(self):
            yield from super().equations()
            yield blocks.initially({self.soc: self.charge})

    with pytest.raises(BlocksError, match=r"initially\(\) assigns to soc.*Variable\('m', lambda c"):
        left(model_of(Wrong()))


# -- bounds -----------------------------------------------------------------------------------
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
    ({"n": lambda t: blocks.cos(t / S)}, "n is no longer greater than 0.0", np.pi / 2),
    ({"n": lambda t: 1 + 2 * t / S}, "n is no longer less than 5.0", 2.0),
    ({"d": lambda t: N * blocks.where(t < S, 1, 3 - t / S)}, "d is no longer at least 0.0 N", 3.0),
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
    {"d": lambda t: N * blocks.maximum(9 * blocks.cos(t / S), 0)},
    {"d": lambda t: N * (4 + 4 * sin(t / S))},
    {"d": lambda t: N * blocks.where(t < 0.5 * S, 9, 0)},
    {"n": lambda t: 2 + sin(t / S) * table(["0 s", "1 s"], ["1", "-1.9"])(t)}])  # fmt: skip
def test_nothing_is_watched_where_no_time_leads_out_of_the_bounds(values):
    model = slowed(**values)
    assert not model.check()
    assert model.simulate("1 s").status == "finished"


class Steps(TwoPort):
    """Two drags beside each other."""

    d = Parameter(["1 N*s/m", "1 N*s/m"], minimum=0, varying=True)

    def equations(self):
        yield self.f == (self.d[0] + self.d[1]) * self.v


def test_every_number_of_a_list_that_varies_keeps_its_bounds():
    model = wired("lists", "body.M drag.R", "drag.C ground.V", body=Mass(v="1 m/s"),
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
        yield blocks.contact(self.N, self.gap, restitution=self.restitution)


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
    model = wired("many", "body.M rub.R", "rub.C ground.V", body=Mass(count=3), ground=Reference(),
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
            yield blocks.contact(self.N, self.gap, restitution=1.5)

    with pytest.raises(EquationError, match=r"Elastic, equation 1: contact\(\) .* but it is 1.5"):
        thrown(Elastic()).simulate("1 s")


def test_laws_that_keep_to_what_is_demanded_run():
    for part in (Rub(), Rub(static="1 N"), Bounce(restitution=1), Ratchet()):
        assert not thrown(part).check().errors
