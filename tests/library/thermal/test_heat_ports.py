"""Heat that leaves through a port: where it goes, what follows its temperature, what is refused."""

import numpy as np
import pytest
from benches import wire, wired
from benches.axis import ROTATIONAL, TRANSLATIONAL
from numpy.testing import assert_allclose

import blocks
import library.mechanisms as me
import library.planar as pl
import library.rotational as ro
import library.translational as tr
from blocks import Component, Discrete, Model, Option, Parameter, Port, Variable, quantity
from library.electromechanical import HBridge
from library.heat import Dissipative
from library.thermal import PerfectInsulator, ThermalMass, ThermalResistance, thermal

ROOM = quantity("300 K")


def braked(element, capacity=50.0, **body):
    """A body of 10 kg at 20 m/s against an element that warms a lump."""
    return wired("braked", "body.M element.R", "element.C ground.V", "element.H lump.M",
                 body=tr.Mass(**{"mass": "10 kg", "v": "20 m/s", **body}), element=element,
                 ground=tr.Reference(),
                 lump=ThermalMass(mass="1 kg", specific_heat=quantity(capacity, "J/(kg*K)")))


def closes(run, tolerance=1e-9):
    ledger = run.energy()
    assert ledger.residual.to("J").magnitude < tolerance * ledger.throughput.to("J").magnitude
    return ledger


# -- where the heat goes -----------------------------------------------------------------------
def test_the_heat_of_a_damper_warms_a_body():
    run = braked(tr.Damper(thermal_port=True, damping="5 N*s/m")).simulate("3 s", rtol=1e-12)
    v = 20 * np.exp(-0.5 * run.time.to("s").magnitude)
    assert_allclose(run["lump.T"].to("K").magnitude, 300 + 5 * (400 - v**2) / 50, rtol=1e-11)
    assert_allclose(run["element.H.Q"].to("W").magnitude, -5 * v**2, rtol=1e-10)
    ledger = closes(run)
    assert ledger["element"].dissipated == 0  # it has left, and is counted once
    assert_allclose(ledger["lump"].stored, 5 * (400 - v[-1] ** 2), rtol=1e-10)


EXCITED = [
    (tr, "Damper", {}), (tr, "SpringDamper", {}),
    (tr, "NonlinearDamper", {"damping_backward": "20 N*s/m"}), (tr, "TranslationalFriction", {}),
    (tr, "TranslationalFriction", {"law": "coulomb"}),
    (tr, "TranslationalFriction", {"law": "lugre"}),
    (tr, "FrictionRing", {}), (tr, "RollingResistance", {}),
    (tr, "HardStop", {"upper_bound": "0.1 mm", "lower_bound": "-0.1 mm"}),
    (tr, "ElastoGap", {"free_length": "0.1 mm"}),
    (tr, "PositionDependentSupport", {"dampings": ["5 N*s/m", "9 N*s/m"]}),
    (ro, "RotationalDamper", {"damping": "1 N*m*s/rad"}), (ro, "RotationalSpringDamper", {}),
    (ro, "RotationalNonlinearDamper", {"damping_backward": "2 N*m*s/rad"}),
    (ro, "RotationalFriction", {"law": "stribeck"}), (ro, "BearingFriction", {}),
    (ro, "RotationalHardStop",
     {"upper_bound": "1 mrad", "lower_bound": "-1 mrad", "upper_stiffness": "1 kN*m/rad",
      "lower_stiffness": "1 kN*m/rad", "upper_damping": "1 N*m*s/rad"}),
    (ro, "ElastoBacklash",
     {"backlash": "1 mrad", "stiffness": "1 kN*m/rad", "damping": "1 N*m*s/rad"}),
    (me, "DiscClutch", {}), (me, "DiscBrake", {"normal_force": "40 N"}),
    (me, "BandBrake", {"tension": "30 N"}),
    (me, "TorqueLimiter", {"limit": "8 N*m", "slip_torque": "7 N*m"}),
    (me, "DogClutch", {"torque_capacity": "9 N*m"}), (me, "OneWayClutch", {"drag_torque": "3 N*m"})]


