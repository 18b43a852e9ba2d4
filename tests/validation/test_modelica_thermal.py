"""Examples of the Modelica Standard Library against their published results: heat.

Data, licence and tolerances: ``tests/data/validation``.
"""

from benches import wire
from published import compare, simulate

from blocks import Model
from library.thermal import ThermalMass, ThermalResistance


def test_two_masses():
    model = Model("two_masses")
    for name, start in (("mass1", "100 degC"), ("mass2", "0 degC")):
        model.add(name, ThermalMass(mass="1 kg", specific_heat="15 J/(kg*K)", T=start))
    wire(model, "mass1.M conduction.A", "conduction.B mass2.M",
         conduction=ThermalResistance(resistance="0.1 K/W"))
    run = simulate(model, "thermal_two_masses")
    compare("thermal_two_masses", run, {"mass1.T": ("mass1.T", "K"), "mass2.T": ("mass2.T", "K")})
