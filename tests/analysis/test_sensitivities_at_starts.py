"""Derivatives of runs that start with an impact, at rest or at a condition; of random models."""

import warnings

import numpy as np
import pytest
from benches import few, wired
from benches.analysis import derivatives
from benches.friction import dry
from numpy.testing import assert_allclose

import blocks
import library.rotational as rot
import library.translational as tr
from blocks import Component, Discrete, Model, Parameter, Port, Variable, der, quantity, when, where
from blocks.analysis.sensitivity.sensitivities import SensitivityWarning
from library.electrical import Capacitor, DCVoltageSource, Diode, ElectricalReference, Resistor
from library.rotational import Inertia, RotationalFriction, RotationalReference, RotationalSpring
from library.signal import Constant, Integrator, Step

GRAVITY = 9.81


def thrown(gap="0 m"):
    """A ball that is thrown at the floor from where it lies: h = e v0 t - g t^2/2."""
    return wired("thrown", "ball.M weight.R stop.R", "weight.C stop.C floor.V",
                 ball=tr.Mass(mass="2 kg", v="-2 m/s"), floor=tr.Reference(),
                 weight=tr.ForceSource(force=quantity(-2 * GRAVITY, "N")),
                 stop=tr.HardStop(model="restitution", lower_bound="0 m", upper_bound="9 m",
                                  restitution=0.3, x=gap))


def test_an_impact_at_the_start_counts():
    paths = ["stop.restitution", "ball.v", "ball.mass", "weight.force"]
    t = 0.05
    fall = -2 * GRAVITY * t**2 / 2
    known = [2 * t, -0.3 * t, -fall / 4, t**2 / 4]  # the acceleration is -2 g / mass
    assert_allclose(derivatives(thrown(), "50 ms", "stop.x", *paths, rtol=1e-9), known, rtol=1e-7)


def test_what_leaves_a_stop_from_rest_would_strike_it_with_a_little_speed():
    model = thrown()
    model.ball.v, model.weight.force = "0 m/s", "2 N"
    with pytest.warns(SensitivityWarning, match="less of ball.v ends it"):
        model.simulate("50 ms", sensitivities=["ball.v", "weight.force"])


def test_masses_that_meet_at_the_start_share_their_impulse():
    m = wired("meeting", "a.M stop.R", "b.M stop.C",
              a=tr.Mass(mass="2 kg", v="1 m/s"), b=tr.Mass(mass="1 kg", v="-1 m/s"),
              stop=tr.HardStop(model="restitution", lower_bound="-9 m", upper_bound="0 m",
                               restitution=0.3))
    run = m.simulate("0.5 s", sensitivities=["a.mass", "stop.restitution"], rtol=1e-9)
    # a.v = 1 - (1 + e) 2 b / (a + b), b.v = -1 + (1 + e) 2 a / (a + b)
    found = [run.sensitivities[v, p].final.m for v in ("a.v", "b.v")
             for p in ("a.mass", "stop.restitution")]
    assert_allclose(found, [2.6 / 9, -2 / 3, 2.6 / 9, 4 / 3], rtol=1e-7)


def test_masses_that_bounce_to_rest_on_each_other_go_on_as_one():
    m = wired("pushed", "a.M stop.R push.R", "b.M stop.C", "push.C ground.V",
              a=tr.Mass(mass="2 kg", v="1 m/s"), b=tr.Mass(mass="1 kg"),
              push=tr.ForceSource(force="3 N"), ground=tr.Reference(),
              stop=tr.HardStop(model="restitution", lower_bound="-9 m", upper_bound="1 mm",
                               restitution=0.3))
    paths = ["a.mass", "push.force", "stop.restitution", "stop.upper_bound", "a.v"]
    with pytest.warns(SensitivityWarning, match="stop is touched without speed"):
        run = m.simulate("1 s", sensitivities=paths, rtol=1e-9)
    # v = (a v0 + F t) / (a + b), whatever the bounces were like
    assert_allclose([run.sensitivities["b.v", p].final.m for p in paths],
                    [-2 / 9, 1 / 3, 0, 0, 2 / 3], rtol=1e-7, atol=1e-7)


