"""Examples of the Modelica Standard Library with liquid, against their published results.

Its fluids have pressures against the atmosphere and are incompressible; the coolant of the
example weighs 1 kg/m³ and brings 313.15 J a kilogram along. Data, licence and tolerances:
``tests/data/validation``.
"""

from benches import wire, wired
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
    wire(model, "cylinder1.A cylinder2.A coolant.A gauge.A", "cylinder1.R push.R",
         "cylinder2.R mass.M springDamper.R",
         "cylinder1.C cylinder2.C push.C springDamper.C fixed.V",
         coolant=IsothermalLiquidProperties(density="1 kg/m^3"),
         gauge=PressureSensor(measure="gauge"),
         cylinder1=TranslationalMechanicalConverter(interface_area="0.1 m^2", x="5 m",
                                                    dynamic_compressibility=False),
         cylinder2=TranslationalMechanicalConverter(interface_area="1 m^2", x="0.5 m",
                                                    dynamic_compressibility=False),
         push=ForceSource(force=lambda t: where((t >= quantity("0.25 s")) & (t < quantity("0.5 s")),
                                                quantity("-1 N"), quantity("0 N"))),
         mass=Mass(mass="1 kg"), fixed=Reference(),
         springDamper=SpringDamper(stiffness="100 N/m", damping="10 N*s/m"))
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
    model = wired("PumpDropOut", "source.A pump.A coolant.A", "pump.B pipe.A", "pipe.B sink.A",
                  "ground.H prescribed.A", "prescribed.B heatCapacitor.M convection.A",
                  "convection.B pipe.H",
                  source=Reservoir(temperature="293.15 K"), sink=Reservoir(temperature="293.15 K"),
                  coolant=ThermalLiquidSettings(temperatures=["270 K", "350 K"],
                                                densities=["1000 kg/m^3"], bulk_moduli=["1 GPa"],
                                                specific_heats=["1 J/(K*kg)"],
                                                viscosities=["1 cSt"],
                                                conductivities=["1e-6 W/(K*m)"]),
                  pump=FlowRateSource(flow_type="volumetric", power_spec="none",
                                      volume_flow=lambda t: 1e-3 * dropping_out(t)),
                  pipe=ConstantVolumeChamber(num_ports=2, volume="0.1 l", T_I="293.15 K"),
                  heatCapacitor=ThermalMass(mass="0.1 kg", specific_heat="1 J/(kg*K)",
                                            T="293.15 K"),
                  prescribed=HeatFlowRateSource(heat_flow="10 W"), ground=ThermalReference(),
                  convection=ConvectiveHeatTransfer(area="1 m^2",
                                                    heat_transfer_coefficient="1 W/(m^2*K)"))
    run = simulate(model, "cooling_pump_drop_out", rtol=1e-8)
    compare("cooling_pump_drop_out", run,
            {"heatCapacitor.T": ("heatCapacitor.T", "K"), "pipe.T": ("pipe.T_I", "K")})
    assert run.energy().relative_residual < 1e-7
