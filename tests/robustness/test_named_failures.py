"""Is what has no value, no effect or no meaning refused by name, and nothing else?"""

import math
import warnings

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import oscillator

import blocks
import library.translational as tr
from blocks import Component, Parameter, ParameterError, SimulationError, Variable, der, quantity
from blocks.exceptions import FileError, WrongCall
from blocks.initialisation.initial_values import InitialWarning
from blocks.language.replaceable import Replacement
from library import signal
from library.isothermal_liquid import ConstantVolumeChamber, GasChargedAccumulator, Reservoir
from library.mechanisms import BandBrake, Differential, DiscClutch, LossyGear, RollingWheel
from library.rotational import Inertia, RotationalFriction, RotationalReference, RotationalSpring


def alone(component):
    return wired("test", part=component)


def loop(*signals):
    """Signal blocks in a ring: every output feeds the first input of the next."""
    model = blocks.Model("ring")
    for k, block in enumerate(signals):
        setattr(model, f"b{k}", block)
    names = list(model.parts)
    for a, b in zip(names, [*names[1:], names[0]], strict=True):
        into = model[b]
        model.connect(model[a].y, into.u1 if "u1" in into.ports else into.u)
    return model


def codes(model):
    return [f.code for f in model.check().errors]


# -- derivatives of what does not change -----------------------------------------------------------
class Rated(Component):
    """A component that differentiates one of its declarations."""

    span, factor, given = Parameter("3 m"), Parameter(2.0), Parameter("3 m", varying=True)
    held = blocks.Discrete("m", "1 m")
    x, rate = Variable("m", "1 m", priority="high"), Variable("m/s")

    def equations(self):
        yield der(self.x) == -self.x / quantity("1 s")
        yield self.rate == der(self.what())
        yield blocks.when(self.x < quantity("0.5 m"), {self.held: 2 * self.held})


@pytest.mark.parametrize(("what", "why"), [
    (lambda c: c.span * c.factor**2, "a parameter does not change with time"),
    (lambda c: 2 * quantity("2 m"), "a constant does not change with time"),
    (lambda c: c.held + c.span, "a Discrete value is held between events")])  # fmt: skip
def test_a_derivative_of_what_never_changes_is_refused(what, why):
    (finding,) = alone(type("Slip", (Rated,), {"what": what})()).check().errors
    assert finding.code == "equation.constant"
    assert "Slip, equation 2: der(" in finding.problem
    assert why in finding.problem


def test_a_derivative_of_a_parameter_that_may_be_a_function_of_time_is_allowed():
    cls = type("Given", (Rated,), {"what": lambda c: c.given + c.span * c.x / quantity("1 m")})
    run = alone(cls(given="7 m")).simulate("1 s", rtol=1e-9)
    assert run["part.rate"].final.to("m/s").m == pytest.approx(-3 * math.exp(-1), rel=1e-6)


# -- loops of signals that determine nothing ------------------------------------------------------
def test_gains_that_multiply_to_one_in_a_ring_determine_nothing():
    assert codes(loop(signal.Gain(gain=4), signal.Gain(gain=0.25))) == ["initial.dependent"]
    assert codes(loop(signal.Gain(gain=-8), signal.Gain(gain=0.125))) == []


def test_a_ring_has_its_closed_form_until_its_gain_comes_to_one():
    model = loop(signal.Gain(gain=0.75), signal.Sum(), signal.Product())
    wire(model, "c.y b1.u2", "ramp.y b2.u2", "b1.y i.u", c=signal.Constant(value=2),
         ramp=signal.Ramp(slope="1 1/s"), i=signal.Integrator())
    with pytest.raises(SimulationError, match="b2 run in a circle whose gain is 1 there") as told:
        model.simulate("2 s")
    assert told.value.time == pytest.approx(4 / 3, rel=1e-9)
    assert told.value.result["b1.y"].at("1 s").m == pytest.approx(2 / (1 - 0.75), rel=1e-12)


