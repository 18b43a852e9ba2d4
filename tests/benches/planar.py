"""A body in contact with the ground, which many tests begin with."""

from blocks import Model
from library.planar import Contact, Ground


def touching(curve, base, body, **contact):
    model = Model("contact")
    model.ground, model.body = Ground(), body
    model.touch = Contact(curve=curve, base=base, **contact)
    model.connect(model.ground.P, model.touch.B)
    model.connect(model.body.P, model.touch.F)
    return model
