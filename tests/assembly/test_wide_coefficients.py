"""Loops whose coefficients differ by orders of magnitude keep their digits.

Along a ladder that is solved from its end, every rung multiplies what rounding leaves by the ratio
of what is in series to what is across; solved by its nodes, nothing grows.
"""

from fractions import Fraction

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import library.electrical as el
from blocks import Model, quantity
from library.signal import Constant, DiscreteStateSpace, Gain, Rounding, UnitDelay
from library.translational import Damper, Mass, Reference, VelocitySource


def ladder(n, along, across):
    """10 V, n resistors along and n to ground; behind them a capacitor that is charged slowly."""
    return wired("ladder", "source.n across.n store.n ground.V", "source.p along[0].p",
                 "along[1:].p along[:-1].n across[:-1].p", "along[-1].n across[-1].p last.p",
                 "last.n store.p",
                 ground=el.ElectricalReference(), source=el.DCVoltageSource(voltage="10 V"),
                 along=el.Resistor(count=n, resistance=quantity(along, "ohm")),
                 across=el.Resistor(count=n, resistance=quantity(across, "ohm")),
                 last=el.Resistor(resistance="1 ohm"), store=el.Capacitor(capacitance="1 uF"))


def nodes(n, along, across):
    """Their steady voltages, by the sum of currents at every node."""
    g = 1 / np.broadcast_to(along, n)
    matrix = np.diag(g + np.append(g[1:], 0) + 1 / across) - np.diag(g[1:], 1) - np.diag(g[1:], -1)
    return np.linalg.solve(matrix, 10 * g[0] * np.eye(n)[0])


def found(model, n):
    run = model.simulate("1 s")
    return np.array([run[f"across[{i}].v"].final.m for i in range(n)])


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize(("along", "across"), [(1, 2), (100, 1e-3), (1e4, 1e-4), (1e-3, 100)])
def test_a_ladder_has_the_voltages_that_its_nodes_ask_for(n, along, across):
    assert_allclose(found(ladder(n, along, across), n), nodes(n, along, across),
                    rtol=1e-12, atol=1e-14)


def test_dampers_of_unlike_size_share_a_velocity_as_conductances_do():
    n, along, across = 6, 1e-2, 1e4  # N*s/m: the nodes hardly move
    model = wired("dampers", "pull.C across.C ground.V", "pull.R along[0].R",
                  "along[1:].R along[:-1].C across[:-1].R", "along[-1].C across[-1].R film.R",
                  "film.C body.M",
                  ground=Reference(), pull=VelocitySource(velocity="10 m/s"),
                  along=Damper(count=n, damping=quantity(along, "N*s/m")),
                  across=Damper(count=n, damping=quantity(across, "N*s/m")), body=Mass(mass="1 kg"),
                  film=Damper(damping="1 N*s/m"))
    run = model.simulate("100 s", rtol=1e-10)
    speeds = [run[f"across[{i}].R.v"].final.m for i in range(n)]
    assert_allclose(speeds, nodes(n, 1 / along, 1 / across), rtol=1e-12, atol=1e-14)


def test_other_values_than_those_a_model_was_compiled_with_keep_their_digits():
    model = ladder(5, 1, 2)
    assert_allclose(found(model, 5), nodes(5, 1, 2), rtol=1e-12)
    model.along.resistance, model.across.resistance = "10 kohm", "0.1 mohm"
    assert_allclose(found(model, 5), nodes(5, 1e4, 1e-4), rtol=1e-12, atol=1e-14)


def test_a_resistance_that_becomes_zero_is_a_wire():
    model = ladder(5, 1, 2)
    found(model, 5)
    model.along.resistance = quantity([0, 1, 1, 1, 1], "ohm")
    assert_allclose(found(model, 5)[1:], nodes(5, [1e-12, 1, 1, 1, 1], 2)[1:], rtol=1e-9)


def test_a_value_far_from_the_one_before_is_taken_beside_parts_without_parameters():
    """y = u beside a loop of sampled parts, which decide on the order of solving."""
    model = wired("sampled", "source.y copy.u", "state.y1 hold.u", "hold.y steps.u",
                  "steps.y state.u1",
                  source=Constant(value=0.132), copy=Gain(gain=1.0), hold=UnitDelay(),
                  steps=Rounding(step=15.8), state=DiscreteStateSpace())
    for value in (0.132, 0.2, 1e9, 0.0, -1.0):
        model.source.value = value
        assert model.simulate("20 ms")["copy.y"].final.m == value


