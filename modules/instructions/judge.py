"""Judging files of instructions: which are told, which asked about, what an answer means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from core.feature import Answer
from modules.instructions.consent import Consents
from modules.instructions.files import InstructionFile
from utils.frozen import frozen
from utils.i18n import Phrase, Text, phrase

Verdict = Literal["told", "refused", "unanswered", "ask", "written", "unreadable"]


@frozen
class Judged:
    """A file of instructions, what becomes of it, and why where that is to be said."""

    file: InstructionFile
    verdict: Verdict
    why: Text | None = None


class Judge:
    """Judges the files of the project *root* by what *consents* keeps; *running* names programs
    in the background, which may write them at any moment."""

    def __init__(self, root: Path, consents: Consents, running: Callable[[], Text]) -> None:
        self._root = root
        self._consents = consents
        self._running = running
        self._had_programs = False
        self._may_be_programs = False
        self._reasons: dict[tuple[str, str], Phrase | None] = {}
        self._unanswered: set[str] = set()
        self._allowed: set[str] = set()
        self._written_now: set[str] = set()

    def begin_turn(self) -> None:
        """Be told that a turn begins: what calls wrote before may be asked about."""
        self._written_now.clear()

    def begin(self) -> None:
        """Be told that the files are about to be judged."""
        has_programs = bool(self._running())
        self._may_be_programs = has_programs or self._had_programs
        self._had_programs = has_programs

    def judged(self, file: InstructionFile) -> Judged:
        """Return *file* with its verdict; what nothing speaks against is confirmed by that."""
        if file.problem:
            return Judged(file, "unreadable", file.problem)
        answer = self._consents.get(file.digest)
        if answer == "confirmed" or file.digest in self._allowed:
            return Judged(file, "told")
        if answer == "refused":
            return Judged(file, "refused", phrase("declined by you; /init follow approves them"))
        why = phrase("It was written by a call of the model.")
        reason = why if answer == "written" else self._reason(file)
        if reason is None:
            self._consents.set(file.digest, "confirmed")
            return Judged(file, "told")
        return self._unconfirmed(file, reason)

    def _unconfirmed(self, file: InstructionFile, reason: Phrase) -> Judged:
        if file.digest in self._written_now:
            return Judged(file, "written", phrase("you will be asked about them"))
        if file.digest in self._unanswered:
            return Judged(file, "unanswered", phrase("not approved yet"))
        return Judged(file, "ask", reason)

    def _reason(self, file: InstructionFile) -> Phrase | None:
        key = (file.path, file.digest)
        if key not in self._reasons:
            from modules.instructions.origin import foreign_reason  # it loads git

            self._reasons[key] = foreign_reason(self._root, file)
        if self._may_be_programs and not self._reasons[key]:
            return phrase("It may have been written by a background program.")
        return self._reasons[key]

    def take_answer(self, file: InstructionFile, answer: Answer) -> Phrase:
        """Let *answer* count for the content of *file*; return what that means."""
        match answer:
            case "yes":
                self._consents.set(file.digest, "confirmed")
                return phrase("The model now follows them.")
            case "no":
                self._consents.set(file.digest, "refused")
                return phrase("The model does not follow them. /init follow approves them.")
            case "allowed":
                self._allowed.add(file.digest)
                return phrase("The model follows them in this session.")
            case "nobody":
                self._unanswered.add(file.digest)
                return phrase(
                    "The instructions are not followed: no one was there to approve them. "
                    "Approve them once in a session, or use --approve all for this run."
                )

    def note_written(self, files: Iterable[InstructionFile]) -> None:
        """Take note that a call has written *files*, but for contents that the person knows."""
        contents = {file.digest for file in files if not file.problem}
        unknown = {digest for digest in contents if self._consents.get(digest) is None}
        if unknown:
            self._consents.set_all(unknown, "written")
            self._written_now |= unknown