def test_a_mass_struck_from_both_sides_follows_both_restitutions():
    m = wired("between", "a.M left.R", "left.C b.M right.R", "right.C c.M",
              a=tr.Mass(mass="1 kg", v="1 m/s"), b=tr.Mass(mass="2 kg"),
              c=tr.Mass(mass="1 kg", v="-1 m/s"),
              **{name: tr.HardStop(model="restitution", lower_bound="-9 m", upper_bound="0 m",
                                   x="-0.1 m", restitution=e)
                 for name, e in {"left": 0.5, "right": 0.7}.items()})
    paths = ["left.restitution", "right.restitution"]
    found = [derivatives(m, "0.15 s", f"{v}.v", *paths, rtol=1e-9) for v in "abc"]
    assert_allclose(found, [[-0.75, -0.25], [0.25, -0.25], [0.25, 0.75]], rtol=1e-8)
    with pytest.warns(SensitivityWarning, match="By a.v derivatives become infinite"):
        found = m.simulate("0.15 s", sensitivities=["a.v"]).sensitivities["b.v", "a.v"].final
    assert np.isnan(found.m)  # which is struck first decides


@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_masses_that_strike_apart_at_once_follow_each_its_own_changes(restitution):
    """x = -1 m + e (v (1 s) - 1 m) after the impact at 1 m / v."""
    m = wired("apart", "mass.M stop.R", "stop.C ground.V", ground=tr.Reference(),
              mass=tr.Mass(count=2, mass="1 kg", v="-1 m/s"), stop=tr.HardStop(
                  count=2, model="restitution", restitution=restitution, lower_bound="-1 m"))
    found = derivatives(m, "2 s", "stop[0].x", "stop.restitution", "mass[0].v", "mass[1].v")
    assert_allclose(found, [1, -2 * restitution, 0], rtol=1e-6, atol=1e-9)


def test_no_derivative_is_made_up_by_a_place_from_which_the_impact_comes_later():
    with pytest.warns(SensitivityWarning, match="By stop.x derivatives .* decides otherwise"):
        run = thrown().simulate("50 ms", sensitivities=["stop.x"])
    assert np.isnan(run.sensitivities["ball.v", "stop.x"].final.m)


class Edge(Component):
    """x rises from 0, where ``y`` begins to be counted otherwise."""

    law = Parameter(0.0)
    x = Variable("1", 0.0, priority="high")
    y, z = Variable("1", 0.0, priority="high"), Variable("1", 0.0, priority="high")
    n = Discrete("1", 0)
    rate = Parameter("1 1/s")

    def equations(self):
        yield der(self.x) == self.rate
        yield der(self.y) == self.rate * self.counted()
        yield der(self.z) == self.rate * self.n
        yield when(self.x > 2, {self.n: 3})


class Chosen(Edge):
    def counted(self):
        return where(self.x > 0, 5, 1)


class Floored(Edge):
    def counted(self):
        return blocks.floor(self.x)


class Told(Edge):
    def counted(self):
        return self.n

    def equations(self):
        yield from super().equations()
        yield when(self.x > 0, {self.n: 5})


class Bent(Edge):
    def counted(self):
        return where(self.x > 0, 5 * self.x, self.x)


@pytest.mark.parametrize(("part", "sides"), [(Chosen, (4, 0)), (Told, (5,)), (Floored, (1, 2))])
def test_a_start_just_where_a_condition_changes_is_told(part, sides):
    model = wired("edge", part=part())
    with pytest.warns(SensitivityWarning, match="part.x"):
        run = model.simulate("1.5 s", sensitivities=["part.x"], rtol=1e-9)
    assert_allclose(min(abs(run.sensitivities["part.y", "part.x"].final.m - s) for s in sides), 0,
                    atol=1e-7)


def test_a_start_where_both_sides_of_a_condition_agree_is_none():
    model = wired("bent", part=Bent())
    assert_allclose(derivatives(model, "1.5 s", "part.y", "part.x", rtol=1e-9), [7.5], rtol=1e-7)


def test_a_step_at_the_start_that_comes_later_is_told():
    model = wired("step", "step.y sum.u",
                  step=Step(start="0 s", final=3), sum=Integrator(input="1"))
    with pytest.warns(SensitivityWarning, match="derivatives by step.start hold for one side"):
        model.simulate("1 s", sensitivities=["step.start", "step.final"])


