"""A copy of the project with its undo, for a fork in a folder of its own.

- clone          A copy of the project folder as it was at a snapshot, sharing disk space where that
                 can be.
- clone_history  Giving the twin of a folder the undo of its origin: the states, the calls and the
                 undos.
"""
