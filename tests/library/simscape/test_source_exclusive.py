"""What exclusive branches of a component source declare, and arrays that functions make."""

import pytest
from benches import wired

from blocks import BlocksError
from library.electrical import DCVoltageSource, ElectricalReference
from library.simscape import source_text

HEAD = """component leaky
% Leaky resistor
nodes
  p = foundation.electrical.electrical; % +:left
  n = foundation.electrical.electrical; % -:right
end
parameters
  loss = true; % loss
  R = {MAKER, 'Ohm'};
end
variables
  i = {0, 'A'};
  v = {0, 'V'};
end
branches
  i : p.i -> n.i;
end
if loss
  variables
    q = {0, 'W'};
  end
  equations
    q == v*i;
    v == R(2)*i;
  end
else
  variables
    q = {START, 'W'};
  end
  equations
    q == 0;
    v == 2*R(2)*i;
  end
end
equations
  v == p.v - n.v;
end
end
"""


def leaky(folder, maker="ones(1,3)*2.5", start="0"):
    file = folder / "leaky.ssc"
    file.write_text(HEAD.replace("MAKER", maker).replace("START", start), encoding="utf-8")
    return source_text(file)


@pytest.mark.parametrize("maker", ["ones(1,3)*2.5", "2.5+zeros(1,2)", "repmat(2.5,1,2)",
                                   "linspace(2,3,3)"])
@pytest.mark.parametrize("loss", [True, False])
def test_a_variable_of_exclusive_branches_is_one(maker, loss, tmp_path):
    text = leaky(tmp_path, maker)
    assert text.count("    q = Variable(") == 1
    space: dict = {"__name__": "leaky"}
    exec(compile(text, "leaky.py", "exec"), space)
    model = wired("circuit", "source.p part.p", "source.n part.n ground.V",
                  source=DCVoltageSource(voltage="5 V"), ground=ElectricalReference(),
                  part=space["Leaky"](loss=loss))
    run = model.simulate("1 ms")
    assert run["part.i"].final.to("A").m == pytest.approx(2 if loss else 1)
    assert run["part.q"].final.to("W").m == pytest.approx(10 if loss else 0)


def test_two_start_values_in_exclusive_branches_are_refused_by_their_line(tmp_path):
    with pytest.raises(BlocksError, match=r"line 28\): q is declared twice.*all branches of an if"):
        leaky(tmp_path, start="1")
