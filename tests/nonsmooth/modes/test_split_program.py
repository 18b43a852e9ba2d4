"""Is the best split of efforts that the motion leaves open known from the last ones, where it is
not sought again?"""

from __future__ import annotations

import numpy as np
import pytest
from friction_bench import train
from numpy.testing import assert_allclose

from blocks import quantity
from blocks.nonsmooth.modes.split_program import SplitProgram
from library.translational import TranslationalFriction


def row_on_a_floor(n, random):
    """D, and bounds, of n bodies that rub on a floor and on each other."""
    by_speeds = np.vstack([np.eye(n), np.eye(n)[1:] - np.eye(n)[:-1]])
    bounds = random.uniform(1, 2, 2 * n - 1)
    return by_speeds @ np.diag(1 / random.uniform(1, 3, n)) @ by_speeds.T, by_speeds, bounds


def test_what_is_known_of_a_share_is_what_is_found_by_seeking_it():
    """Along loads that grow until nothing holds them: on which side of 1, and close to it which."""
    random = np.random.default_rng(2)
    told = 0
    for n in (8, 20):
        d, by_speeds, bounds = row_on_a_floor(n, random)
        program, sought = (SplitProgram(d, -bounds, bounds) for _ in range(2))
        load = random.normal(size=n)
        one = np.linalg.lstsq(by_speeds.T, load, rcond=None)[0]  # holds it by the least efforts
        end = 1 / sought.best(one)[0]
        for size in (0.7 * end, 1.2 * end, *(end * (1 + 1e-3 * random.normal(size=40)))):
            share, split = program.known(size * one)
            if np.isnan(share):
                program.best(size * one)
                continue
            told += 1
            least, _ = sought.best(size * one)
            assert (share > 1) == (least > 1)
            assert share >= least - 1e-12 if share < 1 else share <= least + 1e-12
            if share < 1:
                assert_allclose(by_speeds.T @ split, size * load, atol=1e-9)
                assert (np.abs(split) <= bounds).all()
    assert told > 60


def train_on_rails(n=26):
    """Wagons that roll with friction: when at rest, no one knows how much each of them bears."""
    model = train(n)
    model.wheels = TranslationalFriction(count=n, law="coulomb", coulomb_force="1.5 kN",
                                         breakaway_force="2 kN")
    model.connect(model.wheels.R, model.wagons.M)
    model.connect(model.wheels.C, model.rail.V)
    return model


def test_a_train_goes_as_if_every_split_was_sought(monkeypatch):
    quick = train_on_rails().simulate("1 s", rtol=1e-9)
    monkeypatch.setattr(SplitProgram, "known", lambda self, effort: (np.nan, effort))
    slow = train_on_rails().simulate("1 s", rtol=1e-9)
    assert len(quick.events) > 40
    changes = [[(e.component, e.description) for e in run.events] for run in (quick, slow)]
    assert changes[0] == changes[1]
    assert_allclose(*([e.time for e in run.events] for run in (quick, slow)), rtol=1e-11)
    assert quick.energy().relative_residual < 1e-7


def test_wagons_start_where_the_force_is_more_than_all_before_can_hold():
    """A force that grows by 10 kN/s: the first k wagons start together where it is more than what
    their wheels, and the draught gear behind them, hold at most."""
    model = train_on_rails()
    model.pull.force = lambda t: quantity("10 kN/s") * t
    run = model.simulate("8 s", rtol=1e-9)
    behind = np.append(model.gear.breakaway_force.to("kN").m, 0.0)
    holds = 2.0 * np.arange(1, 27) + behind
    first = min(e.time for e in run.events)
    assert first == pytest.approx(holds.min() / 10, abs=1e-9)
    started = {e.component for e in run.events if e.time == first}
    count = int(np.argmin(holds)) + 1
    assert started == {*(f"wheels[{k}]" for k in range(count)), f"gear[{count - 1}]"}
