"""The same width of terminal and no screen for every test, wherever it runs."""

from __future__ import annotations

import os

os.environ["COLUMNS"] = "100"
os.environ["MPLBACKEND"] = "agg"
