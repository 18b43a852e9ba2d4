"""Circuits of an air gap whose armature moves, and networks of saturated iron."""

import numpy as np
import pytest
from benches import final, meets, wire, wired
from benches.magnetic import MU0, saturating
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.electrical as el
import library.magnetic as ma
from benchmarks.cases.machines import SOLENOID_ENDS
from blocks import quantity, sin
from library.thermal import ThermalMass
from library.translational import Damper, HardStop, Mass, Reference, Spring, VelocitySource


# -- force of an air gap: closed forms, energy, both kinds of contact ------------------------------
def held(x, flux="0.1 mWb", **options):
    """The actuator with a given flux and its armature held."""
    return wired("held", "flux.S part.N", "flux.N part.S zero.M", "hold.R part.R",
                 "hold.C part.C frame.V",
                 part=ma.ReluctanceForceActuator(area="1 cm^2", x=x, **options),
                 flux=ma.FluxSource(flux=flux), zero=ma.MagneticReference(), hold=VelocitySource(),
                 frame=Reference())


def test_pull_and_potential_of_a_gap_and_its_elastic_contact():
    for flux, phi in (("0.1 mWb", 1e-4), ("-0.2 mWb", -2e-4)):
        run = held("1.5 mm", flux).simulate("1 ms")  # carried from R to C: it closes the gap
        meets(run, {"part.f N": (phi**2 / (2 * MU0 * 1e-4), 1e-13),
                    "part.mmf A": (phi * 1.5e-3 / (MU0 * 1e-4), 1e-12)})
    run = held("0.05 mm", least_gap="0.1 mm", contact_stiffness="2e6 N/m").simulate("1 ms")
    meets(run, {"part.contact_force N": (100, 1e-12), "part.mmf A": (1e-4 / MU0, 1e-12)})


def drop(**options):
    """A mass pulled by a constant flux from 1 mm on, towards a contact at 0.2 mm."""
    model = held("1 mm", least_gap="0.2 mm", **options)
    del model.hold
    wire(model, "mass.M part.R", "part.C frame.V", mass=Mass(mass="20 g"))
    return model


