"""Circuits, references, contradicting sources and signals are told in the user's words."""

import numpy as np
import pytest
from benches import wire, wired
from benches.wrong_models import DryFriction, Gain, Gear, Lag, Memory, Shell, only, says, sound

import library.translational as tr
from blocks import Component, Domain, Model, Parameter, Port, Variable, der, quantity
from library import gas
from library.electrical import DCVoltageSource, ElectricalReference, HalfBridge, Resistor
from library.gas import ConstantVolumeChamber, FlowResistance, Reservoir
from library.mechanisms import GearBox
from library.rotational import AngularVelocitySource, Inertia, RotationalReference, TorqueSource
from library.signal import Pulse, Sine
from library.thermal import ThermalResistance, VariableThermalResistance
from library.thermal.domain import TwoPort, thermal

SOFTEN = "Keep one of them, or put an element in series … (a spring or a damper)"


# -- one finding, in these words ---------------------------------------------------------------
def drive(v=1):
    return tr.VelocitySource(velocity=f"{v} m/s")


def push(f=1):
    return tr.ForceSource(force=f"{f} N")


def machine(states=300):
    """A class that prescribes the speed across it, beside many states of its own."""
    def equations(self):
        x = [getattr(self, f"x{k}") for k in range(states)]
        yield self.v == quantity("1 m/s")
        for k in range(states):
            yield der(x[k]) == x[k - 1] / quantity("1 s") - x[k] / quantity("1 s") + self.f / (
                quantity("1 N*s"))

    named = {f"x{k}": Variable("1", 0.0, priority="high") for k in range(states)}
    return type("Machine", (tr.TwoPort,), {**named, "equations": equations})


class Pillar(Component):
    """Holds its port, but is no reference."""

    V = Port(tr.translational)

    def equations(self):
        yield self.V.v == 0


slime = Domain("slime", across={"p": "Pa"}, through={"q": "m**3/s"})
liquid = Domain("liquid", across={"p": "Pa"}, through={"q": "m**3/s"},
                parameters={"density": "1000 kg/m^3"}, reference="Reservoir",
                alone="no liquid enters or leaves it")


class Pipe(Component):
    A, B = Port(slime), Port(slime)

    def equations(self):
        yield self.A.q + self.B.q == 0
        yield self.A.p - self.B.p == quantity("1 Pa*s/m^3") * self.A.q


class Throttle(Pipe):
    A, B = Port(liquid), Port(liquid)


class Liquid(Component):
    port = Port(liquid, sets=True)
    density = Parameter("850 kg/m^3")

    def equations(self):
        yield self.port.density == self.density
        yield self.port.q == 0


class Tank(Component):
    port = Port(liquid)
    pressure = Parameter("1 bar")

    def equations(self):
        yield self.port.p == self.pressure


