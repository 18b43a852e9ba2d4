"""Electrical circuits."""

from ..othernames import missing
from .domain import TwoPort, electrical

__all__ = ["TwoPort", "electrical"]

__getattr__ = missing(__name__)
