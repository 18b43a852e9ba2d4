"""Blocks for signals, of both kinds, give what closed forms and sampling by hand say."""

import numpy as np
import pytest
from benches import meets
from numpy.testing import assert_allclose
from simscape_corpus import built
from slx_writer import Drawn, converted, from_ps, simulink, solver, to_ps

T = np.linspace(0, 2, 21) + 0.05  # beside the instants at which blocks sample


def result_of(blocks, folder):
    """The run of a diagram that ends in a block called ``last``; all of it is mapped."""
    made = converted(folder, blocks, "R2024a")
    assert "missing" not in {e.outcome for e in made.entries}, made.entries
    run = built(made.text, folder).simulate("3 s", rtol=1e-9, times=[f"{t} s" for t in T])
    return np.interp(T, run.time.to("s").m, run["last.y"].to_numpy())


def clock(*then):
    return [simulink("Clock", "clock", "", "t"), *then, simulink("Scope", "scope", "y")]


def constant(value):
    return simulink("Constant", "c", "", "c", Value=value)


def last(kind, **options):
    return clock(simulink(kind, "last", "t", "y", **options))


def shown(kind, inputs="t", **options):
    """The time, a block of several values, and what it gives in a block called ``last``."""
    return clock(simulink(kind, "it", inputs, "x", **options), simulink("Gain", "last", "x", "y"))


def converted_to(kind, gain, **options):
    """The time times a factor, as a number of some kind."""
    return clock(simulink("Gain", "g", "t", "g", Gain=gain), simulink(
        "DataTypeConversion", "last", "g", "y", OutDataTypeStr=kind, **options))


def first_less_second(*blocks, of):
    """The first less the second element of a vector."""
    return clock(*blocks, simulink("Demux", "demux", of, "a b", Outputs="2"),
                 simulink("Sum", "last", "a b", "y", Inputs="+-"))


def box(inner, inputs=(), outputs=(), nodes=()):
    return Drawn("SubSystem", "box", {n: n for n in nodes}, inputs=inputs, outputs=outputs,
                 inner=inner)


def selected(**options):
    """The first less the second element that is selected of 1 … 5 squared."""
    return first_less_second(simulink("Constant", "c", "", "v", Value="[1 4 9 16 25]"),
                             simulink("Selector", "pick", "v", "p", **options), of="p")


def filtered(**options):
    """The number t passes a lag of 0.2 s."""
    return clock(to_ps("t", "s", Unit="m", InputFilterTimeConstant="0.2", **options),
                 from_ps("s", "m", Unit="m"), simulink("Gain", "last", "m", "y"))


def is_reset(edge):
    """The reset is 1 from 1 s to 1.5 s; the integral of 1 starts anew from 5 at an edge."""
    return [constant("1"), simulink("Step", "up", "", "u", Time="1", After="1"),
            simulink("Step", "down", "", "d", Time="1.5", After="-1"),
            simulink("Sum", "sum", "u d", "r"),
            simulink("Integrator", "last", "c r", "y", ExternalReset=edge, InitialCondition="5"),
            simulink("Scope", "scope", "y")]


