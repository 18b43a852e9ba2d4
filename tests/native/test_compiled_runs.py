"""Runs in machine code agree with closed forms, and with runs that are interpreted."""

import numpy as np
import pytest
from benches import wire, wired
from benches.parts import Explosion
from numpy.testing import assert_allclose

import blocks
import blocks.native
import library.translational as tr
from benchmarks.cases.models import stick_slip
from blocks import Component, Model, Parameter, SimulationError, Variable, der, quantity
from blocks.exceptions import MissingPackage


def oscillator(**mass):
    """1 kg on 100 N/m: 10 rad/s."""
    return wired("oscillator", "block.M spring.R", "spring.C ground.V", block=tr.Mass(**mass),
                 spring=tr.Spring(stiffness="100 N/m"), ground=tr.Reference())


def test_a_run_that_is_kept_in_many_blocks_is_read_as_any_other(monkeypatch):
    for part in ("method", "courses"):
        monkeypatch.setattr(f"blocks.native.{part}.BLOCK", 8)  # numbers
    run = oscillator(v="1 m/s").simulate("1 s", max_step="1 ms", method="dopri5")
    t = np.linspace(0, 1, 777)
    assert_allclose(run["block.v"].at(quantity(t, "s")).magnitude, np.cos(10 * t), rtol=0,
                    atol=1e-9)  # fmt: skip
    assert_allclose(run["block.v"].magnitude, np.cos(10 * run.time.magnitude), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("rtol", "error"), [(1e-4, 3e-3), (1e-7, 3e-6), (1e-10, 3e-9)])
def test_an_oscillator_follows_the_sine_also_between_the_steps(rtol, error):
    run = oscillator(v="1 m/s").simulate("10 s", method="dopri5", rtol=rtol)
    t = np.linspace(0, 10, 777)
    assert_allclose(run["spring.x"].at(quantity(t, "s")).magnitude, 0.1 * np.sin(10 * t), rtol=0,
                    atol=0.1 * error)  # fmt: skip
    assert_allclose(run["block.v"].at(quantity(t, "s")).magnitude, np.cos(10 * t), rtol=0,
                    atol=error)  # fmt: skip


def test_the_error_falls_with_the_fifth_power_of_the_step():
    errors = []
    for h in ("20 ms", "10 ms", "5 ms"):
        run = oscillator(v="1 m/s").simulate("1 s", method="dopri5", rtol=0.9, atol=0.9,
                                             first_step=h, max_step=h)  # fmt: skip
        errors.append(abs(run["block.v"].final.magnitude - np.cos(10)))
    assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 5, atol=0.3)


def test_a_large_network_is_written_as_loops_and_swings_in_its_modes():
    # a chain fixed at one end: mode k of n has the frequency 2 sqrt(k/m) sin((2k-1) pi/(4n+2))
    n, k = 400, 3
    model = wired("chain", ground=tr.Reference(), springs=tr.Spring(count=n, stiffness="1 kN/m"))
    angle = (2 * k - 1) * np.pi / (2 * n + 1)
    shape = np.sin(angle * np.arange(1, n + 1))
    wire(model, "springs.R masses.M", "springs[1:].C masses[:-1].M", "springs[0].C ground.V",
         masses=tr.Mass(count=n, v=quantity(shape, "m/s")))
    run = model.simulate("40 s", method="dopri5", rtol=1e-9)
    rate = 2 * np.sqrt(1000) * np.sin(angle / 2)
    for t in (7.3, 40.0):
        found = run["masses.v"].at(quantity(t, "s")).magnitude
        assert_allclose(found, shape * np.cos(rate * t), rtol=0, atol=2e-7)


def test_accuracy_does_not_depend_on_how_many_masses_stand_still_beside():
    alone = stick_slip().simulate("4 s")
    exact = stick_slip().simulate("4 s", rtol=1e-10)
    model = stick_slip()
    wire(model, "others.M ties.R", "ties.C floor.V",
         others=tr.Mass(count=3_000), ties=tr.Spring(count=3_000))
    crowded = model.simulate("4 s")
    assert crowded.statistics["method"] == alone.statistics["method"] == "dopri5"
    t = quantity(np.linspace(0, 4, 401), "s")

    def error(run):
        return np.max(np.abs((run["spring.x"].at(t) - exact["spring.x"].at(t)).magnitude))

    assert error(alone) < 1e-6
    assert error(crowded) < 1.5 * error(alone)


