"""What are the modes of set-valued laws called, and how are they read and shown?

A mode is recorded as a whole number, which is what arithmetic and files see; tables,
pictures and sentences show its word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...exceptions import unknown_name
from ...numerics.arrays import Array
from ..formatting import SECOND, number
from .samples import Samples

__all__ = ["SLIDES", "TOUCHES", "as_attributes", "code_of", "codes_of", "history",
           "from_attributes", "from_facts", "holds_words", "in_words", "shares"]  # fmt: skip

SLIDES: Mapping[int, str] = {0: "stuck", 1: "slides forward", -1: "slides backward"}
TOUCHES: Mapping[int, str] = {0: "closed", -1: "open"}


def in_words(codes: Any, words: Mapping[int, str]) -> Any:
    """The word of a code, or an array of them."""
    if np.ndim(codes) == 0:
        return words.get(int(codes), str(int(codes)))
    found = np.empty(np.shape(codes), dtype=object)
    for code in np.unique(codes):
        found[np.asarray(codes) == code] = in_words(code, words)
    return found


def code_of(word: str, words: Mapping[int, str], where: str) -> int:
    """The code of a word that a user compares with."""
    for code, known in words.items():
        if known == word:
            return code
    raise unknown_name(where, word, words.values(), "modes")


def codes_of(texts: Sequence[Any], where: str) -> tuple[Array, Mapping[int, str]]:
    """Codes of a column of words, and what they mean."""
    found = set(texts)
    words = TOUCHES if found <= set(TOUCHES.values()) else SLIDES
    code = {text: code_of(str(text), words, where) for text in found}
    return np.array([code[text] for text in texts], dtype=float), words


def as_attributes(words: Mapping[int, str]) -> dict[str, Any]:
    """What the attributes of a data set say of a mode, by the CF conventions."""
    return {"flag_values": list(words), "flag_meanings": " ".join(
        word.replace(" ", "_") for word in words.values())} if words else {}


def from_attributes(attributes: Mapping[str, Any]) -> Mapping[int, str] | None:
    """The words of a mode that a data set names, None where it names none."""
    meanings = str(attributes.get("flag_meanings", "")).split()
    codes = np.ravel(attributes.get("flag_values", ()))
    if codes.dtype.kind not in "iuf" or len(codes) != len(meanings):
        return None
    return {int(k): w.replace("_", " ") for k, w in zip(codes, meanings, strict=True)} or None


def from_facts(given: Any, path: str) -> Mapping[int, str] | None:
    """The words of a mode that the facts of a data frame name, None where they name none."""
    named = given.get(path) if isinstance(given, Mapping) else None
    if not isinstance(named, Mapping) or not all(re.fullmatch(r"-?\d", str(k)) for k in named):
        return None
    return {int(k): str(word) for k, word in named.items()} or None


def holds_words(heading: str, values: Any) -> bool:
    """Whether a column of a frame that was shown to people holds modes in words."""
    return heading.endswith("mode") and values.dtype.kind in "OTU" and len(values) > 0


def shares(series: Samples) -> list[tuple[str, float]]:
    """Words of the modes that occurred, with their share of the time."""
    words = series.infos[0].words or {}
    found = [(in_words(code, words), float(np.mean(series.rows.average(partial(np.equal, code)))))
             for code in np.unique(series.rows.curve()[1]).astype(int)]
    return sorted(found, key=lambda pair: -pair[1])


def history(series: Samples) -> str:
    """A sentence on the modes over the run."""
    times, values = series.rows.curve()
    span = f"from {number(times[0], SECOND)} to {number(times[-1], SECOND)}"
    words = series.infos[0].words or {}
    parts = [f"{100 * share:.4g} % of the time {word}" for word, share in shares(series)]
    text = f"Over the run, {span}, it is {', '.join(parts)}"
    if series.is_array:
        return f"{text}, all instances taken together."
    first, last = (in_words(values[0, k], words) for k in (0, -1))
    return f"{text}; at the start it is {first}, at the end {last}."
