"""How are runs, or searches of several runs, spread over threads, processes or machines?

Over any ``concurrent.futures.Executor``; a Dask client makes one of itself. Points go out in
batches, and a worker makes those of a batch as this process would make them by itself: several at
once where that can be. After about a second it hands back what is left. It keeps the model,
assembled and compiled, for the batches that follow.
"""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from ..exceptions import BlocksError, ParameterError, warn_user
from ..language.compiled_model import CompiledModel
from ..simulation.interrupts import postponed
from .axes import Plan
from .batch_conditions import NotBatchable
from .runner import ASSEMBLY, InProcess, Outcome, Outcomes, Recipe, RunsPoints
from .sequential import SequentialRunner
from .vectorised import VectorisedRunner

__all__ = ["ExecutorRunner", "results_of", "runner_for"]

T = TypeVar("T")
LASTS = 1.0  # s, after which what is left of a batch goes out again
PARTS = 4  # batches at least for each worker, of what is left
WAITING = 256  # batches handed to an executor and not yet back
KEPT = 2  # studies whose model a worker keeps
_CANNOT = (pickle.PicklingError, AttributeError, TypeError)  # what pickle raises


def runner_for(model: CompiledModel, recipe: Recipe, executor: Any, plan: Plan) -> RunsPoints:
    """The runner a user has chosen: None, a number of workers, an executor, a Dask client."""
    workers, executor = (0, None) if executor is None else chosen_executor(executor, "sweep")
    if executor is None:
        try:
            return VectorisedRunner(model, recipe, plan, workers or 1)
        except NotBatchable as reason:
            why = reason
        if workers <= 1 and model.compile().nu:
            try:
                return SequentialRunner(model, recipe, plan)
            except NotBatchable as reason:
                why = reason
        if not workers:
            return InProcess(model, recipe, str(why))
    return ExecutorRunner(model, recipe, plan, executor, workers)


def results_of(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], executor: Any,
               where: str) -> Iterator[T]:
    """Results of a function of a module, in the order of the calls, each told by its arguments.

    For searches, each of which makes many runs. The executor is a number of processes, a
    ``concurrent.futures`` executor or a Dask client; messages say ``where``.
    """
    processes, executor = chosen_executor(executor, where)
    if isinstance(executor, ThreadPoolExecutor):
        raise ParameterError(f"{where}(executor=…)", "is given threads, which would all change the "
                             "one model.", "Give a number of processes, or leave it out.")
    pool = ProcessPoolExecutor(  # Ctrl-C is for the process that waits
        processes, None, signal.signal, (signal.SIGINT, signal.SIG_IGN)) if processes else executor
    try:
        yield from pool.map(function, *zip(*calls, strict=True))  # which cancels what nobody wants
    except BlocksError:
        raise
    except _CANNOT as error:
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


@dataclass
class _Batch:
    """What a worker sends back of a batch."""

    outcomes: list[Outcome] = field(default_factory=list)  # of the runs that were made
    left: list[int] = field(default_factory=list)  # numbers of the others
    alone: int = 0  # runs that were made by themselves after all
    how: str = RunsPoints.how  # of the runner, as why
    why: str = ""
    stopped: bool = False  # by Ctrl-C


class ExecutorRunner(RunsPoints):
    """Runs points on an executor, in whatever order they finish.

    ``executor`` is None for as many processes of its own as there shall be ``workers``.
    """

    def __init__(self, model: CompiledModel, recipe: Recipe, plan: Plan, executor: Executor | None,
                 workers: int = 0) -> None:
        self.executor, self.workers = executor, workers
        self.where = (f", on {workers} processes" if executor is None
                      else f", on a {type(executor).__name__}")
        self.token = uuid.uuid4().hex
        self.cargo = (model, recipe, plan) if isinstance(executor, ThreadPoolExecutor) else (
            _pickled(model, recipe, plan))  # which threads do not need

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points; those under way are given up where the caller stops listening."""
        own = self.executor is None
        executor: Any = self.executor
        if own:
            executor = ProcessPoolExecutor(self.workers, initializer=_prepare)
        left, parts = deque(numbers), PARTS * (self.workers or _workers(executor))
        waiting: set[Future] = set()
        back: SimpleQueue[Future | None] = SimpleQueue()  # None: Ctrl-C
        try:
            with postponed(lambda: back.put(None)):
                while True:
                    while left and len(waiting) < WAITING:
                        some = [left.popleft() for _ in range(-(-len(left) // parts))]
                        future = executor.submit(_work, self.token, self.cargo, some, own)
                        waiting.add(future)
                        future.add_done_callback(back.put)
                    if not waiting:
                        return
                    done = back.get()
                    if done is None:
                        raise KeyboardInterrupt
                    waiting.remove(done)
                    batch = _back(done)
                    left += batch.left
                    self.how, self.why = batch.how, batch.why
                    self.alone += batch.alone
                    yield from batch.outcomes
                    if batch.stopped:
                        raise KeyboardInterrupt
        except BrokenExecutor as error:
            warn_user(
                f"The executor broke down ({error}), so the rest of the study was not run. A "
                "worker may have been killed or run out of memory; classes and functions of a "
                "worker must be importable there; where processes are not forked, a script needs "
                "if __name__ == '__main__': around its calls.")
        finally:
            if own:
                _end(executor, at_once=bool(waiting))
            else:
                for future in waiting:
                    future.cancel()


def _back(future: Future) -> _Batch:
    """What has come back; an error is the executor's, as those of runs are outcomes."""
    try:
        return future.result()
    except (BlocksError, BrokenExecutor):
        raise
    except Exception as error:  # each has its own, such as Dask of a worker that was killed
        raise BrokenExecutor(f"{type(error).__name__}: {error}") from error


