"""How are calls of a function spread over processes or machines?

For searches, each of which makes many runs; those of single runs are for :mod:`.executors`.
"""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from ..exceptions import BlocksError, ParameterError

__all__ = ["chosen_executor", "results_of"]

T = TypeVar("T")


def results_of(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], executor: Any,
               where: str) -> Iterator[T]:
    """Results of a function of a module, in the order of the calls, each told by its arguments.

    The executor is None, a number of processes, a ``concurrent.futures`` executor or a Dask client;
    messages say ``where``.
    """
    if executor is None:
        yield from (function(*one) for one in calls)
        return
    processes, executor = chosen_executor(executor, where)
    if isinstance(executor, ThreadPoolExecutor):
        raise ParameterError(f"{where}(executor=…)", "is given threads, which would all change the "
                             "one model.", "Give a number of processes, or leave it out.")
    pool = ProcessPoolExecutor(  # Ctrl-C is for the process that waits
        processes, None, signal.signal, (signal.SIGINT, signal.SIG_IGN)) if processes else executor
    try:
        yield from pool.map(function, *zip(*calls, strict=True))  # which cancels what nobody wants
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if isinstance(error, BlocksError):
            raise
        raise ParameterError(
            f"{where}(executor=…)", f"something of the model cannot be sent to a worker: {error}.",
            "Define component classes at the top of a module, or leave executor=… out.",
            code="sweep.pickle") from error  # fmt: skip
    finally:
        if processes:
            pool.shutdown(wait=True, cancel_futures=True)


def chosen_executor(given: Any, where: str) -> tuple[int, Any]:
    """A number of processes, or the executor that a user has given."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given > 0:
        return int(given), None
    if hasattr(given, "get_executor"):  # a Dask client
        given = given.get_executor()
    if not hasattr(given, "submit"):
        raise ParameterError(f"{where}(executor=…)", f"is {given!r}, which cannot run anything.",
                             "Give a number of processes, a concurrent.futures executor or a Dask "
                             "client, or leave it out.", given=given)  # fmt: skip
    return 0, given
