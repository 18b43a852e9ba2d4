"""What is wrong with a drawn schematic: wires through symbols, texts on texts, lines aslant."""

from itertools import combinations

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

SLACK = 1.0  # pixels that two things may share
FONT = FontProperties(family="DejaVu Sans")


def overlap(a, b, slack=SLACK):
    return min(a[2], b[2]) - max(a[0], b[0]) > slack and min(a[3], b[3]) - max(a[1], b[1]) > slack


def text_box(t):
    """Left, top, right, bottom of a text's ink, as the font says."""
    ink = TextPath((0, 0), t.words, size=t.size, prop=FONT).get_extents()
    start = t.x - (ink.x1 * {"start": 0, "middle": 0.5, "end": 1}[t.anchor])
    return start + ink.x0, t.y - ink.y1, start + ink.x1, t.y - ink.y0


def wires(picture):
    """Wires as (line, start, end); arrow heads are no wires."""
    for p in picture.lines:
        if p.kind == "wire" and not p.filled and len(p.points) < 8:
            for a, b in zip(p.points, p.points[1:], strict=False):
                yield p, a, b


def box_of(a, b, grown=0.0):
    (x0, x1), (y0, y1) = sorted((a[0], b[0])), sorted((a[1], b[1]))
    return x0 - grown, y0 - grown, x1 + grown, y1 + grown


def faults(drawn):
    """Sentences; none for a good drawing."""
    picture, found = drawn.picture, []
    assert picture.areas and picture.texts and any(wires(picture))
    texts = [(t, text_box(t)) for t in picture.texts]
    for (t, a), (u, b) in combinations(texts, 2):
        if overlap(a, b, 0.0):
            found.append(f"the texts {t.words!r} and {u.words!r} overlap")
    for p, a, b in wires(picture):
        if min(abs(a - b)) > 1e-6:
            found.append(f"a wire of net {p.owner} is aslant: {a}, {b}")
        line = box_of(a, b, 0.5)
        for owner, area in picture.areas.items():
            left, top, right, bottom = area
            if overlap(line, (left + 1.5, top + 1.5, right - 1.5, bottom - 1.5), 0.0):
                found.append(f"a wire of net {p.owner} runs through {owner}: {a}, {b}")
        for t, box in texts:
            if overlap(line, box, 0.0):
                found.append(f"a wire of net {p.owner} runs through the text {t.words!r}")
    areas = list(picture.areas.items())
    for (one, a), (two, b) in combinations(areas, 2):
        if overlap(a, b):
            found.append(f"{one} lies on {two}")
    for owner, area in areas:
        for t, box in texts:
            if t.owner != owner and overlap(area, box):
                found.append(f"the text {t.words!r} lies on {owner}")
    for t, box in texts:
        if not (box[0] >= 0 and box[1] >= 0 and box[2] <= drawn.width and box[3] <= drawn.height):
            found.append(f"the text {t.words!r} leaves the picture")
    for p in picture.lines:
        low, high = p.points.min(axis=0), p.points.max(axis=0)
        if min(low) < 0 or high[0] > drawn.width or high[1] > drawn.height:
            found.append(f"a line of {p.owner} leaves the picture at {high}")
    return found + shared(picture)


def shared(picture):
    """Wires of two nets that lie on each other."""
    known = [(p, *map(np.array, (a, b))) for p, a, b in wires(picture) if p.owner]
    for (p, a, b), (q, c, d) in combinations(known, 2):
        if p.owner == q.owner:
            continue
        for along in (0, 1):
            across = 1 - along
            if max(abs(a[across] - b[across]), abs(c[across] - d[across])) > 1e-6:
                continue
            if abs(a[across] - c[across]) < 2.0:
                both = (min(max(a[along], b[along]), max(c[along], d[along]))
                        - max(min(a[along], b[along]), min(c[along], d[along])))  # fmt: skip
                if both > 0.5:
                    return [f"wires of the nets {p.owner} and {q.owner} share a way at {a}, {c}"]
    return []
