"""Nanometres beside kilometres: nominal values say which error matters."""

import numpy as np
import pytest
from benches import wired

from blocks import Model, ParameterError, Target, Variable, quantity, sin
from library.translational import ForceSource, Mass, Reference, Spring, SpringDamper

M, K, D, W = 1e-6, 1e9, 1e6, 2 * np.pi * 50.0  # 1 mg on 1 GN/m and 1 MN s/m, shaken at 50 Hz
RTOL = 1e-6


def badly_scaled(with_nominal_values):
    """A ton that swings by a kilometre, and a tiny probe that moves by a nanometre."""
    model = Model("scales")
    model.train = Mass(mass="1 t", v="0 m/s")
    model.hook = Spring(stiffness="1 kN/m", x="1 km")
    model.probe = Mass(mass=quantity(M, "kg"))
    model.holder = SpringDamper(stiffness="1 GN/m", damping=quantity(D, "N*s/m"))
    model.shaker = ForceSource(force=lambda t: quantity("1 N") * sin(quantity(W, "rad/s") * t))
    model.ground = Reference()
    model.connect(model.train.M, model.hook.R)
    model.connect(model.probe.M, model.holder.R, model.shaker.R)
    model.connect(model.hook.C, model.holder.C, model.shaker.C, model.ground.V)
    if with_nominal_values:
        model.probe.v = Target("0 m/s", nominal="0.3 um/s")
        model.holder.x = Target("0 m", nominal="1 nm")
    return model


def probe_deformation(t):
    """m x'' + d x' + k x = sin(w t) from rest."""
    root = np.sqrt(D**2 - 4 * M * K)
    slow, fast = -2 * K / (D + root), -(D + root) / (2 * M)
    steady = 1 / (K - M * W**2 + 1j * D * W)
    x0, v0 = -steady.imag, -(1j * W * steady).imag
    a = (v0 - fast * x0) / (slow - fast)
    return (steady * np.exp(1j * W * t)).imag + a * np.exp(slow * t) + (x0 - a) * np.exp(fast * t)


def errors(with_nominal_values):
    """(relative error of the train, error of the probe by its own size)."""
    run = badly_scaled(with_nominal_values).simulate("0.5 s", rtol=RTOL, method="BDF")
    t = run.time.to("s").magnitude
    train, probe = run["hook.x"].to("m").magnitude, run["holder.x"].to("m").magnitude
    exact = probe_deformation(t)
    return np.max(np.abs(train / 1e3 - np.cos(t))), np.max(np.abs(probe - exact)) / 1e-9


def test_nominal_values_bring_the_small_part_to_its_tolerance():
    train, probe = errors(True)
    assert train < 100 * RTOL
    assert probe < 100 * RTOL


def test_without_nominal_values_the_small_part_is_lost():
    train, probe = errors(False)
    assert train < 100 * RTOL
    assert probe > 0.05


def carried_by_two_springs(speed):
    """1 kg and 2 kg in a row on 1 MN/m and 50 N/m, drawn by 0.3 N, at rest where forces balance."""
    return wired("row", "a.M stiff.R soft.C", "b.M soft.R pull.R", "floor.V stiff.C pull.C",
                 floor=Reference(), a=Mass(mass="1 kg", v=speed), b=Mass(mass="2 kg", v=speed),
                 pull=ForceSource(force="0.3 N"),
                 stiff=SpringDamper(stiffness="1 MN/m", damping="4 kN*s/m", x="0.3 um"),
                 soft=SpringDamper(stiffness="50 N/m", damping="3 N*s/m", x="6 mm"))


@pytest.mark.parametrize("speed", ["1e-22 m/s", "-1e-33 m/s"])
@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_speeds_that_have_died_out_are_no_size(speed, method):
    run = carried_by_two_springs(speed).simulate("100 s", method=method)
    rest = carried_by_two_springs("0 m/s").simulate("100 s", method=method)
    assert run.statistics["steps"] <= rest.statistics["steps"] + 5
    assert abs(run["b.v"].final.m) < 1e-12


@pytest.mark.parametrize(("value", "told"), [
    ("0 mm", "must be greater than 0, but is 0 mm"), ("-1 mm", "must be greater than 0"),
    (quantity(np.inf, "m"), "is inf m, which is not a finite number"),
])
def test_a_nominal_value_is_a_size(value, told):
    for give, where in (
            (lambda: Spring(x=Target("0 m", nominal=value)), r"Spring\.x \(nominal\)"),
            (lambda: Variable("m", nominal=value), "nominal"),
            (lambda: badly_scaled(False).nominal_values("1 kN", value), r"nominal_values\(\)")):
        with pytest.raises(ParameterError, match=f"^{where}: {told}"):
            give()


def test_two_sizes_of_one_dimension_are_refused():
    model = badly_scaled(False)
    with pytest.raises(ParameterError, match="was given 2 N after another one of the same dim"):
        model.nominal_values("1 kN", "2 N")
    with pytest.raises(ParameterError, match=r"^simulate\(atol=…\): was given 1 nm after another"):
        model.simulate("1 s", atol=["1 m", "1 um/s", "1 nm"])
