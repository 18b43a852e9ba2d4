"""Do the examples run, and print the number their reader finds by hand?"""

import re
import runpy
from math import exp, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import quantity
from blocks.results import Result

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


DOCS = EXAMPLES.parent / "docs"
PAGES: dict[str, list[str]] = {}  # by example, those that link to it
for _page in sorted(DOCS.glob("*.md")):
    if _page.name not in ("examples.md", "how_to_write_a_component.md"):  # which tell no results
        for _name in re.findall(r"\]\(\.\./examples/(\w+)\.py\)", _page.read_text()):
            PAGES.setdefault(_name, []).append(_page.name)


def numbers(text: str) -> list[str]:
    """Numbers as they are written, of two digits and more, without their sign."""
    return [n for n in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\w|\.\d)", text) if len(n) > 1]


def told_of(name: str, page: Path) -> list[str]:
    """Numbers in the prose about an example: of all of a study, else of the paragraph."""
    paragraphs = page.read_text().split("\n\n")
    if not page.name.startswith("study_"):
        paragraphs = [p for p in paragraphs if f"/{name}.py)" in p]
    return [n for p in paragraphs for n in numbers(re.sub(r"```.*?```|`[^`]*`|[⁰-⁹]", " ", p))]


def made(number: str, known: list[str]) -> bool:
    """Whether one of the known numbers is this one, to the digits that are told."""
    unit = 10.0 ** -len(number.partition(".")[2])
    return any(abs(float(number) - float(k)) <= 0.5001 * unit for k in known)


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs an example without a screen; returns its names and what it printed."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    film = Result.animate  # of which a few pictures a second prove as much
    monkeypatch.setattr(Result, "animate", lambda self, *given, **options: film(
        self, *given, **options | {"fps": 4}))

    def runner(name: str, *arguments: str, picture: bool = True):
        monkeypatch.setattr("sys.argv", [f"{name}.py", *arguments, "--save", str(tmp_path)])
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        if picture:
            assert (tmp_path / f"{name}.png").stat().st_size > 5000
        printed = capsys.readouterr().out
        for page in PAGES.get(name, ()):
            told = told_of(name, DOCS / page)
            assert told, page
            known = numbers(printed + (EXAMPLES / f"{name}.py").read_text())
            assert [number for number in told if not made(number, known)] == [], page
        return names, printed

    return runner


def test_a_damped_oscillation_loses_the_same_fraction_in_every_period(run):
    names, printed = run("mass_spring_damper")
    x, period = names["result"]["spring.x"], 2 * pi / sqrt(100 - 1)
    for n in range(1, 4):
        assert_allclose(x.at(f"{n * period} s").to("mm").m, 10 * exp(-n * period), rtol=2e-4)
    assert "5.3179" in printed or "5.3180" in printed


def test_friction_peaks_at_breakaway_and_the_block_slips_again_and_again(run):
    names, printed = run("stick_slip")
    friction, v = names["result"]["friction.f"], names["result"]["block.v"].to("mm/s").m
    assert_allclose(friction.max().to("N").m, 25.1, atol=1e-3)
    assert np.sum((v[1:] > 100) & (v[:-1] <= 100)) == 8
    assert "no mistakes found" in printed
    assert re.search(r"^0\.50 +26\.769", printed, re.M)  # the table of numbers


def test_the_wheel_leaves_the_road_and_comes_back_to_carry_the_weight(run):
    names, _ = run("quarter_car")
    force = names["result"]["tyre.f"]
    assert_allclose(force.at(["0.4 s", "5 s"]).to("N").m, -340 * 9.81, rtol=1e-3)
    assert force.max().m == 0
    contact = [e for e in names["result"].events if e.component == "tyre"]
    assert len(contact) == 2
    assert 0.56 < contact[0].time < contact[1].time < 0.68  # behind the top of the bump


