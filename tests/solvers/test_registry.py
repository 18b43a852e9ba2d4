"""Names of methods, and what asking for one costs."""

import pickle
import subprocess
import sys

import pytest

from blocks.exceptions import BlocksError
from blocks.solvers import METHODS, UnknownMethod, method_named


def test_every_name_gives_a_method_of_that_name():
    for name, method in METHODS.items():
        assert method.name == name
        assert method_named(name.upper()) is method_named(name.lower()) is method


def test_a_mistyped_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownMethod) as caught:
        method_named("cvodes")
    assert str(caught.value) == (
        "There is no solver 'cvodes'. Did you mean 'cvode'? Available: cvode, adams, ida, "
        "Radau, BDF, RK45, RK23, DOP853, ode45, ode23s, euler, rk4, "
        "backward_euler, trapezoidal."
    )
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BlocksError)
    assert caught.value.code == "name.unknown"
    assert caught.value.name == "cvodes"
    assert caught.value.nearest == "cvode"
    assert caught.value.known == tuple(METHODS)


def test_a_name_like_no_other_gets_no_guess():
    assert str(UnknownMethod("xyz", ["euler"])) == "There is no solver 'xyz'. Available: euler."


def test_the_error_survives_pickling():
    error = pickle.loads(pickle.dumps(UnknownMethod("rk54", ["ida", "RK45"])))
    assert error.nearest == "RK45"
    assert str(error) == "There is no solver 'rk54'. Did you mean 'RK45'? Available: ida, RK45."


def test_a_method_imports_its_library_only_when_it_is_made():
    code = (
        "import sys, blocks.solvers as s; list(s.METHODS); "
        "print(sorted(set(sys.modules) & {'scipy.integrate', 'scipy.optimize', 'sksundae'}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
