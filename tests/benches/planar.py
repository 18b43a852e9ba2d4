"""A body in contact with the ground, which many tests begin with."""

import numpy as np

from benches import wired
from library.planar import Contact, Ground


def touching(curve, base, body, **contact):
    return wired("contact", "ground.P touch.B", "body.P touch.F",
                 ground=Ground(), body=body, touch=Contact(curve=curve, base=base, **contact))


def final(run, *paths):
    return np.array([float(run[p].final.magnitude) for p in paths])
