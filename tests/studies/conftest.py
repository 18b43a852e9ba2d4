"""Single runs that a study is compared with choose their method as its runs do."""

import pytest

from blocks import native


@pytest.fixture(autouse=True)
def as_in_a_study():
    token = native.study.set(1)
    yield
    native.study.reset(token)
