"""Do the benchmarks time the same problem on both sides?"""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from benchmarks import beyond, cliffs, precision, spice, tolerances
from benchmarks.cases import consumers, domains, models, planar
from benchmarks.cases.by_hand import BY_HAND
from benchmarks.timing import CASES, plain_installation


@pytest.mark.parametrize("build", [models.chain_of_arrays, models.chain_of_parts])
def test_the_chain_moves_as_its_hand_written_equations_say(build):
    n = 12
    result = build(n).simulate("2 s", method="DOP853", rtol=1e-10)
    slope, start = models.chain_by_hand(n)
    hand = solve_ivp(slope, (0, 2), start, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    v = [result[p].final.m for p in result if p.startswith("mass") and p.endswith((".v", "].v"))
         and ".M." not in p]  # fmt: skip
    assert len(v) == n
    assert_allclose(v, hand[0::2], rtol=1e-6, atol=1e-10)


def test_the_dragged_block_moves_as_its_hand_written_equations_say():
    result = models.stick_slip().simulate("1 s", rtol=1e-9)
    hand = solve_ivp(models.stick_slip_by_hand, (0, 1), [0, 0], method="LSODA", rtol=1e-10,
                     atol=1e-13).y[:, -1]  # fmt: skip
    assert_allclose([result["block.v"].final.m, result["spring.x"].final.m], hand, rtol=1e-5)


@pytest.mark.slow
def test_a_district_takes_no_short_steps_where_hardly_any_pressure_drives_its_flows():
    """A millionth of the pressure drives what flows through a wide pipe: slopes bend within it."""
    run = consumers.district(4).simulate("100 s")
    assert run.statistics["steps"] < 400
    taken = sum(run[f"valve[{k}].mdot"].final.to("kg/s").m for k in range(4))
    assert 1 < taken / 0.4 < 1.026  # is pumped; and hot water, lighter by 2.6 %, displaces some
    assert run.energy().relative_residual < 1e-7


NOT_NEEDED = ["scipy.optimize", "scipy.integrate", "scipy.sparse", "scipy.linalg", "numpy.ma",
              "numpy.random", "numpy.polynomial", "networkx", "pandas", "xarray", "matplotlib",
              "numba", "html", "difflib", "blocks.studies", "blocks.nonsmooth.modes.laws",
              "blocks.nonsmooth.modes.load_laws", "blocks.simulation.energy",
              "blocks.system.description", "blocks.results.values.table",
              "blocks.results.plots.plotting", "blocks.results.report", "blocks.results.explain",
              "blocks.results.sticking", "library.rotational", "library.planar"]  # fmt: skip


def test_a_fresh_process_finds_the_exact_deflection_and_loads_nothing_that_it_does_not_need():
    code = ("import sys, numpy, casadi, pint; pint.UnitRegistry(); before = set(sys.modules)\n"
            f"{models.COLD}\nprint(sorted(set({NOT_NEEDED}) & (set(sys.modules) - before)))")
    printed = subprocess.run([sys.executable, "-c", code], check=True, text=True,
                             capture_output=True).stdout  # fmt: skip
    w = np.sqrt(1000 - 5**2)
    assert_allclose(float(printed.split()[0]), np.exp(-5) * np.sin(w) / w, rtol=2e-3)
    assert printed.splitlines()[-1] == "[]"


def test_a_plain_installation_runs_the_cold_script_without_what_is_optional():
    code = f"{models.COLD}\nimport sys; print({{'dask', 'xarray', 'pandas'}} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-S", "-c", code], check=True, text=True,
                             capture_output=True, env={**os.environ, "PYTHONPATH":
                                                       plain_installation()}).stdout  # fmt: skip
    assert printed.splitlines()[-1] == "set()"


def test_importing_the_package_reads_no_definitions_of_units():
    code = "import blocks, pint; print(type(pint.get_application_registry().get()).__name__)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, text=True,
                             capture_output=True).stdout  # fmt: skip
    assert printed.strip() == "LazyRegistry"


def test_cases_have_names_of_their_own():
    names = [case.name for case in CASES()]
    assert len(set(names)) == len(names)


def test_the_disc_in_the_circle_changes_its_mode_when_the_program_by_hand_does():
    by_hand = [t for t, _ in planar.disc_by_hand(end=4.0, rtol=1e-11)]
    ours = [e.time for e in planar.disc().simulate("4 s", rtol=1e-11).events if e.time > 1e-9]
    assert_allclose(ours, by_hand, rtol=1e-8)


def test_discs_poured_into_a_box_stay_in_it_and_do_not_overlap():
    run = planar.poured(3, smooth=True).simulate("0.3 s", method="moreau_jean", step="5 ms")
    assert run["pairs.gap"].magnitude.min() > -5e-3  # a step at the speed they fall with
    assert run["discs.y"].magnitude.min() > 0.1 - 5e-3
    assert np.ptp(run["discs.y"].magnitude[:, -1]) < 0.3


