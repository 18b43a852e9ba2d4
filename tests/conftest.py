"""The same width of terminal and no screen for every test, wherever it runs.

Tests run side by side, so BLAS works on one core each: its threads would wait for each other in
loops. What thousands of tests need is not looked through for garbage again and again. Ctrl-C is
heeded, though ``nohup`` and scripts start what runs in the background without it. Where Python
is to leave no bytecode (``PYTHONDONTWRITEBYTECODE``, common in containers), every worker and every
process that a test starts would compile all sources anew: it is kept in the user's cache folder.
"""

import gc
import os
import signal
import sys
import threading

from platformdirs import user_cache_path

os.environ["COLUMNS"] = "100"
os.environ["MPLBACKEND"] = "agg"
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy and SciPy are loaded
gc.set_threshold(50_000, 20, 20)
if threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGINT) == signal.SIG_IGN):
    signal.signal(signal.SIGINT, signal.default_int_handler)

if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(user_cache_path("blocks-toolkit-tests", appauthor=False))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


def pytest_collection_finish():
    gc.freeze()
