"""How does a model answer small changes about a point?"""
