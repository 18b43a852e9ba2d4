"""Networks with ideal diodes and switches in machine code: against closed forms."""

import numpy as np
import pytest
from benches import wire, wired
from benches.electrical import buck, circuit
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import library.electrical as el
from blocks import quantity
from blocks.native.matrices import sparse_lists
from blocks.nonsmooth.modes import kept_modes
from library.signal import Pulse

L, C, SOURCE, PERIOD, DUTY = 100e-6, 100e-6, 24.0, 20e-6, 0.4


def rectifier():
    """A bridge of ideal diodes behind a resistor, onto a capacitor."""
    model = circuit(source=el.ACVoltageSource(amplitude="17 V", frequency="50 Hz"),
                    inner=el.Resistor(resistance="0.1 ohm"), bridge=el.FullBridge(devices="diode"),
                    store=el.Capacitor(capacitance="1 mF"), load=el.Resistor(resistance="100 ohm"))
    wire(model, "source.p inner.p", "inner.n bridge.A", "source.n bridge.B",
         "bridge.P store.p load.p", "bridge.N store.n load.n ground.V")
    return model


def instants(run):
    """Different times of events that change who carries a current."""
    return np.unique([e.time for e in run.events if e.time > 0 and e.component != "pulse"])


def exact_step(a, b, x, dt):
    """x(dt) of x' = a x + b."""
    values, vectors = np.linalg.eig(np.block([[a, b[:, None]], [np.zeros((1, 3))]]))
    whole = (vectors * np.exp(values * dt)) @ np.linalg.inv(vectors)
    return (whole @ np.append(x, 1.0)).real[:2]


@pytest.mark.parametrize(("switch", "diode", "closed", "forward", "conducts", "rtol"), [
    ("ideal", "ideal", 0, 0, 0, 1e-10), ("resistances", "ideal", 0.01, 0, 0, 1e-8),
    ("ideal", "piecewise linear", 0, 0.6, 0.3, 1e-8)])  # leaks are left out
def test_a_buck_converter_follows_its_map_and_is_searched_for_at_the_start_alone(
        switch, diode, closed, forward, conducts, rtol, searches):
    run = buck(2.0, switch, diode).simulate("4 ms", rtol=1e-11)
    a = np.array([[0, -1 / L], [1 / C, -1 / (C * 2.0)]])
    x, exact = np.zeros(2), []
    for _ in range(200):  # at this load, and from rest, the current never comes to zero
        x = exact_step(a - np.diag([closed / L, 0]), np.array([SOURCE / L, 0.0]), x, DUTY * PERIOD)
        exact.append(x)
        x = exact_step(a - np.diag([conducts / L, 0]), np.array([-forward / L, 0.0]), x,
                       (1 - DUTY) * PERIOD)
    at = quantity((np.arange(200) + DUTY) * PERIOD, "s")
    found = [run[path].at(at).magnitude for path in ("coil.i", "store.vc")]
    assert_allclose(np.transpose(found), exact, rtol=rtol)
    assert not any(t > 0 for t in searches)
    assert run.energy().relative_residual < 1e-9


@pytest.mark.parametrize("build", [rectifier, lambda: matrix(3, 3)])
def test_a_run_meets_more_modes_than_can_be_kept(build, monkeypatch):
    wanted = build().simulate("60 ms", rtol=1e-10)
    monkeypatch.setattr(kept_modes, "MOST_MODES", 0)  # no more than what is needed at one event
    found = build().simulate("60 ms", rtol=1e-10)
    assert len(instants(found)) == len(instants(wanted)) > 10
    assert_allclose(instants(found), instants(wanted), rtol=0, atol=1e-11)


class Bent(el.TwoPort):
    """v = 1 ohm (i + i^3 / A^2)."""

    def equations(self):
        yield self.v == self.i * quantity("1 ohm") + self.i**3 * quantity("1 ohm/A^2")


def test_an_ideal_diode_opens_where_the_current_through_an_inductor_and_a_bent_resistance_ends():
    model = wired("rectifier", "source.p diode.p", "diode.n resistance.p", "resistance.n coil.p",
                  "coil.n source.n ground.V",
                  source=el.ACVoltageSource(amplitude="2 V", frequency="50 Hz"),
                  diode=el.Diode(model="ideal"), resistance=Bent(),
                  coil=el.Inductor(inductance="10 mH"), ground=el.ElectricalReference())
    run = model.simulate("35 ms", rtol=1e-10)

    def slope(t, i):
        return (2 * np.sin(100 * np.pi * t) - i - i**3) / 0.01

    def ends(t, i):
        return i[0] if t > 1e-3 else 1.0

    ends.terminal = True
    exact = solve_ivp(slope, (0, 0.02), [0.0], method="DOP853", rtol=1e-12, atol=1e-14, events=ends)
    off = exact.t_events[0][0]
    assert [event.mode for event in run.events] == ["open", "closed", "open"]
    assert_allclose([event.time for event in run.events], [off, 0.02, 0.02 + off], rtol=1e-8)


