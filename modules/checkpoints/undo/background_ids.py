"""Ids of the records of what was done in the background: the names of who did it, with these."""

IN_BACKGROUND = " in the background"
"""What follows the names."""
BETWEEN_TURNS = "between turns: "
"""What precedes the names where it was done while no turn was running."""
