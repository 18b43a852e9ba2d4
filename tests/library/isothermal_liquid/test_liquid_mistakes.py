"""What users get wrong with liquids is named, where it can be before a run."""

import pytest
from benches import wire, wired

import library.isothermal_liquid as il
import library.rotational as ro
import library.translational as tr
from blocks import Model, SimulationError, quantity
from blocks.exceptions import BlocksError, ParameterError, UnitError, WrongDimension


def circuit(**parts):
    """A resistance between two reservoirs, and other parts on the first."""
    model = wired("circuit", "a.A r.A", "r.B b.A", a=il.Reservoir(), b=il.Reservoir(),
                  r=il.FlowResistance())
    for name, part in parts.items():
        model.connect(model.a.A, model.add(name, part).A)
    return model


def drawn(from_, mass_flow="0.1 kg/s"):
    """A source that draws liquid out of something."""
    return wired("drawn", "store.A source.A", "source.B out.A",
                 store=from_, source=il.FlowRateSource(mass_flow=mass_flow), out=il.Reservoir())


def test_two_liquids_in_one_circuit_are_named():
    findings = circuit(oil=il.IsothermalLiquidProperties(density="850 kg/m^3"),
                       water=il.IsothermalLiquidProperties()).check()  # fmt: skip
    assert findings.errors
    assert all({"oil", "water"} <= set(f.where) for f in findings.errors)


def test_reservoirs_joined_directly_are_two_references():
    for other in (il.Reservoir(), il.Reservoir(pressure_spec="specified", pressure="1 MPa")):
        (finding,) = circuit(c=other).check().errors
        assert finding.code == "conflict.across"
        assert "a and c both prescribe the pressure of the same node" in finding.problem


def test_water_is_assumed_where_no_liquid_is_stated_and_said():
    (finding,) = circuit().check()
    assert finding.code == "network.assumed" and finding.severity == "info"
    assert "a, b and r holds water" in finding.problem
    assert "another liquid" in finding.advice
    assert not circuit(water=il.IsothermalLiquidProperties()).check()


@pytest.mark.parametrize(("model", "end", "said"), [
    (drawn(il.ConstantVolumeChamber()), "1 s", "store: at t = .* falls below the liquid's min"),
    (drawn(il.GasChargedAccumulator(volume="0.1 l")), "10 s", "Pressures are absolute"),
    (drawn(il.Tank(volume="1 l"), "0.5 kg/s"), "10 s", "store: at t = 1.99.* run dry"),
    (drawn(il.Tank(volume="1.9 m^3", closed=True, height="2 m"), "-500 kg/s"), "1 s", "overflows"),
    (wired("filter", "tank.A filter.A", "filter.B pump.A", "pump.B out.A", "engine.R pump.R",
           "engine.C pump.C ground.W", tank=il.Reservoir(), filter=il.FlowResistance(),
           pump=il.FixedDisplacementPump(), out=il.Reservoir(),
           ground=ro.RotationalReference(), engine=ro.AngularVelocitySource(
               velocity=lambda t: quantity("100 rad/s^2") * t)), "10 s", "pump: at t = 2.1"),
    (wired("sucked", "pull.R cylinder.R", "pull.C cylinder.C ground.V",
           cylinder=il.DoubleActingActuator(), ground=tr.Reference(),
           pull=tr.VelocitySource(velocity="0.1 m/s")), "1 s",
     "cylinder: at t = .* the pressure at A falls below"),
], ids=["chamber", "accumulator", "tank", "closed tank", "filter", "cylinder"])  # fmt: skip
def test_what_is_sucked_empty_or_runs_over_stops_the_run_where_it_happens(model, end, said):
    with pytest.raises(SimulationError, match=said):
        model.simulate(end)


def test_a_specified_vacuum_is_found_before_the_run():
    model = wired("vacuum", "a.A r.A", "r.B b.A",
                  a=il.Reservoir(pressure_spec="specified", pressure="0 bar"), b=il.Reservoir(),
                  r=il.FlowResistance())
    (finding,) = model.check().errors
    assert finding.where == ("a",) and "Pressures are absolute" in finding.problem


@pytest.mark.parametrize(("cylinder", "words"), [
    (il.DoubleActingActuator(x="0.5 m"), "within the stroke"),
    (il.DoubleActingActuator(x="0.5 m", stop="restitution", dead_volume_B="5 l"), "by 400 mm")])
def test_a_piston_that_starts_beyond_its_stroke_is_found_before_the_run(cylinder, words):
    model = wired("beyond", "cylinder.R mass.M", "cylinder.C ground.V", "cylinder.A a.A",
                  "cylinder.B b.A", cylinder=cylinder, ground=tr.Reference(),
                  mass=tr.Mass(), a=il.Reservoir(), b=il.Reservoir())
    (finding,) = model.check().errors
    assert finding.where == ("cylinder",) and words in finding.problem


