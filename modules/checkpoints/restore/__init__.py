"""Bringing the folder from one state to another, whole or not at all.

- apply         Carrying out a plan in the folder, in an order that leaves nothing half done.
- apply_steps   Steps that apply one operation of a plan, in the order in which they must run.
- atomic_file   Atomic replacement and removal of one file: at any moment it is whole or not there.
- git_repository  A repository that a call made: undo takes it away whole, and redo brings it back.
- git_restore   Bringing the state of the project's repository back: branches, HEAD, index, stash
                and the like.
- hardlinks     Hard links: the names that a file had, and those that it can be linked to.
- merge3        Three-way merging of text, line by line.
- operations    Plan of operations that bring a folder from one state to another; values only.
- plan          Planning an undo, before anything is touched.
- tree_builder  Building a tree that was never on disk out of entries of trees that were.
"""

EXPORTS = {
    "apply": ["PlanApplier"],
    "atomic_file": ["matches_stat"],
    "git_repository": ["remove_old"],
    "git_restore": ["restore_git"],
    "merge3": ["merge_common", "merge_preferring_theirs"],
    "operations": ["Conflict", "Plan", "Skipped"],
    "plan": ["plan_undo"],
    "tree_builder": ["TreeBuilder"],
}
