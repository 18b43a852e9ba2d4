"""A body on continuous friction creeps under any load: published speeds."""

import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import quantity
from library.translational import ForceSource, Mass, Reference, TranslationalFriction

# load in N: creep in m/s, for 15 N breakaway, 10 N Coulomb, 0.01 m/s, 5 N s/m; from an
# independent solution of the force balance
CREEP = {1: 9.25853103067586e-5, 5: 4.95940848827975e-4, 9: 1.12027954018973e-3,
         9.9: 1.3659280177359e-3}  # fmt: skip


@pytest.mark.parametrize("load", CREEP)
def test_a_loaded_body_creeps_at_the_published_speed(load):
    model = wired("creep", "body.M friction.R push.R", "friction.C push.C ground.V",
                  body=Mass(mass="10 g"),
                  friction=TranslationalFriction(breakaway_force="15 N", coulomb_force="10 N",
                                                 breakaway_velocity="0.01 m/s",
                                                 viscous_coefficient="5 N*s/m"),
                  push=ForceSource(force=quantity(load, "N")), ground=Reference())
    run = model.simulate("1 ms", rtol=1e-12, method="rodas4")
    assert_allclose(run["body.v"].final.to("m/s").magnitude, CREEP[load], rtol=1e-10)


@pytest.mark.parametrize("load", CREEP)
def test_a_loaded_massless_node_creeps_at_the_published_speed(load):
    model = wired("massless creep", "friction.R push.R", "friction.C push.C ground.V",
                  friction=TranslationalFriction(breakaway_force="15 N", coulomb_force="10 N",
                                                 breakaway_velocity="0.01 m/s",
                                                 viscous_coefficient="5 N*s/m"),
                  push=ForceSource(force=quantity(load, "N")), ground=Reference())
    run = model.simulate("1 s")
    assert_allclose(run["friction.v"].to("m/s").magnitude, CREEP[load], rtol=1e-10)
