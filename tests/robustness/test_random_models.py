"""Does every random model end in a finished run, a named refusal or a named stop?

Models over every class of the library, sane and wild: see ``random_models``. What counts
as a defect: any other exception, what ``check()`` overlooks and ``simulate()`` refuses, nan
or a ledger that is open without a warning in a finished run, a run without end. The script
that is printed builds the model anew.
"""

import pytest
from benches import few
from random_models import BASES, CLASSES, FLUIDS, GROUPS, MODULES, outcome_of

from blocks import Component

FEW, MANY = 20, 250  # models in a test


def complain(seeds, groups=GROUPS, share=0.0):
    """Text about every model that ends otherwise, with its script, or if less than a share run."""
    defects, finished = [], 0
    for seed in seeds:
        outcome = outcome_of(seed, groups=groups)
        finished += outcome.kind == "finished"
        if not outcome.good:
            defects.append(f"# seed {seed}: {outcome.kind} {outcome.detail}\n{outcome.script}\n")
    if finished < share * len(seeds):
        defects.append(f"{finished} of {len(seeds)} models ran: the others were refused or stopped")
    return "\n".join(defects)


def test_the_random_models_are_made_of_every_class_of_the_library():
    every = {f"{letter}.{name}" for letter, module in MODULES.items() for name in module.__all__
             if isinstance(getattr(module, name), type)
             and issubclass(getattr(module, name), Component) and name not in BASES}  # fmt: skip
    assert set(CLASSES) == every
    assert len(every) > 100


@few(2, "start", range(20_000, 20_060, FEW))
def test_a_random_model_runs_or_is_refused_or_stopped_by_name(start):
    defects = complain(range(start, start + FEW), share=0.2)
    assert not defects, defects


def test_random_models_with_infinite_slopes_a_switch_across_one_node_or_loops_of_nothing():
    defects = complain((100_378, 100_409, 105_472, 400_291))
    assert not defects, defects


def test_a_dog_clutch_at_a_shaft_without_inertia_runs():
    defects = complain((101_665, 101_848), share=1.0)
    assert not defects, defects


def test_a_ring_without_mass_a_pressed_stop_in_fixed_steps_and_pumps_in_a_circle_come_to_an_end():
    defects = complain((400_356, 401_918, 400_808))
    assert not defects, defects


def test_open_loops_at_a_start_a_pulse_beside_ode23s_and_clutches_on_a_driven_shaft_are_answered():
    defects = complain((919_227, 914_052, 912_752, 987_558, 991_569, 993_380))
    assert not defects, defects


def test_loops_that_any_point_solves_or_none_beyond_end_in_seconds_by_name():
    defects = complain((106_479,)) + complain((102_465,), GROUPS + FLUIDS)
    assert not defects, defects


def test_what_rests_at_a_corner_ends_beyond_measure_wiggles_or_divides_nothing_by_nothing_is_told():
    defects = complain((917_750, 911_714, 931_207, 932_034, 802_102))
    assert not defects, defects


def test_a_random_circuit_of_a_fluid_that_carries_heat_runs_or_is_refused_or_stopped_by_name():
    defects = complain((30_000, 30_001, 30_009, 30_016), FLUIDS, share=0.5)
    assert not defects, defects


@pytest.mark.slow
@pytest.mark.parametrize("start", [20_060, *range(100_000, 110_000, MANY)])
def test_ten_thousand_random_models_run_or_are_refused_or_stopped_by_name(start):
    defects = complain(range(start, start + MANY), share=0.15)
    assert not defects, defects


@pytest.mark.slow
@pytest.mark.parametrize("start", [30_004, *range(200_000, 202_000, MANY)])
def test_two_thousand_random_circuits_of_fluids_run_or_are_refused_or_stopped_by_name(start):
    defects = complain(range(start, start + MANY), FLUIDS, share=0.03)
    assert not defects, defects
