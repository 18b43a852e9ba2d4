r"""A cylinder whose seals stick hunts about its place under a PI controller.

    set point --(+)-- PI -- valve -- cylinder ==[50 kg]
                 |-                     |
                 +------ position ------+

    10 MPa --P [ 4-way valve ] A--- cylinder ---B
    tank   --T [             ] B----------------+

Watch the piston stand still beside its set point while the integral grows and the valve fills
one side; at 1500 N of pressure the seals let go, friction falls to 900 N, and the piston
jumps past the set point. There it sticks again. The friction is exact: nothing creeps.
"""

from _show import show

from blocks import Model
from library.isothermal_liquid import (
    DirectionalValve,
    DoubleActingActuator,
    IsothermalLiquidProperties,
    Reservoir,
)
from library.signal import PID, Step, Subtract
from library.translational import Mass, Reference

model = Model("cylinder hunts")
model.oil = IsothermalLiquidProperties(density="850 kg/m^3", bulk_modulus="1.2 GPa",
                                       viscosity="32 cSt")  # fmt: skip
model.supply = Reservoir(pressure_spec="specified", pressure="10 MPa")
model.tank = Reservoir()
model.valve = DirectionalValve(maximum_area="4 mm^2", stroke="2 mm", leakage_area="0.002 mm^2")
model.cylinder = DoubleActingActuator(
    piston_area_A="8 cm^2", piston_area_B="8 cm^2", stroke="200 mm", dead_volume_A="0.4 l",
    dead_volume_B="0.4 l", x="100 mm", p_A="5 MPa", p_B="5 MPa", law="stribeck",
    breakaway_force="1500 N", coulomb_force="900 N", breakaway_velocity="5 mm/s",
    viscous_coefficient="200 N*s/m")  # fmt: skip
model.load, model.ground = Mass(mass="50 kg"), Reference()
model.wanted = Step(initial="100 mm", final="102 mm", start="0.1 s")
model.error = Subtract(unit="m")
model.controller = PID(input="m", proportional="0.05", integral="0.1 1/s")

model.connect(model.supply.A, model.valve.P, model.oil.A)
model.connect(model.tank.A, model.valve.T)
model.connect(model.valve.A, model.cylinder.A)
model.connect(model.valve.B, model.cylinder.B)
model.connect(model.cylinder.R, model.load.M)
model.connect(model.cylinder.C, model.ground.V)
model.connect(model.wanted.y, model.error.u1)
model.connect(model.cylinder.p_out, model.error.u2)
model.connect(model.error.y, model.controller.u)
model.connect(model.controller.y, model.valve.S)

result = model.simulate("6 s", rtol=1e-7)
print(result.sticking())

slips = [e.time for e in result.events.of("cylinder") if "slides" in e.description]
print(f"\nThe piston lets go {len(slips)} times; the last three at "
      + ", ".join(f"{t:.3f} s" for t in slips[-3:]))

# By hand: it lets go where the pressures differ by 1500 N / 8 cm^2 = 1.875 MPa.
difference = result["cylinder.p_A"] - result["cylinder.p_B"]
at = [abs(difference.at(f"{t!r} s").to("MPa").m) for t in slips[-3:]]
print("Difference of the pressures there "
      + ", ".join(f"{p:.4f}" for p in at) + " MPa, by hand 1.8750 MPa")

show(result.plot("cylinder.x", "wanted.y", "cylinder.seal_force",
                 units={"cylinder.x": "mm", "wanted.y": "mm"},
                 events=False), "cylinder_hunts")