def test_a_flow_that_nothing_can_carry_is_named():
    model = wired("blocked", "source.A r.B", "source.B r.A",
                  source=il.FlowRateSource(mass_flow="1 kg/s"), r=il.FlowResistance())
    finding, level = model.check().errors
    assert finding.code == "conflict.through" and "source" in finding.problem
    assert level.code == "reference.missing" and "Reservoir" in level.problem


def test_a_pump_that_delivers_into_a_closed_end_is_told_what_gives_way():
    model = wired("closed", "tank.A pump.A", "pump.B end.A", "shaft.R pump.R",
                  "shaft.C pump.C ground.W", pump=il.FixedDisplacementPump(), end=il.Cap(),
                  tank=il.Reservoir(), shaft=ro.AngularVelocitySource(velocity="100 rad/s"),
                  ground=ro.RotationalReference())
    (finding,) = model.check().errors
    assert "node pump.B = end.A" in finding.advice and "flow resistance" in finding.advice


def driven(outlet, **ends):
    """A pump on a turning shaft between a tank and an outlet, of which some are left away."""
    model = wired("driven", "shaft.R pump.R", "shaft.C pump.C ground.W",
                  pump=il.FixedDisplacementPump(), tank=il.Reservoir(), outlet=outlet,
                  shaft=ro.AngularVelocitySource(velocity="100 rad/s"),
                  ground=ro.RotationalReference(), back=il.Reservoir())
    for at, port in ({"A": model.tank.A, "B": model.outlet.B} | ends).items():
        if port is not None:
            model.connect(getattr(model.pump, at), port)
    model.connect(model.outlet.A, model.back.A)
    return model


@pytest.mark.parametrize("open_end", ["A", "B"])
def test_a_pump_with_an_open_end_is_told_what_is_open(open_end):
    (finding,) = driven(il.FlowResistance(), **{open_end: None}).check().errors
    assert "port of pump" in finding.advice and "connect it" in finding.advice


def test_a_pump_against_a_closed_valve_is_told_where_nothing_gets_out():
    (finding,) = driven(il.CheckValve()).check().errors
    assert "mass flow that is driven into the node pump.B = outlet.B has a way" in finding.advice


@pytest.mark.parametrize("store", [il.Reservoir, il.ConstantVolumeChamber])
@pytest.mark.parametrize("x", ["-1 mm", "-2 mm"])
def test_a_start_without_any_volume_left_is_named_however_it_fails(store, x):
    model = Model("empty")
    model.store, model.mass, model.ground = store(), tr.Mass(), tr.Reference()
    model.wall = il.TranslationalMechanicalConverter(x=x, dead_volume="1e-5 m^3")  # empty at -1 mm
    wire(model, "wall.A store.A", "wall.R mass.M", "wall.C ground.V")
    (finding,) = model.check().errors
    assert finding.where == ("wall",) and "nothing is left of the volume" in finding.problem


def test_a_tank_held_by_a_reservoir_runs_the_same_after_a_check():
    steps = []
    for checked in (False, True):
        model = wired("held", "tank.A sea.A", tank=il.Tank(), sea=il.Reservoir())
        if checked:
            model.check()
        run = model.simulate("1 s")
        steps.append(run.statistics["steps"])
        assert run["tank.volume"].final.magnitude == 0
    assert steps[0] == steps[1]


@pytest.mark.parametrize(("error", "make", "words"), [
    (WrongDimension, lambda: il.Reservoir(pressure_spec="specified", pressure="200 N"),
     "takes MPa"),
    (WrongDimension, lambda: il.IsothermalLiquidProperties(viscosity="1 mPa*s"),
     "divide the dynamic one by"),
    (WrongDimension, lambda: il.FlowRateSource(mass_flow="1 l/s"), "takes kg/s"),
    (WrongDimension, lambda: il.FlowRateSource(mass_flow="10 l/min"),
     "take flow_type='volumetric' and volume_flow"),
    (WrongDimension, lambda: il.FixedDisplacementPump(displacement="30 l/min"),
     "Divide the volume flow by the speed"),
    (ParameterError, lambda: il.IsothermalLiquidProperties(air=True, air_fraction=1.0), "than 1"),
    (ParameterError, lambda: il.IsothermalLiquidProperties(air=True, polytropic_index=0.9),
     "polytropic_index: must be at least 1, but is 0.9"),
    (ParameterError, lambda: il.LocalRestriction(minimum_area="0 m^2"), "greater than 0 m.2"),
    (ParameterError, lambda: il.ConstantVolumeChamber(volume="0 l"), "greater than 0 l"),
    (ParameterError, lambda: il.ConstantVolumeChamber(p_I="-1 bar"),
     "target -1 bar, but must be at least 0 MPa"),
    (ParameterError, lambda: il.Pipe(p_I="-1 bar"), "target -1 bar, but must be at least 0 MPa"),
    (ParameterError, lambda: il.Reservoir(pressure="2 MPa"),
     "or choose pressure_spec='specified'"),
    (ParameterError, lambda: il.DoubleActingActuator(coulomb_force="300 N"),
     "choose law='simscape' or law='coulomb' or .* or …")])
