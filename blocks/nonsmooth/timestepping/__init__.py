"""Exact friction and contacts by steps of constant length, without events (Moreau-Jean)."""