@pytest.mark.parametrize("block", [signal.Maximum(), signal.Minimum(), signal.Sum(signs="+")])
def test_a_signal_that_only_follows_itself_is_refused(block):
    model = loop(block)
    if "u2" in block.ports:
        model.connect(model.b0.y, model.b0.u2)
    assert set(codes(model)) <= {"initial.dependent", "initial.undetermined", "structure.singular"}
    assert codes(model)


def test_a_switch_that_comes_to_follow_itself_stops_the_run_there():
    model = wired("switch", "ramp.y s.control s.u2", "s.y s.u1",
                  ramp=signal.Ramp(slope="10 1/s"), s=signal.Switch(threshold=2.5))
    assert not model.check().errors
    with pytest.raises(SimulationError, match="s: its equation .* has no finite value") as caught:
        model.simulate("1 s")
    assert caught.value.code == "simulation.value"
    assert caught.value.time == pytest.approx(0.25, abs=1e-9)  # where the ramp reaches 2.5


class Divided(Component):
    """A falling value over a divisor that it chooses itself."""

    x, y = Variable("m", "1 m", priority="high"), Variable("m")
    late = Parameter(0.0)

    def equations(self):
        yield der(self.x) == -self.x / quantity("1 s")
        yield self.y == self.x / blocks.where(self.x > quantity("0.5 m"), 1.0, self.late)


def test_a_divisor_that_is_chosen_is_looked_at_in_every_run_for_its_own_parameters():
    model = wired("divided", part=Divided())
    for late in (0.0, 3.0, 0.0):
        model.part.late = late
        if late:
            assert model.simulate("2 s").status == "finished"
            continue
        with pytest.raises(SimulationError, match="part: its equation .* no finite value") as told:
            model.simulate("2 s")
        assert told.value.time == pytest.approx(np.log(2), abs=1e-6)
    assert model.simulate("0.5 s").status == "finished"  # it has not been chosen by then


class Geared(Component):
    """A position that moves once or twice as far, as a value says that is held."""

    y = blocks.Output("m")
    gear = blocks.Discrete("", 2)

    def equations(self):
        far = quantity("1 m") * blocks.sin(blocks.time / quantity("1 s"))
        yield self.y == blocks.where(self.gear > 1.5, 2 * far, far, events=False)
        yield blocks.when(blocks.time > quantity("2 s"), {self.gear: 1})


def test_a_held_value_may_stand_in_a_law_that_has_to_be_differentiated():
    model = alone(Geared())
    wire(model, "part.y table.S", "table.R load.M", "table.C floor.V",
         table=tr.PositionSource(), load=tr.Mass(mass="3 kg"), floor=tr.Reference())
    run = model.simulate("1.5 s", max_step="10 ms")
    assert run["load.v"].at("1 s").to("m/s").m == pytest.approx(2 * math.cos(1), rel=1e-6)
    assert run["load.f"].at("1 s").to("N").m == pytest.approx(-3 * 2 * math.sin(1), rel=1e-6)


def test_a_play_that_only_follows_itself_rests():
    model = loop(signal.Backlash(width=3), signal.Sum(signs="+"), signal.Gain(gain=0.7))
    assert abs(model.simulate("1 s")["b0.y"].magnitude).max() == 0


# -- values that are no numbers -------------------------------------------------------------------
def test_a_root_that_loses_its_value_behind_a_limit_stops_the_run():
    model = wired("hidden", "wave.y root.u", "root.y limit.u",
                  wave=signal.Sine(amplitude=1, frequency="0.5 Hz", bias=0.5),
                  root=signal.MathFunction(function="sqrt"), limit=signal.Saturation())
    with pytest.raises(SimulationError, match=r"root: its equation  y == sqrt\(u\)") as caught:
        model.simulate("2 s", max_step="10 ms")
    # sin(pi t) = -1/2 at 7/6 s
    assert caught.value.time == pytest.approx(7 / 6, abs=1e-12)
    assert caught.value.result.status == "failed"


