"""The models that are timed, and what they are compared with by hand."""