def test_what_conducts_or_rests_well_within_its_bounds_is_at_no_edge():
    pressed = thrown()
    pressed.ball.v = "0 m/s"
    charged = wired("charged", "source.p diode.p", "diode.n resistor.p", "resistor.n store.p",
                    "source.n store.n ground.V",
                    source=DCVoltageSource(voltage="5 V"), diode=Diode(model="ideal"),
                    resistor=Resistor(resistance="2 ohm"),
                    store=Capacitor(capacitance="1 mF", v="2 V"), ground=ElectricalReference())
    assert_allclose(derivatives(pressed, "10 ms", "ball.v", "weight.force", "ball.mass"), 0)
    found = derivatives(charged, "1 ms", "store.v", "source.voltage", "store.v", rtol=1e-9)
    assert_allclose(found, [1 - np.exp(-0.5), np.exp(-0.5)], rtol=1e-7)


def test_a_limited_integrator_that_starts_at_its_limit_has_no_derivative_by_that():
    model = wired("limited", "source.y sum.u",
                  source=Constant(value=1.0),
                  sum=Integrator(input="1", limited=True, lower="-1 s", upper="0.2 s", x="0.2 s"))
    with pytest.warns(SensitivityWarning, match="By sum.upper derivatives .* decides otherwise"):
        run = model.simulate("1 s", sensitivities=["sum.upper", "source.value"])
    assert np.isnan(run.sensitivities["sum.y", "sum.upper"].final.m)
    assert run.sensitivities["sum.y", "source.value"].final.m == 0


class Kicked(Component):
    """What decays is kicked as soon as x, which rises, is above its level."""

    kick, level = Parameter(2.0), Parameter(0.0)
    x, y = Variable("1", 0.0, priority="high"), Variable("1", 1.0, priority="high")

    def equations(self):
        yield der(self.x) == quantity("1 1/s")
        yield der(self.y) == quantity("-0.5 1/s") * self.y
        yield when(self.x > self.level, {self.y: self.kick * self.y + self.x})


def test_a_state_that_is_assigned_at_the_start_counts():
    """y = (kick y0 + level) exp(-t/2); what makes the kick come later has its other side."""
    m = wired("kicked", part=Kicked())
    left = np.exp(-0.025)
    found = derivatives(m, "50 ms", "part.y", "part.kick", "part.y", rtol=1e-9)
    assert_allclose(found, [left, 2 * left], rtol=1e-7)
    with pytest.warns(SensitivityWarning, match="part.level hold for one side only"):
        run = m.simulate("50 ms", sensitivities=["part.level"], rtol=1e-9)
    # later by a little: kicked from where it has decayed to, to where x is
    assert_allclose(run.sensitivities["part.y", "part.level"].final.m, left, rtol=1e-7)


# -- starts that stick, against differences on both sides -------------------------------------
RNG = np.random.default_rng(65)


def dragged(mass, speed, force, stiffness):
    """A box on a belt, held by a spring, both at one speed at first."""
    speed = quantity(speed, "m/s")
    m = wired("dragged", "belt.R rub.R", "rub.C box.M spring.R sensor.R",
              "spring.C belt.C ground.V sensor.C",
              box=tr.Mass(mass=quantity(mass, "kg"), v=speed),
              belt=tr.VelocitySource(velocity=speed), rub=dry(force, 1.5 * force),
              spring=tr.Spring(stiffness=quantity(stiffness, "N/m")), ground=tr.Reference(),
              sensor=tr.MotionSensor(position_port=True))
    return m, ["belt.velocity", "box.v", "spring.x"], "sensor.x"


def clutched(inertia, speed, torque, stiffness):
    """Two shafts that a stuck clutch joins, one of them on a spring."""
    speed = quantity(speed, "rad/s")
    m = wired("clutched", "a.I clutch.R", "clutch.C b.I spring.R", "spring.C frame.W",
              a=Inertia(inertia=quantity(inertia, "kg*m^2"), w=speed),
              b=Inertia(inertia="1 kg*m^2", w=speed),
              clutch=RotationalFriction(law="coulomb", coulomb_torque=quantity(torque, "N*m"),
                                        breakaway_torque=quantity(1.5 * torque, "N*m")),
              spring=RotationalSpring(stiffness=quantity(stiffness, "N*m/rad")),
              frame=RotationalReference())
    return m, ["a.w", "b.w", "spring.phi"], "spring.phi"