S = "foundation.signal."
THRICE = simulink("Gain", "g", "t", "g", Gain="3")
JOINED = simulink("Mux", "mux", "t g", "m", Inputs="2")
STEPS = np.floor(T / 0.1)
CASES = {
    "Bias": (last("Bias", Bias="2"), T + 2),
    "Fcn": (last("Fcn", Expr="2*u(1)^2-sin(u(1))"), 2 * T**2 - np.sin(T)),
    "UnaryMinus": (last("UnaryMinus"), -T),
    "Repeating Sequence Stair": ([simulink("Reference", "last", "", "y",
                                           SourceBlock="simulink/Sources/Repeating Sequence Stair",
                                           OutValues="[3 1 4].'*2", tsamp="0.2"),
                                  simulink("Scope", "scope", "y")],
                                 np.array([6, 2, 8])[np.floor(T / 0.2).astype(int) % 3]),
    "Integrator": (last("Integrator", InitialCondition="3"), 3 + T**2 / 2),
    "limited Integrator": (last("Integrator", LimitOutput="on", UpperSaturationLimit="0.5",
                                LowerSaturationLimit="-inf"), np.minimum(T**2 / 2, 0.5)),
    "Lookup": (last("Lookup_n-D", NumberOfTableDimensions="1", BreakpointsForDimension1="[0 1 2]",
                    Table="[0 5 3]"),
               np.interp(T, [0, 1, 2], [0, 5, 3]) - 2 * np.maximum(T - 2, 0)),
    "Zero-Order Hold": (last("ZeroOrderHold", SampleTime="0.1"), STEPS * 0.1),
    "Unit Delay": (last("UnitDelay", SampleTime="0.1", InitialCondition="7"),
                   np.where(STEPS > 0, (STEPS - 1) * 0.1, 7)),
    "Discrete-Time Integrator that accumulates": (
        last("DiscreteIntegrator", SampleTime="0.1", gainval="3",
             IntegratorMethod="Accumulation: Forward Euler", InitialCondition="2"),
        2 + 3 * 0.1 * STEPS * (STEPS - 1) / 2),
    **{f"Manual Switch {options}": (
        clock(simulink("Bias", "b", "t", "b", Bias="2"),
              simulink("ManualSwitch", "last", "t b", "y", **options)), expected)
       for options, expected in (({"CurrentSetting": "0"}, T + 2), ({}, T))},
    "Delay": (last("Delay", SampleTime="0.1", DelayLength="2"), np.maximum(STEPS - 2, 0) * 0.1),
    "inherited sample time": (clock(
        simulink("ZeroOrderHold", "hold", "t", "h", SampleTime="0.1"),
        box([simulink("Inport", "in", "", "a"), simulink("Sum", "sum", "a z", "b", Inputs="++"),
             simulink("UnitDelay", "delay", "b", "z", SampleTime="-1"),
             simulink("Outport", "out", "z")], ("h",), ("z",)), simulink("Gain", "last", "z", "y")),
                              0.1 * STEPS * (STEPS - 1) / 2),
    "vector constant": (first_less_second(constant("[2; 5]"), of="c"), -3),
    "sine of three phases": (clock(simulink("Sin", "w", "", "w", Frequency="3", Phase="[0 pi/2 1]"),
                                   simulink("Demux", "demux", "w", "a b c", Outputs="3"),
                                   simulink("Sum", "last", "a b c", "y", Inputs="+-+")),
                             np.sin(3 * T) - np.cos(3 * T) + np.sin(3 * T + 1)),
    "input without a line": (clock(simulink("Sum", "last", "t nothing", "y", Inputs="+-")), T),
    "sample-based pulse": (shown("DiscretePulseGenerator", "", PulseType="Sample based", Period="4",
                                 PulseWidth="1", SampleTime="0.25"), np.where(T % 1 < 0.25, 1, 0)),
    "exclusive or": (clock(constant("1"), simulink("Logic", "last", "t c", "y", Operator="XOR",
                                                   Inputs="2")), np.where(T > 0.5, 0, 1)),
    "commented through": (clock(simulink("Gain", "gain", "t", "g", Gain="9", Commented="through"),
                                simulink("Gain", "last", "g", "y")), T),
    "Relay": (last("Relay", OnSwitchValue="1.2", OffSwitchValue="0.3", OnOutputValue="4"),
              np.where(T > 1.2, 4, 0)),
    "Fcn with conditions": (
        last("Fcn", Expr="(u(1)>0.5 && u(1)<1.5)*3 + !(u(1)>=1) + (u(1)==7 || u(1)>1.8)"),
        3 * ((T > 0.5) & (T < 1.5)) + (T < 1) + (T > 1.8)),
    "Zero-Pole": (last("ZeroPole", Zeros="[]", Poles="[-2 -3]", Gain="6"),
                  T - 5 / 6 + 3 / 2 * np.exp(-2 * T) - 2 / 3 * np.exp(-3 * T)),
    "Rate Limiter": (clock(simulink("Step", "s", "", "g", Time="0.02", After="9"),
                           simulink("RateLimiter", "last", "g", "y", RisingSlewLimit="2")),
                     2 * (T - 0.02)),
    "Discrete Filter": (last("DiscreteFilter", SampleTime="0.1", Numerator="[1 0 2]",
                             Denominator="[1]"), 0.1 * (STEPS + 2 * np.maximum(STEPS - 2, 0))),
    "sine and cosine": (clock(simulink("Trigonometry", "both", "t", "s c", Operator="sincos"),
                              simulink("Product", "last", "s c", "y", Inputs="*/")), np.tan(T)),
    "sampled sine": (shown("Sin", "", SineType="Sample based", SampleTime="0.1",
                           Samples="8", Offset="3"), np.sin(2 * np.pi * (STEPS + 3) / 8)),
    "sampled Step": (shown("Step", "", Time="0.55", SampleTime="0.1"), np.where(T > 0.6, 1, 0)),
    "Integrator started by a signal": (
        clock(simulink("Bias", "b", "t", "b", Bias="3"),
              simulink("Integrator", "last", "t b", "y", InitialConditionSource="external")),
        3 + T**2 / 2),
    "Quantizer": (last("Quantizer", QuantizationInterval="0.31"), 0.31 * np.floor(T / 0.31 + 0.5)),
    "State-Space": (shown("StateSpace", A="[0 1; -4 0]", B="[0;1]", C="[1 0]", D="0"),
                    T / 4 - np.sin(2 * T) / 8),
    "Trigonometry": (clock(constant("1"), simulink("Trigonometry", "last", "t c",
                                                   "y", Operator="atan2")), np.arctan2(T, 1)),
    "Mux and Fcn": (clock(THRICE, JOINED, simulink("Fcn", "last", "m", "y", Expr="u(1)*u(2)")),
                    3 * T**2),
    "Mux and Demux": (first_less_second(THRICE, JOINED, of="m"), -2 * T),
    "Multiport Switch": (clock(constant("1"), simulink("Constant", "two", "", "d", Value="-2"),
                               simulink("MultiPortSwitch", "last", "t c d", "y", Inputs="2",
                                        DataPortOrder="Zero-based contiguous")),
                         np.where(T < 0.5, 1, -2)),
    "Product with a division": (
        clock(constant("4"), simulink("Product", "last", "t c t", "y", Inputs="*/*")), T**2 / 4),
    "Switch": (clock(constant("9"), simulink("Switch", "last", "c t t", "y", Threshold="1.01",
                                             Criteria="u2 > Threshold")), np.where(T > 1.01, 9, T)),
    "From Workspace without interpolation": (
        shown("FromWorkspace", "", VariableName="[0 3; 1 1; 1.5 2]", Interpolate="off"),
        np.where(T < 1, 3, np.where(T < 1.5, 1, 2))),
    "sampled From Workspace": (shown("FromWorkspace",
                                     "", VariableName="[0 0; 3 6]", SampleTime="0.1"), 0.2 * STEPS),
    "sine of a signal": (clock(simulink("Gain", "g", "t", "g", Gain="1.5"),
                               simulink("Sin", "last", "g", "y", TimeSource="Use external signal",
                                        Amplitude="3", Bias="1", Frequency="2", Phase="0.5")),
                         1 + 3 * np.sin(3 * T + 0.5)),
    "Backlash with a start": (last("Backlash", BacklashWidth="1", InitialOutput="0.4"),
                              np.maximum(0.4, T - 0.5)),
    "Backlash started beyond its play": (last("Backlash", BacklashWidth="1", InitialOutput="-2"),
                                         np.maximum(-0.5, T - 0.5)),
    "started State-Space": (shown("StateSpace", A="[-1 0; 0 -2]", B="[0;0]", C="[1 1]", D="0",
                                  InitialCondition="[1; 2]"), np.exp(-T) + 2 * np.exp(-2 * T)),
    "State-Space with one start for all": (shown("StateSpace", A="[-1 0; 0 -2]",
                                                 B="[0;0]", C="[1 1]", D="0", InitialCondition="3"),
                                           3 * np.exp(-T) + 3 * np.exp(-2 * T)),
    "PI with a start": (last("Reference", SourceBlock="simulink/Continuous/PID Controller",
                             Controller="PI", P="2", I="4", InitialConditionForIntegrator="5"),
                        2 * T + 5 + 2 * T**2),
    "PD of a constant": (clock(
        constant("3"),
        simulink("Reference", "last", "c", "y", SourceBlock="simulink/Continuous/PID Controller",
                 Controller="PD", P="2", D="0.5", N="4", InitialConditionForFilter="1")),
                         6 + 4 * (1.5 - 1) * np.exp(-4 * T)),
    "conversion to whole numbers": (converted_to("int32", "-3", RndMeth="Ceiling"),
                                    np.ceil(-3 * T)),
    "conversion that saturates": (converted_to("int8", "100.1", RndMeth="Floor"),
                                  np.minimum(np.floor(100.1 * T), 127)),
    "conversion that wraps": (converted_to("int8", "100.1",
                                           RndMeth="Floor", SaturateOnIntegerOverflow="off"),
                              np.floor(100.1 * T).astype(int).astype(np.int8)),
    "conversion to a truth value": (
        clock(simulink("Saturate", "s", "t", "s", UpperLimit="inf", LowerLimit="1"),
              simulink("Bias", "b", "s", "b", Bias="-1"),
              simulink("DataTypeConversion", "last", "b", "y", OutDataTypeStr="boolean")),
        np.where(T > 1, 1, 0)),
    "Gain of a row": (clock(THRICE, JOINED, simulink("Gain", "last", "m", "y",
                                                     Gain="[3 -4]", Multiplication="Matrix(K*u)")),
                      3 * T - 12 * T),
    "Gain of a matrix": (first_less_second(THRICE, JOINED,
                                           simulink("Gain", "K", "m", "w", Gain="[3 -4; 0 5]",
                                                    Multiplication="Matrix(K*u) (u vector)"),
                                           of="w"), -9 * T - 15 * T),
    "Gain of every element": (first_less_second(simulink("Mux", "mux", "t t", "v", Inputs="2"),
                                                simulink("Gain", "K", "v", "w", Gain="[3 4]"),
                                                of="w"), -T),
    "Gain that makes a vector": (first_less_second(
        simulink("Gain", "K", "t", "w", Gain="[3; 4]", Multiplication="Matrix(K*u)"), of="w"), -T),
    "State-Space with a row for C": (shown("StateSpace", A="[0 1; 0 0]*1",
                                           B="[0; 1]*1", C="[1 0]*1", D="0"), T**3 / 6),
    "Discrete Zero-Pole": (last("DiscreteZeroPole", Zeros="[]", Poles="0", Gain="2",
                                SampleTime="0.5"),
                           2 * np.maximum(np.floor(T / 0.5) * 0.5 - 0.5, 0)),
    "lag": (filtered(FilteringAndDerivatives="filter"), T - 0.2 * (1 - np.exp(-T / 0.2))),
    "lag of old files": (filtered(InputFiltering="on"), T - 0.2 * (1 - np.exp(-T / 0.2))),
    "reset as it rises": (is_reset("rising"), 5 + np.where(T > 1, T - 1, T)),
    "reset as it falls": (is_reset("falling"), 5 + np.where(T > 1.5, T - 1.5, T)),
    "reset at either edge": (is_reset("either"),
                             5 + np.where(T > 1, (T - 1) % 0.5 + np.where(T > 2, 0.5, 0), T)),
    "held by its reset": (is_reset("level"), 5 + np.where(T > 1, np.maximum(T - 1.5, 0), T)),
    "bus that names its elements itself": (clock(
        Drawn("Gain", "half", options={"Gain": "0.5"}, inputs=("t",), outputs=("",)),
        Drawn("BusCreator", "join", options={"Inputs": "'slow','fast'"}, inputs=("", "t"),
              outputs=("bus",)), simulink("BusSelector", "pick", "bus", "s", OutputSignals="slow"),
        simulink("Gain", "last", "s", "y")), T / 2),
    "vector of physical signals, added inside a box and back as numbers": (
        clock(THRICE, simulink("Mux", "mux", "t g", "m"), to_ps("m", "v", Unit="m"),
              box([Drawn("PMIOPort", "in", {"v": "v"}, options={"Side": "Left", "Port": "1"}),
                   Drawn(f"{S}functions.sum_of_elements", "sum", {"I": "v", "O": "s"},
                         {"sumAll": ("true", "1")}),
                   Drawn(f"{S}functions.concatenate", "both", {"I1": "s", "I2": "s", "O": "w"}),
                   Drawn("PMIOPort", "out", {"w": "w"}, options={"Side": "Left", "Port": "2"})],
                  nodes=("v", "w")), from_ps("w", "n", Unit="cm"),
              simulink("Sum", "last", "n", "y", Inputs="+")), 800 * T),
    "Selector of a range": (selected(Indices="2:3"), 4 - 9),
    "Selector from an index on": (selected(Indices="3", OutputSizes="2", IndexMode="Zero-based",
                                           IndexOptions="Starting index (dialog)"), 16 - 25)}


