"""What switches for ever is told, and what only switches often, or rests at zero, is not."""

import warnings

import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import dry
from scipy.integrate import solve_ivp

import blocks
import library.electrical as el
import library.rotational as rot
from blocks import (
    Component,
    Discrete,
    Input,
    SimulationError,
    Variable,
    der,
    quantity,
    sin,
    when,
    where,
)
from library.signal import Backlash
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    VelocitySource,
)

G, E, H = 9.81, 0.6, 1.2
REST = np.sqrt(2 * H / G) * (1 + E) / (1 - E)
METHODS = "auto", "dopri5", "rodas4", "DOP853"


class Ball(Component):
    """A ball above a floor; subclasses say what the floor does to it."""

    height, v = Variable("m", "1.2 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
    touched = Discrete("1", 0.0)
    restitution = blocks.Parameter(0.6)

    def equations(self):
        yield der(self.height) == self.v
        yield der(self.v) == quantity("-9.81 m/s^2")
        yield self.floor()


class Naive(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: -self.restitution * self.v})


class Directed(Ball):
    def floor(self):
        return when((self.height < 0) & (self.v < 0), {self.v: -self.restitution * self.v})


class Placing(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: self.restitution * blocks.abs_(self.v),
                                      self.height: 0})


class Levelled(Ball):
    """The level of the floor is a discrete value."""

    level = Discrete("m", "0 m")

    def floor(self):
        return when(self.height < self.level, {self.v: -self.restitution * self.v})


class Looped(Ball):
    """The height is read by two equations that are solved together."""

    read, bent = Variable("m"), Variable("m")

    def equations(self):
        yield from super().equations()
        yield self.read + 0.1 * self.bent == self.height
        yield self.bent == quantity("0.2 m") * sin((self.read + self.bent) / quantity("1 m"))

    def floor(self):
        return when(self.read < 0, {self.v: -self.restitution * self.v})


class Stopping(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: 0})


class Slowing(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: 0.5 * self.v})


class Counting(Ball):
    def floor(self):
        return when(self.height < 0, {self.touched: self.touched + 1})


def model(kind):
    return wired("drop", ball=kind())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [Naive, Directed, Placing, Levelled, Looped])
def test_a_ball_that_comes_to_rest_is_told_with_the_cure(kind, method):
    with pytest.raises(SimulationError, match="contact") as told:
        model(kind).simulate("4 s", method=method)
    assert told.value.where == "ball"
    assert told.value.data["time"] == pytest.approx(REST, rel=2e-3)


@pytest.mark.parametrize("step", ["10 ms", "0.4 s", "4 s"])
def test_a_driven_run_is_told_of_its_ball_that_falls(step):
    run = model(Naive).stepper(duration="8 s")
    with pytest.raises(SimulationError, match="contact") as told:
        for _ in range(round(8 / quantity(step).to("s").m)):
            run.advance(step)
    assert told.value.where == "ball"
    assert told.value.data["time"] == pytest.approx(REST, rel=2e-3)


class Halving(Component):
    """Each charge is half of the one before, so that all of them end at 2 s."""

    q, level = Variable("C", "0 C", priority="high"), Discrete("C", "1 C")

    def equations(self):
        yield der(self.q) == quantity("1 A")
        yield when(self.q > self.level, {self.q: 0, self.level: self.level / 2})