def test_the_precision_study_finds_the_exact_end_and_who_drifts():
    problem = precision.PROBLEMS[1]
    done = {(p.law, p.method, p.setting): p
            for p in precision.points(problem, ["coulomb", "quinn", "karnopp"])}  # fmt: skip
    exact = done["coulomb", "DOP853", "rtol 1e-09"]
    assert abs(exact.end_error) < 1e-8 and exact.error < 1e-8 and exact.drift < 1e-14
    assert exact.evaluations < done["quinn", "Radau", "1 mm/s"].evaluations
    assert done["quinn", "Radau", "1 mm/s"].error < 1e-6
    assert_allclose(done["karnopp", "Radau", "1 mm/s"].drift, 1e-3, rtol=1e-2)  # a second of band
    assert precision.picture(list(done.values())) is not None
    assert len(precision.table(list(done.values()))) == len(done)


@pytest.mark.slow
def test_a_law_that_takes_longer_than_its_limit_is_not_finished():
    code = ("from benchmarks import precision as p; "
            "done = list(p.points(p.PROBLEMS[0], ['maxwell_slip', 'coulomb'], 0.1)); "
            "print(*(f'{d.law} {d.method} {d.ended} {d.evaluations}' for d in done), sep='\\n')")
    printed = subprocess.run([sys.executable, "-c", code], check=True, text=True,
                             capture_output=True).stdout.splitlines()  # fmt: skip
    assert printed[0] == "maxwell_slip Radau not finished 0"  # 848 events
    assert printed[-1] == "coulomb moreau_jean not finished 0"  # 1,000 steps, after all others
    assert len(printed) == 6


@pytest.mark.parametrize(("name", "rtol", "method", "error"), [
    ("E1 ladder, N = 10", 1e-6, "auto", 1e-7), ("E1 ladder, N = 1,000", 1e-6, "auto", 1e-6),
    ("E1 ladder, N = 1,000", 1e-5, "rodas4", 1e-6),
    *(("E2", rtol, method, 5 * rtol) for rtol in (1e-4, 1e-5, 1e-6, 1e-7)
      for method in ("dopri5", "rodas4")),
    ("E2", 1e-6, "DOP853", 1e-6), ("E3", 1e-9, "auto", 1e-10), ("E3", 1e-6, "rodas4", 1e-7),
    ("E4", 1e-5, "auto", 2e-7), ("E5 rod, N = 1,000", 1e-6, "auto", 1e-6),
    ("E6", 1e-6, "auto", 1e-7),
    ("E7", 1e-6, "auto", 1e-7), ("E7", 1e-6, "rodas4", 1e-7)])  # fmt: skip
def test_problems_beyond_mechanics_meet_their_published_end_values(name, rtol, method, error):
    problem = next(p for p in beyond.PROBLEMS if p.name.startswith(name))
    result = problem.build().simulate(problem.duration, rtol=rtol, method=method)
    assert beyond.error_of(problem, result) <= error


def test_deviations_fall_with_the_tolerance_and_what_cannot_run_has_no_time():
    *found, refused, _ = tolerances.rows(beyond.PROBLEMS[0], ("auto", "rodas4", "ode99"),
                                         (1e-4, 1e-8), repeats=1)
    for rough, tight in zip(found[::2], found[1::2], strict=True):
        assert tight.deviation < min(1e-8, 1e-3 * rough.deviation) and rough.deviation < 1e-4
        assert 0 < rough.seconds < np.inf
    assert not np.isfinite(refused.seconds) and np.isnan(refused.deviation)


@pytest.mark.skipif(not spice.available(), reason="ngspice is not installed")
@pytest.mark.parametrize("name", ["E1 ladder, N = 10", "E3", "E5 rod, N = 1,000", "E7"])
def test_netlists_are_the_same_circuits(name):
    problem = next(p for p in beyond.PROBLEMS if p.name.startswith(name))
    netlist = next(make for start, make in spice.NETLISTS.items() if start == problem.name)
    _, error = spice.run(netlist(), lambda values: max(
        abs(v - end) / scale for v, (*_, end, scale) in zip(values, problem.ends, strict=True)),
        problem.error)  # fmt: skip
    assert error <= problem.error


@pytest.mark.parametrize("name", ["E1 ladder, N = 10", "E1 ladder, N = 1,000", "E2", "E3",
                                  "E5 rod, N = 1,000", "E6", "E7"])
def test_what_scipy_is_given_by_hand_are_the_same_problems(name):
    problem = next(p for p in beyond.PROBLEMS if p.name.startswith(name))
    found = BY_HAND[problem.name].values(1e-6)
    for value, (*_, end, scale) in zip(found, problem.ends, strict=True):
        assert abs(value - end) <= 2e-6 * scale


def test_the_diodes_of_a_bridge_commutate_in_pairs():
    pairs = np.array([e.time for e in domains.bridge().simulate("0.1 s").events]).reshape(-1, 2)
    assert len(pairs) == 20  # ten half waves, on and off
    assert_allclose(pairs[:, 0], pairs[:, 1], rtol=0, atol=0)


@pytest.mark.parametrize("family", cliffs.FAMILIES, ids=lambda family: family.name)
def test_every_family_of_growing_models_is_sound(family):
    assert not family.make(3).check().errors


def test_growth_is_told_as_an_exponent():
    growth = cliffs.Growth(cliffs.Family("square", models.chain_of_arrays, (10, 100, 1000), "1 s"),
                           build=[1.0, 10.0, 100.0], check=[1.0, 1.0, 1.0], run=[1.0, 1e2, 1e4],
                           events=[0, 0, 0])
    assert [growth.exponent(s) for s in (growth.build, growth.check, growth.run)] == (
        pytest.approx([1.0, 0.0, 2.0]))
    assert str(growth).endswith("MISSED")