@pytest.mark.parametrize(("package", "name", "options"), EXCITED,
                         ids=lambda x: x if isinstance(x, str) else "")
def test_all_that_mechanics_loses_arrives(package, name, options):
    """Two bodies driven apart and together: what is supplied is stored, or warms a lump."""
    model, axis = Model("driven"), TRANSLATIONAL if package is tr else ROTATIONAL
    axis.wire(model, "drive.R element.R a.M", "drive.C element.C b.M",
              a=axis("Mass"), b=axis("Mass"),
              drive=axis("ForceSource", force=lambda t: quantity(30, axis.unit("force"))
                         * blocks.sin(quantity("15 rad/s") * t)),
              element=getattr(package, name)(thermal_port=True, **options))
    wire(model, "element.H lump.M", lump=ThermalMass(mass="1 g"))
    run = model.simulate("0.5 s", rtol=1e-11)  # of 300 K: errors of the lump's energy are counted
    ledger = closes(run, 1e-6)
    assert ledger["element"].dissipated == 0
    assert ledger["lump"].stored > 0
    heat = run["element.power_dissipated"].to("W").magnitude
    assert_allclose(run["element.H.Q"].to("W").magnitude, -heat, rtol=0, atol=1e-9 * heat.max())


def test_the_heat_of_gears_arrives():
    model = wired("gears", "drive.I gear.S", "gear.O screw.S load.I brake.R", "screw.N nut.M",
                  "gear.H screw.H lump.M", "brake.C ground.W", drive=ro.Inertia(w="30 rad/s"),
                  load=ro.Inertia(w=None), gear=me.LossyGear(thermal_port=True, ratio=2.0),
                  screw=me.LeadScrew(thermal_port=True), nut=tr.Mass(),
                  lump=ThermalMass(mass="1 g"), ground=ro.RotationalReference(),
                  brake=ro.RotationalDamper(damping="0.01 N*m*s/rad"))
    assert closes(model.simulate("1 s", rtol=1e-9), 1e-6)["lump"].stored > 0


# -- impacts -----------------------------------------------------------------------------------
def bouncing(axis=TRANSLATIONAL, restitution=0.8, **stop):
    model = axis.wired("bouncing", "ball.M weight.R floor.R", "weight.C floor.C ground.V",
                       ball=axis("Mass", mass=2), weight=axis("ForceSource", force=-20),
                       floor=axis("HardStop", model="restitution", lower_bound=0, upper_bound=5,
                                  x=1, restitution=restitution, thermal_port=True, **stop))
    wire(model, "floor.H lump.M", lump=ThermalMass(mass="1 g"))
    return model


@pytest.mark.parametrize("axis", [TRANSLATIONAL, ROTATIONAL], ids=str)
def test_the_energy_of_impacts_becomes_heat(axis):
    run = bouncing(axis).simulate("6 s", rtol=1e-9)
    ledger = closes(run, 1e-10)
    assert_allclose(run["lump.T"].final.to("K").magnitude, 300 + 20 / 0.447, rtol=1e-11)
    assert_allclose(ledger["lump"].stored, 20, rtol=1e-10)
    assert abs(ledger.dissipated.to("J").magnitude) < 1e-12


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_an_impact_leaves_what_newton_takes(restitution):
    """After the first impact, 1 - e² of the energy, of which exp(-t/release_time) waits."""
    model = bouncing(restitution=restitution, release_time="50 ms")
    run = model.simulate(quantity(np.sqrt(2 * 1 / 10) + 0.1, "s"), rtol=1e-12)
    lost = 20 * (1 - restitution**2)
    assert_allclose(run["floor.impact_heat"].final.to("J").magnitude, lost * np.exp(-2), atol=1e-9)
    closes(run, 1e-10)


