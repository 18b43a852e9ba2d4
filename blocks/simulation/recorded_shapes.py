"""Which shapes of a run's components are drawn, and which variables move them?"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ..drawing.axis_layout import lined_up
from ..shapes import Outline, Vertex, placed, polygon

if TYPE_CHECKING:
    from .recording import RunRecording

__all__ = ["recorded_shapes"]


def recorded_shapes(recording: RunRecording) -> list[Any]:
    """Shapes of all components, with handles of variables instead of names.

    What many components say of one body is drawn once, and of contacts that never
    touch only the outlines. Where none has a shape, 1-D mechanics is lined up along its axis.
    """
    out: list[Any] = []
    drawn = set()
    corners: dict[Any, list[Any]] = {}  # of bodies, by their frames
    catalog, laws = recording.catalog, recording.problem.laws
    acted = laws.acted() if laws is not None and laws.recorded else {}
    network, root = recording.system.network, recording.model_then()
    for f, family in enumerate(network.families):
        for first, path in zip(family.firsts, family.paths, strict=True):
            member = root[path]
            loaded = acted[f][first : first + member.size] if f in acted else None
            for shape in placed(member, lambda path: catalog[path].index, loaded):
                if isinstance(shape, Outline | Vertex):
                    frame = tuple(_class_of(recording, h) for h in shape.frame_at)
                if isinstance(shape, Vertex):
                    corners.setdefault(frame, []).append(shape)
                    continue
                if isinstance(shape, Outline):
                    key = *frame, shape.points.tobytes(), shape.filled
                    if key in drawn:
                        continue
                    drawn.add(key)
                out.append(shape)
    out += [Outline(of_one[0].frame_at, polygon([v.point for v in of_one]), filled=True)
            for of_one in corners.values()]
    return out or [replace(shape, **{  # handles of variables instead of their paths
        f.name: tuple(recording.catalog[path].index for path in getattr(shape, f.name))
        for f in fields(shape) if f.name.endswith("_by")}) for shape in lined_up(network, root)]


def _class_of(recording: RunRecording, index: int) -> tuple[str, int] | int:
    """What two variables have in common that are always equal."""
    f, i, instance = recording.catalog.locate(index)
    flat = recording.system.flat
    slot = flat.base[f].get((i, 0))
    return ("own", index) if slot is None else int(flat.class_of[slot + instance])
