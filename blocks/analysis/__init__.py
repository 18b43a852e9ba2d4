"""What a user does once a model runs: operating points, linear models, sensitivities, fits.

Nothing is imported here: what is asked for is.
"""
