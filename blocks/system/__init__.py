"""system: see docs/architecture.md."""