def test_a_value_of_another_dimension_or_out_of_bounds_is_refused(error, make, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(("part", "words", "code"), [
    (il.CheckValve(cracking_pressure="0.2 MPa"), "not below maximum_pressure", "relation"),
    (il.CheckValve(leakage_area="1 m^2"), "above maximum_area", "relation"),
    (il.VariableOrifice(leakage_area="1 m^2"), "above maximum_area", "relation"),
    (il.LocalRestriction(restriction_type="fixed", area="1 m^2", finite_ports=True),
     "not below port_area", "relation"),
    (il.LocalRestriction(minimum_area="1 m^2"), "above maximum_area", "relation"),
    (il.LaminarLeakage(cross_section_geometry="annular", inner_diameter="1 cm"), "outer_diameter",
     "relation"), (il.Pipe(laminar_limit=5000), "not below turbulent_limit", "relation"),
    (il.GasChargedAccumulator(dead_volume="9 l"), "not below total_volume", "relation"),
    (il.IsothermalLiquidProperties(minimum_pressure="2 bar"), "not below atmospheric_pressure",
     "relation"),
    (il.IsothermalLiquidProperties(air=True, air_dissolution=True, critical_pressure="1 kPa"),
     "not above atmospheric_pressure", "relation"),
    (il.IsothermalLiquidProperties(air_dissolution=True), "no effect without air=True", "advice"),
    (il.LocalRestriction(pressure_recovery=True), "no effect without finite_ports", "advice")])
def test_parameters_that_contradict_each_other_and_options_without_effect_are_found(part, words,
                                                                                    code):
    (finding,) = wired("relations", part=part).check().filter(code=f"parameter.{code}")
    assert words in finding.problem


def test_liquid_and_mechanics_do_not_join():
    model = circuit(m=il.Reservoir())
    model.mass = tr.Mass()
    with pytest.raises(BlocksError, match="is isothermal_liquid and mass.M is translational"):
        model.connect(model.r.A, model.mass.M)


def test_a_jack_whose_rod_is_loose_is_told_to_connect_it():
    model = wired("jack", "tank.A pump.A", "pump.B jack.A", "jack.C ground.V",
                  tank=il.Reservoir(), pump=il.PressureSource(pressure_difference="50 bar"),
                  jack=il.TranslationalMechanicalConverter(), ground=tr.Reference())
    (finding,) = model.check().errors
    assert finding.advice.startswith("Connect jack.R, which is connected to nothing. Otherwise ")
    wire(model, "load.M jack.R", load=tr.Mass())
    assert not model.check().errors


def test_a_second_circuit_without_a_liquid_is_asked_for_one():
    """Oil on one side of a piston, and water on the other in silence: 8 % more flow."""
    model = wired("two sides", oil=il.IsothermalLiquidProperties(), a=il.Reservoir(),
                  b=il.Reservoir())
    model.piston, model.other = (il.TranslationalMechanicalConverter() for _ in range(2))
    wire(model, "oil.A a.A piston.A", "b.A other.A", "piston.R other.R",
         "piston.C other.C ground.V", ground=tr.Reference())
    (finding,) = model.check().filter(code="network.forgotten")
    assert "b and other holds water" in finding.problem and "oil says so" in finding.problem
    wire(model, "water.A b.A", water=il.IsothermalLiquidProperties())
    assert not model.check().filter(code="network.forgotten")


def test_a_displacement_without_its_angle_is_asked_for_it():
    """Read as per radian, 30 cm^3 were 188 cm^3/turn."""
    words = r"may be per turn or per radian. Write '30 cm\^3/turn' or '30 cm\^3/rad'"
    with pytest.raises(UnitError, match=words):
        il.FixedDisplacementPump(displacement="30 cm^3")
    for text in ("30 cm^3/turn", "30 cc/rev", "4.774648292756861 cm^3/rad"):
        pump = il.FixedDisplacementPump(displacement=text)
        assert abs(pump.displacement.m_as("cm^3/turn") - 30) < 1e-12
