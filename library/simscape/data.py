"""What do the tables hold that stand beside this code?"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["content_of", "rows_of"]


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@cache
def content_of(name: str) -> Any:
    """The content of a JSON file."""
    return json.loads(_text(name))


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file, by its head; lines that begin with ``#`` are comments."""
    return [*csv.DictReader(line for line in _text(name).splitlines()
                            if line and not line.startswith("#"))]
