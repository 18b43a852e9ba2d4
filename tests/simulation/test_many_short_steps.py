"""Does a driven run stay right where machine code carries out what the program tells it?

Thousands of short steps: sums that are known exactly, the same run with every event judged by
Python, and looks that must change nothing.
"""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import ParameterError
from library.signal import DiscreteIntegrator, Sine
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
)


def pushed():
    return wired("pushed", "body.M push.R place.R", "floor.V push.C place.C",
                 body=Mass(mass="2 kg"), floor=Reference(), push=ForceSource(),
                 place=MotionSensor())


def rubbing():
    """Two bodies on a rough floor, with a spring between them and a stop."""
    model = pushed()
    wire(model, "body.M rub.R spring.R stop.R", "spring.C second.M drag.R",
         "floor.V rub.C drag.C stop.C",
         rub=TranslationalFriction(law="coulomb", coulomb_force="20 N", breakaway_force="25 N"),
         spring=Spring(stiffness="1 kN/m"), second=Mass(mass="1 kg"),
         drag=TranslationalFriction(law="coulomb", coulomb_force="5 N", breakaway_force="7 N"),
         stop=HardStop(upper_bound="50 mm", lower_bound="-50 mm"))
    return model


def waved():
    """Functions of time, and samples every 7 ms."""
    model = sampled("7 ms")
    wire(model, "wave.y shake.S", "body.M shake.R", "floor.V shake.C",
         wave=Sine(amplitude="3 N", frequency="7 Hz"), shake=ForceSource())
    return model


def sampled(period="1 ms"):
    """A sampler of its own, which sums up the way that it finds."""
    model = pushed()
    wire(model, "place.P sum.u", sum=DiscreteIntegrator(input="m", sample_time=period))
    return model


def driven(run, steps, look=False):
    rows = []
    for k in range(steps):
        rows.append(run.step([60 * np.sin(0.02 * k)], 1e-3))
        if look and k % 50 == 0:
            run.result()
    return np.array(rows)


def test_thousands_of_steps_add_up():
    """v = h sum F / m and x by the trapezia of v, through more events than a call keeps."""
    run = pushed().stepper(inputs=["push.S"], outputs=["body.v", "place.P"])
    force = np.random.default_rng(1).uniform(-5, 5, 5000)
    seen = np.array([run.step([f], 1e-3) for f in force])
    v = np.cumsum(force) * 1e-3 / 2
    x = np.cumsum((v + np.append(0, v[:-1])) / 2) * 1e-3
    assert_allclose(seen, np.column_stack([v, x]), rtol=1e-9, atol=1e-12)
    middle = run.result()["body.v"].at([f"{k}.5 ms" for k in (0, 1234, 4999)])
    assert_allclose(middle.to("m/s").m, (np.append(0, v[:-1]) + v)[[0, 1234, 4999]] / 2, rtol=1e-9)


@pytest.mark.parametrize(("make", "outputs", "method"), [
    (rubbing, ["body.v", "second.v", "rub.f"], "auto"),
    (rubbing, ["body.v", "second.v", "rub.f"], "rodas4"),
    (waved, ["body.v", "sum.x"], "auto"),
    (sampled, ["body.v", "sum.x"], "auto"),
])  # fmt: skip
def test_machine_code_carries_out_what_python_would(make, outputs, method):
    runs = [make().stepper(inputs=["push.S"], outputs=outputs, method=method) for _ in range(2)]
    runs[1]._driver.running.rules = lambda t: None  # Python judges every event
    seen = [driven(run, 400) for run in runs]
    assert runs[0]._steps._bound is not None
    assert_allclose(seen[0], seen[1], rtol=1e-9, atol=1e-9 * np.abs(seen[1]).max())
    events = [[(e.component, e.mode) for e in run.result().events] for run in runs]
    assert events[0] == events[1] and (make is not rubbing or len(events[0]) > 6)


def test_looks_change_nothing():
    first, second = (rubbing().stepper(inputs=["push.S"], outputs=["body.v"]) for _ in range(2))
    assert np.array_equal(driven(first, 300), driven(second, 300, look=True))
    a, b = (run.result().sample("body.v", every="1.7 ms")["body.v"].m for run in (first, second))
    assert np.array_equal(a, b)


def test_numbers_of_arrays_come_one_after_the_other():
    model = wired("row", "bodies.M push.R", "floor.V push.C",
                  bodies=Mass(mass="2 kg", count=3), floor=Reference(), push=ForceSource(count=3))
    run = model.stepper(inputs=["push.S"], outputs=["bodies.v"])
    run.set("push.S", ["2 N", "4 N", "6 N"])
    run.advance("1 s")
    assert_allclose(run.numbers(), [1, 2, 3], rtol=1e-12)


def test_what_is_no_number_is_refused():
    run = pushed().stepper(inputs=["push.S"], outputs=["body.v"])
    with pytest.raises(ParameterError, match=r"run.step\(\): was given nan for 'push.S', which is "
                                             "not a finite number. Give a value in N"):
        run.step([np.nan], 1e-3)
    with pytest.raises(ParameterError, match="must go on for a positive time, but was given -1 s"):
        run.step([1.0], -1)
    assert run.step([2.0], 1.0)[0] == pytest.approx(1.0)