def test_what_a_disc_loses_by_impacts_and_slip_becomes_heat():
    model = wired("disc", "ground.P floor.B gravity.P", "disc.P floor.F", "floor.H lump.M",
                  ground=pl.Ground(), gravity=pl.Gravity(),
                  disc=pl.Body(mass="1 kg", inertia="31.25 g*m^2", x="0 m", y="1 m",
                                   phi="0 rad", vx="1 m/s", vy="0 m/s", w="0 rad/s"),
                  floor=pl.Contact(curve=pl.Circle("0.25 m"), restitution=0.5,
                                       thermal_port=True), lump=ThermalMass(mass="1 g"))
    run = model.simulate("1.5 s", rtol=1e-9)
    v, w = run["disc.vx"].final.to("m/s").magnitude, run["disc.w"].final.to("rad/s").magnitude
    assert_allclose((v, w), (2 / 3, -8 / 3), rtol=1e-9)  # it rolls: a third of its energy is lost
    heat = 9.81 * 0.75 + 1 / 2 - v**2 / 2 - 31.25e-3 * w**2 / 2
    assert_allclose(closes(run, 1e-8)["lump"].stored, heat, rtol=1e-9)


def test_the_damper_between_two_bodies_warms():
    model = wired(
        "plane", "ground.P spring.B", "body.P spring.F", "spring.H lump.M", ground=pl.Ground(),
        body=pl.Body(mass="1 kg", x="0.2 m", y="0 m", vx="0 m/s", vy="0.3 m/s"),
        spring=pl.SpringDamper(damping="5 N*s/m", thermal_port=True), lump=ThermalMass(mass="1 g"))
    ledger = closes(model.simulate("1 s", rtol=1e-9, method="DOP853"), 1e-6)
    assert ledger["spring"].dissipated == 0
    assert ledger["lump"].stored > 1


def test_time_stepping_says_that_it_does_not_follow_the_heat():
    with pytest.raises(blocks.ParameterError, match="does not follow the heat .* leaves floor"):
        bouncing().simulate("1 s", method="moreau_jean", step="1 ms")


# -- parameters that follow the temperature ----------------------------------------------------
def test_a_friction_fades_with_heat_and_sticks_in_the_end():
    """With F = F0 (1 - a (T - T0)), C dT = F v dt and E = C (T - T0) all motion is elementary.

    Force over way: dE/dx = F0 (1 - a E/C), so E = (C/a) (1 - exp(-a F0 x/C)).
    """
    fading = tr.TranslationalFriction(law="coulomb", thermal_port=True, breakaway_force="100 N",
                                      coulomb_force=lambda temperature: quantity("100 N")
                                      * (1 - quantity("5e-3/K") * (temperature - ROOM)))
    model = braked(fading)
    wire(model, "place.R body.M", "place.C ground.V", place=tr.MotionSensor())
    run = model.simulate("4 s", rtol=1e-11)
    x, T = run["place.P"].to("m").magnitude, run["lump.T"].to("K").magnitude
    assert_allclose(T, 300 + 200 * (1 - np.exp(-5e-3 * 100 * x / 50)), rtol=1e-9)
    assert_allclose(T[-1], 340, rtol=1e-9)  # 2 kJ in 50 J/K
    assert run["body.v"].final.magnitude == 0
    moving = run["body.v"].to("m/s").magnitude > 0
    assert_allclose(run["element.coulomb_force"].to("N").magnitude, 100 - 0.5 * (T - 300),
                    rtol=1e-12)  # it is shown
    assert_allclose(run["element.f"].to("N").magnitude[moving], (100 - 0.5 * (T - 300))[moving],
                    rtol=1e-9)
    closes(run)


def test_what_a_friction_lost_is_told_also_where_it_left_as_heat():
    run = braked(tr.TranslationalFriction(law="coulomb", thermal_port=True)).simulate("12 s")
    (term,) = run.sticking()
    assert_allclose(term.dissipated, 0.5 * 10 * 20**2, rtol=1e-6)  # all that the body had
    assert abs(run.energy()["element"].dissipated) < 1e-9  # nothing of it has left the model