@pytest.mark.parametrize("method", METHODS)
def test_a_level_that_goes_to_zero_in_a_finite_time_is_told(method):
    with pytest.warns(blocks.LastingWarning, match="halves: q rises above level at t = 2 s"):
        run = wired("zeno", halves=Halving()).simulate("3 s", method=method)
    assert run["halves.q"].at("1.9 s").m == pytest.approx(1.9 - 1.875, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_flights_before_are_those_of_the_closed_form(method):
    end = 0.9 * REST
    result = model(Placing).simulate(f"{end} s", method=method, rtol=1e-8)
    touches = np.array([event.time.to("s").m for event in result.events])
    exact = np.sqrt(2 * H / G) * (1 + 2 * np.cumsum(np.append(0, E ** np.arange(1.0, 30.0))))
    exact = exact[exact < end]
    np.testing.assert_allclose(touches, exact, rtol=1e-5)


def test_a_motion_that_is_only_stopped_is_warned_of():
    with pytest.warns(UserWarning, match="ball: height falls below 0 .* stopped the motion"):
        result = model(Stopping).simulate("2 s")
    t1 = np.sqrt(2 * H / G)
    assert result["ball.height"].final.m == pytest.approx(-G / 2 * (2 - t1) ** 2, rel=1e-6)


@pytest.mark.parametrize(("kind", "speed"), [(Slowing, 0.5), (Counting, 1.0)])
def test_what_only_acts_where_something_is_passed_is_no_fault(kind, speed):
    result = model(kind).simulate("1 s")
    t1 = np.sqrt(2 * H / G)
    assert result["ball.v"].final.m == pytest.approx(-G * (speed * t1 + 1 - t1), rel=1e-6)


class Tanks(Component):
    """Two tanks that drain; a hose goes to the one that has just run empty."""

    a, b = Variable("m", "0.1 m", priority="high"), Variable("m", "0.1 m", priority="high")
    at_b = Discrete("1", 0)

    def equations(self):
        hose, drain = quantity("0.7 m/s"), quantity("0.5 m/s")
        yield der(self.a) == hose * (1 - self.at_b) - drain
        yield der(self.b) == hose * self.at_b - drain
        yield when(self.a < 0, {self.at_b: 0})
        yield when(self.b < 0, {self.at_b: 1})


@pytest.mark.parametrize("method", METHODS)
def test_a_hose_that_goes_to_and_fro_ever_faster_is_told(method):
    """Both lose 0.3 m/s of 0.2 m, and are empty at 2/3 s, which no switching survives."""
    tanks = wired("tanks", two=Tanks())
    half = tanks.simulate("0.6 s", method=method)
    assert (half["two.a"].final + half["two.b"].final).m == pytest.approx(0.02, abs=1e-9)
    with pytest.raises(SimulationError, match="two: . falls below 0 m .* hysteresis") as told:
        tanks.simulate("2 s", method=method)
    assert told.value.data["time"] == pytest.approx(2 / 3, rel=1e-6)


class Valve(Component):
    """A valve that closes at a level of 1, which another source passes later."""

    level = Variable("1", 0, priority="high")
    opening = Discrete("1", 1)

    def equations(self):
        more = where(blocks.time > quantity("5 s"), 0.1, 0)
        yield der(self.level) == (self.opening + more) * quantity("1 1/s")
        yield when(self.level > 1, {self.opening: 0})


def test_a_valve_that_has_closed_is_no_fault_where_others_fill():
    tank = wired("tank", valve=Valve())
    assert tank.simulate("10 s")["valve.level"].final.m == pytest.approx(1.5, rel=1e-9)


class Spark(Component):
    """A capacitor that a spark leaves above the voltage at which it strikes."""

    u = Variable("V", "0 V", priority="high")
    left = blocks.Parameter("1.2 V")
    struck = Discrete("1", 0)

    def equations(self):
        yield der(self.u) == quantity("3 V/s")
        yield when(self.condition(), {self.u: self.left, self.struck: self.struck + 1})

    def condition(self):
        return self.u > quantity("1 V")


class FirstSpark(Spark):
    def condition(self):
        return (self.u > quantity("1 V")) & (self.struck < 1)


@pytest.mark.parametrize("left", [1.2, 1.0])
@pytest.mark.parametrize("method", [*METHODS, "rk4"])
def test_a_reset_that_leaves_its_condition_true_is_told(method, left):
    keys, spark = {"step": "1 ms"} if method == "rk4" else {}, Spark(left=quantity(left, "V"))
    told = "spark: u rises above 1 V at t = 0.333.* stays true"
    with pytest.warns(blocks.LastingWarning, match=told):
        run = wired("spark", spark=spark).simulate("1 s", method=method, **keys)
    assert run["spark.u"].final.m == pytest.approx(left + 3 * (1 - 1 / 3), rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", blocks.LastingWarning)
        again = wired("again", spark=Spark(left="0.4 V")).simulate("1 s", method=method, **keys)
        wired("once", spark=FirstSpark()).simulate("1 s", method=method, **keys)
    assert again["spark.struck"].final.m == 4  # at 1/3 s, and each 0.2 s on


# -- long runs --------------------------------------------------------------------------------
AT_REST = 60.1  # s


class Slide(Component):
    """At full speed towards zero from either side: there it switches for ever."""

    x = Variable("m", f"{AT_REST} m", priority="high")

    def equations(self):
        yield der(self.x) == where(self.x > quantity(0, "m"), -1.0, 1.0) * quantity(1, "m/s")


class Heater(Component):
    """Is on while a carrier of 20 Hz is below what is missing of a temperature."""

    temperature = Variable("K", "299 K", priority="high")
    capacity = blocks.Parameter("1 MJ/K")

    def equations(self):
        carrier = 2 + blocks.sin(quantity(2 * np.pi * 20, "rad/s") * blocks.time)
        missing = (quantity(301.5, "K") - self.temperature) / quantity("1 K")
        power = where(carrier < missing, 100.0, 0.0) * quantity("1 W")
        yield self.capacity * der(self.temperature) == power


class Sawtooth(Component):
    """Goes up for a quarter of a second, and begins anew: it is where it was at every event."""

    x = Variable("1", "0", priority="high")

    def equations(self):
        yield der(self.x) == quantity("4 1/s")
        yield when(self.x > 1, {self.x: 0.0})


def belt(model):
    """A block that sticks and slips four times a second."""
    wire(model, "pull.R spring.R", "spring.C block.M friction.R", "friction.C pull.C ground.V",
         pull=VelocitySource(velocity="0.1 m/s"), ground=Reference(), block=Mass(mass="1 kg"),
         spring=Spring(stiffness="1 kN/m"), friction=dry(20, 40))


def heater(model):
    model.heater = Heater()


def sawtooth(model):
    model.sawtooth = Sawtooth()


@pytest.mark.parametrize("method", ["auto", "DOP853"])
@pytest.mark.parametrize("add", [belt, heater, sawtooth])
def test_only_what_does_not_move_chatters(add, method):
    model = blocks.Model("long")
    add(model)
    model.slide = Slide()
    with pytest.raises(SimulationError, match="^slide: switches back and forth") as told:
        model.simulate("100 h", method=method)
    assert told.value.time == pytest.approx(AT_REST, abs=1e-3)
    assert len(told.value.result.events) > 300


# -- what rests at zero -----------------------------------------------------------------------
EVERYWAY = pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])


