"""What does the source in C know of a model? A header: memory, places in it, instants, names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..native.zero_crossings import FAR, LARGEST
from ..numerics.tolerances import INSTANTS_APART
from .program import Program
from .targets import prototype

__all__ = ["header"]

#: Kinds of variables, as they are numbered in C.
KINDS = {"independent": 0, "input": 1, "parameter": 2, "output": 3, "state": 4, "slope": 5,
         "margin": 6}  # fmt: skip
A_LINE = 8  # numbers
GAP = 8  # zeros in a row that are not written
TRACE = 1e-12  # of the largest margin so far, by which others see it cross late


def header(program: Program, token: str, variables: Sequence[tuple[str, int]]) -> str:
    """The text of the header.

    ``token`` tells FMUs apart; ``variables`` are kind and place of each value reference.
    """
    image, instants = program.image, program.instants
    used = np.flatnonzero(image.words)
    parts = np.array([(one[0], one[-1] + 1 - one[0]) for one in np.split(  # between them are zeros
        used, np.flatnonzero(np.diff(used) > GAP) + 1)])
    number = {
        "IMAGE_SIZE": image.size, "N_PARTS": len(parts),
        "N_ADDRESSES": len(image.addresses), "N_ADDRESSES_OF_CODE": len(image.addresses_of_code),
        "N_TOLD": len(program.inputs), "N_TABLES": instants.rows.shape[1],
        "N_HOLDS": instants.holds.shape[1], "N_INSTANTS": len(instants.times),
        "N_X": len(program.method.x), "N_MARGINS": len(program.margins),
        "N_STATES": len(program.states), "N_VARIABLES": len(variables),
        "ENDLESS": int(program.is_endless), "KEEPS_STEP": int(program.method.keeps_step),
        "IS_BOUNDED": int(program.most_events > 0 and not program.chooses),
        "STEPS_ARE_TIED": int(program.step > 0),  # to modes, which change at their ends
        "MAY_BE_INTEGRATED": int(program.may_be_integrated),
        "KEEPS_PAST": int(program.driver.problem.delays is not None),
        "PARAMETERS": image.place_of_array(program.method.p),
        "NOW_TIMES": image.place("advance", "switches.times"),
        "NOW_HOLDS": image.place("advance", "switches.holds"),
        "NOW_ROWS": image.place("advance", "switches.rows"),
        "NOW_UNTIL": image.place("advance", "switches.until"),
        "INSTANT_COUNT": image.entry("advance", "switches.times") + 8,
        "DISCRETE": image.place("advance", "switches.d"),
        "X": image.place("advance", "x"), "STATE": image.place("advance", "state"),
        "BEGUN": image.place("advance", "begun"), "T_STOP": image.place("advance", "limits.t_stop"),
        "PIECES": image.entry("advance", "limits.pieces"),
        "WRONG": image.place("advance", "relations.wrong"),
        "SLACK": image.place("advance", "relations.slack"),
        "LARGEST": image.place("advance", "relations.looks") + 8 * LARGEST * len(program.margins),
        "PASSED_TIMES": image.place("advance", "passed.times"),
        **{name.upper(): image.place("look", name)
           for name in ("at", "point", "slope", "margins", "values")},
    }  # fmt: skip
    for k, name in enumerate(image.bound):
        number |= {name.upper(): k, f"{name.upper()}_TABLE": image.place(name),
                   f"{name.upper()}_RESULTS": image.results(name)}
    if "event" in image.bound:
        number["EVENT_INSTANT"] = image.place("event", "instant")
    size = {"T_START": program.t_start, "T_END": program.t_end, "LEAST": instants.least,
            "INSTANTS_APART": INSTANTS_APART, "FAR": FAR, "TRACE": TRACE}
    kinds = ", ".join(f"{{{KINDS[kind]}, {place}}}" for kind, place in variables)
    return "\n".join([
        f"#define TOKEN {_text(token)}",
        *(f"#define {name} INT64_C({value})" for name, value in number.items()),
        *(f"#define {name} {_number(value)}" for name, value in size.items()),
        *map(prototype, image.code), "typedef void (*Code)(void);",
        f"static const Code code[] = {{{', '.join(f'(Code){name}' for name in image.code)}}};",
        _array("uint64_t", "image", [f"{w:#x}" for at, size in parts
                                     for w in image.words[at : at + size].tolist()]),
        _pairs("parts", parts), _pairs("addresses", image.addresses),
        _pairs("addresses_of_code", image.addresses_of_code),
        _doubles("told_at_start", [one.start for one in program.inputs]),
        _whole("told_places", program.told), _whole("state_places", program.states),
        _doubles("state_nominals", program.nominals),
        _doubles("instants", instants.times), _doubles("instant_holds", instants.holds.ravel()),
        _doubles("instant_rows", instants.rows.ravel()),
        _doubles("instant_until", instants.until), _doubles("pieces", instants.pieces),
        _whole("stretch_starts", instants.starts), _doubles("stretch_ends", instants.ends),
        _array("char *const", "relations", [_text(name) for name in program.relations]),
        f"static const struct {{ int kind; int64_t place; }} variables[] = {{{kinds}}};", ""])


def _array(kind: str, name: str, entries: Sequence[str]) -> str:
    """An array, of one zero where there is nothing."""
    given = list(entries) or ["0"]
    lines = [", ".join(given[k : k + A_LINE]) for k in range(0, len(given), A_LINE)]
    return f"static const {kind} {name}[] = {{\n" + ",\n".join(lines) + "};"


def _doubles(name: str, values: Iterable[Any]) -> str:
    return _array("double", name, [_number(float(v)) for v in values])


def _whole(name: str, values: Iterable[Any]) -> str:
    return _array("int64_t", name, [str(int(v)) for v in values])


def _pairs(name: str, table: Any) -> str:
    pairs = [f"{{{a}, {b}}}" for a, b in table.tolist()] or ["{0, 0}"]
    return f"static const int64_t {name}[][2] = {{{', '.join(pairs)}}};"


def _number(value: float) -> str:
    """A number of C, to the last bit."""
    if np.isfinite(value):
        return float(value).hex()
    return "NAN" if np.isnan(value) else "-INFINITY" if value < 0 else "INFINITY"


def _text(value: str) -> str:
    """A text of C, of plain characters."""
    return json.dumps(value.encode("ascii", "replace").decode())