def inverse(of, area=lambda x: 1):
    class Inverse(Component):
        x, y = Variable("", "0.3", priority="high"), blocks.Output("")
        integral = Variable("", "0", priority="high")

        def equations(self):
            yield der(self.x) == quantity("1 1/s")
            yield self.y == of(self.x)
            yield der(self.integral) == quantity("1 1/s") * area(self.x)

    return Inverse()


def test_a_pole_beside_exact_friction_is_warned_of_though_it_is_left_soon():
    model = oscillator()
    model.inverse = inverse(lambda x: 1 / ((x - 1) ** 2 - 1e-6))
    with pytest.warns(UserWarning, match="at t = 0.699 s, between two steps, where it passes"):
        model.simulate("2 s", max_step="0.47 ms")


@pytest.mark.parametrize("method", ["auto", "DOP853", "rodas4", "Radau", "BDF"])
def test_a_pole_that_a_state_passes_is_warned_of(method):
    model = wired("pole", part=inverse(np.sin, lambda x: abs(x - 1) ** -0.5))
    with pytest.warns(UserWarning, match=r"part: .*der\(integral\) ==.* at t = 0.7 s, between"):
        run = model.simulate("2 s", method=method)
    exact = 2 * (0.7**0.5 + 1.3**0.5)
    assert run["part.integral"].final.m == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize(("of", "grows"), [
    (lambda x: 3 + 1 / (x - 1), True), (lambda x: (x - 2) / abs(x - 1), True),
    (lambda x: blocks.tan(x - 1 + np.pi / 2), True), (lambda x: 1 / (x - 1) ** 2, True),
    (lambda x: 1 / ((x - 1) * (3 * x - 3)), True), (lambda x: abs(x - 1) ** -1.5, True),
    (lambda x: (x**2 - 1) / (x - 1), False), (lambda x: (x - 1) / abs(x - 1) ** 0.5, False),
    (lambda x: blocks.where(abs(x - 1) > 0.1, 1 / (x - 1), 0), False)])
@pytest.mark.parametrize("method", ["auto", "DOP853", "Radau"])
def test_a_pole_of_what_nothing_depends_on_is_warned_of(of, grows, method):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = wired("pole", inverse=inverse(of))
        model.simulate("2 s", method=method)
        model.sweep({"inverse.x": [0.3]}, "2 s", outputs=["max(inverse.y)"], method=method)
    assert ["inverse" in str(one.message) and "at t = 0.7 s" in str(one.message)
            for one in told] == [True] * (2 * grows)


class Draining(Component):
    """A vessel that drains below its bottom."""

    level = Variable("m", "1 m", priority="high")

    def equations(self):
        flow = quantity("1 m^0.5/s") * blocks.sqrt(self.level)
        yield der(self.level) == quantity("-1 m/s") - flow


class Widening(Component):
    """The same, with a slope that has a factor."""

    level = Variable("m", "1 m", priority="high")

    def equations(self):
        width = 1 + self.level / quantity("1 m")
        yield width * der(self.level) == width * (
            quantity("-1 m/s") - quantity("1 m^0.5/s") * blocks.sqrt(self.level))


@pytest.mark.parametrize(("vessel", "method"), [
    *((Draining, m) for m in ["auto", "dopri5", "rodas4", "DOP853"]),
    (Widening, "auto"), (Widening, "rodas4")])  # fmt: skip
def test_a_slope_that_loses_its_value_stops_the_run_by_name(vessel, method):
    with pytest.raises(SimulationError, match=r"der\(part.level\).*has no finite value") as caught:
        alone(vessel()).simulate("2 s", method=method)
    assert 2 - 2 * np.log(2) == pytest.approx(caught.value.time, rel=1e-3)  # empty there


