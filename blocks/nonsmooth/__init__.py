"""Nonsmooth mechanics: see docs/architecture.md."""