def test_equal_parameters_of_a_large_network_that_become_different_count_as_well():
    n = 400
    model = wired("pairs", "springs.R masses.M", "springs.C ground.V",
                  masses=tr.Mass(count=n, v="1 m/s"), ground=tr.Reference(),
                  springs=tr.Spring(count=n, stiffness="100 N/m"))
    first = model.simulate("1 s", method="dopri5", rtol=1e-9)
    assert_allclose(first["masses.v"].final.magnitude, np.cos(10), atol=1e-7)
    stiffness = np.linspace(50, 200, n)
    model.springs.stiffness = quantity(stiffness, "N/m")
    second = model.simulate("1 s", method="dopri5", rtol=1e-9)
    assert_allclose(second["masses.v"].final.magnitude, np.cos(np.sqrt(stiffness)), atol=1e-7)


class Root(Component):
    """x' = -blocks.sqrt(x) - 0.1 has no value once x is negative."""

    x = Variable("1", "1", priority="high")

    def equations(self):
        yield der(self.x) == -blocks.sqrt(self.x) / quantity("1 s") - quantity("0.1 1/s")


def test_a_run_that_cannot_go_on_is_reported_and_what_was_computed_is_kept():
    model = wired("trouble", part=Root())
    with pytest.raises(SimulationError, match="part.x") as caught:
        model.simulate("5 s", method="dopri5")
    assert_allclose(caught.value.time, 2 - 0.2 * np.log(11), rtol=1e-4)
    assert caught.value.result["part.x"].initial == 1
    assert np.isfinite(caught.value.result["part.x"].magnitude).all()


def test_what_cannot_run_in_machine_code_says_why():
    strong = {"coulomb_force": "20 N", "breakaway_force": "20 N"}
    model = wired("a law of the load beside exact friction", "block.M load.R exact.R",
                  "load.C exact.C floor.V", block=tr.Mass(v="1 m/s"), floor=tr.Reference(),
                  load=tr.TranslationalFriction(law="quinn", **strong),
                  exact=tr.TranslationalFriction(law="coulomb", **strong))
    assert model.simulate("1 ms").statistics["method"] == "ode45"
    run = model.simulate("1 ms", method="dopri5")
    assert run.statistics["why"].endswith("exact friction and contacts are decided in Python")
    with pytest.raises(blocks.ParameterError, match="friction and contacts are decided in Python"):
        model.simulate("1 ms", method="rk4", step="1 us")


def test_an_operation_without_machine_code_leaves_the_run_to_python(monkeypatch):
    from blocks.native.expressions import Unwritable, Writer

    oscillator(v="1 m/s").simulate("1 s", method="dopri5")

    def nothing(*_):
        raise Unwritable("this operation has no machine code")

    monkeypatch.setattr(Writer, "_operation", nothing)
    assert oscillator(v="1 m/s").simulate("1 s").statistics["method"] == "ode45"
    run = oscillator(v="1 m/s").simulate("1 s", method="dopri5", rtol=1e-7)
    assert run.statistics["why"].endswith("in Python, as this operation has no machine code")
    assert_allclose(run["block.v"].final.magnitude, np.cos(10), atol=1e-4)
    with pytest.raises(blocks.ParameterError, match="this operation has no machine code"):
        oscillator(v="1 m/s").simulate("1 s", method="rk4", step="1 ms")


def test_where_llvm_cannot_be_had_the_message_says_so_and_everything_else_works(monkeypatch):
    for place in (blocks.native, blocks.machine.compiling):
        monkeypatch.setattr(place, "is_installed", lambda: False)
    with pytest.raises(MissingPackage, match="pip install llvmlite"):
        oscillator(v="1 m/s").simulate("1 s", method="rk4", step="1 ms")
    run = oscillator(v="1 m/s").simulate("1 s", method="rodas4")
    assert run.statistics.why.endswith("in Python, as llvmlite is not installed")
    assert stick_slip().simulate("0.3 s").statistics["method"] != "dopri5"
    assert oscillator(v="1 m/s").simulate("1 s").statistics["method"] == "ode45"


