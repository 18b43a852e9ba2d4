"""Heat: storage, conduction, convection, radiation."""

from ..othernames import missing
from .domain import TwoPort, thermal

__all__ = ["TwoPort", "thermal"]

__getattr__ = missing(__name__)