@pytest.mark.parametrize("name", CASES)
def test_a_simulink_block_gives_what_is_known(name, tmp_path):
    blocks, expected = CASES[name]
    assert_allclose(result_of(blocks, tmp_path), expected, rtol=1e-6, atol=1e-7)


def on_ramp(kind, values, inputs="I", output="O"):
    return [Drawn(f"{S}{kind}", "last", {**dict.fromkeys(inputs, "r"), output: "o"}, values)]


def physical(*blocks):
    """A ramp of 2 m/s·t as a physical signal ``r`` in m, and the signal ``o`` shown as a number."""
    return [Drawn(f"{S}sources.ramp", "ramp", {"O": "r"}, {"slope": ("2", "m/s"),
                                                           "start_time": ("0", "s")}), *blocks]


@pytest.mark.parametrize(("blocks", "expected"), [
    (on_ramp("functions.math_function", {
        "fcn_choice": ("foundation.enum.math_function.square", "1"), "v": ("1", "1")}), 4 * T**2),
    (on_ramp("lookup_tables.one_dimensional", {
        "x": ("[0 1 2]", "m"), "f": ("[0 3 4]", "N"),
        "extrap_method": ("simscape.enum.extrapolation.nearest", "1")}),
     np.interp(2 * T, [0, 1, 2], [0, 3, 4])),
    (on_ramp("linear.transfer_function", {
        "transfer_function_type": ("foundation.enum.transfer_function_type.lag", "1"),
        "T": ("200", "ms"), "y0": ("1", "m")}, "U", "Y"), 2 * (T - 0.2) + 1.4 * np.exp(-5 * T)),
    (on_ramp("linear.transfer_function", {
        "transfer_function_type": ("foundation.enum.transfer_function_type.leadlag", "1"),
        "T1": ("500", "ms"), "T2": ("200", "ms")}, "U", "Y"),
     2 * (T + 0.3 - 0.3 * np.exp(-5 * T))),
    ([Drawn(f"{S}sources.constant", "c", {"O": "c"}, {"constant": ("1", "m")}),
      Drawn(f"{S}functions.concatenate", "both", {"I1": "c", "I2": "r", "O": "v"}),
      Drawn(f"{S}nonlinear.selector", "pick", {"I": "v", "O": "s"}, {"ix": ("2", "1")}),
      Drawn(f"{S}functions.gain", "last", {"I": "s", "O": "o"}, {"gain": ("3", "1")})], 6 * T),
    ([Drawn(f"{S}sources.constant", "c", {"O": "c"}, {"constant": ("5", "m")}),
      Drawn(f"{S}nonlinear.controlled_switch", "last", {"I1": "c", "I2": "r", "I3": "r", "O": "o"},
            {"Threshold": ("1.01", "m")})], np.where(2 * T >= 1.01, 5, 2 * T)),
    (on_ramp("functions.math_function", {
        "fcn_choice": ("foundation.enum.math_function.pow", "1"), "v": ("1/3", "1")}),
     np.cbrt(2 * T)),
    (on_ramp("functions.math_function", {"fcn_choice": (7, "1")}), 4 * T**2),
    (on_ramp("linear.integrator", {
        "saturation_spec": ("foundation.enum.IntegratorSaturationSpec.Both", "1"),
        "xu": ("150", "cm*s"), "xl": ("-inf", "m*s"), "x0": ("1", "m*s")}),
     np.minimum(1 + T**2, 1.5)),
    ([Drawn(f"{S}sources.sine_wave", "wave", {"O": "w"},
            {"amplitude": ("3", "A"), "phase": ("30", "deg"), "frequency_spec":
             ("foundation.enum.frequency_spec.SI", "1"), "frequency_SI": ("10", "Hz")}),
      Drawn(f"{S}periodic_operators.harmonic_estimator_amplitude_phase", "harmonic",
            {"I": "w", "A": "a", "Phi": "phi"}, {"f0": ("10", "Hz"), "n": ("1", "1")}),
      Drawn(f"{S}functions.product", "last", {"I1": "a", "I2": "phi", "O": "o"})],
     np.where(T > 0.1, np.pi / 2, 0)),
], ids=["square", "table", "lag", "lead and lag", "selected element", "switch", "power",
        "square by number", "limited integral", "harmonic"])  # fmt: skip
