"""PID controllers of Simulink give what their transfer functions, in s and in z, say."""

import numpy as np
import pytest
from benches import meets
from numpy.testing import assert_allclose
from scipy.signal import lfilter
from simscape_corpus import built
from slx_writer import Drawn, simulink, write

from library.simscape import convert

PERIOD = 0.125
T = PERIOD * np.arange(16) + PERIOD / 2  # between the samples
CONTINUOUS = "simulink/Continuous/PID Controller"
DISCRETE = "simulink/Discrete/Discrete PID Controller"


def block(source=CONTINUOUS, **options):
    """A controller whose error is 1 + 3 t for 1 s, 3 t - 6 after that."""
    return [simulink("Clock", "clock", "", "t"),
            simulink("Step", "step", "", "s", Time="1", Before="1", After="-6"),
            simulink("Gain", "gain", "t", "g", Gain="3"),
            simulink("Sum", "error", "s g", "e", Inputs="++"),
            Drawn("Reference", "last", options={"SourceBlock": source, **options}, inputs=("e",),
                  outputs=("y",)), simulink("Scope", "scope", "y")]


def steady(**options):
    """A controller whose error is 3."""
    return [simulink("Constant", "c", "", "e", Value="3"), *block(**options)[4:]]


def converted(folder, blocks, **settings):
    made = convert(write(folder / "pid.slx", blocks, "R2024a", {"StopTime": "2", **settings}))
    (entry,) = (e for e in made.entries if e.path == "/last")
    return made, entry


def output_of(folder, blocks, times=T, outcome="mapped", **settings):
    made, entry = converted(folder, blocks, **settings)
    assert entry.outcome == outcome, entry
    run = built(made.text, folder).simulate("2 s", rtol=1e-9, times=[f"{t} s" for t in times])
    return np.interp(times, run.time.to("s").m, run["last.y"].to_numpy())


def error(t):
    return np.where(t < 1, 1 + 3 * t, 3 * t - 6)


SAMPLES = error(PERIOD * np.arange(16))
RULES = {"Forward Euler": ([PERIOD], [1, -1]), "Backward Euler": ([PERIOD, 0], [1, -1]),
         "Trapezoidal": ([PERIOD / 2, PERIOD / 2], [1, -1])}


def filtered(top, bottom):
    """The samples through a fraction in z, the highest power first."""
    top = [0.0] * (len(bottom) - len(top)) + list(top)
    return lfilter(top, bottom, SAMPLES)


def integral(rule):
    return filtered(*RULES[rule])


def derivative(rule, n):
    """N / (1 + N beta(z))."""
    top, bottom = (np.array(c, dtype=float) for c in RULES[rule])
    longer = np.concatenate([np.zeros(len(bottom) - len(top)), top])
    return filtered(n * bottom, bottom + n * longer)


DIFFERENCE = np.diff(SAMPLES, prepend=0) / PERIOD
SAMPLED = {"TimeDomain": "Discrete-time", "SampleTime": str(PERIOD)}


@pytest.mark.parametrize(("source", "options", "expected"), [
    ("slpidlib/PID Controller", SAMPLED | {"Controller": "PI", "P": "2", "I": "4"},
     2 * SAMPLES + 4 * integral("Forward Euler")),
    (DISCRETE, {"SampleTime": str(PERIOD), "IntegratorMethod": "Backward Euler", "P": "2",
                "FilterMethod": "Trapezoidal", "I": "4", "D": "0.5", "N": "8"},
     2 * SAMPLES + 4 * integral("Backward Euler") + 0.5 * derivative("Trapezoidal", 8)),
    (CONTINUOUS, SAMPLED | {"UseFilter": "off", "N": "0", "P": "2", "I": "4", "D": "0.5",
                            "IntegratorMethod": "Trapezoidal"},
     2 * SAMPLES + 4 * integral("Trapezoidal") + 0.5 * DIFFERENCE),
    (CONTINUOUS, SAMPLED | {"N": "0", "P": "2", "I": "4", "D": "0.5"},  # D N z / (z - 1 + N T)
     2 * SAMPLES + 4 * integral("Forward Euler")),
    (CONTINUOUS, SAMPLED | {"Form": "Ideal", "P": "2", "I": "4", "D": "0.5", "N": "5",
                            "InitialConditionForIntegrator": "3"},
     2 * (SAMPLES + 3 + 4 * integral("Forward Euler") + 0.5 * derivative("Forward Euler", 5))),
    (CONTINUOUS, SAMPLED | {"Controller": "PD", "P": "2", "D": "0.5", "UseFilter": "off",
                            "DifferentiatorICPrevScaledInput": "1"},
     2 * SAMPLES + 0.5 * DIFFERENCE - np.where(np.arange(16) == 0, 1 / PERIOD, 0)),
], ids=["forward", "mixed rules", "difference", "no filter", "ideal",
        "difference with a start"])  # fmt: skip
def test_a_sampled_controller_is_its_fraction_in_z(source, options, expected, tmp_path):
    assert_allclose(output_of(tmp_path, block(source, **options)), expected, rtol=1e-9)


