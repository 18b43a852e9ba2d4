"""Which mistakes can be found without integrating? (draft)"""
from __future__ import annotations
from typing import Any
from .exceptions import StructureError

class Findings(list):
    def raise_errors(self) -> None: ...

def check_model(model: Any) -> Findings:
    return Findings()

def structure_error(flat: Any, singular: Any) -> StructureError:
    from .model import equation_text, _class_name
    return StructureError("", f"{singular.reason}: over {[equation_text(flat,int(e)) for e in singular.over_equations]} under {[_class_name(flat,int(c)) for c in singular.under_classes]}")
