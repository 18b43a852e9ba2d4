"""Single runs that a study is compared with choose their method as its runs do."""

import pytest

from blocks import native


@pytest.fixture(autouse=True)
def steady():
    token = native.steady.set(True)
    yield
    native.steady.reset(token)
