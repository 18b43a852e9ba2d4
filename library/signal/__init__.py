"""Physical signals: sources, mathematics, dynamics, sampling, logic and tables.

Signals carry units; ``connect`` refuses to join ports of different dimensions. A
block's unit follows from its values (``Constant(value="5 N")``, ``Gain(gain="2 N/m",
input="m")``) or is named (``Sum(unit="N", signs="+-")``), and is fixed when the
block is made. Inputs are ``u`` (or ``u1``, ``u2``, ...), outputs ``y``.

==============  =======================================================================
``sources``     Constant, Step, Ramp, Sine, Pulse, Chirp, TimeFunction
``math``        Gain, Sum, Subtract, Product, Divide, MathFunction, VectorNorm, Terminator
``continuous``  Integrator, Derivative, TransferFunction, StateSpace, PID, Delay, PadeDelay
``nonlinear``   Saturation, DeadZone, Relay, Backlash, RateLimiter, Abs, Sign, Minimum, Maximum,
                Switch, MultiportSwitch, Rounding
``discrete``    ZeroOrderHold, UnitDelay, SampleAndHold, Counter, RandomNumber,
                UniformRandomNumber, RunningRMS, PeriodicRMS
``sampled``     DiscreteIntegrator, DiscreteTransferFunction, DiscreteStateSpace, DiscretePID
``python_function``
                PythonFunction
``harmonics``   HarmonicEstimator
``logic``       Compare, And, Or, Not
``tables``      Table1D, Table2D, Table3D, TimeTable, RepeatingSequence
==============  =======================================================================

A vector of signals is an array of blocks (``Gain(count=3)``), or the numbered ports of one block:
``connect(sensors.V, total.u)`` joins the elements of the one with the ports u1, u2, ... of the
other, and ``total.u[1:3]`` or ``sensors[[0, 2]].V`` selects among them.
"""

from ..othernames import tell_what_is_missing
from .continuous import PID, Delay, Derivative, Integrator, PadeDelay, StateSpace, TransferFunction
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
from .harmonics import HarmonicEstimator
from .logic import And, Compare, Not, Or
from .math import Divide, Gain, MathFunction, Product, Subtract, Sum, Terminator, VectorNorm
from .nonlinear import (
    Abs,
    Backlash,
    DeadZone,
    Maximum,
    Minimum,
    MultiportSwitch,
    RateLimiter,
    Relay,
    Rounding,
    Saturation,
    Sign,
    Switch,
)
from .python_function import PythonFunction
from .sampled import DiscreteIntegrator, DiscretePID, DiscreteStateSpace, DiscreteTransferFunction
from .sources import Chirp, Constant, Pulse, Ramp, Sine, Step, TimeFunction
from .tables import RepeatingSequence, Table1D, Table2D, Table3D, TimeTable

__all__ = ["Abs", "And", "Backlash", "Chirp", "Compare", "Constant", "Counter", "DeadZone", "Delay",
           "Derivative", "DiscreteIntegrator", "DiscretePID", "DiscreteStateSpace",
           "DiscreteTransferFunction", "Divide", "Gain", "HarmonicEstimator", "Integrator",
           "MathFunction", "Maximum", "Minimum", "MultiportSwitch", "Not", "Or", "PID", "PadeDelay",
           "PeriodicRMS", "Product", "Pulse", "PythonFunction", "Ramp", "RandomNumber",
           "RateLimiter", "Relay", "RepeatingSequence", "Rounding", "RunningRMS", "SampleAndHold",
           "Saturation", "Sign", "Sine", "StateSpace", "Step", "Subtract", "Sum", "Switch",
           "Table1D", "Table2D", "Table3D", "Terminator", "TimeFunction", "TimeTable",
           "TransferFunction", "UniformRandomNumber", "UnitDelay", "VectorNorm", "ZeroOrderHold"]

tell_what_is_missing(__name__)