def test_a_block_for_physical_signals_gives_what_is_known(blocks, expected, tmp_path):
    assert_allclose(result_of(physical(*blocks), tmp_path), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("gain", "expected"), [("K", "model.last_1 = Gain(gain=K[0])"),
                                                ("[3 -4]", "model.last_1 = Gain(gain=3)")])
def test_a_feedback_of_states_keeps_its_names(gain, expected, tmp_path):
    blocks = clock(simulink("Mux", "mux", "t t", "v", Inputs="2"),
                   simulink("Gain", "last", "v", "y", Gain=gain, Multiplication="Matrix(K*u)"))
    text = converted(tmp_path, blocks, "R2024a", PreLoadFcn="K = [3 -4];").text
    assert expected in text
    assert built(text, tmp_path).simulate("2 s")["last.y"].final.m == pytest.approx(-2)


def two(kind, *more, pick, **options):
    """A block that takes the vector [t, t + 2], and what is done with the element that is taken
    of its vector."""
    return clock(
        simulink("Bias", "b", "t", "b", Bias="2"), simulink("Mux", "join", "t b", "v", Inputs="2"),
        *more, Drawn(kind, "works", options=options, inputs=(
            "v", *(name for block in more for name in block.outputs)), outputs=("w",)),
        simulink("Demux", "apart", "w", "p q", Outputs="2"), simulink("Gain", "last", pick, "y"))


