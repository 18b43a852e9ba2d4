"""Networks: transfer functions, loops that only sums of equations show, ladders, grids;
circuits of textbooks.

End values of the ladder, and of the grid of 100 x 100 nodes, are published with the reference
numbers of the benchmarks: a phasor and 120 modes agree with CVODE to 3e-8, and two methods in C
to 5e-9.
"""

import numpy as np
import pytest
from benches import values, wire, wired
from benches.electrical import between, circuit
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import blocks
import library.electrical as el
from benchmarks.cases.circuits import diode_nodes, grid_with_diodes, rc_ladder
from blocks import Component, Output, Parameter, Port, Variable, abs_, cos, der, quantity, sin, time
from library.electrical.domain import electrical
from library.rotational import AngularVelocitySource, RotationalReference
from library.rotational.domain import rotational
from library.signal import Pulse


# -- frequency responses ---------------------------------------------------------------------------
def R(value):
    return el.Resistor(resistance=quantity(value, "ohm"))


def C(value):
    return el.Capacitor(capacitance=quantity(value, "F"))


def L(value, r=0.0):
    return el.Inductor(inductance=quantity(value, "H"), series_resistance=quantity(r, "ohm"))


def network(*branches):
    """Parts (part, node, node) between the nodes ``in``, ``out``, ``0`` and others."""
    return between({"source": (el.ACVoltageSource(amplitude="1 V", phase="90 deg"), "in", "0"),
                    "meter": (el.VoltageSensor(), "out", "0"),
                    **{f"part{k}": branch for k, branch in enumerate(branches)}})


CASES = {
    "RC low-pass": (lambda: network((R(1e3), "in", "out"), (C(1e-7), "out", "0")),
                    lambda s: 1 / (1 + 1e-4 * s), 1e-4),
    "RL high-pass": (lambda: network((R(50), "in", "out"), (L(5e-3), "out", "0")),
                     lambda s: 1e-4 * s / (1 + 1e-4 * s), 1e-4),
    "series resonance": (
        lambda: network((L(1e-3, 2.0), "in", "a"), (C(1e-6), "a", "out"), (R(8), "out", "0")),
        lambda s: 8e-6 * s / (1 + 10e-6 * s + 1e-9 * s**2), 2e-4),
    "parallel resonance": (
        lambda: network((R(100), "in", "out"), (L(1e-3), "out", "0"), (C(1e-6), "out", "0")),
        lambda s: 1e-5 * s / (1 + 1e-5 * s + 1e-9 * s**2), 2e-4),
    "Sallen-Key low-pass": (
        lambda: network((R(1e3), "in", "a"), (R(2e3), "a", "b"), (C(2e-8), "b", "0"),
                        (C(8e-8), "a", "out"), (el.OpAmp(), "b", "out", "out")),
        lambda s: 1 / (1 + 2e-8 * 3e3 * s + 1e3 * 2e3 * 2e-8 * 8e-8 * s**2), 1.2e-4),
    "multiple feedback band-pass": (
        lambda: network((R(1e3), "in", "a"), (R(1e3), "a", "0"), (C(1e-7), "a", "out"),
                        (C(1e-7), "a", "b"), (R(8e3), "b", "out"), (el.OpAmp(), "0", "b", "out")),
        lambda s: -(8e-4 * s) / (2 + 2 * 1e-4 * s + 1e-14 * 8e6 * s**2), 8e-4),
    "bridged-T notch": (
        lambda: network((C(1e-7), "in", "a"), (C(1e-7), "a", "out"), (R(500), "a", "0"),
                        (R(1e4), "in", "out")),
        lambda s: (1 + 2e-7 * 500 * s + 1e-14 * 5e6 * s**2)
        / (1 + 1e-7 * (1000 + 1e4) * s + 1e-14 * 5e6 * s**2), 1.1e-3),
    "third-order ladder": (
        lambda: network((R(50), "in", "a"), (C(2e-6), "a", "0"), (L(1e-2), "a", "out"),
                        (C(2e-6), "out", "0"), (R(50), "out", "0")),
        lambda s: 1 / (2 + s * (2 * 50 * 2e-6 + 1e-2 / 50) + s**2 * 2 * 1e-2 * 2e-6
                       + s**3 * 50 * 1e-2 * 4e-12), 4e-4)}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("frequency", [400.0, 5e3])
