"""Converted from scooter_friction.slx, R2024a.

The model asks to start from steady state; here it starts from its initial targets, unless
simulate() is given initial='steady state'.
"""

from blocks import Model
from library.signal import Constant, Gain, Product
from library.translational import (
    ForceSensor,
    Mass,
    Reference,
    TranslationalFriction,
    VelocitySource,
)


def build() -> Model:
    """The model scooter_friction."""
    model = Model("scooter_friction")
    model.force_sensor = ForceSensor()
    model.mass = Mass(mass="90 kg")
    model.ps_product = Product(units="m/s, N")
    model.reference = Reference()
    model.rolling_resistance = TranslationalFriction(
        breakaway_force="20 N",
        breakaway_velocity="0.1 m/s",
        coulomb_force="14 N",
        viscous_coefficient="3.1 N/(m/s)",
    )
    model.velocity_source = VelocitySource()
    model.scooter_velocity = Constant(value=26.3544921875)
    model.km_h_to_m_s = Gain(gain="0.277778 m/s")  # km/h to m/s

    model.connect(model.rolling_resistance.C, model.reference.V, model.velocity_source.C)
    model.connect(model.force_sensor.C, model.mass.M, model.rolling_resistance.R)
    model.connect(model.velocity_source.R, model.force_sensor.R)
    model.connect(model.force_sensor.F, model.ps_product.u2)
    model.connect(model.scooter_velocity.y, model.km_h_to_m_s.u)
    model.connect(model.km_h_to_m_s.y, model.ps_product.u1, model.velocity_source.S)
    return model


if __name__ == "__main__":
    # the model runs until Inf; the first 10 s are shown
    result = build().simulate("10 s")
    figure = result.plot("ps_product.y")
    figure.savefig("scooter_friction.png", bbox_inches="tight")
    table = result.table("ps_product.y", every="1 s")
    print(table.to_string())
