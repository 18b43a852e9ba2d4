"""Algebraic loops in machine code: networks of dampers without masses between them."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Component, Parameter, Variable, der, quantity, sin, where
from blocks.machine.signatures import run_code
from blocks.native.method import Rodas4
from library.translational import Damper, ForceSource, Mass, Reference, Spring, TwoPort


class TwoStage(TwoPort):
    """A damper that becomes harder above a speed."""

    damping, hard = Parameter("5 N*s/m"), Parameter("9 N*s/m")
    limit = Parameter("0.1 m/s")
    power_dissipated = Variable("W")

    def equations(self):
        over = self.v - self.limit
        yield self.f == self.damping * self.v + where(
            over > quantity("0 m/s"), self.hard * over, quantity("0 N"))
        yield self.power_dissipated == self.f * self.v


def tesseract(first=None):
    """2 kg at one corner of a cube of four dimensions, whose 32 edges are dampers of 5 N*s/m.

    Its opposite corner is held. The 14 corners between have no mass.
    """
    model = wired("tesseract", ground=Reference(), block=Mass(mass="2 kg", v="1 m/s"))
    corners = {0: [model.block.M], 15: [model.ground.V]}
    edges = [(a, a | 1 << k) for a in range(16) for k in range(4) if not a >> k & 1]
    for number, (a, b) in enumerate(edges):
        damper = (first or Damper)() if number == 0 else Damper(damping="5 N*s/m")
        damper = model.add(f"d{number}", damper)
        if number == 0 and first is None:
            damper.damping = "5 N*s/m"
        corners.setdefault(a, []).append(damper.R)
        corners.setdefault(b, []).append(damper.C)
    for ports in corners.values():
        model.connect(*ports)
    assert model.compile().nz > 3
    return model


def test_a_mass_on_a_network_of_dampers_slows_down_as_that_network_does():
    # by symmetry the corners of equal distance move alike: 4, 12, 12 and 4 edges in series
    whole = 5 / (1 / 4 + 1 / 12 + 1 / 12 + 1 / 4)
    run = tesseract().simulate("1 s", method="dopri5", rtol=1e-10)
    t = np.linspace(0, 1, 33)
    v = np.exp(-whole / 2 * t)
    assert_allclose(run["block.v"].at(quantity(t, "s")).m, v, rtol=1e-9)
    assert_allclose(run["d0.f"].at(quantity(t, "s")).m, whole * v / 4, rtol=1e-9)


def test_derivatives_include_what_the_loop_adds():
    model = tesseract()
    wire(model, "block.M spring.R push.R", "ground.V spring.C",
         spring=Spring(stiffness="70 N/m"),
         push=ForceSource(force=lambda t: quantity("1 N") * sin(3 * t / quantity("1 s"))))
    model.connect(model.push.C, model.d5.C)  # a corner without mass
    problem = model.simulate("1 ms").recording.problem
    y = problem.solver_vector()
    method = Rodas4(problem, 0.2, y, t_end=1.0, rtol=1e-6, atol=np.full(y.size, 1e-8))
    work, code = method.work_space.record, method.code
    run_code(code.linear, np.array([0.2]), method.x, code.p, code.q, work.linear)
    expected = problem.slope_jacobian(0.2, y).toarray()
    assert_allclose(work.linear[:-1] * method.scale / method.scale[:, None], expected, rtol=1e-12,
                    atol=1e-12)  # fmt: skip
    late, early = (problem.slope(0.2 + h, y) * method.scale for h in (1e-5, -1e-5))
    assert np.abs(work.linear[-1]).max() > 0.1
    assert_allclose(work.linear[-1], (late - early) / 2e-5, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_condition_on_a_velocity_inside_the_loop_switches_at_the_same_time(method):
    fast = tesseract(TwoStage).simulate("1 s", method=method, rtol=1e-10)
    slow = tesseract(TwoStage).simulate("1 s", method="DOP853", rtol=1e-10)
    assert len(fast.events) == len(slow.events) == 1
    assert_allclose(fast.events[0].time, slow.events[0].time, rtol=1e-9)
    assert_allclose(fast["block.v"].final.m, slow["block.v"].final.m, rtol=1e-9)


class Bent(Component):
    """x' = -y with y + y^3 = x."""

    x, y = Variable("1", "1", priority="high"), Variable("1")

    def equations(self):
        yield der(self.x) == -self.y / quantity("1 s")
        yield self.y + self.y**3 == self.x


def test_a_nonlinear_loop_is_followed_to_its_root():
    model = wired("bent", part=Bent())
    run = model.simulate("1 s", method="dopri5", rtol=1e-10)
    y = run["part.y"].at(quantity([0, 0.3, 1], "s")).m  # (1 + 3 y^2) y' = -y
    assert_allclose(np.log(y[0] / y[1:]) + 1.5 * (y[0] ** 2 - y[1:] ** 2), [0.3, 1], rtol=1e-8)


def test_a_study_of_a_model_with_loops_takes_its_runs_one_by_one():
    pytest.importorskip("xarray")
    data = tesseract().sweep({"block.mass": ["1 kg", "4 kg"]}, "1 s", method="dopri5",
                             rtol=1e-9, outputs=["final(block.v)"])  # fmt: skip
    assert_allclose(data["final(block.v)"], np.exp([-7.5, -7.5 / 4]), rtol=1e-7)
