"""Small circuits for tests of translational components."""

from __future__ import annotations

from benches.axis import TRANSLATIONAL

driven, thrown = TRANSLATIONAL.driven, TRANSLATIONAL.thrown
