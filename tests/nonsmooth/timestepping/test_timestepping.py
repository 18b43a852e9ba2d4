"""Moreau-Jean time stepping on models, against closed forms and published numbers."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import Branch, Model, ParameterError, Variable, der, quantity, where
from blocks.machine import compiling
from library.rotational import Inertia, RotationalReference
from library.signal import Sign, Sine, Step

# x(4 s) of a block pulled by a spring over a rough floor (T. Piatkowski's test problem, solved
# with exact Coulomb friction piecewise in closed form to 40 digits)
PULLED = 3.973261817376106


def pulled() -> Model:
    return wired("pulled", "pull.R spring.R", "spring.C block.M floor.R place.R",
                 "pull.C floor.C place.C ground.V",
                 block=tr.Mass(mass="1 kg"), spring=tr.Spring(stiffness="90 N/m"),
                 floor=dry(10),
                 pull=tr.VelocitySource(velocity=lambda t: where(t < quantity("2 s"),
                                                                 quantity("2 m/s"),
                                                                 quantity("0 m/s"))),
                 place=tr.MotionSensor(), ground=tr.Reference())


def test_the_error_of_a_sliding_block_falls_with_the_square_of_the_step():
    model, errors = pulled(), []
    for step in ("20 ms", "10 ms", "5 ms"):
        run = model.simulate("4 s", method="moreau_jean", step=step)
        errors.append(abs(run["place.P"].final.to("m").m - PULLED))
    assert errors[1] < 3.2e-3
    assert 2.5 < errors[0] / errors[1] < 6 and 2.5 < errors[1] / errors[2] < 6


def test_what_sticks_does_not_drift():
    run = pulled().simulate("4 s", method="moreau_jean", step="10 ms")
    assert np.ptp(run["place.P"].at(["2.5 s", "3 s", "3.5 s", "4 s"]).to("m").m) <= 1e-14
    assert run.sticking()["floor"].longest > 1.9


def test_a_block_slides_to_rest_after_the_way_that_its_energy_lasts():
    model = wired("slides",
                  block=tr.Mass(mass="2 kg", v="3 m/s"), place=tr.MotionSensor(),
                  ground=tr.Reference())
    for name, force in (("one", "4 N"), ("two", "6 N")):
        brake = model.add(name, tr.TranslationalFriction(law="coulomb", coulomb_force=force,
                                                         breakaway_force=force))  # fmt: skip
        model.connect(model.block.M, brake.R)
        model.connect(brake.C, model.ground.V)
    wire(model, "block.M place.R", "place.C ground.V")
    run = model.simulate("1 s", method="moreau_jean", step="10 ms")
    assert run["block.v"].final.m == 0.0
    assert_allclose(run["place.P"].final.to("m").m, 2 * 3**2 / (2 * 10), rtol=1e-12)


def test_a_bouncing_ball_comes_to_rest_on_its_stop():
    model = wired("bouncing", "ball.M stop.R weight.R", "stop.C weight.C ground.V",
                  ball=tr.Mass(mass="1 kg"),
                  stop=tr.HardStop(model="restitution", lower_bound="0 m", upper_bound="5 m",
                                   restitution=0.5, x="1 m"),
                  weight=tr.ForceSource(force="-9.81 N"), ground=tr.Reference())
    run = model.simulate("3 s", method="moreau_jean", step="2 ms")
    assert abs(run["stop.x"].final.to("m").m) < 0.02  # within a step's flight of the floor
    assert abs(run["ball.v"].final.to("m/s").m) < 1e-9
    peak = run["stop.x"].at(f"{np.sqrt(2 / 9.81) * 1.5} s").to("m").m
    assert_allclose(peak, 0.25, atol=0.02)  # restitution squared times the height


@pytest.mark.parametrize(("options", "after"), [
    ({"method": "moreau_jean", "step": "1 ms"}, [-0.6, 0.4, 0.4, 0.4, 0.4]),  # all at once
    ({}, [0, 0, 0, 0, 1]),  # one after the other
])  # fmt: skip
def test_touching_balls_in_a_row_are_struck_at_once_or_one_after_the_other(options, after):
    model = Model("row")
    balls = [tr.Mass(v=f"{v} m/s") for v in (1, 0, 0, 0, 0)]
    stops = [tr.HardStop(model="restitution", restitution=1, upper_bound="0 m", lower_bound="-1 m",
                         x=f"{x} mm") for x in (-0.5, 0, 0, 0)]
    for k, ball in enumerate(balls):
        setattr(model, f"ball{k}", ball)
    for k, stop in enumerate(stops):
        setattr(model, f"stop{k}", stop)
        model.connect(getattr(model, f"ball{k}").M, stop.R)
        model.connect(stop.C, getattr(model, f"ball{k + 1}").M)
    run = model.simulate("20 ms", **options)
    assert_allclose([run[f"ball{k}.v"].final.to("m/s").m for k in range(5)], after, atol=1e-9)


def test_smooth_models_are_solved_by_the_trapezoidal_rule():
    model = wired("oscillator", "mass.M spring.R", "spring.C ground.V",
                  mass=tr.Mass(mass="1 kg", v="1 m/s"), spring=tr.Spring(stiffness="4 N/m"),
                  ground=tr.Reference())
    run = model.simulate("3 s", method="moreau_jean", step="5 ms")
    assert_allclose(run["spring.x"].final.to("m").m, np.sin(6.0) / 2, atol=5e-5)


def test_the_step_must_be_given():
    with pytest.raises(ParameterError, match="takes fixed steps"):
        pulled().simulate("1 s", method="moreau_jean")


def test_relations_switch_at_the_end_of_the_step_in_which_they_change():
    class Buffer(Branch, domain=tr.translational):
        """Pushes with 10 N/m from x = 0 on: a spring that is only touched."""

        x = Variable("m", "-1 m", priority="high")

        def equations(self):
            yield der(self.x) == self.v
            yield self.f == where(self.x > 0, quantity("10 N/m") * self.x, quantity("0 N"))

    model = wired("buffer", "mass.M buffer.R rubs.R", "buffer.C rubs.C ground.V",
                  mass=tr.Mass(mass="1 kg", v="2 m/s"), buffer=Buffer(),
                  rubs=dry(0.1), ground=tr.Reference())
    run = model.simulate("1.4 s", method="moreau_jean", step="1 ms")
    exact = model.simulate("1.4 s", rtol=1e-10)
    assert exact["mass.v"].final.m < -1  # it has been thrown back
    assert_allclose(run["mass.v"].final.m, exact["mass.v"].final.m, atol=5e-3)


def test_a_wave_of_many_periods_a_step_leaves_room_for_all_looks(monkeypatch):
    monkeypatch.setattr(compiling, "is_installed", lambda: False)  # arrays have bounds in Python
    model = wired("waves", "step.y sign.u", sign=Sign(unit="1"), wave=Sine(frequency="100 kHz"),
                  step=Step(final=1.0, start="20 ms"), ground=RotationalReference(),
                  wheel=Inertia())
    run = model.simulate("30 ms", method="moreau_jean", step="1 ms")
    assert_allclose([e.time for e in run.events], 0.02)
