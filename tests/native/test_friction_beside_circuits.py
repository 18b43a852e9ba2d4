"""Exact friction whose lever changes with the motion, beside ideal diodes: closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import Model, quantity
from library.electrical import ACVoltageSource, Diode, ElectricalReference, Inductor, Resistor
from library.mechanisms import SliderCrank
from library.rotational import Inertia, RotationalReference, TorqueSource
from library.translational import Reference, TranslationalFriction, table

pytest.importorskip("llvmlite")

CRANK, ROD, INERTIA, SPEED = 0.05, 0.2, 0.01, 12.0
SLIDES, HOLDS, RAMP = 20.0, 25.0, 2.0  # N, N, N m/s


def crank_beside_a_rectifier():
    """A flywheel turns a crank whose slider rubs, until it rests; a torque grows from 1 s on."""
    model = Model("crank")
    model.wheel, model.frame = Inertia(inertia=f"{INERTIA} kg*m^2", w=f"{SPEED} rad/s"), Reference()
    model.crank = SliderCrank(crank=f"{CRANK} m", rod=f"{ROD} m", phi="0.3 rad")
    model.guide = TranslationalFriction(law="coulomb", coulomb_force=f"{SLIDES} N",
                                        breakaway_force=f"{HOLDS} N")
    model.push = TorqueSource(torque=table(["0 s", "1 s", "2 s"],
                                           quantity([0, 0, RAMP], "N*m")))
    model.base = RotationalReference()
    model.connect(model.wheel.I, model.crank.A, model.push.R)
    model.connect(model.push.C, model.base.W)
    model.connect(model.crank.P, model.guide.R)
    model.connect(model.guide.C, model.frame.V)
    model.mains, model.diode = ACVoltageSource(amplitude="10 V", frequency="3 Hz"), Diode()
    model.coil, model.load = Inductor(inductance="50 mH"), Resistor(resistance="5 ohm")
    model.ground = ElectricalReference()
    model.connect(model.mains.p, model.diode.p)
    model.connect(model.diode.n, model.coil.p)
    model.connect(model.coil.n, model.load.p)
    model.connect(model.load.n, model.mains.n, model.ground.V)
    return model


def place(phi):
    """Distance of the slider from the shaft."""
    return CRANK * np.cos(phi) + np.sqrt(ROD**2 - (CRANK * np.sin(phi)) ** 2)


def lever(phi):
    """Its change with the angle."""
    side = CRANK * np.sin(phi)
    return -side - side * CRANK * np.cos(phi) / np.sqrt(ROD**2 - side**2)


def rests_at():
    """Where the way of the slider has taken up the energy of the wheel."""
    way = INERTIA * SPEED**2 / 2 / SLIDES
    assert way < place(0.3) - place(np.pi)  # on the way in, to the inner dead centre
    return brentq(lambda phi: place(0.3) - place(phi) - way, 0.3, np.pi)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_slider_rests_where_its_friction_has_taken_up_the_energy(method):
    model = crank_beside_a_rectifier()
    result = model.simulate("2 s", method=method, rtol=1e-9)
    phi = rests_at()
    assert_allclose(result["crank.phi"].at("1 s").m, phi, rtol=1e-8)
    assert abs(result["wheel.w"].at("1 s").m) < 1e-9
    tears = [e.time for e in result.events if e.component == "guide" and e.previous == "stuck"]
    assert_allclose(tears, [1 + HOLDS * abs(lever(phi)) / RAMP], rtol=1e-9)
    assert "stretches in Python" not in result.statistics
