"""Undos and differences as cards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.cards import Card, Change, DiffCard, TableCard, TextCard
from modules.files.editing.text_file import NotText, TextFile
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.line_diff import WHOLE, text_diff

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.checkpoints.restore.operations import Skipped
    from modules.checkpoints.store.index import CallRecord
    from modules.checkpoints.undo.undo_results import UndoResult

_MAX_ROWS = 200
_MAX_CALLS = 50
_MAX_LISTED = 3  # paths of one call
_MAX_TEXT_BYTES = 2_000_000  # bytes

_REDO_VERBS = {
    "created": phrase("created"),
    "modified": phrase("modified"),
    "deleted": phrase("deleted"),
    "renamed": phrase("renamed"),
}
_UNDO_VERBS = {
    "created": phrase("restored"),
    "modified": phrase("reverted"),
    "deleted": phrase("removed"),
    "renamed": phrase("renamed back"),
}
_GIT_STATE = phrase("its state: branches, HEAD, index, stash or an operation in progress")


def diff_card(
    checkpoints: Checkpoints, before: int, after: int, change: Change, *, is_whole: bool = False
) -> DiffCard:
    """Return what *change*, one of `Checkpoints.diff`, did to a file, as a diff of its text.

    One that *is_whole* has the lines that did not change as well.
    """
    # Both are loaded with *checkpoints*.
    from modules.checkpoints.snapshot.entries import GIT
    from modules.checkpoints.store.object_store import DamagedObject

    shown = visible(change.new_path or change.path) or "."
    try:
        old = _text(checkpoints, before, change.path, is_there=change.kind != "created")
        new = _text(checkpoints, after, change.new_path or change.path, change.kind != "deleted")
    except NotText as error:
        return DiffCard(shown, "", 0, 0, error.kind)
    except DamagedObject:
        return DiffCard(shown, "", 0, 0, phrase("its saved content is damaged"))
    if change == Change("modified", GIT) and (old is None or old == new):
        return DiffCard(shown, "", 0, 0, _GIT_STATE)
    if old is None or new is None:
        return DiffCard(
            shown, "", 0, 0, phrase("its content was not saved or is too large to show")
        )
    if old == new and change.kind == "modified":
        return DiffCard(shown, "", 0, 0, phrase("only its mode, time or attributes changed"))
    found = text_diff(old, new, WHOLE) if is_whole else text_diff(old, new)
    return DiffCard(shown, found.diff, found.added, found.removed, _rename_note(change))


def _rename_note(change: Change) -> Text:
    return phrase("renamed from {path}", path=visible(change.path)) if change.new_path else ""


def _text(checkpoints: Checkpoints, number: int, path: str, is_there: bool) -> str | None:
    """Return the text of a file or link, "" where there is none, None if it cannot be shown."""
    entry = checkpoints.entry_at(number, path)
    if not is_there or entry is None or entry.is_folder:
        return ""
    data = checkpoints.content_at(number, path) if entry.size <= _MAX_TEXT_BYTES else None
    return None if data is None else TextFile.decode(data).text


def changes_card(
    checkpoints: Checkpoints, before: int, after: int, title: Phrase
) -> TableCard | DiffCard:
    """Return what changed between two snapshots: a table, or the diff where one file did."""
    changes = checkpoints.diff(before, after)
    if len(changes) == 1 and _is_file(checkpoints, before, after, changes[0]):
        return diff_card(checkpoints, before, after, changes[0])
    rows = [
        (
            *_row(change, _REDO_VERBS),
            _line_counts_text(change, diff_card(checkpoints, before, after, change)),
        )
        for change in changes[:_MAX_ROWS]
    ]
    return TableCard(title, _capped(rows, len(changes)))


def _earlier_beside(path: str) -> Phrase:
    return phrase("your version is kept; the earlier one is {path}", path=path)


def _racer_beside(path: str) -> Phrase:
    return phrase("your version is kept; the racer's is {path}", path=path)


def undone_card(
    results: Sequence[UndoResult], title: Phrase, state_changes: Sequence[Phrase] = ()
) -> TableCard:
    """Return what undos did, what they left, and where two versions now stand side by side.

    *state_changes* says what they did to notes, focus, todos and memory.
    """
    return _done_card(results, title, _UNDO_VERBS, state_changes)


def state_undo_title(unit: str, turn: int) -> Phrase:
    """Return the title for a call, or a turn, that changed no file."""
    if unit == "call":
        return phrase("Undid the last call (turn {turn}); /redo restores it", turn=turn)
    return phrase("Undid turn {turn}; /redo restores it", turn=turn)


def redone_card(
    results: Sequence[UndoResult], title: Phrase, state_changes: Sequence[Phrase] = ()
) -> TableCard:
    """Return the same of what brought changes again."""
    return _done_card(results, title, _REDO_VERBS, state_changes)


def taken_card(result: UndoResult, title: Phrase) -> TableCard:
    """Return what came from a clone, what did not, and where two versions stand side by side."""
    return _done_card([result], title, _REDO_VERBS, (), _racer_beside)


def calls_card(checkpoints: Checkpoints, calls: Sequence[CallRecord]) -> Card:
    """Return the calls that can be taken back or brought again, with their numbers."""
    if not calls:
        return TextCard(phrase("No call in this session has changed a file."))
    rows = tuple(_call_row(checkpoints, call) for call in calls[-_MAX_CALLS:])
    columns = (phrase("call"), phrase("turn"), phrase("changes"), "")
    return TableCard(phrase("Calls that changed files"), rows, columns)


def _call_row(checkpoints: Checkpoints, call: CallRecord) -> tuple[Text, ...]:
    assert call.after is not None  # noqa: S101 - only calls that are over are shown
    changes = checkpoints.diff(call.before, call.after)
    named = ", ".join(
        visible(change.new_path or change.path) or "." for change in changes[:_MAX_LISTED]
    )
    more = f" +{len(changes) - _MAX_LISTED}" if len(changes) > _MAX_LISTED else ""
    state = phrase("undone") if call.is_undone else ""
    who = f"{call.background}: " if call.background else ""
    return str(call.number), str(call.turn), who + named + more, state


def _done_card(
    results: Sequence[UndoResult],
    title: Phrase,
    verbs: dict[str, Phrase],
    state_changes: Sequence[Phrase],
    beside: Callable[[str], Phrase] = _earlier_beside,
) -> TableCard:
    rows: list[tuple[Text, ...]] = []
    for result in results:
        conflict_copies = {conflict.beside for conflict in result.conflicts}
        changes = [change for change in result.changes if change.path not in conflict_copies]
        rows += [(*_row(change, verbs), "") for change in changes]
    rows = list(_capped(rows[:_MAX_ROWS], len(rows)))
    for result in results:
        for conflict in result.conflicts:
            explanation = beside(visible(conflict.beside))
            rows.append((phrase("both kept"), visible(conflict.path), explanation))
        rows += [
            (_skipped_label(skipped), visible(skipped.path), skipped.why)
            for skipped in result.skipped
        ]
    rows += [(phrase("reverted"), what, "") for what in state_changes]
    return TableCard(title, tuple(rows or [(phrase("nothing left to undo"),)]))


def _skipped_label(skipped: Skipped) -> Phrase:
    return phrase("not restored") if skipped.is_gone else phrase("unchanged")


def _row(change: Change, verbs: dict[str, Phrase]) -> tuple[Text, Text]:
    path = visible(change.path) or "."
    if change.new_path:
        path = f"{path} → {visible(change.new_path)}"
    return verbs[change.kind], path


def _line_counts_text(change: Change, card: DiffCard) -> Text:
    """Return how many lines came and went, or why none can be told of; its row says the rest."""
    if card.diff:
        return f"+{card.added} −{card.removed}"
    return "" if card.note == _rename_note(change) else card.note


def _capped(rows: Sequence[tuple[Text, ...]], total: int) -> tuple[tuple[Text, ...], ...]:
    if total > len(rows):
        rows = [*rows, ("…", phrase("{count:,} more", count=total - len(rows)), "")]
    return tuple(rows)


def _is_file(checkpoints: Checkpoints, before: int, after: int, change: Change) -> bool:
    old = checkpoints.entry_at(before, change.path)
    new = checkpoints.entry_at(after, change.new_path or change.path)
    return not any(entry is not None and entry.is_folder for entry in (old, new))