PULL = 1e-4**2 / (2 * MU0 * 1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_rigid_contact_of_an_armature(restitution):
    run = drop(model="restitution", restitution=restitution).simulate("8 ms", rtol=1e-10)
    touches = np.sqrt(2 * 0.8e-3 / (PULL / 0.02))
    assert_allclose(run.events.of("part")[0].time, touches, rtol=1e-8)
    speed = PULL / 0.02 * touches
    after = run["mass.v"].at(quantity(touches + 1e-6, "s")).to("m/s").m
    assert_allclose(after, restitution * speed - (PULL / 0.02 * 1e-6 if restitution else 0),
                    atol=1e-8)
    assert run["part.x"].min().to("mm").m >= 0.2 - 1e-9
    assert run.energy().relative_residual < 1e-8


@pytest.mark.parametrize("speed", [-1e-3, 1e-3])
def test_heat_of_an_elastic_contact_is_that_of_its_damping_alone(speed):
    """What the pull does on a way that the flux does not see is supplied, or taken, not heat."""
    model = held("0.1 mm", least_gap="0.2 mm", contact_damping="50 kN*s/m", thermal_port=True)
    model.hold.velocity = quantity(speed, "m/s")
    model.body = ThermalMass(mass="1 g", specific_heat="400 J/(kg*K)", T="300 K")
    model.connect(model.part.H, model.body.M)
    run = model.simulate("20 ms")
    assert_allclose(final(run, "body.T", "K") - 300, 5e4 * speed**2 * 20e-3 / 0.4, rtol=1e-9)
    assert_allclose(run.energy()["part"].supplied, -PULL * speed * 20e-3, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


def test_pull_in_and_drop_out_of_a_solenoid_part_by_part():
    """Values of two independent methods that agree to 1e-11: pull-in, one bounce, drop-out."""
    start = quantity(2e-3 + 2.4e-6, "m")  # on the upper stop, which carries the preload
    model = wired(
        "solenoid", "supply.p wire.p", "wire.n coil.p", "coil.n supply.n earth.V",
        "coil.N iron.N", "iron.S gap.N", "gap.S coil.S zero.M",
        "gap.R armature.M spring.R damper.R stop.R", "gap.C frame.V spring.C damper.C stop.C",
        supply=el.ControlledVoltageSource(voltage=el.table(["0 s", "40 ms", "40 ms"],
                                                           ["12 V", "12 V", "0 V"])),
        wire=el.Resistor(resistance="20 ohm"), coil=ma.ElectromagneticConverter(turns=1000),
        iron=ma.FundamentalReluctance(reluctance="2e6 1/H"),
        gap=ma.ReluctanceForceActuator(area="1 cm^2", x=start), armature=Mass(mass="20 g"),
        frame=Reference(), spring=Spring(stiffness="400 N/m", x=start - quantity("8 mm")),
        damper=Damper(damping="0.5 N*s/m"),
        stop=HardStop(model="full", lower_bound="0.2 mm", upper_bound="2 mm", x=start),
        earth=el.ElectricalReference(), zero=ma.MagneticReference())
    run = model.simulate("100 ms", rtol=1e-9)
    for path, (half, end, scale) in SOLENOID_ENDS.items():
        found = run[path.replace("machine", "gap")].at(["50 ms", "100 ms"]).to_base_units().m
        assert_allclose(found / scale, [half / scale, end / scale], atol=1e-10)
    assert len(run.events) == 6  # of the contacts; the voltage falls at a known time
    assert run.energy().relative_residual < 1e-9


# -- saturated iron without anything that stores: the start is all there is ------------------------
FLUXES = np.linspace(-3e-4, 3e-4, 13)
POTENTIALS = 2e5 * FLUXES + 4e2 * np.sinh(FLUXES / 1e-4)
SOURCES = (-318.0, -372.0)
BARS = ((0.083, 8e-5), (0.164, 5.3e-5), (0.061, 2.65e-4))


def bar(size):
    return ma.Reluctance(material="saturating", length=quantity(size[0], "m"),
                      area=quantity(size[1], "m^2"))  # fmt: skip


def potential(size, flux):
    """Of a bar, by the library's default characteristic, with numpy alone."""
    length, area = size
    return length * flux / area / (MU0 * saturating(flux / area))


def test_two_saturated_loops_that_share_a_table_of_iron_start_at_their_only_solution():
    model = wired("iron", "bar0.S coil0.N", "bar1.S coil1.N", ref=ma.MagneticReference(),
                  yoke=bar(BARS[2]), **{f"bar{k}": bar(BARS[k]) for k in (0, 1)},
                  **{f"coil{k}": ma.MMFSource(magnetomotive_force=quantity(SOURCES[k], "A"))
                     for k in (0, 1)})
    wire(model, "ref.M yoke.S coil0.S", "bar0.N coil1.S shared.N", "bar1.N yoke.N shared.S",
         shared=ma.FundamentalReluctance(law="table", fluxes=quantity(FLUXES, "Wb"),
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
    model = wired("bar", "coil.N bar.N", "coil.S bar.S ref.M", ref=ma.MagneticReference(),
                  bar=bar(BARS[0]), coil=ma.MMFSource(magnetomotive_force=lambda t: quantity(
                      "200 A") * sin(quantity("300 rad/s") * t)))
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
                bars[name] = ma.Reluctance(material="saturating", length="10 mm", area="1 cm^2")
                nodes[i, k] = f"{nodes.get((i, k), '')} {name}.N"
                nodes[other] = f"{nodes.get(other, '')} {name}.S"
    model = wired("web", *nodes.values(), "source.p wire.p", "wire.n coil.p",
                  "coil.n source.n earth.V", **bars,
                  ground=ma.MagneticReference(), coil=ma.ElectromagneticConverter(),
                  wire=el.Resistor(resistance="1 ohm"), earth=el.ElectricalReference(),
                  source=el.ACVoltageSource(amplitude="20 V", frequency="50 Hz"))
    run, exact = model.simulate("10 ms"), model.simulate("10 ms", method="rodas4", rtol=1e-7)
    assert run.statistics["method"] == "rodas4"
    assert run.statistics["algebraic unknowns"] > 40
    assert run.statistics["steps"] < 1000
    np.testing.assert_allclose(*[r["wire.i"].to("A").m[-1] for r in (run, exact)], rtol=1e-4)


# -- a transformer whose core runs into saturation ----------------------------------------------
CORE, LEAKAGE, TURNS = (0.5, 2e-3), 5e7, (500, 50)


def idle_rectifier(heat):
    """A transformer on 325 V, before a bridge that a charged capacitor keeps from conducting."""
    model = wired("idle", "source.p wire.p", "wire.n first.p", "first.n source.n earth.V",
                  "first.N beside.N core.N", "core.S second.N beyond.N",
                  "first.S beside.S second.S beyond.S ground.M", "second.p bridge.A",
                  "second.n bridge.B", "bridge.P store.p load.p", "bridge.N store.n load.n other.V",
                  source=el.DCVoltageSource(voltage="325 V"), core=bar(CORE),
                  wire=el.Resistor(resistance="1 ohm", thermal_port=heat),
                  first=ma.ElectromagneticConverter(turns=TURNS[0]),
                  second=ma.ElectromagneticConverter(turns=TURNS[1]),
                  beside=ma.FundamentalReluctance(reluctance=quantity(LEAKAGE, "1/H")),
                  beyond=ma.FundamentalReluctance(reluctance=quantity(LEAKAGE, "1/H")),
                  bridge=el.FullBridge(devices="diode", forward_voltage="0.7 V"),
                  store=el.Capacitor(capacitance="1 mF", vc="90 V"),
                  load=el.Resistor(resistance="10 ohm"), earth=el.ElectricalReference(),
                  other=el.ElectricalReference(), ground=ma.MagneticReference())
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
    meets(run, {"load.v": (90.0 * np.exp(-0.5), 1e-8), "wire.i": (current(exact[0]), 1e-6)})
    assert final(run, "second.i", "A") == pytest.approx(0.0, abs=1e-6)
    assert not list(run.events)
    assert run.statistics["stretches in Python"] <= 2  # what drifts ends none
    if heat:
        assert np.ptp(run["body.T"].to("K").magnitude) == pytest.approx(exact[1] / 447.0, rel=1e-5)