@pytest.mark.parametrize("method", ["rodas4", "Radau", "BDF"])
def test_a_slope_that_grows_without_bound_stops_the_run_with_its_equation(method):
    class Pulled(Component):
        """Pulled in harder the nearer it is: x = sqrt(1/4 - 2 t) until it arrives."""

        x = Variable("m", "0.5 m", priority="high")

        def equations(self):
            pull = -quantity("1 m^2/s") / self.x
            yield der(self.x) == blocks.where(self.x > 0, pull, quantity("0 m/s"))

    with pytest.raises(SimulationError, match=r"as in +der\(part.x\) == where\(") as caught:
        alone(Pulled()).simulate("1 s", method=method)
    assert caught.value.time == pytest.approx(1 / 8, rel=1e-4)


class Level(tr.TwoPort):
    """A damper that also says the logarithm of its velocity."""

    decibel = Variable()

    def equations(self):
        yield self.f == quantity("1 N*s/m") * self.v
        yield self.decibel == blocks.log(self.v / quantity("1 m/s"))


def test_a_result_without_a_value_at_the_start_is_found_by_check():
    model = alone(Level())
    wire(model, "body.M part.R", "floor.V part.C", body=tr.Mass(), floor=tr.Reference())
    (finding,) = model.check().errors
    assert finding.code == "initial.value" and finding.where == ("part",)
    assert "decibel" in finding.problem
    model.body.v = "2 m/s"
    assert model.simulate("1 s")["part.decibel"].final.m == pytest.approx(math.log(2) - 1, rel=1e-4)


class Wild(tr.TwoPort):
    """Dry friction whose strength has no value from the start on."""

    def equations(self):
        strength = quantity("1 N") * blocks.sqrt(blocks.sin(blocks.time / quantity("1 s")) - 2)
        yield blocks.dry_friction(self.f, self.v, static=strength, kinetic=strength)


def test_friction_without_a_strength_is_found_by_check():
    model = alone(Wild())
    wire(model, "body.M part.R", "floor.V part.C", body=tr.Mass(), floor=tr.Reference())
    (finding,) = model.check().errors
    assert finding.code == "simulation.value" and finding.where == ("part",)


class Pressed(tr.TwoPort):
    """Friction under a force that turns round, or that someone counts the wrong way."""

    pressure = Parameter("10 N", varying=True)

    def equations(self):
        yield blocks.dry_friction(self.f, self.v, static=0.3 * self.pressure,
                                  kinetic=0.3 * self.pressure)


def test_friction_that_would_drive_what_it_should_hold_is_refused():
    """At rest when its strength turns negative, after 0.5 s; sliding when it is from the start."""
    model = wired("pressed", "body.M rub.R", "rub.C ground.V", body=tr.Mass(),
                  ground=tr.Reference(),
                  rub=Pressed(pressure=lambda t: (1 - t / quantity("0.5 s")) * quantity("10 N")))
    with pytest.raises(SimulationError, match=r"rub: the strength .* is negative at t = 0\.5 s"):
        model.simulate("1 s")
    model.body.v = "1 m/s"
    model.rub.pressure = lambda t: quantity("-1 N") - t * quantity("1 N/s")
    (finding,) = model.check().errors
    assert finding.code == "simulation.value" and finding.where == ("rub",)
    assert "abs_(N) for a guide" in finding.advice


@pytest.mark.parametrize("given", [{"wrap": "1e6 rad"}, {"kinetic_coefficient": 800,
                                                          "static_coefficient": 900}])
def test_a_band_that_holds_more_than_all_numbers_is_refused(given):
    model = alone(BandBrake(**given))
    wire(model, "shaft.I part.R", "wall.W part.C", shaft=Inertia(), wall=RotationalReference())
    (finding,) = model.check().errors
    assert finding.code == "parameter.relation"
    assert "ratio of tensions" in finding.problem


# -- limits, bounds and presets -------------------------------------------------------------------
def limited(**given):
    return wired("limits", "u.y i.u",
                 u=signal.Constant(value=-1),
                 i=signal.Integrator(limited=True, upper="2 s", lower="-0.5 s", **given))


