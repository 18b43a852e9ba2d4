"""Linear circuits, random circuits and random networks against closed forms and pencils."""

import warnings

import numpy as np
import pytest
from benches import wire, wired
from benches.random_cases import random_cases
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eig, eigvals, solve

import library.electrical as el
import library.translational as tr
from blocks import Model, Target, quantity, sin
from library.translational import Damper, FreeEnd, Inerter, Mass, Reference, Rod, Spring

METHODS = ["DOP853", "Radau"]
TIGHT = {"rtol": 1e-10}


def read(run, path, unit):
    return run.time.to("s").magnitude, run[path].to(unit).magnitude


def oscillator(m, k, d, x0, v0):
    return wired("oscillator", "body.M spring.R damper.R", "spring.C damper.C ground.V",
                 body=tr.Mass(mass=quantity(m, "kg"), v=quantity(v0, "m/s")),
                 spring=tr.Spring(stiffness=quantity(k, "N/m"), x=quantity(x0, "m")),
                 damper=tr.Damper(damping=quantity(d, "N*s/m")), ground=tr.Reference())


def damped(m, k, d, x0, v0, t):
    """Position of a free oscillator in the regime its numbers put it in."""
    omega, decay = np.sqrt(k / m), d / (2 * m)
    if np.isclose(decay, omega, rtol=1e-14):
        return np.exp(-decay * t) * (x0 + (v0 + decay * x0) * t)
    if decay < omega:
        w = np.sqrt(omega**2 - decay**2)
        return np.exp(-decay * t) * (x0 * np.cos(w * t) + (v0 + decay * x0) / w * np.sin(w * t))
    w = np.sqrt(decay**2 - omega**2)
    return np.exp(-decay * t) * (x0 * np.cosh(w * t) + (v0 + decay * x0) / w * np.sinh(w * t))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [0.0, 0.4, 4.0, 8.0, 40.0])  # critical: 2 sqrt(8·2) = 8
def test_an_oscillator_moves_as_its_regime_says(d, method):
    run = oscillator(2.0, 8.0, d, 0.1, -0.3).simulate("4 s", method=method, **TIGHT)
    t, x = read(run, "spring.x", "m")
    assert_allclose(x, damped(2.0, 8.0, d, 0.1, -0.3, t), atol=1e-8)


def test_a_mass_on_a_moving_base_follows_the_transfer_function():
    # start on the periodic solution, so that there is no transient
    m, k, d, w = 2.0, 50.0, 3.0, 4.0
    phasor = (k + 1j * w * d) / (k - m * w**2 + 1j * w * d)  # x of the body per y of the base
    model = Model("base")
    model.base = tr.PositionSource(position=lambda t: quantity("2 cm") * sin(quantity(w,
                                                                                      "rad/s") * t))
    body0, speed0 = 0.02 * phasor.imag, 0.02 * w * phasor.real
    wire(model, "base.R strut.R", "strut.C body.M", "base.C ground.V",
         body=tr.Mass(mass=quantity(m, "kg"), v=quantity(speed0, "m/s")),
         strut=tr.SpringDamper(stiffness=quantity(k, "N/m"), damping=quantity(d, "N*s/m"),
                               x=quantity(-body0, "m")), ground=tr.Reference())
    run = model.simulate("5 s", method="DOP853", **TIGHT)
    t, v = read(run, "body.v", "m/s")
    assert_allclose(v, (0.02 * 1j * w * phasor * np.exp(1j * w * t)).imag, atol=1e-8)
    _, x = read(run, "strut.x", "m")
    assert_allclose(x, (0.02 * (1 - phasor) * np.exp(1j * w * t)).imag, atol=1e-8)


def test_an_oscillator_at_resonance_grows_linearly():
    model = oscillator(2.0, 32.0, 0.0, 0.0, 0.0)
    wire(model, "push.R body.M", "push.C ground.V",
         push=tr.ForceSource(force=lambda t: quantity("6 N") * sin(quantity("4 rad/s") * t)))
    t, x = read(model.simulate("5 s", method="DOP853", **TIGHT), "spring.x", "m")
    assert_allclose(x, 6 / (2 * 2 * 4) * (np.sin(4 * t) / 4 - t * np.cos(4 * t)), atol=1e-8)