class Signs(Component):
    """How often a signal begins to be positive, and negative."""

    up, down = Discrete("", "0"), Discrete("", "0")

    def equations(self):
        yield when(self.u > 0, {self.up: self.up + 1})
        yield when(self.u < 0, {self.down: self.down + 1})


class CurrentSigns(Signs):
    u = Input("A")


class SpeedSigns(Signs):
    u = Input("rad/s")


def counts(run, *names):
    return [(run[f"{n}.up"].final.m, run[f"{n}.down"].final.m) for n in names]


@pytest.mark.parametrize("coils", [0, 1, 2])
@EVERYWAY
def test_a_rectifier_conducts_once_a_period(method, coils):
    model = wired("rectifier", "source.p diode.p", "diode.n sensor.p", "sensor.I signs.u",
                  source=el.ACVoltageSource(amplitude="10 V"), ground=el.ElectricalReference(),
                  diode=el.Diode(model="ideal"), sensor=el.CurrentSensor(), signs=CurrentSigns())
    ends = [model.source.n, model.ground.V]
    starts = [model.sensor.n]
    for k in range(max(coils, 1)):
        load = model.add(f"load{k}", el.Resistor(resistance=f"{k + 1} ohm"))
        ends.append(load.n)
        if coils:
            coil = model.add(f"coil{k}", el.Inductor(inductance="3 mH", parasitic=False))
            model.connect(coil.n, load.p)
            starts.append(coil.p)
        else:
            starts.append(load.p)
    model.connect(*starts)
    model.connect(*ends)
    run = model.simulate("95 ms", method=method)  # 5.7 periods of 60 Hz
    assert counts(run, "signs") == [(6, 0)]


