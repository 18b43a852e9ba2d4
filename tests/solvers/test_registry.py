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
        method_named("rodas")
    assert "Did you mean 'rodas4'?" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BlocksError)
    assert caught.value.code == "name.unknown"
    assert caught.value.name == "rodas"
    assert caught.value.nearest == "rodas4"
    assert caught.value.known == tuple(METHODS)


WITHOUT_LLVM = """
import sys
sys.modules["llvmlite"] = None
from blocks import Model, quantity
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
"""


def test_models_run_without_machine_code_too():
    out = subprocess.run([sys.executable, "-c", WITHOUT_LLVM], capture_output=True, text=True,
                         check=True)
    assert out.stdout.splitlines() == ["DOP853 True", "rodas4 True"]


def test_a_name_like_no_other_gets_no_guess():
    assert str(UnknownMethod("xyz", ["euler"])) == "There is no solver 'xyz'. Available: euler."


def test_the_error_survives_pickling():
    error = pickle.loads(pickle.dumps(UnknownMethod("rk54", ["BDF", "RK45"])))
    assert error.nearest == "RK45"
    assert str(error) == "There is no solver 'rk54'. Did you mean 'RK45'? Available: BDF, RK45."


def test_a_method_imports_its_library_only_when_it_is_made():
    code = (
        "import sys, blocks.solvers as s; list(s.METHODS); "
        "print(sorted(set(sys.modules) & {'scipy.integrate', 'scipy.optimize'}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
