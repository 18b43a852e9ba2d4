"""What has a run recorded, and how is it looked at?

=================  =========================================================
``Result``         mapping of dotted path to :class:`Series`, and all below
``Series``         values of a variable, with units
``Table``          chosen variables at chosen times; pandas, xarray and files
``Ledger``         energy per component
``Recording``      the seam: what an engine hands over
``draw_graph``     picture of a network
=================  =========================================================

pandas, xarray, matplotlib, networkx and rich are imported when they are needed.
"""

from .drawing import draw_graph
from .export import read_csv, read_netcdf, read_parquet
from .ledger import Ledger
from .recording import EnergyTerm, EventRecord, Recording, VariableInfo
from .report import Events, Statistics, Variables
from .result import Result
from .series import Series
from .sheet import Sheet
from .sticking import Sticking, StickTerm
from .table import Column, Table

__all__ = [
    "Column", "EnergyTerm", "EventRecord", "Events", "Ledger", "Recording", "Result", "Series",
    "Sheet", "Statistics", "StickTerm", "Sticking", "Table", "VariableInfo", "Variables",
    "draw_graph", "read_csv", "read_netcdf", "read_parquet",
]  # fmt: skip
