"""Tests of the symbols of a project."""
