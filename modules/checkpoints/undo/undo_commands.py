"""Undo for people: the commands that take back what calls did, and the review at the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from core.cards import Card, Change, DiffCard, TableCard, TextCard
from core.events import CommandAnswered
from core.feature import Section, SessionHandle, command
from core.hooks import BindsToSession, KeepsState, ProvidesContext
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.undo.recorder import CallRecorder
from modules.checkpoints.undo.undo_cards import (
    calls_card,
    changes_card,
    diff_card,
    redone_card,
    state_undo_title,
    undone_card,
)
from modules.checkpoints.undo.undo_state import StateUndo
from modules.files.project import Project
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import parse_number

if TYPE_CHECKING:
    from modules.checkpoints.review.review import Review, ReviewPart, ReviewView
    from modules.checkpoints.snapshot.diff import Difference
    from modules.checkpoints.store.index import UndoRecord
    from modules.checkpoints.undo.journal import UndoOperation
    from modules.checkpoints.undo.selector import UndoSelector
    from modules.checkpoints.undo.undo_results import FinishedOperation, UndoOutcome, UndoResult


class UndoCommands(CallRecorder, BindsToSession, ProvidesContext, KeepsState):
    """The undo of a session: by turn and call, back to a turn, and by parts at the page.

    The model learns of each undo with its next request.
    """

    def __init__(
        self, project: Project, checkpoints: LateCheckpoints, state_undo: StateUndo | None = None
    ) -> None:
        super().__init__(project, checkpoints)
        self._state_undo = state_undo or StateUndo({})
        self._session_handle: SessionHandle | None = None
        self._undo_notice = ""

    @cached_property
    def review(self) -> Review:
        """Review of the files, part by part; loaded when the page first asks."""
        from modules.checkpoints.review.review import Review

        return Review(self._checkpoints)

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle
        self._state_undo.bind(session_handle)

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._undo_notice)]

    def state(self) -> dict[str, Any]:
        return {"taken_back": self._undo_notice}

    def restore(self, state: dict[str, Any]) -> None:
        self._undo_notice = state.get("taken_back", "")

    @command(
        "/undo [turn|call] [N]",
        "Undo the changes of a turn or a call; /undo list shows them.",
        takes_back=True,
        changes_files=True,
        belongs_to_session=True,
    )
    def undo(self, argument: str) -> CommandAnswered:
        self.refuse_whole_disk()
        if argument == "list":
            self._finish_interrupted()
            changing = [call for call in self._calls() if call.has_visible_changes]
            return CommandAnswered("/undo", calls_card(self._checkpoints, changing))
        selector = _selector("/undo", argument)
        with self.exclusive():
            outcomes = [
                undone
                for undone in self._finish_interrupted()
                if undone.finished.operation.kind == "undo"
            ]
            if outcomes and not selector.has_undoable(
                self._calls()
            ):  # it is the one that is asked for
                return self._undo_answer(outcomes[-1], _UNDO_FINISHED)
            all_calls = self._calls()
            self._refuse_unknown(selector)
            file_calls = [
                (c.turn, c.call_id) for c in all_calls if c.has_visible_changes and not c.is_undone
            ]
            state_changes, has_files = self._state_undo.select(
                selector.unit, selector.number, file_calls
            )
            calls = selector.to_undo(all_calls) if has_files else []
            turn = (calls or state_changes)[-1].turn
            description = (
                selector.description(calls) if calls else f"what turn {turn} did beside files"
            )
            beside = [[change.turn, change.call_id] for change in state_changes]
            remaining = {"beside": beside, "done": description}
            undone = self._run_operation(lambda: self._undoer.undo(self.session, calls, remaining))
        title = selector.undo_title(calls) if calls else state_undo_title(selector.unit, turn)
        return self._undo_answer(undone, title)

    def undo_turn(self, turn: int) -> CommandAnswered:
        """Take back what *turn* did, which may be at work. Raises `UserError`."""
        return self.undo(f"turn {turn}")

    def _undo_answer(self, outcome: UndoOutcome, title: Phrase) -> CommandAnswered:
        results = outcome.finished.results
        if any(result.is_worth_retrying for result in results):
            title = phrase("Partly undone; /undo tries the rest again")
        card = self._with_background(undone_card(results, title, outcome.state_changes))
        return CommandAnswered("/undo", card, changes=outcome.changes)

    def _with_background(self, card: TableCard) -> TableCard:
        """Return *card* with who may change the files again at any moment."""
        if not (names := self._background()):
            return card
        row = (phrase("still running"), names, phrase("it may write again; /jobs stop ends it"))
        return replace(card, rows=(*card.rows, row))

    @command(
        "/redo [turn|call] [N]",
        "Redo what the last /undo or /rewind undid, or a single change.",
        takes_back=True,
        changes_files=True,
        belongs_to_session=True,
    )
    def redo(self, argument: str) -> CommandAnswered:
        with self.exclusive():
            outcomes = [
                one for one in self._finish_interrupted() if one.finished.operation.kind == "redo"
            ]
            if argument:
                return self._redo_calls(_selector("/redo", argument))
            if outcomes:
                return self._redo_answer(outcomes[-1], _REDO_FINISHED)
            last_undo = self._index.last_undo(self.session)
            if last_undo is None:
                raise UserError(phrase("Nothing to redo."))
            return self._redo_answer(
                self._redo_undo(last_undo), phrase("Restored the undone changes")
            )

    def _redo_undo(self, undo: UndoRecord, description: str = "") -> UndoOutcome:
        """Redo *undo*; *description* is what it took back, where the person names that."""
        rest = {"talk": self._rewound_conversation(undo.id), "done": description}
        return self._run_operation(lambda: self._undoer.redo(self.session, undo, rest))

    def _redo_answer(self, outcome: UndoOutcome, title: Phrase) -> CommandAnswered:
        is_conversation_back = outcome.finished.operation.rest.get("talk", False)
        effect: Literal["", "session"] = "session" if is_conversation_back else ""
        results = outcome.finished.results
        card = self._with_background(redone_card(results, title, outcome.state_changes))
        return CommandAnswered("/redo", card, effect=effect, changes=outcome.changes)

    def _finish_state(self, finished: FinishedOperation) -> list[Phrase]:
        """Finish the state of an operation beside the files, and tell the model of it.

        Done again after a kill, it does only what was not done.
        """
        from modules.checkpoints.undo.model_messages import operation_message  # for undo only

        operation, rest = finished.operation, finished.operation.rest
        state_changes: list[Phrase] = []
        if "beside" in rest:
            state_changes = self._state_undo.undo(
                self._state_undo.changes_of(rest["beside"]), operation.undo
            )
        elif operation.kind == "redo":
            state_changes = self._state_undo.redo(operation.undo)
            if (
                rest["talk"]
                and self._session_handle is not None
                and self._session_handle.undo_rewind(operation.undo)
            ):
                state_changes = [*state_changes, phrase("the conversation")]
        elif (
            operation.kind == "rewind"
            and rest["what"] != "files"
            and self._session_handle is not None
        ):
            self._session_handle.rewind(rest["turn"], operation.undo)
        self._notify_model(operation_message(operation, finished.results, state_changes))
        if self._session_handle is not None:
            self._session_handle.save_state()
        return super()._finish_state(finished) + state_changes

    @command(
        "/diff [TURN] [PATH]",
        "Show the file changes since the start of a turn.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def diff(self, argument: str) -> Card:
        turn, path = _turn_and_path(argument)
        since = phrase("since the start of turn {turn}", turn=turn) if turn else _IN_THIS_SESSION
        nothing = TextCard(phrase("No changes {since}.", since=since))
        if (found := self._snapshots_since(turn)) is None:
            return nothing
        before, after = found
        if path:
            return self._file_diff(before, after, self._project.normalize(path))
        if not self._checkpoints.diff(before, after):
            return nothing
        return changes_card(
            self._checkpoints, before, after, phrase("Changes {since}", since=since)
        )

    def diffs(self, argument: str, *, is_whole: bool = False) -> Sequence[DiffCard]:
        """Return the diff of each file that `/diff` with *argument* tells of; raises as it does.

        What nobody may see is still in them; where *is_whole*, so are the lines between the hunks.
        """
        turn, path = _turn_and_path(argument)
        if (found := self._snapshots_since(turn)) is None:
            return ()
        if path:
            return [self._file_diff(*found, self._project.normalize(path), is_whole=is_whole)]
        changes = self._checkpoints.diff(*found)
        return [
            diff_card(self._checkpoints, *found, change, is_whole=is_whole) for change in changes
        ]

    def _snapshots_since(self, turn: int) -> tuple[int, int] | None:
        """Return the snapshots before *turn*, 0 for the session, and of now; None for no change."""
        self.refuse_whole_disk()
        if not self._checkpoints.project_lock.is_held:
            self._finish_interrupted()
        self._refuse_unknown_turn(turn)
        before = self._snapshot_before(turn)
        return None if before is None else (before, self._checkpoints.take().id)

    @command(
        "/rewind [TURN] [files|talk]",
        "Go back to the start of a turn: files, notes, focus, todos and conversation, or "
        "only files or conversation.",
        takes_back=True,
        changes_files=True,
        belongs_to_session=True,
    )
    def rewind(self, argument: str) -> CommandAnswered:
        conversation_only = argument.endswith("talk")  # that may be whoever works on the files
        with nullcontext() if conversation_only else self.exclusive():
            interrupted = [
                one for one in self._finish_interrupted() if one.finished.operation.kind == "rewind"
            ]
            if interrupted and _normalized(argument) in (
                "",
                _rewind_argument(interrupted[-1].finished.operation),
            ):
                return self._rewind_answer(interrupted[-1])
            turn, scope = self._parse_rewind(argument)
            return self._rewind_answer(self._rewind_to(turn, scope))

    def _rewind_to(self, turn: int, scope: str) -> UndoOutcome:
        """Go back to before *turn*: "files", "talk", or "" for both."""
        before = self._snapshot_before(turn) if scope != "talk" else None
        if before is None and scope == "files":
            raise UserError(phrase("No changes since then."))
        calls = [
            call
            for call in self._calls()
            if call.turn >= turn and call.after is not None and not call.is_undone
        ]
        rest = {"turn": turn, "what": scope}
        return self._run_operation(lambda: self._undoer.rewind(self.session, before, calls, rest))

    def _rewind_answer(self, outcome: UndoOutcome) -> CommandAnswered:
        results, rest = outcome.finished.results, outcome.finished.operation.rest
        turn, scope = rest["turn"], rest["what"]
        title = _rewound_title(turn, scope)
        effect: Literal["", "session"] = "" if scope == "files" else "session"
        card: Card = TextCard(title)  # where files were not looked at, there is no more to say
        if results:
            card = self._with_background(
                undone_card(results, title, self._also_reverted(turn, results[-1]))
            )
        return CommandAnswered("/rewind", card, effect=effect, changes=outcome.changes)

    def _also_reverted(self, turn: int, result: UndoResult) -> list[Phrase]:
        """Return phrases on changes since *turn* by others than this session, undone too."""
        calls = [call for call in self._calls() if call.turn >= turn]
        paths = sorted(
            set(map(visible, self._undoer.unattributed_paths(self.session, calls, result)))
        )
        if not paths:
            return []
        return [
            phrase(
                "including changes made outside this session: {paths}; /redo restores them",
                paths=", ".join(paths[:_MAX_LISTED]) + (" …" if len(paths) > _MAX_LISTED else ""),
            )
        ]

    def review_view(self, turn: int = 0, until: int | None = None) -> ReviewView | None:
        """Return the view for a review since before *turn*; None when there is nothing.

        It ends at the snapshot *until*; without one, at the folder as it is, or in the midst of a
        turn, as its last call left it. Raises `UserError`.
        """
        first_snapshot, since = self._snapshot_before(0), self._snapshot_before(turn)
        if first_snapshot is None or since is None:
            return None
        if until is None:
            checkpoints = self._checkpoints
            until = (
                checkpoints.last_snapshot()
                if checkpoints.project_lock.is_held
                else checkpoints.take()
            ).id
        return self.review.view(self.session, first_snapshot, since, until)

    def session_paths(self, turn: int = 0) -> set[str]:
        """Return the paths that this session changed since before *turn*; all else others did."""
        return self.review.session_changes.paths(self.session, turn)

    def session_changes(self) -> list[Change]:
        """Return what calls of this session made of the files, as they were last looked at.

        What was taken back again is no change. Raises `UserError`.
        """
        first = self._snapshot_before(0)
        if first is None:
            return []
        own = self.session_paths()
        changes = self._checkpoints.diff(first, self._checkpoints.last_snapshot().id)
        return [one for one in changes if not own.isdisjoint((one.path, one.new_path))]

    def revert_part(self, view: ReviewView, part: ReviewPart) -> Card:
        """Take one hunk or file of *view* out of the folder again. Raises `UserError`."""
        is_whole = part.hunk < 0
        with self.exclusive():
            self._finish_interrupted()
            rest = {"path": part.path, "is_whole": is_whole}
            outcome = self._run_operation(lambda: self.review.revert(view, part, rest))
        name = visible(part.path)
        title = phrase("Undid a change in {path}; /redo restores it", path=name)
        if is_whole:
            title = phrase("Undid the changes in {path}; /redo restores them", path=name)
        return undone_card(outcome.finished.results, title)

    def accept(
        self,
        view: ReviewView,
        parts: Sequence[ReviewPart],
        is_selected: Callable[[Difference], bool] = lambda _: True,
    ) -> None:
        """Accept *parts* of *view*, without any all that *is_selected*. Raises `UserError`."""
        if parts:
            self.review.accept(view, parts)
        else:
            self.review.accept_all(view, is_selected)
        self.revision += 1

    def clear_accepted(self) -> None:
        """Show everything again that was accepted in the session."""
        self._index.clear_accepted(self.session)
        self.revision += 1

    def _redo_calls(self, selector: UndoSelector) -> CommandAnswered:
        self._refuse_unknown(selector)
        calls = selector.to_redo(self._calls())
        undo = self._undoer.effective_undo_of(self.session, calls)
        if undo is not None and not self._rewound_conversation(undo.id):
            outcome = self._redo_undo(undo, selector.description(calls))
        else:
            rest = {"done": selector.description(calls)}
            outcome = self._run_operation(lambda: self._undoer.reapply(self.session, calls, rest))
        return self._redo_answer(outcome, selector.redo_title(calls))

    def _rewound_conversation(self, undo: int) -> bool:
        """Return whether the conversation went back with that undo, and so must come with it."""
        return self._session_handle is not None and self._session_handle.history.was_rewound(undo)

    def _refuse_unknown(self, selector: UndoSelector) -> None:
        """Raise `UserError` when *selector* means a turn that never was."""
        if selector.unit == "turn":
            self._refuse_unknown_turn(selector.number)

    def _refuse_unknown_turn(self, turn: int) -> None:
        last = self._session_handle.history.turn if self._session_handle is not None else turn
        if turn > last:
            raise UserError(
                phrase("No turn {turn}; the last one is {last}.", turn=turn, last=last)
                if last
                else phrase("No turn {turn}: this session has no turns yet.", turn=turn)
            )

    def _notify_model(self, line: str) -> None:
        """Tell the model with its next request; lines that it does not know yet stay."""
        sent = (
            self._session_handle.history.context_sent.get(_SECTION)
            if self._session_handle is not None
            else None
        )
        unsent = self._undo_notice.split("\n") if self._undo_notice not in ("", sent) else []
        unsent = [line_before for line_before in unsent if line_before != line]
        self._undo_notice = "\n".join([*unsent, line][-_MAX_LINES:])
        self.revision += 1

    def _parse_rewind(self, argument: str) -> tuple[int, str]:
        """Return the turn and "files", "talk" or "" for both. Raises `UserError`."""
        words = argument.split()
        scope = words.pop() if words and words[-1] in ("files", "talk") else ""
        if self._project.is_whole_disk:
            if scope == "files":
                self.refuse_whole_disk()
            scope = "talk"
        numbers = list(map(parse_number, words))
        if len(numbers) > 1 or None in numbers:
            raise UserError(phrase("Usage: /rewind TURN, such as /rewind 3."))
        turns = {call.turn for call in self._calls()}
        if self._session_handle is not None:
            turns = set(self._session_handle.history.turns) | (turns if scope == "files" else set())
        turn = numbers[0] or 0 if numbers else max(turns, default=0)
        if self._session_handle is not None and turn not in turns:
            raise UserError(phrase("No turn {turn} to go back to.", turn=turn))
        return turn, scope

    def _file_diff(self, before: int, after: int, path: str, *, is_whole: bool = False) -> DiffCard:
        for change in self._checkpoints.diff(before, after):
            if path in (change.path, change.new_path):
                return diff_card(self._checkpoints, before, after, change, is_whole=is_whole)
        raise UserError(phrase("{path} has not changed since then.", path=visible(path)))


def _selector(command: str, argument: str) -> UndoSelector:
    """Return what the *argument* of *command* means. Raises `UserError`."""
    from modules.checkpoints.undo.selector import UndoSelector  # for undo only

    return UndoSelector.parse(command, argument)


def _turn_and_path(argument: str) -> tuple[int, str]:
    """Return what *argument* of `/diff` says: a turn, 0 for none, and a path, "" for none."""
    first, _, path = argument.partition(" ")
    turn = parse_number(first)
    return (0, argument.strip()) if turn is None else (turn, path.strip())


def _rewound_title(turn: int, scope: str) -> Phrase:
    match scope:
        case "files":
            return phrase(
                "Files are back at the start of turn {turn}; /redo reverses this", turn=turn
            )
        case "talk":
            return phrase(
                "The conversation is back at the start of turn {turn}; /redo reverses this",
                turn=turn,
            )
        case _:
            return phrase(
                "Files and conversation are back at the start of turn {turn}; /redo reverses this",
                turn=turn,
            )


def _normalized(argument: str) -> str:
    return " ".join(argument.split())


def _rewind_argument(operation: UndoOperation) -> str:
    """Return what the person typed behind `/rewind` for *operation*."""
    return _normalized(f"{operation.rest['turn']} {operation.rest['what']}")


_UNDO_FINISHED = phrase("Completed the interrupted undo; /redo reverses it")
_REDO_FINISHED = phrase("Completed the interrupted redo")
_IN_THIS_SESSION = phrase("in this session")
_SECTION = "taken back"
_MAX_LINES = 12
_MAX_LISTED = 8  # paths in one sentence
