"""Networks of saturated iron without anything that stores: their start is all there is."""

import numpy as np
import pytest
from benches import wire, wired
from benches.magnetic import MU0, saturating
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from blocks import Model, quantity, sin
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    DCVoltageSource,
    ElectricalReference,
    FullBridge,
    Resistor,
)
from library.magnetic import (
    ElectromagneticConverter,
    FundamentalReluctance,
    MagneticReference,
    MMFSource,
    Reluctance,
)
from library.thermal import ThermalMass

FLUXES = np.linspace(-3e-4, 3e-4, 13)
POTENTIALS = 2e5 * FLUXES + 4e2 * np.sinh(FLUXES / 1e-4)
SOURCES = (-318.0, -372.0)
BARS = ((0.083, 8e-5), (0.164, 5.3e-5), (0.061, 2.65e-4))


def bar(size):
    return Reluctance(material="saturating", length=quantity(size[0], "m"),
                      area=quantity(size[1], "m^2"))  # fmt: skip


def potential(size, flux):
    """Of a bar, by the library's default characteristic, with numpy alone."""
    length, area = size
    return length * flux / area / (MU0 * saturating(flux / area))


def test_two_saturated_loops_that_share_a_table_of_iron_start_at_their_only_solution():
    model = wired("iron", "bar0.S coil0.N", "bar1.S coil1.N", ref=MagneticReference(),
                  yoke=bar(BARS[2]), **{f"bar{k}": bar(BARS[k]) for k in (0, 1)},
                  **{f"coil{k}": MMFSource(magnetomotive_force=quantity(SOURCES[k], "A"))
                     for k in (0, 1)})
    wire(model, "ref.M yoke.S coil0.S", "bar0.N coil1.S shared.N", "bar1.N yoke.N shared.S",
         shared=FundamentalReluctance(law="table", fluxes=quantity(FLUXES, "Wb"),
                                      magnetomotive_forces=quantity(POTENTIALS, "A")))

    def shared(flux):
        return np.interp(flux, FLUXES, POTENTIALS)

    def second(x):  # flux of the second loop at one of the first: all laws rise
        return brentq(lambda y: potential(BARS[1], y) + shared(y - x) + SOURCES[1], -3e-4, 3e-4,
                      xtol=1e-18, rtol=1e-14)

    first = brentq(lambda x: potential(BARS[0], x) + potential(BARS[2], x) - shared(second(x) - x)
                   + SOURCES[0], -3e-4, 3e-4, xtol=1e-18, rtol=1e-14)  # fmt: skip
    run = model.simulate("1 ms")
    found = [run[f"bar{k}.phi"].to("Wb").magnitude[0] for k in range(2)]
    np.testing.assert_allclose(found, [first, second(first)], rtol=1e-9)


def test_iron_that_is_driven_through_zero_again_and_again_makes_no_events_there():
    model = Model("bar")
    model.ref, model.bar = MagneticReference(), bar(BARS[0])
    model.coil = MMFSource(
        magnetomotive_force=lambda t: quantity("200 A") * sin(quantity("300 rad/s") * t))
    wire(model, "coil.N bar.N", "coil.S bar.S ref.M")
    run = model.simulate("0.1 s", rtol=1e-9)
    assert not list(run.events)
    flux, mmf = (run[f"bar.{name}"].to(u).magnitude for name, u in (("phi", "Wb"), ("mmf", "A")))
    np.testing.assert_allclose(potential(BARS[0], flux), mmf, rtol=1e-7, atol=1e-6)