#: What is wrong, the model, severity, code, who is named and what is said.
FOUND = {
    "no component": (
        lambda: Model("none"), "error", "model.empty", "",
        "no components. Add some: model.block = Mass()"),
    "no reference": (
        lambda: wired("free", "block.M spring.R", block=tr.Mass(), spring=tr.Spring()),
        "error", "reference.missing", "block spring",
        "translational circuit of block and spring has no Reference … model.ground = Reference(); "
        "then connect it, for example to spring.C."),
    "no reference of a second circuit": (
        lambda: sound("a.R b.R", "a.C b.C", a=tr.Damper(), b=tr.Damper()),
        "error", "reference.missing", "a b", ""),
    "masses on a spring that fly freely": (
        lambda: wired("free", "a.M spring.R", "b.M spring.C",
                      a=tr.Mass(v="1 m/s"), b=tr.Mass(), spring=tr.Spring()),
        "info", "reference.free", "a b spring",
        "circuit of a, b and spring has no Reference … Nothing to do if that is meant"),
    "three velocities in a loop": (
        lambda: sound("a.R c.C block.M", "a.C b.R m.M", "b.C c.R n.M",
                      a=drive(1), b=drive(2), c=drive(3), m=tr.Mass(), n=tr.Mass()),
        "error", "conflict.across", "a b c",
        "b, a and c form a closed loop … Remove one of them, or put an element into the loop"),
    "two machines that prescribe a velocity, of 300 states each": (
        lambda: sound("a.R b.R block.M", "a.C b.C ground.V",
                      a=machine()(), b=machine()()),
        "error", "conflict.across", "a b",
        f"a and b are both rigid … (a.R = b.R and a.C = b.C). {SOFTEN}"),
    "a velocity between two references": (
        lambda: sound("pull.R wall.V", "pull.C ground.V", wall=tr.Reference(), pull=drive()),
        "error", "conflict.across", "wall ground pull",
        "pull prescribes the velocity … wall and ground already hold rigidly. Remove it, or put"),
    "a velocity over a rod": (
        lambda: sound("pull.R rod.R block.M", "pull.C rod.C ground.V", rod=tr.Rod(), pull=drive()),
        "error", "conflict.across", "rod pull",
        f"(rod.R = pull.R and rod.C = pull.C), which rod already fixes. {SOFTEN}"),
    "two rods side by side": (
        lambda: sound("a.R b.R block.M", "a.C b.C end.M", a=tr.Rod(), b=tr.Rod(), end=tr.Mass()),
        "error", "conflict.across", "a b",
        f"a and b are both rigid … (a.R = b.R and a.C = b.C). {SOFTEN}"),
    "a reference beside another support": (
        lambda: sound("wall.V ground.V", wall=Pillar()), "error", "conflict.across", "ground wall",
        "both fix the same node (ground.V = wall.V). … ground is enough."),
    "a velocity that is shorted": (
        lambda: sound("pull.R pull.C block.M", pull=drive()), "error", "conflict.across", "pull",
        "pull … its ports R and C, but both … to the same node. Connect them to different nodes"),
    "two forces in series": (
        lambda: sound("a.R b.C", "a.C ground.V", "b.R block.M", a=push(1), b=push(2)),
        "error", "conflict.through", "a b",
        "a and b both prescribe the force at one node (a.R = b.C) … whose force is free (a mass)."),
    "a force with an open port": (
        lambda: sound("push.R block.M", push=push()), "error", "conflict.through", "push.C push",
        "push.C is connected to nothing … Connect push.C to a component or to a Reference."),
    "a force on a loose spring": (
        lambda: sound("push.R block.M", "push.C spring.R", push=push(), spring=tr.Spring()),
        "error", "conflict.through", "push spring",
        "push prescribes every force that acts on spring … Hold that part … or a Reference."),
    "a sensor alone": (
        lambda: sound("meter.C ground.V", meter=tr.MotionSensor()),
        "error", "network.floating", "meter",
        "Nothing determines the velocity at the node of meter.R: meter carries no force there."),
    "a port that an option leaves out": (
        lambda: sound("meter.R block.M", meter=tr.MotionSensor()),
        "error", "network.floating", "meter",
        "at the node of meter.C … make it without that port: MotionSensor(reference='absolute')."),
    "a spring that is shorted": (
        lambda: sound("spring.R spring.C block.M", spring=tr.Spring()),
        "warning", "network.shorted", "spring",
        "Both ports of spring (R and C) … to the same node, so it joins nothing. Connect them to"),
    "an open port": (
        lambda: sound("spring.R block.M", spring=tr.Spring()),
        "info", "network.unconnected", "spring.C",
        "spring.C is connected to nothing, so the force there is 0. Nothing to do if that is"),
    "two liquids": (
        lambda: wired("two liquids", "left.port throttle.A oil.port",
                      "right.port throttle.B water.port", oil=Liquid(), left=Tank(),
                      water=Liquid(density="998 kg/m^3"), right=Tank(pressure="2 bar"),
                      throttle=Throttle()),
        "error", "conflict.parameter", "oil water",
        "oil and water both state … (density) … which throttle joins. Keep one of them, or"),
    "an open input": (
        lambda: wired("signals", "a.y b.u", a=Gain(), b=Gain()),
        "error", "signal.unconnected", "a.u",
        "input a.u is connected to nothing … an output in N to it: model.connect(…, model.a.u)."),
    "an input on two outputs": (
        lambda: wired("signals", "a.y b.u", "b.y c.u a.u", "c.y a.u", a=Lag(), b=Lag(), c=Lag()),
        "error", "signal.outputs", "b.y c.y a.u c.u",
        "a.u and c.u are connected to 2 outputs at once: b.y and c.y. Keep one of them"),
}
#: Nothing is wrong with these.
SOUND = {
    "a mass on a damper": sound,
    "two of three velocities in a chain": lambda: sound(
        "a.C ground.V", "a.R b.C m.M", "b.R block.M", a=drive(1), b=drive(2), m=tr.Mass()),
    "a mass between two forces": lambda: sound(
        "a.R b.C m.M", "a.C ground.V", "b.R block.M", a=push(1), b=push(2), m=tr.Mass()),
    "dry friction": lambda: sound("rub.R block.M", "rub.C ground.V", rub=DryFriction()),
    "a chamber of one pressure at three ports": lambda: wired(
        "manifold", "box.A a.A", "box.B b.A", "box.C c.A", "a.B b.B c.B far.A",
        box=ConstantVolumeChamber(num_ports=3), far=Reservoir(),
        a=FlowResistance(), b=FlowResistance(), c=FlowResistance()),
    "a lag in a circle": lambda: wired("signals", "a.y b.u", "b.y a.u", a=Gain(), b=Lag()),
    "a memory in a circle": lambda: wired("signals", "a.y b.u", "b.y a.u", a=Gain(), b=Memory()),
}