def test_the_sky_diver_reaches_terminal_velocity(run):
    names, _ = run("own_component")
    result = names["result"]
    limit = sqrt(784.8 / 0.24)
    assert_allclose(result["diver.v"].final.m, limit, rtol=1e-5)
    assert_allclose(result["diver.v"].at("5 s").m, limit * np.tanh(9.81 * 5 / limit), rtol=1e-4)


def test_dry_friction_holds_to_its_limit_and_stops_the_block_for_good(run):
    names, _ = run("dry_friction")
    assert_allclose([names["start"], names["stop"]], [2.5, 3.1875], rtol=1e-9)
    assert_allclose(names["speed"].m, 3.75, rtol=1e-6)
    v, t = names["result"]["block.v"].m, names["result"].time.m
    assert np.all(v[(t < 2.5) | (t > 3.1875)] == 0)
    (term,) = names["result"].sticking()
    assert_allclose([term.fraction, term.longest], [1 - 0.6875 / 4, 2.5], rtol=1e-6)
    assert term.breakaways == 1
    # way under the push: integral of 5 (t^2 - 2.5^2) - 20 (t - 2.5); then v^2 / (2 a)
    pushed = 5 / 3 * (3**3 - 2.5**3) - 5 * 2.5**2 * 0.5 - 10 * 0.5**2
    assert_allclose(names["result"]["place.x"].final.m, pushed + 3.75**2 / 40, rtol=1e-6)


def test_a_brake_holds_the_load_on_a_drum_and_a_flat_thread_holds_that_on_a_screw(run):
    names, _ = run("hoist")
    result, inertia = names["result"], 30 + 0.01 * (20 / 0.1) ** 2
    rise, fall = (2 * 20 / 0.1 - 30 * 9.81) / inertia, 30 * 9.81 / inertia
    assert_allclose(result["drum_load.v"].at(["1 s", "7 s"]).to("m/s").m, [rise, -fall], rtol=1e-6)
    assert result["drum_load.v"].at("4 s").m == 0
    hanging = result["drum_height.P"].at(["2 s", "6 s"]).to("m").m
    assert_allclose(hanging[0], hanging[1], rtol=1e-15)
    assert_allclose(result["brake.t"].at("4 s").to("N*m").m, -30 * 9.81 * 0.1 / 20, rtol=1e-6)
    lead, slope = 5e-3 / (2 * pi), 5e-3 / (pi * 20e-3)
    raising = 10e-3 * (slope + 0.1) / (1 - 0.1 * slope)  # torque per force on the nut
    whole = 0.01 + 30 * lead * raising
    peak = (2 - 30 * 9.81 * raising) / whole
    stop = 1 + peak * whole / (30 * 9.81 * raising)
    (event,) = [e for e in result.events if e.component == "screw"]
    assert_allclose(event.time, stop, rtol=1e-6)
    assert result["screw_load.v"].final.m == 0
    height = lead * peak * stop / 2
    assert_allclose(result["screw_height.P"].final.to("m").m, height, rtol=1e-6)


def test_every_mistake_is_caught_and_named(run):
    names, printed = run("unit_mistakes", picture=False)
    assert names["caught"] == len(names["MISTAKES"]) == 10
    for words in ("Mass.mass: takes kg, but was given the bare number 500",
                  "A damping belongs to Damper", "Did you mean 'N*s/m'?",
                  "Did you mean 'stiffness'?", "N on the left, N*s/m on the right",
                  "both prescribe the velocity"):  # fmt: skip
        assert words in printed
    assert "500 g is taken as 0.5 kg" in printed


def test_the_exported_heat_of_a_shaken_damper_is_half_the_product(run):
    names, _ = run("pandas_export")
    assert_allclose(names["mean"], 100 * 0.1**2 / 2 * 1000, rtol=1e-6)
    assert_allclose(names["largest"].to("N").m, 10, rtol=1e-9)
    # the shaker also accelerates 3 kg: amplitude of two forces at right angles
    assert_allclose(names["frame"]["shaker.f [N]"].max(), np.hypot(10, 3 * pi), rtol=1e-4)


