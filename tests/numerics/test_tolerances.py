"""The table of tolerances reads as a table: one name each, with a reason."""

import re
from collections import Counter
from pathlib import Path

from blocks.numerics import tolerances

LINES = [line for line in Path(tolerances.__file__).read_text(encoding="utf-8").splitlines()
         if re.match(r"[A-Z_0-9, ]+ = ", line)]  # fmt: skip


def test_every_tolerance_has_a_name_of_its_own_and_a_reason():
    assert len(LINES) > 50
    names = Counter(line.split(" =")[0] for line in LINES)
    assert [name for name, count in names.items() if count > 1] == []
    assert [line for line in LINES if not re.search(r"  # \S", line)] == []


def test_every_tolerance_is_used():
    words = Counter(word for file in Path(tolerances.__file__).parents[1].rglob("*.py")
                    for word in re.findall(r"\w+", file.read_text(encoding="utf-8")))
    unused = [name for line in LINES for name in line.split(" =")[0].split(", ") if words[name] < 2]
    assert unused == []
