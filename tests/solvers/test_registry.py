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


WITHOUT_SUNDIALS = """
import sys
sys.modules["sksundae"] = None  # as where it is not installed
if not {compiled}:
    sys.modules["llvmlite"] = None
from blocks import Model, quantity
from blocks.exceptions import MissingPackage
from library.translational import Damper, Mass, Reference, Spring

model = Model("oscillator")
model.block, model.ground = Mass(mass="2 kg", v="1 m/s"), Reference()
model.spring, model.damper = Spring(stiffness="200 N/m"), Damper(damping="4 N*s/m")
model.connect(model.block.M, model.spring.R, model.damper.R)
model.connect(model.ground.V, model.spring.C, model.damper.C)
for damping in "4 N*s/m", "4 GN*s/m":
    model.damper.damping = damping
    model.operating_point()
    run = model.simulate("3 s")
    print(run.statistics.method, abs(run["block.v"].final) < quantity("0.1 m/s"))
for method in "cvode", "adams", "IDA":
    try:
        model.simulate("3 s", method=method)
    except MissingPackage as error:
        print(error)
"""


@pytest.mark.parametrize(("compiled", "methods"), [
    (True, ["dopri5", "rodas4"]), (False, ["DOP853", "Radau"])])
def test_only_the_methods_of_sundials_need_it(compiled, methods):
    code = WITHOUT_SUNDIALS.format(compiled=compiled)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    refusal = ("A method of SUNDIALS (cvode, adams, ida) needs the package scikit-sundae, which is "
               "not installed. Install it with: pip install 'blocks-toolkit[sundials]', or take "
               "method='rodas4', or 'Radau' or 'BDF' of SciPy")
    assert out.stdout.splitlines() == [*(f"{m} True" for m in methods), *[refusal] * 3]


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