def test_the_pendulum_keeps_length_and_energy(run):
    names, _ = run("pendulum")
    assert names["drift"] < 1e-9
    assert names["swing"] < 1e-5
    assert_allclose(names["tension"].m, 3 * 9.81, rtol=1e-6)
    assert_allclose(names["back"].m, 1.0, atol=1e-6)


def test_two_tanks_level_out_with_the_time_constant_of_the_pipe(run):
    names, _ = run("own_domain")
    result = names["result"]
    at = np.array([1.0, 10.0, 40.0])
    measured = result["pipe.p"].at([f"{t} s" for t in at]).to("Pa").m
    assert_allclose(measured, 20e3 * np.exp(-at / 10), rtol=1e-4)
    assert_allclose((result["left.p"] + result["right.p"]).to("Pa").m, 20e3, rtol=1e-9)


def test_the_block_sticks_and_slips_up_to_the_speed_found_by_hand(run):
    names, _ = run("sweep_friction")
    spacing = 25.0  # of the speeds, mm/s
    for last, border in zip(names["last"], names["border"].m, strict=True):
        assert last <= border < max(last, 40 - spacing) + spacing


def test_a_controller_shifts_up_to_sixth_gear_and_down_again(run):
    names, printed = run("six_speed")
    result = names["result"]
    gears = [e for e in result.events if e.component == "controller"]
    shifts = [int(re.search(r"gear becomes (\d)", e.description)[1]) for e in gears]
    assert shifts == [2, 3, 4, 5, 6, 5, 4, 3, 2]
    for event, speed in zip(gears[:5], (30, 50, 70, 90, 110), strict=True):
        assert_allclose(result["car.v"].at(f"{event.time} s").to("km/hour").m, speed, rtol=1e-6)
    assert result["engine.w"].min().to("rpm").m > 500  # it does not stall
    shown, by_hand = re.search(r"Engine (\S+) rpm at .* by hand (\S+) rpm", printed).groups()
    assert_allclose(float(shown), float(by_hand), atol=2)  # the half shafts unwind a little


def test_the_laws_take_the_printed_numbers_of_rows(run):
    _, printed = run("friction_laws", "--coarse")
    for name, rows in (("1 Karnopp", 193), ("2 Quinn", 417), ("4 Awrejcewicz", 229)):
        assert re.search(rf"^{name} +n = +{rows} at 0.1 m/s", printed, re.M)


def test_quinns_law_rests_three_quarters_of_the_squared_band_too_far(run):
    _, printed = run("oscillator_friction")
    assert "Quinn's rest is -302.0 um off, by hand -3/4 (2 cm)² = -300 um" in printed


def test_lugre_friction_slips_and_breaks_away_as_the_reference_does(run):
    names, printed = run("lugre")
    assert "turns at 44.7818" in printed
    assert "slips every 6.363 s, reference 6.363 s" in printed
    assert_allclose(names["peaks"], names["reference"], rtol=0, atol=2e-4)


def test_every_example_has_a_test():
    tested = set(re.findall(r'run\("(\w+)"', Path(__file__).read_text()))
    assert {f.stem for f in EXAMPLES.glob("[!_]*.py")} == tested
    assert len(PAGES) >= 5  # whose numbers are looked for in what examples print


def test_the_second_clutch_takes_over_and_both_stick_at_last(run):
    names, printed = run("two_clutches")
    result = names["result"]
    for time, ratio in (("2 s", 3), ("5 s", 2)):
        assert_allclose(result["engine.w"].at(time).m, ratio * result["vehicle.w"].at(time).m,
                        rtol=1e-7)  # fmt: skip
    assert "14.8148 rad / second, by hand 14.8148" in printed or "14.8148 rad/s, by hand" in printed