PAIR = constant("[2 5]")
HIGH = simulink("Step", "high", "", "h", Time="1")
OF_VECTORS = {
    "sum": (two("Sum", PAIR, pick="q", Inputs="+-"), T + 2 - 5),
    "sum with a scalar": (two("Sum", HIGH, pick="q", Inputs="++"), T + 2 + (T >= 1)),
    "quotient": (two("Product", PAIR, pick="p", Inputs="*/"), T / 2),
    "extremum": (two("MinMax", PAIR, pick="q", Function="max", Inputs="2"), np.maximum(T + 2, 5)),
    "comparison": (two("RelationalOperator", PAIR, pick="p", Operator=">"), np.where(T > 2, 1, 0)),
    "switch": (two("Switch", HIGH, PAIR, pick="q", Criteria="u2 >= Threshold", Threshold="0.5"),
               np.where(T >= 1, T + 2, 5)),
    "starts": (two("Integrator", pick="q", InitialCondition="[3 4]"), 4 + T**2 / 2 + 2 * T),
    "limits": (two("Saturate", pick="p", UpperLimit="[1; 9]", LowerLimit="0"), np.minimum(T, 1)),
    "state space of two inputs": (two("StateSpace", pick="p", A="0", B="[1 2]", C="[1; 3]",
                                      D="[0 0; 0 1]"), T**2 / 2 + 2 * (T**2 / 2 + 2 * T)),
    "direct part": (two("StateSpace", pick="q", A="0", B="[1 2]", C="[1; 3]", D="[0 0; 0 1]"),
                    3 * (T**2 / 2 + 2 * (T**2 / 2 + 2 * T)) + T + 2),
    "dot product": (two("Bias", pick="p", Bias="0")[:-3] + clock(PAIR, Drawn(
        "DotProduct", "last", inputs=("v", "c"), outputs=("y",)))[1:], 2 * T + 5 * (T + 2)),
    "feedback of a vector": (clock(
        simulink("Gain", "first", "y0", "f", Gain="1"),
        simulink("Sum", "e", "f c", "d", Inputs="-+"), PAIR, simulink("Integrator", "i", "d", "y0"),
        simulink("Demux", "apart", "y0", "p q", Outputs="2"),
        simulink("Sum", "last", "q p", "y", Inputs="++")), 7 * (1 - np.exp(-T))),
    "state feedback": (clock(
        simulink("Constant", "r", "", "r", Value="1"),
        simulink("Sum", "e", "r k", "e", Inputs="+-"),
        simulink("StateSpace", "plant", "e", "x", A="[0 1; 0 0]", B="[0; 1]", C="eye(2)",
                 D="zeros(2, 1)"),
        simulink("Gain", "K", "x", "k", Gain="[1 2]", Multiplication="Matrix(K*u)"),
        simulink("Demux", "apart", "x", "p q", Outputs="2"), simulink("Gain", "last", "p", "y")),
                       1 - np.exp(-T) * (1 + T))}