def test_a_coil_on_a_web_of_iron_takes_a_formula_with_memory_where_it_is_stiff():
    """Many fluxes are solved for at every point: each evaluation that is saved counts."""
    n, nodes, bars = 6, {(0, 0): "coil.N", (5, 5): "coil.S ground.M"}, {}
    for i, k in np.ndindex(n, n):
        for other in ((i + 1, k), (i, k + 1)):
            if max(other) < n:
                name = f"bar_{i}_{k}_{other[0]}"
                bars[name] = Reluctance(material="saturating", length="10 mm", area="1 cm^2")
                nodes[i, k] = f"{nodes.get((i, k), '')} {name}.N"
                nodes[other] = f"{nodes.get(other, '')} {name}.S"
    model = wired("web", *nodes.values(), "source.p wire.p", "wire.n coil.p",
                  "coil.n source.n earth.V", **bars,
                  ground=MagneticReference(), coil=ElectromagneticConverter(),
                  wire=Resistor(resistance="1 ohm"), earth=ElectricalReference(),
                  source=ACVoltageSource(amplitude="20 V", frequency="50 Hz"))
    run, exact = model.simulate("10 ms"), model.simulate("10 ms", method="rodas4", rtol=1e-9)
    assert run.statistics["method"] == "dopri5, then rodas4"
    assert run.statistics["algebraic unknowns"] > 40
    assert run.statistics["steps"] < 1000
    ends = [r["wire.i"].to("A").m[-1] for r in (run, exact)]
    np.testing.assert_allclose(*ends, rtol=1e-4)


# -- a transformer whose core runs into saturation ----------------------------------------------
CORE, LEAKAGE, TURNS = (0.5, 2e-3), 5e7, (500, 50)


def idle_rectifier(heat):
    """A transformer on 325 V, before a bridge that a charged capacitor keeps from conducting."""
    model = wired("idle", "source.p wire.p", "wire.n first.p", "first.n source.n earth.V",
                  "first.N beside.N core.N", "core.S second.N beyond.N",
                  "first.S beside.S second.S beyond.S ground.M", "second.p bridge.A",
                  "second.n bridge.B", "bridge.P store.p load.p", "bridge.N store.n load.n other.V",
                  source=DCVoltageSource(voltage="325 V"), core=bar(CORE),
                  wire=Resistor(resistance="1 ohm", thermal_port=heat),
                  first=ElectromagneticConverter(turns=TURNS[0]),
                  second=ElectromagneticConverter(turns=TURNS[1]),
                  beside=FundamentalReluctance(reluctance=quantity(LEAKAGE, "1/H")),
                  beyond=FundamentalReluctance(reluctance=quantity(LEAKAGE, "1/H")),
                  bridge=FullBridge(devices="diode", forward_voltage="0.7 V"),
                  store=Capacitor(capacitance="1 mF", vc="90 V"),
                  load=Resistor(resistance="10 ohm"), earth=ElectricalReference(),
                  other=ElectricalReference(), ground=MagneticReference())
    if heat:
        wire(model, "wire.H body.M", body=ThermalMass(mass="1 kg", specific_heat="447 J/(kg*K)"))
    return model


def current(flux):
    """Of the first coil, at a flux through it, where the second one carries none."""
    mmf = brentq(lambda f: f - potential(CORE, flux - f / LEAKAGE), 0.0, LEAKAGE * flux + 1.0,
                 xtol=1e-12, rtol=1e-14)  # fmt: skip
    return mmf / TURNS[0]


@pytest.mark.parametrize("heat", [False, True])
def test_a_bridge_behind_a_saturating_core_stays_idle_beside_whatever_is_heated(heat):
    run = idle_rectifier(heat).simulate("5 ms", rtol=1e-8)
    exact = solve_ivp(lambda t, y: [(325.0 - current(y[0])) / TURNS[0], current(y[0]) ** 2],
                      (0.0, 5e-3), [0.0, 0.0], rtol=1e-9, atol=1e-12).y[:, -1]
    final = {name: run[name].to(unit).magnitude[-1]
             for name, unit in (("load.v", "V"), ("wire.i", "A"), ("second.i", "A"))}
    assert final["load.v"] == pytest.approx(90.0 * np.exp(-0.5), rel=1e-8)
    assert final["wire.i"] == pytest.approx(current(exact[0]), rel=1e-6)
    assert final["second.i"] == pytest.approx(0.0, abs=1e-6)
    assert not list(run.events)
    assert run.statistics["stretches in Python"] <= 2  # what drifts ends none
    if heat:
        rise = np.ptp(run["body.T"].to("K").magnitude)
        assert rise == pytest.approx(exact[1] / 447.0, rel=1e-5)
