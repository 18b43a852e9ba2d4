"""Defaults that follow other parameters, and what may not follow the values of any."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Model,
    Option,
    Parameter,
    Variable,
    der,
    load,
    maximum,
    quantity,
    where,
)
from blocks import time as now
from blocks.exceptions import BlocksError, ParameterError


class Disc(Component):
    radius = Parameter("2 m", above=0)
    kind = Option("disc", ("disc", "square"))
    area = Parameter(lambda c: (np.pi if c.kind == "disc" else 4) * c.radius**2, "cm^2",
                     maximum="1000 m^2")
    strip = Parameter(lambda c: c.area / 2, "m^2")
    edges = Parameter(lambda c: [c.radius, 2 * c.radius, "1 m"], "m")
    painted = Variable("m^2", "0 m^2", priority="high")
    length = Variable("m")

    def equations(self):
        yield der(self.painted) == (self.area + self.strip) / quantity("1 s")
        yield self.length == sum(self.edges[k] for k in range(3))


def model_of(part):
    model = Model("made")
    model.part = part
    return model


def painted(model):
    run = model.simulate("2 s", rtol=1e-10)
    return run["part.painted"].final.to("m^2").magnitude


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
    model = model_of(Disc(radius="3 m"))
    model.save(tmp_path / "disc.json")
    again = load(tmp_path / "disc.json")
    again.part.radius = "5 m"
    assert again.part.area.to("m^2").magnitude == pytest.approx(np.pi * 25)


def test_a_composite_passes_on_what_follows():
    class Plate(Component):
        side = Parameter("1 m")
        area = Parameter(lambda c: c.side**2, "m^2")

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
        high = Parameter("1 N", varying=True)
        low = Parameter("3 N")
        used = Parameter(lambda c: where(c.low > quantity("2 N"), 2 * c.high,
                                         maximum(c.low, c.high)), "N")
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
    (lambda c: der(c.a), "its default differentiates"),
])  # fmt: skip
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
