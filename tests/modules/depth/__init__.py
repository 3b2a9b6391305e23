"""Tests of how deep a task goes."""