def _workers(executor: Any) -> int:
    """How many workers an executor has, as far as it tells: pools, mpi4py, Dask."""
    client: Any = getattr(executor, "_client", None)
    if hasattr(client, "ncores"):
        return max(1, sum(client.ncores().values()))
    return (getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
            or os.cpu_count() or 1)


def _end(executor: Any, at_once: bool) -> None:
    """End a pool of processes of our own; ``at_once`` with runs whose results nobody wants.

    Workers would finish what they have, and Python would wait for it. What waits is not
    cancelled: a pool that has lost its workers tells it so, and trips over what is.
    """
    workers = list((getattr(executor, "_processes", None) or {}).values()) if at_once else []
    for worker in workers:
        worker.terminate()
    executor.shutdown(wait=not at_once)


def _pickled(model: CompiledModel, recipe: Recipe, plan: Plan) -> bytes:
    """A study as bytes; by cloudpickle where something of ``__main__`` is in them."""
    functions = [o.function for o in recipe.outputs if o.function is not None]
    parts = [model, *model.parts.values()]
    local = any(type(p).__module__ == "__main__" for p in parts)
    local = local or any(getattr(f, "__module__", "") == "__main__" for f in functions)
    tools: list[Any] = [pickle]
    with contextlib.suppress(ImportError):
        import cloudpickle

        tools = [cloudpickle] if local else [pickle, cloudpickle]
    for tool in tools:
        try:
            return tool.dumps((model, recipe, plan))
        except BlocksError:
            raise
        except _CANNOT as error:
            reason = error
    raise ParameterError(
        "sweep(executor=…)", f"something of this study cannot be sent to a worker: {reason}.",
        "Define component classes and output functions at the top of a module, or install "
        "cloudpickle; threads and runs in this process need neither.", code="sweep.pickle",
    ) from reason  # fmt: skip


# -- in a worker -------------------------------------------------------------------------------
class _Studies(threading.local):
    """What this thread of a worker has made ready, by the tokens of studies."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[RunsPoints, Plan]] = {}
        self.on_interrupt: Any = None  # what the program made of Ctrl-C as the process began

    def add(self, token: str, cargo: Any) -> None:
        """Make a study ready; the oldest others are given up."""
        with ASSEMBLY:
            if isinstance(cargo, bytes):
                model, recipe, plan = pickle.loads(cargo)
            else:  # of threads
                model, (recipe, plan) = copy.deepcopy(cargo[0]), cargo[1:]
            self.kept[token] = runner_for(model, recipe, None, plan), plan
        while len(self.kept) > KEPT:
            del self.kept[next(iter(self.kept))]


_studies = _Studies()


def _prepare() -> None:
    """Start of a process of our own, which Ctrl-C may end runs of but not itself, unless the
    program ignores it, as under nohup."""
    _studies.on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _work(token: str, cargo: Any, numbers: list[int], own: bool) -> _Batch:
    """Make the runs of a batch."""
    batch = _Batch(left=numbers)
    try:
        if own and _studies.on_interrupt != signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if token not in _studies.kept:
            _studies.add(token, cargo)
        _make(batch, *_studies.kept[token])
    except KeyboardInterrupt:
        batch.stopped = True
    finally:
        if own:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    return batch


def _make(batch: _Batch, runner: RunsPoints, plan: Plan) -> None:
    """Make what is left of a batch, until it has taken long."""
    began, alone, outcomes = time.perf_counter(), runner.alone, runner.run(plan, batch.left)
    batch.how, batch.why = runner.how, runner.why
    try:
        for outcome in outcomes:
            batch.outcomes.append(outcome)
            if time.perf_counter() - began > LASTS and not outcome.more:
                break
    finally:
        outcomes.close()
        batch.alone = runner.alone - alone
        made = {outcome.number for outcome in batch.outcomes}
        batch.left = [number for number in batch.left if number not in made]
        for outcome in batch.outcomes:
            outcome.more = outcome is not batch.outcomes[-1]
