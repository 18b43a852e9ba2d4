"""Sources, sensors, transformers, coupled windings and amplifiers: laws, directions, power."""

import numpy as np
import pytest
from benches import few, meets, seconds, signal, values, wire
from benches.electrical import TIGHT, across, circuit, ring
from numpy.testing import assert_allclose
from scipy.linalg import expm

import library.electrical as el
from blocks import Model, ParameterError, StructureError, quantity, sin, where
from blocks.exceptions import AngleFrequencyError


def loaded(source, first="p", second="n"):
    """A source with a resistor of 2 ohm from its first port to its second, which is grounded."""
    return circuit("circuit", f"source.{first} load.p", f"source.{second} load.n ground.V",
                   source=source, load=el.Resistor(resistance="2 ohm"))


# -- voltages and currents -------------------------------------------------------------------------
@pytest.mark.parametrize(("source", "ports", "current"), [
    (el.DCVoltageSource(voltage="6 V"), "pn", -3), (el.DCCurrentSource(current="3 A"), "np", 3),
    (el.ControlledCurrentSource(current="3 A"), ("head", "tail"), 3)])
def test_a_constant_source_delivers_in_the_direction_of_its_ports(source, ports, current):
    run = loaded(source, *ports).simulate("1 ms")
    read = [run[p].final.m for p in ("source.i", "source.power_supplied", "load.i", "load.v")]
    assert read == [current, 18, 3, 6]


