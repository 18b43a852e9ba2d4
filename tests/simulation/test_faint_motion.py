"""A motion far below its nominal values is told, not one that is small beside what acts on it."""

import warnings

import numpy as np
import pytest
from benches import wire, wired

from blocks import Model, NominalWarning, Variable, der, quantity
from library.electrical import (
    Capacitor,
    DCCurrentSource,
    DCVoltageSource,
    ElectricalReference,
    Resistor,
)
from library.electromechanical import TranslationalElectromechanicalConverter
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    TwoPort,
)


def resonator(force="1 nN", spring=None):
    """1 ug on 0.4 N/m, which a constant force swings by nanometres."""
    return wired("resonator", "push.R spring.R block.M", "push.C spring.C ground.V",
                 block=Mass(mass="1 ug"), spring=spring or Spring(stiffness="0.4 N/m"),
                 push=ForceSource(force=force), ground=Reference())


def swing(t):
    """Its closed form: the source pulls R towards C."""
    return 1e-9 / 0.4 * (1 - np.cos(np.sqrt(0.4 / 1e-9) * t))


def error(run):
    t = np.linspace(0, 1e-2, 400)
    return np.abs(np.abs(run["spring.x"].at(quantity(t, "s")).m) - swing(t)).max() / 5e-9


def test_a_swing_of_nanometres_where_metres_are_expected_is_told():
    model = resonator()
    with pytest.warns(NominalWarning, match=r"resonator: spring\.x never exceeds 5 nm") as told:
        model.simulate("10 ms", method="dopri5")["spring.x"].to("nm")
    assert told[0].filename == __file__
    assert "may be off by 10 nm" in str(told[0].message)
    assert "model.nominal_values('5 nm')" in str(told[0].message)


@pytest.mark.parametrize("how", ["nominal", "atol"])
def test_its_advice_gives_the_closed_form(how):
    model = resonator()
    options = {"atol": ["1 fm", "1 pm/s"]} if how == "atol" else {}
    if how == "nominal":
        model.nominal_values("5 nm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate("10 ms", method="dopri5", rtol=1e-7, **options)
        assert run["spring.x"].max().m > 0
    assert error(run) < 1e-4


def test_a_small_machine_beside_a_usual_circuit_is_told():
    model = resonator("0 N")
    wire(model, "supply.p wire.p", "wire.n coil.p", "coil.n supply.n earth.V", "coil.R block.M",
         "coil.C ground.V",
         coil=TranslationalElectromechanicalConverter(constant="1 nN/A"),
         supply=DCVoltageSource(voltage="1 V"), wire=Resistor(resistance="1 ohm"),
         earth=ElectricalReference())
    with pytest.warns(NominalWarning, match=r"spring\.x never exceeds"):
        model.simulate("10 ms", method="rodas4")["coil.f"].max()


def test_a_charge_of_picoamperes_is_told():
    model = wired("integrator", "source.p store.n earth.V", "source.n store.p",
                  source=DCCurrentSource(current="0.1 pA"), earth=ElectricalReference(),
                  store=Capacitor(capacitance="1 uF"))
    with pytest.warns(NominalWarning, match=r"store\.\w+ never exceeds 100 nV"):
        model.simulate("1 s", method="BDF").table("store.v")


class InMillimetres(TwoPort):
    """A spring that counts in mm."""

    x = Variable("mm", "0 mm", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("0.4 N/m") * self.x


def test_sizes_are_told_in_any_unit():
    model = resonator(spring=InMillimetres())
    with pytest.warns(NominalWarning, match=r"spring\.x never exceeds 5 nm, .* off by 10 nm"):
        model.simulate("10 ms", method="dopri5")["block.v"].max()


def at_rest_on_friction():
    return wired("creeps", "block.M rub.R push.R spring.R hold.R",
                 "ground.V rub.C push.C spring.C hold.C",
                 block=Mass(mass="1 kg"), ground=Reference(),
                 rub=TranslationalFriction(law="simscape", coulomb_force="10 N",
                                           breakaway_force="12 N"), push=ForceSource(force="1 mN"),
                 spring=Spring(stiffness="1 MN/m"), hold=ForceSource(force="3 N"))


def a_wave_in_a_chain():
    model = Model("chain")
    model.masses, model.springs = Mass(count=60), Spring(count=59, stiffness="1 kN/m")
    model.dampers = Damper(count=59, damping="1 N*s/m")
    for i in range(59):
        model.connect(model.masses[i].M, model.springs[i].R, model.dampers[i].R)
        model.connect(model.masses[i + 1].M, model.springs[i].C, model.dampers[i].C)
    model.masses.v = quantity(np.eye(60)[0], "m/s")
    return model


def nothing_moves():
    return resonator("0 N")


@pytest.mark.parametrize(("make", "method", "path"), [
    (at_rest_on_friction, "auto", "block.v"), (at_rest_on_friction, "dopri5", "spring.x"),
    (a_wave_in_a_chain, "dopri5", "masses.v"), (nothing_moves, "dopri5", "spring.x"),
])  # fmt: skip
def test_what_creeps_rests_or_has_not_begun_is_not(make, method, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(make().simulate("20 ms", method=method)[path].m).all()
