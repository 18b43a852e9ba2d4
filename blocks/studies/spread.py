"""How are runs spread over threads, processes or machines?

Over any ``concurrent.futures.Executor``; a Dask client makes one of itself. The
model is pickled once, goes along with every run (a few kilobytes) and is loaded
and assembled once per worker, which keeps it for the runs that follow.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import threading
import uuid
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ..exceptions import BlocksError, ParameterError
from ..simulation.interrupts import postponed
from .axes import Plan
from .batch_conditions import OneByOne
from .batched import Batched
from .calls import chosen_executor
from .repeated import Repeated
from .runner import InProcess, Outcome, Outcomes, Recipe, Runner, RunsPoints

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["Spread", "runner_for"]

WAITING = 256  # runs handed to an executor and not yet back
KEPT = 2  # studies whose model a worker keeps
_CANNOT = (pickle.PicklingError, AttributeError, TypeError)  # what pickle raises

_initial: dict[str, bytes] = {}


class _Studies(threading.local):
    """The studies whose model this thread of a worker keeps, by their tokens."""

    def __init__(self) -> None:
        self.runners: OrderedDict[str, Runner] = OrderedDict()

    def runner(self, token: str, cargo: Any) -> Runner:
        """The runner of a study, made where it is not kept; the oldest others are given up."""
        if token not in self.runners:
            self.runners[token] = _load(_initial[token] if cargo is None else cargo)
            while len(self.runners) > KEPT:
                self.runners.popitem(last=False)
        return self.runners[token]


_studies = _Studies()


def runner_for(model: Model, recipe: Recipe, executor: Any, plan: Plan
               ) -> RunsPoints:
    """The runner a user has chosen: None, a number of workers, an executor, a Dask client."""
    workers, executor = (0, None) if executor is None else chosen_executor(executor, "sweep")
    if executor is None:
        try:
            return Batched(model, recipe, plan, workers or 1)
        except OneByOne as reason:
            why = reason
        if workers <= 1 and model.compile().nu:
            try:
                return Repeated(model, recipe, plan)
            except OneByOne as reason:
                why = reason
        single: InProcess | Spread = (
            Spread(model, recipe, None, workers) if workers else InProcess(model, recipe))
        single.execution += f": {why}"
        return single
    return Spread(model, recipe, executor)


class Spread:
    """Runs points on an executor, in whatever order they finish."""

    def __init__(self, model: Model, recipe: Recipe, executor: Executor | None,
                 workers: int = 0) -> None:
        self.executor, self.workers = executor, workers
        self.execution = (f"one by one, on {workers} processes" if executor is None
                          else f"one by one, on a {type(executor).__name__}")
        self.token = uuid.uuid4().hex
        if isinstance(executor, ThreadPoolExecutor):  # nothing needs to be pickled
            self.cargo: Any = _Shared(model, recipe)
        else:
            self.cargo = _pickled(model, recipe)

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points; those under way are given up where the caller stops listening."""
        own = self.executor is None
        executor: Any = self.executor
        if own:
            executor = ProcessPoolExecutor(self.workers, initializer=_prepare,
                                           initargs=(self.token, self.cargo))  # fmt: skip
        cargo = None if own else self.cargo
        waiting: set[Future] = set()
        back: SimpleQueue[Future | None] = SimpleQueue()  # None: Ctrl-C
        rest = ((n, plan.point(n)) for n in numbers)
        try:
            with postponed(lambda: back.put(None)):
                while True:
                    for number, values in rest:
                        future = executor.submit(_work, self.token, cargo, number, values)
                        waiting.add(future)
                        future.add_done_callback(back.put)
                        if len(waiting) >= WAITING:
                            break
                    if not waiting:
                        return
                    done = back.get()
                    outcome = None
                    if done is not None:
                        waiting.remove(done)
                        outcome = done.result()
                    if outcome is None:
                        raise KeyboardInterrupt
                    yield outcome
        except BrokenExecutor as error:
            warnings.warn(
                f"The executor broke down ({error}), so the rest of the study was not run. A "
                "worker may have been killed or run out of memory; classes and functions of a "
                "worker must be importable there; where processes are not forked, a script needs "
                "if __name__ == '__main__': around its calls.", stacklevel=5,
            )  # fmt: skip
        finally:
            if own:
                _end(executor, at_once=bool(waiting))
            else:
                for future in waiting:
                    future.cancel()


def _end(executor: Any, at_once: bool) -> None:
    """End a pool of processes of our own; ``at_once`` with runs whose results nobody wants.

    Workers would finish what they have, and Python would wait for it. What waits is not
    cancelled: a pool that has lost its workers tells it so, and trips over what is.
    """
    workers = list((getattr(executor, "_processes", None) or {}).values()) if at_once else []
    for worker in workers:
        worker.terminate()
    executor.shutdown(wait=not at_once)


class _Shared:
    """A model for threads: copied, not pickled."""

    def __init__(self, model: Model, recipe: Recipe) -> None:
        self.model, self.recipe = model, recipe

    def runner(self) -> Runner:
        return Runner.of_copy(self.model, self.recipe)


def _pickled(model: Model, recipe: Recipe) -> bytes:
    """Model and recipe as bytes; by cloudpickle where something of ``__main__`` is in them."""
    functions = [o.function for o in recipe.outputs if o.function is not None]
    parts = [model, *model._parts().values()]
    local = any(type(p).__module__ == "__main__" for p in parts)
    local = local or any(getattr(f, "__module__", "") == "__main__" for f in functions)
    tool: Any = pickle
    try:
        if not local:
            return pickle.dumps((model, recipe))
    except BlocksError:
        raise
    except _CANNOT:
        pass  # by cloudpickle, perhaps
    with contextlib.suppress(ImportError):
        import cloudpickle as tool  # type: ignore[no-redef]
    try:
        return tool.dumps((model, recipe))
    except BlocksError:
        raise
    except _CANNOT as error:
        raise ParameterError(
            "sweep(executor=…)", f"something of this study cannot be sent to a worker: {error}.",
            "Define component classes and output functions at the top of a module, or install "
            "cloudpickle; threads and runs in this process need neither.", code="sweep.pickle",
        ) from error  # fmt: skip


def _prepare(token: str, cargo: bytes) -> None:
    """Start of a worker process, which Ctrl-C may end runs of but not itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _initial[token] = cargo


def _work(token: str, cargo: Any, number: int, values: Sequence[Any]) -> Outcome | None:
    """One run, in a worker; None where it was interrupted."""
    try:
        if cargo is None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return _studies.runner(token, cargo).run_one(number, values)
    except KeyboardInterrupt:
        return None
    finally:
        if cargo is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _load(cargo: Any) -> Runner:
    if isinstance(cargo, _Shared):
        return cargo.runner()
    model, recipe = pickle.loads(cargo)
    return Runner(model, recipe)

