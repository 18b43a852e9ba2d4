"""A run as one page for a browser."""