# -- random circuits --------------------------------------------------------------------------
OMEGA = 2.0


class Circuit:
    """A model, and its nodal equations E dx/dt + A x = b sin(OMEGA t), side by side."""

    def __init__(self, rng, nodes):
        self.nodes = nodes
        self.edges = []  # kind, value, nodes a, b (and c, d); node 0 is ground
        tree = [(int(rng.integers(k)), k) for k in range(1, nodes)]
        extra = [tuple(rng.choice(nodes, 2, replace=False).tolist()) for _ in range(nodes)]
        for k, (a, b) in enumerate(tree + extra):
            kind = "V" if k == 0 else rng.choice(list("RRCCLL"))
            self.edges.append((kind, float(rng.uniform(0.3, 3)), int(a), int(b)))
        self.edges += [("R", float(rng.uniform(0.5, 2)), k, 0) for k in range(1, nodes, 2)]
        self.edges.append(("I", 1.0, 0, int(rng.integers(1, nodes))))
        p, n = (int(k) for k in rng.choice(nodes, 2, replace=False))
        q, m = (int(k) for k in rng.choice(nodes, 2, replace=False))
        self.edges.append(("T", float(rng.uniform(0.5, 2)), p, n, q, m))

    def equations(self):
        """E, A and b over the potentials of all nodes and the currents of V, L and T."""
        size = self.nodes + len([e for e in self.edges if e[0] in "VLT"])
        E, A, b = np.zeros((size, size)), np.zeros((size, size)), np.zeros(size)
        row = self.nodes
        for kind, value, p, n, *other in self.edges:
            ends = np.zeros(size)
            ends[p] += 1
            ends[n] -= 1
            if kind == "R":
                A += np.outer(ends, ends) / value
            elif kind == "C":
                E += np.outer(ends, ends) * value
            elif kind == "I":
                b -= ends * value
            else:
                A[:, row] += ends
                if kind == "T":
                    second = np.zeros(size)
                    second[other[0]] += 1
                    second[other[1]] -= 1
                    A[:, row] -= second * value  # i2 = ratio i1 comes out of p2
                    A[row] = ends - value * second
                else:
                    A[row] = ends
                    E[row, row] = -value if kind == "L" else 0
                    b[row] = value if kind == "V" else 0
                row += 1
        E[0], A[0], b[0] = 0, np.eye(size)[0], 0  # ground
        return E, A, b

    def slowest(self):
        """The rate at which the last of a start dies out; 0 where something stays for good."""
        E, A, _ = self.equations()
        if np.linalg.matrix_rank(E * 1.37 + A) < len(A):
            return 0.0
        found = eigvals(-A, E)
        found = found[np.isfinite(found) & (np.abs(found) < 1e6)]
        return -found.real.max() if len(found) else 0.0

    def model(self):
        model = wired("random circuit", "ground.V nodes[0].V",
                      ground=el.ElectricalReference(), nodes=el.OpenCircuit(count=self.nodes))
        frequency = quantity(OMEGA / 2 / np.pi, "Hz")
        for k, (kind, value, *ends) in enumerate(self.edges):
            part = model.add(f"{kind}{k}", {
                "R": lambda v: el.Resistor(resistance=quantity(v, "ohm")),
                "C": lambda v: el.Capacitor(capacitance=quantity(v, "F")),
                "L": lambda v: el.Inductor(inductance=quantity(v, "H")),
                "V": lambda v: el.ACVoltageSource(amplitude=quantity(v, "V"), frequency=frequency),
                "I": lambda v: el.ACCurrentSource(amplitude=quantity(v, "A"), frequency=frequency),
                "T": lambda v: el.IdealTransformer(ratio=v),
            }[kind](value))  # fmt: skip
            ports = ("p1", "n1", "p2", "n2") if kind == "T" else ("p", "n")
            for port, node in zip(ports, ends, strict=True):
                model.connect(getattr(part, port), model.nodes[node].V)
        return model