def by_hand(p, i, kb=0.0, clamping=False):
    """Output between -1 and 1 of a sampled PI controller, sum by sum."""
    x, found = 0.0, []
    for u in SAMPLES:
        v = p * u + x
        y = min(max(v, -1), 1)
        further = v > 1 and i * u > 0 or v < -1 and i * u < 0
        x += PERIOD * ((0 if clamping and further else i * u) + kb * (y - v))
        found.append(y)
    return np.array(found)


LIMITED = {"Controller": "PI", "P": "p", "I": "i", "LimitOutput": "on",
           "UpperSaturationLimit": "1", "LowerSaturationLimit": "-1"}


@pytest.mark.parametrize(("options", "given"), [
    ({"AntiWindupMode": "none"}, {}), ({}, {}),
    ({"AntiWindupMode": "back-calculation", "Kb": "4"}, {"kb": 4}),
    ({"AntiWindupMode": "back-calculation", "Kb": "0"}, {}),
    ({"AntiWindupMode": "clamping"}, {"clamping": True}),
], ids=["none", "unsaid", "back-calculation", "nothing back", "clamping"])  # fmt: skip
def test_a_sampled_controller_is_limited_as_it_says(options, given, tmp_path):
    found = output_of(tmp_path, block(**SAMPLED, **LIMITED, **options),
                      PreLoadFcn="p = 0.25; i = 0.5;")
    assert_allclose(found, by_hand(0.25, 0.5, **given), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["Parallel", "Ideal"])
def test_an_integral_is_calculated_back(form, tmp_path):
    """An error u = 3 at the limit 1: x' = i u + k (1 - p u - x) ends at p u + x = 1 + i u / k.

    In the ideal form i and k are P times those of the file.
    """
    p, times = 0.25, 1 if form == "Parallel" else 0.25
    i, k = 0.5 * times, 4 * times
    blocks = steady(**LIMITED, Form=form, AntiWindupMode="back-calculation", Kb="4")
    made, entry = converted(tmp_path, blocks, PreLoadFcn="p = 0.25; i = 0.5;")
    assert entry.outcome == "mapped"
    run = built(made.text, tmp_path).simulate("2 s", rtol=1e-9)
    begin = (1 - p * 3) / (i * 3)  # x = i u t until the output comes to the limit
    end = 1 + i * 3 / k
    value = end - (end - 1) * np.exp(-k * (2 - begin)) - p * 3
    meets(run, {"last.x": (value, 1e-6), "last.y": (1, 1e-9)})


def test_a_clamped_integral_rests_within_a_millisecond(tmp_path):
    """An error of 3 at the limit 1; v is 1 ms times i u beyond it at rest."""
    made, entry = converted(tmp_path, steady(**LIMITED, AntiWindupMode="clamping"),
                            PreLoadFcn="p = 0.25; i = 0.5;")
    assert entry.outcome == "approximated"
    assert entry.notes == ["Its integral comes to rest within 1 ms here."]
    run = built(made.text, tmp_path).simulate("2 s", rtol=1e-9)
    assert_allclose(run["last.x"].final.m, 1 - 0.25 * 3 + 1e-3 * 0.5 * 3, rtol=1e-6)


def test_an_ideal_controller_multiplies_all_by_its_gain(tmp_path):
    """A constant error of 3: P (u + x0 + I u t + D N u e^(-N t))."""
    found = output_of(tmp_path, steady(Form="Ideal", P="2", I="4", D="0.5", N="8",
                                       InitialConditionForIntegrator="5"))
    assert_allclose(found, 2 * (3 + 5 + 12 * T + 0.5 * 8 * 3 * np.exp(-8 * T)), rtol=1e-6)


def test_a_sampled_controller_inherits_its_sample_time(tmp_path):
    options = {**SAMPLED, "SampleTime": "-1", "Controller": "I", "I": "4"}
    first, *rest = reversed(block(**options)[:-1])
    first.inputs = ("h",)
    hold = simulink("ZeroOrderHold", "hold", "e", "h", SampleTime=str(PERIOD))
    found = output_of(tmp_path, [*reversed(rest), hold, first])
    assert_allclose(found, 4 * integral("Forward Euler"), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("options", "said"), [
    ({"UseFilter": "off"}, "Its derivative is not filtered; a continuous one always is here."),
    ({"SatLimitsSource": "external"}, "There its limits come from signals (SatLimitsSource = "
     "external); that has no counterpart here."),
    ({**SAMPLED, "SampleTime": "-1"}, "Its sample time is that of the blocks before it"),
], ids=["no filter", "limits", "sample time"])  # fmt: skip
def test_a_gap_says_what_a_controller_lacks(options, said, tmp_path):
    made, entry = converted(tmp_path, block(**options))
    assert entry.outcome == "missing"
    assert said in " ".join(entry.notes)
    assert not built(made.text, tmp_path).check().errors


def test_anti_windup_of_another_rule_is_told(tmp_path):
    _, entry = converted(tmp_path, block(**SAMPLED, **LIMITED, AntiWindupMode="clamping",
                                         IntegratorMethod="Backward Euler"),
                         PreLoadFcn="p = 1; i = 2;")
    assert (entry.outcome, entry.notes) == ("approximated", [
        "There its anti-windup acts on the integral within the sample, here from the next one on."])