def test_statistics_say_which_method_ran_and_why():
    run = stick_slip().simulate("4 s")
    assert run.statistics["method"] == "dopri5"
    assert "machine code" in run.statistics["why"]
    damped = oscillator(v="1 m/s")
    wire(damped, "damper.R block.M", "damper.C ground.V", damper=tr.Damper(damping="1 GN*s/m"))
    assert damped.simulate("10 s").statistics["method"] == "rodas4"
    wire(damped, "push.R block.M", "push.C ground.V",
         push=tr.ForceSource(force=lambda t: quantity("1 N") * np.cos(t * quantity("1 1/s"))))
    assert damped.simulate("10 s").statistics["method"] == "rodas4"
    del damped.push
    wire(damped, "gusts.R block.M", "gusts.C ground.V",
         gusts=tr.ForceSource(force=lambda t: quantity("1 N") * np.cos(t * quantity("1 1/s")) ** 2))
    assert damped.simulate("10 s").statistics["method"] == "rodas4"


# -- studies ----------------------------------------------------------------------------------
def points(n):
    return [{"friction.coulomb_force": f"{f} N", "friction.breakaway_force": f"{f + 5} N"}
            for f in np.linspace(15, 24, n).tolist()]  # fmt: skip


def test_a_study_in_lanes_gives_what_single_runs_give():
    pytest.importorskip("xarray")
    model = stick_slip()
    data = model.sweep(points(37), "4 s", outputs=[
        "final(spring.x)", "initial(block.v)", "max(friction.f)", "min(block.v)",
        "at(spring.x, 1.5 s)", "spring.f"], every="0.5 s", method="dopri5")  # fmt: skip
    assert "at once" in data.encoding["execution"]
    assert set(data.status.values) == {"finished"}
    for k in (0, 11, 36):
        for path, value in points(37)[k].items():
            part, name = path.split(".")
            setattr(getattr(model, part), name, value)
        one = model.simulate("4 s", method="dopri5")
        assert_allclose(data["final(spring.x)"][k], one["spring.x"].final.magnitude, atol=1e-6)
        assert data["initial(block.v)"][k] == 0
        assert_allclose(data["max(friction.f)"][k], one["friction.f"].max().magnitude, rtol=1e-5)
        assert_allclose(data["at(spring.x, 1.5 s)"][k],
                        one["spring.x"].at(quantity("1.5 s")).magnitude, atol=1e-6)  # fmt: skip
        times = quantity(data.time.values, "s")
        assert_allclose(data["spring.f"][k], one["spring.f"].at(times).magnitude, atol=1e-3)


def test_a_study_gives_the_same_in_any_number_of_threads_and_in_any_company():
    pytest.importorskip("xarray")
    model = stick_slip()
    options = {"outputs": ["final(spring.x)", "max(friction.f)"], "method": "dopri5"}
    all_at_once = model.sweep(points(300), "1 s", **options)
    assert all_at_once.identical(model.sweep(points(300), "1 s", executor=2, **options))
    alone = model.sweep(points(300)[123:124], "1 s", **options)
    assert alone["final(spring.x)"].values[0] == all_at_once["final(spring.x)"].values[123]


class Bump(Component):
    """A mass of 1 kg that drives over a bump."""

    width = Parameter("5 cm")
    x, v = Variable("m", "0 m", priority="high"), Variable("m/s", "25 m/s", priority="high")

    def equations(self):
        away = (self.x - quantity("10 m")) / self.width
        yield der(self.x) == self.v
        yield quantity("1 kg") * der(self.v) == -quantity("100 N") * blocks.exp(-away**2)