def test_an_integral_starts_between_its_limits():
    assert codes(limited(x="-0.6 s")) == ["simulation.required"]
    with pytest.raises(SimulationError, match="i: .*not between the limits"):
        limited(x="7 s").simulate("1 s")
    run = limited(x="2 s").simulate("5 s")
    assert run["i.y"].at("1 s").to("s").m == pytest.approx(1.0)
    assert run["i.y"].final.to("s").m == pytest.approx(-0.5)


def test_an_integral_is_reset_to_a_value_between_its_limits():
    model = limited(external_reset=True, reset_value="3 s")
    model.r = signal.Step(start="1 s")
    model.connect(model.r.y, model.i.reset)
    assert codes(model) == ["parameter.relation"]
    model.i.reset_value = "1 s"
    assert codes(model) == []


def test_a_preset_outside_its_own_bounds_is_refused_where_the_class_is_made():
    with pytest.raises(ParameterError, match=r"Half\.share \(default\): must be at most 1"):
        class Half(Component):
            share = Parameter(1.5, minimum=0, maximum=1)

    with pytest.raises(ParameterError, match=r"Law\.speed \(default\): must be greater than"):
        class Law(Replacement):
            speed = Parameter("0 mm/s", above=0)


@pytest.mark.parametrize("given", [None, 3, [1.0, 2.0], np.array([1.0, 2.0]), print, b"m", {}])
def test_an_option_that_is_a_text_takes_nothing_else(given):
    for make in (lambda: signal.Sum(signs=given), lambda: signal.Gain(input=given)):
        with pytest.raises(ParameterError, match="takes a text"):
            make()
    with pytest.raises(blocks.UnknownName, match="The choices are: linear, table"):
        tr.Spring(law=given)


class Wheel(Component):
    """A body with a preset speed."""

    I = Inertia.I  # noqa: E741
    w = Variable("rad/s", "5 rad/s", priority="high")

    def equations(self):
        yield self.w == self.I.w
        yield self.I.t == quantity("3 kg*m^2") * der(self.w)


def test_presets_that_contradict_each_other_are_told():
    model = wired("two wheels", "a.I b.I", a=Wheel(), b=Inertia(inertia="1 kg*m^2"))
    (finding,) = model.check().filter("initial.conflict")
    assert finding.severity == "warning" and set(finding.where) == {"a.w", "b.w"}
    with pytest.warns(InitialWarning, match="preset, cannot all be met"):
        run = model.simulate("1 s")
    assert run["a.w"].final.to("rad/s").m == pytest.approx(2.5)
    model.b.w = "4 rad/s"  # who says what is meant is not warned
    assert not model.check().filter("initial.conflict")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.simulate("1 s")["a.w"].final.to("rad/s").m == pytest.approx(4)


# -- what a run refuses, check() finds ------------------------------------------------------------
def test_check_finds_what_a_component_requires_at_the_start():
    model = alone(DiscClutch())
    model.shaft, model.wall = Inertia(w="3 rad/s"), RotationalReference()
    model.push = signal.Constant(value="-5 N")
    wire(model, "shaft.I part.R", "wall.W part.C", "push.y part.N")
    (finding,) = model.check().errors
    assert finding.code == "simulation.required" and finding.where == ("part",)
    with pytest.raises(SimulationError) as caught:
        model.simulate("1 s")
    assert caught.value.time == 0 and caught.value.result.time.magnitude.tolist() == [0.0]


@pytest.mark.parametrize("block", [signal.Counter(sample_time="1e-17 s"),
                                   signal.UniformRandomNumber(sample_time="1e-200 s"),
                                   signal.Pulse(period="1e-30 s")])
def test_a_part_that_would_act_all_the_time_is_refused(block):
    model = alone(block)
    assert codes(model) == ["parameter.instants"]
    with pytest.raises(ParameterError, match="part: acts every 1e-"):
        model.simulate("1 s")


def test_a_period_too_short_for_the_length_of_the_run_is_refused():
    model = alone(signal.Counter(sample_time="1 us"))
    assert not model.check().errors
    with pytest.raises(ParameterError, match="acts every 1e-06 s, which is 6e\\+06 times"):
        model.simulate("6 s")