def circuits(seed, nodes):
    """The first random circuit in which every start dies out within reasonable time."""
    rng = np.random.default_rng(seed)
    while True:
        found = Circuit(rng, nodes)
        if found.slowest() > 0.08:
            return found


# those beyond 100 have loops of capacitors that do not touch the ground
@pytest.mark.parametrize("seed", [0, 4, 141, 178, *(
    pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 119, 161))])
def test_a_random_circuit_settles_to_its_complex_nodal_equations(seed):
    circuit = circuits(seed, nodes=int(np.random.default_rng(seed).integers(4, 13)))
    E, A, b = circuit.equations()
    phasors = solve(1j * OMEGA * E + A, b)[: circuit.nodes]
    model = circuit.model()
    settled = 22 / circuit.slowest()  # exp(-22) = 3e-10
    run = model.simulate(quantity(settled + 2 * np.pi / OMEGA, "s"), rtol=1e-9)
    t = settled + np.linspace(0, 2 * np.pi / OMEGA, 16, endpoint=False)
    wave = np.array([run[f"nodes[{k}].v"].at(quantity(t, "s")).m for k in range(circuit.nodes)])
    found = 2j * np.mean(wave * np.exp(-1j * OMEGA * t), axis=1)
    assert np.abs(found - phasors).max() < 1e-7 * max(1, np.abs(phasors).max())
    assert run.statistics["states"] <= sum(e[0] in "LC" for e in circuit.edges)
    assert run.energy().relative_residual < 1e-6