@pytest.mark.parametrize("name", OF_VECTORS)
def test_a_block_works_on_every_element_of_its_vectors(name, tmp_path):
    blocks, expected = OF_VECTORS[name]
    assert_allclose(result_of(blocks, tmp_path), expected, rtol=1e-6, atol=1e-6)


def test_gains_that_only_change_a_unit_are_left_out_and_equal_classes_written_once(tmp_path):
    blocks = clock(
        simulink("DataTypeConversion", "type", "t", "a"),
        simulink("Gain", "push", "a", "f", Gain="2"), to_ps("f", "s", Unit="N"),
        Drawn("foundation.signal.functions.gain", "g", {"I": "s", "O": "r"}, {"gain": ("3", "1")}),
        from_ps("r", "n", Unit="mN"), simulink("Gain", "half", "n", "h", Gain="0.5"),
        *(simulink("simulink/Logic/Compare To Constant", f"above {k}", "h", f"c{k}", relop="==",
                   const=str(k)) for k in (1, 2)),
        simulink("Sum", "last", "h c1 c2", "y", Inputs="+++"))
    made = converted(tmp_path, blocks, "R2024a")
    assert made.text.count("class ") == 1
    assert made.text.count("CompareToConstant(") == 3
    assert made.text.count("= Gain(") == 3
    assert 'model.push = Gain(gain="2 N")' in made.text
    run = built(made.text, tmp_path).simulate("2 s")
    assert run["half.y"].final.m == pytest.approx(3 * 2 * 2 * 1000 / 2)


def test_no_line_is_longer_than_a_hundred_signs(tmp_path):
    name = "the wrapped state of an integrator that is discrete or continuous in time"
    blocks = clock(box([simulink("Inport", "u", "", "a"), simulink("Outport", "y", "a")],
                       ("t",), ("y",)),
                   simulink("Fcn", name, "t", "y", Expr=" + ".join(["sin(u*1.2345678)"] * 12)))
    blocks[1].name = f"{name} and more of it"
    assert max(map(len, converted(tmp_path, blocks, "R2024a").text.splitlines())) <= 100


def test_a_probe_that_something_reads_is_a_gap_and_one_that_is_shown_is_not(tmp_path):
    for reader, outcome in (("Gain", "missing"), ("Scope", "left out")):
        blocks = [*clock(simulink("Gain", "last", "t", "y")),
                  Drawn("SimscapeProbe", "probe", options={"Variables": "{w, t}"},
                        outputs=("w",)), simulink(reader, "reader", "w")]
        made = converted(tmp_path, blocks, "R2024a")
        assert [e.outcome for e in made.entries if e.path == "/probe"] == [outcome]
        assert ("{w, t}" in made.text) == (outcome == "missing")


def test_a_delay_takes_the_step_of_a_solver_of_fixed_steps(tmp_path):
    run = built(converted(tmp_path, last("UnitDelay", SampleTime="-1"), "R2024a", SolverName="ode4",
                          FixedStep="0.25").text, tmp_path).simulate("1.1 s")
    assert run["last.y"].final.m == pytest.approx(0.75)


