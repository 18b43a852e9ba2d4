"""Random networks: they move as a matrix pencil says, and names, order and units do not matter.

Those with massless nodes, rigid rods and inerters are E z' = A z with a singular E:
velocities of nodes, deformations of springs and forces of rods in z. Their motion is a sum
of exponentials of the finite eigenvalues of the pencil. The start has to lie in the span of
their eigenvectors, and everything later follows from it.
"""

import warnings

import numpy as np
from benches import wired
from benches.random_cases import random_cases
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eig

from blocks import Target, quantity
from library.translational import Damper, FreeEnd, Inerter, Mass, Reference, Rod, Spring

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
