"""Routes about the changes of a session: to look at, to accept and to take back."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence, Set
from typing import Annotated, Any, Literal

from core.cards import Card
from core.feature import name_of
from core.redaction import map_strings
from core.tools import ToolError
from modules.checkpoints.review.accepted import mode_of
from modules.checkpoints.review.review import Review, ReviewedFile, ReviewPart, ReviewView
from modules.checkpoints.snapshot.diff import Difference
from modules.checkpoints.snapshot.entries import Entry
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files.project import Project
from modules.web.files.content import MAX_PATH_LENGTH
from modules.web.files.stat_cache import Stamp, StatCache, stamp_of
from modules.web.files.watcher import MAX_WATCHED
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.idempotency import CommandId
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import SessionRunner
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.codec import to_plain

MAX_FILES = 2_000
"""Files that one answer names."""
MAX_FILES_WITH_HUNKS = 60
"""Files whose hunks are in the answer about all of them; those of others are asked for."""
MAX_HUNK_CHARS = 400_000
"""Characters of hunks after which the others are left to be asked for."""
Json = dict[str, Any]

_ID = Annotated[str, "The id of the session."]
_TURN = Annotated[
    int, "Only what changed since before this turn; 0: since the session began.", Bounds(0)
]
_SEEN = Annotated[int, "The `seen` of the answer that is acted upon."]
_PATH = Annotated[str, "A changed file.", Bounds(1, MAX_PATH_LENGTH)]
_HUNK = Annotated[
    int, "The place of a hunk among those of the file; -1: all of the file.", Bounds(-1)
]
_OLD = Annotated[str, "With a hunk: the `old` of its file."]
_REVISION = {"revision": "Another number whenever what changed may be another."}
_ACTION_ANSWER = {**_REVISION, "card": "What was done."}


class ChangesApi:
    """Answers about the changes that the sessions of *registry* made in *project*.

    *stat_cache* records the states in which the changed files were sent.
    """

    def __init__(self, project: Project, registry: SessionRegistry, stat_cache: StatCache) -> None:
        self._project = project
        self._registry = registry
        self._stat_cache = stat_cache

    @route(
        "GET",
        "/api/sessions/{id}/changes",
        "What changed in a session and is to be reviewed.",
        answer={
            **_REVISION,
            "turn": "Since before which; 0: since the session began.",
            "turns": "The turns in which something changed.",
            "seen": "What an acting request has to name.",
            "files": "Each with its path, kind and hunks; those that this session changed first.",
            "left_out": "How many more there are.",
            "has_accepted": "Whether something is not shown because it was accepted.",
            "can_redo": "Whether the last undo can be taken back.",
        },
    )
    def changes(self, id: _ID, turn: _TURN = 0) -> Json:  # noqa: A002 - its name in the address
        runner = self._registry.open(id)
        undo = _undo_commands(runner)
        revision = undo.revision
        turns = sorted({call.turn for call in undo.calls()})
        with as_api_errors():
            view = undo.review_view(turn)
            own_paths = undo.session_paths(turn)
            changes = undo.review.changes(view) if view else []
            differences = sorted(changes, key=lambda difference: not _is_own(difference, own_paths))
            files = _files_json(undo.review, differences[:MAX_FILES], own_paths)
            has_accepted, can_redo = undo.review.has_accepted(id), undo.can_redo
        answer = {"revision": revision, "turn": turn, "turns": turns}
        answer |= {"has_accepted": has_accepted, "can_redo": can_redo}
        left_out = max(0, len(differences) - MAX_FILES)
        seen = view.now.id if view else 0
        for difference in differences[:MAX_WATCHED]:
            if not _is_folder(difference):
                self._stat_cache.record(visible(_path(difference)), _stamp(difference.new))
        files = map_strings(files, runner.terminal.redact)
        return {**answer, "seen": seen, "files": files, "left_out": left_out}

    @route("GET", "/api/sessions/{id}/changes/file", "The hunks of one changed file.")
    def file(self, id: _ID, path: _PATH, seen: _SEEN, turn: _TURN = 0) -> Json:  # noqa: A002
        runner = self._registry.open(id)
        undo = _undo_commands(runner)
        with as_api_errors():
            path = self._project.normalize(path)
            view = _require_view(undo.review_view(turn, seen))
            own_paths = undo.session_paths(turn)
            for difference in undo.review.changes(view):
                if path == _path(difference):
                    return map_strings(
                        _reviewed_json(undo.review.review_file(difference), own_paths),
                        runner.terminal.redact,
                    )
        raise ApiError(
            "not_found", phrase("{path} has not changed since then.", path=visible(path))
        )

    @route(
        "GET",
        "/api/sessions/{id}/changes/calls",
        "The calls of a session that changed files.",
        answer={**_REVISION, "calls": "Each with its call_id, number, turn and files."},
    )
    def calls(
        self,
        id: _ID,  # noqa: A002
        since: Annotated[int, "The first turn that is wanted."] = 0,
    ) -> Json:
        undo = _undo_commands(self._registry.open(id))
        revision = undo.revision
        calls = [
            {
                "call_id": call.call_id,
                "number": call.number,
                "turn": call.turn,
                "files": call.visible_changes,
                "undone": bool(call.is_undone),
            }
            for call in undo.calls()
            if call.turn >= since
        ]
        return {"revision": revision, "calls": calls}

    @route(
        "POST",
        "/api/sessions/{id}/changes/take-back",
        "Undo a hunk or a file.",
        answer=_ACTION_ANSWER,
    )
    def take_back(
        self,
        id: _ID,  # noqa: A002
        seen: _SEEN,
        path: _PATH,
        hunk: _HUNK = -1,
        old: _OLD = "",
        turn: _TURN = 0,
        cmd: CommandId = "",
    ) -> Json:
        def work(undo: UndoCommands) -> Card:
            view = _require_view(undo.review_view(turn, seen))
            return undo.revert_part(view, self._part(path, hunk, old))

        return self._run_exclusively(id, cmd, name_of(UndoCommands.undo), work)

    @route(
        "POST",
        "/api/sessions/{id}/changes/accept",
        "Show a hunk, a file or all that this session changed no longer.",
        answer=_REVISION,
    )
    def accept(
        self,
        id: _ID,  # noqa: A002
        seen: _SEEN,
        path: Annotated[str, "A changed file; empty: all of them."] = "",
        hunk: _HUNK = -1,
        old: _OLD = "",
        turn: _TURN = 0,
        others: Annotated[bool, "Of all: those that this session did not change."] = False,
    ) -> Json:
        runner = self._registry.open(id)
        undo = _undo_commands(runner)
        with as_api_errors():
            parts = [self._part(path, hunk, old)] if path else []
            own_paths = undo.session_paths(turn)
            view = _require_view(undo.review_view(turn, seen))
            undo.accept(
                view, parts, lambda difference: _is_own(difference, own_paths) is not others
            )
        runner.notifier.send_state()
        return {"revision": undo.revision}

    @route(
        "DELETE",
        "/api/sessions/{id}/changes/accepted",
        "Show what was accepted again.",
        answer=_REVISION,
    )
    def clear_accepted(self, id: _ID) -> Json:  # noqa: A002
        runner = self._registry.open(id)
        undo = _undo_commands(runner)
        with as_api_errors():
            undo.clear_accepted()
        runner.notifier.send_state()
        return {"revision": undo.revision}

    @route(
        "POST",
        "/api/sessions/{id}/changes/undo",
        "Undo or redo a turn or a call.",
        answer=_ACTION_ANSWER,
    )
    def undo(
        self,
        id: _ID,  # noqa: A002
        what: Literal["turn", "call"] = "turn",
        number: Annotated[
            int, "Of the turn, or of the call (see `calls`); 0: the last.", Bounds(0)
        ] = 0,
        again: Annotated[bool, "Redo it instead; with 0, take the last undo back."] = False,
        cmd: CommandId = "",
    ) -> Json:
        def work(undo: UndoCommands) -> Any:
            asked = f"{what} {number}" if number else "" if again else what
            return undo.redo(asked) if again else undo.undo(asked)

        return self._run_exclusively(
            id, cmd, name_of(UndoCommands.redo if again else UndoCommands.undo), work
        )

    def _run_exclusively(
        self, session: str, cmd: str, name: str, work: Callable[[UndoCommands], Any]
    ) -> Json:
        """Do *work*, as the command *name* would, while no turn runs; all screens hear of it."""
        runner = self._registry.open(session)
        undo = _undo_commands(runner)
        command = cmd or uuid.uuid4().hex

        def done() -> Json:
            answer = runner.run_exclusively(
                lambda: runner.terminal.perform(name, lambda: work(undo)), command
            )
            return {"revision": undo.revision, "card": to_plain(answer.card)}

        return runner.idempotency.run_once(command, done)

    def _part(self, path: str, hunk: int, old: str) -> ReviewPart:
        try:
            return ReviewPart(self._project.normalize(path), hunk, old)
        except ToolError as error:
            raise ApiError("failed", error.message) from None


def _undo_commands(runner: SessionRunner) -> UndoCommands:
    if (undo := runner.terminal.features.find(UndoCommands)) is None:
        raise ApiError("unsupported", phrase("Checkpoints are not available here."))
    return undo


def _require_view(view: ReviewView | None) -> ReviewView:
    if view is None:
        raise ApiError("changed", phrase("No changes left here. Look again."))
    return view


def _files_json(
    review: Review, differences: Sequence[Difference], own_paths: Set[str]
) -> list[Json]:
    """Return the files with their hunks, or `"hunks": null` and `"is_left": true` for some.

    *own_paths* are the paths that the session changed.
    """
    shown: list[Json] = []
    size = 0
    for difference in differences:
        if len(shown) >= MAX_FILES_WITH_HUNKS or size > MAX_HUNK_CHARS:
            shown.append({**_difference_json(difference, own_paths), "is_left": True})
            continue
        file = _reviewed_json(review.review_file(difference), own_paths)
        size += sum(len(hunk["diff"]) for hunk in file["hunks"] or ())
        shown.append(file)
    return shown


def _reviewed_json(reviewed: ReviewedFile, own_paths: Set[str]) -> Json:
    hunks = reviewed.hunks
    return {
        **_difference_json(reviewed.difference, own_paths),
        "note": to_plain(reviewed.note),
        "is_divisible": reviewed.is_divisible,
        "hunks": hunks
        and [{"diff": h.diff, "added": h.added, "removed": h.removed} for h in hunks],
        "is_left": False,
    }


def _difference_json(difference: Difference, own_paths: Set[str]) -> Json:
    change = difference.change
    old_path = visible(change.path) if change.new_path else ""
    json: Json = {"path": visible(_path(difference)), "was": old_path, "kind": change.kind}
    modes = [mode_of(entry) if entry else "" for entry in (difference.old, difference.new)]
    json |= {
        "is_folder": _is_folder(difference),
        "is_own": _is_own(difference, own_paths),
        "modes": modes,
    }
    return {**json, "old": _content_id(difference.old), "new": _content_id(difference.new)}


def _is_own(difference: Difference, own_paths: Set[str]) -> bool:
    return not own_paths.isdisjoint((difference.change.path, difference.change.new_path))


def _path(difference: Difference) -> str:
    return difference.change.new_path or difference.change.path


def _is_folder(difference: Difference) -> bool:
    return any(entry is not None and entry.is_folder for entry in (difference.old, difference.new))


def _stamp(entry: Entry | None) -> Stamp:
    """Return the state of the file that *entry* recorded, in the form of `stamp_of`."""
    return (entry.inode, entry.mtime_ns, entry.size) if entry else stamp_of(None)


def _content_id(entry: Entry | None) -> str:
    """Return an id of the content; "" for folders and for contents that are not stored."""
    return entry.content if entry is not None and not entry.is_folder else ""
