"""Physical signals: sources, mathematics, dynamics, sampling, logic and tables.

Signals carry units; ``connect`` refuses to join ports of different dimensions. A
block's unit follows from its values (``Constant(value="5 N")``, ``Gain(gain="2 N/m",
input="m")``) or is named (``Sum(unit="N", signs="+-")``), and is settled when the
block is made. Inputs are ``u`` (or ``u1``, ``u2``, ...), outputs ``y``.

==============  =======================================================================
``sources``     Constant, Step, Ramp, Sine, Pulse, Chirp, TimeFunction
``math``        Gain, Sum, Subtract, Product, Divide, MathFunction
``continuous``  Integrator, Derivative, TransferFunction, StateSpace, PID, Delay, PadeDelay
``nonlinear``   Saturation, DeadZone, Relay, Backlash, Abs, Sign, Minimum, Maximum,
                Switch, Rounding
``discrete``    ZeroOrderHold, UnitDelay, SampleAndHold, Counter, RandomNumber,
                UniformRandomNumber, RunningRMS, PeriodicRMS
``logic``       Compare, And, Or, Not
``tables``      Table1D, Table2D, Table3D, TimeTable, RepeatingSequence
==============  =======================================================================
"""

from ..othernames import missing
from .continuous import (
    PID,
    Delay,
    Derivative,
    Integrator,
    PadeDelay,
    StateSpace,
    TransferFunction,
)
from .discrete import (
    Counter,
    PeriodicRMS,
    RandomNumber,
    RunningRMS,
    SampleAndHold,
    UniformRandomNumber,
    UnitDelay,
    ZeroOrderHold,
)
from .logic import And, Compare, Not, Or
from .math import Divide, Gain, MathFunction, Product, Subtract, Sum
from .nonlinear import (
    Abs,
    Backlash,
    DeadZone,
    Maximum,
    Minimum,
    Relay,
    Rounding,
    Saturation,
    Sign,
    Switch,
)
from .sources import Chirp, Constant, Pulse, Ramp, Sine, Step, TimeFunction
from .tables import RepeatingSequence, Table1D, Table2D, Table3D, TimeTable

__all__ = [
    "Abs", "And", "Backlash", "Chirp", "Compare", "Constant", "Counter", "DeadZone", "Delay",
    "Derivative", "Divide", "Gain", "Integrator", "MathFunction", "Maximum", "Minimum", "Not", "Or",
    "PID", "PadeDelay", "PeriodicRMS", "Product", "Pulse", "Ramp", "RandomNumber", "Relay",
    "RepeatingSequence", "Rounding", "RunningRMS", "SampleAndHold", "Saturation", "Sign", "Sine",
    "StateSpace", "Step", "Subtract", "Sum", "Switch", "Table1D", "Table2D", "Table3D",
    "TimeFunction", "TimeTable", "TransferFunction", "UniformRandomNumber", "UnitDelay",
    "ZeroOrderHold",
]  # fmt: skip

__getattr__ = missing(__name__)
