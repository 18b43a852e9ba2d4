"""Vectors of signals: numbered ports and arrays of components are joined one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.exceptions import ConnectionRefused, UnknownName
from library.signal import Constant, Gain, Product, StateSpace, Sum
from library.translational import Mass, MotionSensor, Reference


def final(model, path):
    return model.simulate("1 s")[path].final.magnitude


def sources(*values):
    model = Model("vector")
    model.sources = Constant(count=len(values), value=quantity(np.array(values, dtype=float), "N"))
    return model


def test_an_array_is_joined_with_the_numbered_inputs_of_a_block():
    model = sources(1, 2, 4)
    model.total = Sum(unit="N", signs="+-+")
    model.connect(model.sources.y, model.total.u)
    assert final(model, "total.y") == 3
    assert repr(model.total.u) == "<ports total.u1, total.u2, total.u3>"
    assert len(model.total.u) == 3


def test_slices_and_lists_select():
    model = sources(1, 2, 4, 8)
    model.total, model.other = Sum(unit="N", signs="+++"), Sum(unit="N", signs="++")
    model.connect(model.sources[1:3].y, model.total.u[:2])
    model.connect(model.sources[3].y, model.total.u[-1])
    model.connect(model.sources[0].y, model.other.u)  # one signal for both
    assert (final(model, "total.y"), final(model, "other.y")) == (14, 2)


def test_numbered_outputs_are_joined_with_numbered_inputs_and_arrays():
    model = sources(3, 5)
    model.block = StateSpace(A=[[-1.0]], B=[[0.0, 0.0]], C=[[0.0]] * 2, D=[[0, 1.0], [1.0, 0]],
                             input="N", output="N")
    model.gains = Gain(count=2, gain="2", input="N")
    model.product = Product(units="N, N")
    model.connect(model.sources.y, model.block.u)
    model.connect(model.block.y[[1, 0]], model.product.u)
    model.connect(model.block.y, model.gains.u)
    assert final(model, "product.y") == 15
    assert_allclose(final(model, "gains.y"), [10, 6])


def test_an_array_of_sensors_is_summed():
    model = Model("sensors")
    model.bodies = Mass(count=3, v=["1 m/s", "2 m/s", "4 m/s"])
    model.sensors, model.ground = MotionSensor(count=3), Reference()
    model.total = Sum(unit="m/s", signs="+++")
    model.connect(model.bodies.M, model.sensors.R)
    model.connect(model.sensors.C, model.ground.V)
    model.connect(model.sensors.V, model.total.u)
    assert final(model, "total.y") == 7


@pytest.mark.parametrize(("join", "said"), [
    (lambda m: m.connect(m.sources.y, m.total.u), r"total.u \(2\) and sources.y \(3\): numbered"),
    (lambda m: m.connect(m.sources[0].y, m.many.u), "the numbered ports of an array are joined"),
    (lambda m: m.connect(m.lengths.y, m.total.u), "lengths.y is in m and total.u1 in N"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(join, said):
    model = sources(1, 2, 4)
    model.total, model.many = Sum(unit="N"), Sum(unit="N", count=2)
    model.lengths = Constant(count=2, value="1 m")
    with pytest.raises(ConnectionRefused, match=said):
        join(model)
    assert not model._connections


def test_a_number_that_is_not_there_is_named():
    with pytest.raises(UnknownName, match=r"u\[2\]: is none of the 2 ports.*called u1, u2"):
        _ = Sum().u[2]
