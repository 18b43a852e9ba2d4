"""Friction and a rigid stop that hold one motion together: they let go as one, in machine code."""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import quantity
from library.mechanisms import RackAndPinion
from library.rotational import RotationalFriction, RotationalReference
from library.signal import Pulse, Sine

PUSH, SLIDING = 20.0, 3.0  # N


def pressed(count=1, side=1, seals=1, by_a_rack=False, rings=False):
    """Bodies of 2 kg at their stops, pressed against these by a sine first."""
    model, share = wired("pressed", ground=tr.Reference()), SLIDING / seals
    if by_a_rack:
        model.base = RotationalReference()
    for k in range(count):
        wire(model, f"push{k}.R body{k}.M stop{k}.R", f"push{k}.C stop{k}.C ground.V",
             f"wave{k}.y push{k}.S", **{
                 f"body{k}": tr.Mass(mass="2 kg"), f"push{k}": tr.ForceSource(),
                 f"wave{k}": Sine(amplitude=f"{side * PUSH} N", frequency=f"{1 + k} Hz"),
                 f"stop{k}": tr.HardStop(model="restitution", restitution=0.2, x=f"{10 * side} mm",
                                         lower_bound="-10 mm", upper_bound="10 mm")})
        for n in (f"{k}{j}" for j in range(seals)):
            if by_a_rack:  # of 50 mm, so that its friction is that of the force on the rack
                wire(model, f"rack{n}.P seal{n}.R", f"rack{n}.R body{k}.M", f"seal{n}.C base.W", **{
                    f"rack{n}": RackAndPinion(radius="50 mm"), f"seal{n}": RotationalFriction(
                        law="coulomb", coulomb_torque=f"{0.05 * share} N*m",
                        breakaway_torque=f"{0.05 * share * 4 / 3} N*m")})
            else:
                wire(model, f"seal{n}.R body{k}.M", f"seal{n}.C ground.V", **{
                    f"seal{n}": tr.TranslationalFriction(law="coulomb", coulomb_force=f"{share} N",
                                                         breakaway_force=f"{share * 4 / 3} N")})
        if rings:
            wire(model, f"body{k}.M spring{k}.R", f"spring{k}.C little{k}.M", **{
                f"little{k}": tr.Mass(mass="1 g"), f"spring{k}": tr.Spring(stiffness="1e5 N/m")})
    return model


@pytest.mark.parametrize(("count", "side", "seals", "by_a_rack", "method"), [
    (1, 1, 1, False, "auto"), (1, -1, 2, False, "dopri5"), (3, 1, 2, False, "rodas4"),
    (3, 1, 2, False, "dopri5"), (2, -1, 1, True, "auto"), (1, 1, 1, True, "rodas4")])
def test_they_let_go_together_when_the_load_pulls_more_than_friction_bears(
        count, side, seals, by_a_rack, method):
    run = pressed(count, side, seals, by_a_rack).simulate("0.75 s", method=method, rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    assert run.energy().relative_residual < 1e-8
    for k in range(count):
        w = 2 * np.pi * (1 + k)
        away = (np.pi + np.arcsin(SLIDING * 4 / 3 / PUSH)) / w
        first = [e for e in run.events if e.component in (f"stop{k}", f"seal{k}0")][:2]
        assert {e.description.split(" (")[0] for e in first} == {
            "opens", "slides backward" if side > 0 else "slides forward"}
        assert_allclose([e.time for e in first], away, rtol=1e-9)

        def speed(t, w=w, away=away):  # pushed back, friction against that
            return side * (PUSH / w * (np.cos(w * away) - np.cos(w * t))
                           + SLIDING * (t - away)) / 2.0

        late = away + np.linspace(0.0, 0.1, 12) / (1 + k)
        assert_allclose(run[f"body{k}.v"].at(quantity(late, "s")).m, speed(late), atol=1e-8)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_what_rings_beside_them_does_not_slow_them_down(method):
    run = pressed(2, rings=True).simulate("0.5 s", method=method, rtol=1e-6)
    assert "stretches in Python" not in run.statistics
    assert run.energy().relative_residual < 1e-5


DRIVE, KINETIC, STROKE, REBOUND, SHIFT = 100.0, 30.0, 0.2, 0.2, 5e-3  # N, N, m, 1, s


def pistons(count, stop_first=False):
    """Pistons of 2 kg that are pushed from stop to stop, each a little after the one before."""
    parts = {"body": tr.Mass(count=count, mass="2 kg"), "push": tr.ForceSource(count=count),
             "ground": tr.Reference(), "seal": tr.TranslationalFriction(
                 count=count, law="coulomb", coulomb_force=f"{KINETIC} N", breakaway_force="40 N")}
    stop = {"stop": tr.HardStop(count=count, model="restitution", restitution=REBOUND,
                                lower_bound="0 m", upper_bound=f"{STROKE} m")}
    return wired("pistons", "body.M seal.R stop.R push.R", "ground.V seal.C stop.C push.C",
                 "valve.y push.S", **(stop | parts if stop_first else parts | stop), valve=Pulse(
                     count=count, amplitude=f"{2 * DRIVE} N", bias=f"{-DRIVE} N",
                     period="1 s", width=0.5, start=quantity(SHIFT * np.arange(count), "s")))


def comes_to_its_stops(run, count):
    """Bounces come closer by a constant factor, as friction brakes each way; then it rests."""
    fast, slow = (DRIVE + KINETIC) / 2.0, (DRIVE - KINETIC) / 2.0  # m/s^2
    arrives, speed = np.sqrt(2 * STROKE / slow), np.sqrt(2 * STROKE * slow)
    factor = REBOUND * np.sqrt(slow / fast)
    between = speed * (REBOUND / fast + factor / slow)
    for k in range(count):
        for half, side in ((0, "upper"), (1, "lower")):
            start = half / 2 + SHIFT * k
            seen = [e for e in run.events if e.component == f"stop[{k}]"
                    and start < e.time < start + 0.45]
            assert {e.description.split(" (")[1] for e in seen} == {f"{side}_force)"}
            hits = [e.time for e in seen if "rebounds" in e.description][:5]
            assert_allclose(hits, start + arrives + between * (1 - factor ** np.arange(5)) / (
                1 - factor), atol=1e-8)
            assert "closes" in seen[-1].description  # within 1e-11 of the stroke there is no way
            assert_allclose(seen[-1].time, start + arrives + between / (1 - factor), atol=1e-7)
        leaves = [e.time for e in run.events if e.component == f"stop[{k}]"
                  and "opens" in e.description and e.time > 0.3]
        assert_allclose(leaves, [0.5 + SHIFT * k], rtol=1e-14)
    assert_allclose(run["stop.x"].final.m, 0.0, atol=1e-12)


@few(3, ("count", "method", "stop_first"), [
    (1, "dopri5", False), (12, "auto", False), (3, "auto", True), (3, "rodas4", True)])
def test_pistons_come_to_rest_and_leave_in_machine_code(count, method, stop_first, in_python):
    pytest.importorskip("llvmlite")
    run = pistons(count, stop_first).simulate("0.98 s", method=method, rtol=1e-9)
    assert not in_python
    comes_to_its_stops(run, count)
    assert run.energy().relative_residual < 1e-12
