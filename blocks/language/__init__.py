"""What does a component class say?

Declarations, expressions with dimensions, statements, and the kernel that is traced once a class.
Knows no network.
"""
