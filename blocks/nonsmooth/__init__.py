"""What sticks, slides, touches or lets go?

``complementarity`` solves problems of arrays, ``modes`` decides events and holds what sticks,
``timestepping`` needs no events.
"""