@EVERYWAY
def test_a_bridge_charges_a_battery_in_pulses(method):
    """Where the coil rests, any two diodes of one side may be those that hold it."""
    model = wired("bridge", source=el.ACVoltageSource(amplitude="20 V"),
                  ground=el.ElectricalReference())
    for name in "abcd":
        model.add(name, el.Diode(model="ideal"))
    wire(model, "source.p alternating.p", "alternating.n a.p b.n", "source.n c.p d.n",
         "a.n c.n direct.p", "direct.n coil.p", "coil.n resistor.p", "resistor.n battery.p",
         "battery.n b.p d.p ground.V", "direct.I pulses.u", "alternating.I signs.u",
         coil=el.Inductor(inductance="1 mH", parasitic=False),
         battery=el.DCVoltageSource(voltage="12 V"), resistor=el.Resistor(resistance="0.5 ohm"),
         direct=el.CurrentSensor(), alternating=el.CurrentSensor(), pulses=CurrentSigns(),
         signs=CurrentSigns())
    run = model.simulate("50 ms", method=method)  # three periods
    assert counts(run, "pulses", "signs") == [(6, 0), (3, 3)]


RECTIFIERS = (  # three sources (V, Hz, rad), their resistances, the loads, the coil of the first
    ((6.0, 71.0, 1.6), (6.0, 79.0, 3.8), (12.0, 65.0, 5.3)), (0.9, 0.6, 0.8), (0.7, 1.1), 3e-3)


def pulses_by_hand(end):
    """How often each of two rectifiers that share a source conducts, by SciPy."""
    sources, (q0, q1, q2), (r0, r1), coil = RECTIFIERS

    def levels(t):
        return [a * np.sin(2 * np.pi * f * t + p) for a, f, p in sources]

    def second(t, i):
        _, u1, u2 = levels(t)
        return np.maximum(0.0, (u1 + u2 - q1 * i) / (q1 + q2 + r1))

    def slope(t, i):
        u0, u1, _ = levels(t)
        rate = (u0 + u1 - (q0 + q1 + r0) * i - q1 * second(t, i)) / coil
        return np.where((i > 0) | (rate > 0), rate, 0.0)

    run = solve_ivp(slope, (0, end), [0.0], max_step=2e-5)
    return [int(np.sum((i[1:] > 1e-3) & (i[:-1] <= 1e-3)))
            for i in (run.y[0], second(run.t, run.y[0]))]


@EVERYWAY
def test_rectifiers_that_share_a_source_count_each_pulse_once(method):
    """A current that ends beside a coil without one: an instant shows less than rounding."""
    sources, inner, loads, coil = RECTIFIERS
    amplitude, frequency, phase = (quantity(list(column), unit) for column, unit in zip(
        zip(*sources, strict=True), ("V", "Hz", "rad"), strict=True))
    model = wired("rectifiers", "source.p inner.p", "diode.n sensor.p", "sensor[0].I signs0.u",
                  "sensor[1].I signs1.u", "sensor[0].n coil.p", "coil.n load[0].p",
                  "sensor[1].n load[1].p", "load[0].n source[0].n ground.V",
                  "inner[0].n source[1].n load[1].n", "inner[1].n source[2].n diode[0].p",
                  "inner[2].n diode[1].p",
                  source=el.ACVoltageSource(count=3, amplitude=amplitude, frequency=frequency,
                                            phase=phase),
                  inner=el.Resistor(count=3, resistance=quantity(list(inner), "ohm")),
                  load=el.Resistor(count=2, resistance=quantity(list(loads), "ohm")),
                  diode=el.Diode(count=2, model="ideal"), sensor=el.CurrentSensor(count=2),
                  signs0=CurrentSigns(), signs1=CurrentSigns(), ground=el.ElectricalReference(),
                  coil=el.Inductor(inductance=quantity(coil, "H"), parasitic=False))
    run = model.simulate("40 ms", method=method, rtol=1e-8)
    first, second = pulses_by_hand(0.04)
    assert counts(run, "signs0", "signs1") == [(first, 0), (second, 0)]


