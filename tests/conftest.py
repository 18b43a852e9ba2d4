"""The same width of terminal and no screen for every test, wherever it runs.

Tests run side by side, so BLAS works on one core each: its threads would wait for each other in
loops. What thousands of tests need is not looked through for garbage again and again. Ctrl-C is
heeded, though ``nohup`` and scripts start what runs in the background without it.
"""

from __future__ import annotations

import gc
import os
import signal
import threading

os.environ["COLUMNS"] = "100"
os.environ["MPLBACKEND"] = "agg"
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy and SciPy are loaded
gc.set_threshold(50_000, 20, 20)
if threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGINT) == signal.SIG_IGN):
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.freeze()
