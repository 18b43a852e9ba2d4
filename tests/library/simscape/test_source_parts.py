"""What a component source says of its parts, ports and starts is so in the class, or is told."""

from __future__ import annotations

import pytest
from test_sources import written

from blocks import BlocksError, Model

SPRING = """
component spring
    outputs
        y = {0, '1'};
    end
    parameters
        stiffness = {2, 'N/m'};
    end
    equations
        assert(stiffness > {3, 'N/m'}, 'The stiffness (of the spring, in "N/m") between wheel and body must be large');
        y == 1;
    end
end
"""  # noqa: E501


def test_a_long_message_stays_whole(tmp_path):
    model = Model("spring")
    model.spring = written(SPRING, tmp_path, "spring")()
    with pytest.raises(BlocksError, match=r"The stiffness \(of the spring, in \"N/m\"\) between "
                                          "wheel and body must be large"):
        model.simulate("1 s")
