"""How does an expression change with one of its variables, and what is a function worth at numbers?

For components that are given a function (a curve by its parameter): derivatives come
from the expression graph, numbers for checks and pictures from the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..exceptions import EquationError
from ..numerics.arrays import Array
from .expression import Expression, as_expression

__all__ = ["partial", "sample"]


def partial(value: object, variable: object) -> Expression:
    """Differentiate an expression partially with respect to a variable in it.

    Parameters
    ----------
    value : expression
    variable : variable of the component, or the argument of a function
    """
    value, variable = as_expression(value), as_expression(variable)
    if not variable.sx.is_symbolic():
        raise EquationError("", f"partial() differentiates by a variable, not by {variable.sx}.",
                            "Give the variable itself as the second argument.")
    slope = ca.jacobian(value.sx, variable.sx)
    return Expression(ca.densify(slope), value.dimension / variable.dimension)


def sample(function: Callable[[Expression], Any], at: ArrayLike, order: int = 0) -> Array:
    """Values and derivatives of a function of a number, in SI units.

    Parameters
    ----------
    function : callable
        Takes a dimensionless expression, returns one or several expressions.
    at : array of numbers
    order : int
        Number of derivatives.

    Returns
    -------
    array of shape (order + 1, number of results, number of points)
    """
    argument = ca.SX.sym("s")
    found = function(Expression(argument))
    results = found if isinstance(found, (tuple, list)) else [found]
    rows = [ca.vertcat(*(as_expression(r).sx for r in results))]
    for _ in range(order):
        rows.append(ca.jacobian(rows[-1], argument))
    points = np.atleast_1d(np.asarray(at, dtype=float))
    values = ca.Function("sample", [argument], [ca.vertcat(*rows)])(points[None, :])
    return np.asarray(values, dtype=float).reshape(order + 1, len(results), len(points))