def test_the_ball_is_at_rest_when_the_sum_of_its_flights_is_over(run):
    names, printed = run("bouncing_stop")
    assert "at rest after 2.5586 s, by hand 2.5586 s" in printed
    assert_allclose(names["soft"]["stop.x"].final.to("mm").m, -0.981, rtol=1e-5)


def test_the_piston_travels_twice_the_crank(run):
    names, printed = run("engine_crank")
    assert "Stroke 80.000 mm, by hand 80 mm" in printed
    assert names["result"]["flywheel.w"].min().to("rpm").m > 300  # it keeps turning


def test_the_car_follows_the_cycle_and_balances_its_drag(run):
    names, printed = run("drive_cycle")
    assert "256.5 N, by hand 256.5 N" in printed
    error = names["result"]["cycle.y"].m - names["result"]["car.v"].m
    assert np.max(np.abs(error)) < 0.7


def test_a_measured_force_gives_its_impulse_and_the_sled_sticks_between_its_peaks(run):
    names, printed = run("measured_drive")
    assert_allclose(names["result"]["ghost.v"].final.to("m/s").m, names["by_hand"], rtol=1e-9)
    assert "1711.4600 mm/s, by hand 1711.4600 mm/s" in printed
    resting = names["result"]["sled.v"].at("0.05 s").to("m/s").m
    assert resting == 0  # below the breakaway force


def test_the_disc_in_the_circle_rolls_only_where_friction_can_hold_it(run, tmp_path):
    names, printed = run("rolling_disc")
    modes = re.findall(r"^ +(0\.\d+) .*   (rolls|slips back)$", printed, re.M)
    assert modes == [("0.01", "slips back"), ("0.1", "slips back"), ("0.2", "rolls")]
    assert_allclose(names["result"].events[0].time, 0.575157764907, rtol=1e-8)
    assert (tmp_path / "rolling_disc.gif").stat().st_size > 20000


def test_the_wheel_flies_over_the_bump_for_the_time_of_a_throw(run):
    names, printed = run("wheel_over_bump")
    flight = names["lands"] - names["takes_off"]
    assert_allclose(flight, names["fall"], rtol=1e-7)
    assert "flies from" in printed


def test_a_heap_of_discs_comes_to_rest_and_its_box_carries_the_weight(run):
    names, printed = run("heap_of_discs")
    lift, weight = (float(x) for x in re.findall(r"([\d.]+) N", printed)[:2])
    assert_allclose(weight, 15 * 9.81, atol=5e-3)
    assert_allclose(lift, weight, atol=5e-3)
    later = names["result"]["discs.y"].at(["1.4 s", "1.5 s"]).to("m").m
    assert np.ptp(later, axis=1).max() < 1e-6
    assert later.min() > 0.1 - 5e-3  # a step's way above the floor


def test_the_motor_breaks_its_load_away_at_five_ampere_and_reaches_its_speed(run):
    names, printed = run("dc_motor_sticking_load")
    result = names["result"]
    breaks, stops = (e.time for e in result.events.of("friction"))
    assert_allclose(result["shaft.t"].at(f"{breaks} s").to("N*m").m, 0.5, atol=1e-6)
    assert_allclose(result["load.w"].at("6 s").to("rad/s").m, 89.4, rtol=1e-4)
    assert 0.42 < breaks < 0.45 and result["load.w"].at(f"{stops + 0.1} s").m == 0
    assert "by hand 89.40 rad/s" in printed


def test_the_valve_lets_go_at_the_force_of_its_spring_and_holds_closed(run):
    names, printed = run("solenoid_valve")
    result = names["result"]
    assert_allclose(result["solenoid.i"].at(f"{names['starts']} s").to("A").m, names["current"],
                    rtol=1e-6)
    x = result["solenoid.x"].at(["0 ms", "30 ms", "95 ms"]).to("mm").m
    assert_allclose(x, [2, 0.2, 2], atol=1e-6)
    i = result["solenoid.i"].to("A").m  # the dip as it closes
    assert np.any((i[1:-1] < i[:-2]) & (i[1:-1] < i[2:]))
    assert "0.44000 A, by hand 0.44000 A" in printed


