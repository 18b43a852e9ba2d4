"""Which parameters make a model behave as measured?

Least squares by ``scipy.optimize.least_squares`` with exact sensitivities, through events too.
Noise that is not given is estimated per sensor from the residuals. Intervals are those of linear
theory: residual variance, t-quantile [Seber & Wild, Nonlinear Regression, ch. 5].
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ...exceptions import BlocksError, ParameterError, told_how_to_call, unknown_name
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array
from ...simulation.progress import Progress
from ...simulation.settings import HANDED_ON, refuse_no_mapping
from ...studies.executors import results_of
from ...studies.settings import RunOptions
from ..sensitivity.sensitivities import refuse_no_count, refuse_other_options
from .data import Experiment, Measured, experiments_of
from .misfit import Misfit, ends_of
from .result import Fit

__all__ = ["Experiment", "Fit", "Measured", "fit"]

LOG = logging.getLogger("blocks.analysis")
NOISE_ROUNDS = 4  # in which noise that is not given settles
NOISE_SETTLED = 1e-3
TOLERANCE = 1e-10
EXAMPLE = '{"spring.stiffness": ("1 N/m", "1 kN/m")}', '{"disp [mm]": "spring.x"}'
#: What counts of squares of residuals, and how much each counts there, its derivative.
LOSSES: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "linear": (lambda z: z, np.ones_like),
    "soft_l1": (lambda z: 2 * (np.sqrt(1 + z) - 1), lambda z: 1 / np.sqrt(1 + z)),
    "huber": (lambda z: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
              lambda z: 1 / np.sqrt(np.maximum(z, 1.0))),
    "cauchy": (np.log1p, lambda z: 1 / (1 + z)), "arctan": (np.arctan, lambda z: 1 / (1 + z**2))}


@told_how_to_call
def fit(model: CompiledModel, data: Any, parameters: Mapping[str, Any], compare: Mapping[str, Any],
        *, loss: str = "linear", guesses: int = 1, seed: int = 0, executor: Any = None,
        progress: bool | None = None, rtol: float = 1e-8, **options: Unpack[RunOptions]) -> Fit:
    """Find the parameters with which a model behaves as measured. The model is not changed.

    Parameters
    ----------
    model : Model
    data : pandas DataFrame, Table, path of a CSV file, Experiment, or a list of these
        Headings carry units, ``"time [ms]"``, ``"force [N]"``. Times are those of the model; they
        may be irregular. NaN is a gap in one column; of several tables some may lack a column, or
        have it in another unit.
    parameters : mapping
        Path to bounds, ``{"spring.stiffness": ("100 N/m", "10 kN/m")}``, and perhaps a third value
        to start from; otherwise that is the model's, if it is within them. Initial values too.
    compare : mapping
        Column, with or without its unit, to variable, ``{"disp [mm]": "spring.x"}``; or to
        :class:`Measured`, which knows noise, and an offset or delay that is to be found.
    loss : str
        ``"linear"``, or against outliers ``"soft_l1"``, ``"huber"``, ``"cauchy"``.
    guesses : int
        How many first guesses within the bounds are tried; ``notes`` tells which cannot be run.
    seed : int
        Of the random numbers that place the other guesses.
    executor : int or executor, optional
        Where guesses are tried, as in :meth:`~blocks.Model.sweep`: a number of processes, an
        executor of ``concurrent.futures``, a Dask client; by default one after the other, here.
    progress : bool, optional
        Show run and misfit; by default in terminals and notebooks, after two seconds.
    rtol, **options
        As in :meth:`~blocks.Model.simulate`.

    Returns
    -------
    Fit
        After Ctrl-C, with the best values so far and the status ``"interrupted"``.

    Raises
    ------
    ModelError
        For mistakes in data, names, units and bounds, before the first run.

    Examples
    --------
    ::

        found = fit(model, pd.read_csv("run.csv"),
                    parameters={"spring.stiffness": ("100 N/m", "10 kN/m")},
                    compare={"displacement [mm]": "spring.x"})
        print(found)
        found.values["spring.stiffness"]
        found.plot("fit.png")
    """
    refuse_other_options(options, fit, ("initial", *(
        name for name in HANDED_ON if name != "start_time")))
    if loss not in LOSSES:
        raise unknown_name("fit(loss=…)", loss, LOSSES, "losses")
    refuse_no_count(guesses, "fit", "guesses", 1)
    refuse_no_mapping(parameters, "fit(parameters=…)", EXAMPLE[0])
    refuse_no_mapping(compare, "fit(compare=…)", EXAMPLE[1])
    if not parameters or not compare:
        raise ParameterError("fit()", f"has nothing to {'find' if not parameters else 'compare'}.",
                             f"Give parameters={EXAMPLE[0]} and compare={EXAMPLE[1]}.")
    misfit = Misfit(model, experiments_of(data), parameters, compare, {"rtol": rtol, **options})
    search = _Search(misfit, loss)
    status = "finished"
    try:
        with Progress(progress, 0, name="fit") as search.tell:
            search.run_all(_guesses(misfit, guesses, seed), executor)
            search.find_noise()
    except KeyboardInterrupt:
        if search.best is None:
            raise
        status = "interrupted"
        search.estimate_noise(search.best[1])
    assert search.best is not None
    return Fit(misfit, search.best[1], search.weights(), status, search.notes(guesses))


def _guesses(misfit: Misfit, guesses: int, seed: int) -> Sequence[Array]:
    """The guesses, and other points spread over the bounds."""
    first = np.array([u.guess for u in misfit.unknowns])
    if guesses <= 1:
        return [first]
    from scipy.stats import qmc

    spread = qmc.LatinHypercube(len(first), rng=seed).random(guesses - 1)
    low, high = ends_of(misfit.unknowns)
    return [first, *(misfit.values_of(row) for row in low + spread * (high - low))]


class _Search:
    """Least squares from one guess after the other; keeps the best values whatever happens."""

    def __init__(self, misfit: Misfit, loss: str) -> None:
        self.misfit, self.loss = misfit, loss
        self.tell: Callable[..., None] | None = None
        self.best: tuple[float, Array] | None = None
        self._tried = 0
        self.refused: list[str] = []  # why guesses could not be run

    def run_all(self, guesses: Sequence[Array], executor: Any) -> None:
        """Go to the minima nearest to several guesses; from the first one here."""
        misfit, others = self.misfit, guesses[1:]
        misfit.plain(misfit.values_of(self._inside(guesses[0])))  # errors of the first run are told
        self.run(guesses[0])
        if executor is None:
            for guess in others:
                self.run(guess)
            return
        calls = [(*misfit.given, dict(misfit.options), self.loss, guess) for guess in others]
        for best, refused, runs in results_of(_searched, calls, executor, "fit"):
            misfit.runs += runs
            self.refused += refused
            if self.best is None or best is not None and best[0] < self.best[0]:
                self.best = best

    def run(self, guess: Array) -> None:
        """Go to the minimum nearest to a guess, if it can be run."""
        from scipy.optimize import least_squares

        inside = self._inside(guess)
        try:
            self.misfit.plain(self.misfit.values_of(inside))
        except BlocksError as error:
            self.refused.append(str(error))
            return
        found = least_squares(self._residuals, inside, self._jacobian,
                              bounds=ends_of(self.misfit.unknowns), x_scale="jac", loss=self.loss,
                              xtol=TOLERANCE, ftol=TOLERANCE, gtol=TOLERANCE)
        self._residuals(found.x)

    def find_noise(self) -> None:
        """Estimate noise that is not given from the residuals, and search again."""
        misfit, open_ = self.misfit, self._without_noise
        for _ in range(NOISE_ROUNDS if open_ else 0):
            assert self.best is not None
            values, before = self.best[1], dict(misfit.noise)
            self.estimate_noise(values)
            changed = max(abs(misfit.noise[n] / before[n] - 1) for n in open_)
            if changed < NOISE_SETTLED or len(misfit.names) == 1 and self.loss == "linear":
                return
            self.best = None
            self.run(values)

    def notes(self, guesses: int) -> list[str]:
        """Sentences about guesses that were left out."""
        lost = len(self.refused)
        first = ", the first" * (lost > 1)
        return [f"{lost} of {guesses} guesses could not be run{first} because: {self.refused[0]}"
                ] if lost else []

    @property
    def _without_noise(self) -> list[str]:
        """Sensors whose noise is not given."""
        return [s.name for s in self.misfit.pooled if s.measured.noise is None]

    def estimate_noise(self, values: Array) -> None:
        """Take the noise of these sensors from what is left at some values."""
        misfit, open_ = self.misfit, self._without_noise
        plain = misfit.plain(values)
        for k, sensor in enumerate(misfit.pooled):
            if sensor.name in open_:
                left = _spread(np.concatenate([one[k] for one in plain]), self.loss)
                misfit.noise[sensor.name] = left or misfit.noise[sensor.name]

    def weights(self) -> Array:
        """How much each residual counts at the best values; 1 but for a robust loss."""
        assert self.best is not None
        return LOSSES[self.loss][1](self.misfit.residuals(self.best[1]) ** 2)

    def _inside(self, values: Array) -> Array:
        """What the search moves, at values or just within their bounds."""
        low, high = ends_of(self.misfit.unknowns)
        at = [u.searched(v) for u, v in zip(self.misfit.unknowns, values, strict=True)]
        return np.clip(at, low + 1e-9 * (high - low), high - 1e-9 * (high - low))

    def _residuals(self, searched: Array) -> Array:
        values = self.misfit.values_of(searched)
        out = self.misfit.residuals(values)
        cost = float(np.sum(LOSSES[self.loss][0](out**2)) / 2)
        if self.best is None or cost < self.best[0]:
            self.best = cost, values
        self._tried += 1
        words = (f"run {self._tried}, misfit {np.sqrt(np.mean(out**2)):.6g} standard deviations, "
                 f"best {np.sqrt(2 * self.best[0] / len(out)):.6g}")
        LOG.info("fit: %s", words)
        if self.tell is not None:
            self.tell(self._tried, words)
        return out

    def _jacobian(self, searched: Array) -> Array:
        values = self.misfit.values_of(searched)
        slopes = np.array([u.slope(v) for u, v in zip(self.misfit.unknowns, values, strict=True)])
        return self.misfit.jacobian(values) * slopes


def _searched(model: CompiledModel, experiments: Sequence[Experiment],
              parameters: Mapping[str, Any], compare: Mapping[str, Any], options: dict[str, Any],
              loss: str, guess: Array) -> tuple[tuple[float, Array] | None, list[str], int]:
    """Cost and values of the minimum nearest to a guess, or why it could not be run; runs."""
    misfit = Misfit(model, experiments, parameters, compare, options)
    search = _Search(misfit, loss)
    search.run(guess)
    return search.best, search.refused, misfit.runs


def _spread(residuals: Array, loss: str) -> float:
    """Standard deviation of residuals; by the median where outliers are expected."""
    if loss == "linear":
        return float(np.sqrt(np.mean(residuals**2)))
    return float(1.4826 * np.median(np.abs(residuals)))
