"""language: see docs/architecture.md."""
