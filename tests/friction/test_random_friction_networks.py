"""Random networks of dry friction: the laws hold, energy is kept, order does not matter.

Trees, loops, parallel and redundant friction, ground connections, springs and dampers
between, loads that come and go, and strengths that tie.
"""

import numpy as np
from benches import wired
from benches.friction import dry, missing_energy, push, values
from benches.random_cases import random_cases
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from blocks import quantity, sin
from library.translational import Damper, Mass, Reference, Spring

END = 4.0  # s


@st.composite
def networks(draw, largest=4, most=6):
    """Bodies (mass, velocity), frictions (R, C, kinetic, static), links and loads."""
    size = draw(st.integers(1, largest))
    ends = st.lists(st.integers(-1, size - 1), min_size=2, max_size=2, unique=True)
    bodies = [(draw(st.sampled_from([0.5, 1.0, 2.0])), draw(st.sampled_from([0.0, 0.0, 1.0, -0.5])))
              for _ in range(size)]  # fmt: skip
    frictions = []
    for _ in range(draw(st.integers(1, most))):
        kinetic = draw(st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0]))
        frictions.append((*draw(ends), kinetic, kinetic * draw(st.sampled_from([1.0, 1.0, 1.5]))))
    kinds, sizes = st.sampled_from(["spring", "damper"]), st.sampled_from([1.0, 4.0, 10.0])
    count = draw(st.integers(0, 4))
    links = [(draw(kinds), *draw(ends), draw(sizes)) for _ in range(count)]
    loads = [(draw(st.sampled_from([0.0, 1.0, 3.0, 5.0])), draw(st.sampled_from([0.7, 1.3, 2.0])),
              draw(st.sampled_from([0.0, 1.0, 2.0]))) for _ in range(size)]  # fmt: skip
    return bodies, frictions, links, loads


def build(network, order=None):
    """The model; with a generator, its components are added in another order."""
    bodies, frictions, links, loads = network
    shuffled = (lambda n: range(n)) if order is None else order.permutation
    model = wired("network", ground=Reference())
    joints = {-1: model.ground.V}
    for i in shuffled(len(bodies)):
        mass, v = bodies[i]
        body = Mass(mass=quantity(mass, "kg"), v=quantity(v, "m/s"))
        joints[int(i)] = model.add(f"b{i}", body).M
    parts = [(f"f{k}", *f[:2], dry(*f[2:])) for k, f in enumerate(frictions)]
    for k, (kind, r, c, strength) in enumerate(links):
        link = (Spring(stiffness=quantity(strength, "N/m")) if kind == "spring"
                else Damper(damping=quantity(strength / 4, "N*s/m")))  # fmt: skip
        parts.append((f"l{k}", r, c, link))
    for i, (size, w, phase) in enumerate(loads):
        if size:
            parts.append((f"p{i}", i, -1, push(lambda t, s=size, w=w, p=phase: s * sin(w * t + p))))
    for k in shuffled(len(parts)):
        name, r, c, component = parts[k]
        part = model.add(name, component)
        model.connect(joints[r], part.R)
        model.connect(part.C, joints[c])
    return model


def simulate(network, order=None, **options):
    return build(network, order).simulate(
        quantity(END, "s"), **({"rtol": 1e-9, "method": "DOP853", "max_step": "0.1 s"} | options))


def quiet_times(run):
    """Times away from events."""
    t = np.linspace(0, END, 48)[1:-1]
    events = np.array([e.time for e in run.events] or [-1.0])
    t = t[np.abs(t[:, None] - events).min(axis=1) > 1e-6]
    assert len(t) > 30
    return t


def fulfil_the_law(run, frictions):
    t = quiet_times(run)
    count = range(len(frictions))
    v = values(run, [f"f{k}.v" for k in count], t)
    f = values(run, [f"f{k}.f" for k in count], t)
    size = max(1.0, np.abs(v).max(initial=0.0))
    for k, (_, _, kinetic, static) in enumerate(frictions):
        rests = np.abs(v[k]) <= 1e-10 * size
        assert np.abs(f[k, rests]).max(initial=0.0) <= static + 1e-8
        assert_allclose(f[k, ~rests], kinetic * np.sign(v[k, ~rests]), rtol=0, atol=1e-8)