def test_a_cylinder_with_sticking_seals_lets_go_at_their_strength_again_and_again(run):
    names, printed = run("cylinder_hunts")
    assert "1.8750, 1.8750, 1.8750 MPa, by hand 1.8750 MPa" in printed
    x = names["result"]["cylinder.x"]
    times = quantity(np.linspace(3, 6, 300), "s")
    late = x.at(times).to("mm").m
    assert late.min() < 101.9 and late.max() > 102.1  # on both sides of its set point
    resting = names["result"]["cylinder.v"].at(times).m == 0
    assert resting.mean() > 0.8  # and mostly at rest


def test_the_ripple_of_a_buck_converter_is_that_of_its_duty(run):
    names, printed = run("buck_converter")
    mean, ripple = (float(re.search(rf"{word} (\d+\.\d+)", printed)[1])
                    for word in ("voltage", "current"))
    assert_allclose([mean, ripple], [9.6, 1.152], rtol=3e-3)
    edges = sorted(e.time for e in names["result"].events if e.component == "diode" and e.time > 0)
    assert_allclose(edges[:7], np.array([8, 20, 28, 40, 48, 60, 68]) * 1e-6, rtol=1e-9)


def test_a_hot_brake_slows_less(run):
    names, printed = run("brake_fade")
    w, temperature = names["result"]["vehicle.w"], names["result"]["disc.T"]
    slower = [(w.at(f"{a} s") - w.at(f"{b} s")).m for a, b in ((15, 26), (45, 56), (75, 86))]
    assert 36.7 > slower[0] > slower[1] > slower[2]
    assert temperature.final.to("degC").m > 300
    assert names["result"].energy().relative_residual < 1e-8
    assert "cold it would be 36.7 rad/s" in printed


def test_a_rod_radiates_what_it_conducts(run):
    names, printed = run("rod_with_radiation")
    assert_allclose(names["end"].final.to("K").m, names["balance"], rtol=1e-6)
    assert "End of the rod 512.57" in printed


def test_a_thermostat_keeps_its_engine_between_its_limits(run):
    names, printed = run("engine_cooling")
    result = names["result"]
    warm, later = (result["engine.T"].at(f"{t} s").to("K").m for t in (40, 100))
    assert (later - warm) / 60 == pytest.approx(12e3 / 35e3, rel=0.1)  # by hand
    assert 80 < result["feel.T"].final.to("degC").m < 90
    assert result["radiator.Q_H"].final.to("kW").m == pytest.approx(-12, rel=0.02)
    assert "through the radiator" in printed


@pytest.mark.slow
def test_a_heat_pump_comes_near_the_ideal_cycle_between_its_pressures(run):
    names, printed = run("heat_pump")
    result = names["result"]
    # CoolProp: (h2 - h3)/(h2 - h1) of the ideal cycle from 0.3031 MPa to 0.8786 MPa
    assert result["sucked.A.p"].final.to("MPa").m == pytest.approx(0.3031, rel=1e-3)
    assert result["pressed.A.p"].final.to("MPa").m == pytest.approx(0.8786, rel=1e-3)
    assert names["best"] == pytest.approx(7.822, rel=2e-3)
    assert 0.97 * names["best"] < names["performance"] < names["best"]
    assert result["sucked.X"].final.m > 1 > result["expanded.X"].final.m > 0
    # what the water takes leaves the refrigerant
    gained = -(result["water.A.Phi"].final + result["water_back.A.Phi"].final)
    heat = result["condenser.refrigerant[0].mdot"].final * (
        result["pressed.H"].final - result["condensed.H"].final)
    assert -gained.to("W").m == pytest.approx(heat.to("W").m, rel=1e-2)
    assert result.energy().relative_residual < 1e-6
    assert "ideal cycle 7.82" in printed


