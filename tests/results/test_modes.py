"""Is the mode of every set-valued element read, shown and kept as it was?

A block of 2 kg on a floor with 6 N (8 N at rest), pulled by 4 N/s t: it slips at 2 s. Then
a drive that turns round: amplitude 20 N, so that sliding reverses without a stop.
"""

from itertools import product

import numpy as np
import pytest
from benches import wired
from benches.friction import dry
from numpy.testing import assert_allclose, assert_array_equal

import library.translational as tr
from blocks import ParameterError, UnknownName, Variable, dry_friction, quantity, sin
from blocks.results import read_csv, read_netcdf, read_parquet
from library.mechanisms import DiscClutch
from library.planar import Body, Circle, Contact, Gravity, Ground, Line
from library.rotational import Inertia, RotationalReference, TorqueSource


def dragged(law="coulomb", force=lambda t: quantity("4 N/s") * t, count=None, **options):
    model = wired("dragged", "block.M rub.R pull.R", "floor.V rub.C pull.C",
                  block=tr.Mass(mass="2 kg", count=count), floor=tr.Reference(),
                  rub=tr.TranslationalFriction(law=law, coulomb_force="6 N", breakaway_force="8 N",
                                               count=count),
                  pull=tr.ForceSource(force=force, count=count))
    return model.simulate("3 s", max_step="0.1 s", **options)


def test_a_mode_is_read_at_any_time_and_on_both_sides_of_its_event():
    mode = dragged()["rub.mode"]
    assert_array_equal(mode.at(["0 s", "1.9 s", "2.1 s", "3 s"]).m, [0, 0, 1, 1])
    assert (mode.at("2 s", side="left").m, mode.in_words("2.000001 s")) == (0, "slides forward")
    assert mode.initial.m == 0 and mode.final.m == 1
    assert (mode == "stuck").sum() == (mode.si == 0).sum() > 0
    assert set(mode.in_words()) == {"stuck", "slides forward"}


@pytest.mark.parametrize("method", ["auto", "Radau", "ode45", "moreau_jean"])
def test_every_method_tells_the_same_modes(method):
    step = {"step": "5 ms"} if method == "moreau_jean" else {}
    run = dragged(method=method, **step)
    (event,) = run.events
    assert event.time == pytest.approx(2, abs=6e-3)
    assert_array_equal(run["rub.mode"].at(["1.99 s", "2.02 s"]).m, [0, 1])


def test_events_carry_the_change_as_data():
    (event,) = dragged().events
    assert (event.component, event.element) == ("rub", "rub.mode")
    assert (event.previous, event.mode) == ("stuck", "slides forward")
    run = dragged()
    assert run[event.element].in_words(event.time) == event.mode
    assert run[event.element].in_words(event.time, side="left") == event.previous
    frame = run.events.to_pandas()
    assert list(frame["mode"]) == ["slides forward"] and list(frame["previous"]) == ["stuck"]


def test_events_of_conditions_have_no_mode():
    from library.signal import Relay, Sine

    model = wired("relay", "wave.y relay.u", wave=Sine(amplitude="2 V", frequency="1 Hz"),
                  relay=Relay(switch_on="1 V", switch_off="-1 V", on_value="1 V", off_value="0 V"))
    run = model.simulate("1 s")
    assert run.events and all(e.element == e.mode == e.previous == "" for e in run.events)


def test_laws_that_only_come_near_have_no_mode_and_held_bands_have():
    assert not [path for path in dragged("simscape") if path.endswith("mode")]
    assert "rub.mode" not in dragged("quinn")
    with pytest.raises(UnknownName, match="law='coulomb'"):
        dragged("quinn")["rub.mode"]
    with pytest.raises(UnknownName, match="stop.upper_force.mode, stop.lower_force.mode"):
        stop()["stop.mode"]
    assert_array_equal(dragged("karnopp_1985")["rub.mode"].at(["1.9 s", "2.1 s"]).m, [0, 1])


def test_arrays_have_a_mode_for_each():
    run = dragged(force=lambda t: quantity("4 N/s") * t, count=3)
    assert run["rub.mode"].shape[0] == 3 and run["rub[1].mode"].final.m == 1
    assert {e.element for e in run.events} == {f"rub[{k}].mode" for k in range(3)}
    assert_array_equal(run["rub.mode"].at("1 s").m, [0, 0, 0])


