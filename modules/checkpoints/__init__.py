"""Undo for everything that happens to the folder, with or without git."""