def test_a_pneumatic_cylinder_follows_the_sonic_flow_of_its_exhaust(run):
    names, printed = run("pneumatic_cylinder")
    assert names["speed"] == pytest.approx(names["by_hand"], rel=5e-3)
    assert names["result"].energy().relative_residual < 1e-7
    assert "by hand 66.7 mm/s" in printed


def test_a_coil_drains_at_last_what_people_in_a_humid_room_give(run):
    names, printed = run("humid_room")
    result = names["result"]
    assert names["drained"] == pytest.approx(240, rel=1e-3)
    assert names["lost"] == pytest.approx(240, rel=1e-3)
    assert result["coil.RH_I"].final.m == pytest.approx(1, abs=1e-3)
    assert result.energy().relative_residual < 1e-7
    assert "room: 20.4 °C, 57%; dew point 11.5 °C" in printed


def test_an_environment_for_learning_goes_back_to_the_same_beginning(run):
    names, printed = run("gymnasium_cart")
    first, second = names["rewards"]
    assert first == second < -10  # at rest it is less than 1 m away for 5 s
    # by hand: what is left of the way times 30 N/m is less than the 5 N that the friction holds
    assert abs(names["place"] - 1) * 30 <= 5 and names["speed"] == 0
    assert "5 N that the friction holds" in printed


def test_an_axis_hunts_as_the_shooting_says_and_a_dead_zone_stops_it(run):
    names, printed = run("hunting_axis")
    # the reference case of hunting (Coulomb's law; period 25.35665 s, amplitude 13.64129 mm for
    # 1 kg, 20 N/m, 15 N/(m s), 6 N s/m, 1 and 1.5 N) five times as fast, with other forces
    period, amplitude = 25.35665 / 5, 13.64129e-3 * 20 / 0.5 * 6 / 10e3
    assert_allclose(names["cycle"].period.to("s").m, period, rtol=0.02)
    assert_allclose(names["amplitude"].to("m").m, amplitude, rtol=0.03)
    assert_allclose(np.ptp(names["late"]) / 2, names["amplitude"].to("um").m, rtol=0.02)
    assert names["choice"].law.law == "stribeck" and "No crossing" in printed
    late = names["quiet"]["carriage.v"].at(quantity(np.linspace(1, 30, 50), "s")).m
    assert np.all(late == 0) and names["error"] < names["dead_zone"]


def test_a_front_of_two_goals_is_the_parabola_of_throws(run):
    names, _ = run("pareto_front")
    y, x = (np.array([row[k].to("m").m for row in names["front"]]) for k in (0, 1))
    assert_allclose(y, (100 - x**2) / 2 / 9.81, rtol=1e-6)
    assert (np.diff(x) < 0).all()


def test_the_most_comfortable_damper_is_that_of_the_books(run):
    names, printed = run("quarter_car_comfort")
    assert_allclose(names["optimum"].to("N*s/m").m, 18e3 * sqrt(340 / 180e3), rtol=1e-4)
    least = 0.015**2 * 18e3 / 300**2 * sqrt(180e3 * 340)  # of the sum of both terms
    assert_allclose(names["best"].objective.to("m^2/s^3").m, least, rtol=1e-5)
    assert_allclose(names["loaded"]["suspension.x"].to("mm").m, 120 * 9.81 / 18, rtol=1e-9)
    found = names["linear"].poles()[-1]
    assert_allclose([found.real, found.imag], [-15.3206291677, 67.94636531668], rtol=1e-9)
    shares = names["tolerance"].shares["final(meter.dose)"]
    # by hand: d ln(dose) is half of dk_s / k_s twice, and half of dk_t / k_t
    by_hand = np.array([900 / 18e3, 15e3 / 180e3 / 2]) ** 2
    assert_allclose([shares["suspension.stiffness"], shares["tyre.stiffness"]],
                    by_hand / by_hand.sum(), rtol=1e-4)