class Doubly(tr.TwoPort):
    """Two rubbing faces, and a variable that is called as modes are."""

    a, b = Variable("N"), Variable("N")
    mode = Variable("N", doc="not a mode at all")

    def equations(self):
        yield dry_friction(self.a, self.v, static=quantity("3 N"), kinetic=quantity("3 N"))
        yield dry_friction(self.b, self.v, static=quantity("5 N"), kinetic=quantity("5 N"))
        yield self.f == self.a + self.b
        yield self.mode == 2 * self.f


def test_several_laws_are_told_by_their_efforts_and_own_names_are_kept():
    model = wired("two", "block.M rub.R pull.R", "floor.V rub.C pull.C",
                  block=tr.Mass(), floor=tr.Reference(), rub=Doubly(),
                  pull=tr.ForceSource(force=lambda t: quantity("4 N/s") * t))
    run = model.simulate("3 s")
    assert_allclose(run["rub.mode"].final.to("N").m, 16)
    assert_array_equal(run["rub.a.mode"].at(["1.9 s", "2.1 s"]).m, [0, 1])
    assert {e.element for e in run.events} == {"rub.a.mode", "rub.b.mode"}
    (term,) = run.sticking()
    assert term.fraction == pytest.approx(2 / 3, rel=1e-6) and term.breakaways == 1


def test_the_name_of_the_effort_always_works():
    run = dragged()
    assert_array_equal(run["rub.f.mode"].si, run["rub.mode"].si)
    with pytest.raises(UnknownName, match="rub.mode"):
        run["rub.modes"]


def stop(**options):
    """1 kg at 1 m/s between two stops 0.2 m apart, restitution 0.5: contacts at 0.1 s, 0.5 s, …"""
    model = wired("stop", "body.M stop.R push.R", "wall.V stop.C push.C",
                  body=tr.Mass(v="1 m/s"), wall=tr.Reference(),
                  stop=tr.HardStop(model="restitution", upper_bound="0.1 m", lower_bound="-0.1 m",
                                   restitution=0.5), push=tr.ForceSource(force="2 N"))
    return model.simulate("6 s", **options)


def test_a_stop_is_open_or_closed_at_each_bound():
    run = stop()
    assert run["stop.upper_force.mode"].in_words("0 s") == "open"
    assert run["stop.upper_force.mode"].in_words("6 s") == "closed"
    assert set(run["stop.lower_force.mode"].in_words()) == {"open"}
    assert run.events[0].element == "stop.upper_force.mode"
    assert (run.events[0].mode, run.events[0].description) == ("open", "rebounds (upper_force)")
    assert run.events[-1].mode == "closed"


def test_a_stop_is_listed_once_with_its_heat_once():
    """All kinetic energy, and the work of the push up to the bound: 0.5 J + 2 N 0.1 m."""
    run = stop()
    (term,) = run.sticking()
    assert (term.component, term.dissipated) == ("stop", pytest.approx(0.7, rel=1e-6))
    assert term.dissipated == pytest.approx(run.energy()["stop"].dissipated)
    closed = run.events[-1].time
    assert term.fraction == pytest.approx(1 - closed / 6, rel=1e-9)
    assert term.longest == pytest.approx(6 - closed, rel=1e-9)


def test_a_clutch_without_mass_on_one_side_has_a_mode():
    model = wired("clutch", "drum.I clutch.R torque.R", "ground.W clutch.C torque.C",
                  drum=Inertia(inertia="1 kg*m^2", w="5 rad/s"), ground=RotationalReference(),
                  clutch=DiscClutch(normal_force="10 N"), torque=TorqueSource(torque="0 N*m"))
    run = model.simulate("60 s")
    assert run["clutch.mode"].in_words("0 s") == "slides forward"
    assert run["clutch.mode"].in_words("60 s") == "stuck"


def test_frictions_in_series_have_a_mode_each():
    """5 N and 7 N in series: the weaker one slides, until 1 kg m/s / 5 N = 0.2 s."""
    model = wired("series", "body.M weak.R", "weak.C strong.R", "strong.C floor.V",
                  body=tr.Mass(v="1 m/s"), floor=tr.Reference(), weak=dry(5), strong=dry(7, 8))
    run = model.simulate("1 s")
    assert_array_equal(run["weak.mode"].at(["0.19 s", "0.21 s"]).m, [1, 0])
    assert (run["strong.mode"] == "stuck").all()


