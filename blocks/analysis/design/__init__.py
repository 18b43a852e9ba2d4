"""Which design values are best, and how do tolerances spread?"""
