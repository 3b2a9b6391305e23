"""A copy of the project with its undo, for a fork in a folder of its own.

- clone          A copy of the project folder as it was at a snapshot, sharing disk space where that
                 can be.
- clone_history  Copying the undo history of a project to its clone: snapshots, calls and undos.
"""

EXPORTS = {
    "clone": ["ProjectClone"],
    "clone_history": ["copy_contents", "copy_history"],
}
