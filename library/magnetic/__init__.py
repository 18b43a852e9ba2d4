"""Magnetic circuits."""

from ..othernames import missing
from .domain import TwoPort, magnetic

__all__ = ["TwoPort", "magnetic"]

__getattr__ = missing(__name__)
