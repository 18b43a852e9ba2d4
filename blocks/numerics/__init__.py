"""What all wings share in numbers: the types of arrays, and the table of tolerances."""
