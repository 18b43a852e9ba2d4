"""What does a liquid weigh, and how much energy does it carry, at a pressure?

The liquid with some air in it is described by the parameters of its circuit, which every port
``at`` of the domain knows. With P = p - p_atm, beta the bulk modulus of the pure liquid at p_atm,
K its growth with pressure, alpha the fraction of air (by volume, at p_atm) and
a = alpha/(1 - alpha)::

    pure liquid   s = rho_L0/rho_L = (1 + K P/beta)^(-1/K),  exp(-P/beta) for K = 0
    air           g = (p_atm/p)^(1/n), times the share that is not dissolved
    density       rho = (rho_L0 + a rho_g0) / (s + a g)
    enthalpy      h = integral of dp/rho from p_atm to p

h is what a kilogram brings along through a port: the work of pushing it in and its elastic
energy, less the work of the atmosphere. A volume V stores V (rho h - P).

References
----------
Block pages "Isothermal Liquid Properties (IL)" and "Isothermal Liquid Modeling Options" of
Simscape's documentation (density of the mixture); the enthalpy is its exact integral.
"""

from blocks import der, exp, log, maximum, minimum, partial, where

SMALL = 1e-3  # below it series of five terms are exact to rounding


def density(at, pressure):
    """Density of the liquid with its air, at a pressure (absolute)."""
    strain = (pressure - at.atmospheric_pressure) / at.bulk_modulus
    liquid = exp(-strain * _log_ratio(at.bulk_modulus_gain * strain))
    ratio = _air_ratio(at)
    relative = _gas_pressure(at, pressure) / at.atmospheric_pressure - 1
    air = exp(-relative * _log_ratio(relative) / at.polytropic_index)
    return _mixed(at) / (liquid + ratio * air * (1 - at.air_dissolution * _dissolved(at, pressure)))


def filling(at, pressure, volume, rate, flow):
    """The balance of mass of a volume that grows at a rate, with pressure as its state.

    d(rho volume)/dt = flow, solved for the derivative of the pressure, so that no loop is left.
    The liquid itself does not change with time.
    """
    rho = density(at, pressure)
    return der(pressure) == (flow - rho * rate) / (volume * partial(rho, pressure))


def enthalpy(at, pressure):
    """Energy that a kilogram carries through a port at a pressure (J/kg), 0 at p_atm."""
    rise = pressure - at.atmospheric_pressure
    strain = rise / at.bulk_modulus
    logarithm = _log_ratio(at.bulk_modulus_gain * strain)
    liquid = rise * logarithm * _exp_ratio((at.bulk_modulus_gain - 1) * strain * logarithm)
    return (liquid + _air_ratio(at) * _air_work(at, pressure)) / _mixed(at)


def heat_lost(A, B):
    """Heat of what flows from A to B through a part that stores nothing."""
    return A.mdot * (enthalpy(A, A.p) - enthalpy(B, B.p))


def elastic_energy(at, pressure):
    """Energy that a volume of liquid stores at a pressure (J/m³), 0 at p_atm."""
    rise = pressure - at.atmospheric_pressure
    return density(at, pressure) * enthalpy(at, pressure) - rise


def mean_density(A, B):
    """Mean of the densities at two ports."""
    return (density(A, A.p) + density(B, B.p)) / 2


def energy_made_up(at, flow, pressure):
    """Power that a volume adds which takes its liquid as incompressible.

    Its liquid does the work (p - p_atm)/rho_L0 a kilogram, but brings only the enthalpy
    along: the difference, a share P/(2 beta), is the price of leaving compression out.
    """
    return flow * ((pressure - at.atmospheric_pressure) / at.density - enthalpy(at, pressure))


# -- parts -----------------------------------------------------------------------------------
def _air_ratio(at):
    return at.air_fraction / (1 - at.air_fraction)


def _mixed(at):
    """Mass of liquid and air in what is a unit volume of liquid at p_atm."""
    return at.density + _air_ratio(at) * at.air_density


def _gas_pressure(at, pressure):
    """Pressure of the air; held below the minimum, where the run stops anyway."""
    return maximum(pressure, at.minimum_pressure)


def _dissolved(at, pressure):
    """Share of the air that is dissolved: 0 below p_atm, 1 above the critical pressure."""
    x = (pressure - at.atmospheric_pressure) / (at.critical_pressure - at.atmospheric_pressure)
    x = maximum(minimum(x, 1), 0)
    return x**2 * (3 - 2 * x)


def _air_work(at, pressure):
    """Integral of the volume of the air over pressure, per volume of air at p_atm."""
    p0 = at.atmospheric_pressure
    pressure = _gas_pressure(at, pressure)
    within = minimum(pressure, at.critical_pressure)
    (whole,), (up_to_critical,) = _power_works(at, pressure, 1), _power_works(at, within, 1)
    gone = whole - up_to_critical + _dissolved_work(at, maximum(within, p0))
    return whole - at.air_dissolution * gone


def _power_works(at, pressure, count):
    """Integrals of (p/p_atm)^(k - 1/n) dp from p_atm on, for k = 0, 1, ..."""
    relative = pressure / at.atmospheric_pressure - 1
    logarithm = _log_ratio(relative)
    powers = [k + 1 - 1 / at.polytropic_index for k in range(count)]
    return [at.atmospheric_pressure * relative * logarithm
            * _exp_ratio(power * relative * logarithm) for power in powers]


def _dissolved_work(at, pressure):
    """Integral of the dissolved share 3 x² - 2 x³ times (p_atm/p)^(1/n) dp, up to p_crit."""
    c = at.critical_pressure / at.atmospheric_pressure - 1
    square, cube = 3 / c**2, 2 / c**3  # x = (p/p_atm - 1)/c, multiplied out
    terms = (square + cube, -2 * square - 3 * cube, square + 3 * cube, -cube)
    works = _power_works(at, pressure, len(terms))
    return sum(factor * work for factor, work in zip(terms, works, strict=True))


def _log_ratio(y):
    """ln(1 + y)/y, 1 at 0."""
    near = (y < SMALL) & (y > -SMALL)  # abs_ would be two pieces of a law, held in loops
    safe = where(near, 1, y, events=False)
    series = 1 - y * (1 / 2 - y * (1 / 3 - y * (1 / 4 - y * (1 / 5 - y / 6))))
    return where(near, series, log(1 + safe) / safe, events=False)


def _exp_ratio(z):
    """(exp(z) - 1)/z, 1 at 0."""
    near = (z < SMALL) & (z > -SMALL)
    safe = where(near, 1, z, events=False)
    series = 1 + z / 2 * (1 + z / 3 * (1 + z / 4 * (1 + z / 5 * (1 + z / 6))))
    return where(near, series, (exp(safe) - 1) / safe, events=False)
