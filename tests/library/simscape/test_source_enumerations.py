"""Enumerations beside a component source give its parameters their words, by name and number."""

import runpy

import pytest
from benches import wired

from blocks import UnknownName
from library.electrical import DCVoltageSource, ElectricalReference
from library.simscape import source_text
from library.simscape.matlab import NotUnderstood

MODE = """classdef mode < int32
    % How the part conducts.
    enumeration
        weak (1)   % 1 S
        strong (3), shorted (7)
    end
    methods (Static)
        function map = displayText()
            map = containers.Map;
            map('weak') = 'Weak';
        end
    end
end
"""
PART = """component part < foundation.electrical.branch
parameters
    m = {enum}.weak;
    s = {{2, '1/Ohm'}};
end
equations
    if m == {enum}.strong
        i == 3*s*v;
    elseif {other}
        i == 7*s*v;
    else
        i == s*v;
    end
end
end
"""


def part_of(folder, enumeration=MODE, source=PART, enum="mode", other="m == 7", place="mode.m"):
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(enumeration, encoding="utf-8")
    home = folder / "+pack" / "+parts"
    home = home if enum != "mode" else folder
    home.mkdir(parents=True, exist_ok=True)
    (home / "part.ssc").write_text(source.format(enum=enum, other=other), encoding="utf-8")
    module = folder / "part.py"
    module.write_text(source_text(home / "part.ssc"), encoding="utf-8")
    return runpy.run_path(str(module))["Part"]


@pytest.mark.parametrize(("enum", "place"), [("mode", "mode.m"),
                                             ("pack.kinds.mode", "+pack/+kinds/mode.m")])
@pytest.mark.parametrize("other", ["m == 7", "7 == m", "m == mode.shorted",
                                   "~(m == mode.weak || m == 3)"])
def test_words_choose_the_equations(enum, place, other, tmp_path):
    made = part_of(tmp_path, enum=enum, place=place, other=other.replace("mode.", f"{enum}."))
    assert made().m == "weak"
    for word, conductance in (("weak", 2), ("strong", 6), ("shorted", 14)):
        model = wired("circuit", "source.p part.p", "source.n part.n ground.V",
                      source=DCVoltageSource(voltage="1 V"), part=made(m=word),
                      ground=ElectricalReference())
        assert model.operating_point()["part.i"].to("A").m == pytest.approx(conductance)


def test_a_word_that_is_no_member_is_refused_where_it_is_given(tmp_path):
    with pytest.raises(UnknownName, match="The choices are: shorted, strong, weak"):
        part_of(tmp_path)(m="loose")


@pytest.mark.parametrize(("old", "new", "other", "said"), [
    ("< int32", "< handle", "m == 7", "mode.m (line 1): mode is no enumeration of whole numbers"),
    ("weak (1)", "weak", "m == 7", "mode.m (line 4): 'weak' is no member with a number"),
    ("strong (3)", "strong (1)", "m == 7", "mode.m (line 5): strong or its number is there twice"),
    ("", "", "m == mode.loose", "part.ssc (line 7): loose is no member of the enumeration of m"),
    ("", "", "m == 5", "part.ssc (line 7): 5 is no member of the enumeration of m"),
    ("    enumeration\n", "    properties\n", "m == 7", "mode.m: it has no enumeration"),
])  # fmt: skip
def test_what_is_no_enumeration_is_refused_by_its_line(old, new, other, said, tmp_path):
    with pytest.raises(NotUnderstood) as caught:
        part_of(tmp_path, MODE.replace(old, new, 1), other=other)
    assert said in str(caught.value)