def test_a_mass_so_small_that_its_acceleration_has_no_number_is_refused():
    model = wired("light", "body.M spring.R damper.R push.R", "floor.V spring.C damper.C push.C",
                  body=tr.Mass(mass="1e-305 kg"), floor=tr.Reference(),
                  spring=tr.Spring(x="-1 km", stiffness="1 MN/m"), damper=tr.Damper(),
                  push=tr.ForceSource(force="1 N"))
    assert codes(model) == ["initial.derivative"]
    with pytest.raises((blocks.InitialisationError, blocks.BlocksError),
                       match="not a finite number"):
        model.simulate("1 s")


def test_a_matrix_that_becomes_singular_during_a_run_stops_it_by_name():
    model = wired("loose end", "push.R stop.R floor.V", push=tr.ForceSource(force="0.2 N"),
                  stop=tr.HardStop(lower_bound="5 mm"), floor=tr.Reference())
    model.connect(model.push.C, model.stop.C)  # in the gap nothing takes the force up
    with pytest.raises(SimulationError, match="stop: the run stopped at t = .* singular") as caught:
        model.simulate("0.5 s", method="moreau_jean", step="1 ms")
    assert caught.value.result.status == "failed"


def test_values_that_outgrow_all_numbers_stop_the_run_by_name():
    """A ring spring preloaded by 1e300 N, pressed by 1e30 N, beside a stuck gear."""
    model = wired("thrown", "press.y road.N", "road.R ring.C floor.V other.M",
                  "body.M road.C ring.R", "axle.S1 wheel.A rotor.I", "axle.S2 gear.S ground.W",
                  "axle.D gear.O",
                  body=tr.Mass(v="0.119 mm/s"), other=tr.Mass(), floor=tr.Reference(),
                  ring=tr.FrictionRing(v="-15.3 mm/s", preload="1e300 N", ring_friction="213 N"),
                  road=tr.RollingResistance(), press=signal.Step(final="1e30 N", start="20 ms"),
                  axle=Differential(), wheel=RollingWheel(), gear=LossyGear(),
                  ground=RotationalReference(), rotor=Inertia(count=2))
    with pytest.raises(SimulationError, match="grow beyond all numbers"), pytest.warns(
            InitialWarning, match="body.v.*ring.v"):
        model.simulate("0.1 s", method="moreau_jean", step="1 ms")


def test_a_parameter_beyond_all_bounds_is_told_by_its_law():
    model = wired("circuit", "store.A chamber.A tank.A",
                  store=GasChargedAccumulator(precharge_pressure="1e300 MPa"),
                  chamber=ConstantVolumeChamber(), tank=Reservoir())
    (error,) = model.check().errors
    assert error.code == "initial.failed"
    assert "precharge_pressure" in error.problem and "no finite value" in error.problem


def test_what_is_no_file_is_answered_by_the_call(tmp_path):
    model = wired("kept", "body.I rub.R", "rub.C floor.W",
                  body=Inertia(w="1 rad/s"), floor=RotationalReference(), rub=RotationalFriction())
    run = model.simulate("1 s")
    for call in (model.save, lambda file: run.report(save=file), run.animate, model.export_fmu):
        with pytest.raises(WrongCall, match="takes the name of a file"):
            call(3)
    with pytest.raises(FileError, match="has no ending, but an FMU ends with .fmu"):
        model.export_fmu(tmp_path)
    with pytest.raises(FileError, match="cannot be opened"):
        model.export_fmu(tmp_path / "none" / "kept.fmu")


def test_a_table_of_no_width_at_an_open_port_is_refused_by_name():
    model = blocks.Model("open")
    model.spring = RotationalSpring(
        law="table", deformations=quantity([0.0, 0.0], "rad"), torques=quantity([-10, 10], "N*m"))
    model.frame = RotationalReference()
    model.connect(model.spring.C, model.frame.W)
    with pytest.raises(blocks.BlocksError, match="strictly increasing"):
        model.check().raise_errors()