def test_pulses_are_as_wide_as_their_duty_cycle_at_their_beginning(tmp_path):
    blocks = [simulink("Constant", "duty", "", "d", Value="0.3"),
              simulink("eePwmGenerator/PWM Generator", "pwm", "d", "p", Tper="0.01",
                       CarrCount="Up-Down", Tdelay="0"),
              simulink("Integrator", "last", "p", "y"), simulink("Scope", "scope", "y")]
    run = built(converted(tmp_path, blocks, "R2024a").text, tmp_path).simulate("0.1 s")
    assert run["last.y"].final.m == pytest.approx(0.03, rel=1e-4)
    # a duty cycle that is the time, read at 0, 0.5 s and 1 s: pulses of 0, 0.25 and 0.5 s
    blocks = clock(simulink("Reference", "pwm", "t", "p", RunAtFixedTimeIntervals="off",
                            SourceBlock="simulink/Discontinuities/PWM", Period="0.5"),
                   simulink("Integrator", "last", "p", "y"))
    run = built(converted(tmp_path, blocks, "R2024a").text, tmp_path).simulate("1.6 s")
    assert_allclose([run["last.y"].at(f"{t} s").m for t in (0.49, 0.74, 0.9, 1.2, 1.49)],
                    [0, 0.24, 0.25, 0.45, 0.74], atol=1e-6)


def test_a_bus_crosses_two_borders_element_by_element(tmp_path):
    """A bus of t and 3 t goes into a box, through a tag into a box in it, and what is picked out
    by name comes back as a vector of two."""
    deep = box([simulink("Inport", "bus", "", "b"),
                simulink("BusSelector", "pick", "b", "s f", OutputSignals="slow,fast"),
                simulink("Mux", "again", "f s", "v", Inputs="2"),
                simulink("Outport", "vector", "v")], ("c",), ("w",))
    middle = box([simulink("Inport", "bus", "", "b"),
                  simulink("Goto", "to", "b"), simulink("From", "from", "", "c"), deep,
                  simulink("Outport", "vector", "w")], ("bus",), ("v",))
    blocks = clock(THRICE, simulink("BusCreator", "join", "t g", "bus"), middle,
                   simulink("Gain", "twice", "v", "d", Gain="2"),
                   simulink("Demux", "demux", "d", "a b", Outputs="2"),
                   simulink("Sum", "last", "a b", "y", Inputs="+-"))
    blocks[1].outputs, blocks[0].outputs = ("fast",), ("slow",)
    for block in blocks:
        block.inputs = tuple({"t": "slow", "g": "fast"}.get(n, n) for n in block.inputs)
    assert_allclose(result_of(blocks, tmp_path), 4 * T, rtol=1e-6)


@pytest.mark.parametrize("source", ["Constant", "Gain"])
@pytest.mark.parametrize(("unit", "affine", "kelvin"), [
    ("degC", "on", 293.15), ("degC", "off", 20), ("degF", "on", (20 + 459.67) / 1.8),
    ("degF", "off", 20 / 1.8)])
def test_a_converter_of_temperatures_adds_an_offset_where_it_is_affine(unit, affine, kelvin,
                                                                        source, tmp_path):
    """The number 20 is a temperature or a difference; it comes back as it went in."""
    thermal = "foundation.thermal."
    options = {"Unit": unit, "AffineConversion": affine}
    blocks = [
        simulink("Constant", "twenty", "", "n", Value="20"),
        *([simulink("Gain", "gain", "n", "g")] if source == "Gain" else []),
        to_ps("g" if source == "Gain" else "n", "s", **options),
        Drawn(f"{thermal}sources.controlled_temperature", "held", {"S": "s", "A": "g", "B": "a"}),
        Drawn(f"{thermal}elements.reference", "zero", {"H": "g"}),
        Drawn(f"{thermal}sensors.temperature", "sensor", {"A": "a", "B": "g", "T": "t"}),
        from_ps("t", "b", **options), simulink("Gain", "last", "b", "y"),
        simulink("Scope", "scope", "y"), solver()]
    run = built(converted(tmp_path, blocks, "R2024a").text, tmp_path).simulate("1 s")
    meets(run, {"held.B.T K": (kelvin, 1e-12), "last.y": (20, 1e-12)})


def test_the_ports_of_a_sensor_say_what_the_file_does_not(tmp_path):
    """Files of 2013 hold no choice of the reference; a sensor without C measures absolutely."""
    blocks = [Drawn("foundation.mechanical.translational.mass", "mass", {"M": "n"},
                    {"mass": ("1", "kg"), "v": ("3", "m/s", "High")}),
              Drawn("foundation.mechanical.sensors.velocity", "last", {"R": "n", "V": "v"}),
              solver("n")]
    made = converted(tmp_path, blocks, "R2013b")
    assert 'MotionSensor(reference="absolute")' in made.text
    assert_allclose(built(made.text, tmp_path).simulate("1 s")["last.V"].final.to("m/s").m, 3)


