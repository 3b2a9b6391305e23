"""Undo for people: the commands that take back what calls did, and the review at the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from core.cards import Card, TextCard
from core.events import CommandAnswered
from core.feature import Section, SessionHandle, command
from core.hooks import BindsToSession, KeepsState, ProvidesContext
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.store.index import UndoRecord
from modules.checkpoints.undo.journal import UndoOperation
from modules.checkpoints.undo.model_messages import told
from modules.checkpoints.undo.recorder import CallRecorder, Ended
from modules.checkpoints.undo.selector import UndoSelector
from modules.checkpoints.undo.undo import was_refused
from modules.checkpoints.undo.undo_cards import (
    calls_card,
    changes_card,
    diff_card,
    redone_card,
    title_beside,
    undone_card,
)
from modules.checkpoints.undo.undo_results import Finished, Undone, changes_of
from modules.checkpoints.undo.undo_state import StateUndo
from modules.files.project import Project
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import read_number

if TYPE_CHECKING:
    from modules.checkpoints.review.review import Part, Review, ReviewView
    from modules.checkpoints.snapshot.diff import Difference


class UndoCommands(CallRecorder, BindsToSession, ProvidesContext, KeepsState):
    """The undo of a session: by turn and call, back to a turn, and by parts at the page.

    What is taken back is told to the model with its next request.
    """

    def __init__(
        self, project: Project, checkpoints: Checkpoints, beside: StateUndo | None = None
    ) -> None:
        super().__init__(project, checkpoints)
        self._beside = beside or StateUndo({})
        self._talk: SessionHandle | None = None
        self._taken_back = ""

    @cached_property
    def review(self) -> Review:
        """What changed in the files, part by part; loaded when the page first asks."""
        from modules.checkpoints.review.review import Review

        return Review(self._checkpoints)

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk
        self._beside.meet(talk)

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._taken_back)]

    def state(self) -> dict[str, Any]:
        return {"taken_back": self._taken_back}

    def restore(self, state: dict[str, Any]) -> None:
        self._taken_back = state.get("taken_back", "")

    @command(
        "/undo [turn|call] [N]",
        "Take back what a turn or call did; /undo list.",
        takes_back=True,
        changes_files=True,
        belongs_to_session=True,
    )
    def undo(self, rest: str) -> CommandAnswered:
        if rest == "list":
            self._settle()
            seen = [call for call in self._calls() if call.can_be_seen]
            return CommandAnswered("/undo", calls_card(self._checkpoints, seen))
        asked = UndoSelector.read("/undo", rest)
        with self._checkpoints.work.alone(self.session):
            ended = [one for one in self._settle() if one.finished.operation.kind == "undo"]
            if ended and not asked.has_left(self._calls()):  # it is the one that is asked for
                return self._undone(ended[-1], _UNDO_FINISHED)
            known = self._calls()
            self._refuse_unknown(asked)
            files = [(c.turn, c.call_id) for c in known if c.can_be_seen and not c.is_undone]
            others, has_files = self._beside.meant(asked.what, asked.number, files)
            calls = asked.to_undo(known) if has_files else []
            turn = (calls or others)[-1].turn
            done = asked.done(calls) if calls else f"what turn {turn} did beside files"
            beside = [[did.turn, did.call_id] for did in others]
            kept = {"beside": beside, "done": done}
            one = self._do(lambda: self._undoing.undo(self.session, calls, kept))
        title = asked.title(calls) if calls else title_beside(asked.what, turn)
        return self._undone(one, title)

    def _undone(self, ended: Ended, title: Phrase) -> CommandAnswered:
        results = ended.finished.results
        if any(map(was_refused, results)):
            title = phrase("Not all of it could be taken back; /undo tries the rest again")
        card = undone_card(results, title, ended.said)
        return CommandAnswered("/undo", card, changes=changes_of(results))

    @command(
        "/redo [turn|call] [N]",
        "Take back the last /undo or /rewind, or bring one again.",
        takes_back=True,
        changes_files=True,
        belongs_to_session=True,
    )
    def redo(self, rest: str) -> CommandAnswered:
        with self._checkpoints.work.alone(self.session):
            ended = [one for one in self._settle() if one.finished.operation.kind == "redo"]
            if rest:
                return self._bring_again(UndoSelector.read("/redo", rest))
            if ended:
                return self._redone(ended[-1], _REDO_FINISHED)
            last = self._ledger.last_undo(self.session)
            if last is None:
                raise UserError(phrase("There is no undo to take back."))
            return self._redone(self._redo(last), phrase("Took back the undo"))

    def _redo(self, undo: UndoRecord, done: str = "") -> Ended:
        """Take *undo* back; *done* is what it took back, where the person names that."""
        rest = {"talk": self._has_talk(undo.id), "done": done}
        return self._do(lambda: self._undoing.redo(self.session, undo, rest))

    def _redone(self, ended: Ended, title: Phrase) -> CommandAnswered:
        is_talk_back = ended.finished.operation.rest.get("talk", False)
        effect: Literal["", "session"] = "session" if is_talk_back else ""
        results = ended.finished.results
        card = redone_card(results, title, ended.said)
        return CommandAnswered("/redo", card, effect=effect, changes=changes_of(results))

    def _complete(self, finished: Finished) -> list[Phrase]:
        """Do the rest of an operation beside the files, and let the model know of it.

        Done again after a kill, it does only what was not done.
        """
        operation, rest = finished.operation, finished.operation.rest
        said: list[Phrase] = []
        if "beside" in rest:
            said = self._beside.take_back(self._beside.named(rest["beside"]), operation.undo)
        elif operation.kind == "redo":
            said = self._beside.bring_again(operation.undo)
            if rest["talk"] and self._talk is not None and self._talk.give_back(operation.undo):
                said = [*said, phrase("the conversation")]
        elif operation.kind == "rewind" and rest["what"] != "files" and self._talk is not None:
            self._talk.rewind(rest["turn"], operation.undo)
        self._tell(told(operation, finished.results, said))
        if self._talk is not None:
            self._talk.save_state()
        return super()._complete(finished) + said

    @command(
        "/diff [TURN] [PATH]",
        "Show what changed in the files since before a turn.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def diff(self, rest: str) -> Card:
        first, _, path = rest.partition(" ")
        turn = read_number(first)
        if turn is None:
            path = rest
        if not self._checkpoints.work.is_ours:
            self._settle()
        self._refuse_turn(turn or 0)
        since = phrase("since before turn {turn}", turn=turn) if turn else _HERE
        nothing = TextCard(phrase("Nothing has changed {since}.", since=since))
        before = self._state_before(turn or 0)
        if before is None:
            return nothing
        after = self._checkpoints.take().id
        if path.strip():
            return self._file_diff(before, after, self._project.normal(path.strip()))
        if not self._checkpoints.diff(before, after):
            return nothing
        return changes_card(
            self._checkpoints, before, after, phrase("Changed {since}", since=since)
        )

    @command(
        "/rewind [TURN] [files|talk]",
        "Go back to before a turn: files, notes, focus, todos and conversation, or one of them.",
        takes_back=True,
        changes_files=True,
        belongs_to_session=True,
    )
    def rewind(self, rest: str) -> CommandAnswered:
        is_talk = rest.endswith("talk")  # that may be whoever works on the files
        with nullcontext() if is_talk else self._checkpoints.work.alone(self.session):
            cut_short = [one for one in self._settle() if one.finished.operation.kind == "rewind"]
            if cut_short and _words(rest) in ("", _words_of(cut_short[-1].finished.operation)):
                return self._rewound(cut_short[-1])
            turn, what = self._asked_for(rest)
            return self._rewound(self._go_back(turn, what))

    def _go_back(self, turn: int, what: str) -> Ended:
        """Go back to before *turn*: "files", "talk", or "" for both."""
        before = self._state_before(turn) if what != "talk" else None
        if before is None and what == "files":
            raise UserError(phrase("No call has changed anything since then."))
        calls = [call for call in self._calls() if call.turn >= turn and not call.is_undone]
        rest = {"turn": turn, "what": what}
        return self._do(lambda: self._undoing.rewind(self.session, before, calls, rest))

    def _rewound(self, ended: Ended) -> CommandAnswered:
        results, rest = ended.finished.results, ended.finished.operation.rest
        turn, what = rest["turn"], rest["what"]
        title = _rewound_title(turn, what)
        effect: Literal["", "session"] = "" if what == "files" else "session"
        card: Card = TextCard(title)  # where files were not looked at, there is no more to say
        if results:
            card = undone_card(results, title, self._went_along(turn, results[-1]))
        return CommandAnswered("/rewind", card, effect=effect, changes=changes_of(results))

    def _went_along(self, turn: int, result: Undone) -> list[Phrase]:
        """Say what was changed since *turn* by no call of this session, and was taken back too."""
        calls = [call for call in self._calls() if call.turn >= turn]
        paths = sorted(set(map(visible, self._undoing.by_nobody(self.session, calls, result))))
        if not paths:
            return []
        return [
            phrase(
                "also what no call of this session did: {paths}; /redo brings it again",
                paths=", ".join(paths[:_MOST_NAMED]) + (" …" if len(paths) > _MOST_NAMED else ""),
            )
        ]

    def view(self, turn: int = 0, seen: int | None = None) -> ReviewView | None:
        """Return what is to be reviewed of all since before *turn*; None when there is nothing.

        It ends at the snapshot *seen*; without one, at the folder as it is, or in the midst of a
        turn, as its last call left it. Raises `UserError`.
        """
        began, since = self._state_before(0), self._state_before(turn)
        if began is None or since is None:
            return None
        if seen is None:
            checkpoints = self._checkpoints
            seen = (checkpoints.newest() if checkpoints.work.is_ours else checkpoints.take()).id
        return self.review.view(self.session, began, since, seen)

    def own_paths(self, turn: int = 0) -> set[str]:
        """Return the paths that this session changed since before *turn*; all else others did."""
        return self.review.own.paths(self.session, turn)

    def take_back_part(self, view: ReviewView, part: Part) -> Card:
        """Take one hunk or file of *view* out of the folder again. Raises `UserError`."""
        is_whole = part.hunk < 0
        with self._checkpoints.work.alone(self.session):
            self._settle()
            rest = {"path": part.path, "is_whole": is_whole}
            ended = self._do(lambda: self.review.take_back(view, part, rest))
        name = visible(part.path)
        title = phrase("Took back a part of {path}; /redo brings it again", path=name)
        if is_whole:
            title = phrase("Took back what changed in {path}; /redo brings it again", path=name)
        return undone_card(ended.finished.results, title)

    def accept(
        self,
        view: ReviewView,
        parts: Sequence[Part],
        is_meant: Callable[[Difference], bool] = lambda _: True,
    ) -> None:
        """Show *parts* of *view* no longer, without any all that *is_meant*. Raises `UserError`."""
        if parts:
            self.review.accept(view, parts)
        else:
            self.review.accept_all(view, is_meant)
        self.revision += 1

    def forget_accepted(self) -> None:
        """Let everything that was accepted in the session show again."""
        self._ledger.forget_accepted(self.session)
        self.revision += 1

    def _bring_again(self, asked: UndoSelector) -> CommandAnswered:
        self._refuse_unknown(asked)
        calls = asked.to_redo(self._calls())
        undo = self._undoing.undo_of(self.session, calls)
        if undo is not None and not self._has_talk(undo.id):
            ended = self._redo(undo, asked.done(calls))
        else:
            rest = {"done": asked.done(calls)}
            ended = self._do(lambda: self._undoing.bring_again(self.session, calls, rest))
        return self._redone(ended, asked.title_again(calls))

    def _has_talk(self, undo: int) -> bool:
        """Return whether the conversation went back with that undo, and so must come with it."""
        return self._talk is not None and self._talk.history.was_rewound(undo)

    def _refuse_unknown(self, asked: UndoSelector) -> None:
        """Raise `UserError` when *asked* means a turn that never was."""
        if asked.what == "turn":
            self._refuse_turn(asked.number)

    def _refuse_turn(self, turn: int) -> None:
        last = self._talk.history.turn if self._talk is not None else turn
        if turn > last:
            raise UserError(
                phrase("There is no turn {turn}; the last one is {last}.", turn=turn, last=last)
                if last
                else phrase("There is no turn {turn}: nothing was asked yet.", turn=turn)
            )

    def _tell(self, line: str) -> None:
        """Let the model know with its next request; what it does not know yet stays."""
        told = self._talk.history.told.get(_SECTION) if self._talk is not None else None
        unknown = self._taken_back.split("\n") if self._taken_back not in ("", told) else []
        unknown = [known for known in unknown if known != line]
        self._taken_back = "\n".join([*unknown, line][-_MOST_LINES:])
        self.revision += 1

    def _asked_for(self, rest: str) -> tuple[int, str]:
        """Return the turn and "files", "talk" or "" for both. Raises `UserError`."""
        words = rest.split()
        what = words.pop() if words and words[-1] in ("files", "talk") else ""
        numbers = list(map(read_number, words))
        if len(numbers) > 1 or None in numbers:
            raise UserError(phrase("Say the number of a turn: /rewind 3."))
        turns = {call.turn for call in self._calls()}
        if self._talk is not None:
            turns = set(self._talk.history.turns) | (turns if what == "files" else set())
        turn = numbers[0] or 0 if numbers else max(turns, default=0)
        if self._talk is not None and turn not in turns:
            raise UserError(phrase("There is no turn {turn} to go back to.", turn=turn))
        return turn, what

    def _file_diff(self, before: int, after: int, path: str) -> Card:
        for change in self._checkpoints.diff(before, after):
            if path in (change.path, change.new_path):
                return diff_card(self._checkpoints, before, after, change)
        raise UserError(phrase("{path} has not changed since then.", path=visible(path)))


def _rewound_title(turn: int, what: str) -> Phrase:
    match what:
        case "files":
            return phrase("The files are as before turn {turn}; /redo takes that back", turn=turn)
        case "talk":
            return phrase(
                "The conversation is as before turn {turn}; /redo takes that back", turn=turn
            )
        case _:
            return phrase(
                "Files and conversation are as before turn {turn}; /redo takes that back", turn=turn
            )


def _words(rest: str) -> str:
    return " ".join(rest.split())


def _words_of(operation: UndoOperation) -> str:
    """Return what the person typed behind `/rewind` for *operation*."""
    return _words(f"{operation.rest['turn']} {operation.rest['what']}")


_UNDO_FINISHED = phrase("The undo that was cut short is done to the end; /redo takes it back")
_REDO_FINISHED = phrase("The redo that was cut short is done to the end")
_HERE = phrase("in this session")
_SECTION = "taken back"
_MOST_LINES = 12
_MOST_NAMED = 8  # paths in one sentence
