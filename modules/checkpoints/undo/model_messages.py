"""What the model is told, in one line, of what the person took back.

The number of the undo makes each telling another one: the same undo again is news again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modules.checkpoints.undo.journal import UndoOperation
from modules.checkpoints.undo.undo_results import Undone, changes_of
from utils.i18n import Phrase
from utils.text.clean import visible

_NAMED = 5  # paths


def told(operation: UndoOperation, results: Sequence[Undone], said: Sequence[Phrase]) -> str:
    """Return what the model is told of *operation*; *said* is what it did beside the files."""
    rest, number = operation.rest, operation.undo
    match operation.kind:
        case "redo" if not rest["done"]:
            return told_redo(number, results, said)
        case "redo" | "again":
            return told_again(rest["done"], results)
        case "rewind":
            return told_rewind(number, rest["what"], results)
        case _ if "path" in rest:
            return told_part(number, rest["path"], is_whole=rest["is_whole"], results=results)
        case _:
            return told_undo(number, rest["done"], results, said)


def told_undo(
    number: int, what: str, results: Sequence[Undone], beside: Sequence[Phrase] = ()
) -> str:
    """*what* says whose changes went, as "what turn 3 did to files"; *beside*, what else."""
    done = [*map(str, beside), *([_paths(results)] if results or not beside else [])]
    return (
        f"The person took back {what} (undo {number}): {'; '.join(done)}. "
        "Look before you change them again."
    )


def told_again(what: str, results: Sequence[Undone]) -> str:
    return f"The person brought again {what}: {_paths(results)}."


def told_part(number: int, path: str, *, is_whole: bool, results: Sequence[Undone]) -> str:
    """*is_whole* says whether all that had changed in the file *path* went, or a part of it."""
    what = "what had changed" if is_whole else "a part of what had changed"
    conflicts = [conflict for result in results for conflict in result.conflicts]
    beside = ", ".join(visible(conflict.beside) for conflict in conflicts)
    rest = f"; it met a later change, so the earlier version is in {beside}" if beside else ""
    return f"The person took back {what} in {visible(path)} (undo {number}){rest}."


def told_redo(number: int, results: Sequence[Undone], beside: Sequence[Phrase] = ()) -> str:
    done = [*map(str, beside), *([_paths(results)] if results else [])]
    return f"The person took back their undo {number}, so its changes are there again" + (
        f": {'; '.join(done)}." if done else "."
    )


def told_rewind(number: int, what: str, results: Sequence[Undone]) -> str:
    """*what* is "files", "talk", or "" for both."""
    if what == "talk":
        return (
            f"The person went back to this point of the conversation (undo {number}); the files "
            "stayed as they are now. Look before you change any."
        )
    if what == "files":
        return f"The person put files back to an earlier state (undo {number}): {_paths(results)}."
    return f"The person went back to this point, talk and files (undo {number}); go on from here."


def _paths(results: Iterable[Undone]) -> str:
    changes = changes_of(results)
    named = [visible(change.new_path or change.path) for change in changes[:_NAMED]]
    if len(changes) > _NAMED:
        named.append(f"{len(changes) - _NAMED} more")
    return ", ".join(named) or "no file differs now"
