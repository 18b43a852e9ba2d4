"""Small circuits for tests of components with liquid, and the liquid by hand."""

import numpy as np
from benches import wire, wired
from scipy.integrate import quad

from blocks import quantity
from library.isothermal_liquid import IsothermalLiquidProperties, Reservoir

P0 = 101325.0
WATER = {"rho": 998.21, "beta": 2.1791e9, "nu": 1.0034e-6}
OIL = {"rho": 850.0, "beta": 1.2e9, "nu": 1.8e-5}


def rho(p, liquid=None, gain=0.0, air=0.0, n=1.0, air_rho=1.225):
    """Density at a pressure in Pa."""
    liquid = liquid or WATER
    strain = (np.asarray(p) - P0) / liquid["beta"]
    s = np.exp(-strain) if gain == 0 else (1 + gain * strain) ** (-1 / gain)
    a = air / (1 - air)
    return (liquid["rho"] + a * air_rho * (air > 0)) / (s + a * (P0 / np.asarray(p)) ** (1 / n))


def h(p, liquid=None, **more):
    """Integral of dp/rho from the atmosphere on, by quadrature."""
    return quad(lambda x: 1 / float(rho(x, liquid, **more)), P0, p, epsabs=0, epsrel=1e-13)[0]


def oil(**more):
    return IsothermalLiquidProperties(density="850 kg/m^3", bulk_modulus="1.2 GPa",
                                      viscosity="18 cSt", **more)  # fmt: skip


def reservoir(pressure):
    """At an absolute pressure in Pa, or one that is a function of time."""
    given = pressure if callable(pressure) else quantity(pressure, "Pa")
    return Reservoir(pressure_spec="specified", pressure=given)


def between(part, p_A, p_B, liquid=None):
    """A part between two reservoirs at absolute pressures in Pa."""
    model = wired("between", "a.A part.A", "part.B b.A",
                  a=reservoir(p_A), b=reservoir(p_B), part=part)
    if liquid is not None:
        wire(model, "liquid.A a.A", liquid=liquid)
    return model


def flow(part, p_A, p_B, liquid=None):
    """Mass flow from A to B in kg/s; also, the part turns all energy lost into heat."""
    run = between(part, p_A, p_B, liquid).simulate("0.1 s", rtol=1e-10)
    assert run.energy().relative_residual < 1e-9
    return float(run["part.mdot"].final.to("kg/s").m)


def orifice(p_A, p_B, area, cd=0.64, re=150, contraction=1.0, loss=1.0, **more):
    """Mass flow of oil through an area, by hand."""
    mean, drop = (rho(p_A, OIL, **more) + rho(p_B, OIL, **more)) / 2, p_A - p_B
    laminar = np.pi / 8 * mean / area * (re * OIL["nu"] / cd) ** 2
    return cd * area * np.sqrt(2 * mean / (loss * contraction)) * drop / (
        drop**2 + laminar**2) ** 0.25


def opened(drop, cracking, full, largest):
    """Area of a valve that opens from one pressure to another."""
    return 1e-10 + (largest - 1e-10) * np.clip((drop - cracking) / (full - cracking), 0, 1)
