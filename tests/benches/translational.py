"""Small circuits for tests of translational components."""

from benches.axis import TRANSLATIONAL

driven, thrown = TRANSLATIONAL.driven, TRANSLATIONAL.thrown
