"""Examples of the Modelica Standard Library with liquid, against their published results.

Its fluids have pressures against the atmosphere and are incompressible; the coolant of the
example weighs 1 kg/m³ and brings 313.15 J a kilogram along. Data, licence and tolerances:
``tests/data/validation``.
"""

from coolant import dropping_out
from numpy.testing import assert_allclose
from published import cases, compare, published, simulate

from blocks import Model, quantity, where
from library.isothermal_liquid import (
    IsothermalLiquidProperties,
    PressureSensor,
    TranslationalMechanicalConverter,
)
from library.thermal import (
    ConvectiveHeatTransfer,
    HeatFlowRateSource,
    ThermalMass,
    ThermalReference,
)
from library.thermal_liquid import (
    ConstantVolumeChamber,
    FlowRateSource,
    Reservoir,
    ThermalLiquidSettings,
)
from library.translational import ForceSource, Mass, Reference, SpringDamper


def test_two_cylinders_of_different_size_are_a_press():
    model = Model("TestCylinder")
    model.coolant = IsothermalLiquidProperties(density="1 kg/m^3")
    model.gauge = PressureSensor(measure="gauge")
    model.cylinder1 = TranslationalMechanicalConverter(interface_area="0.1 m^2", x="5 m",
                                                       dynamic_compressibility=False)  # fmt: skip
    model.cylinder2 = TranslationalMechanicalConverter(interface_area="1 m^2", x="0.5 m",
                                                       dynamic_compressibility=False)  # fmt: skip
    model.push = ForceSource(force=lambda t: where(
        (t >= quantity("0.25 s")) & (t < quantity("0.5 s")), quantity("-1 N"), quantity("0 N")))
    model.mass, model.fixed = Mass(mass="1 kg"), Reference()
    model.springDamper = SpringDamper(stiffness="100 N/m", damping="10 N*s/m")
    model.connect(model.cylinder1.A, model.cylinder2.A, model.coolant.A, model.gauge.A)
    model.connect(model.cylinder1.R, model.push.R)
    model.connect(model.cylinder2.R, model.mass.M, model.springDamper.R)
    model.connect(model.cylinder1.C, model.cylinder2.C, model.push.C, model.springDamper.C,
                  model.fixed.V)  # fmt: skip
    name = "hydraulic_cylinder_pair"
    run = simulate(model, name)
    assert_allclose(run["gauge.Pg"].at("0.4 s").to("Pa").m, 10, rtol=1e-6)
    reference, signals = published(name), cases()[name]["signals"]
    t = quantity(reference["time"], "s")

    def ours(path, unit):
        return run[path].at(t).to(unit).magnitude

    found = {
        "springDamper.s_rel": 0.5 + ours("springDamper.x", "m"),
        "springDamper.v_rel": ours("springDamper.v", "m/s"),
        "cylinder1.m": 0.1 * ours("cylinder1.x", "m"),
        "cylinder1.H": 313.15 * 0.1 * ours("cylinder1.x", "m"),
        "cylinder2.H": 313.15 * ours("cylinder2.x", "m"),
    }
    assert set(found) == set(signals)
    for column, values in found.items():
        assert_allclose(values, reference[column], rtol=0, atol=signals[column]["tolerance"],
                        err_msg=column)  # fmt: skip


def test_a_coolant_whose_pump_drops_out_warms_as_published():
    """The pipe is one volume at the pressure outside; 1,000 kg/m³, so that pressures warm nothing.
    """
    model = Model("PumpDropOut")
    model.source, model.sink = Reservoir(temperature="293.15 K"), Reservoir(temperature="293.15 K")
    model.coolant = ThermalLiquidSettings(
        temperatures=["270 K", "350 K"], densities=["1000 kg/m^3"], bulk_moduli=["1 GPa"],
        specific_heats=["1 J/(K*kg)"], viscosities=["1 cSt"], conductivities=["1e-6 W/(K*m)"])
    model.pump = FlowRateSource(flow_type="volumetric", power_spec="none",
                                volume_flow=lambda t: 1e-3 * dropping_out(t))  # fmt: skip
    model.pipe = ConstantVolumeChamber(num_ports=2, volume="0.1 l", T_I="293.15 K")
    model.heatCapacitor = ThermalMass(mass="0.1 kg", specific_heat="1 J/(kg*K)", T="293.15 K")
    model.prescribed, model.ground = HeatFlowRateSource(heat_flow="10 W"), ThermalReference()
    model.convection = ConvectiveHeatTransfer(area="1 m^2",
                                              heat_transfer_coefficient="1 W/(m^2*K)")  # fmt: skip
    model.connect(model.source.A, model.pump.A, model.coolant.A)
    model.connect(model.pump.B, model.pipe.A)
    model.connect(model.pipe.B, model.sink.A)
    model.connect(model.ground.H, model.prescribed.A)
    model.connect(model.prescribed.B, model.heatCapacitor.M, model.convection.A)
    model.connect(model.convection.B, model.pipe.H)
    run = simulate(model, "cooling_pump_drop_out", rtol=1e-8)
    compare("cooling_pump_drop_out", run,
            {"heatCapacitor.T": ("heatCapacitor.T", "K"), "pipe.T": ("pipe.T_I", "K")})
    assert run.energy().relative_residual < 1e-7