# -- random networks --------------------------------------------------------------------------
END = 0.6  # s
FEW = settings(max_examples=12, deadline=None, derandomize=True,
               suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
PLAIN = ["spring", "damper"]


@st.composite
def networks(draw, masses, kinds):
    """Nodes (mass in kg, 0 for none; velocity) and links (kind, R, C, coefficient, x).

    The links are a tree rooted at the ground, which is -1, with some more across it.
    """
    tenths = st.integers(-10, 10).map(lambda i: i / 10)
    size = draw(st.integers(2, 5))
    nodes = [(draw(st.sampled_from(masses)), draw(tenths)) for _ in range(size)]
    links = []

    def link(a, b, kinds):
        kind = draw(st.sampled_from(kinds))
        ends = (a, b) if draw(st.booleans()) else (b, a)
        links.append((kind, *ends, draw(st.integers(1, 40)) / 4, draw(tenths)))

    for i in range(size):
        link(i, draw(st.integers(-1, i - 1)), kinds)
    for _ in range(draw(st.integers(0, 2))):
        a = draw(st.integers(0, size - 1))
        link(a, draw(st.sampled_from([i for i in range(-1, size) if i != a])), PLAIN)
    return nodes, links


def pencil(nodes, links):
    """E and A of E z' = A z, with z the velocities, deformations and rod forces."""
    n, extra = len(nodes), [k for k, link in enumerate(links) if link[0] in ("spring", "rod")]
    e, a = np.zeros((2, n + len(extra), n + len(extra)))
    e[:n, :n] = np.diag([m for m, _ in nodes])
    for k, (kind, r, c, strength, _) in enumerate(links):
        b = np.zeros(n)
        for i, sign in ((r, 1), (c, -1)):
            if i >= 0:
                b[i] += sign
        if kind == "damper":
            a[:n, :n] -= strength * np.outer(b, b)
        elif kind == "inerter":
            e[:n, :n] += strength * np.outer(b, b)
        else:
            row = n + extra.index(k)
            a[:n, row] = -b * (strength if kind == "spring" else 1.0)
            a[row, :n] = b
            e[row, row] = 1.0 if kind == "spring" else 0.0
    return e, a


def build(nodes, links, order=None, prefix=""):
    """The model; ``order`` permutes all its parts and joints, and ``prefix`` renames them."""
    parts = {f"{prefix}ground": Reference()}
    for i, (m, v) in enumerate(nodes):
        parts[f"{prefix}n{i}"] = (
            Mass(mass=quantity(m, "kg"), v=Target(quantity(v, "m/s"), "low")) if m else FreeEnd())
    joints = []
    for k, (kind, r, c, strength, x) in enumerate(links):
        parts[f"{prefix}l{k}"] = {
            "spring": Spring(stiffness=quantity(strength, "N/m"), x=Target(f"{x} m", "low")),
            "damper": Damper(damping=quantity(strength, "N*s/m")),
            "inerter": Inerter(inertance=quantity(strength, "kg")),
            "rod": Rod(),
        }[kind]
        for port, i in (("R", r), ("C", c)):
            node = "ground.V" if i < 0 else f"n{i}.M" if nodes[i][0] else f"n{i}.V"
            joints.append(f"{prefix}l{k}.{port} {prefix}{node}")
    names = list(parts)
    if order is not None:
        order.shuffle(names)
        order.shuffle(joints)
    return wired("network", *joints, **{name: parts[name] for name in names})


def unknowns(run, nodes, links, side, prefix=""):
    paths = [f"{prefix}n{i}.v" for i in range(len(nodes))]
    paths += [f"{prefix}l{k}.{'x' if link[0] == 'spring' else 'f'}"
              for k, link in enumerate(links) if link[0] in ("spring", "rod")]  # fmt: skip
    return np.array([getattr(run[p], side).to_base_units().magnitude for p in paths])


@random_cases(networks([0.0, 0.5, 1.0, 2.5], [*PLAIN, *PLAIN, "inerter", "rod"]), few=12, many=40)
def test_a_random_network_with_massless_nodes_moves_as_its_pencil_says(network):
    e, a = pencil(*network)
    shift = np.random.default_rng(1).uniform(0.5, 1.5)
    assume(np.linalg.cond(a - shift * e) < 1e10)  # else forces are indeterminate
    (alpha, beta), modes = eig(a, e, homogeneous_eigvals=True)
    finite = np.abs(beta) > 1e-9 * np.abs(alpha)
    rates, modes = alpha[finite] / beta[finite], modes[:, finite]
    assume(modes.shape[1] == 0 or np.linalg.cond(modes) < 1e4)  # else a Jordan block
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = build(*network).simulate(quantity(END, "s"), rtol=1e-10, method="Radau")
    start, end = (unknowns(run, *network, side) for side in ("initial", "final"))
    weights = np.linalg.lstsq(modes, start.astype(complex), rcond=None)[0]
    assert_allclose((modes @ weights).real, start, atol=1e-9)  # consistent start
    assert_allclose((modes @ (weights * np.exp(rates * END))).real, end, atol=1e-7)


@FEW
@given(networks([0.5, 1.0, 2.5], PLAIN), st.randoms(use_true_random=False))
def test_names_and_order_of_components_do_not_matter(network, order):
    one, other = (build(*network, *more).simulate(quantity(END, "s"), method="rk4", step="5 ms")
                  for more in ((), (order, "other_")))
    one, other = (unknowns(run, *network, "final", prefix)
                  for run, prefix in ((one, ""), (other, "other_")))
    assert_allclose(one, other, rtol=0, atol=1e-12 * max(1.0, np.abs(one).max()))


MASSES = ["kg", "g", "t", "lb", "mg"]
STIFFNESSES = ["N/m", "N/mm", "kN/m", "lbf/inch", "kg/s^2"]
VELOCITIES = ["m/s", "mm/s", "km/hour", "mile/hour", "inch/s"]


@FEW
@given(st.sampled_from(MASSES), st.sampled_from(STIFFNESSES), st.sampled_from(VELOCITIES))
def test_units_of_parameters_do_not_matter(mass, stiffness, velocity):
    def run(m, k, v):
        model = wired("oscillator", "body.M spring.R", "spring.C ground.V",
                      body=Mass(mass=quantity("2 kg").to(m), v=quantity("1 m/s").to(v)),
                      spring=Spring(stiffness=quantity("8 N/m").to(k)), ground=Reference())
        return model.simulate("1 s", method="rk4", step="10 ms")

    plain = run("kg", "N/m", "m/s")["spring.x"].to("m").magnitude
    other = run(mass, stiffness, velocity)["spring.x"].to("m").magnitude
    assert_allclose(other, plain, rtol=1e-12, atol=1e-12)
