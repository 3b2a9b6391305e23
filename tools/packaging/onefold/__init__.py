"""Onefold, installed: the folders of its checkout lie in this package, and are started from it."""
