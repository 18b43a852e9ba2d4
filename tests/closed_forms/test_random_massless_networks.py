"""Random networks with massless nodes, rigid rods and inerters against a matrix pencil.

Such a network is E z' = A z with a singular E: velocities of nodes, deformations of
springs and forces of rods in z. Its motion is a sum of exponentials of the finite
eigenvalues of the pencil. The start has to lie in the span of their eigenvectors, and
everything later follows from it.
"""

import warnings

import numpy as np
from benches import wired
from hypothesis import assume
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_cases import random_cases
from scipy.linalg import eig

from blocks import Target, quantity
from library.translational import Damper, FreeEnd, Inerter, Mass, Reference, Rod, Spring

END = 0.6  # s
KINDS = ["spring", "spring", "damper", "damper", "inerter", "rod"]


@st.composite
def networks(draw):
    """Nodes (mass in kg, 0 for none; velocity) and links (kind, R, C, coefficient, x)."""
    tenths = st.integers(-10, 10).map(lambda i: i / 10)
    size = draw(st.integers(2, 5))
    nodes = [(draw(st.sampled_from([0.0, 0.5, 1.0, 2.5])), draw(tenths)) for _ in range(size)]
    links = []

    def link(a, b, kinds):
        kind = draw(st.sampled_from(kinds))
        ends = (a, b) if draw(st.booleans()) else (b, a)
        links.append((kind, *ends, draw(st.integers(1, 40)) / 4, draw(tenths)))

    for i in range(size):
        link(i, draw(st.integers(-1, i - 1)), KINDS)
    for _ in range(draw(st.integers(0, 2))):
        a = draw(st.integers(0, size - 1))
        link(a, draw(st.sampled_from([i for i in range(-1, size) if i != a])), ["spring", "damper"])
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


def build(nodes, links):
    model = wired("network", ground=Reference())
    joints = {-1: model.ground.V}
    for i, (m, v) in enumerate(nodes):
        body = Mass(mass=quantity(m, "kg"), v=Target(quantity(v, "m/s"), "low")) if m else FreeEnd()
        part = model.add(f"n{i}", body)
        joints[i] = part.M if m else part.V
    for k, (kind, r, c, strength, x) in enumerate(links):
        made = {
            "spring": Spring(stiffness=quantity(strength, "N/m"), x=Target(f"{x} m", "low")),
            "damper": Damper(damping=quantity(strength, "N*s/m")),
            "inerter": Inerter(inertance=quantity(strength, "kg")),
            "rod": Rod(),
        }
        part = model.add(f"l{k}", made[kind])
        model.connect(joints[r], part.R)
        model.connect(part.C, joints[c])
    return model


def unknowns(run, nodes, links, side):
    paths = [f"n{i}.v" for i in range(len(nodes))]
    paths += [f"l{k}.{'x' if link[0] == 'spring' else 'f'}"
              for k, link in enumerate(links) if link[0] in ("spring", "rod")]  # fmt: skip
    return np.array([getattr(run[p], side).to_base_units().magnitude for p in paths])


@random_cases(networks(), few=12, many=40)
def test_a_random_network_with_massless_nodes_moves_as_its_pencil_says(network):
    e, a = pencil(*network)
    rng = np.random.default_rng(1)
    shift = rng.uniform(0.5, 1.5)
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