VECTOR, SCOPE = simulink("Constant", "c", "", "v", Value="[1 2 3]"), simulink("Scope", "scope", "y")


@pytest.mark.parametrize(("blocks", "why"), [
    ([simulink("Integrator", "it", "t", WrapState="on")], "Its state is wrapped"),
    ([simulink("UnitDelay", "it", "t", SampleTime="-1")],
     "Its sample time is that of the blocks before it, none of which has one. Give it one in the "
     "model, or to the block that you put in its place."),
    ([box([Drawn("TriggerPort", "edge"), simulink("Inport", "in", "", "t"),
           simulink("UnitDelay", "it", "t", SampleTime="-1")], ("t",))],
     "It samples whenever its subsystem is triggered, which has no counterpart here."),
    ([simulink("DiscreteTransferFcn", "it", "t", SampleTime="1", InitialStates="3")],
     "It starts from InitialStates = 3; here it starts from 0."),
    ([simulink("Polyphase", "it", "t")], "It has no counterpart here."),
    ([simulink("DiscretePulseGenerator", "it", "t", TimeSource="Use external signal")],
     "Its time comes from a signal."),
    ([simulink("UnitDelay", "it", "t", SampleTime="1", InitialCondition="[0 2]")],
     "Its InitialCondition is a vector; signals are scalars here."),
    # no gain for each output, and outputs beyond those that a demux is known to have
    ([simulink("Gain", "it", "t", "y", Gain="[2 0; 0 3]", Multiplication="Matrix(K*u)"), SCOPE],
     ""), ([VECTOR, simulink("Demux", "it", "v", "y b", Outputs="N"), SCOPE], ""),
], ids=["wrapped", "sample time", "triggered", "start", "unknown", "time", "vector",
        "diagonal", "demux"])  # fmt: skip
def test_a_gap_says_what_is_missing(blocks, why, tmp_path):
    made = converted(tmp_path, [simulink("Clock", "clock", "", "t"), *blocks], "R2024a")
    assert [" ".join(e.notes) for e in made.entries if e.outcome == "missing"
            and e.path.endswith("it")][0].startswith(why)
    findings = built(made.text, tmp_path).check()
    assert not findings.errors
    assert why in " ".join(str(findings).split())


@pytest.mark.parametrize(("line", "points", "table", "why"), [
    ("v", "[0 5]", "[0 10]", "A vector of 3 elements enters it, which is taken as a scalar here: "
     "connect its elements by hand."),
    ("t", "x", "[0 1]", "BreakpointsForDimension1 is one number"),
    ("t", "[0 1]", "x", "Table is one number")])
def test_a_table_that_does_not_fit_is_a_gap_and_no_text_that_fails(line, points, table, why,
                                                                   tmp_path):
    made = converted(tmp_path, clock(VECTOR, simulink(
        "Lookup_n-D", "it", line, "y", NumberOfTableDimensions="1", BreakpointsForDimension1=points,
        Table=table)), "R2024a", values={"x": 2})
    assert any(e.outcome == "missing" and why in " ".join(e.notes) for e in made.entries
               if e.path == "/it")
    assert not built(made.text, tmp_path).check().errors


def test_an_option_that_is_not_read_is_said(tmp_path):
    """Not said are options that change nothing here, and those at their default."""
    options = {"SampleTime": "0.1", "Multiplication": "Element-wise(K.*u)", "ParamMin": "0",
               "OutDataTypeStr": "Inherit: Same as input", "RndMeth": "Floor", "Gain": "3"}
    blocks = [*last("Gain", **options)[:-1],
              Drawn("RelationalOperator", "above", options={"OutDataTypeStr": "boolean"},
                    inputs=("t", "y"), outputs=("a",)), simulink("Scope", "scope", "a")]
    made = converted(tmp_path, blocks, "R2024a")
    said = {e.path: (e.outcome, e.notes) for e in made.entries}
    assert said["/last"] == ("approximated", ["SampleTime = 0.1 is not mapped."])
    assert said["/above"] == ("mapped", [])
    assert "/last: SampleTime = 0.1 is not mapped." in made.text


def test_a_vector_joined_with_itself_many_times_is_bounded(tmp_path):
    """Forty times doubled it would have a million million elements."""
    blocks = [simulink("Clock", "clock", "", "v0"),
              *(Drawn("Mux", f"mux{k}", inputs=(f"v{k}", f"v{k}"), outputs=(f"v{k + 1}",))
                for k in range(40)), simulink("Scope", "scope", "v40")]
    assert len(converted(tmp_path, blocks, "R2024a").text) < 100_000