@random_cases(networks(), few=12, many=40)
def test_every_friction_of_a_random_network_obeys_its_law(network):
    run = simulate(network)
    fulfil_the_law(run, network[1])
    assert missing_energy(run) < 1e-8
    assert min(t.dissipated for t in run.recording.energy_terms()) >= -1e-12


@random_cases(networks(), st.integers(0, 1000), few=5, many=15)
def test_the_motion_of_a_random_network_does_not_depend_on_the_order_of_its_parts(network, seed):
    one, other = simulate(network), simulate(network, np.random.default_rng(seed))
    t = quiet_times(one)
    paths = [f"b{i}.v" for i in range(len(network[0]))]
    assert_allclose(values(other, paths, t), values(one, paths, t), rtol=0, atol=1e-6)


@random_cases(networks(), st.sampled_from(["Radau", "RK45"]), few=4, many=8)
def test_random_networks_move_alike_with_every_method(network, method):
    one, other = simulate(network), simulate(network, method=method)
    t = quiet_times(one)
    paths = [f"b{i}.v" for i in range(len(network[0]))]
    fulfil_the_law(other, network[1])
    assert_allclose(values(other, paths, t), values(one, paths, t), rtol=0, atol=1e-5)


@st.composite
def chains(draw):
    """Bodies in a row; between neighbours two frictions or a spring in series, no mass."""
    count = draw(st.integers(1, 2))
    bodies = [(draw(st.sampled_from([0.5, 1.0])), draw(st.sampled_from([0.0, 1.0, -0.5])))
              for _ in range(count)]  # fmt: skip
    strength = st.sampled_from([0.4, 1.0, 1.7])
    kind = st.sampled_from(["friction", "spring", "damper"])
    series = [(draw(kind), draw(strength), draw(strength)) for _ in bodies]
    sizes, rates = st.sampled_from([0.0, 2.0, 3.5]), st.sampled_from([0.8, 1.7])
    loads = [(draw(sizes), draw(rates)) for _ in bodies]
    return bodies, series, loads


@random_cases(chains(), few=5, many=15)
def test_frictions_at_massless_nodes_obey_their_laws_and_balance(chain):
    bodies, series, loads = chain
    model = wired("chain", ground=Reference())
    before = model.ground.V
    for i, ((mass, v), (kind, first, second)) in enumerate(zip(bodies, series, strict=True)):
        body = model.add(f"b{i}", Mass(mass=quantity(mass, "kg"), v=quantity(v, "m/s")))
        a = model.add(f"f{i}", dry(first))
        if kind == "friction":
            other = dry(second * 1.1)
        elif kind == "spring":
            other = Spring(stiffness=quantity(4 * second, "N/m"))
        else:
            other = Damper(damping=quantity(second, "N*s/m"))
        b = model.add(f"s{i}", other)
        model.connect(body.M, a.R)
        model.connect(a.C, b.R)
        model.connect(b.C, before)
        load = model.add(f"p{i}", push(lambda t, s=loads[i][0], w=loads[i][1]: s * sin(w * t)))
        model.connect(load.R, body.M)
        model.connect(load.C, model.ground.V)
        before = body.M
    run = model.simulate(quantity(END, "s"), rtol=1e-9, max_step="0.1 s")
    t = quiet_times(run)
    for i, (kind, first, second) in enumerate(series):
        bounds = {f"f{i}": first} | ({f"s{i}": second * 1.1} if kind == "friction" else {})
        for name, bound in bounds.items():
            v, f = values(run, [f"{name}.v", f"{name}.f"], t)
            rests = np.abs(v) <= 1e-9
            assert np.abs(f[rests]).max(initial=0.0) <= bound + 1e-8
            assert_allclose(f[~rests], bound * np.sign(v[~rests]), rtol=0, atol=1e-8)
        inner, outer = values(run, [f"f{i}.f", f"s{i}.f"], t)
        assert_allclose(inner, outer, rtol=0, atol=1e-8)  # the node between has no mass
    assert missing_energy(run) < 1e-7