@pytest.mark.parametrize("options", [{}, {"method": "moreau_jean", "step": "2 ms"}])
def test_a_contact_with_friction_has_two_modes(options):
    """A disc thrown along a line at 3 m/s rolls from v0 / (3 mu g) = 0.5097 s on."""
    model = wired("bowl", "ground.P touch.B gravity.P", "disc.P touch.F",
                  ground=Ground(), gravity=Gravity(),
                  disc=Body(mass="2 kg", inertia="0.01 kg*m^2", y="0.1 m", vx="3 m/s", w="0 rad/s"),
                  touch=Contact(curve=Circle("0.1 m"), base=Line(), friction=0.2))
    run = model.simulate("1 s", **options)
    assert set(run["touch.N.mode"].in_words()) == {"closed"}
    words = run["touch.T.mode"].in_words(["0.1 s", "0.5 s", "0.52 s", "1 s"])
    assert words[0] == words[1] != "stuck" and list(words[2:]) == ["stuck", "stuck"]
    (term,) = run.sticking()
    assert term.fraction == pytest.approx(1 - 3 / (3 * 0.2 * 9.80665), abs=5e-3)


def test_modes_are_shown_in_words_and_kept_as_numbers(tmp_path):
    run = dragged()
    frame = run.table("rub.mode", "block.v", every="1.5 s")
    assert list(frame["rub.mode"]) == ["stuck", "stuck", "slides forward"]
    assert list(frame.columns) == ["rub.mode", "block.v [m/s]"]
    assert "slides forward" in repr(run["rub.mode"]) and "33.33 %" in repr(run["rub.mode"])
    readers = {"csv": read_csv, "parquet": read_parquet, "nc": read_netcdf}
    for ending, write in (("csv", run.to_csv), ("parquet", run.to_parquet), ("nc", run.to_netcdf)):
        write(tmp_path / f"run.{ending}", "rub.mode", every="1.5 s")
        back = readers[ending](tmp_path / f"run.{ending}")
        assert_array_equal(back["rub.mode"].m, [0, 0, 1])
        if ending != "csv":
            assert back.columns["rub.mode"].words[1] == "slides forward"
    frame.to_csv(tmp_path / "shown.csv")  # what was made for people is read all the same
    assert_array_equal(read_csv(tmp_path / "shown.csv")["rub.mode"].m, [0, 0, 1])


def test_a_data_set_says_what_the_numbers_mean():
    data = dragged().to_xarray("rub.mode", every="1 s")["rub.mode"]
    assert data.attrs["flag_values"] == [0, 1, -1]
    assert data.attrs["flag_meanings"] == "stuck slides_forward slides_backward"


@pytest.mark.parametrize("attributes", [
    {"flag_values": [0, 1], "flag_meanings": "one"}, {"flag_values": ["a"], "flag_meanings": "b"},
    {"flag_meanings": 7}, {}])  # fmt: skip
def test_a_data_set_of_others_may_say_nothing_useful(attributes, tmp_path):
    import xarray

    data = xarray.Dataset({"rub.mode": ("time", [0.0, 1.0], {"units": "1", **attributes}),
                           "time": ("time", [0.0, 1.0], {"units": "s"})})  # fmt: skip
    data.to_netcdf(tmp_path / "other.nc")
    back = read_netcdf(tmp_path / "other.nc")
    assert back.columns["rub.mode"].words is None
    assert_array_equal(back["rub.mode"].m, [0, 1])


def test_a_plot_has_the_words_at_its_axis():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as pyplot

    above, below = dragged().plot("rub.mode", "block.v", units="mm/s").axes
    assert [t.get_text() for t in above.get_yticklabels()] == [
        "stuck", "slides forward", "slides backward"]  # fmt: skip
    assert above.get_lines()[0].get_drawstyle() == "steps-post"
    assert (above.get_ylabel(), below.get_ylabel()) == ("rub.mode", "block.v [mm/s]")
    pyplot.close("all")


def test_a_mode_is_explained_and_listed():
    run = dragged()
    said = run.explain("rub.mode")
    assert "0 for stuck, 1 for slides forward, -1 for slides backward" in said
    assert "at the start it is stuck, at the end slides forward" in said
    (info,) = run.variables.matching("*mode")
    assert (info.path, info.kind, str(info.unit)) == ("rub.mode", "mode", "1")
    assert list(run).count("rub.mode") == 1 and len(list(run)) == len(run)


def test_words_that_are_no_modes_are_refused():
    run = dragged()
    with pytest.raises(UnknownName, match="Did you mean 'stuck'"):
        run["rub.mode"] == "stick"  # noqa: B015
    with pytest.raises(ParameterError, match="has no words"):
        run["rub.v"].in_words()


