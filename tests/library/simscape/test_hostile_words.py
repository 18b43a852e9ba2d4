"""Words of a file never become code of the text that is written."""

import ast

import pytest
from slx_writer import Drawn, write

from blocks import BlocksError
from library.simscape import convert, source_text
from library.simscape.matlab import NotUnderstood
from library.simscape.words import refuse_foreign_code

TR = "foundation.mechanical.translational."
WORDS = [
    '" + __import__("os").system("x") + "', "' + __import__('os').system('x') + '", 'a"""', "a\\",
    '"', '"""\n__import__("os")\n"""', "x\r__import__('os')", "x\n    __import__('os')",
    "x\u2028__import__('os')", "\x85__import__('os')", "{__import__('os')}",
    'a\\"+__import__("os")+"', 'lib/__import__("os")', "import os; __import__",
]  # fmt: skip


def model(place, word):
    """A small model with a word of somebody's at one place, and its settings."""
    sledge = Drawn(f"{TR}mass", "sledge", {"M": "a"},
                   {"mass": ("2", "kg"), "v": ("1", "m/s", "High")})
    snow = Drawn(f"{TR}damper", "snow", {"R": "a", "C": "g"}, {"D": ("3", "N*s/m")})
    ground = Drawn(f"{TR}reference", "ground", {"V": "g"})
    level = Drawn("Constant", "level", options={"Value": "1"}, outputs=("n",))
    gain = Drawn("Gain", "K", options={"Gain": "2"}, inputs=("n",), outputs=("m",))
    blocks, settings = [sledge, snow, ground, level, gain], {"StopTime": "1"}
    if place == "name":
        sledge.name = word
    elif place == "subsystem":
        snow.within = ground.within = word
    elif place == "value":
        sledge.values["mass"] = (word, "kg")
    elif place == "unit":
        sledge.values["mass"] = ("2", word)
    elif place == "gain":
        gain.options = {"Gain": word}
    elif place == "kind":
        blocks.append(Drawn(f"other_lib/{word}", "odd", outputs=("q",)))
    elif place == "function":
        blocks.append(Drawn("Fcn", "odd", options={"Expr": word}, inputs=("n",), outputs=("q",)))
    elif place == "tag":
        blocks += [Drawn("Goto", "to", options={"GotoTag": word}, inputs=("m",)),
                   Drawn("From", "from", options={"GotoTag": word}, outputs=("z",))]
    elif place == "stop":
        settings = {"StopTime": word}
    else:  # of a callback
        settings["PreLoadFcn"] = f"q = 3; % {word}" if place == "comment" else f"q = '{word}';"
        sledge.values["mass"] = ("q", "kg")
    return blocks, settings


def names_in(text):
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("place", ["name", "subsystem", "value", "unit", "gain", "kind", "function",
                                   "tag", "stop", "comment", "text"])  # fmt: skip
def test_words_of_a_model_are_no_code(tmp_path, place):
    written = 0
    for word in WORDS:
        blocks, settings = model(place, word)
        try:
            text = convert(write(tmp_path / "model.slx", blocks, "R2022b", settings)).text
        except BlocksError:
            continue  # refused by name
        assert "__import__" not in names_in(text)
        written += 1
    assert written or place in ("value", "gain", "function", "text")  # others are words only


SOURCE = """component thing
% TITLE
nodes
 R = foundation.mechanical.translational.translational; % LABEL
end
parameters
 d = {1,'N'}; % LABEL
end
variables
 f = {0,'N'};
end
branches
 f : R.f -> *;
end
equations
 assert(d > 0, 'MESSAGE')
 f == d;
end
end
"""


@pytest.mark.parametrize("place", ["TITLE", "LABEL", "MESSAGE"])
def test_words_of_a_component_source_are_no_code(tmp_path, place):
    file, written = tmp_path / "thing.ssc", 0
    for word in WORDS:
        file.write_text(SOURCE.replace(place, word), encoding="utf-8")
        try:
            text = source_text(file)
        except BlocksError:
            continue
        assert "__import__" not in names_in(text)
        written += 1
    assert written > 5


@pytest.mark.parametrize("text", [
    "import os", "from subprocess import run", "x = eval('1')", "print(open('f'))",
    "x = ().__class__", "__import__('os')", "x = (", "def f():\n    return exec('1')",
])  # fmt: skip
def test_a_text_with_other_code_is_not_given_away(text):
    with pytest.raises(NotUnderstood):
        refuse_foreign_code(text, "model.slx")
