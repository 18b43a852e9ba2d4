"""Ideal diodes and freewheels as set-valued statements: alone, in series, parallel, redundant."""

import numpy as np
import pytest
from benches import wired
from benches.friction import missing_energy, values
from benches.parts import Capacitor, Ground, Resistor, TwoPin, VoltageSource
from numpy.testing import assert_allclose

from blocks import quantity, set_valued, sin
from library.mechanisms import OneWayClutch
from library.rotational import Inertia, RotationalReference, TorqueSource


class Diode(TwoPin):
    """Ideal: i >= 0, v <= 0, and one of them is zero."""

    def equations(self):
        yield set_valued(self.i, self.v, static=(0, np.inf), kinetic=(0, np.inf))


def rectifier(diodes):
    """10 V sin t over the diodes into 1 F beside 5 ohm."""
    model = wired("rectifier", "store.R load.R", "source.C store.C load.C earth.P",
                  source=VoltageSource(voltage=lambda t: quantity("10 V") * sin(
                      t * quantity("1 rad/s"))), earth=Ground(), load=Resistor(resistance="5 ohm"),
                  store=Capacitor(capacitance="1 F"), one=Diode())
    ends = [model.source.R, model.store.R]
    if diodes != "one":
        model.two = Diode()
    if diodes == "series":
        model.connect(ends[0], model.one.R)
        model.connect(model.one.C, model.two.R)
        model.connect(model.two.C, ends[1])
    else:
        for d in [model.one] + ([model.two] if diodes == "parallel" else []):
            model.connect(ends[0], d.R)
            model.connect(d.C, ends[1])
    return model


@pytest.mark.parametrize("diodes", ["one", "series", "parallel"])
def test_a_rectifier_follows_its_source_until_the_current_would_reverse(diodes):
    run = rectifier(diodes).simulate("6 s", rtol=1e-11)
    opens = np.pi - np.arctan(5)  # 10 cos t + 10/5 sin t == 0
    assert_allclose(sorted({round(e.time, 9) for e in run.events}), [opens], rtol=0, atol=1e-8)
    t = np.array([0.3, 1.0, 1.5, 3.0, 5.5])
    follows = t < opens
    v = np.where(follows, 10 * np.sin(t), 10 * np.sin(opens) * np.exp(-(t - opens) / 5))
    i = np.where(follows, 10 * np.cos(t) + 2 * np.sin(t), 0)
    assert_allclose(values(run, ["store.v"], t)[0], v, rtol=1e-8)
    share = 2 if diodes == "parallel" else 1
    assert_allclose(values(run, ["one.i"], t)[0], i / share, rtol=0, atol=1e-7)
    if diodes == "parallel":
        assert [s.components for s in run.sticking().undetermined] == [("one", "two")]


@pytest.mark.parametrize(("rtol", "method"), [
    (1e-4, "dopri5"), (1e-5, "rodas4"), (1e-6, "dopri5"), (1e-8, "rodas4")])
def test_a_store_that_was_off_by_the_run_s_error_is_let_go(method, rtol):
    run = rectifier("one").simulate("6 s", rtol=rtol, method=method)
    opens = np.pi - np.arctan(5)
    event = run.events[0].time  # there the store is what the source is, which it was held to
    assert_allclose(run["store.v"].at(quantity(event + 1e-9, "s")).m,
                    10 * np.sin(event) * np.exp(-2e-10), rtol=1e-11)
    assert_allclose([e.time for e in run.events], [opens], rtol=30 * rtol)
    left = 10 * np.sin(opens) * np.exp(-(6 - opens) / 5)
    assert_allclose(run["store.v"].final.m, left, rtol=30 * rtol)
    assert rtol > 1e-6 or "events in Python" not in run.statistics


# -- freewheels --------------------------------------------------------------------------
def shaft(*clutches, torque, inertia=2.0, series=False):
    """An inertia on freewheels to the ground, each given as (backwards, drag, capacity)."""
    model = wired("shaft", "load.R rotor.I", "load.C ground.W",
                  ground=RotationalReference(), rotor=Inertia(inertia=quantity(inertia, "kg*m^2")),
                  load=TorqueSource(torque=torque))
    before = model.rotor.I
    for k, (backwards, drag, capacity) in enumerate(clutches):
        clutch = model.add(f"c{k}", OneWayClutch(
            drag_torque=quantity(drag, "N*m"), torque_capacity=quantity(capacity, "N*m")))
        inner, outer = (clutch.C, clutch.R) if backwards else (clutch.R, clutch.C)
        model.connect(inner, before)
        if series and k < len(clutches) - 1:
            before = outer
        else:
            model.connect(outer, model.ground.W)
    return model


def wave(t):
    return quantity("4 N*m") * sin(t * quantity("1 rad/s"))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_freewheels_side_by_side_hold_one_way_and_run_the_other_as_one(count):
    run = shaft(*[(False, 0.0, 100.0)] * count, torque=wave).simulate("6 s", rtol=1e-10)
    # free while it turns forward: 2 w' = 4 sin t, w = 2 (1 - cos t) >= 0 for ever
    t = np.linspace(0, 6, 30)
    assert_allclose(values(run, ["rotor.w"], t)[0], 2 * (1 - np.cos(t)), rtol=0, atol=1e-8)
    held = shaft(*[(True, 0.0, 100.0)] * count, torque=wave).simulate("6 s", rtol=1e-10)
    # held until the torque reverses at pi, then backwards
    late = t > np.pi
    assert_allclose(values(held, ["rotor.w"], t)[0], np.where(late, -2 * (1 + np.cos(t)), 0),
                    rtol=0, atol=1e-8)  # fmt: skip
    if count == 1:
        (event,) = held.events
        assert (event.mode, event.time) == ("slides forward", pytest.approx(np.pi, abs=1e-9))
    assert missing_energy(held) < 1e-9
    torques = values(held, [f"c{k}.t" for k in range(count)], [1.0])[:, 0]
    assert_allclose(np.abs(torques), 4 * np.sin(1.0) / count, rtol=1e-9)


def test_two_freewheels_of_opposite_sense_lock_a_shaft():
    run = shaft((False, 0.0, 100.0), (True, 0.0, 100.0), torque=wave).simulate("6 s", rtol=1e-10)
    t = np.linspace(0, 6, 30)
    assert np.all(values(run, ["rotor.w"], t) == 0)
    one, other = values(run, ["c0.t", "c1.t"], t)
    assert_allclose(one - other, 4 * np.sin(t), rtol=0, atol=1e-9)
    assert one.max() < 1e-9  # each bears one sense only
    assert other.max() < 1e-9


@pytest.mark.parametrize("weaker", [3.0, 8.0])
def test_freewheels_in_series_bear_what_the_weaker_one_bears(weaker):
    model = shaft((True, 0.0, weaker), (True, 0.0, 10.0), series=True,
                  torque=lambda t: quantity("5 N*m") + 0 * wave(t))  # fmt: skip
    run = model.simulate("2 s", rtol=1e-10)
    slip = max(5 - weaker, 0) / 2  # rad/s2
    assert_allclose(values(run, ["rotor.w"], [2.0])[0], 2 * slip, rtol=1e-8, atol=1e-12)
    assert_allclose(np.abs(values(run, ["c0.t", "c1.t"], [1.0])), min(weaker, 5), rtol=1e-9)
    assert missing_energy(run) < 1e-9
