"""Mistakes of units, names and wiring: what does the toolkit say, and when?

Every mistake below is made on purpose. Each is caught on the line that makes it,
or by check() before anything is integrated.
"""

from blocks import Model, Parameter
from blocks.exceptions import ModelError
from library.translational import Damper, Mass, Reference, Spring, TwoPort, VelocitySource


class WrongDamper(TwoPort):
    """A damper whose author has forgotten to multiply by the velocity."""

    damping = Parameter("100 N*s/m")

    def equations(self):
        yield self.f == self.damping


def circuit(part):
    """A mass on a part that stands on the ground."""
    model = Model("circuit")
    model.block = Mass(mass="500 g")
    model.part = part
    model.ground = Reference()
    model.connect(model.block.M, model.part.R)
    model.connect(model.part.C, model.ground.V)
    return model


def two_velocities():
    """Two sources that prescribe the velocity of one mass."""
    model = circuit(VelocitySource(velocity="1 m/s"))
    model.other = VelocitySource(velocity="2 m/s")
    model.connect(model.other.R, model.block.M)
    model.connect(model.other.C, model.ground.V)
    model.simulate("1 s")


MISTAKES = {
    "a number without unit": lambda: Mass(mass=500),
    "another dimension": lambda: Spring(stiffness="100 N*s/m"),
    "a unit that does not exist": lambda: Damper(damping="100 Ns/m"),
    "a value out of bounds": lambda: Mass(mass="-1 kg"),
    "a misspelt parameter": lambda: Spring(stifness="100 N/m"),
    "a misspelt port": lambda: circuit(Spring()).part.flange_a,
    "an equation that does not balance": lambda: circuit(WrongDamper()).simulate("1 s"),
    "two sources for one velocity": two_velocities,
    "a duration without unit": lambda: circuit(Spring()).simulate(1),
    "a result in the wrong unit": lambda: circuit(Spring()).simulate("1 s")["block.v"].to("N"),
}

caught = 0
for name, mistake in MISTAKES.items():
    try:
        mistake()
    except ModelError as error:
        caught += 1
        print(f"{name}\n    {type(error).__name__}: {error}\n")

grams = circuit(Spring()).block.mass.to("kg")
print(f"{caught} of {len(MISTAKES)} mistakes caught; 500 g is taken as {grams:~P}")
