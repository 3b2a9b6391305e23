"""What can be asked about the changes of a session: to look at, to accept and to take back."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence, Set
from typing import Annotated, Any, Literal

from core.cards import Card
from core.feature import name_of
from core.redaction import mapped
from core.tools import ToolError
from modules.checkpoints.review.accepted import mode_of
from modules.checkpoints.review.review import Part, Review, Reviewed, ReviewView
from modules.checkpoints.snapshot.diff import Difference
from modules.checkpoints.snapshot.entries import Entry
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files.project import Project
from modules.web.files.content import LONGEST
from modules.web.files.stat_cache import Stamp, StatCache, stamp_of
from modules.web.files.watcher import MOST
from modules.web.http.errors import ApiError, explained
from modules.web.http.idempotency import Command
from modules.web.http.params import Within
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import SessionRunner
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.codec import to_plain

MOST_FILES = 2_000
"""Files that one answer names."""
MOST_SHOWN = 60
"""Files whose hunks are in the answer about all of them; those of others are asked for."""
LARGEST = 400_000
"""Characters of hunks after which the others are left to be asked for."""
Plain = dict[str, Any]

_ID = Annotated[str, "The id of the session."]
_TURN = Annotated[
    int, "Only what changed since before this turn; 0: since the session began.", Within(0)
]
_SEEN = Annotated[int, "The `seen` of the answer that is acted upon."]
_PATH = Annotated[str, "A changed file.", Within(1, LONGEST)]
_HUNK = Annotated[
    int, "The place of a hunk among those of the file; -1: all of the file.", Within(-1)
]
_OLD = Annotated[str, "With a hunk: the `old` of its file."]
_REVISION = {"revision": "Another number whenever what changed may be another."}
_ACTED = {**_REVISION, "card": "What was done."}


class ChangesApi:
    """Answers about what the sessions of *workspace* changed in *project*.

    *stamps* takes note of the states in which the changed files were told of.
    """

    def __init__(self, project: Project, workspace: SessionRegistry, stamps: StatCache) -> None:
        self._project = project
        self._workspace = workspace
        self._stamps = stamps

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
    def changes(self, id: _ID, turn: _TURN = 0) -> Plain:  # noqa: A002 - its name in the address
        seat = self._workspace.open(id)
        undo = _undo_of(seat)
        revision = undo.revision
        turns = sorted({call.turn for call in undo.calls()})
        with explained():
            view = undo.view(turn)
            own = undo.own_paths(turn)
            changes = undo.review.changes(view) if view else []
            found = sorted(changes, key=lambda one: not _is_own(one, own))
            shown = _shown(undo.review, found[:MOST_FILES], own)
            has_accepted, can_redo = undo.review.has_accepted(id), undo.can_redo
        told = {"revision": revision, "turn": turn, "turns": turns}
        told |= {"has_accepted": has_accepted, "can_redo": can_redo}
        left_out = max(0, len(found) - MOST_FILES)
        seen = view.now.id if view else 0
        for one in found[:MOST]:
            if not _is_folder(one):
                self._stamps.tell(visible(_path(one)), _stamp(one.new))
        shown = mapped(shown, seat.terminal.blind)
        return {**told, "seen": seen, "files": shown, "left_out": left_out}

    @route("GET", "/api/sessions/{id}/changes/file", "The hunks of one changed file.")
    def file(self, id: _ID, path: _PATH, seen: _SEEN, turn: _TURN = 0) -> Plain:  # noqa: A002
        seat = self._workspace.open(id)
        undo = _undo_of(seat)
        with explained():
            path = self._project.normal(path)
            view = _the(undo.view(turn, seen))
            own = undo.own_paths(turn)
            for found in undo.review.changes(view):
                if path == _path(found):
                    return mapped(_plain(undo.review.reviewed(found), own), seat.terminal.blind)
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
    ) -> Plain:
        undo = _undo_of(self._workspace.open(id))
        revision = undo.revision
        calls = [
            {
                "call_id": call.call_id,
                "number": call.number,
                "turn": call.turn,
                "files": call.visible,
                "undone": bool(call.is_undone),
            }
            for call in undo.calls()
            if call.turn >= since
        ]
        return {"revision": revision, "calls": calls}

    @route("POST", "/api/sessions/{id}/changes/take-back", "Undo a hunk or a file.", answer=_ACTED)
    def take_back(
        self,
        id: _ID,  # noqa: A002
        seen: _SEEN,
        path: _PATH,
        hunk: _HUNK = -1,
        old: _OLD = "",
        turn: _TURN = 0,
        cmd: Command = "",
    ) -> Plain:
        def work(undo: UndoCommands) -> Card:
            view = _the(undo.view(turn, seen))
            return undo.take_back_part(view, self._part(path, hunk, old))

        return self._done(id, cmd, name_of(UndoCommands.undo), work)

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
    ) -> Plain:
        seat = self._workspace.open(id)
        undo = _undo_of(seat)
        with explained():
            parts = [self._part(path, hunk, old)] if path else []
            own = undo.own_paths(turn)
            view = _the(undo.view(turn, seen))
            undo.accept(view, parts, lambda found: _is_own(found, own) is not others)
        seat.telling.state()
        return {"revision": undo.revision}

    @route(
        "DELETE",
        "/api/sessions/{id}/changes/accepted",
        "Show what was accepted again.",
        answer=_REVISION,
    )
    def show_again(self, id: _ID) -> Plain:  # noqa: A002
        seat = self._workspace.open(id)
        undo = _undo_of(seat)
        with explained():
            undo.forget_accepted()
        seat.telling.state()
        return {"revision": undo.revision}

    @route(
        "POST", "/api/sessions/{id}/changes/undo", "Undo or redo a turn or a call.", answer=_ACTED
    )
    def undo(
        self,
        id: _ID,  # noqa: A002
        what: Literal["turn", "call"] = "turn",
        number: Annotated[
            int, "Of the turn, or of the call (see `calls`); 0: the last.", Within(0)
        ] = 0,
        again: Annotated[bool, "Redo it instead; with 0, take the last undo back."] = False,
        cmd: Command = "",
    ) -> Plain:
        def work(undo: UndoCommands) -> Any:
            asked = f"{what} {number}" if number else "" if again else what
            return undo.redo(asked) if again else undo.undo(asked)

        return self._done(id, cmd, name_of(UndoCommands.redo if again else UndoCommands.undo), work)

    def _done(
        self, session: str, cmd: str, name: str, work: Callable[[UndoCommands], Any]
    ) -> Plain:
        """Do *work*, as the command *name* would, while no turn runs; all screens hear of it."""
        seat = self._workspace.open(session)
        undo = _undo_of(seat)
        command = cmd or uuid.uuid4().hex

        def done() -> Plain:
            answer = seat.alone(lambda: seat.terminal.perform(name, lambda: work(undo)), command)
            return {"revision": undo.revision, "card": to_plain(answer.card)}

        return seat.once.do(command, done)

    def _part(self, path: str, hunk: int, old: str) -> Part:
        try:
            return Part(self._project.normal(path), hunk, old)
        except ToolError as error:
            raise ApiError("failed", error.what) from None


def _undo_of(seat: SessionRunner) -> UndoCommands:
    for family in seat.terminal.families:
        if isinstance(family, UndoCommands):
            return family
    raise ApiError("unsupported", phrase("There are no checkpoints here."))


def _the(view: ReviewView | None) -> ReviewView:
    if view is None:
        raise ApiError("changed", phrase("Nothing has changed here any more. Look again."))
    return view


def _shown(review: Review, found: Sequence[Difference], own: Set[str]) -> list[Plain]:
    """Return the files with their hunks, or `"hunks": null` and `"is_left": true` for some.

    *own* are the paths that the session changed.
    """
    shown: list[Plain] = []
    size = 0
    for one in found:
        if len(shown) >= MOST_SHOWN or size > LARGEST:
            shown.append({**_head(one, own), "is_left": True})
            continue
        plain = _plain(review.reviewed(one), own)
        size += sum(len(hunk["diff"]) for hunk in plain["hunks"] or ())
        shown.append(plain)
    return shown


def _plain(reviewed: Reviewed, own: Set[str]) -> Plain:
    hunks = reviewed.hunks
    return {
        **_head(reviewed.found, own),
        "note": to_plain(reviewed.note),
        "is_divisible": reviewed.is_divisible,
        "hunks": hunks
        and [{"diff": h.diff, "added": h.added, "removed": h.removed} for h in hunks],
        "is_left": False,
    }


def _head(found: Difference, own: Set[str]) -> Plain:
    change = found.change
    was = visible(change.path) if change.new_path else ""
    told: Plain = {"path": visible(_path(found)), "was": was, "kind": change.kind}
    modes = [mode_of(entry) if entry else "" for entry in (found.old, found.new)]
    told |= {"is_folder": _is_folder(found), "is_own": _is_own(found, own), "modes": modes}
    return {**told, "old": _content(found.old), "new": _content(found.new)}


def _is_own(found: Difference, own: Set[str]) -> bool:
    return not own.isdisjoint((found.change.path, found.change.new_path))


def _path(found: Difference) -> str:
    return found.change.new_path or found.change.path


def _is_folder(found: Difference) -> bool:
    return any(entry is not None and entry.is_folder for entry in (found.old, found.new))


def _stamp(entry: Entry | None) -> Stamp:
    """Return the state of the file that was taken down as *entry*, as `stamp_of` has it."""
    return (entry.inode, entry.mtime_ns, entry.size) if entry else stamp_of(None)


def _content(entry: Entry | None) -> str:
    """Return what tells one content from another; nothing for folders and what is not held."""
    return entry.content if entry is not None and not entry.is_folder else ""
