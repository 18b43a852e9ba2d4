"""What does a network look like? Parts in columns, wires at right angles between them."""
