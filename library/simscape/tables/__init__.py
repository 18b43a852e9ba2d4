"""What do the tables and texts hold that stand beside this code?"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

__all__ = ["content_of", "filled", "rows_of"]


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def filled(name: str, /, **words: str) -> str:
    """The text of a file with words in the place of ``$word``."""
    return Template(_text(name)).substitute(words)


@cache
def content_of(name: str) -> Any:
    """The content of a JSON file."""
    return json.loads(_text(name))


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file, by its head; lines that begin with ``#`` are comments."""
    return [*csv.DictReader(line for line in _text(name).splitlines()
                            if line and not line.startswith("#"))]
