"""Undo for people: the commands that take back what calls did, and the review at the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from core.cards import Card, TextCard
from core.events import CommandAnswered
from core.family import Section, Talk, command
from core.history import REWOUND
from core.messages import Shift
from modules.beside import Beside
from modules.checkpoints.asked import Asked
from modules.checkpoints.checkpoints import Checkpoints, Undone, changes_of
from modules.checkpoints.recording import Recording
from modules.checkpoints.show import (
    calls_card,
    changes_card,
    diff_card,
    redone_card,
    title_beside,
    undone_card,
)
from modules.checkpoints.telling import (
    told_again,
    told_part,
    told_redo,
    told_rewind,
    told_undo,
)
from modules.checkpoints.undoing import was_refused
from modules.project import Project
from utils.clean import visible
from utils.phrases import Phrase, Problem, phrase
from utils.text import read_number

if TYPE_CHECKING:
    from modules.checkpoints.review import Part, Review, View


class UndoFamily(Recording):
    """The undo of a session: by turn and call, back to a turn, and by parts at the page.

    What is taken back is told to the model with its next request.
    """

    def __init__(
        self, project: Project, checkpoints: Checkpoints, beside: Beside | None = None
    ) -> None:
        super().__init__(project, checkpoints)
        self._beside = beside or Beside({})
        self._talk: Talk | None = None
        self._taken_back = ""

    @cached_property
    def review(self) -> Review:
        """What changed in the files, part by part; loaded when the page first asks."""
        from modules.checkpoints.review import Review

        return Review(self._checkpoints)

    def meet(self, talk: Talk) -> None:
        self._talk = talk
        self._beside.meet(talk)

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._taken_back)]

    def state(self) -> dict[str, Any]:
        return {"taken_back": self._taken_back}

    def restore(self, state: dict[str, Any]) -> None:
        self._taken_back = state.get("taken_back", "")

    @command("/undo [turn|call] [N]", "Take back what a turn or call did; /undo list.")
    def undo(self, rest: str) -> CommandAnswered:
        self._settle()
        if rest == "list":
            seen = [call for call in self._calls() if call.can_be_seen]
            return CommandAnswered("/undo", calls_card(self._checkpoints, seen))
        asked = Asked.read("/undo", rest)
        with self._checkpoints.work.alone(self.session):
            known = self._calls()
            files = [(c.turn, c.call_id) for c in known if c.can_be_seen and not c.is_undone]
            others, has_files = self._beside.meant(asked.what, asked.number, files)
            calls = asked.to_undo(known) if has_files else []
            number, results = self._undoing.undo(self.session, calls)
            said = self._beside.take_back(others, number)
        turn = (calls or others)[-1].turn
        done = asked.done(calls) if calls else f"what turn {turn} did beside files"
        self._tell(told_undo(number, done, results, said))
        title = asked.title(calls) if calls else title_beside(asked.what, turn)
        if any(map(was_refused, results)):
            title = phrase("Not all of it could be taken back; /undo tries the rest again")
        card = undone_card(results, title, said)
        return CommandAnswered("/undo", card, changes=changes_of(results))

    @command("/redo [turn|call] [N]", "Take back the last /undo or /rewind, or bring one again.")
    def redo(self, rest: str) -> CommandAnswered:
        self._settle()
        with self._checkpoints.work.alone(self.session):
            if rest:
                return self._bring_again(Asked.read("/redo", rest))
            last = self._ledger.last_undo(self.session)
            if last is None:
                raise Problem(phrase("There is no undo to take back."))
            results = self._undoing.redo(last)
            said = self._beside.bring_again(last.id)
        is_talk_back = self._talk is not None and self._talk.give_back(last.id)
        if is_talk_back:
            said = [*said, phrase("the conversation")]
        self._tell(told_redo(last.id, results, said))
        card = redone_card(results, phrase("Took back the undo"), said)
        effect: Literal["", "session"] = "session" if is_talk_back else ""
        return CommandAnswered("/redo", card, effect=effect, changes=changes_of(results))

    @command("/diff [TURN] [PATH]", "Show what changed in the files since before a turn.")
    def diff(self, rest: str) -> Card:
        first, _, path = rest.partition(" ")
        turn = read_number(first)
        if turn is None:
            path = rest
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
    )
    def rewind(self, rest: str) -> CommandAnswered:
        self._settle()
        turn, what = self._asked_for(rest)
        result = None
        if what != "talk":
            with self._checkpoints.work.alone(self.session):
                result = self.rewind_files(turn)
        if what == "files":
            if result is None:
                raise Problem(phrase("No call has changed anything since then."))
            title = phrase("The files are as before turn {turn}; /redo takes that back", turn=turn)
        elif what == "talk":
            title = phrase(
                "The conversation is as before turn {turn}; /redo takes that back", turn=turn
            )
        else:
            title = phrase(
                "Files and conversation are as before turn {turn}; /redo takes that back", turn=turn
            )
        number = self._newest_undo() if result else self._ledger.add_undo(self.session, [], [])
        if self._talk is not None and what != "files":
            self._talk.rewind(turn, number)
        self._tell(told_rewind(number, what, [result] if result else []))
        effect: Literal["", "session"] = "" if what == "files" else "session"
        card: Card = TextCard(title)  # where files were not looked at, there is no more to say
        if result:
            card = undone_card([result], title, self._went_along(turn, result))
        changes = changes_of([result] if result else [])
        return CommandAnswered("/rewind", card, effect=effect, changes=changes)

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

    def view(self, turn: int = 0, seen: int | None = None) -> View | None:
        """Return what is to be reviewed of all since before *turn*; None when there is nothing.

        It ends at the snapshot *seen*; without one, at the folder as it is, or in the midst of a
        turn, as its last call left it. Raises `Problem`.
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

    def take_back_part(self, view: View, part: Part) -> Card:
        """Take one hunk or file of *view* out of the folder again. Raises `Problem`."""
        self._settle()
        with self._checkpoints.work.alone(self.session):
            result = self.review.take_back(view, part)
            number = self._undoing.note(self.session, result)
        self._tell(told_part(number, part.path, is_whole=part.hunk < 0, result=result))
        name = visible(part.path)
        if part.hunk < 0:
            return undone_card(
                [result],
                phrase("Took back what changed in {path}; /redo brings it again", path=name),
            )
        return undone_card(
            [result], phrase("Took back a part of {path}; /redo brings it again", path=name)
        )

    def accept(self, view: View, parts: Sequence[Part]) -> None:
        """Show *parts* of *view* no longer, all of it where there are none. Raises `Problem`."""
        if parts:
            self.review.accept(view, parts)
        else:
            self.review.accept_all(view)
        self.revision += 1

    def forget_accepted(self) -> None:
        """Let everything that was accepted in the session show again."""
        self._ledger.forget_accepted(self.session)
        self.revision += 1

    def rewind_files(self, turn: int) -> Undone | None:
        """Bring the files back to before *turn*, the person's changes since included.

        Returns None when no call has run since, and so nothing is known of that moment.
        """
        self._settle()
        before = self._state_before(turn)
        if before is None:
            return None
        result = self._checkpoints.rewind(before)
        calls = [call.id for call in self._calls() if call.turn >= turn and not call.is_undone]
        self._ledger.add_undo(self.session, calls, [(result.before, result.after)])
        return result

    def _bring_again(self, asked: Asked) -> CommandAnswered:
        calls = asked.to_redo(self._calls())
        undo = self._undoing.undo_of(self.session, calls)
        if undo is not None and not self._has_talk(undo.id):
            results = self._undoing.redo(undo)
            said = self._beside.bring_again(undo.id)
        else:
            results, said = self._undoing.bring_again(calls), []
        self._tell(told_again(asked.done(calls), results))
        card = redone_card(results, asked.title_again(calls), said)
        return CommandAnswered("/redo", card, changes=changes_of(results))

    def _has_talk(self, undo: int) -> bool:
        """Return whether the conversation went back with that undo, and so must come with it."""
        records = self._talk.history.log if self._talk is not None else ()
        shifts = (r for _, r in records if isinstance(r, Shift) and r.name == REWOUND)
        return any(shift.value["key"] == undo for shift in shifts)

    def _tell(self, line: str) -> None:
        """Let the model know with its next request; what it does not know yet stays."""
        told = self._talk.history.told.get(_SECTION) if self._talk is not None else None
        unknown = self._taken_back.split("\n") if self._taken_back not in ("", told) else []
        self._taken_back = "\n".join([*unknown, line][-_MOST_LINES:])
        self.revision += 1

    def _asked_for(self, rest: str) -> tuple[int, str]:
        """Return the turn and "files", "talk" or "" for both. Raises `Problem`."""
        words = rest.split()
        what = words.pop() if words and words[-1] in ("files", "talk") else ""
        numbers = list(map(read_number, words))
        if len(numbers) > 1 or None in numbers:
            raise Problem(phrase("Say the number of a turn: /rewind 3."))
        turns = {call.turn for call in self._calls()}
        if self._talk is not None:
            turns = set(self._talk.history.turns) | (turns if what == "files" else set())
        turn = numbers[0] or 0 if numbers else max(turns, default=0)
        if self._talk is not None and turn not in turns:
            raise Problem(phrase("There is no turn {turn} to go back to.", turn=turn))
        return turn, what

    def _newest_undo(self) -> int:
        newest = self._ledger.last_undo(self.session)
        return newest.id if newest else 0

    def _file_diff(self, before: int, after: int, path: str) -> Card:
        for change in self._checkpoints.diff(before, after):
            if path in (change.path, change.new_path):
                return diff_card(self._checkpoints, before, after, change)
        raise Problem(phrase("{path} has not changed since then.", path=visible(path)))


_HERE = phrase("in this session")
_SECTION = "taken back"
_MOST_LINES = 12
_MOST_NAMED = 8  # paths in one sentence
