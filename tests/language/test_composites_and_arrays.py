"""Parts within parts, and many of one kind at once."""

import numpy as np
import pytest
from benches import wired
from benches.parts import final
from numpy.testing import assert_allclose
from scipy.linalg import expm

import blocks
import library.translational as tr
from blocks import Component, Input, Option, Output, Parameter, Port, Target, exceptions, quantity
from library.signal import Constant

TIGHT = {"rtol": 1e-10}


class Corner(Component):
    """A body on a spring, with a damper where it is wanted."""

    M, W = Port(tr.translational), Port(tr.translational)
    mass, stiffness = Parameter("1 kg", above=0), Parameter("1 kN/m")
    damped = Option(False)

    def compose(self):
        self.body = tr.Mass(mass=self.mass)
        self.spring = tr.Spring(stiffness=self.stiffness)
        self.connect(self.body.M, self.spring.R, self.M)
        self.connect(self.spring.C, self.W)
        if self.damped:
            self.damper = tr.Damper(damping="2 N*s/m")
            self.connect(self.damper.R, self.M)
            self.connect(self.damper.C, self.W)


class Axle(Component):
    W = Port(tr.translational)
    stiffness = Parameter("100 N/m")
    wheels = Option(2, minimum=1)

    def compose(self):
        self.corners = Corner(count=self.wheels, stiffness=self.stiffness)
        self.connect(self.corners.W, self.W)


def swing(k, m, t, v0=1.0):
    w = np.sqrt(np.asarray(k) / np.asarray(m))
    return v0 / w * np.sin(w * t)


def grounded(**parts):
    return wired("test", *(f"{name}.W ground.V" for name in parts), ground=tr.Reference(), **parts)


def test_parameters_changed_after_building_reach_the_parts_without_a_new_assembly():
    model = grounded(c=Corner(), a=Axle(wheels=3))
    model.c.body.v = model.a.corners.body.v = "1 m/s"
    compiled = model.compile()
    model.c.mass, model.c.stiffness, model.a.stiffness = "3 kg", "12 N/m", "5 N/m"
    run = model.simulate("1 s", **TIGHT)
    assert model.compile() is compiled
    assert final(run, "c.spring.x") == pytest.approx(swing(12, 3, 1.0), rel=1e-8)
    assert_allclose(final(run, "a.corners.spring.x"), swing(5, 1, 1.0), rtol=1e-8)
    assert model.a.corners.stiffness.to("N/m").magnitude == pytest.approx(5)


def test_a_value_set_on_a_part_stays_when_another_parameter_changes():
    model = grounded(c=Corner())
    model.c.spring.preload, model.c.spring.stiffness = "3 N", "7 N/m"
    model.c.mass = "2 kg"
    assert model.c.spring.preload.to("N").magnitude == pytest.approx(3)
    assert model.c.spring.stiffness.to("N/m").magnitude == pytest.approx(7)
    model.c.stiffness = "9 N/m"
    assert model.c.spring.stiffness.to("N/m").magnitude == pytest.approx(9)


def test_a_refused_value_leaves_a_composite_as_it_was():
    model = grounded(c=Corner(mass="2 kg"))
    with pytest.raises(exceptions.ParameterError):
        model.c.mass = "-1 kg"
    assert model.c.mass.magnitude == model.c.body.mass.magnitude == 2


@pytest.mark.parametrize("attached", [True, False])
def test_an_option_of_a_built_composite_cannot_change(attached):
    corner = Corner()
    model = grounded(c=corner) if attached else None
    with pytest.raises(exceptions.ParameterError, match="options cannot change once it is built"):
        corner.damped = True
    assert corner.damped is False
    assert model is None or model.c.damped is False


class Bundle(Component):
    """Springs in parallel; from three on, the last one is fixed by its other end."""

    A, B = Port(tr.translational), Port(tr.translational)
    strands, stiffness = Parameter(1), Parameter("1 N/m")
    of = Option("parts", ("parts", "counts", "options"))

    def compose(self):
        n = int(self.strands)
        if self.of != "parts":
            self.spring = tr.Spring(count=n if self.of == "counts" else 1, stiffness=self.stiffness)
            self.sensor = tr.MotionSensor(acceleration_port=self.of == "options" and n > 1)
            self.connect(self.A, self.spring.R)
            self.connect(self.B, self.spring.C)
            return
        for k in range(max(n, 2)):
            spring = self.add(f"spring_{k}", tr.Spring(stiffness=self.stiffness))
            self.connect(self.A if k < n else self.B, spring.R)
            self.connect(self.B, spring.C)


