"""Leaves: they know nothing of the house."""
