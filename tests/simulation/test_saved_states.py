"""A saved state can be written to a file, and another process goes on from it to the bit."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from blocks import Model, ParameterError, quantity
from library.translational import ForceSource, Mass, Reference, Spring, TranslationalFriction

ROOT = str(Path(__file__).resolve().parents[2])


def rubbing(stiffness="100 N/m"):
    """A block that is pushed against a spring over a rough floor."""
    model = Model("rubbing")
    model.push, model.frame = ForceSource(), Reference()
    model.block, model.spring = Mass(mass="2 kg"), Spring(stiffness=stiffness)
    model.friction = TranslationalFriction(law="coulomb", coulomb_force="4 N",
                                           breakaway_force="5 N")
    model.connect(model.push.R, model.block.M, model.spring.R, model.friction.R)
    model.connect(model.push.C, model.spring.C, model.friction.C, model.frame.V)
    return model


def begun(**changed):
    return rubbing(**changed).stepper(inputs=["push.S"], outputs=["block.v", "spring.x"])


def driven(run, forces):
    return [run.step([force], 0.05).tolist() for force in forces]


ELSEWHERE = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from tests.simulation.test_saved_states import begun, driven
run = begun()
run.restore(pickle.load(open(sys.argv[2], "rb")))
print(run.time, driven(run, [0.0, -9.0, 3.0]))
"""


def test_another_process_goes_on_to_the_bit(tmp_path):
    run, file = begun(), tmp_path / "state"
    driven(run, [6.0, 8.0, 8.0, 1.0])  # breaks loose, and comes to rest
    file.write_bytes(pickle.dumps(run.save_state()))
    told = subprocess.run([sys.executable, "-c", ELSEWHERE, ROOT, str(file)], text=True,
                          capture_output=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == f"{run.time} {driven(run, [0.0, -9.0, 3.0])}"


def test_states_of_both_kinds_lead_back_one_after_the_other():
    run = begun()
    driven(run, [6.0])
    near = run.save_state()
    far = pickle.loads(pickle.dumps(near))
    ends = []
    for state in (near, far, near, far):
        run.restore(state)
        assert run.time == quantity("50 ms")
        ends.append(driven(run, [7.0, 7.0, -7.0]))
    assert ends[0] == ends[1] == ends[2] == ends[3]
    assert run.result()["block.v"].final == run["block.v"]


def test_a_state_of_another_model_is_refused():
    run = begun()
    driven(run, [8.0, 8.0])
    state = pickle.loads(pickle.dumps(run.save_state()))
    other = begun(stiffness="300 N/m")
    with pytest.raises(ParameterError, match="leads elsewhere here") as told:
        other.restore(state)
    assert told.value.code == "run.state"
    assert other.time == quantity("0 s")  # it stays where it was
    with pytest.raises(ParameterError, match="leads elsewhere here"):
        rubbing().start(outputs=["block.v"]).restore(state)