@pytest.mark.parametrize(("given", "strands"), [
    ("parts", 3), ("parts", 2), ("counts", 2), ("options", 2),
], ids=["parts", "connections", "counts", "options"])  # fmt: skip
def test_a_value_that_decides_on_parts_cannot_change(given, strands):
    model = grounded(c=Corner())
    model.bundle = Bundle(of=given)
    with pytest.raises(exceptions.ParameterError,
                       match=r"bundle\.strands: decides which parts a composite"):
        model.bundle.strands = strands
    assert model.bundle.strands.m == 1
    model.bundle.stiffness = "3 N/m"
    part = model.bundle.spring_1 if given == "parts" else model.bundle.spring
    assert_allclose(part.stiffness.to("N/m").m, 3)


def test_an_option_decides_which_parts_a_composite_has():
    model = grounded(c=Corner(damped=True, stiffness="10 N/m"), d=Corner(stiffness="10 N/m"))
    model.c.body.v = model.d.body.v = "1 m/s"
    run = model.simulate("1 s", **TIGHT)
    w = 3.0  # sqrt(10 - 1): k/m = 10, d/2m = 1
    assert final(run, "c.spring.x") == pytest.approx(np.exp(-1) * np.sin(w) / w, rel=1e-7)
    assert final(run, "d.spring.x") == pytest.approx(swing(10, 1, 1.0), rel=1e-7)
    with pytest.raises(exceptions.UnknownName):
        _ = model.d.damper


@pytest.mark.parametrize("late", [False, True])
def test_arrays_of_composites_give_each_part_its_own_value(late):
    masses, stiffnesses = np.array([1.0, 2.0, 3.0]), np.array([12.0, 5.0, 7.0])
    values = {"mass": quantity(masses, "kg"), "stiffness": quantity(stiffnesses, "N/m")}
    model = grounded(c=Corner(count=3, **({} if late else values)))
    if late:
        for name, value in values.items():
            setattr(model.c, name, value)
    model.c.body.v = quantity([1, 2, 3], "m/s")
    run = model.simulate("1 s", **TIGHT)
    exact = swing(stiffnesses, masses, 1.0, np.array([1, 2, 3]))
    assert_allclose(final(run, "c.spring.x"), exact, rtol=1e-7)
    for path in ("c[1].spring.x", "c.spring[1].x"):
        assert final(run, path) == pytest.approx(exact[1], rel=1e-7)
    for path in ("c[1].spring[1].x", "c[3].spring.x", "c[1.spring.x", "c[x].spring.x"):
        assert path not in run


def test_composites_nest_with_arrays_inside():
    model = grounded(front=Axle(wheels=3, stiffness="12 N/m"), rear=Axle(stiffness="5 N/m"))
    model.front.corners.body.v = "1 m/s"
    model.rear.corners.body.v = quantity([1, 2], "m/s")
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(final(run, "front.corners.spring.x"), [swing(12, 1, 1.0)] * 3, rtol=1e-8)
    assert_allclose(final(run, "rear.corners.spring.x"),
                    swing(5, 1, 1.0) * np.array([1, 2]), rtol=1e-8)


@pytest.mark.parametrize("wheels", [1, 2, 3])  # as many as there are axles: not one for each
def test_an_array_of_composites_with_arrays_in_them_is_refused(wheels):
    with pytest.raises(exceptions.NamingError, match="array of composites") as caught:
        Axle(count=2, wheels=wheels)
    assert str(caught.value).startswith(
        "Axle.corners: an array cannot be part of an array of composites, and this is one of "
        f"{wheels} in one of 2. Give the count to one of the two, or add the composites one by one")


def test_a_composite_with_equations_of_its_own_is_refused():
    with pytest.raises(exceptions.EquationError, match=r"has both compose\(\) and equations\(\)"):
        type("Both", (Corner,), {"equations": lambda self: iter(())})


class Doubler(Component):
    """A composite with signals of its own."""

    u = Input("N")
    y = Output("N")

    def compose(self):
        self.first, self.second = Gain(), Gain()
        self.connect(self.u, self.first.u)
        self.connect(self.first.y, self.second.u)
        self.connect(self.second.y, self.y)


class Gain(Component):
    u = Input("N")
    y = Output("N")

    def equations(self):
        yield self.y == 2 * self.u


class Wave(Component):
    y = Output("N")

    def equations(self):
        from blocks import time

        yield self.y == quantity("1 N") * blocks.sin(quantity("2 rad/s") * time)


def test_signals_pass_through_the_border_of_a_composite():
    model = wired("signals", "wave.y gain.u", "gain.y push.S", "push.R body.M", "push.C ground.V",
                  wave=Wave(), gain=Doubler(), push=tr.ForceSource(), body=tr.Mass(mass="2 kg"),
                  ground=tr.Reference())
    assert final(model.simulate("3 s", **TIGHT), "body.v") == pytest.approx(1 - np.cos(6), abs=5e-8)


