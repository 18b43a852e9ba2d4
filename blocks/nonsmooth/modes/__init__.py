"""modes: see docs/architecture.md."""