#: Something less than an error is told beside what these are about.
BESIDE = {"no reference", "a force on a loose spring", "a sensor alone",
          "a port that an option leaves out", "two of three velocities in a chain",
          "a chamber of one pressure at three ports"}


@pytest.mark.parametrize("case", FOUND)
def test_one_mistake_is_one_finding_in_these_words(case):
    make, severity, code, where, told = FOUND[case]
    finding = only(make(), severity if case in BESIDE else None)
    assert finding.severity == severity
    says(finding, code, where.split(), told)


@pytest.mark.parametrize("case", SOUND)
def test_a_sound_model_has_no_findings(case):
    check = SOUND[case]().check()
    assert not check.errors if case in BESIDE else str(check).endswith(": no mistakes found")


# -- references ----------------------------------------------------------------------------------
def test_a_node_between_masses_needs_no_reference():
    model = wired("free", "a.M spring.R", "spring.C damper.R", "damper.C b.M",
                  a=tr.Mass(v="1 m/s"), b=tr.Mass(), spring=tr.Spring(), damper=tr.Damper())
    assert only(model, "info").code == "reference.free"
    result = model.simulate("1 s", rtol=1e-9)
    momentum = result["a.v"] * quantity("1 kg") + result["b.v"] * quantity("1 kg")
    assert np.ptp(momentum.to("N*s").magnitude) < 1e-8


def geared(ratio):
    return wired("two gears", "a.I one.S other.S", "b.I one.O other.O",
                 a=Inertia(), b=Inertia(), one=GearBox(ratio=2), other=GearBox(ratio=ratio))


@pytest.mark.parametrize("driven", [False, True])
def test_two_gears_of_different_ratios_are_locked_and_turn_in_no_way(driven):
    model = geared(3)
    if driven:
        wire(model, "motor.R a.I", "motor.C housing.W",
             motor=TorqueSource(torque="1 N*m"), housing=RotationalReference())
    (finding,) = model.check()
    assert (finding.code, finding.severity) == ("network.locked", "warning")
    assert {"a", "b", "one", "other"} <= set(finding.where)
    assert model.simulate("1 s")["a.w"].final == quantity("0 rad/s")


def test_one_gear_between_two_shafts_turns_with_them():
    model = geared(3)
    del model.other
    assert only(model, "info").code == "reference.free"
    assert not model.check().warnings


