"""initialisation: see docs/architecture.md."""