@pytest.mark.parametrize("method", ["auto", "dopri5"])
def test_lanes_step_over_no_bump(method):
    pytest.importorskip("xarray")
    model, widths = wired("road", part=Bump()), [1.0, 0.3, 0.05, 0.001]
    data = model.sweep({"part.width": quantity(widths, "m")}, "1 s", outputs=["final(part.v)"],
                       method=method)  # fmt: skip
    assert data.encoding["execution"].endswith("(dopri5)")  # none by itself
    for k, width in enumerate(widths):
        model.part.width = quantity(width, "m")
        one = model.simulate("1 s", method=method)["part.v"].final.m
        assert data["final(part.v)"][k] == pytest.approx(one, rel=1e-12)
        assert one == pytest.approx(np.sqrt(625 - 200 * np.sqrt(np.pi) * width), rel=1e-5)


@pytest.mark.parametrize(("build", "path", "points", "ends", "said"), [
    *((lambda: wired("runaway", part=Explosion()), path, points, ends, "part.x")
      for path, points, ends in [("part.x", [0.1, 5.0], 1 / 9)] + [
          ("part.rate", quantity([0.5, rate], "1/s"), 2) for rate in (1e200, 1e300, -1e300)]),
    (stick_slip, "friction.coulomb_force", quantity([20, 30], "N"), None, "breakaway")])
def test_a_lane_that_fails_is_recorded_with_the_message_of_a_single_run(
        build, path, points, ends, said):
    """Points with which equations cannot be followed, and points that contradict each other."""
    pytest.importorskip("xarray")
    output = "part.x" if ends else "spring.x"
    data = build().sweep({path: points}, "1 s", outputs=[f"final({output})"], method="dopri5")
    assert data.status.values.tolist() == ["finished", "failed"]
    assert said in str(data.message.values[1])
    assert not ends or data[f"final({output})"].values[0] == pytest.approx(ends, rel=1e-6)


class Follower(Component):
    """Follows what decays, at a rate."""

    rate = Parameter("100 1/s", above=0)
    x, y = Variable("1", "0", priority="high"), Variable("1", "1", priority="high")

    def equations(self):
        yield der(self.y) == quantity("-1 1/s") * self.y
        yield der(self.x) == self.rate * (self.y - self.x)


def test_points_that_stability_would_hold_up_are_run_by_themselves():
    """x → r / (r - 1) exp(-t): at the bound of stability 1 s takes 3e5 steps."""
    pytest.importorskip("xarray")
    model, rates = Model("follower"), np.array([100.0, 1e4, 1e6])
    model.part = Follower()
    asked = {"over": {"part.rate": quantity(rates, "1/s")}, "duration": "1 s",
             "outputs": ["final(part.x)"]}
    data = model.sweep(**asked)
    assert data.encoding["execution"] == (
        "several runs at once, in machine code (dopri5), 1 of them by themselves after all")
    exact = rates / (rates - 1) * np.exp(-1)
    assert_allclose(data["final(part.x)"], exact, rtol=1e-5)
    asked_for = model.sweep(**asked, method="dopri5")
    assert "themselves" not in asked_for.encoding["execution"]
    assert_allclose(asked_for["final(part.x)"], exact, rtol=1e-5)


def test_a_jump_whose_instant_is_varied_is_stepped_onto():
    """A force that acts for a moment: v = F τ / m, wherever the moment lies in the run."""
    pytest.importorskip("xarray")

    class Kick(tr.TwoPort):
        at = Parameter("9 s")

        def equations(self):
            near = (blocks.time - self.at) / quantity("1 ms")
            yield blocks.breakpoints(self.at)
            yield self.f == -quantity("1 kN") * blocks.exp(-near**2)

    model = wired("kicked", "block.M kick.R", "kick.C ground.V",
                  block=tr.Mass(mass="2 kg"), kick=Kick(), ground=tr.Reference())
    data = model.sweep({"kick.at": quantity([3, 5], "s")}, "8 s", outputs=["final(block.v)"],
                       method="dopri5", max_step="1 s")  # fmt: skip
    assert_allclose(data["final(block.v)"], np.sqrt(np.pi) / 2, rtol=1e-4)


@pytest.mark.parametrize(("speed", "atol"), [
    (None, None), ("1 m/s", None), (None, ["1 nm", "1 nm/s"]), (None, 1e-3)])