@pytest.mark.parametrize(("source", "ports"), [
    (el.ACVoltageSource(amplitude="3 V", frequency="50 Hz", phase="30 deg"), "pn"),
    (el.ACCurrentSource(amplitude="1.5 A", frequency="50 Hz", phase="30 deg"), "np"),
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_a_sine_has_peak_frequency_and_phase(source, ports):
    run = loaded(source, *ports).simulate("40 ms", max_step="1 ms")
    assert_allclose(values(run, "load.v", "V"), 3 * np.sin(100 * np.pi * seconds(run) + np.pi / 6),
                    atol=1e-13)  # fmt: skip


def test_a_voltage_from_a_signal_a_function_and_a_table():
    points = el.table(["0 s", "1 s", "1 s", "3 s"], ["0 V", "4 V", "1 V", "3 V"])
    run = loaded(el.ControlledVoltageSource(voltage=points)).simulate("3 s")
    assert_allclose(values(run, "load.v", "V", [0.5, 2.0, 3.0]), [2, 2, 3], rtol=1e-14)
    run = loaded(el.ControlledVoltageSource(voltage=lambda t: quantity("2 V/s")
                                            * t)).simulate("3 s")
    assert_allclose(values(run, "load.v", "V", [0.5, 3.0]), [1, 6], rtol=1e-14)
    model = loaded(el.ControlledVoltageSource())
    wire(model, "signal.y source.vT",
         signal=signal("V", lambda t: quantity("2 V") * sin(quantity("1 rad/s") * t)))
    run = model.simulate("2 s")
    assert_allclose(values(run, "load.v", "V"), 2 * np.sin(seconds(run)), rtol=1e-13)
    model = loaded(el.ControlledCurrentSource(), "head", "tail")
    wire(model, "signal.y source.iT", signal=signal("A", "-1 A"))
    assert model.simulate("1 ms")["load.v"].final.m == -2


def test_a_frequency_is_given_in_turns_and_a_constant_source_refuses_a_function_of_time():
    with pytest.raises(AngleFrequencyError, match="is a frequency in Hz"):
        el.ACVoltageSource(frequency="100 rad/s")
    with pytest.raises(ParameterError, match="sources whose value may vary"):
        el.DCVoltageSource(voltage=lambda t: quantity("1 V/s") * t)


# -- dependent sources: gain, what the control draws, power ----------------------------------------
def dependent(source, output):
    """A control loop of 4 V over 3 ohm (and the control), and an output with a load of 2 ohm."""
    return circuit("circuit", "drive.p series.p", "series.n source.p1",
                   "drive.n source.n1 ground.V", f"source.{output[0]} load.p",
                   f"source.{output[1]} load.n ground.V", source=source,
                   drive=el.DCVoltageSource(voltage="4 V"), series=el.Resistor(resistance="3 ohm"),
                   load=el.Resistor(resistance="2 ohm")).simulate("1 ms")


@pytest.mark.parametrize(("source", "output", "current", "power"), [
    (el.VoltageControlledVoltageSource(gain=5.0), ("p2", "n2"), 10, 200),
    (el.VoltageControlledCurrentSource(gain="0.5 S"), ("head", "tail"), 2, 8),
    (el.CurrentControlledVoltageSource(gain="6 ohm"), ("p2", "n2"), 4, 32),
    (el.CurrentControlledCurrentSource(gain=-3.0), ("head", "tail"), -4, 32),
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_a_dependent_source_follows_its_control_and_supplies_the_power(source, output, current,
                                                                       power):
    run = dependent(source, output)
    meets(run, {"load.i": (current, 1e-15), "source.power_supplied": (power, 1e-15)})
    draws = isinstance(source,
                       (el.CurrentControlledVoltageSource, el.CurrentControlledCurrentSource))
    assert_allclose(run["drive.power_supplied"].final.m, 16 / 3 if draws else 0, rtol=1e-15)
    assert run.energy().relative_residual < 1e-12


# -- sensors ---------------------------------------------------------------------------------------
def test_meters_read_voltage_current_and_power_without_a_trace():
    model = circuit(source=el.DCVoltageSource(voltage="12 V"), a=el.Resistor(resistance="1 ohm"),
                    load=el.Resistor(resistance="5 ohm"), volt=el.VoltageSensor(),
                    ampere=el.CurrentSensor(), watt=el.PowerSensor())
    wire(model, "source.p ampere.p", "ampere.n a.p", "a.n watt.pc", "watt.nc watt.pv load.p volt.n",
         "load.n watt.nv volt.p source.n ground.V")
    run = model.simulate("1 ms")
    read = [run[p].final.m for p in ("volt.V", "ampere.I", "watt.P")]
    assert_allclose(read, [-10, 2, 20], rtol=1e-15)
    assert_allclose(run["load.power_dissipated"].final.m, 20, rtol=1e-15)
    assert run.energy().relative_residual < 1e-12


def test_a_source_over_nothing_but_a_meter():
    run = across(el.VoltageSensor(), "7 V").simulate("1 ms")
    assert run["part.V"].final.m == 7 and run["source.power_supplied"].final.m == 0


def fed(coupling, source, load, series="2 ohm"):
    """A source and a resistor on side 1, a load with a reference of its own on side 2."""
    return circuit("circuit", "source.p series.p", "series.n coupling.p1",
                   "source.n coupling.n1 ground.V", "coupling.p2 load.p",
                   "coupling.n2 load.n other.V", source=source,
                   series=el.Resistor(resistance=series),
                   coupling=coupling, load=load, other=el.ElectricalReference())


@pytest.mark.parametrize("ratio", [3.0, -0.25])
def test_a_transformer_shows_the_load_times_the_ratio_squared(ratio):
    run = fed(el.IdealTransformer(ratio=ratio), el.DCVoltageSource(voltage="10 V"),
              el.Resistor(resistance="4 ohm")).simulate("1 ms")
    i1 = 10 / (2 + 4 * ratio**2)
    found = [run[f"coupling.{n}"].final.m for n in ("i1", "i2", "v1", "v2")]
    assert_allclose(found, [i1, ratio * i1, 4 * ratio**2 * i1, 4 * ratio * i1], rtol=1e-14)
    assert_allclose(run["load.i"].final.m, ratio * i1, rtol=1e-14)  # out of p2, into the load


def test_a_gyrator_makes_an_inductor_of_a_capacitor():
    source = {"amplitude": "3 V", "frequency": "40 Hz", "phase": "90 deg"}
    t = np.linspace(0, 0.05, 101)
    run = fed(el.Gyrator(conductance="0.05 S"), el.ACVoltageSource(**source),
              el.Capacitor(capacitance="200 uF")).simulate("50 ms", **TIGHT)
    other = ring(source=el.ACVoltageSource(**source), series=el.Resistor(resistance="2 ohm"),
                 coil=el.Inductor(inductance="80 mH")).simulate("50 ms", **TIGHT)  # C/g**2
    assert_allclose(values(run, "coupling.i1", "A", t), values(other, "coil.i", "A", t), atol=1e-11)


# -- coupled windings ------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [0.9, -0.5])
def test_coupled_windings_follow_their_inductance_matrix(k):
    l1, l2 = 10.0, 0.1
    m = k * np.sqrt(l1 * l2)
    run = fed(el.MutualInductor(coupling=k, i1="1 A"), el.DCVoltageSource(voltage="5 V"),
              el.Resistor(resistance="3 ohm")).simulate("2 s", **TIGHT)
    # L di/dt = (5 - 2 i1, -3 i2), i2 into p2
    inverse = np.linalg.inv([[l1, m], [m, l2]])
    system = np.zeros((3, 3))
    system[:2, :2], system[:2, 2] = -inverse @ np.diag([2.0, 3.0]), inverse @ [5.0, 0]
    t = np.linspace(0, 2, 21)
    expected = np.array([(expm(system * s) @ [1, 0, 1])[:2] for s in t])
    assert_allclose(values(run, "coupling.i1", "A", t), expected[:, 0], atol=1e-9)
    assert_allclose(values(run, "coupling.i2", "A", t), expected[:, 1], atol=1e-9)
    stored = values(run, "coupling.energy_stored", "J", t)
    assert_allclose(stored, [(i @ np.linalg.inv(inverse) @ i) / 2 for i in expected], atol=1e-8)


def test_a_perfect_coupling_has_one_state_and_the_magnetizing_inductance():
    model = fed(el.MutualInductor(leakage=False), el.DCVoltageSource(voltage="10 V"),
                el.Resistor(resistance="3 ohm"))
    assert len(model.check()) == 0
    run = model.simulate("1 s", **TIGHT)
    assert run.statistics["states"] == 1
    # seen from side 2: 10 V / 10 behind 2 ohm / 100, 0.1 H beside 3 ohm
    source, series, load, inductance = 1.0, 0.02, 3.0, 0.1
    parallel = series * load / (series + load)
    i_m = source / series * (1 - np.exp(-parallel / inductance * seconds(run)))
    assert_allclose(values(run, "coupling.i_m", "A"), i_m, atol=1e-9)
    assert_allclose(values(run, "coupling.v1", "V"), 10 * values(run, "coupling.v2", "V"),
                    atol=1e-12)  # fmt: skip


# -- amplifiers ------------------------------------------------------------------------------------
def amplifier(kind, source, feedback=None, **inputs):
    """An inverting amplifier: input resistor of 1 kohm, feedback of 10 kohm."""
    return circuit("circuit", "source.p r1.p", "r1.n amplifier.n r2.p", "r2.n amplifier.out load.p",
                   "amplifier.p load.n source.n ground.V",
                   source=source, r1=el.Resistor(resistance="1 kohm"), amplifier=kind,
                   r2=feedback or el.Resistor(resistance="10 kohm"), load=el.Resistor())


def test_an_ideal_amplifier_inverts_and_its_output_takes_any_current():
    run = amplifier(el.OpAmp(), el.DCVoltageSource(voltage="0.3 V")).simulate("1 ms")
    assert_allclose(run["amplifier.out.v"].final.m, -3, rtol=1e-15)
    assert_allclose(run["amplifier.i"].final.m, 3 + 0.3e-3, rtol=1e-14)  # into the output
    assert_allclose(run["amplifier.power_supplied"].final.m, 3 * (3 + 0.3e-3), rtol=1e-14)


def test_a_non_inverting_amplifier_loads_its_source_with_nothing():
    model = circuit(source=el.DCVoltageSource(voltage="2 V"),
                    series=el.Resistor(resistance="1 Mohm"), a=el.Resistor(resistance="1 kohm"),
                    b=el.Resistor(resistance="4 kohm"), amp=el.OpAmp(), meter=el.VoltageSensor())
    wire(model, "source.p series.p", "series.n amp.p", "amp.out b.p meter.p", "b.n a.p amp.n",
         "a.n source.n meter.n ground.V")
    assert_allclose(model.simulate("1 ms")["meter.V"].final.m, 10, rtol=1e-15)


def test_an_integrator_of_an_amplifier_and_a_capacitor():
    run = amplifier(el.OpAmp(), el.ControlledVoltageSource(voltage=lambda t: quantity("1 V")
                                                           * sin(quantity("100 rad/s") * t)),
                    feedback=el.Capacitor(capacitance="1 uF")).simulate("50 ms", **TIGHT)
    assert_allclose(values(run, "amplifier.out.v", "V"), -10 * (1 - np.cos(100 * seconds(run))),
                    atol=1e-9)  # fmt: skip


def test_a_limited_amplifier_has_a_gain_and_limits_and_a_follower_follows():
    run = amplifier(el.LimitedOpAmp(upper_voltage="12 V"),
                    el.ACVoltageSource(amplitude="2 V")).simulate("30 ms", rtol=1e-9)
    t = np.linspace(0, 0.03, 301)
    expected = np.clip(-20 * np.sin(120 * np.pi * t) / (1 + 11 / 15000), -15, 12)
    assert_allclose(values(run, "amplifier.out.v", "V", t), expected, atol=1e-9)
    model = circuit(source=el.DCVoltageSource(voltage="10 V"), amp=el.LimitedOpAmp(),
                    load=el.Resistor())
    wire(model, "source.p amp.p", "amp.n amp.out load.p", "source.n load.n ground.V")
    run = model.simulate("1 ms")
    assert_allclose(run["load.v"].final.m, 10 / (1 + 1 / 15000), rtol=1e-12)


def test_an_amplifier_makes_its_diode_a_rectifier_without_forward_voltage():
    model = circuit(source=el.ACVoltageSource(amplitude="1 V", frequency="1 kHz"),
                    amp=el.LimitedOpAmp(),
                    diode=el.Diode(model="ideal", forward_voltage="0.7 V"), load=el.Resistor())
    wire(model, "source.p amp.p", "amp.out diode.p", "diode.n amp.n load.p",
         "source.n load.n ground.V")
    run = model.simulate("1.2 ms", rtol=1e-9)
    t = np.linspace(0, 1.2e-3, 49)
    follows = (15000 * np.sin(2e3 * np.pi * t) - 0.7) / 15001
    assert_allclose(values(run, "load.v", "V", t), np.maximum(follows, 0), rtol=0, atol=1e-9)


def test_diodes_give_a_multivibrator_a_duty_of_a_quarter():
    """From one threshold to the other by R C ln 3, but for the finite gain; R by direction."""
    model = circuit(amp=el.LimitedOpAmp(gain=1e6), back=el.Resistor(resistance="10 kohm"),
                    down=el.Resistor(resistance="10 kohm"),
                    store=el.Capacitor(capacitance="100 nF", vc="0.1 V"),
                    fast=el.Resistor(resistance="10 kohm"), slow=el.Resistor(resistance="30 kohm"),
                    charges=el.Diode(model="ideal"), drains=el.Diode(model="ideal"))
    wire(model, "amp.out back.p fast.p slow.p", "back.n down.p amp.p", "fast.n charges.p",
         "slow.n drains.n", "charges.n drains.p store.p amp.n", "down.n store.n ground.V")
    turns = [e.time for e in model.simulate("20 ms", rtol=1e-9).events if e.component == "charges"]
    between = np.diff([t for k, t in enumerate(turns) if not k or t - turns[k - 1] > 1e-6])[2:]
    assert set(np.round(between / (1e-3 * np.log(3)), 4)) == {1.0, 3.0}


@pytest.mark.parametrize(("build", "part", "told"), [
    (fed, el.IdealTransformer(ratio=0), "ratio is 0, so side 1 would be shorted"),
    (fed, el.MutualInductor(coupling=1), "Say it by leakage=False"),
    (amplifier, el.LimitedOpAmp(upper_voltage="-20 V"), "The upper one must be above the lower"),
    (lambda part, *others: across(part, "1 V"), el.SaturatingInductor(inductance="0.1 H"),
     "saturated_inductance is 0.5 H and inductance 0.1 H")])
def test_parameters_that_contradict_each_other_are_named(build, part, told):
    assert told in str(build(part, el.DCVoltageSource(), el.Resistor()).check().errors[0])


# -- ideal: what acts back on the inverting input --------------------------------------------------
def followed(**parts):
    return circuit("amplifier", "source.n load.n ground.V", "amp.out load.p",
                   source=el.DCVoltageSource(voltage="1 V"), amp=el.OpAmp(), load=el.Resistor(),
                   **parts)


def codes(m):
    return [f.code for f in m.check() if f.code.startswith("network.")]


def follower():
    m = followed()
    wire(m, "source.p amp.p", "amp.out amp.n")
    return m


def inverting():
    m = followed(a=el.Resistor(), b=el.Capacitor(), hold=el.Resistor())
    wire(m, "source.p a.p", "a.n b.p hold.p amp.n", "amp.out b.n hold.n", "amp.p ground.V")
    return m


def through_a_second_one():
    """Positive around the first alone, negative with the inverting one in the way."""
    m = followed(a=el.Resistor(), b=el.Resistor(), c=el.Resistor(), second=el.OpAmp(),
                 d=el.Resistor())
    wire(m, "source.p a.p", "a.n b.p amp.p", "amp.out c.p", "c.n d.p second.n",
         "second.out d.n b.n", "amp.n second.p ground.V")
    return m


@pytest.mark.parametrize("made", [follower, inverting, through_a_second_one])
def test_negative_feedback_is_seen(made):
    assert codes(made()) == []


def test_an_amplifier_without_feedback_is_named_and_positive_feedback_alone_is_warned_of():
    m = followed(r=el.Resistor(), c=el.Capacitor())
    wire(m, "source.p r.p", "r.n c.p amp.p", "c.n amp.n ground.V")
    with pytest.raises(StructureError, match=r"^amp has no feedback: no way leads from amp.out "
                                             r"back to amp.n.* Connect amp.out to amp.n"):
        m.simulate("1 ms")
    assert codes(m) == ["network.feedback"]
    m = followed()
    wire(m, "source.p amp.p", "amp.n ground.V")  # over both inputs: no conflict of its own
    assert [f.code for f in m.check() if f.severity == "error"] == ["network.feedback"]
    m = followed(a=el.Resistor(), b=el.Resistor())
    wire(m, "source.p amp.n", "amp.out a.p", "a.n b.p amp.p", "b.n ground.V")
    assert codes(m) == ["network.positive"]


# -- limited: where the input jumps or begins beyond -----------------------------------------------
SUPPLY, GAIN = 15.0, 15000.0  # V, of the class


def schmitt(model, name, inverting_input):
    """Half of the output at the non-inverting input: it switches at 7.5 V."""
    wire(model, f"{inverting_input} {name}.n", f"{name}.out {name}_up.p",
         f"{name}_up.n {name}_down.p {name}.p", f"{name}_down.n ground.V",
         **{name: el.LimitedOpAmp(), f"{name}_up": el.Resistor(), f"{name}_down": el.Resistor()})
    return f"{name}.out"


def excess(volts, out):
    """What the class calls s, on a limit: by how much the input goes beyond it."""
    return out + (out / 2 - volts) - out / GAIN


@pytest.mark.parametrize("diode", [False, True])
@pytest.mark.parametrize("n", [1, 4])
def test_triggers_behind_each_other_follow_a_source_that_steps(n, diode):
    courses = [20.0, 0.0, -20.0, 0.0, 7.6, 7.4, -7.6]  # V, for 1 ms each
    outs = [-SUPPLY, -SUPPLY, SUPPLY, SUPPLY, -SUPPLY, -SUPPLY, SUPPLY]

    def steps(t):
        course = quantity(courses[0], "V")
        for k, volts in enumerate(courses[1:], 1):
            course = where(t >= quantity(k, "ms"), quantity(volts, "V"), course)
        return course

    model = circuit("circuit", "source.n ground.V",
                    source=el.ControlledVoltageSource(voltage=steps))
    node = "source.p"
    for k in range(n):
        node = schmitt(model, f"amp{k}", node)
    if diode:
        wire(model, f"{node} diode.p", "diode.n load.p", "load.n ground.V",
             diode=el.Diode(model="ideal"), load=el.Resistor(resistance="1 kohm"))
    run = model.simulate("7 ms")
    middles = (np.arange(7) + 0.5) * 1e-3
    given, out = np.array(courses), np.array(outs)
    for k in range(n):
        assert_allclose(values(run, f"amp{k}.s", "V", middles), excess(given, out), rtol=1e-12)
        given, out = out, -out
    if diode:
        assert_allclose(values(run, "load.v", "V", middles), np.maximum(given, 0), atol=1e-12)


def test_multivibrators_start_from_charges_beyond_their_thresholds():
    charges, tau = [20.0, -8.0, 7.6, -25.0], 1e-3  # V, s
    model = circuit()
    for k, volts in enumerate(charges):
        wire(model, f"r{k}.n c{k}.p", f"c{k}.n ground.V",
             **{f"c{k}": el.Capacitor(capacitance="0.1 uF", vc=quantity(volts, "V")),
                f"r{k}": el.Resistor(resistance="10 kohm")})
        wire(model, f"{schmitt(model, f'amp{k}', f'c{k}.p')} r{k}.p")
    run = model.simulate("0.2 ms", rtol=1e-9)
    times = np.array([0.05e-3, 0.2e-3])
    for k, volts in enumerate(charges):
        out = -SUPPLY * np.sign(volts)
        expected = out + (volts - out) * np.exp(-times / tau)
        assert_allclose(values(run, f"c{k}.v", "V", times), expected, rtol=1e-7)


@few(1, "method", ["dopri5", "rodas4"])
@pytest.mark.parametrize("start", ["100 mV", "-1 V"])
def test_multivibrators_beside_each_other_do_not_make_each_other_switch(start, method):
    """Each flips every R C log 3; those that are between their limits at first stay there until
    their own output comes to one of them."""
    m, resistances = Model("multivibrators"), np.array([9.0, 9.4, 9.4, 9.8, 10.6, 11.0])  # kohm
    n = len(resistances)
    m.ground, m.amplifiers = el.ElectricalReference(), el.LimitedOpAmp(count=n)
    m.upper, m.lower = (el.Resistor(count=n, resistance="10 kohm") for _ in range(2))
    m.charging = el.Resistor(count=n, resistance=quantity(resistances, "kohm"))
    m.capacitors = el.Capacitor(count=n, capacitance="10 nF", v=start)
    m.connect(m.amplifiers.p, m.upper.n, m.lower.p)
    m.connect(m.amplifiers.out, m.upper.p, m.charging.p)
    m.connect(m.amplifiers.n, m.charging.n, m.capacitors.p)
    m.connect(m.lower.n, m.capacitors.n, m.ground.V)
    events = m.simulate("2 ms", method=method).events
    for k, resistance in enumerate(resistances):
        between = np.diff([e.time for e in events if e.component == f"amplifiers[{k}]"])
        half = resistance * 1e3 * 10e-9 * np.log(3)
        assert_allclose(between[between > 1e-6], half, rtol=2e-3)  # the gain is finite
