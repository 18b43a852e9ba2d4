"""Which options of a Simulink block has nothing read, although they may change what it gives?

A block is mapped by what is read of it. Of what is left, names and pictures, checks, types of
numbers beside ``double`` that are not there, code generation and numerical settings change
nothing here; any other option that is not at its default is said. Names and usual values are
from memory and from public models: one that is missing here costs a needless remark.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from .diagram import Block
from .simulink_pid import PID_BLOCKS

__all__ = ["unread_options"]

# options that change nothing, whatever they say
_WITHOUT_EFFECT = re.compile("|".join((
    r"\w*Fcn", r"Tag", r"AttributesFormatString", r"UserData\w*", r"Priority", r"Hilite\w*",
    r"BlockDescription", r"Mask\w*", r"RTW\w*", r"Code[Gg]en\w*", r"ExtMode\w*", r"LibraryLink\w*",
    r"ShowPortLabels", r"TreatAsAtomicUnit", r"MinAlgLoopOccurrences", r"PropExecContext\w*",
    r"\w+Variant", r"SourceProduct\w*", r"LibrarySourceBlock",  # of a block of a library
    r"SystemSampleTime", r"FunctionWithSeparateData", r"GeneratePreprocessorConditionals",
    r"PermitHierarchicalResolution", r"ScheduleAs", r"SimViewingDevice", r"Opaque",  # of a mask
    r"Diagnostic\w*", r"\w*(Param|Out|Coef)M(in|ax)", r"LockScale", r"InputSameDT",
    r"AllPortsSameDT",
    r"\w*RndMeth", r"\w*SaturateOnIntegerOverflow", r"ConvertRealWorld",  # act on integers alone
    r"\w*StateName", r"\w*StateStorageClass", r"\w*StateSignalObject", r"\w*StateIdentifier",
    r"\w*StateMustResolveToSignalObject", r"\w*ContinuousStateAttributes", r"AbsoluteTolerance",
    r"ZeroCross", r"Linearize\w*", r"IgnoreLimit", r"CoefficientInTFapproximation",
    r"VectorParams1D", r"FramePeriod", r"CollapseDim", r"CollapseMode", r"AllowDiffInputSizes",
    r"varsize", r"VarSizeSig", r"InputProcessing", r"UseCircularBuffer", r"FilterStructure",
    r"HasFrameUpgradeWarning",
    r"a0EqualsOne", r"Realization", r"ParameterTunability", r"PreserveConstantTs",
    r"RemoveProtection\w*", r"Algorithm(Type|Method)", r"Iterations", r"NumberOfIterations",
    r"ApproximationMethod", r"NumberOfDataPoints", r"IndexSearchMethod", r"BeginIndexSearch\w*",
    r"LUTDesign\w*", r"UseLastTableValue", r"SupportTunableTableSize", r"MaximumIndices\w*",
    r"BreakpointsForDimension\w*", r"DelayLengthUpperLimit", r"BufferSize", r"FixedBuffer",
    r"PadeOrder", r"DisplayTime", r"Decimation", r"InputPortMap", r"InternalRulePriority",
)))  # fmt: skip

_OF_PID = ("P I D N UseFilter FilterMethod IntegratorMethod SampleTime AntiWindupMode Kb Kt "
           "UseKiTs UpperSaturationLimit LowerSaturationLimit UpperIntegratorSaturationLimit "
           "LowerIntegratorSaturationLimit InitialConditionForIntegrator InitialConditionForFilter "
           "DifferentiatorICPrevScaledInput Form TunerSelectOption InitialConditionSetting")
# options of one block, or of one of Simulink's library, that act only where they are read
_READ_WHERE_THEY_ACT = {
    "Integrator": "UpperSaturationLimit LowerSaturationLimit WrappedStateUpperValue "
                  "WrappedStateLowerValue",
    "DiscreteIntegrator": "UpperSaturationLimit LowerSaturationLimit InitialConditionSetting",
    "Constant": "SampleTime", "Sin": "Frequency Phase Samples Offset",
    "DiscretePulseGenerator": "SampleTime", "MultiPortSwitch": "DataPortIndices",
    "RateTransition": "Integrity Deterministic", "SignalConversion": "ConversionOutput OverrideOpt",
    "SignalSpecification": "Dimensions OutDataTypeStr SampleTime SignalType SamplingMode "
                           "BusOutputAsStruct Unit",
    "Slider Gain": "low high", "PWM": "SampleTime DisallowZeroDutyCycle",
    **dict.fromkeys(PID_BLOCKS, _OF_PID),
}  # fmt: skip

# values that change nothing
_USUAL = {
    "SampleTime": ("-1", "0", "inf"), "OutputSignalType": ("auto", "real"),
    "AngleUnit": ("radian",), "SampleTimeMode": ("continuous", "inherited"),
    "InitialCondition": ("0",), "InitialConditionSource": ("internal", "Dialog"),
    "ExternalReset": ("none", "None"), "TrackingMode": ("off",), "TimeSource":
    ("Use simulation time",), "InitialDenominatorStates": ("0",), "OutPortSampleTime": ("-1",),
    "ICPrevOutput": ("DiscIntNeverNeededParam",), "ICPrevScaledInput": ("DiscIntNeverNeededParam",),
    "NumeratorSource": ("Dialog",), "DenominatorSource": ("Dialog",),
    "RunAtFixedTimeIntervals": ("off",),
}  # fmt: skip
_LOGICAL = {"Logic", "RelationalOperator", "Compare To Constant", "Compare To Zero", "Constant"}
_PLAIN_TYPES = re.compile(r"Inherit:.*|inherit|double|single|auto|float\('double'\)")


def unread_options(block: Block, read: Collection[str], usual: Mapping[str, str]
                   ) -> list[tuple[str, str]]:
    """Names and values that a block holds, that nothing has read and that may matter.

    ``usual`` are the values that are usual for its type.
    """
    kind = block.simulink_name or block.block_type
    where_they_act = _READ_WHERE_THEY_ACT.get(kind, "").split()
    return [(name, value) for name, value in block.options.items()
            if name not in read and name not in where_they_act
            and not _WITHOUT_EFFECT.fullmatch(name) and not _is_usual(name, value, kind)
            and value != usual.get(name)]


def _is_usual(name: str, value: str, kind: str) -> bool:
    if name.endswith(("DataTypeStr", "DataType", "DataTypeMode")):
        return bool(_PLAIN_TYPES.fullmatch(value)) or kind in _LOGICAL and value in (
            "boolean", "uint8")  # fmt: skip
    return value in _USUAL.get(name, ())
