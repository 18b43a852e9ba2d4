"""Examples of the Modelica Standard Library against their published results: liquid and heat.

Its fluids have pressures against the atmosphere and are incompressible; the coolant of the
example weighs 1 kg/m³ and brings 313.15 J a kilogram along. Tanks at rest and a pump that
stops leave equations open, in components written as a user would write them. Data, licence
and tolerances: ``tests/data/validation``.
"""

import numpy as np
import pytest
from benches import wire, wired
from benches.coolant import cooling, dropping_out, two_tanks
from numpy.testing import assert_allclose
from published import follow

import library.isothermal_liquid as il
import library.thermal as th
import library.thermal_liquid as tl
from blocks import Model, quantity, where
from library.translational import ForceSource, Mass, Reference, SpringDamper


def test_two_cylinders_of_different_size_are_a_press():
    model = Model("TestCylinder")
    wire(model, "cylinder1.A cylinder2.A coolant.A gauge.A", "cylinder1.R push.R",
         "cylinder2.R mass.M springDamper.R",
         "cylinder1.C cylinder2.C push.C springDamper.C fixed.V",
         coolant=il.IsothermalLiquidProperties(density="1 kg/m^3"),
         gauge=il.PressureSensor(measure="gauge"),
         cylinder1=il.TranslationalMechanicalConverter(interface_area="0.1 m^2", x="5 m",
                                                       dynamic_compressibility=False),
         cylinder2=il.TranslationalMechanicalConverter(interface_area="1 m^2", x="0.5 m",
                                                       dynamic_compressibility=False),
         push=ForceSource(force=lambda t: where((t >= quantity("0.25 s")) & (t < quantity("0.5 s")),
                                                quantity("-1 N"), quantity("0 N"))),
         mass=Mass(mass="1 kg"), fixed=Reference(),
         springDamper=SpringDamper(stiffness="100 N/m", damping="10 N*s/m"))
    run = follow(model, "hydraulic_cylinder_pair", {
        "springDamper.s_rel": ("springDamper.x", "m", 0.5),
        "springDamper.v_rel": ("springDamper.v", "m/s"),
        "cylinder1.m": ("cylinder1.x", "m", 0.0, 0.1),
        "cylinder1.H": ("cylinder1.x", "m", 0.0, 31.315),
        "cylinder2.H": ("cylinder2.x", "m", 0.0, 313.15)})  # fmt: skip
    assert_allclose(run["gauge.Pg"].at("0.4 s").to("Pa").m, 10, rtol=1e-6)


def test_a_coolant_whose_pump_drops_out_warms_as_published():
    """The pipe is one volume at the pressure outside; 1,000 kg/m³, so that pressures warm nothing.
    """
    model = wired("PumpDropOut", "source.A pump.A coolant.A", "pump.B pipe.A", "pipe.B sink.A",
                  "ground.H prescribed.A", "prescribed.B heatCapacitor.M convection.A",
                  "convection.B pipe.H", source=tl.Reservoir(temperature="293.15 K"),
                  sink=tl.Reservoir(temperature="293.15 K"),
                  coolant=tl.ThermalLiquidSettings(temperatures=["270 K", "350 K"],
                                                   densities=["1000 kg/m^3"], bulk_moduli=["1 GPa"],
                                                   specific_heats=["1 J/(K*kg)"],
                                                   viscosities=["1 cSt"],
                                                   conductivities=["1e-6 W/(K*m)"]),
                  pump=tl.FlowRateSource(flow_type="volumetric", power_spec="none",
                                         volume_flow=lambda t: 1e-3 * dropping_out(t)),
                  pipe=tl.ConstantVolumeChamber(num_ports=2, volume="0.1 l", T_I="293.15 K"),
                  heatCapacitor=th.ThermalMass(mass="0.1 kg", specific_heat="1 J/(kg*K)",
                                               T="293.15 K"),
                  prescribed=th.HeatFlowRateSource(heat_flow="10 W"), ground=th.ThermalReference(),
                  convection=th.ConvectiveHeatTransfer(area="1 m^2",
                                                       heat_transfer_coefficient="1 W/(m^2*K)"))
    run = follow(model, "cooling_pump_drop_out", {
        "heatCapacitor.T": ("heatCapacitor.T", "K"), "pipe.T": ("pipe.T_I", "K")}, rtol=1e-8)
    assert run.energy().relative_residual < 1e-7


def test_two_tanks_find_their_level():
    run = follow(two_tanks(Model("two tanks")), "hydraulic_two_tanks", {
        "openTank1.m": ("left.m", "kg"), "openTank1.H": ("left.H", "J"),
        "openTank2.m": ("right.m", "kg"), "openTank2.H": ("right.H", "J")})
    t = run.time.to("s").magnitude
    assert_allclose(run["left.m"].to("kg").magnitude, 0.5 + 0.4 * np.exp(-4 * t), atol=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "BDF"])
def test_a_pump_drops_out(method):
    follow(cooling(Model("cooling")), "cooling_pump_drop_out",
           {"heatCapacitor.T": ("mass.T", "K"), "pipe.T": ("pipe.T", "K")},
           method=method, rtol=1e-7)


def test_two_masses():
    model = Model("two_masses")
    for name, start in (("mass1", "100 degC"), ("mass2", "0 degC")):
        model.add(name, th.ThermalMass(mass="1 kg", specific_heat="15 J/(kg*K)", T=start))
    wire(model, "mass1.M conduction.A", "conduction.B mass2.M",
         conduction=th.ThermalResistance(resistance="0.1 K/W"))
    follow(model, "thermal_two_masses", {"mass1.T": ("mass1.T", "K"), "mass2.T": ("mass2.T", "K")})
