"""Figures, measured by hand: `python -m tests.bench`. Nothing here is asserted."""
