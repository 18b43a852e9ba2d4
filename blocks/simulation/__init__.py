"""simulation: see docs/architecture.md."""