# -- arrays --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_chain_made_of_slices_is_that_of_its_matrix(n):
    model = wired("chain", "masses.M springs.R", "springs[0].C ground.V",
                  masses=tr.Mass(count=n, mass="2 kg", v=quantity(np.arange(1.0, n + 1), "m/s")),
                  springs=tr.Spring(count=n, stiffness="7 N/m"), ground=tr.Reference())
    if n > 1:
        model.connect(model.springs[1:].C, model.masses[:-1].M)
    run = model.simulate("1 s", **TIGHT)
    d = np.eye(n) - np.eye(n, k=-1)
    a = np.block([[np.zeros((n, n)), d], [-3.5 * d.T, np.zeros((n, n))]])
    exact = expm(a) @ np.r_[np.zeros(n), np.arange(1.0, n + 1)]
    assert_allclose(final(run, "springs.x"), exact[:n], atol=5e-8)
    assert_allclose(final(run, "masses.v"), exact[n:], atol=5e-8)


def test_a_single_port_is_joined_to_every_element():
    model = wired("fan", "body.M springs.R", "springs.C ground.V",
                  body=tr.Mass(mass="2 kg", v="1 m/s"), ground=tr.Reference(),
                  springs=tr.Spring(count=4, stiffness=["1 N/m", "2 N/m", "3 N/m", "4 N/m"]))
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(final(run, "springs.x"), [swing(10, 2, 1.0)] * 4, rtol=1e-8)


def test_elements_are_picked_by_index_list_and_step():
    model = wired("picked", "masses[[1,4]].M dampers.R", "dampers.C ground.V",
                  masses=tr.Mass(count=6, mass=quantity(np.arange(1.0, 7.0), "kg"), v="1 m/s"),
                  dampers=tr.Damper(count=2, damping=["2 N*s/m", "4 N*s/m"]), ground=tr.Reference())
    run = model.simulate("1 s", **TIGHT)
    exact = [1, np.exp(-1), 1, 1, np.exp(-4 / 5), 1]
    assert_allclose(final(run, "masses.v"), exact, rtol=1e-8)
    assert_allclose(run["masses[1::3].v"].final.magnitude, [exact[1], exact[4]], rtol=1e-8)
    assert_allclose(model.masses[1::3].mass.to("kg").magnitude, [2, 5])


# -- values of single elements ----------------------------------------------------------------
def test_one_element_is_given_its_own_values():
    model = wired("row", "springs.R springs.C ground.V", bodies=tr.Mass(count=4, mass="2 kg"),
                  springs=tr.Spring(count=3), ground=tr.Reference())
    model.bodies[0].v = "3 m/s"
    model.bodies[1:3].v = ["1 m/s", "5 cm/s"]
    model.bodies[-1].mass = quantity(500, "g")
    model.springs[1].stiffness = "1 N/mm"
    assert_allclose(model.simulate("1 s")["bodies.v"].final.to("m/s").m, [3, 1, 0.05, 0])
    assert_allclose(model.bodies.mass.to("kg").m, [2, 2, 2, 0.5])
    assert_allclose(model.springs.stiffness.to("N/m").m, [1000, 1000, 1000])
    assert [b.mass.to("kg").m for b in model.bodies] == [2, 2, 2, 0.5]


def test_a_part_in_an_array_of_composites_is_given_its_own_value():
    class Pair(Component):
        def compose(self):
            self.body, self.spring, self.ground = tr.Mass(), tr.Spring(), tr.Reference()
            self.connect(self.ground.V, self.spring.R, self.spring.C)

    model = wired("pairs", pairs=Pair(count=3))
    model.pairs[1].body.v = "2 m/s"
    model.pairs[2].spring.stiffness = "7 N/m"
    assert_allclose(model.simulate("1 s")["pairs.body.v"].initial.m, [0, 2, 0])
    assert_allclose(model.pairs.spring.stiffness.m, [1000, 1000, 7])


@pytest.mark.parametrize(("name", "value", "said"), [
    ("mass", "-1 kg", "must be greater than 0"), ("mass", "1 m", "takes kg"),
    ("mass", ["1 kg", "2 kg"], "2 values for 1 instances"), ("spr", "1", "there is no 'spr'"),
    ("f", "1 N", "which have no target yet"), ("M", "1 N", "a port cannot be assigned"),
    ("v", Target("1 m/s", priority="low"), "one priority and nominal value for all")])  # fmt: skip
def test_a_value_that_one_element_cannot_have_is_refused_by_name(name, value, said):
    model = wired("row", bodies=tr.Mass(count=3, v="1 m/s"))
    with pytest.raises(exceptions.BlocksError, match=said):
        setattr(model.bodies[1], name, value)
    assert_allclose(model.simulate("1 s")["bodies.v"].final.m, 1)