def short_circuit(resistance=0.5, load=2.0, inductance=0.05):
    """Mains behind a resistance and a bridge; its coil drives all four diodes at once."""
    model = circuit(mains=el.ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                    cable=el.Resistor(resistance=quantity(resistance, "ohm")),
                    load=el.Resistor(resistance=quantity(load, "ohm")),
                    coil=el.Inductor(inductance=quantity(inductance, "H")),
                    **{name: el.Diode(model="ideal") for name in ("up", "down", "rise", "fall")})
    wire(model, "mains.p cable.p", "cable.n up.p down.n", "mains.n ground.V rise.p fall.n",
         "up.n rise.n load.p", "load.n coil.p", "coil.n down.p fall.p")
    return model


def test_diodes_that_share_a_current_in_any_way_run_in_machine_code(searches):
    """While all four conduct, the mains are shorted: only sums of their currents are determined."""
    model, (r, load, henry), end = short_circuit(), (0.5, 2.0, 0.05), 0.1
    run = model.simulate(quantity(end, "s"), rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    assert len(searches) <= 24  # each way of sharing once, not at every one of 36 events
    assert len([t for t in searches if t > 0.06]) == 0

    def slope(t, i):
        return (np.maximum(abs(10 * np.sin(100 * np.pi * t)) - r * i, 0.0) - load * i) / henry

    exact = solve_ivp(slope, (0, end), [0.0], rtol=1e-9, atol=1e-11, max_step=5e-5,
                      dense_output=True)
    t = np.linspace(0, end, 80)[1:-1]
    i = exact.sol(t)[0]
    current = {name: run[f"{name}.i"].at(quantity(t, "s")).to("A").m
               for name in ("coil", "up", "down", "rise", "fall")}
    assert_allclose(current["coil"], i, atol=1e-6)
    voltage = 10 * np.sin(100 * np.pi * t)
    drawn = np.where(np.abs(voltage) > r * i, np.sign(voltage) * i, voltage / r)
    for name, share in (("up", i + drawn), ("rise", i - drawn), ("fall", i + drawn),
                        ("down", i - drawn)):  # as even as it can be
        assert_allclose(current[name], share / 2, atol=3e-6)


def matrix(rows, columns):
    """A diode from every one of some sources to every one of some capacitors with a load."""
    model = circuit(**{f"diode{i}{j}": el.Diode(model="ideal")
                       for i in range(rows) for j in range(columns)})
    for j in range(columns):
        wire(model, " ".join([f"load{j}.p store{j}.p", *(f"diode{i}{j}.n" for i in range(rows))]),
             f"load{j}.n store{j}.n ground.V", **{
                 f"store{j}": el.Capacitor(capacitance="100 uF"),
                 f"load{j}": el.Resistor(resistance=quantity(10 + j, "ohm"))})
    for i in range(rows):
        wire(model, f"mains{i}.p cable{i}.p", f"mains{i}.n ground.V",
             " ".join([f"cable{i}.n", *(f"diode{i}{j}.p" for j in range(columns))]), **{
                 f"mains{i}": el.ACVoltageSource(amplitude=quantity(10 + i, "V"), frequency="50 Hz",
                                                 phase=quantity(2 * np.pi * i / rows, "rad")),
                 f"cable{i}": el.Resistor(resistance=quantity(1 + 0.1 * i, "ohm"))})
    return model


def test_every_diode_of_a_matrix_obeys_its_law():
    rows = columns = 3
    run = matrix(rows, columns).simulate("20 ms", rtol=1e-8)
    assert "stretches in Python" not in run.statistics
    assert len(run.events) > 10
    assert run.energy().relative_residual < 1e-7
    t = quantity(np.linspace(0, 20e-3, 40)[1:-1], "s")
    for i, j in np.ndindex(rows, columns):
        current, voltage = run[f"diode{i}{j}.i"].at(t).m, run[f"diode{i}{j}.v"].at(t).m
        assert current.min() > -1e-6
        assert voltage.max() < 1e-6
        assert np.abs(current * voltage).max() < 1e-6


def test_rectifiers_that_feel_each_other_nowhere_charge_as_alone():
    n, model = 6, circuit()
    for k in range(n):
        wire(model, f"mains{k}.p cable{k}.p", f"cable{k}.n diode{k}.p",
             f"diode{k}.n store{k}.p load{k}.p", f"mains{k}.n store{k}.n load{k}.n ground.V",
             **{f"mains{k}": el.ACVoltageSource(amplitude=quantity(10 + k, "V"), frequency="50 Hz"),
                f"cable{k}": el.Resistor(resistance="1 ohm"),
                f"diode{k}": el.Diode(model="ideal"), f"load{k}": el.Resistor(resistance="50 ohm"),
                f"store{k}": el.Capacitor(capacitance="100 uF")})
    run = model.simulate("20 ms", rtol=1e-8)

    def slope(t, v, amplitude):
        current = np.maximum(amplitude * np.sin(100 * np.pi * t) - v, 0.0) / 1.0
        return (current - v / 50.0) / 100e-6

    for k in (0, n - 1):
        exact = solve_ivp(slope, (0, 20e-3), [0.0], args=(10.0 + k,), rtol=1e-9, atol=1e-10,
                          max_step=2e-5)
        assert_allclose(run[f"store{k}.v"].final.to("V").m, exact.y[0, -1], atol=1e-5)


# -- decided part by part ---------------------------------------------------------------------
STORE, R, START = 200e-6, 0.1, 12.0
FORWARD, CONDUCTS = 0.6, 0.3  # V and ohm of the piecewise linear diode


def side_by_side(kind, phases, diode="ideal", load=R):
    """Switches at shifted instants, diodes and coils between one source and one capacitor."""
    m = circuit(f"{phases} {kind}s", "ground.V source.n store.n load.n", "store.p load.p",
                source=el.DCVoltageSource(voltage=quantity(SOURCE, "V")),
                store=el.Capacitor(capacitance=quantity(STORE, "F"), v=quantity(START, "V")),
                load=el.Resistor(resistance=quantity(load, "ohm")))
    nets = ("source.p switch#.p", "switch#.n diode#.n coil#.p", "diode#.p ground.V",
            "coil#.n store.p") if kind == "buck" else (
        "source.p coil#.p", "coil#.n switch#.p diode#.p", "switch#.n ground.V", "diode#.n store.p")
    for k in range(phases):
        wire(m, *(net.replace("#", str(k)) for net in (*nets, "pulse#.y switch#.vT")), **{
            f"switch{k}": el.Switch(model="ideal"), f"diode{k}": el.Diode(model=diode),
            f"coil{k}": el.Inductor(inductance=quantity(L * (1 + k / 50), "H"), i_L="20 A"),
            f"pulse{k}": Pulse(period=quantity(PERIOD, "s"), width=DUTY,
                               start=quantity(PERIOD * k / phases, "s"))})
    return m


def by_exponentials(kind, phases, diode, end):
    """Currents and voltage at the end, where no current ceases."""
    instants = [0.0, *(PERIOD * (k / phases + share + turn) for k in range(phases)
                       for share in (0.0, DUTY) for turn in range(round(end / PERIOD))), end]
    instants = np.unique(np.round([t for t in instants if t <= end], 15))
    coils = L * (1 + np.arange(phases) / 50)
    x = np.append(np.full(phases, 20.0), [START, 1.0])
    for t0, t1 in zip(instants[:-1], instants[1:], strict=True):
        since = ((t0 + t1) / 2 - PERIOD * np.arange(phases) / phases)
        closed = (since > 0) & (since % PERIOD < DUTY * PERIOD)
        a = np.zeros((phases + 2, phases + 2))
        a[phases, phases] = -1 / (R * STORE)
        for k in range(phases):
            feeds = 1.0 if kind == "buck" else float(not closed[k])
            drives = SOURCE if kind == "boost" or closed[k] else 0.0
            if diode != "ideal" and not closed[k]:
                drives, a[k, k] = -FORWARD, -CONDUCTS / coils[k]
            a[k, phases], a[phases, k] = -feeds / coils[k], feeds / STORE
            a[k, -1] = drives / coils[k]
        x = expm(a * (t1 - t0)) @ x
    return x[:-1]


@pytest.mark.parametrize(("kind", "diode"), [("buck", "piecewise linear"), ("boost", "ideal")])
def test_phases_on_one_capacitor_are_searched_for_one_by_one(kind, diode, searches):
    phases, end = 7, 5 * PERIOD  # 14 ideal elements, but for diodes with resistance
    run = side_by_side(kind, phases, diode).simulate(quantity(end, "s"), rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    found = [run[f"coil{k}.i"].final.to("A").m for k in range(phases)]
    exact = by_exponentials(kind, phases, diode, end)
    assert exact[:-1].min() > 1, "no current ceases"
    assert_allclose([*found, run["store.v"].final.to("V").m], exact, rtol=2e-7)
    assert len(searches) <= 2 * phases + 2, "as often as a phase has modes, and at the start"


def test_phases_whose_currents_cease_are_searched_for_a_few_times_each(searches):
    # together they are in ever new modes
    phases = 8
    m = side_by_side("boost", phases, load=20.0)
    for k in range(phases):
        getattr(m, f"coil{k}").i_L = "0 A"
    m.store.v = "60 V"
    run = m.simulate("0.4 ms")
    assert "stretches in Python" not in run.statistics
    ceased = [e for e in run.events if e.component.startswith("diode") and e.mode == "open"]
    assert len(ceased) > 15 * phases
    assert len(searches) <= 6 * phases
    for k in range(phases):
        current = run[f"diode{k}.i"].to("A").m
        assert current.min() > -1e-6
        # from nothing up to V d T / L, each time
        assert current.max() == pytest.approx(SOURCE * DUTY * PERIOD / (L * (1 + k / 50)), rel=1e-6)
    assert run.energy().relative_residual < 1e-6


def test_diodes_that_a_capacitor_ties_at_once_are_joined():
    """The largest of fourteen sines, each behind a diode alone, drives one capacitor: what a diode
    carries then follows from the slope of its voltage, and so from what all others carry."""
    n, small, load = 14, 1e-6, 10.0
    m = circuit("star", "store.p load.p", "store.n load.n ground.V",
                store=el.Capacitor(capacitance=quantity(small, "F"), v="10 V"),
                load=el.Resistor(resistance=quantity(load, "ohm")))
    for k in range(n):
        wire(m, f"mains{k}.p diode{k}.p", f"diode{k}.n store.p", f"mains{k}.n ground.V", **{
            f"diode{k}": el.Diode(model="ideal"), f"mains{k}": el.ACVoltageSource(
                amplitude="10 V", frequency="50 Hz", phase=quantity(90 - 360 * k / n, "deg"))})
    run = m.simulate("10 ms", rtol=1e-8)
    assert "stretches in Python" not in run.statistics
    t = np.linspace(0.1e-3, 9.9e-3, 100)
    angle = 2 * np.pi * (50 * t[:, None] - np.arange(n) / n)
    at = quantity(t, "s")
    assert_allclose(run["store.v"].at(at).to("V").m, 10 * np.cos(angle).max(axis=1), rtol=1e-7)
    carries = np.cos(angle).argmax(axis=1)
    current = [run[f"diode{k}.i"].at(at).to("A").m for k in range(n)]
    phi = angle[np.arange(len(t)), carries]
    exact = 10 * np.cos(phi) / load - small * 10 * 2 * np.pi * 50 * np.sin(phi)
    assert_allclose(np.array(current)[carries, np.arange(len(t))], exact, rtol=1e-6)


def test_diodes_at_the_nodes_of_a_ladder_take_a_sparse_matrix():
    n = 60
    model = circuit(source=el.ACVoltageSource(amplitude="10 V", frequency="1 kHz"),
                    rungs=el.Resistor(count=n, resistance="10 ohm"),
                    stores=el.Capacitor(count=n, capacitance="1 uF"),
                    diodes=el.Diode(count=n, model="ideal"))
    model.connect(model.source.p, model.rungs[0].p)
    model.connect(model.rungs[1:].p, model.stores[:-1].p)
    model.connect(model.rungs.n, model.stores.p, model.diodes.p)
    model.connect(model.source.n, model.stores.n, model.diodes.n, model.ground.V)
    run = model.simulate("1 ms", method="rodas4", rtol=1e-8)
    a = 1e5 * (np.eye(n, k=1) + np.eye(n, k=-1) - 2 * np.eye(n))
    a[-1, -1] = -1e5  # all is held at zero for half a period

    def slope(t, v):
        return a @ v + 1e6 * np.sin(2e3 * np.pi * t) * (np.arange(n) == 0)

    expected = solve_ivp(slope, (5e-4, 1e-3), np.zeros(n), "Radau", rtol=1e-9, atol=1e-12, jac=a)
    assert_allclose(run["stores.v"].final.m, expected.y[:, -1], atol=1e-5)
    assert sparse_lists(model.compile()) is not None  # as the run has found