def test_a_sweep_over_decades_keeps_the_digits_of_every_run():
    values = [2, 1, 1e-2, 1e-4, 1e-6]
    study = ladder(5, 1, 2).sweep({"across.resistance": quantity(values, "ohm")}, "1 s",
                                  outputs=["final(across[4].v)"], progress=False)
    assert_allclose(study["final(across[4].v)"], [nodes(5, 1, v)[4] for v in values],
                    rtol=1e-10, atol=1e-14)


def clipper(n):
    """A ladder of resistors and diodes between a source and a capacitor."""
    return wired("clipper", "source.n diodes.n store.n ground.V", "source.p along[0].p",
                 "along[1:].p along[:-1].n diodes[:-1].p", "along[-1].n diodes[-1].p store.p",
                 ground=el.ElectricalReference(),
                 source=el.ACVoltageSource(amplitude="10 V", frequency="8 Hz"),
                 along=el.Resistor(count=n, resistance="100 ohm"),
                 diodes=el.Diode(count=n, model="exponential"),
                 store=el.Capacitor(capacitance="100 uF"))


def test_a_ladder_of_diodes_is_solved_by_its_nodes():
    n, times, model = 24, quantity(np.linspace(0.01, 0.09, 9), "s"), clipper(24)
    run = model.simulate("0.1 s", rtol=1e-6)
    exact = model.simulate("0.1 s", method="Radau", rtol=1e-9)
    voltages = np.array([run[f"diodes[{i}].v"].at(times).m for i in range(n)])
    along = -np.diff(voltages, axis=0, prepend=run["source.v"].at(times).m[None]) / 100
    assert_allclose(along, [run[f"along[{i}].i"].at(times).m for i in range(n)], atol=1e-8)
    given = [run[f"diodes[{i}].i"].at(times).m for i in range(n)]
    assert_allclose(along[:-1] - along[1:], given[:-1], atol=1e-8)
    assert_allclose(run["store.v"].at(times).m, exact["store.v"].at(times).m, atol=2e-4)


def exact(matrix, right):
    """The solution in rational numbers."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            factor = rows[k][i] / rows[i][i]
            if k != i and factor != 0:
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [rows[i][n] / rows[i][i] for i in range(n)]


@pytest.mark.parametrize("seed", [3, 4, 7, 12, 13, 15, 39, 44])
def test_a_random_network_of_resistances_over_decades_is_that_of_rational_numbers(seed):
    random = np.random.default_rng(seed)
    n, source, ground, store = int(random.integers(2, 12)), -3, -2, -1
    edges = [(i, int(random.integers(0, i)) if i else source) for i in range(n)]
    edges += [tuple(random.choice(n + 3, 2, replace=False) - 3) for _ in range(n + 2)]
    edges += [(n - 1, ground), (int(random.integers(0, n)), store)]
    edges += [(i, ground) for i in range(n) if sum(i in edge for edge in edges) < 2]
    sizes = 10 ** random.uniform(-6, 6, len(edges))
    model = Model("net")
    model.ground, model.source = el.ElectricalReference(), el.DCVoltageSource(voltage="10 V")
    model.store = el.Capacitor(capacitance="1 F", vc="0 V")
    model.pieces = el.Resistor(count=len(edges), resistance=quantity(sizes, "ohm"))
    ends = {k: [] for k in range(-3, n)}
    ends[source] += [model.source.p]
    ends[ground] += [model.source.n, model.ground.V, model.store.n]
    ends[store] += [model.store.p]
    matrix = [[Fraction(0)] * n for _ in range(n)]
    right = [Fraction(0)] * n
    for k, ((a, b), size) in enumerate(zip(edges, sizes, strict=True)):
        ends[a].append(model.pieces[k].p)
        ends[b].append(model.pieces[k].n)
        for here, there in ((a, b), (b, a)):
            if here >= 0:
                matrix[here][here] += 1 / Fraction(size)
                if there >= 0:
                    matrix[here][there] -= 1 / Fraction(size)
                elif there == source:
                    right[here] += 10 / Fraction(size)
    for ports in ends.values():
        model.connect(*ports)
    inner = exact(matrix, right)
    at = {**dict(enumerate(inner)), source: Fraction(10), ground: Fraction(0), store: Fraction(0)}
    voltages = [at[a] - at[b] for a, b in edges]
    currents = np.array([float(v / Fraction(r)) for v, r in zip(voltages, sizes, strict=True)])
    run, start = model.simulate("1e-30 s"), quantity(0.0, "s")
    assert_allclose(run["pieces.v"].at(start).m, [float(v) for v in voltages], rtol=0, atol=1e-10)
    assert_allclose(run["pieces.i"].at(start).m, currents, rtol=0,
                    atol=1e-6 * np.abs(currents).max())
