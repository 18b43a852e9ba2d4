"""Operating points against closed forms, closed loops and linear programs."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from benches import few, wire, wired
from benches.analysis import assert_poles, beside, block, numbers, oscillator, results, stribeck
from benches.friction import dry
from scipy.optimize import brentq

import blocks
import library.electrical as el
import library.isothermal_liquid as il
import library.rotational as rot
import library.signal as sig
import library.translational as tr
from blocks import Component, Input, Parameter, Port, Variable, cos, der, quantity, sin, sqrt
from blocks.analysis import free
from blocks.exceptions import InitialisationError, ParameterError
from library.electromechanical import RotationalElectromechanicalConverter
from library.magnetic import ElectromagneticConverter, MagneticReference, ReluctanceForceActuator
from library.mechanisms import GearBox, WheelAndAxle
from library.planar import Body, Ground, Revolute, RigidOffset
from library.thermal import TemperatureSource, ThermalMass, ThermalResistance, thermal

GRAVITY = quantity("9.81 m/s^2")


class Carried(Component):
    """A body on a law f(x) of its own position, with a damper."""

    M = Port(tr.translational)
    mass, damping = Parameter("3 kg"), Parameter("7 N*s/m")
    x, v = Variable("m", "0 m", priority="high"), Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield self.M.v == self.v
        yield der(self.x) == self.v
        yield self.mass * der(self.v) == self.M.f - self.damping * self.v - self.law()


class Hardening(Carried):
    def law(self):
        return (quantity("400 N/m") * self.x + quantity("9e4 N/m^3") * self.x**3
                - self.mass * GRAVITY)


class SnapThrough(Carried):
    def law(self):
        length = sqrt(quantity("0.16 m^2") + self.x**2)
        return -2 * quantity("5000 N/m") * self.x * (quantity("0.5 m") / length - 1)


def carried(part, force):
    return wired("carried", "part.M push.R", "push.C ground.V",
                 part=part, push=tr.ForceSource(force=quantity(force, "N")), ground=tr.Reference())


def test_mass_on_a_hardening_spring():
    known = results("trim", "B1a")
    model = carried(Hardening(), 12)
    op = model.operating_point()
    assert op["part.x"].magnitude == pytest.approx(known["x"], rel=1e-10)
    linear = model.linearise("push.force", "part.x", at=op)
    assert_poles(linear.poles(), numbers(known["poles"]))
    assert linear.dcgain()[0, 0] == pytest.approx(known["dx_dF"], rel=1e-9)


@pytest.mark.parametrize("load", results("trim", "B1b")["equilibria"])
def test_all_equilibria_of_a_snap_through_truss(load):
    for known in results("trim", "B1b")["equilibria"][load]:
        part = SnapThrough(mass="2 kg", damping="5 N*s/m", x=quantity(known["y"] + 0.004, "m"))
        model = carried(part, -float(load))
        op = model.operating_point()
        assert op["part.x"].magnitude == pytest.approx(known["y"], rel=1e-9, abs=1e-12)
        assert_poles(model.linearise(at=op).poles(), numbers(known["poles"]))


class TunnelDiode(Component):
    """A capacitor beside a law with a hump: i = (v³ - 6 v² + 9 v) mA, 4 mA at 1 V, 0 at 3 V."""

    v, current = Variable("V", "0 V", priority="high"), Parameter("3 mA")

    def equations(self):
        v = self.v / quantity("1 V")
        yield quantity("1 uF") * der(self.v) == self.current - quantity("1 mA") * (
            v**3 - 6 * v**2 + 9 * v)


@pytest.mark.parametrize("current", [3, 3.9, 3.9999, 3.99999, 4.1, 5])
def test_a_tunnel_diode_beyond_its_hump_is_told(current):
    op = wired("hump", diode=TunnelDiode(current=quantity(current, "mA"))).operating_point()
    roots = np.roots([1, -6, 9, -current])
    known = roots[np.abs(roots.imag) < 1e-9].real
    assert op["diode.v"].magnitude == pytest.approx(known.min(), rel=1e-9)
    if current < 4:
        assert not op.notes
    else:
        (note,) = op.notes
        assert note.startswith("diode.v jumps: solutions next to the start end at a fold")
        assert "near 1 V, where" in note
        assert float(note.split("where ")[1].split()[0]) == pytest.approx(400 / current, abs=0.1)


@pytest.mark.parametrize("start", [1.2, 1.6, 2.2, 2.8])
@pytest.mark.parametrize("current", [4.02, 4.1, 4.5, 6])
def test_a_jump_from_a_falling_branch_is_told_however_near_the_fold_a_first_step_comes(
        start, current):
    diode = TunnelDiode(current=quantity(current, "mA"), v=quantity(start, "V"))
    op = wired("hump", diode=diode).operating_point()
    assert op["diode.v"].magnitude > 4
    (note,) = op.notes
    assert note.startswith("diode.v jumps: solutions next to the start end at a fold")


class Crank(Component):
    """Slider-crank with a massless rod, in closed form, of the angle t."""

    t, w = Variable("rad", "0 rad", priority="high"), Variable("rad/s", "0 rad/s", priority="high")
    slide, speed = Variable("m"), Variable("m/s")
    force = Parameter("1500 N")

    def equations(self):
        r, rod = quantity("0.05 m"), quantity("0.16 m")
        inertia, mass = quantity("0.004 kg*m^2"), quantity("0.6 kg")
        ratio = -r * sin(self.t) - r**2 * sin(self.t) * cos(self.t) / sqrt(
            rod**2 - r**2 * sin(self.t)**2)
        yield der(self.t) == self.w
        yield self.slide == r * cos(self.t) + sqrt(rod**2 - r**2 * sin(self.t)**2)
        yield self.speed == ratio * self.w
        yield inertia * der(self.w) == (
            -quantity("60 N*m/rad") * (self.t - quantity("0.2 rad"))
            - quantity("0.05 N*m*s/rad") * self.w - ratio * (self.force + mass * der(self.speed)))


@pytest.mark.parametrize("known", results("trim", "B2a")["equilibria"],
                         ids=lambda k: f"{k['angle']:.2f}")
def test_three_equilibria_of_a_slider_crank(known):
    model = wired("crank", crank=Crank(t=quantity(known["angle"] + 0.01, "rad")))
    op = model.operating_point()
    assert op["crank.t"].to("rad").magnitude == pytest.approx(known["angle"], rel=1e-9)
    assert op["crank.slide"].magnitude == pytest.approx(known["slider"], rel=1e-9)
    assert_poles(model.linearise(at=op).poles(), numbers(known["poles"]))


class FourBar(Component):
    """Crank, coupler and rocker as three turning bodies, closed by two equations (index 3)."""

    crank = Variable("rad", "1 rad", priority="high")
    coupler, rocker = (Variable("rad", f"{angle} rad", priority="low") for angle in (0.6, 1.6))
    w1, w2, w3 = Variable("rad/s"), Variable("rad/s"), Variable("rad/s")
    fx, fy = Variable("N"), Variable("N")
    torque = Parameter("1.5 N*m")

    def equations(self):
        a, b, c, ground = (quantity(x, "m") for x in (0.1, 0.3, 0.25, 0.32))
        inertia = quantity("1e-3 kg*m^2")
        for angle, w in ((self.crank, self.w1), (self.coupler, self.w2), (self.rocker, self.w3)):
            yield der(angle) == w
        yield inertia * der(self.w1) == self.torque + a * (
            self.fx * sin(self.crank) - self.fy * cos(self.crank))
        yield inertia * der(self.w2) == b * (
            self.fx * sin(self.coupler) - self.fy * cos(self.coupler))
        yield inertia * der(self.w3) == -quantity("20 N*m/rad") * (
            self.rocker - quantity("1.2 rad")) - c * (
            self.fx * sin(self.rocker) - self.fy * cos(self.rocker))
        yield a * cos(self.crank) + b * cos(self.coupler) == ground + c * cos(self.rocker)
        yield a * sin(self.crank) + b * sin(self.coupler) == c * sin(self.rocker)


def test_four_bar_has_two_poles_about_its_equilibrium():
    model = wired("four-bar", bars=FourBar())
    op = model.operating_point()
    angles = [op[f"bars.{n}"].to("rad").magnitude for n in ("crank", "coupler", "rocker")]
    assert angles == pytest.approx([0.9757315076388, 0.589421781523, 1.629089676405], rel=1e-9)
    assert 20 * (angles[2] - 1.2) == pytest.approx(8.581793528098, rel=1e-9)  # rocker torque
    linear = model.linearise("bars.torque", ["bars.rocker", "bars.crank"], at=op)
    gain = linear.dcgain()[:, 0]
    assert gain[0] / gain[1] == pytest.approx(0.1747886377234, rel=1e-9)
    # by hand: velocities of the loop, and their change with the crank
    t, q, p = angles
    loop = np.array([[-0.3 * np.sin(q), 0.25 * np.sin(p)], [0.3 * np.cos(q), -0.25 * np.cos(p)]])
    first = np.linalg.solve(loop, 0.1 * np.array([np.sin(t), -np.cos(t)]))
    second = np.linalg.solve(loop, np.array([
        0.1 * np.cos(t) + 0.3 * np.cos(q) * first[0]**2 - 0.25 * np.cos(p) * first[1]**2,
        0.1 * np.sin(t) + 0.3 * np.sin(q) * first[0]**2 - 0.25 * np.sin(p) * first[1]**2]))
    stiffness = 20 * (first[1]**2 + (p - 1.2) * second[1])
    pole = np.emath.sqrt(-stiffness / (1e-3 * (1 + first @ first)))
    assert_poles(linear.poles(), [pole, -pole])


class Car(Component):
    """A car on a slope with an engine, in one piece."""

    y = Input("1")
    grade = Parameter("0.04")
    v = Variable("m/s", "20 m/s", priority="high")

    def equations(self):
        w = self.v * 5.1 / quantity("0.31 m")
        unit = quantity("1 s")
        torque = quantity("1 N*m") * (
            self.y * (95 + 0.42 * w * unit - 7e-4 * (w * unit)**2) - (11 + 0.035 * w * unit))
        root = sqrt(1 + self.grade**2)
        weight = quantity("1250 kg") * GRAVITY
        resistance = weight * (self.grade + 0.012) / root + quantity("0.396 kg/m") * self.v**2
        mass = quantity("1250 kg") + quantity("4.2 kg*m^2") / quantity("0.31 m")**2 + (
            0.94 * quantity("0.18 kg*m^2") * (5.1 / quantity("0.31 m"))**2)
        yield mass * der(self.v) == 0.94 * 5.1 / quantity("0.31 m") * torque - resistance


def car(grade):
    return wired("car on a slope", "throttle.y car.y",
                 car=Car(grade=grade), throttle=sig.Constant(value=0.4))


@pytest.mark.parametrize(("grade", "speed", "throttle", "pole", "gain"), [
    (0.04, 25, 0.5531348665628, -0.0377981977544, 45.6110582827),
    (0.0, 25, 0.3409551386557, -0.0315191813031, 54.6973534679),
    (0.1, 12, 0.7300215620814, 0.00616988780018, -281.8640539)])
def test_throttle_for_a_speed(grade, speed, throttle, pole, gain):
    model = car(grade)
    op = model.operating_point({"car.v": f"{speed} m/s", "throttle.y": free})
    assert op["throttle.y"].magnitude == pytest.approx(throttle, rel=1e-9)
    linear = model.linearise("throttle.y", "car.v", at=op)
    assert linear.poles() == pytest.approx([pole], rel=1e-9)
    assert linear.dcgain()[0, 0] == pytest.approx(gain, rel=1e-9)
    assert linear.is_stable == (pole < 0)


@pytest.mark.parametrize(("grade", "throttle", "speed"), [
    (0.04, 1, 35.1177207097), (0.0, 1, 38.4566660256), (-0.08, 1, 44.0056555347),
    (0.1, 1, 28.7440909027), (-0.08, 0, 31.13390581762)])
def test_speed_of_a_throttle(grade, throttle, speed):
    op = car(grade).operating_point({"throttle.y": throttle})
    assert op["car.v"].magnitude == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize(("grade", "needed", "limit"), [(0.3, 1.864087680317, "at most 1"),
                                                        (-0.08, -0.08269563928822, "at least 0")])
def test_a_bound_that_is_passed_is_told(grade, needed, limit):
    with pytest.raises(InitialisationError) as caught:
        car(grade).operating_point({"car.v": "25 m/s", "throttle.y": (0, 1)})
    assert caught.value.needed.magnitude == pytest.approx(needed, rel=1e-9)
    assert str(caught.value).startswith(f"throttle.y: is {needed:.6g} in the solution that was "
                                        f"found, but shall be {limit}.")


def test_bounds_are_where_a_solution_is_looked_for_and_told_where_nothing_rests_between_them():
    for bounds in (("100 deg", "200 deg"), ("120 deg", None), ("140 deg", "250 deg")):
        op = swing(torque=5).operating_point({"hinge.phi": bounds})
        above = np.pi - np.arcsin(5 / 9.81)  # the other equilibrium hangs below
        assert op["hinge.phi"].to("rad").magnitude == pytest.approx(above, rel=1e-9)
    with pytest.raises(InitialisationError, match=r"hinge.phi: is .* in the solution that was "
                                                  r"found, but shall be at (least|most)"):
        swing(torque=5).operating_point({"hinge.phi": ("60 deg", "100 deg")})


def swing(torque):
    """A pendulum of 1 kg at 1 m, and a torque at its hinge."""
    return wired("swing", "ground.P hinge.B", "hinge.F rod.B", "rod.F bob.P",
                 "hinge.A push.R damper.R", "push.C damper.C frame.W",
                 ground=Ground(), hinge=Revolute(drive=True), rod=RigidOffset(dx="0 m", dy="-1 m"),
                 bob=Body(mass="1 kg", inertia="0.1 kg*m^2"),
                 push=rot.TorqueSource(torque=quantity(torque, "N*m")),
                 damper=rot.RotationalDamper(damping="0.3 N*m*s/rad"),
                 frame=rot.RotationalReference())


# -- stuck brakes ----------------------------------------------------------------------------
def brakes(torque, capacities, ratios):
    """Brakes at shafts that turn ratio times as fast as the first."""
    model = wired("brakes", "shaft.I push.R", "push.C frame.W",
                  shaft=rot.Inertia(inertia="0.1 kg*m^2"), frame=rot.RotationalReference(),
                  push=rot.TorqueSource(torque=quantity(torque, "N*m")))
    for k, (capacity, ratio) in enumerate(zip(capacities, ratios, strict=True), start=1):
        brake = model.add(f"brake{k}", rot.RotationalFriction(
            law="coulomb", coulomb_torque=quantity(capacity, "N*m"),
            breakaway_torque=quantity(capacity, "N*m")))
        model.connect(brake.C, model.frame.W)
        if ratio == 1:
            model.connect(brake.R, model.shaft.I)
        else:
            gear = model.add(f"gear{k}", GearBox(ratio=1 / ratio))
            model.connect(gear.S, model.shaft.I)
            model.connect(gear.O, brake.R)
    return model


@pytest.mark.parametrize(("case", "capacities", "ratios", "most"), [
    ("B4a", (30, 50), (1, 1), 80), ("B4b", (20, 12, 9), (1, 2.5, 4), 86)])
def test_stuck_brakes_share_a_load_within_intervals_and_break_away(case, capacities, ratios, most):
    ends = brakes(5, capacities, ratios).stuck_range("push.torque")
    assert [end.m for end in ends] == pytest.approx([-most, most], rel=1e-9)
    for load, known in results("trim", case).items():
        if not known["stuck"]:
            continue
        op = brakes(float(load.strip("[]")), capacities, ratios).operating_point()
        assert set(op.modes.values()) == {"stuck"}
        assert op.share == pytest.approx(known["margin"], rel=1e-9, abs=1e-9)
        for k, ends in enumerate(known["interval"].values(), start=1):
            found = [q.magnitude for q in op.interval(f"brake{k}")]
            assert found == pytest.approx(ends, rel=1e-9, abs=1e-9)
        assert op.undetermined == [f"brake{k + 1}" for k in range(len(capacities))]


def test_rigid_stops_that_bear_a_load_together_share_it_within_intervals():
    """Each of three may bear nothing, or all of it."""
    model = wired("plate", "stops.R plate.M push.R", "stops.C push.C ground.V",
                  ground=tr.Reference(), plate=tr.Mass(), push=tr.ForceSource(force="-30 N"),
                  stops=tr.HardStop(count=3, model="restitution", lower_bound="0 m",
                                    upper_bound="1 m"))
    op = model.operating_point()
    assert op.undetermined == [f"stops[{k}].lower_force" for k in range(3)]
    for name in op.undetermined:
        least, most = (end.magnitude for end in op.interval(name))
        assert least == 0 and most == pytest.approx(30)


def test_brakes_that_slip_have_no_rest():
    with pytest.raises(InitialisationError, match=r"rest of shaft.w is not possible: der\(shaft.w"):
        brakes(85, (30, 50), (1, 1)).operating_point()


# -- several equilibria of one load ----------------------------------------------------------
@pytest.mark.parametrize(("load", "known"), results("linearisation", "A5b")["equilibria"].items())
def test_pushed_block_rests_or_slides(load, known):
    for one in known:
        mode = one["mode"]
        words = {"stuck": "stuck"}.get(mode, f"slides {mode.split()[-1]}")
        speed = one.get("v", 0.0)
        model = block(float(load), stribeck(20, 25, 0.1, 10), v=quantity(1.001 * speed, "m/s"))
        op = model.operating_point(modes={"friction": words})
        assert op["block.v"].magnitude == pytest.approx(speed, rel=1e-8, abs=1e-12)
        linear = model.linearise("push.force", "block.v", at=op)
        if mode == "stuck":
            assert len(linear.poles()) == 0
        else:
            assert linear.poles() == pytest.approx(one["poles"], rel=1e-6)


# -- what meets the equations and cannot be ---------------------------------------------------
def heated_wire(current):
    """A resistance of 1 ohm at 300 K that grows with temperature, and its way to the room."""
    return wired("wire", "supply.p wire.p", "supply.n wire.n earth.V", "wire.H body.M wall.A",
                 "wall.B room.A", supply=el.DCCurrentSource(current=quantity(current, "A")),
                 earth=el.ElectricalReference(), body=ThermalMass(mass="10 g"),
                 wire=el.Resistor(thermal_port=True, resistance=lambda temperature: quantity(
                     "1 ohm") * (1 + quantity("0.004 1/K") * (temperature - quantity("300 K")))),
                 wall=ThermalResistance(resistance="10 K/W"),
                 room=TemperatureSource(temperature="300 K"))


@pytest.mark.parametrize("current", [2, 4, 6, 8, 20])
def test_a_wire_heated_by_its_current_runs_away_and_does_not_rest_at_a_negative_resistance(current):
    if current > 5:
        with pytest.raises(InitialisationError, match="wire: in the solution that was found, the "
                                                      "resistance is negative"):
            heated_wire(current).operating_point()
    else:
        assert heated_wire(current).operating_point()["body.T"].magnitude == pytest.approx(
            300 + 10 * current**2 / (1 - 0.04 * current**2), rel=1e-9)


class Drawn(Component):
    """A constant heat flow out of what it is connected to."""

    H = Port(thermal)
    heat = Parameter("40 W")

    def equations(self):
        yield self.heat == self.H.Q


def test_nothing_rests_below_absolute_zero():
    model = wired("cooled", "pump.H body.M wall.A", "wall.B room.A", pump=Drawn(heat="10 W"),
                  body=ThermalMass(mass="1 kg"), wall=ThermalResistance(resistance="10 K/W"),
                  room=TemperatureSource(temperature="300 K"))
    assert model.operating_point()["body.T"].magnitude == pytest.approx(200)
    model.pump.heat = "40 W"
    with pytest.raises(InitialisationError, match="body.T: would be -100 K .* never below 0 K"):
        model.operating_point()


# -- conflicts -------------------------------------------------------------------------------
def with_damper(force=10):
    return beside(block(force), damper=tr.Damper(damping="1 N*s/m"))


def test_force_on_a_free_mass_has_no_rest():
    with pytest.raises(InitialisationError, match="block.v.* 2.5 m/s².*push.force = 0 N") as caught:
        block(10).operating_point()
    assert caught.value.code == "analysis.conflict" and "friction" in caught.value.advice
    assert block(7, mass=3.0).operating_point({"block.v": "1 m/s", "push.force": free})[
        "push.force"].magnitude == 0  # not 4e-31 N


class Runaway(tr.TwoPort):
    """Pulls by 30 N, and by up to 11 N more the faster it goes."""

    def equations(self):
        pace = self.v / quantity("1 m/s")
        yield self.f == -quantity("30 N") - quantity("11 N") * blocks.tanh(pace)


def test_what_rests_only_in_a_mode_that_cannot_be_there_is_told_so():
    """Against 20 N it would have to go backward, atanh(10/11) m/s; 25 N hold no 30 N."""
    model = wired("runs away", "block.M rub.R engine.R", "rub.C engine.C ground.V",
                  block=tr.Mass(mass="2 kg", v="1 m/s"), ground=tr.Reference(),
                  rub=dry(20, 25), engine=Runaway())
    with pytest.raises(InitialisationError, match="no equilibrium was found") as caught:
        model.operating_point()
    assert caught.value.data["conflict"] == ("rub",)
    found = model.operating_point(modes={"rub": "slides forward"})
    assert found["block.v"].magnitude == pytest.approx(-np.arctanh(10 / 11), rel=1e-9)


def test_a_wish_beyond_a_rigid_stop_names_the_stop():
    model = beside(block(-20), spring=tr.Spring(stiffness="100 N/m"), stop=tr.HardStop(
        model="restitution", lower_bound="0 m", upper_bound="1 m", x="0.3 m"))
    with pytest.raises(InitialisationError) as caught:
        model.operating_point({"push.force": free, "stop.x": "-0.1 m"})
    assert str(caught.value).strip() == ("operating_point(): stop.x = -0.1 m is not possible: "
                                         "stop.lower_force is closed.")


def test_what_a_diode_and_a_closed_switch_bear_is_told_without_a_warning():
    model = wired("lamp", "on.y gate.vT", "supply.p diode.p", "diode.n gate.p", "gate.n lamp.p",
                  "lamp.n supply.n earth.V",
                  supply=el.DCVoltageSource(voltage="24 V"), earth=el.ElectricalReference(),
                  diode=el.Diode(model="ideal"), gate=el.Switch(model="ideal"),
                  on=sig.Constant(value=1), lamp=el.Resistor(resistance="5 ohm"))
    with catch_warnings():
        simplefilter("error")
        borne = model.operating_point().reactions()
    assert borne.columns["effort"] == ["4.8 A", "4.8 A"]
    assert borne.columns["bears at rest"] == ["0 A … inf A", "-inf A … inf A"]


def test_family_of_equilibria_of_a_free_mass():
    assert block(0).operating_point().notes == [
        "Not determined, and left near the start: block.v. Give a target for each that matters."]


def test_two_wishes_that_conflict_are_named_with_a_cure():
    with pytest.raises(InitialisationError) as caught:
        with_damper().operating_point({"block.v": "5 m/s"})
    assert caught.value.conflict == ("rest of block.v", "block.v = 5 m/s")
    assert "push.force = 5 N would do" in str(caught.value)


def test_wishes_that_ask_for_the_same_are_named():
    """A force of 5 N on a damper of 1 N*s/m is a speed of 5 m/s: two inputs are not determined."""
    model = beside(with_damper(), other=tr.ForceSource(force="1 N"))
    op = model.operating_point({"block.v": "5 m/s", "damper.f": "5 N", "push.force": free,
                                "other.force": free})
    assert op["push.force"].m + op["other.force"].m == pytest.approx(5, rel=1e-12)
    assert any("block.v = 5 m/s and damper.f = 5 N ask for the same" in n for n in op.notes)


def test_stuck_friction_bears_exactly_the_load():
    op = block(10, dry(12)).operating_point()
    assert op.modes == {"friction": "stuck"}
    assert [e.magnitude for e in op.interval("friction")] == pytest.approx([10, 10])
    assert op.share == pytest.approx(10 / 12)


def test_springs_between_two_walls_keep_their_sum():
    model = block(6)
    wire(model, "left.C ground.V", "left.R block.M right.C", "right.R wall.V",
         wall=tr.Reference(), left=tr.Spring(stiffness="100 N/m", x="10 mm"),
         right=tr.Spring(stiffness="200 N/m", x="20 mm"))
    op = model.operating_point()
    left, right = (op[f"{n}.x"].magnitude for n in ("left", "right"))
    assert left + right == pytest.approx(0.03, rel=1e-12)
    assert 100 * left - 200 * right == pytest.approx(6, rel=1e-12)


def behind_a_spring(force):
    """A force on a body in front of a spring, whose other end 5 N of friction hold."""
    model = block(0, dry(5))
    wire(model, "pull.R front.M spring.R damper.R", "spring.C block.M", "pull.C damper.C ground.V",
         front=tr.Mass(mass="1 kg"), pull=tr.ForceSource(force=force),
         spring=tr.Spring(stiffness="10 N/m"), damper=tr.Damper(damping="30 N*s/m"))
    return model


@pytest.mark.parametrize(("model", "force", "range_"), [
    (oscillator(x=0.1), "push.force", [-15, 35]),
    *((behind_a_spring(force), "pull.force", [-5, 5]) for force in ("0 N", "4 N", "-3 N", "8 N"))])
def test_stuck_range_is_that_of_rest_wherever_the_model_starts(model, force, range_):
    assert [e.m for e in model.stuck_range(force)] == pytest.approx(range_, rel=1e-9)


@pytest.mark.parametrize("volts", [1, 20])
def test_a_magnet_that_pulls_with_the_square_of_its_voltage_moves_what_sticks(volts):
    gap, area, turns, resistance, held = 2e-3, 2e-4, 400, 4.0, 20.0
    model = block(0, dry(held))
    wire(model, "supply.p winding.p", "winding.n coil.p", "coil.n supply.n earth.V",
         "coil.N magnet.N", "coil.S magnet.S core.M", "magnet.R block.M", "magnet.C ground.V",
         supply=el.DCVoltageSource(voltage=quantity(volts, "V")),
         winding=el.Resistor(resistance=f"{resistance} ohm"), earth=el.ElectricalReference(),
         coil=ElectromagneticConverter(turns=turns), core=MagneticReference(),
         magnet=ReluctanceForceActuator(area=f"{area} m^2", x=f"{gap} m"))
    # f = mu0 A (N U / R)^2 / (2 gap^2)
    most = resistance / turns * gap * np.sqrt(2 * held / (4e-7 * np.pi * area))
    ends = model.stuck_range("supply.voltage")
    assert [e.magnitude for e in ends] == pytest.approx([-most, most], rel=1e-6)
    if volts == 1:
        linear = model.linearise("supply.voltage", "block.v", at=model.operating_point())
        assert "By the linear model here it moves for supply.voltage" in linear.notes[0]


def test_there_is_no_stuck_range_where_something_else_cannot_rest():
    model = block(0, dry(5))
    wire(model, "pull.R free.M", "pull.C ground.V",
         free=tr.Mass(mass="1 kg"), pull=tr.ForceSource(force="2 N"))
    with pytest.raises(ParameterError, match="rest of free.v is not possible in the modes"):
        model.stuck_range("push.force")


def test_mass_stays_where_friction_holds_it():
    model = beside(block(3, dry(12)), spring=tr.Spring(stiffness="200 N/m", x="15 mm"))
    op = model.operating_point()
    assert op["spring.x"].to("mm").magnitude == pytest.approx(15)
    assert op["friction.f"].magnitude == pytest.approx(0, abs=1e-9)
    assert "spring.x" in op.notes[0]


def test_units_of_wishes_are_checked():
    with pytest.raises(ValueError, match="block.v: takes m/s"):
        with_damper().operating_point({"block.v": "5 N"})
    with pytest.raises(AttributeError, match="no variable 'block.w'"):
        with_damper().operating_point({"block.w": "5 m/s"})


# -- runs from there -------------------------------------------------------------------------
def test_run_from_the_steady_state_stays_there():
    model = beside(with_damper(), spring=tr.Spring(stiffness="200 N/m"))
    run = model.simulate("5 s", initial="steady state")
    assert run["spring.x"].initial.magnitude == pytest.approx(0.05, rel=1e-12)
    assert run["spring.x"].final.magnitude == pytest.approx(0.05, rel=1e-9)
    assert model.simulate("1 s")["spring.x"].initial.magnitude == 0


def test_run_from_an_operating_point_on_a_belt():
    model = oscillator(0.5)
    op = model.operating_point()
    run = model.simulate("3 s", initial=op)
    assert run["spring.x"].final.magnitude == pytest.approx(op["spring.x"].magnitude, rel=1e-6)
    assert run["friction.mode"].initial.magnitude == -1


def test_an_operating_point_with_a_free_input_is_no_start_until_the_model_has_it():
    model = with_damper()
    op = model.operating_point({"block.v": "5 m/s", "push.force": free})
    with pytest.raises(ValueError, match="Give the model push.force = 5 N first."):
        model.simulate("1 s", initial=op)
    model.push.force = "5 N"
    assert model.simulate("2 s", initial=op)["block.v"].final.magnitude == pytest.approx(5)


def test_a_run_is_no_start_and_says_how_to_go_on():
    """x = 3 mm cos(10 t): half a second more from where a run has ended, as the message says."""
    model = beside(block(0, mass=2.0), spring=tr.Spring(stiffness="200 N/m", x="3 mm"))
    result = model.simulate("1 s", rtol=1e-9)
    with pytest.raises(ParameterError, match="is a run") as refusal:
        model.simulate("0.5 s", initial=result)
    assert "\n" not in str(refusal.value)
    for path in result.recording.states:
        setattr(model[path.rpartition(".")[0]], path.rpartition(".")[2], result[path].final)
    assert f"result[{result.recording.states[0]!r}].final" in str(refusal.value)
    again = model.simulate("0.5 s", rtol=1e-9)
    assert again["spring.x"].final.to("mm").m == pytest.approx(3 * np.cos(15), abs=1e-6)
    run = model.stepper(rtol=1e-9)
    run.advance("0.25 s")
    run.advance("0.25 s")
    assert run["spring.x"].to("mm").m == pytest.approx(3 * np.cos(15), abs=1e-6)


def test_a_linear_model_of_an_older_point_says_so():
    """Targets of inputs are no change; a parameter that the model got since is one."""
    model = oscillator(0.2)
    op = model.operating_point({"push.force": free, "spring.x": "0 m"})
    assert not model.linearise("push.force", "spring.x", at=op).notes
    model.spring.stiffness = "150 N/m"
    assert model.linearise("push.force", "spring.x", at=op).notes == [
        "This is the model at the operating point's own spring.stiffness, changed since: find the "
        "operating point again for the values of now."]


def on_two_springs(**others):
    """A mass on two springs side by side, of which one is 10 mm longer."""
    model = wired("two springs", "block.M one.R other.R push.R", "ground.V one.C other.C push.C",
                  block=tr.Mass(mass="1 kg"), push=tr.ForceSource(force="8 N"),
                  ground=tr.Reference(), one=tr.Spring(stiffness="100 N/m"),
                  other=tr.Spring(stiffness="300 N/m", x="10 mm"))
    return beside(model, **others)


def test_what_stands_beside_a_closed_stop_goes_along_with_it():
    """The stop is open at the start, so how long the springs are there is how they are tied."""
    stop = tr.HardStop(model="restitution", upper_bound="4 mm", lower_bound="-1 m")
    model = on_two_springs(stop=stop)
    model.push.force = "12 N"
    op = model.operating_point()
    assert [op[path].to("mm").m for path in ("one.x", "other.x", "stop.x")] == pytest.approx(
        [4, 14, 4])
    assert op["stop.f"].m == pytest.approx(12 - 0.4 - 4.2)
    assert op.notes == []
    run = model.simulate("1 ms", initial="steady state")
    assert run["other.x"].initial.to("mm").m == pytest.approx(14)


def test_a_wish_of_what_sticks_moves_all_that_is_tied_to_it():
    op = on_two_springs(friction=dry(20)).operating_point({"one.x": "20 mm", "push.force": free})
    assert op.modes == {"friction": "stuck"}
    assert op["other.x"].to("mm").m == pytest.approx(30)


def test_bodies_that_come_to_touch_push_their_springs_together():
    model = wired("bodies", "one.M left.R push.R gap.R", "other.M right.R gap.C",
                  "ground.V left.C right.C push.C",
                  one=tr.Mass(mass="1 kg"), other=tr.Mass(mass="2 kg"),
                  left=tr.Spring(stiffness="100 N/m"), right=tr.Spring(stiffness="300 N/m"),
                  gap=tr.HardStop(model="restitution", upper_bound="15 mm", lower_bound="-1 m"),
                  push=tr.ForceSource(force="8 N"), ground=tr.Reference())
    op = model.operating_point()
    x = (8 + 300 * 0.015) / (100 + 300)  # 8 N = 100 x + 300 (x - 15 mm)
    assert [op[path].m for path in ("left.x", "right.x")] == pytest.approx([x, x - 0.015])


def test_a_shaft_with_backlash_turns_against_its_flank():
    """At the start the flanks are apart, and no torque reaches the load."""
    model = wired("play", "torque.R motor.I play.R", "play.C load.I drag.R",
                  "torque.C drag.C ground.W",
                  motor=rot.Inertia(inertia="0.1 kg*m^2"), load=rot.Inertia(inertia="0.3 kg*m^2"),
                  play=rot.ElastoBacklash(stiffness="100 N*m/rad", backlash="0.04 rad"),
                  drag=rot.RotationalDamper(damping="0.5 N*m*s/rad"),
                  torque=rot.TorqueSource(torque="2 N*m"), ground=rot.RotationalReference())
    op = model.operating_point()
    assert op["load.w"].magnitude == pytest.approx(4.0, rel=1e-9)
    assert op["play.phi"].magnitude == pytest.approx(0.02 + 2 / 100, rel=1e-9)


@pytest.mark.parametrize("volts", [6.4, 12.0])
def test_past_a_bend_far_away(volts):
    """A thermistor that heats itself: what holds the current back near its start is no rest."""
    hot = 3500.0  # K
    model = wired("thermistor", "source.p series.p", "series.n part.p", "part.n source.n ground.V",
                  "part.H body.M way.A", "way.B air.A",
                  source=el.DCVoltageSource(voltage=quantity(volts, "V")),
                  ground=el.ElectricalReference(), series=el.Resistor(resistance="20 ohm"),
                  part=el.Resistor(thermal_port=True, resistance=lambda temperature: quantity(
                      "1000 ohm") * blocks.exp(quantity(hot, "K") * (
                          1 / temperature - 1 / quantity("298.15 K")))),
                  body=ThermalMass(mass="1 g", specific_heat="800 J/(kg*K)"),
                  way=ThermalResistance(resistance="300 K/W"),
                  air=TemperatureSource(temperature="298.15 K"))

    def left(T):
        R = 1000 * np.exp(hot * (1 / T - 1 / 298.15))
        return (volts / (20 + R)) ** 2 * R - (T - 298.15) / 300

    assert model.operating_point()["body.T"].to("K").magnitude == pytest.approx(
        brentq(left, 400, 900), rel=1e-9)


def test_what_comes_to_rest_is_stuck():
    model = oscillator(x=0.5, friction=dry(20, 25))
    op = model.operating_point()
    assert op.modes == {"friction": "stuck"} and abs(op["spring.x"].magnitude) <= 0.25
    held = model.operating_point({"spring.x": "0.5 m", "push.force": free})
    assert held.modes == {"friction": "stuck"}
    assert 25 <= held["push.force"].magnitude <= 75
    assert any("push.force" in note and "what is stuck bears" in note for note in held.notes)


def test_a_point_at_which_a_source_goes_on_is_told():
    model = beside(block(0), spring=tr.Spring(stiffness="100 N/m"))
    model.push.force = lambda t: 10 * quantity("1 N") * t / quantity("1 s")
    assert model.operating_point().notes == [
        "push changes with time: this is where it rests while that is as at t = 0 s."]


def test_a_motor_behind_an_ideal_diode_rests_on_its_stop():
    """What holds an ideal diode open bears any voltage: no mode lies beyond that."""
    model = wired("drive", "supply.p diode.p", "diode.n winding.p", "winding.n coil.p",
                  "coil.n motor.p", "motor.n supply.n ground.V",
                  "motor.R rotor.I bearing.R wheel.A", "motor.C bearing.C frame.W",
                  "wheel.P rack.M stop.R", "stop.C rail.V",
                  supply=el.DCVoltageSource(voltage="48 V"), ground=el.ElectricalReference(),
                  diode=el.Diode(model="ideal"), winding=el.Resistor(resistance="2 ohm"),
                  coil=el.Inductor(inductance="50 mH", parasitic=False),
                  motor=RotationalElectromechanicalConverter(constant="0.85 V*s/rad"),
                  rotor=rot.Inertia(inertia="0.05 kg*m^2"), frame=rot.RotationalReference(),
                  bearing=rot.RotationalFriction(law="coulomb", coulomb_torque="0.5 N*m",
                                                 breakaway_torque="0.55 N*m"),
                  wheel=WheelAndAxle(radius="0.25 m"), rack=tr.Mass(mass="5 kg"),
                  stop=tr.HardStop(upper_bound="0.1 m", upper_stiffness="1e5 N/m"),
                  rail=tr.Reference())

    op = model.operating_point()
    assert op.modes == {"bearing": "stuck", "diode": "closed"}
    assert op["winding.i"].to("A").magnitude == pytest.approx(24.0, rel=1e-12)
    assert abs(op["rotor.w"].magnitude) < 1e-12
    assert abs(0.85 * 24.0 - 0.25 * op["stop.f"].to("N").magnitude) <= 0.55


@pytest.mark.parametrize("brakes", [1, 2])
@pytest.mark.parametrize("resistance", [1e3, 1e6, 1e8])
def test_the_temperature_of_a_brake_that_holds_a_press_is_that_around_it(brakes, resistance):
    # no heat at rest: T = 300 K however little of it leaves, though the heat of the brake changes
    # with the speed by 10 MW for 1 m/s
    model = wired("press", "push.C ground.V", "push.R block.M", "pad.M skin.A", "skin.B air.A",
                  block=tr.Mass(mass="1 t"), push=tr.ForceSource(force="10 MN"),
                  ground=tr.Reference(), pad=ThermalMass(mass="1 kg", T="350 K"),
                  skin=ThermalResistance(resistance=quantity(resistance, "K/W")),
                  air=TemperatureSource(temperature="300 K"))
    beside(model, **{f"brake_{k}": tr.TranslationalFriction(
        law="coulomb", coulomb_force="20 MN", breakaway_force="20 MN", thermal_port=k == 0)
        for k in range(brakes)})
    wire(model, "brake_0.H pad.M")
    op = model.operating_point()
    assert op["pad.T"].to("K").magnitude == pytest.approx(300.0, rel=1e-9)
    assert not any("Not determined" in note for note in op.notes)


def sampled_loop(controller, plant=None):
    """A plant 1/(s + 1) behind a sampled controller of its error, with the target 1."""
    return wired("sampled", "target.y error.u1", "plant.y error.u2", "error.y controller.u",
                 "controller.y plant.u", target=sig.Constant(value=1.0), error=sig.Subtract(),
                 controller=controller, plant=plant or sig.TransferFunction())


PI = {"proportional": 2.0, "integral": "1 1/s", "sample_time": "10 ms"}


@pytest.mark.parametrize(("controller", "plant", "value"), [
    (sig.DiscretePID(**PI), None, 1.0),
    (sig.DiscretePID(derivative="0.1 s", method="trapezoidal", offset="3 ms", **PI), None, 1.0),
    (sig.DiscretePID(proportional=2.0), None, 2 / 3),
    (sig.DiscretePID(limited=True, upper=0.5, **PI), None, 0.5),
    (sig.DiscretePID(limited=True, upper=0.5, anti_windup="back-calculation", **PI), None, 0.5),
    (sig.ZeroOrderHold(offset="5 ms"), None, 0.5), (sig.UnitDelay(), None, 0.5),
    (sig.DiscreteTransferFunction(numerator=[0.3], denominator=[1, -0.9]), None, 0.75),
    (sig.DiscreteIntegrator(sample_time="0.1 s"), sig.TransferFunction(input="s"), 1.0)])
def test_a_loop_through_samples_rests_where_these_go_on_alike(controller, plant, value):
    model = sampled_loop(controller, plant)
    op = model.operating_point()
    assert abs(op["plant.y"].m - value) < 1e-12
    run = model.simulate("10 s", initial=op)
    assert abs(run["plant.y"].min().m - value) < 1e-12
    assert abs(run["plant.y"].max().m - value) < 1e-12


def test_a_target_is_found_through_samples():
    model = sampled_loop(sig.DiscretePID(**PI))
    assert abs(model.operating_point({"target.value": free, "plant.y": 3.0})["target.value"].m
               - 3.0) < 1e-12
    with pytest.raises(InitialisationError, match=r"rest of controller\.\w+ and plant.y = 3.0"):
        model.operating_point({"plant.y": 3.0})


def test_samples_of_a_source_rest_where_they_can():
    model = wired("sources", "source.y hold.u", "hold.y filter.u", "filter.y plant.u",
                  "plant.y shown.u",
                  source=sig.Constant(value=2.0), hold=sig.ZeroOrderHold(offset="0.1 s"),
                  filter=sig.DiscreteTransferFunction(numerator=[0.1], denominator=[1, -0.95]),
                  plant=sig.TransferFunction(), shown=sig.ZeroOrderHold())
    op = model.operating_point()
    assert op["plant.y"].m == pytest.approx(4.0, rel=1e-11)  # 2 0.1 / (1 - 0.95)
    assert op["shown.y"].m == op["plant.y"].m
    assert op.notes == []


def test_samples_that_never_rest_are_named():
    model = wired("noise", "noise.y plant.u",
                  noise=sig.UniformRandomNumber(sample_time="0.1 s"), plant=sig.TransferFunction())
    op = model.operating_point()
    assert op["plant.y"].m == pytest.approx(model.simulate("0.01 s")["noise.y"].initial.m)
    assert "noise changes with time" in op.notes[0]
    model = sampled_loop(sig.PythonFunction(function=lambda t, u: 2 * u[0]))
    assert "controller works out its samples in Python" in model.operating_point().notes[0]


SOURCES = {
    "step": sig.Step, "train": lambda: sig.Pulse(start="2 s"), "counter": sig.Counter,
    "noise": sig.UniformRandomNumber, "function": lambda: sig.TimeFunction(
        value=lambda t: blocks.where(t > quantity("1 s"), 2.0, 1.0)),
    "table": lambda: sig.TimeTable(values=[1, 2], interpolation="held"),
    "Python": lambda: sig.PythonFunction(function=lambda t, u: 3.0)}


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("source", SOURCES)
def test_what_changes_with_time_is_named_whether_a_state_depends_on_it_or_not(source, moved):
    given = "source.y1" if source == "Python" else "source.y"
    model = wired("driven", f"{given} shown.u", f"{given if moved else 'constant.y'} plant.u",
                  constant=sig.Constant(value=3.0), plant=sig.TransferFunction(),
                  shown=sig.Gain(gain=2), source=SOURCES[source]())
    if source == "Python":
        wire(model, "constant.y source.u1")
    (note,) = model.operating_point().notes
    assert note.startswith("source works out its samples in Python" if source == "Python" else
                           "source changes with time")


def test_a_model_without_states_has_an_operating_point(capfd):
    model = wired("resistor", "source.p part.p", "source.n part.n ground.V",
                  source=el.DCVoltageSource(voltage="2 V"), part=el.Resistor(resistance="4 ohm"),
                  ground=el.ElectricalReference())
    assert model.operating_point()["part.i"].to("A").m == 0.5
    linear = model.linearise("source.voltage", "part.i")
    assert linear.response("1 Hz") == pytest.approx(0.25, rel=1e-14)
    assert "".join(capfd.readouterr()) == ""


def test_what_rests_has_a_speed_of_zero_and_not_of_rounding():
    model = wired("row", "a.M spring.R pull.R", "b.M spring.C tail.R", "floor.V tail.C pull.C",
                  floor=tr.Reference(), a=tr.Mass(v="0.7 m/s"),
                  b=tr.Mass(mass="0.37 kg", v="2 m/s"), spring=tr.Spring(stiffness="24.14 N/m"),
                  pull=tr.ForceSource(force="0.3 N"), tail=tr.Spring(stiffness="5.5 N/m"))
    op = model.operating_point()
    assert op["a.v"].m == op["b.v"].m == 0.0
    assert op["tail.x"].m == pytest.approx(0.3 / 5.5, rel=1e-12)


class Spool(Component):
    """50 v = 1 cm^2 (p_A - p_B) - 5 N/mm x, in N s/m."""

    A, B = Port(il.isothermal_liquid), Port(il.isothermal_liquid)
    y = blocks.Output("m")
    x = Variable("m", "0 m", priority="high", nominal="1 mm")

    def equations(self):
        yield self.A.mdot == 0
        yield self.B.mdot == 0
        yield quantity("50 N*s/m") * der(self.x) == (
            quantity("1 cm^2") * (self.A.p - self.B.p) - quantity("5 N/mm") * self.x)
        yield self.y == self.x


@few(1, ("low", "high"), [("1 MPa", "20 MPa"), ("5 MPa", "6 MPa")])
def test_a_divider_of_flow_between_unequal_loads_rests_where_its_run_does(low, high):
    # Newton's first step from the middle leads to where nothing has a value
    model = wired("flow divider", "tank.A pump.A oil.A",
                  tank=il.Reservoir(), pump=il.FlowRateSource(mass_flow="0.5 kg/s"), spool=Spool(),
                  oil=il.IsothermalLiquidProperties(density="850 kg/m^3", bulk_modulus="1.2 GPa",
                                                    viscosity="32 cSt"))
    for k, port, way, pressure in (("a", "A", "positive", low), ("b", "B", "negative", high)):
        wire(model, f"pump.B fixed_{k}.A", f"fixed_{k}.B edge_{k}.A spool.{port}",
             f"edge_{k}.B load_{k}.A", f"spool.y edge_{k}.S", f"load_{k}.B tank.A", **{
                 f"fixed_{k}": il.LocalRestriction(restriction_type="fixed", area="10 mm^2"),
                 f"edge_{k}": il.VariableOrifice(maximum_area="40 mm^2", stroke="4 mm",
                                                 overlap="-2 mm", orientation=way),
                 f"load_{k}": il.PressureReliefValve(cracking_pressure=pressure,
                                                     maximum_pressure="30 MPa")})
    op = model.operating_point()
    p_A, p_B, x = (op[name].m for name in ("spool.A.p", "spool.B.p", "spool.x"))  # MPa and m
    assert 1e2 * (p_A - p_B) == pytest.approx(5e3 * x, rel=1e-9)
    assert sum(op[f"fixed_{k}.A.mdot"].m for k in "ab") == pytest.approx(0.5, rel=1e-9)
    assert x == pytest.approx(model.simulate("1 s")["spool.x"].final.m, rel=1e-6)