CASES = [(make, *RNG.uniform((0.5, 0.1, 4.0, 20.0), (3.0, 0.4, 9.0, 60.0)))
         for make in (dragged, clutched) for _ in range(3)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_derivatives_at_a_start_that_sticks_are_those_of_both_sides(case):
    make, *values = case
    model, paths, what = make(*values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate("1 s", sensitivities=paths, rtol=1e-8)
    for path in paths:
        component, name = path.split(".")
        part, step = getattr(model, component), 1e-5
        kept = getattr(part, name)
        given = model[path] if hasattr(kept, "path") else kept
        unit = run[path].final.units if path in run else given.units
        start = run[path].at("0 s").m if path in run else given.m
        ends = []
        for shift in (-2 * step, -step, step, 2 * step):
            setattr(part, name, quantity(start + shift, str(unit)))
            ends.append(model.simulate("1 s", rtol=1e-10)[what].final.m)
        setattr(part, name, quantity(start, str(unit)))
        found = run.sensitivities[what, path].final.m
        left, right = (ends[1] - ends[0]) / step, (ends[3] - ends[2]) / step
        assert_allclose([left, right], found, rtol=2e-3, atol=2e-3)


class Pendulum(Component):
    """A bob in x and y on a rod that hangs from the port."""

    M = Port(tr.translational)
    top, x = Variable("m", "0 m", priority="high"), Variable("m", "30 cm", priority="high")
    y, vx = Variable("m", "-95 cm"), Variable("m/s", "20 cm/s", priority="high")
    vy = Variable("m/s")
    pull = Variable("N/m", doc="force of the rod over its length")

    def equations(self):
        mass, way = quantity("0.5 kg"), self.x - self.top
        yield der(self.top) == self.M.v
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield mass * der(self.vx) == -self.pull * way
        yield mass * der(self.vy) == -self.pull * self.y - mass * quantity("9.81 m/s^2")
        yield way**2 + self.y**2 == quantity("1 m^2")
        yield self.M.f == -self.pull * way


@few(1, "height", [None, "-95 cm"])
@pytest.mark.parametrize("path", ["box.v", "belt.velocity"])
def test_a_stuck_start_of_what_carries_a_pendulum_has_the_derivatives_of_both_sides(path, height):
    def swung(step, **options):
        m, _, _ = dragged(2.0, 0.2, 4.0, 40.0)
        m.bob = Pendulum() if height is None else Pendulum(y=height)
        m.connect(m.bob.M, m.box.M)
        part, name = path.split(".")
        setattr(getattr(m, part), name, quantity(0.2 + step, "m/s"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rod lets the bob not start just where it is asked
            warnings.simplefilter("error", SensitivityWarning)  # but no start decides otherwise
            return m.simulate("1.2 s", **options)

    found, base = swung(0.0, sensitivities=[path], rtol=1e-9).sensitivities, swung(0.0, rtol=1e-11)
    for step in (-1e-5, 1e-5):
        beside = swung(step, rtol=1e-11)
        for what in ("spring.x", "bob.x"):
            difference = (beside[what].final - base[what].final).m / step
            assert_allclose(found[what, path].final.m, difference, rtol=2e-3)


def lifted(path, step, duration="0.36 s", **options):
    """A body that a spring holds on a rigid stop, until a force pulls it off and it bounces."""
    m = wired("lifted", "body.M stop.R spring.R force.R", "stop.C spring.C force.C ground.V",
              body=tr.Mass(mass="0.8 kg"),
              force=tr.ForceSource(force=lambda t: quantity("14 N") * blocks.sin(
                  quantity("13.2 rad/s") * t)),
              stop=tr.HardStop(model="restitution", restitution=0.6, lower_bound="0 m",
                               upper_bound="50 mm"),
              spring=tr.Spring(stiffness="120 N/m", x="40 mm"), ground=tr.Reference())
    part, name = path.split(".")
    setattr(getattr(m, part), name, quantity(step, "m/s" if name == "v" else "m"))
    return m.simulate(duration, **options)


@pytest.mark.parametrize(("path", "sides"), [
    ("body.v", (-1, 1)), ("stop.x", (1,)), ("stop.lower_bound", (-1,))])
def test_what_rests_on_a_stop_at_the_start_falls_back_onto_it(path, sides):
    """What is lifted by a little bounces until it rests, and what is hit rests at once."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = lifted(path, 0.0, sensitivities=[path], rtol=1e-9).sensitivities
    assert [path in str(w.message) for w in told] == [True] * (len(sides) == 1)
    base, step = lifted(path, 0.0, rtol=1e-12), 1e-6
    for side in sides:
        moved = lifted(path, side * step, rtol=1e-12)
        for what in ("spring.x", "body.v"):
            difference = (moved[what].final - base[what].final).m / (side * step)
            assert_allclose(found[what, path].final.m, difference, rtol=2e-3, atol=1e-6)


# -- random models that stick, slip, clutch and strike ----------------------------------------
SHARE = 2e-3  # of the largest derivative: what differences of runs may be off by
STEPS = 1e-5, 1e-6, 1e-7  # of a value, one after the other where events lie between its sides


class Values:
    """Random numbers as quantities."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def __call__(self, low, high, unit):
        return quantity(self.random.uniform(low, high), unit)

    def strengths(self, low, high, unit):
        """Of friction in motion and at rest."""
        kinetic = self(low, high, unit)
        return kinetic, kinetic * self.random.uniform(1.02, 1.6)

    def or_rest(self, low, high, unit):
        return self(low, high, unit) * self.random.integers(2)


def on_a_belt(value):
    """A train of boxes on a moving belt, each on a spring to the one before."""
    m, count = Model("belt"), value.random.integers(1, 4)
    m.ground, m.belt = tr.Reference(), tr.VelocitySource(velocity=value(0.05, 0.3, "m/s"))
    m.connect(m.belt.C, m.ground.V)
    before, starts = m.ground.V, []
    for k in range(count):
        kinetic, static = value.strengths(2, 8, "N")
        box = m.add(f"box{k}", tr.Mass(mass=value(0.5, 3, "kg"), v=value.or_rest(-0.3, 0.3, "m/s")))
        rub = m.add(f"rub{k}", tr.TranslationalFriction(
            law="coulomb", coulomb_force=kinetic, breakaway_force=static,
            viscous_coefficient=value(0.05, 3, "N*s/m")))
        spring = m.add(f"spring{k}", tr.Spring(stiffness=value(20, 90, "N/m"),
                                               x=value(-0.05, 0.05, "m")))
        m.connect(rub.R, m.belt.R)
        m.connect(rub.C, box.M, spring.R)
        m.connect(spring.C, before)
        before = box.M
        starts += [f"box{k}.v", f"spring{k}.x"]
    m.push = tr.ForceSource(force=value.or_rest(1, 8, "N"))
    m.connect(m.push.R, before)
    m.connect(m.push.C, m.ground.V)
    return m, starts, starts


def clutched_at_random(value):
    """Discs in a row that clutches join, driven at one end, on a spring at the other."""
    m, count = Model("clutches"), value.random.integers(2, 4)
    m.frame, before, starts = rot.RotationalReference(), None, ["spring.phi"]
    for k in range(count):
        disc = m.add(f"disc{k}", rot.Inertia(inertia=value(0.3, 3, "kg*m^2"),
                                             w=value.or_rest(-3, 3, "rad/s")))
        if before is None:
            first = disc.I
        else:
            kinetic, static = value.strengths(1, 6, "N*m")
            clutch = m.add(f"clutch{k}", rot.RotationalFriction(
                law="coulomb", coulomb_torque=kinetic, breakaway_torque=static,
                viscous_coefficient=value(0.01, 0.5, "N*m*s/rad")))
            m.connect(before, clutch.R)
            m.connect(clutch.C, disc.I)
        before = disc.I
        starts.append(f"disc{k}.w")
    m.drive = rot.TorqueSource(torque=value(-6, 6, "N*m"))
    m.spring = rot.RotationalSpring(stiffness=value(2, 30, "N*m/rad"), phi=value(-0.5, 0.5, "rad"))
    m.damper = rot.RotationalDamper(damping=value(0.1, 1, "N*m*s/rad"))
    m.connect(m.drive.R, first)
    m.connect(before, m.spring.R, m.damper.R)
    m.connect(m.drive.C, m.spring.C, m.damper.C, m.frame.W)
    return m, starts, starts


def between_stops(value):
    """Balls on springs, each between stops of one kind or another on the one before."""
    m, count = Model("stops"), value.random.integers(1, 3)
    m.ground = tr.Reference()
    before, watched, starts = m.ground.V, [], []
    for k in range(count):
        kind = str(value.random.choice(["restitution", "full", "undamped rebound", "smooth"]))
        more = {"restitution": value(0.2, 0.9, "1")} if kind == "restitution" else {
            "upper_stiffness": value(1, 10, "kN/m"), "lower_stiffness": value(1, 10, "kN/m"),
            "upper_damping": value(5, 50, "N*s/m"), "lower_damping": value(5, 50, "N*s/m")}
        if kind == "smooth":
            more["transition"] = value(1, 5, "mm")
        ball = m.add(f"ball{k}", tr.Mass(mass=value(0.5, 3, "kg"), v=value(-2, 2, "m/s")))
        stop = m.add(f"stop{k}", tr.HardStop(model=kind, upper_bound=value(0.05, 0.3, "m"),
                                             lower_bound=value(-0.3, -0.05, "m"), **more))
        spring = m.add(f"spring{k}", tr.Spring(stiffness=value(5, 100, "N/m")))
        damper = m.add(f"damper{k}", tr.Damper(damping=value(0.05, 1, "N*s/m")))
        m.connect(ball.M, stop.R, spring.R, damper.R)
        m.connect(stop.C, spring.C, damper.C, before)
        before = ball.M
        starts.append(f"ball{k}.v")
        watched += [f"ball{k}.v", f"stop{k}.x"]
    m.push = tr.ForceSource(force=value(-10, 10, "N"))
    m.connect(m.push.R, before)
    m.connect(m.push.C, m.ground.V)
    return m, watched, starts


def ends(model, duration, watched, path, value):
    """What is watched, at the end of a run with another value."""
    with model.values({path: value}):
        run = model.simulate(duration, rtol=1e-11)
    return np.array([run[one].final.to_base_units().m for one in watched])


def varied(model, starts, run):
    """All that has a number: path and value at first."""
    for path in model.parameters:
        given = model[path]
        if hasattr(given, "to_base_units"):
            yield path, given.to_base_units()
    for path in starts:
        yield path, run[path].at("0 s").to_base_units()


@few(1, "seed", [
    pytest.param(k, marks=[] if k in (0, 1, 2, 11) else [pytest.mark.slow]) for k in range(42)])
def test_derivatives_by_all_that_can_be_varied_are_those_of_both_sides(seed):
    value = Values(seed)
    model, watched, starts = (on_a_belt, clutched_at_random, between_stops)[seed % 3](value)
    duration = value(0.3, 2.5, "s")
    numbers = dict(varied(model, starts, model.simulate(duration)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = model.simulate(duration, sensitivities=list(numbers), rtol=1e-9)
    said = any(issubclass(one.category, SensitivityWarning) for one in said)
    size = np.abs([run[one].final.to_base_units().m for one in watched]).max()
    for path, number in numbers.items():
        found = np.array([run.sensitivities[one, path].final.to_base_units().m for one in watched])
        for part in STEPS:
            step = part * max(abs(number.m), 0.1 if path in starts else 0.0) or part
            left2, left, right, right2 = (
                ends(model, duration, watched, path, number + quantity(shift, number.units))
                for shift in (-2 * step, -step, step, 2 * step))
            sides = np.array([left - left2, right2 - right]) / step
            allowed = SHARE * (np.abs(sides).max() + 1e-2 * size) + 1e-10 * size / step
            good = np.abs(sides - found).max() < allowed
            if good:
                break
        kink = np.abs(sides[0] - sides[1]).max() > 2 * allowed
        assert good or kink and said, (path, found, sides)