def test_a_circuit_answers_a_sine_as_its_transfer_function_says(name, frequency):
    build, transfer, slowest = CASES[name]
    model = build()
    model.source.frequency = quantity(frequency, "Hz")
    settled = 24 * slowest  # exp(-24) = 4e-11
    run = model.simulate(quantity(settled + 1 / frequency, "s"), rtol=1e-10)
    t = np.linspace(settled, settled + 1 / frequency, 64, endpoint=False)
    found = 2 * np.mean(values(run, "meter.V", "V", t) * np.exp(-2j * np.pi * frequency * t))
    expected = transfer(2j * np.pi * frequency)
    assert abs(found - expected) < 1e-7 * max(1, abs(expected)), (found, expected)


# -- loops of capacitors and cuts of inductors beside a diode, in all of whose states they hold ----
def test_capacitors_over_a_floating_source_with_a_diode_between_them():
    """Only resistors join the source to the ground; the diode joins the middle to it."""
    model = wired("floating", "s.p a.p q.p", "s.n b.n r.p", "a.n b.p d.p", "d.n r.n q.n g.V",
                  s=el.ACVoltageSource(amplitude="1 V", frequency=quantity(1 / (2 * np.pi), "Hz")),
                  a=el.Capacitor(capacitance="1 F"), b=el.Capacitor(capacitance="2 F"),
                  r=el.Resistor(resistance="1 ohm"), q=el.Resistor(resistance="3 ohm"),
                  d=el.Diode(model="ideal"), g=el.ElectricalReference())
    run = model.simulate("10 s", rtol=1e-9)
    # v1 + v2 = sin t; open: v1' = 2 v2', the middle at 3/4 sin t - v1 <= 0;
    # closed: v1' - 2 v2' = i = v2/1 - v1/3 >= 0
    t, v1, closed = 0.0, 0.0, False
    ends = [run[f"{p}.vc"].at(quantity(run.time.to("s").m, "s")).to("V").m for p in "ab"]
    assert np.abs(sum(ends) - np.sin(run.time.to("s").m)).max() < 1e-7

    def current(s, v):
        return np.sin(s) - v[0] - v[0] / 3

    def middle(s, v):
        return 0.75 * np.sin(s) - v[0]

    while t < 10:
        rate = (lambda s, v: [(2 * np.cos(s) + current(s, v)) / 3]) if closed else (
            lambda s, v: [2 * np.cos(s) / 3])
        over = (lambda s, v: current(s, v)) if closed else (lambda s, v: middle(s, v))
        over.terminal, over.direction = True, -1 if closed else 1
        part = solve_ivp(rate, (t, 10), [v1], events=over, rtol=1e-11, atol=1e-13)
        t, v1, closed = part.t[-1], part.y[0, -1], not closed
    assert abs(run["a.vc"].final.m - v1) < 1e-6
    assert run.energy().relative_residual < 1e-6


def test_inductors_around_a_bridge_of_resistors_carry_one_current():
    """One rate for both: the resistance of the bridge over the sum of the inductances."""
    ohms = {"r1": (1, "p", "b"), "r2": (2, "b", "q"), "r3": (3, "p", "c"), "r4": (1, "c", "q"),
            "r5": (1, "b", "c")}
    model = between({"s": (el.DCVoltageSource(voltage="10 V"), "s", "0"),
                     "d": (el.Diode(model="ideal"), "s", "a"),
                     "a": (el.Inductor(inductance="1 H"), "a", "p"),
                     "b": (el.Inductor(inductance="2 H"), "q", "0"),
                     **{name: (el.Resistor(resistance=quantity(value, "ohm")), *ends)
                        for name, (value, *ends) in ohms.items()}})
    run = model.simulate("1 s", rtol=1e-9)
    y = np.zeros((4, 4))  # nodes p, b, c, q; q at the ground
    for value, p, n in ohms.values():
        i, j = "pbcq".index(p), "pbcq".index(n)
        y[[i, j], [i, j]] += 1 / value
        y[[i, j], [j, i]] -= 1 / value
    resistance = np.linalg.inv(y[:3, :3])[0, 0]
    exact = 10 / resistance * (1 - np.exp(-resistance / 3))
    assert abs(run["b.i_L"].final.to("A").m - exact) < 1e-7
    assert run.statistics["states"] == 1


