"""What must not matter for a result: names, order and units of random networks."""

import numpy as np
from benches import wired
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.translational import Damper, Mass, Reference, Spring

FEW = settings(max_examples=12, deadline=None, derandomize=True,
               suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
END = 0.7  # s


@st.composite
def networks(draw):
    """Masses in a tree rooted at the ground, with some more springs and dampers across it.

    A network is a list of masses (kg, m/s) and a list of links
    (kind, R, C, coefficient, deformation); -1 is the ground.
    """
    tenths = st.integers(-10, 10).map(lambda i: i / 10)
    size = draw(st.integers(1, 6))
    bodies = [(draw(st.integers(5, 50)) / 10, draw(tenths)) for _ in range(size)]
    links = []

    def link(a, b):
        kind = draw(st.sampled_from(["spring", "damper"]))
        ends = (a, b) if draw(st.booleans()) else (b, a)
        strength = draw(st.integers(1, 80)) if kind == "spring" else draw(st.integers(1, 30)) / 10
        links.append((kind, *ends, float(strength), draw(tenths) if kind == "spring" else 0.0))

    for i in range(size):
        link(i, draw(st.integers(-1, i - 1)))
    for _ in range(draw(st.integers(0, 3))):
        a = draw(st.integers(0, size - 1))
        others = [i for i in range(-1, size) if i != a]
        link(a, draw(st.sampled_from(others)))
    return bodies, links


def build(bodies, links, order=None, prefix=""):
    """The model; ``order`` permutes all its parts and ``prefix`` renames them."""
    model = Model("network")
    parts = {f"{prefix}m{i}": Mass(mass=quantity(m, "kg"), v=quantity(v, "m/s"))
             for i, (m, v) in enumerate(bodies)}  # fmt: skip
    for k, (kind, _, _, strength, x) in enumerate(links):
        parts[f"{prefix}l{k}"] = (
            Spring(stiffness=quantity(strength, "N/m"), x=quantity(x, "m")) if kind == "spring"
            else Damper(damping=quantity(strength, "N*s/m"))
        )  # fmt: skip
    parts[f"{prefix}ground"] = Reference()
    names = list(parts)
    if order is not None:
        order.shuffle(names)
    for name in names:
        model.add(name, parts[name])

    def node(i):
        return parts[f"{prefix}ground"].V if i < 0 else parts[f"{prefix}m{i}"].M

    joints = [(parts[f"{prefix}l{k}"], r, c) for k, (_, r, c, _, _) in enumerate(links)]
    if order is not None:
        order.shuffle(joints)
    for part, r, c in joints:
        model.connect(node(r), part.R)
        model.connect(part.C, node(c))
    return model


def final(run, network, prefix=""):
    bodies, links = network
    v = [run[f"{prefix}m{i}.v"].final.to("m/s").magnitude for i in range(len(bodies))]
    x = [run[f"{prefix}l{k}.x"].final.to("m").magnitude
         for k, link in enumerate(links) if link[0] == "spring"]  # fmt: skip
    return np.array(v), np.array(x)


@FEW
@given(networks(), st.randoms(use_true_random=False))
def test_names_and_order_of_components_do_not_matter(network, order):
    setting = {"method": "rk4", "step": "5 ms"}
    one = final(build(*network).simulate(quantity(END, "s"), **setting), network)
    other_model = build(*network, order=order, prefix="other_")
    other = final(other_model.simulate(quantity(END, "s"), **setting), network, "other_")
    size = max(1.0, *(np.max(np.abs(z), initial=0) for z in one))
    for a, b in zip(one, other, strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-12 * size)


MASSES = ["kg", "g", "t", "lb", "mg"]
STIFFNESSES = ["N/m", "N/mm", "kN/m", "lbf/inch", "kg/s^2"]
VELOCITIES = ["m/s", "mm/s", "km/hour", "mile/hour", "inch/s"]


@FEW
@given(st.floats(1e-3, 1e3), st.sampled_from(MASSES), st.sampled_from(MASSES))
def test_a_value_comes_back_from_any_unit(number, first, second):
    given_ = quantity(number, first)
    body = Mass(mass=given_.to(second))
    assert_allclose(body.mass.to(first).magnitude, number, rtol=1e-12)
    assert_allclose(body.mass.to("kg").magnitude, given_.to("kg").magnitude, rtol=1e-12)


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
