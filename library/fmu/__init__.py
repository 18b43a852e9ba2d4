"""FMUs of other tools as components: ``FMU("pump.fmu")``.

An FMU (`fmi-standard.org <https://fmi-standard.org>`_) is a model that some other tool has handed
on. Here it becomes a component with its inputs and outputs as signals and its parameters by their
names; see :func:`FMU`.
"""

from .component import FMU

__all__ = ["FMU"]