def test_the_tolerance_of_a_run_in_a_lane_is_its_own(speed, atol):
    """Amplitudes from a nanometre on are followed alike, unless a tolerance is given."""
    pytest.importorskip("xarray")
    speeds = 10.0 ** np.arange(-9, 4, 3)
    model = oscillator(v=speed) if speed else oscillator()
    options = {"method": "dopri5", "rtol": 1e-8, "atol": atol}
    data = model.sweep({"block.v": quantity(speeds, "m/s")}, "1 s", outputs=["final(block.v)"],
                       **options)  # fmt: skip
    assert "at once" in data.encoding["execution"]
    assert atol or np.allclose(data["final(block.v)"] / speeds, np.cos(10), rtol=1e-6, atol=0)
    for k, one in enumerate(speeds):
        model.block.v = quantity(one, "m/s")
        single = model.simulate("1 s", **options)["block.v"].final.m
        assert_allclose(data["final(block.v)"][k], single, rtol=1e-12)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_extremes_are_those_of_the_curve_and_not_of_the_steps(rtol):
    pytest.importorskip("xarray")
    speeds = 10.0 ** np.arange(-3, 4)
    data = oscillator().sweep({"block.v": quantity(speeds, "m/s")}, "5 s", rtol=rtol, outputs=[
        "max(spring.f)", "min(spring.f)", "min(block.v)"], method="dopri5")  # fmt: skip
    assert "at once" in data.encoding["execution"]
    force = 10 * speeds  # of 100 N/m; the amplitude is a tenth of a second times the speed
    assert_allclose(data["max(spring.f)"], force, rtol=100 * rtol)
    assert_allclose(data["min(spring.f)"], -force, rtol=100 * rtol)
    assert_allclose(data["min(block.v)"], -speeds, rtol=100 * rtol)


def test_extremes_of_a_kink_are_not_guessed_beyond_it():
    """|x| touches 0 between steps; a parabola through what is seen would go below."""
    pytest.importorskip("xarray")

    class Distance(Component):
        x = Variable("1", "1", priority="high")
        rate = Parameter("-1 1/s")
        distance = Variable("1")

        def equations(self):
            yield der(self.x) == self.rate
            yield self.distance == blocks.sqrt(self.x**2)

    model = wired("passing", part=Distance())
    data = model.sweep({"part.rate": quantity([-1.0, -2.0, -3.0], "1/s")}, "3 s", method="dopri5",
                       outputs=["min(part.distance)"])  # fmt: skip
    assert "at once" in data.encoding["execution"]
    assert (data["min(part.distance)"] >= 0).all()


class Vanishing(Component):
    """Decays, by a quotient that is 0/0 once its state is smaller than any number."""

    x = Variable("1", "1")

    def equations(self):
        shape = self.x**2
        yield der(self.x) == -quantity(1e4, "1/s") * (self.x * shape) / shape


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_what_decays_below_the_smallest_number_is_read_as_it_was_stepped(method):
    model = wired("vanishing", part=Vanishing())
    times = np.linspace(0, 0.05, 501)
    result = model.simulate("50 ms", method=method, rtol=1e-8)
    values = result["part.x"].at(quantity(times, "s")).magnitude
    assert_allclose(values, np.exp(-1e4 * times), rtol=0, atol=1e-6)


class Swung(Component):
    """Follows time and keeps nothing."""

    y = Variable("1")

    def equations(self):
        yield self.y == blocks.sin(quantity("2 rad/s") * blocks.time)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "ode45"])
def test_a_model_without_states_runs_by_any_method(method):
    result = wired("static", part=Swung()).simulate("1 s", method=method)
    assert_allclose(result["part.y"].at("0.7 s").magnitude, np.sin(1.4), rtol=1e-9)


def test_an_old_llvmlite_is_named(monkeypatch):
    import llvmlite

    from blocks.machine import compiling

    monkeypatch.setattr(llvmlite, "__version__", "0.44.0")
    compiling.made_for.cache_clear()
    try:
        with pytest.raises(MissingPackage, match="needs llvmlite 0.45 or newer, and 0.44.0 is "
                           "installed.*pip install --upgrade llvmlite"):
            compiling.compiled("define void @main() {\n  ret void\n}\n")
    finally:
        compiling.made_for.cache_clear()
