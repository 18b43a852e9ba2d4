"""Does a function in Python act as the sampled block of the same law?

A motor under a controller that integrates: the same in Python and as blocks of the library; a
counter; and what happens where the function fails.
"""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import ModelError, SimulationError, quantity
from blocks.exceptions import Interrupted
from library.signal import Constant, DiscreteIntegrator, PythonFunction, Sine


def measured(function, **options):
    """A function whose input is 3 sin(2 t) m/s, in mm/s."""
    return wired("measured", "wave.y block.u1",
                 wave=Sine(amplitude="3 m/s", frequency=f"{1 / np.pi} Hz"),
                 block=PythonFunction(function=function, inputs="mm/s", **options))


def total(t, u, x):
    """Forward rule with T = 10 ms: gives the sum so far."""
    return x[0], [x[0] + 0.01 * u[0]]


def count(t, u, x):
    return x[0], x + 1


def test_units_go_in_and_out_and_the_last_value_holds():
    run = measured(lambda t, u: u[0] / 10 + t, outputs="cm/s", sample_time="0.25 s").simulate("1 s")
    at = np.array([0.1, 0.3, 0.6, 0.99])
    sample = np.floor(at / 0.25) * 0.25
    assert_allclose(run["block.y1"].at(quantity(at, "s")).to("cm/s").m,
                    300 * np.sin(2 * sample) + sample, rtol=1e-9)
    assert run["block.y1"].declared_unit.text == "cm/s"


def test_states_are_those_of_the_sampled_block_of_the_same_law():
    model = measured(total, outputs="mm", states=1, sample_time="10 ms")
    wire(model, "wave.y sum.u", sum=DiscreteIntegrator(input="mm/s", sample_time="10 ms"))
    run = model.simulate("2 s")
    at = quantity(np.linspace(0, 2, 77), "s")
    assert_allclose(run["block.y1"].at(at).to("mm").m, run["sum.y"].at(at).to("mm").m, rtol=1e-12)
    assert np.array_equal(model.simulate("2 s")["block.x1"].m, run["block.x1"].m)  # starts anew


def test_several_inputs_and_outputs_and_instances():
    model = wired("several", "one.y block.u1", "two.y block.u2",
                  one=Constant(value="2 N"), two=Constant(value="3 m"),
                  block=PythonFunction(function=lambda t, u: (u[0] * u[1], u[1] / 2), inputs="N, m",
                                       outputs="J, cm"))
    run = model.simulate("10 ms")
    assert run["block.y1"].final == quantity("6 J")
    assert run["block.y2"].final.to("cm").m == pytest.approx(1.5)


def test_the_function_is_asked_once_for_each_instant_where_nothing_acts_back():
    asked = []
    measured(lambda t, u: asked.append(t) or 0.0, sample_time="10 ms").simulate("0.995 s")
    assert_allclose(asked, 0.01 * np.arange(100), atol=1e-12)


def test_its_outputs_count_for_another_function_at_the_same_instant():
    model = measured(lambda t, u: 2 * u[0], outputs="mm/s", sample_time="10 ms")
    model.after = PythonFunction(function=lambda t, u: u[0] + t, inputs="mm/s", outputs="mm/s",
                                 sample_time="20 ms")  # fmt: skip
    model.connect(model.block.y1, model.after.u1)
    run = model.simulate("0.1 s")
    at = 0.02 * np.arange(5) + 0.005
    assert_allclose(run["after.y1"].at(quantity(at, "s")).m,
                    6000 * np.sin(2 * (at - 0.005)) + at - 0.005, rtol=1e-9, atol=1e-9)


def test_ctrl_c_in_the_function_ends_the_run():
    def pressed(t, u):
        if t > 0.5:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(Interrupted) as told:
        measured(pressed).simulate("10 s")
    run = told.value.result
    assert run.status == "interrupted"
    assert run.time[-1].m == pytest.approx(0.5, abs=0.002)


def test_states_start_where_they_are_told_to():
    run = measured(count, states=1, sample_time="0.1 s").simulate("0.45 s")
    assert run["block.x1"].final.m == 5
    model = measured(count, states=1, sample_time="0.1 s")
    model.block.x1 = 7.0
    assert model.simulate("0.45 s")["block.x1"].final.m == 12


def test_states_go_back_with_the_run():
    run = measured(total, outputs="mm", states=1, sample_time="10 ms").stepper(outputs=["block.x1"])
    run.advance("55 ms")
    state = run.save_state()
    first = [run.step([], 0.013)[0] for _ in range(9)]
    run.restore(state)
    assert [run.step([], 0.013)[0] for _ in range(9)] == first
    assert len(set(first)) > 5


@pytest.mark.parametrize("function,states,said", [
    (lambda t, u: 1 / (t - 0.002), 0, r"block: at t = 0\.002 s its function failed with "
                                      r"ZeroDivisionError"),
    (lambda t, u: [1.0, 2.0], 0, r"its function gave 2 outputs instead of 1"),
    (lambda t, u, x: (1.0, [1.0]), 2, r"its function gave 1 states instead of 2"),
    (lambda t, u, x: 1.0, 1, r"gave 1\.0 instead of two things, outputs and states\. Let it end"),
    (lambda t, u: None, 0, "gave None, which is no number. Let it return numbers"),
    (lambda t, u: quantity("3 mm"), 0, "which is no number. Let it return numbers in the units"),
    (lambda t, u: 1j, 0, "gave 1j, which is no number"),
    (lambda t, u, x: (1.0, ["a"]), 1, "gave 'a', which is no number"),
    (lambda t, u: np.nan, 0, r"its function gave nan for held1"),
])  # fmt: skip
def test_a_function_that_fails_names_component_and_time(function, states, said):
    with pytest.raises(SimulationError, match=said):
        measured(function, states=states).simulate("1 s")


def test_a_function_has_to_be_given():
    with pytest.raises(ModelError, match="block.*has no function to call"):
        measured(None).simulate("1 s")

