"""Tests of random cases: a few of them always, many with ``-m slow``."""

from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, seed, settings


def random_cases(*strategies, few, many):
    """Makes a test of a check that takes what the strategies give: the same cases every time, and
    other ones only where the check has another name."""

    def test_of(check):
        @pytest.mark.parametrize("cases", [few, pytest.param(many, marks=pytest.mark.slow)])
        def test(cases):
            same = settings(max_examples=cases, deadline=None, database=None,
                            suppress_health_check=list(HealthCheck))
            seed(crc32(check.__name__.encode()))(same(given(*strategies)(check)))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return test_of
