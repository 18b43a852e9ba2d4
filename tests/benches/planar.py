"""A body in contact with the ground, which many tests begin with."""

from benches import wired
from library.planar import Contact, Ground


def touching(curve, base, body, **contact):
    return wired("contact", "ground.P touch.B", "body.P touch.F",
                 ground=Ground(), body=body, touch=Contact(curve=curve, base=base, **contact))
