"""Large loops in closed form, and loops whose coefficients differ by orders of magnitude."""

from fractions import Fraction

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import library.electrical as el
from blocks import Model, quantity
from blocks.exceptions import ParameterError
from blocks.system.newton import MANY
from library.signal import Constant, DiscreteStateSpace, Gain, Rounding, UnitDelay
from library.translational import Damper, FreeEnd, Mass, Reference, Spring, VelocitySource

N = 40
SPEED, DAMPING, RATE = 0.2, 3.0, 100.0  # m/s, N*s/m of the first row, 1/s: stiffness by damping


def _sheet() -> tuple[Model, float]:
    """N x N nodes joined by dampers and springs; left edge pulled, right edge held.

    Each row is stiffer than the one before. All nodes of a column move alike, columns
    share the pull's speed evenly, and nothing is carried across the rows.
    """
    number = np.arange(N * N).reshape(N, N)
    along = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    across = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    of_row = DAMPING * (1 + np.arange(N) / 7)
    damping = np.concatenate([np.repeat(of_row, N - 1), np.full(len(across), 2.0)])
    ends = np.concatenate([along, across])
    model = Model("sheet")
    model.ground, model.pull = Reference(), VelocitySource(velocity=f"{SPEED} m/s")
    model.nodes = FreeEnd(count=N * N)
    model.dampers = Damper(count=len(ends), damping=quantity(damping, "N*s/m"))
    model.springs = Spring(count=len(ends), stiffness=quantity(RATE * damping, "N/m"))
    for parts in (model.springs, model.dampers):
        model.connect(parts.R, model.nodes[ends[:, 0]].V)
        model.connect(parts.C, model.nodes[ends[:, 1]].V)
    model.connect(model.pull.R, model.nodes[number[:, 0]].V)
    model.connect(model.pull.C, model.ground.V, model.nodes[number[:, -1]].V)
    return model, float(of_row.sum())


def _force(total: float, t: float) -> float:
    """Of all rows together, with damping ``total`` per element."""
    return total * SPEED / (N - 1) * (1 + RATE * t)


def test_a_pulled_sheet_carries_the_sum_of_its_rows_and_nothing_across():
    model, total = _sheet()
    system = model.compile()
    assert system.linear and system.nz > MANY
    result = model.simulate("20 ms", rtol=1e-9)
    assert abs(result["pull.f"].final.to("N").magnitude) == pytest.approx(
        _force(total, 0.02), rel=1e-7)
    pulled = SPEED / (N - 1)
    assert result["dampers[0].f"].final.to("N").magnitude == pytest.approx(DAMPING * pulled)
    last = f"dampers[{N * (N - 1) - 1}].f"  # of the last row
    assert result[last].final.to("N").magnitude == pytest.approx(
        DAMPING * (1 + (N - 1) / 7) * pulled)
    across = result[f"dampers[{N * (N - 1) + 5}].f"].final.to("N").magnitude
    assert abs(across) < 1e-9 * DAMPING * pulled
    # where dampers and springs stand in one ratio, that is the only rate there is
    assert "fastest rate 100 1/s" in result.statistics["why"]


def test_a_long_pull_of_a_sheet_is_stiff_and_solved_with_sparse_matrices():
    model, total = _sheet()
    result = model.simulate("40 s", rtol=1e-6)
    assert result.statistics["method"] == "rodas4"
    assert abs(result["pull.f"].final.to("N").magnitude) == pytest.approx(
        _force(total, 40.0), rel=1e-6)


def test_a_method_that_needs_a_full_matrix_too_large_is_refused_with_its_size(monkeypatch):
    model, total = _sheet()
    monkeypatch.setattr("blocks.simulation.method_choice.HOPELESS", 1e6)
    with pytest.raises(ParameterError, match=r"3,120 x 3,120 entries \(0\.0779 GB\)") as caught:
        model.simulate("20 ms", method="Radau")
    assert caught.value.data["method"] == "Radau"
    assert "'rodas4'" in str(caught.value)
    model.simulate("1 ms", method="rodas4")
    run = model.simulate("20 ms", step="1 ms")  # as machine code does with steps of fixed length
    assert abs(run["pull.f"].final.to("N").magnitude) == pytest.approx(
        _force(total, 0.02), rel=1e-6)


# -- coefficients that differ by orders of magnitude ------------------------------------------
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