def test_gears_that_repeat_each_other_on_a_source_are_named_with_it():
    model = geared(2)
    wire(model, "motor.R a.I", "motor.C housing.W",
         motor=AngularVelocitySource(velocity="1 rad/s"), housing=RotationalReference())
    finding = only(model)
    for part in ("one", "other"):
        assert part in finding.advice
    del model.other
    assert model.simulate("1 s")["b.w"].final == quantity("0.5 rad/s")


# -- two velocity sources ------------------------------------------------------------------------
@pytest.mark.parametrize(("Other", "apart"), [
    (tr.VelocitySource, "; a.velocity is 1 m/s and b.velocity 0 m/s, 1 m/s apart"),
    (tr.PositionSource, ""), (tr.AccelerationSource, "")],
    ids=["VelocitySource", "PositionSource", "AccelerationSource"])  # fmt: skip
def test_two_velocity_sources_in_parallel_conflict(Other, apart):
    model = sound("a.R b.R damper.R", "a.C b.C ground.V",
                  a=tr.VelocitySource(velocity="1 m/s"), b=Other())
    says(only(model, "error"), "conflict.across", ["a", "b"],
         f"a and b both prescribe the velocity … (a.R = b.R and a.C = b.C){apart}. {SOFTEN}")


def test_two_voltages_at_one_place_say_how_far_they_are_apart():
    model = wired("supply", "a.p b.p", "a.n b.n ground.V", a=DCVoltageSource(voltage="12 V"),
                  b=DCVoltageSource(voltage="12.5 V"), ground=ElectricalReference())
    assert model.check().errors[0].problem.endswith(
        "; a.voltage is 12 V and b.voltage 12.5 V, 0.5 V apart.")
    model.b.voltage = "12 V"
    assert model.check().errors[0].problem.endswith("(a.p = b.p and a.n = b.n); they say the same.")


def test_two_references_at_one_node_hold_it_as_one_does():
    alone, both = sound(), sound()
    wire(both, "wall.V ground.V floor.V", wall=tr.Reference(), floor=tr.Reference())
    assert not len(both.check().errors)
    one, two = (m.simulate("0.2 s", rtol=1e-9) for m in (alone, both))
    assert two["block.v"].at("0.2 s") == one["block.v"].at("0.2 s")
    held = sum(two[f"{name}.V.f"].at("0.1 s") for name in ("ground", "wall", "floor"))
    assert held == one["ground.V.f"].at("0.1 s")
    nodes = {tuple(sorted(d["ports"])) for _, d in both.graph.nodes(data=True)
             if d["kind"] == "node"}  # fmt: skip
    assert any({"wall.V", "ground.V", "floor.V"} <= set(ports) for ports in nodes)


# -- force sources -------------------------------------------------------------------------------
# -- ports ---------------------------------------------------------------------------------------
def test_unconnected_ports_of_an_array_are_one_finding():
    model = sound()
    model.loose = tr.Mass(count=50)
    assert only(model, "info").problem.startswith(
        "loose[0].M, loose[1].M, loose[2].M and 17 more (50 in all) are connected to nothing")


# -- what no simple rule explains ----------------------------------------------------------------
@pytest.mark.parametrize(("source", "words"), [
    (lambda: tr.VelocitySource(velocity="1 m/s"),
     "a and b prescribe more velocities than ground and gear leave free. … \n    gear.A.v == "
     "gear.ratio*gear.B.v … nothing determines a.f, ground.V.f and b.f. … one of a and b"),
    (lambda: tr.ForceSource(force="1 N"),
     "a and b prescribe more forces than gear leaves free. … whose force is free (a mass).")])
def test_sources_at_both_ends_of_a_massless_gear_are_named_with_the_gear(source, words):
    finding = only(sound("gear.A a.R", "gear.B b.R", "a.C b.C ground.V", gear=Gear(),
                         a=source(), b=source()))
    assert finding.where[:2] == ("a", "b")
    says(finding, "structure.singular", finding.where, words)