# -- time stepping --------------------------------------------------------------------------------
def swung(**options):
    return dragged(force=lambda t: quantity("50 N") * sin(quantity("6 rad/s") * t), **options)


def test_a_reversal_in_fixed_steps_is_no_rest():
    exact, stepped = swung(), swung(method="moreau_jean", step="5 ms")
    assert [e.mode for e in stepped.events] == [e.mode for e in exact.events]
    assert "stuck" not in [e.mode for e in stepped.events]
    assert [e.previous for e in stepped.events] == [e.previous for e in exact.events]
    assert_allclose([e.time for e in stepped.events], [e.time for e in exact.events], atol=6e-3)
    assert stepped.sticking()["rub"].breakaways == exact.sticking()["rub"].breakaways == 1
    words = stepped["rub.mode"].in_words()
    assert (words[-1] == exact["rub.mode"].in_words()[-1]) and "stuck" not in words[100:]


def test_a_rest_of_many_steps_is_told():
    """Under 9 N sin 6 t the block stands still between its ways."""
    stepped = dragged(force=lambda t: quantity("9 N") * sin(quantity("6 rad/s") * t),
                      method="moreau_jean", step="4 ms")  # fmt: skip
    exact = dragged(force=lambda t: quantity("9 N") * sin(quantity("6 rad/s") * t))
    assert [e.mode for e in stepped.events] == [e.mode for e in exact.events]
    assert "stuck" in [e.mode for e in stepped.events]
    assert np.ptp([e.time for e in stepped.events]) > 1


@pytest.mark.parametrize("law, pace", [
    *product(["lugre", "elasto_plastic", "leuven", "gms", "stribeck"], ["5 mm/s"]),
    ("lugre", "50 mm/s"), ("elasto_plastic", "50 mm/s"), ("stribeck", "50 mm/s"),
    ("gms", "0.2 m/s")])
def test_what_springs_on_its_bristles_after_a_slip_has_not_broken_away(law, pace):
    """A box on a belt: its spring is let go by more than half of what it bears in every slip."""
    bristles = {"stiffness": "1e5 N/m", "damping": "300 N*s/m"}
    model = wired("belt", "belt.R rub.R", "rub.C box.M spring.R", "belt.C spring.C ground.V",
                  belt=tr.VelocitySource(velocity="50 mm/s"), box=tr.Mass(mass="1 kg"),
                  spring=tr.Spring(stiffness="200 N/m"), ground=tr.Reference(),
                  rub=tr.TranslationalFriction(
                      law=law, coulomb_force="8 N", breakaway_force="12 N",
                      breakaway_velocity=pace, viscous_coefficient="0 N*s/m",
                      **bristles if law in ("lugre", "elasto_plastic") else {}))
    run = model.simulate("10 s")
    let_go = run["spring.v"].at(quantity(np.linspace(0, 9.999, 20000), "s")).to("m/s").m < -0.02
    assert run.sticking()["rub"].breakaways == np.count_nonzero(let_go[1:] & ~let_go[:-1]) > 7


@pytest.mark.parametrize("law", ["leuven", "gms", "lugre", "elasto_plastic"])
def test_bristles_that_slide_slowly_do_not_rest(law):
    """Drawn at a fifth of its breakaway velocity, 0.1 m/s, far above what bristles creep."""
    run = wired("drawn", "pull.R rub.R", "pull.C rub.C ground.V", ground=tr.Reference(),
                pull=tr.VelocitySource(velocity="20 mm/s"),
                rub=tr.TranslationalFriction(law=law)).simulate("10 s")
    assert run.sticking()["rub"].fraction < 0.05


def test_slips_as_short_as_bristles_give_way_are_break_aways():
    """Behind 200 kN/m at 20 mm/s: seven slips in a tenth of a second, as of exact friction."""
    run = wired("quick", "pull.R spring.R", "spring.C box.M rub.R", "pull.C rub.C ground.V",
                pull=tr.VelocitySource(velocity="20 mm/s"), box=tr.Mass(mass="1 kg"),
                spring=tr.Spring(stiffness="200 kN/m"), ground=tr.Reference(),
                rub=tr.TranslationalFriction(law="elasto_plastic", coulomb_force="10 N",
                                             breakaway_force="20 N")).simulate("1 s")
    assert run.sticking()["rub"].breakaways == pytest.approx(70, abs=2)
    assert run.sticking()["rub"].fraction < 0.3