# -- large ones: a ladder, a grid with diodes ------------------------------------------------------
LADDER = {10: (-1.72605668566, -1.51060312998), 1000: (-1.81701533354, -1.70253803244)}
GRID = {99: (0.465042619, -3.05624603), 4999: (0.450747694, -3.05662805),
        5050: (0.461579868, -2.51204190), 9999: (0.443872405, -3.05687173)}  # fmt: skip


@pytest.mark.parametrize(("n", "rtol"), [(10, 1e-9), (1000, 1e-8)])
def test_a_ladder_ends_at_the_published_voltages(n, rtol):
    run = rc_ladder(n).simulate("3 ms", rtol=rtol)
    found = [run[f"capacitors[{k}].vc"].final.m for k in (n // 2 - 1, n - 1)]
    assert_allclose(found, LADDER[n], rtol=0, atol=3e-8 * 5)


def grid_by_hand(n, diodes, end):
    """Potentials of all nodes at the end; those without a capacitor by Newton's method."""
    number, size, g = np.arange(n * n), n * n, 0.01
    matrix, source = np.zeros((size, size)), np.zeros(size)
    for a in number:
        for b in ([a + 1] if a % n < n - 1 else []) + ([a + n] if a < size - n else []):
            matrix[a, a] += g
            matrix[b, b] += g
            matrix[a, b] -= g
            matrix[b, a] -= g
    source[::n] = g
    matrix[number[::n], number[::n]] += g
    even = (number // n + number % n) % 2 == 0
    diode = np.isin(number[~even], diode_nodes(n, diodes)) * 1e-12
    inner, outer = matrix[np.ix_(~even, ~even)], matrix[np.ix_(~even, even)]
    guess = np.zeros(np.sum(~even))

    def others(t, v):
        nonlocal guess
        x, wanted = guess, source[~even] * 5 * np.sin(2e3 * np.pi * t) - outer @ v
        for _ in range(100):
            e = np.exp(np.minimum(x / 0.025, 60))
            step = np.linalg.solve(inner + np.diag(diode / 0.025 * e),
                                   wanted - inner @ x - diode * (e - 1))
            share = min(1.0, 0.1 / max(np.abs(step * (diode > 0)).max(), 1e-300))
            x = x + share * step
            if share == 1 and np.abs(step).max() < 1e-13:
                break
        guess = x
        return x

    def slope(t, v):
        flow = source[even] * 5 * np.sin(2e3 * np.pi * t) - matrix[np.ix_(even, even)] @ v
        return (flow - outer.T @ others(t, v)) / 1e-9

    solved = solve_ivp(slope, (0, end), np.zeros(np.sum(even)), method="LSODA", rtol=1e-8,
                       atol=1e-10)  # fmt: skip
    found = np.zeros(size)
    found[even], found[~even] = solved.y[:, -1], others(end, solved.y[:, -1])
    return found


def test_a_grid_with_diodes_ends_where_the_program_by_hand_does():
    n, diodes, end = 6, 3, 3e-4  # a diode carries 11 mA then
    by_hand = grid_by_hand(n, diodes, end)
    run = grid_with_diodes(n, diodes).simulate(quantity(end, "s"), rtol=1e-7)
    found = [values(run, f"nodes[{k}].v", "V")[-1] for k in range(n * n)]
    assert max(run[f"junctions[{k}].i"].final.m for k in range(diodes)) > 1e-3
    assert_allclose(found, by_hand, rtol=0, atol=1e-7 * 5)


def test_steps_beside_many_junctions_are_as_long_as_accuracy_allows():
    """Down an exponential Newton's method needs a round for each thermal voltage, and stages of
    nodes that settle in nanoseconds lie volts apart."""
    pytest.importorskip("llvmlite")
    coarse, fine = (grid_with_diodes(10, 5).simulate("2 ms", rtol=rtol, method="rodas4")
                    for rtol in (1e-3, 1e-8))
    assert coarse.statistics["steps"] < 300
    times = quantity(np.linspace(0, 2e-3, 200), "s")
    for path, unit, allowed in (("nodes.v", "V", 1e-4), ("junctions.i", "A", 1e-6)):
        one, other = (run[path].at(times).to(unit).m for run in (coarse, fine))
        assert_allclose(one, other, rtol=0, atol=allowed)


@pytest.mark.slow
def test_a_grid_of_ten_thousand_nodes_ends_at_the_published_voltages():
    run = grid_with_diodes().simulate("2 ms", rtol=1e-6)
    for node, (half, end) in GRID.items():
        assert_allclose(values(run, f"nodes[{node}].v", "V", [0.5e-3, 2e-3]), [half, end], rtol=0,
                        atol=5e-6 * 5)  # fmt: skip


# -- circuits of textbooks, built as a user would --------------------------------------------------
def test_a_forward_converter_resets_its_core_through_the_third_winding():
    source, duty, period, henry = 48.0, 0.35, 10e-6, 500e-6
    m = circuit("circuit", "pulse.y switch.G", "source.p core.p reset.p1 power.p1 back.n",
                "core.n reset.n1 power.n1 switch.D", "reset.n2 back.p", "power.p2 forward.p",
                "forward.n free.n coil.p", "coil.n store.p load.p",
                "source.n switch.S reset.p2 power.n2 free.p store.n load.n ground.V",
                source=el.DCVoltageSource(voltage="48 V"), switch=el.MOSFET(),
                reset=el.IdealTransformer(ratio=1.0), power=el.IdealTransformer(ratio=2.0),
                core=el.Inductor(inductance="500 uH"), back=el.Diode(model="ideal"),
                forward=el.Diode(model="ideal"), free=el.Diode(model="ideal"),
                coil=el.Inductor(inductance="100 uH", i_L="4.2 A"),
                store=el.Capacitor(capacitance="100 uF", vc="8.4 V"),
                load=el.Resistor(resistance="2 ohm"), pulse=Pulse(period="10 us", width=duty))
    run = m.simulate("1 ms", rtol=1e-9)
    on, off = 900e-6 + duty * period * np.array([0.5, 1.0]), 900e-6 + duty * period * 1.5
    peak = source / henry * duty * period
    assert_allclose(values(run, "core.i", "A", on), [peak / 2, peak], rtol=1e-9)
    assert_allclose(values(run, "core.i", "A", [off]), peak / 2, rtol=1e-9)
    assert_allclose(values(run, "switch.v", "V", [off]), 2 * source, rtol=1e-12)
    assert_allclose(values(run, "switch.v", "V", [off + duty * period]), source, rtol=1e-9)
    t = np.linspace(0.5e-3, 1e-3, 20001)
    assert_allclose(values(run, "load.v", "V", t).mean(), source / 2 * duty, rtol=2e-3)


class SineTriangle(Component):
    """Sine-triangle modulation of one leg, by natural sampling."""

    index, phase = Parameter(0.8), Parameter("0 deg")
    y, n = Output("1"), Output("1")

    def equations(self):
        triangle = 4 * abs_(blocks.mod(time * quantity("2 kHz"), 1.0) - 0.5) - 1
        reference = self.index * sin(time * quantity("314.159265358979 1/s") + self.phase)
        yield self.y == blocks.where(reference > triangle, 1, 0)
        yield self.n == 1 - self.y


def test_an_inverter_drives_the_fundamental_of_its_reference_through_coils():
    m = circuit("circuit", "source.p bridge.P", "source.n bridge.N ground.V",
                source=el.DCVoltageSource(voltage="600 V"), bridge=el.ThreePhaseBridge())
    for k, leg in enumerate("ABC"):
        wire(m, f"modulator_{leg}.y bridge.upper_{leg}", f"modulator_{leg}.n bridge.lower_{leg}",
             f"bridge.{leg} coil_{leg}.p", f"coil_{leg}.n load_{leg}.p",
             **{f"modulator_{leg}": SineTriangle(phase=quantity(-120 * k, "deg")),
                f"coil_{leg}": el.Inductor(inductance="10 mH"),
                f"load_{leg}": el.Resistor(resistance="5 ohm")})
    wire(m, "load_A.n load_B.n load_C.n")
    run = m.simulate("60 ms", rtol=1e-9)
    t = np.linspace(40e-3, 60e-3, 20000, endpoint=False)
    w = 100 * np.pi
    fundamental = 2 * np.mean(values(run, "coil_A.i", "A", t) * np.exp(-1j * w * t))
    assert_allclose(abs(fundamental), 0.8 * 300 / abs(5 + 0.01j * w), rtol=1e-6)


class Machine(Component):
    """A synchronous machine with permanent magnets and two phases."""

    A, B, N = Port(electrical), Port(electrical), Port(electrical)
    R, C = Port(rotational), Port(rotational)
    flux, inductance, resistance = Parameter("0.1 Wb"), Parameter("5 mH"), Parameter("0.5 ohm")
    pairs = Parameter(4.0)
    a, b = Variable("A", "0 A", priority="high"), Variable("A", "0 A", priority="high")
    angle = Variable("rad", "0 rad", priority="high")
    power_dissipated, energy_stored = Variable("W"), Variable("J")

    def equations(self):
        speed, e = self.R.w - self.C.w, self.pairs * self.angle
        yield der(self.angle) == speed
        for i, port, shift in ((self.a, self.A, 0.0), (self.b, self.B, np.pi / 2)):
            yield port.i == i
            yield port.v - self.N.v == (self.resistance * i + self.inductance * der(i)
                                        - self.flux * self.pairs * speed * sin(e - shift))
        yield self.N.i == -self.a - self.b
        yield self.R.t == self.flux * self.pairs * (self.a * sin(e) - self.b * cos(e))
        yield self.C.t == -self.R.t
        yield self.power_dissipated == self.resistance * (self.a**2 + self.b**2)
        yield self.energy_stored == self.inductance * (self.a**2 + self.b**2) / 2


def test_a_machine_of_ones_own_with_shorted_terminals_brakes():
    m = circuit("circuit", "machine.A machine.B machine.N ground.V", "drive.R machine.R",
                "drive.C machine.C frame.W", machine=Machine(),
                drive=AngularVelocitySource(velocity="100 rad/s"), frame=RotationalReference())
    (finding,) = m.check()
    assert finding.problem.endswith("are connected to the same node: it is shorted there.")
    run = m.simulate("0.2 s", rtol=1e-9)
    w, impedance = 400.0, abs(0.5 + 400 * 0.005j)
    t = np.linspace(0.18, 0.2, 101)
    current = np.hypot(values(run, "machine.a", "A", t), values(run, "machine.b", "A", t))
    assert_allclose(current, 0.1 * w / impedance, rtol=1e-6)
    assert_allclose(values(run, "machine.R.t", "N*m", t), 0.5 * (0.1 * w / impedance) ** 2 / 100,
                    rtol=1e-6)
    assert run.energy().relative_residual < 1e-6


def test_a_class_e_amplifier_follows_its_two_matrix_exponentials():
    choke, shunt, coil, series, load = 100e-6, 2.9e-9, 10e-6, 3.3e-9, 8.0
    model = circuit("class E", "drive.y switch.vT", "supply.p choke.p",
                    "choke.n shunt.p switch.p coil.p", "coil.n series.p", "series.n load.p",
                    "supply.n shunt.n switch.n load.n ground.V",
                    supply=el.DCVoltageSource(voltage="12 V"), load=el.Resistor(resistance="8 ohm"),
                    choke=el.Inductor(inductance=quantity(choke, "H")),
                    coil=el.Inductor(inductance=quantity(coil, "H")),
                    shunt=el.Capacitor(capacitance=quantity(shunt, "F")),
                    series=el.Capacitor(capacitance=quantity(series, "F")),
                    switch=el.Switch(closed_resistance="50 mohm", open_conductance="1e-8 S"),
                    drive=Pulse(period="1 us", width=0.5))
    run = model.simulate("30 us", rtol=1e-8)

    def half(conductance):
        """Of a period, on (i of the choke, v of the shunt, i of the coil, v in series, 1)."""
        matrix = np.zeros((5, 5))
        matrix[0, [1, 4]] = -1 / choke, 12 / choke
        matrix[1, :3] = 1 / shunt, -conductance / shunt, -1 / shunt
        matrix[2, 1:4] = 1 / coil, -load / coil, -1 / coil
        matrix[3, 2] = 1 / series
        return expm(matrix * 0.5e-6)

    x = np.linalg.matrix_power(half(1e-8) @ half(20.0), 30) @ [0, 0, 0, 0, 1]
    got = [run[name].final.to_base_units().m
           for name in ("choke.i", "shunt.vc", "coil.i", "series.vc")]
    assert_allclose(got, x[:4], rtol=1e-6, atol=1e-6)