@pytest.mark.parametrize(("torque", "slips"), [("3 N*m", (0, 0)), ("27 N*m", (5, 5))])
@EVERYWAY
def test_a_clutch_that_sticks_does_not_slip(method, torque, slips):
    """Held at 20 N m and more, it carries inertia b and damper; slides once a half turn, or not."""
    model = wired("clutch", "drive.R a.I clutch.R sensor.R", "clutch.C b.I sensor.C damper.R",
                  "drive.C damper.C ground.W", "sensor.W signs.u",
                  drive=rot.TorqueSource(
                      torque=lambda t: quantity(torque) * blocks.sin(quantity("2 rad/s") * t) * 2),
                  a=rot.Inertia(inertia="0.3 kg*m^2"), b=rot.Inertia(inertia="30 kg*m^2"),
                  clutch=rot.RotationalFriction(law="coulomb", coulomb_torque="20 N*m",
                                                breakaway_torque="25 N*m"),
                  damper=rot.RotationalDamper(damping="0.5 N*m*s/rad"),
                  ground=rot.RotationalReference(), sensor=rot.RotationalMotionSensor(),
                  signs=SpeedSigns())
    assert counts(model.simulate(f"{5 * np.pi - 0.01} s", method=method), "signs") == [slips]


# -- samples of one instant: rounding is no change, all else is -------------------------------
class Bleeds(Component):
    """Closes a switch while a voltage is high, and so lowers it at the same instant."""

    u, y = Input("V"), blocks.Output("1")
    on = Discrete("1", 0)

    def equations(self):
        yield blocks.every("0.1 s", {self.on: where(self.u > quantity("0.9 V"), 1, 0)})
        yield self.y == self.on


@few(1, "method", ["auto", "RK23"])
def test_a_sampler_that_undoes_its_reason_behind_a_switch_is_told_to_wait(method):
    model = wired("bleeds", "source.p main.p", "main.n line[0].p",
                  "line[0].n line[1].p valve.p sensor.p", "line[1].n store.p", "valve.n bleeder.p",
                  "bleeder.n store.n source.n sensor.n ground.V", "sensor.V bleeds.u",
                  "bleeds.y valve.vT",
                  source=el.DCVoltageSource(voltage="1 V"), main=el.Switch(model="ideal", gate=1),
                  line=el.Resistor(count=2, resistance="1 ohm"), bleeder=el.Resistor(),
                  store=el.Capacitor(capacitance="1 mF"), ground=el.ElectricalReference(),
                  valve=el.Switch(), sensor=el.VoltageSensor(), bleeds=Bleeds())
    with pytest.raises(SimulationError, match="^at t = 0.1 s the condition bleeds: u - 0.9 > 0 "
                       "contradicts itself.* hand the new value on one period later"):
        model.simulate("1 s", method=method)


# -- a wave that has not arrived --------------------------------------------------------------
def test_play_that_a_wave_has_not_reached_has_turned_nothing():
    n = 60
    model = wired("chain", "spring.R damper.R mass.M", "spring[1:].C damper[1:].C mass[:-1].M",
                  "spring[0].C damper[0].C ground.V push.C", "push.R mass[-1].M", "sensor.R mass.M",
                  "sensor.C ground.V", "sensor.P play.u", ground=Reference(), mass=Mass(count=n),
                  spring=Spring(count=n, stiffness="1 kN/m"),
                  damper=Damper(count=n, damping="1 N*s/m"),
                  push=ForceSource(force=lambda t: quantity("1 N") * blocks.sin(
                      t * quantity("10 rad/s"))), sensor=MotionSensor(count=n),
                  play=Backlash(count=n, width="1 mm"))
    run = model.simulate("0.5 s", rtol=1e-9)
    moved = [e for e in run.events if "side becomes 1" in e.description]
    assert [e.component for e in moved] == [f"play[{n - 1 - k}]" for k in range(len(moved))]
    assert len(moved) > 5