def test_a_component_lists_each_of_its_names_once():
    friction = tr.Mass(count=2)
    assert len(dir(friction)) == len(set(dir(friction)))
    assert {"mass", "v", "M"} <= set(dir(friction))


# -- two models -------------------------------------------------------------------------------
@pytest.mark.parametrize(("mine", "other", "said"), [
    ("front", "rear", "belongs to the model 'rear', and cannot be joined to body.M of the model "
     "'front'"), ("car", "car", "another model that is also called 'car'")])  # fmt: skip
def test_parts_of_two_models_are_not_joined_and_both_are_named(mine, other, said):
    models = [wired(name, body=tr.Mass(), spring=tr.Spring()) for name in (mine, other)]
    with pytest.raises(exceptions.ConnectionRefused, match=said) as caught:
        models[0].connect(models[0].body.M, models[1].spring.R)
    assert caught.value.code == "connection.foreign" and caught.value.models == [mine, other]


# -- a part less ------------------------------------------------------------------------------
def test_what_was_joined_through_a_part_stays_joined_without_it():
    """The spring's C and the ground; an array stays one node where a single port had joined it."""
    model = wired("row", "push.C springs.C ground.V", "extra.M bodies.M springs.R push.R",
                  bodies=tr.Mass(count=2, v="1 m/s"), springs=tr.Spring(count=2, stiffness="8 N/m"),
                  push=tr.ForceSource(force="3 N"), ground=tr.Reference(),
                  extra=tr.Mass(mass="5 kg"))
    del model.push
    del model.extra
    assert "unconnected" not in str(model.check())
    run = model.simulate("1 s", rtol=1e-9)  # both bodies as one, on both springs
    assert_allclose(run["bodies.v"].final.m, np.cos(np.sqrt(8)), atol=1e-8)
    assert_allclose(run["springs.f"].final.m, np.sqrt(8) * np.sin(np.sqrt(8)), atol=1e-7)


def test_a_signal_is_no_longer_joined_where_it_came_from_the_part_that_is_gone():
    model = wired("pushed", "amount.y one.S other.S", "one.R other.R body.M",
                  "one.C other.C ground.V", amount=Constant(value="2 N"), body=tr.Mass(),
                  one=tr.ForceSource(), other=tr.ForceSource(force="1 N"), ground=tr.Reference())
    del model.one
    assert model.simulate("1 s")["body.v"].final.m == pytest.approx(2)
    del model.amount
    assert model.simulate("1 s")["body.v"].final.m == pytest.approx(1)


# -- functions of time in composites -----------------------------------------------------------


class Pushes(Component):
    """Forces that follow from one that may be a function of time."""

    R, C = Port(tr.translational), Port(tr.translational)
    force = Parameter("4 N", varying=True)
    share, mass = Parameter(lambda c: c.force / 4, "N", varying=True), Parameter("1 kg")

    def compose(self):
        self.large = tr.ForceSource(force=2 * self.force - quantity("1 N"))
        self.small = tr.ForceSource(force=self.share)
        self.same = tr.ForceSource(force=self.force)
        for part in (self.large, self.small, self.same):
            self.connect(self.R, part.R)
            self.connect(self.C, part.C)


def pushed(**given):
    return wired("pushed", "body.M pushes.R", "pushes.C ground.V",
                 body=tr.Mass(mass="1 kg"), pushes=Pushes(**given), ground=tr.Reference())


def speed(model):
    return final(model.simulate("2 s", **TIGHT), "body.v")


def test_a_function_of_time_is_calculated_with_like_a_number():
    def rising(t):
        return quantity("3 N/s") * t

    assert speed(pushed()) == pytest.approx((2 * 4 - 1 + 1 + 4) * 2)
    model = pushed(force=rising)
    assert speed(model) == pytest.approx(3.25 * 3 * 2**2 / 2 - 2)
    assert model.pushes.same.force is rising
    compiled = model.compile()
    model.pushes.mass = "2 kg"
    assert model.compile() is compiled
    model.pushes.force = "8 N"
    assert speed(model) == pytest.approx((3.25 * 8 - 1) * 2)


def test_an_error_in_compose_names_the_composite_and_its_line():
    class Wrong(Pushes):
        def compose(self):
            self.large = tr.ForceSource(force=self.force.to("kN"))

    assert Wrong(force="2 N").large.force.to("N").magnitude == pytest.approx(2)
    with pytest.raises(exceptions.EquationError,
                       match=r"Wrong: its compose\(\) raised .*(?s:.)*\.to") as told:
        Wrong(force=lambda t: quantity("3 N/s") * t)
    assert told.value.data["file"] == __file__
