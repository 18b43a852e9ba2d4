"""The same width of terminal and no screen for every test, wherever it runs.

Tests run side by side, so BLAS works on one core each: its threads would wait for each other in
loops. What thousands of tests need is not looked through for garbage again and again.
"""

from __future__ import annotations

import gc
import os

os.environ["COLUMNS"] = "100"
os.environ["MPLBACKEND"] = "agg"
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy and SciPy are loaded
gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish():
    gc.freeze()