def test_gears_of_one_ratio_in_parallel_are_dependent_and_of_two_ratios_are_not():
    model = sound("g.A h.A block.M", "g.B h.B end.M", end=tr.Mass(), g=Gear(), h=Gear())
    says(only(model), "structure.dependent", ["g", "h"],
         "g and h depend on each other … \n    g.A.v == g.ratio*g.B.v\n    h.A.v == h.ratio*h.B.v"
         " … Remove one of g and h, or change its parameters.")
    model.h.ratio = 3
    assert len(model.check().errors) == 0


def test_a_circuit_of_a_domain_without_reference_lacks_what_it_is_measured_against():
    (found,) = wired("ring", "one.A other.A", "one.B other.B", one=Pipe(), other=Pipe()).check()
    assert found.code == "structure.singular"
    assert "what the pressure of this slime circuit is measured against" in found.advice


def test_two_gases_in_one_circuit_are_named_without_the_coefficients_of_their_polynomials():
    model = wired("two gases", "tank.A pipe.A air.A", "pipe.B end.A fuel.A",
                  tank=gas.ConstantVolumeChamber(), end=gas.Reservoir(), pipe=gas.Pipe(),
                  air=gas.GasProperties(), fuel=gas.GasProperties(gas_spec="methane"))
    (found,) = (f for f in model.check() if f.code == "conflict.parameter")
    assert all(part in found.problem for part in (
        "air and fuel", "(gas_constant, atmospheric_pressure and minimum_pressure)", "pipe joins"))


def test_thermal_masses_need_no_reference_and_do_not_move():
    model = wired("two warm bodies", "a.M r.A", "r.B q.A", "q.B b.M",
                  a=Warm(), b=Warm(), r=Conductor(), q=Conductor())
    assert "circuit of a, b, r and q has no TemperatureSource" in only(model, "info").problem


class Warm(Component):
    M = Port(thermal)
    T = Variable("K", initial="300 K")

    def equations(self):
        yield self.M.T == self.T
        yield quantity("1 J/K") * der(self.T) == self.M.Q


class Conductor(TwoPort):
    resistance = Parameter("1 K/W")

    def equations(self):
        yield self.resistance * self.Q == self.T


def test_a_floating_circuit_is_named_beside_known_instants():
    model = wired("walls", "wall.A pane.A", "wall.B pane.B rod.A rod.B", "pulse.y wall.R",
                  "sine.y pane.R", wall=VariableThermalResistance(),
                  pane=VariableThermalResistance(), rod=ThermalResistance(),
                  pulse=Pulse(amplitude=quantity(27, "K/W"), period="30 ms"),
                  sine=Sine(amplitude=quantity(3, "K/W"), frequency="7 Hz"))
    finding = only(model, "error")
    assert "The thermal circuit of wall, pane and rod has no TemperatureSource" in finding.problem


# -- signals: open inputs, lines with two outputs and circles ---------------------------------
def test_an_open_input_of_a_composite_is_named_as_its_user_sees_it():
    finding = only(wired("signals", shell=Shell()))
    assert (finding.code, finding.where) == ("signal.unconnected", ("shell.u",))


def test_an_input_of_a_composite_that_a_part_has_a_value_for_is_told():
    model = wired("signals", "source.p leg.P", "leg.A load.p", "source.n leg.N load.n ground.V",
                  leg=HalfBridge(), source=DCVoltageSource(voltage="5 V"), load=Resistor(),
                  ground=ElectricalReference())
    upper, lower = model.check()
    assert (upper.code, upper.severity) == ("signal.assumed", "warning")
    assert (upper.where, lower.where) == (("leg.upper",), ("leg.lower",))
    assert "gate of leg.high stands in for it" in str(upper)


def test_signals_in_a_circle_are_named_in_order():
    finding = only(wired("signals", "a.y b.u", "b.y c.u", "c.y a.u", a=Gain(), b=Gain(), c=Gain()))
    assert (finding.code, finding.severity) == ("signal.loop", "warning")
    assert finding.where == ("a", "b", "c")
    assert "a -> b -> c -> a. " in finding.problem and "break the circle with" in finding.advice
