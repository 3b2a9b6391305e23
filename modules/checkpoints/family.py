"""Undo for people: what each call did to the folder, and the commands that take it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from core.cards import Card, Change, TextCard
from core.events import CommandAnswered
from core.family import Family, Section, Talk, command
from core.history import REWOUND
from core.messages import Shift
from core.tools import ToolError
from modules.checkpoints.asked import Asked
from modules.checkpoints.checkpoints import Checkpoints, Undone
from modules.checkpoints.ledger import CallRecord, Snapshot
from modules.checkpoints.plan import Left
from modules.checkpoints.review import Part, Review, View
from modules.checkpoints.show import (
    calls_card,
    changes_card,
    diff_card,
    redone_card,
    undone_card,
)
from modules.checkpoints.telling import (
    told_again,
    told_part,
    told_redo,
    told_rewind,
    told_undo,
)
from modules.checkpoints.undoing import Undoing
from modules.files.writable import LEFT_BEHIND
from modules.project import Project
from utils.clean import visible
from utils.phrases import Phrase, Problem, Text, phrase
from utils.text import read_number, size_in_words


class UndoFamily(Family):
    """Holds the folder before and after every call that may change it.

    What the calls did is kept by session in the store of *checkpoints*, and so outlives us. When
    a checkpoint cannot be taken `before` raises `Problem`: the call should not run then.
    """

    def __init__(self, project: Project, checkpoints: Checkpoints) -> None:
        self._project = project
        self._checkpoints = checkpoints
        self._ledger = checkpoints.ledger
        self._undoing = Undoing(checkpoints)
        self.review = Review(checkpoints)
        self.revision = 0
        """Rises whenever other changes may be seen, or can be taken back or brought again."""
        self._running: set[str] = set()
        self._is_settled = False
        self._is_tidy = False
        self._not_held: tuple[tuple[str, str], ...] = ()
        self._warnings: list[Phrase] = []
        self._talk: Talk | None = None
        self._taken_back = ""
        self.session = ""

    def meet(self, talk: Talk) -> None:
        self._talk = talk

    def enter(self, session: str) -> None:
        self.session = session
        self._is_settled = False
        self.revision += 1

    def forked(self, session: str, copy: str, turn: int) -> None:
        self._settle()
        self._ledger.copy_calls(session, copy, turn)

    def standing(self) -> str:
        return self._checkpoints.contents()

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._taken_back)]

    def state(self) -> dict[str, Any]:
        return {"taken_back": self._taken_back}

    def restore(self, state: dict[str, Any]) -> None:
        self._taken_back = state.get("taken_back", "")

    def close(self) -> None:
        self._checkpoints.close()

    def rest(self) -> None:
        self._checkpoints.work.end()
        if not self._is_tidy:
            self._is_tidy = True
            self._checkpoints.tidy()

    def before(self, call_id: str, turn: int) -> None:
        self._checkpoints.work.begin(self.session)
        self._settle()
        snapshot = self._checkpoints.take()
        self._warn_of(snapshot)
        self._ledger.begin_call(self.session, turn, call_id, snapshot.id)
        self._running.add(call_id)

    def after(self, call_id: str, turn: int) -> None:  # noqa: ARG002 - the turn was told before
        if call_id not in self._running:
            return
        self._running.remove(call_id)
        self._is_settled = False  # until the end of the call is written down
        snapshot = self._checkpoints.take()
        self._warn_of(snapshot)
        if call := self._ledger.call(self.session, call_id):
            self._end(call, snapshot)
        self._is_settled = True
        self.revision += 1

    def changes_of(self, call_id: str) -> Sequence[Change]:
        """Return what the call did to the folder, by whatever means; empty while it runs."""
        call = self._ledger.call(self.session, call_id)
        if call is None or call.after is None:
            return ()
        return self._checkpoints.diff(call.before, call.after)

    def take_back(self, call_id: str) -> bool:
        """Undo the call; return whether all of it could be."""
        call = self._ledger.call(self.session, call_id)
        if call is None or call.after is None:
            return False
        _, results = self._undoing.undo(self.session, [call])
        self.revision += 1
        return not any(result.left or result.conflicts for result in results)

    def warnings(self) -> list[Phrase]:
        """Return what the person should see and was not told yet."""
        told, self._warnings = [*self._checkpoints.warnings(), *self._warnings], []
        return told

    def concern(self, tool: str, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool not in ("delete_file", "delete_folder"):
            return None
        try:
            path = self._project.normal(str(arguments.get("path", "")))
        except ToolError:
            return None  # the tool itself will say what is wrong with the path
        if self._checkpoints.holds(path):
            return None
        return phrase("No checkpoint can hold all of {path}: it could not be undone.", path=path)

    def holds(self, path: str) -> bool:
        """Return whether deleting *path* (relative to the project) could be undone."""
        return self._checkpoints.holds(path)

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        size = size_in_words(self._checkpoints.size)
        if self._not_held:
            held = phrase("{size} kept; not held: {count}", size=size, count=len(self._not_held))
        else:
            held = phrase("{size} kept; every change can be undone", size=size)
        return [(phrase("Checkpoints"), held)]

    @command("/undo [turn|call] [N]", "Take back what a turn or call did to files; /undo list.")
    def undo(self, rest: str) -> Card:
        self._settle()
        if rest == "list":
            return calls_card(self._checkpoints, [c for c in self._calls() if c.can_be_seen])
        asked = Asked.read("/undo", rest)
        with self._checkpoints.work.alone(self.session):
            calls = asked.to_undo(self._calls())
            number, results = self._undoing.undo(self.session, calls)
        self._tell(told_undo(number, asked.done(calls), results))
        return undone_card(results, asked.title(calls))

    @command("/redo [turn|call] [N]", "Take back the last /undo or /rewind, or bring one again.")
    def redo(self, rest: str) -> CommandAnswered:
        self._settle()
        with self._checkpoints.work.alone(self.session):
            if rest:
                return CommandAnswered("/redo", self._bring_again(Asked.read("/redo", rest)))
            last = self._ledger.last_undo(self.session)
            if last is None:
                raise Problem(phrase("There is no undo to take back."))
            results = self._undoing.redo(last)
        is_talk_back = self._talk is not None and self._talk.give_back(last.id)
        self._tell(told_redo(last.id, results))
        card = redone_card(results, phrase("Took back the undo"))
        return CommandAnswered("/redo", card, effect="session" if is_talk_back else "")

    def _bring_again(self, asked: Asked) -> Card:
        calls = asked.to_redo(self._calls())
        undo = self._undoing.undo_of(self.session, calls)
        if undo is not None and not self._has_talk(undo.id):
            results = self._undoing.redo(undo)
        else:
            results = self._undoing.bring_again(calls)
        self._tell(told_again(asked.done(calls), results))
        return redone_card(results, asked.title_again(calls))

    def _has_talk(self, undo: int) -> bool:
        """Return whether the conversation went back with that undo, and so must come with it."""
        records = self._talk.history.log if self._talk is not None else ()
        shifts = (r for _, r in records if isinstance(r, Shift) and r.name == REWOUND)
        return any(shift.value["key"] == undo for shift in shifts)

    # --- the review at the page ------------------------------------------------------------------

    def view(self, turn: int = 0, seen: int | None = None) -> View | None:
        """Return what is to be reviewed of all since before *turn*; None when there is nothing.

        It ends at the snapshot *seen*, without one at the folder as it is; while a call runs, as
        it was before that. Raises `Problem`.
        """
        began, since = self._state_before(0), self._state_before(turn)
        if began is None or since is None:
            return None
        if seen is None:
            look = self._checkpoints.newest if self._running else self._checkpoints.take
            seen = look().id
        return self.review.view(self.session, began, since, seen)

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

    @property
    def can_redo(self) -> bool:
        """Whether there is an undo or a rewind to take back."""
        return self._ledger.last_undo(self.session) is not None

    def calls(self) -> list[CallRecord]:
        """Return the calls of the session that changed files and are over, oldest first."""
        return [call for call in self._calls() if call.can_be_seen]

    def _tell(self, line: str) -> None:
        """Let the model know with its next request; what it does not know yet stays."""
        told = self._talk.history.told.get(_SECTION) if self._talk is not None else None
        unknown = self._taken_back.split("\n") if self._taken_back not in ("", told) else []
        self._taken_back = "\n".join([*unknown, line][-_MOST_LINES:])
        self.revision += 1

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
        results = [result] if result else []
        self._tell(told_rewind(number, what, results))
        effect: Literal["", "session"] = "" if what == "files" else "session"
        return CommandAnswered("/rewind", undone_card(results, title), effect=effect)

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

    def twin(self, turn: int, target: Path) -> Sequence[Left]:
        """Make *target* a copy of the project as it was at the end of *turn*.

        Returns what could not be copied. Raises `Problem`.
        """
        self._settle()
        later = [call for call in self._calls() if call.turn > turn and not call.is_undone]
        snapshot = later[0].before if later else self._checkpoints.take().id
        return self._checkpoints.twin(snapshot, target)

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

    def _file_diff(self, before: int, after: int, path: str) -> Card:
        for change in self._checkpoints.diff(before, after):
            if path in (change.path, change.new_path):
                return diff_card(self._checkpoints, before, after, change)
        raise Problem(phrase("{path} has not changed since then.", path=visible(path)))

    def _state_before(self, turn: int) -> int | None:
        """Return the snapshot before the first call since *turn*, better one not taken back."""
        calls = [call for call in self._calls() if call.turn >= turn]
        standing = [call for call in calls if not call.is_undone]
        return next((call.before for call in standing or calls), None)

    def _calls(self) -> list[CallRecord]:
        return self._ledger.calls(self.session)

    def _end(self, call: CallRecord, after: Snapshot) -> None:
        if call.before == after.id:
            self._ledger.drop_call(call.id)
        else:
            changes = self._checkpoints.diff(call.before, after.id)
            self._ledger.end_call(call.id, after.id, len(changes))

    def _settle(self) -> None:
        """Finish what a kill cut short: an undo half done, calls that never ended."""
        if self._is_settled:
            return
        self._is_settled = True
        if self._checkpoints.finish() is not None:
            self._warnings.append(phrase("An undo that was cut short has been finished."))
        lost = [c for c in self._calls() if c.after is None and c.call_id not in self._running]
        if lost:
            snapshot = self._without_leftovers(lost[0].before)
            for call in lost:
                self._end(call, snapshot)

    def _without_leftovers(self, before: int) -> Snapshot:
        """Remove temporary files of ours that came since *before*; return how things are then."""
        snapshot = self._checkpoints.take()
        changes = self._checkpoints.diff(before, snapshot.id)
        ours = [c.path for c in changes if c.kind == "created" and LEFT_BEHIND.fullmatch(c.path)]
        for path in ours:
            with suppress(ToolError, Problem):
                self._project.delete_file(path)
        return self._checkpoints.take() if ours else snapshot

    def _warn_of(self, snapshot: Snapshot) -> None:
        """Say once what cannot be held, and again when that becomes more."""
        new = [pair for pair in snapshot.refused if pair not in self._not_held]
        self._not_held = snapshot.refused
        if new:
            others = len(snapshot.refused) - 1
            self._warnings.append(
                phrase(
                    "Not held by checkpoints (too large, unreadable or no room), so it could not "
                    "be brought back: {path}{more}",
                    path=visible(new[0][0]),
                    more=phrase(" and {n} more", n=others) if others else "",
                )
            )


_HERE = phrase("in this session")
_SECTION = "taken back"
_MOST_LINES = 12
