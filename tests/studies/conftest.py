"""Which points of a study are run one by one?"""

import pytest

from blocks.studies.runner import Runner


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
