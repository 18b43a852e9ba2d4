"""timestepping: see docs/architecture.md."""
