"""What is asked of mechanics is asked along an axis and about one."""

import pytest
from benches.axis import ROTATIONAL, TRANSLATIONAL


@pytest.fixture(params=[TRANSLATIONAL, ROTATIONAL], ids=str)
def axis(request):
    return request.param
