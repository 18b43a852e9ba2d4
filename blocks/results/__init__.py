"""What has a run recorded, and how is it looked at?

=================  ===============================================================
``Result``         mapping of dotted path to :class:`Series`, and all below
``Series``         a variable, to calculate with: ``Samples`` (values with units) over
                   ``Rows`` (bare numbers, read when they are asked for)
``Table``          chosen variables at chosen times; pandas, xarray and files
``compare``        runs side by side: what differs in them, and in their curves
``EnergyBalance``  energy per component
``Recording``      the seam: what an engine hands over; its curves, parts of them
                   (``views``) and formulas of them (``formula``) are read alike
``Schematic``      picture of a network
=================  ===============================================================

pandas, xarray, matplotlib and networkx are imported when they are needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..renamed import current_attribute

if TYPE_CHECKING:
    from .comparison import Comparison, compare
    from .energy_balance import EnergyBalance
    from .files.export import read_csv, read_netcdf, read_parquet
    from .recording import EnergyTerm, EventRecord, Recording, VariableInfo
    from .report import Events, Statistics, Variables
    from .result import Result
    from .schematic.drawing import Schematic
    from .sheet import Sheet
    from .sticking import Sticking, StickTerm
    from .values.series import Series
    from .values.table import Column, Table

__all__ = ["Column", "Comparison", "EnergyBalance", "EnergyTerm", "EventRecord", "Events",
           "Recording", "Result", "Schematic", "Series", "Sheet", "Statistics", "StickTerm",
           "Sticking", "Table", "VariableInfo", "Variables", "compare", "read_csv", "read_netcdf",
           "read_parquet"]

_PLACES = {name: file for file, names in {
    "comparison": "Comparison compare", "schematic.drawing": "Schematic", "sheet": "Sheet",
    "files.export": "read_csv read_netcdf read_parquet", "energy_balance": "EnergyBalance",
    "recording": "EnergyTerm EventRecord Recording VariableInfo", "values.table": "Column Table",
    "report": "Events Statistics Variables", "result": "Result", "values.series": "Series",
    "sticking": "Sticking StickTerm"}.items() for name in names.split()}


if not TYPE_CHECKING:  # which would take every name for one
    def __getattr__(name: str) -> Any:
        """A run needs none of these; what a person looks at is imported with the first look."""
        if name not in _PLACES:
            return current_attribute(import_module(__name__), name)
        value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