def test_a_parameter_may_follow_several_variables():
    thinning = tr.Damper(
        thermal_port=True, damping=lambda temperature, v: quantity("5 N*s/m") * blocks.exp(
            (ROOM - temperature) / quantity("40 K")) / (1 + (v / quantity("10 m/s")) ** 2))
    run = braked(thinning).simulate("3 s", rtol=1e-10)
    T, v = run["lump.T"].to("K").magnitude, run["body.v"].to("m/s").magnitude
    assert_allclose(run["element.damping"].to("N*s/m").magnitude,
                    5 * np.exp((300 - T) / 40) / (1 + (v / 10) ** 2), rtol=1e-9)
    closes(run, 1e-8)


def test_all_instances_of_an_array_follow_their_own_temperature():
    run = wired("array", "body.M damper.R", "damper.C ground.V", "damper.H lump.M",
                body=tr.Mass(count=3, v=quantity([1, 2, 3], "m/s")), ground=tr.Reference(),
                damper=tr.Damper(count=3, thermal_port=True, damping=lambda temperature: quantity(
                    "1 N*s/m") * (temperature / ROOM)),
                lump=ThermalMass(count=3, mass="0.01 g")).simulate("1 s")
    for k in range(3):
        assert_allclose(run[f"damper[{k}].damping"].final.to("N*s/m").magnitude,
                        run[f"lump[{k}].T"].final.to("K").magnitude / 300, rtol=1e-12)


def test_bounds_are_kept_during_the_run():
    vanishing = tr.Damper(thermal_port=True, damping=lambda temperature: quantity("5 N*s/m") * (
        1 - (temperature - ROOM) / quantity("10 K")))
    with pytest.raises(blocks.SimulationError,
                       match=r"element: at t = .* s damping is no longer at least "
                       r"0.0 N[·⋅]s/m, by the function given for it"):
        braked(vanishing, 1.0).simulate("3 s").energy()
    limited = tr.Damper(thermal_port=True, damping=lambda temperature: blocks.maximum(
        quantity("5 N*s/m") * (1 - (temperature - ROOM) / quantity("10 K")), 0))
    assert braked(limited, 1.0).simulate("3 s")["lump.T"].final < quantity("310.1 K")


# -- what is refused ---------------------------------------------------------------------------
def test_a_port_left_open_is_an_error():
    model = wired("open", "body.M one.R two.R", "one.C two.C ground.V",
                  body=tr.Mass(v="1 m/s"), ground=tr.Reference(), one=tr.Damper(thermal_port=True),
                  two=tr.Damper(thermal_port=True))
    findings = model.check()
    assert [f.code for f in findings.errors] == ["network.nowhere"] * 2
    assert findings.errors[0].where == ("one.H",)
    assert "The thermal port one.H is left open: the heat of one has nowhere to go." in str(
        findings.errors[0])
    wire(model, "one.H two.H", "one.H end.A", end=PerfectInsulator())
    assert "is joined to nothing that takes it up" in str(model.check().errors[0])
    wire(model, "one.H out.A", "out.B sink.M", out=ThermalResistance(), sink=ThermalMass())
    assert not model.check().errors
    closes(model.simulate("0.01 s"), 1e-6)


@pytest.mark.parametrize(("made", "says"), [
    (lambda: tr.Damper(damping=lambda temperature: temperature), "a function of temperature, which "
     "this Damper does not have. Make it with thermal_port=True"),
    (lambda: tr.Damper(damping=lambda s: s), "a function of 's'. It may depend on variables of the "
     "component, by their names: v, f, power_dissipated"),
    (lambda: tr.Damper(damping=lambda t: t), "a function. Functions of time belong to"),
    (lambda: tr.NonlinearDamper(law="table", forces=lambda v: v), "a function.")])
def test_functions_of_something_else_are_refused(made, says):
    with pytest.raises(blocks.ParameterError) as error:
        made()
    assert says in str(error.value)
    assert error.value.code == "parameter.function"


def test_a_function_is_refused_when_it_is_set_later():
    damper = tr.Damper()
    with pytest.raises(blocks.ParameterError, match="does not have"):
        damper.damping = lambda temperature: temperature
    damper.damping = lambda v: quantity("1 N*s^2/m^2") * abs(v)


