"""Single runs that a study is compared with choose their method as its runs do."""

import pytest

from blocks import native
from blocks.studies.runner import Runner


@pytest.fixture(autouse=True)
def as_in_a_study():
    token = native.study.set(1)
    yield
    native.study.reset(token)


@pytest.fixture
def runs(monkeypatch):
    """Numbers of the points that are run."""
    made = []
    run = Runner.run_one

    def counted(self, number, values):
        made.append(number)
        return run(self, number, values)

    monkeypatch.setattr(Runner, "run_one", counted)
    return made
