"""What does a person write, and what is it taken for?

Texts of values and units by a small grammar, what a unit is, slips, words of other tools.
Knows exceptions only.
"""