def test_a_function_of_time_stays_one():
    source = ro.TorqueSource(torque=lambda t: quantity("1 N*m/s") * t)  # not of t, a torque
    model = wired("time", "source.R rotor.I", "source.C ground.W", source=source,
                  rotor=ro.Inertia(inertia="1 kg*m^2"), ground=ro.RotationalReference())
    assert_allclose(model.simulate("2 s")["rotor.w"].final.magnitude, 2, rtol=1e-6)


@pytest.mark.parametrize(("element", "said"), [
    (tr.Damper(thermal_port=True, damping=lambda temperature: temperature),
     "the function of temperature given for it returns K, but N*s/m is needed"),
    (tr.Damper(thermal_port=True, damping=lambda temperature: temperature.nothing),
     "the function of temperature given for it failed"),
    # checks of a component see the value at room temperature
    (tr.TranslationalFriction(law="coulomb", thermal_port=True, breakaway_force="20 N",
                              coulomb_force=lambda temperature: quantity("0.1 N/K") * temperature),
     "breakaway_force is 20.0 N and thus below coulomb_force, which is 30.0 N")])
def test_a_function_with_another_unit_or_a_fault_is_told(element, said):
    assert said in str(braked(element).check().errors[0])


def test_what_stores_energy_does_not_follow_a_variable():
    model = wired("stored", "body.M spring.R", "spring.C ground.V",
                  body=tr.Mass(), ground=tr.Reference(),
                  spring=tr.Spring(stiffness=lambda x: quantity("1 N/m^2") * x))
    assert "energy is stored by it" in str(model.check().errors[0])


def test_instants_that_are_known_before_the_run_follow_no_temperature():
    model = Model("edges")
    model.bridge = HBridge(model="switched", thermal_port=True, frequency=lambda temperature:
        quantity("3 Hz/K") * temperature)
    (finding,) = model.check().filter(code="parameter.function")
    assert "given a function, but the instants of breakpoints() follow from it" in str(finding)

    class Counter(Component):
        """Counts ever more slowly."""

        pause = Variable("s", "1 s", priority="high")
        n = Discrete("1", 0.0)

        def equations(self):
            yield blocks.der(self.pause) == 1
            yield blocks.every(self.pause, {self.n: self.n + 1})

    other = wired("counts", counter=Counter())
    with pytest.raises(blocks.EquationError, match="every.* depends on pause. Instants are known"):
        other.simulate("1 s")


# -- in a library of one's own -----------------------------------------------------------------
def test_a_user_may_carry_any_power_through_any_port():
    class Motor(Component):
        """Two windings, each with a port for its heat, and a rotor."""
        hot = Option(True)
        A = Port(thermal, when="hot", carries="copper")
        B = Port(thermal, when="hot", carries="power_dissipated")
        copper, power_dissipated = Variable("W"), Variable("W")
        given = Parameter("3 W")
        power_supplied = Variable("W")

        def equations(self):
            yield self.copper == self.given
            yield self.power_dissipated == 2 * self.given
            yield self.power_supplied == 3 * self.given

    run = wired("own", "motor.A a.M", "motor.B b.M",
                motor=Motor(), a=ThermalMass(), b=ThermalMass()).simulate("10 s")
    ledger = closes(run, 1e-9)
    assert_allclose([ledger["a"].stored, ledger["b"].stored], [30, 60], rtol=1e-9)


def test_a_carried_power_that_is_none_is_refused():
    class Wrong(Dissipative, tr.TwoPort):
        P = Port(thermal, carries="v")

        def equations(self):
            yield self.f == 0
            yield self.power_dissipated == 0

    class Misspelt(Dissipative, tr.TwoPort):
        P = Port(thermal, carries="power")

        def equations(self):
            yield from Wrong.equations(self)

    for cls, error, says in ((Wrong, blocks.EquationError, "carries v, which is no power"),
                             (Misspelt, blocks.UnknownName, "no 'power' among its variables")):
        model = wired("wrong", part=cls())
        with pytest.raises(error, match=says):
            model.compile()
