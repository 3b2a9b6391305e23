"""Messages to the model, of one line, about what the person took back.

The number of the undo makes each message a new one, for the same undo again too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modules.checkpoints.undo.journal import UndoOperation
from modules.checkpoints.undo.undo_results import UndoResult, changes_of
from utils.i18n import Phrase
from utils.text.clean import visible

_MAX_LISTED = 5  # paths


def operation_message(
    operation: UndoOperation, results: Sequence[UndoResult], state_changes: Sequence[Phrase]
) -> str:
    """Return what the model is told of *operation*; *state_changes* is what it did beside the
    files."""
    rest, number = operation.rest, operation.undo
    match operation.kind:
        case "redo" if not rest["done"]:
            return redo_message(number, results, state_changes)
        case "redo" | "again":
            return reapply_message(rest["done"], results)
        case "rewind":
            return rewind_message(number, rest["what"], results)
        case _ if "path" in rest:
            return partial_undo_message(
                number, rest["path"], is_whole=rest["is_whole"], results=results
            )
        case _:
            return undo_message(number, rest["done"], results, state_changes)


def undo_message(
    number: int,
    description: str,
    results: Sequence[UndoResult],
    state_changes: Sequence[Phrase] = (),
) -> str:
    """*description* says whose changes went, as "what turn 3 did to files"; *state_changes*, what
    else."""
    effects = [
        *map(str, state_changes),
        *([_listed_paths(results)] if results or not state_changes else []),
    ]
    return (
        f"The person took back {description} (undo {number}): {'; '.join(effects)}. "
        "Look before you change them again."
    )


def reapply_message(description: str, results: Sequence[UndoResult]) -> str:
    return f"The person brought again {description}: {_listed_paths(results)}."


def partial_undo_message(
    number: int, path: str, *, is_whole: bool, results: Sequence[UndoResult]
) -> str:
    """*is_whole* says whether all that had changed in the file *path* went, or a part of it."""
    change_description = "what had changed" if is_whole else "a part of what had changed"
    conflicts = [conflict for result in results for conflict in result.conflicts]
    conflict_copies = ", ".join(visible(conflict.beside) for conflict in conflicts)
    rest = (
        f"; it met a later change, so the earlier version is in {conflict_copies}"
        if conflict_copies
        else ""
    )
    return f"The person took back {change_description} in {visible(path)} (undo {number}){rest}."


def redo_message(
    number: int, results: Sequence[UndoResult], state_changes: Sequence[Phrase] = ()
) -> str:
    effects = [*map(str, state_changes), *([_listed_paths(results)] if results else [])]
    return f"The person took back their undo {number}, so its changes are there again" + (
        f": {'; '.join(effects)}." if effects else "."
    )


def rewind_message(number: int, scope: str, results: Sequence[UndoResult]) -> str:
    """*scope* is "files", "talk", or "" for both."""
    if scope == "talk":
        return (
            f"The person went back to this point of the conversation (undo {number}); the files "
            "stayed as they are now. Look before you change any."
        )
    if scope == "files":
        paths = _listed_paths(results)
        return f"The person put files back to an earlier state (undo {number}): {paths}."
    return f"The person went back to this point, talk and files (undo {number}); go on from here."


def _listed_paths(results: Iterable[UndoResult]) -> str:
    changes = changes_of(results)
    named = [visible(change.new_path or change.path) for change in changes[:_MAX_LISTED]]
    if len(changes) > _MAX_LISTED:
        named.append(f"{len(changes) - _MAX_LISTED} more")
    return ", ".join(named) or "no file differs now"
