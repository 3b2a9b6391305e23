"""`/skill save NAME`: what a session proved to work becomes a skill of the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Protocol

from core.cards import Card, Change, DiffCard, TextCard
from core.conversation.history import usage_record
from core.conversation.messages import ToolCall
from core.conversation.result_texts import REFUSED_PREFIX
from core.events import PersonQuestion, Reply
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession
from core.tools import Outcome, Risk, RunningTool, tool
from modules.files.project import Project
from modules.skills.files import FILE, PROJECT_FOLDERS, is_skill_name
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.text.line_diff import text_diff
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.skills.draft import Draft, Drafter
    from modules.skills.trial import Failure, Trial
    from utils.llm.completion import Usage

SAVE = "save"
_USAGE = phrase("Usage: /skill save NAME. A name has letters, digits, “-”, “_” and dots.")
_NO_LINES = "@@ -0,0 +0,0 @@"
_MAX_ASKED = 3
"""Times that a question is put again; a program that answers might never learn."""
_KEEP, _KEEP_ANYWAY, _DISCARD = phrase("Keep"), phrase("Keep anyway"), phrase("Discard")


class Work(Protocol):
    """Knows what the session did to files."""

    def session_changes(self) -> Sequence[Change]: ...
    def refuse_whole_disk(self) -> None: ...


class SavesSkills(Feature, BindsToSession):
    """Drafts a skill from the session, tries it in a copy of *project*, and asks about it.

    *make_trial* makes what tries it; *known* are the names that skills have; *refusal* says why
    nothing more may be spent on the model.
    """

    _session: SessionHandle

    def __init__(
        self,
        project: Project,
        work: Work,
        *,
        make_trial: Callable[[], Trial],
        known: Callable[[], Sequence[str]],
        refusal: Callable[[], Phrase | None],
        stop: Stop,
    ) -> None:
        self._project = project
        self._work = work
        self._make_trial = make_trial
        self._known = known
        self._refusal = refusal
        self._stop = stop

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    @tool(
        Risk.WRITE,
        phrase("Save a skill from what worked in this session."),
        verb=phrase("Save skill"),
        icon="book",
        subject="{name}",
        is_listed=False,
    )
    def save_skill(self, name: str) -> RunningTool:
        """Make a skill of what this session proved to work; the person decides whether it stays."""
        from modules.skills.carried import scripts_of
        from modules.skills.session_proof import proof_of

        self._check(name)
        try:
            changes = self._work.session_changes()
        except UserError:  # nothing is kept of the files, or no longer
            changes = []
        proof = proof_of(self._session.history.records, changes)
        if not (proof.commands or proof.programs):
            raise UserError(
                phrase(
                    "Nothing in this session has been shown to work yet: no command succeeded. Run "
                    "what the skill should do first."
                )  # fmt: skip
            )
        if refusal := self._refusal():
            raise UserError(refusal)
        yield "Drafting the skill.\n"
        draft = self._drafter().draft(name, proof)
        folder = f"{PROJECT_FOLDERS[0]}/{name}"
        carried = scripts_of(self._project, changes, draft.programs, self._session.redact)
        draft = draft.carrying(carried, folder)
        yield "Trying it in a copy of the project.\n"
        failure = yield from self._make_trial().run(
            self._session.history.turn, draft.programs, _files(folder, draft)
        )
        reply = yield from _asked(_question(name, folder, draft, failure))
        return self._decided(name, folder, draft, failure, reply)

    def _check(self, name: str) -> None:
        if refusal := name_refusal(name, self._project, self._known()):
            raise UserError(refusal)
        self._work.refuse_whole_disk()

    def _drafter(self) -> Drafter:
        from modules.skills.draft import Drafter

        def spent(usage: Usage) -> None:
            self._session.record(usage_record(usage))

        return Drafter(self._session.model, self._session.redact, spent, self._stop)

    def _decided(
        self, name: str, folder: str, draft: Draft, failure: Failure | None, reply: Reply | None
    ) -> Outcome:
        """Keep the skill, if that is what the person said."""
        if reply is None:
            why = phrase("No one can be asked, so the skill was not kept.")
            return Outcome(f"{REFUSED_PREFIX} {why}", TextCard(phrase("Refused"), why), ok=False,
                           error_code="refused")  # fmt: skip
        wanted = _KEEP_ANYWAY if failure else _KEEP
        if not reply.yes or reply.text.strip() != str(wanted):
            said = phrase("The skill {name} was not kept.", name=name)
            return Outcome(str(said), TextCard(phrase("Save skill"), said))
        files = _files(folder, draft)
        for path, content in files.items():
            data = content.encode("utf-8", "replace")
            self._project.write_bytes(path, data, make_folders=True, expected=None)
        note = phrase("Kept. It is on from the next task on; /undo removes it.")
        text = f"The skill {name} was kept in {folder}; the person said so."
        if failure:
            text += " Its trial had failed."
        changes = tuple(Change("created", path) for path in files)
        return Outcome(text, _card(folder, draft, note), changes=changes)


def name_to_save(argument: str) -> str | None:
    """Return the name of the skill that `/skill` with *argument* is to save, None for no saving."""
    word, _, name = argument.strip().partition(" ")
    return name.strip() if word == SAVE else None


def name_refusal(name: str, project: Project, known: Sequence[str]) -> Phrase | None:
    """Return why no skill *name* can be saved in *project*, beside those *known*."""
    if not is_skill_name(name):
        return _USAGE
    if name in known or project.stat(f"{PROJECT_FOLDERS[0]}/{name}") is not None:
        return phrase(
            "There is already a skill {name}. Choose another name, or delete that one first.",
            name=name,
        )
    return None


def save_calls(name: str) -> Sequence[ToolCall]:
    """Return the call that saves the skill *name*."""
    arguments = json.dumps({"name": name}, ensure_ascii=False)
    return [ToolCall("save-skill", SavesSkills.save_skill.__name__, arguments)]


def _files(folder: str, draft: Draft) -> dict[str, str]:
    """Return the texts of the files of the skill in *folder*, by their paths in the project."""
    return {
        f"{folder}/{FILE}": draft.text,
        **{f"{folder}/{path}": text for path, text in draft.scripts.items()},
    }


def _asked(question: PersonQuestion) -> Generator[PersonQuestion, Reply | None, Reply | None]:
    """Put *question*, and again where the answer is in other words: they would lose the draft."""
    reply = yield question
    again = phrase("This question takes one of its choices. {question}", question=question.text)
    for _ in range(_MAX_ASKED):
        if not (reply and reply.yes and reply.text.strip() not in map(str, question.choices)):
            break
        reply = yield PersonQuestion(again, question.choices, question.card)
    return reply


def _question(name: str, folder: str, draft: Draft, failure: Failure | None) -> PersonQuestion:
    secret = ", ".join(map(visible, draft.secret))
    card = _card(
        folder,
        draft,
        phrase("Not taken along, for it holds a secret: {paths}", paths=secret) if secret else "",
    )
    if failure is None:
        tried = len(draft.programs)
        text = (
            phrase("Its command ran successfully in a copy of the project. Keep the skill {name}?",
                   name=name)
            if tried == 1
            else phrase("All {n:,} parts ran successfully in a copy of the project. Keep the "
                        "skill {name}?", n=tried, name=name)
        )  # fmt: skip
        return PersonQuestion(text, (_KEEP, _DISCARD), card)
    ended: Text = (
        phrase("exit code {code}", code=failure.exit_code)
        if failure.exit_code is not None
        else failure.why
    )
    text = phrase(
        "The trial of the skill {name} failed in a copy of the project: {program} ({why}).",
        name=name,
        program=visible(failure.program.split("\n")[0]),
        why=ended,
    )
    return PersonQuestion(text, (_DISCARD, _KEEP_ANYWAY), card)


def _card(folder: str, draft: Draft, note: Text) -> Card:
    """Return the files of the skill as a diff; each that is not the first has its path above it."""
    (path, text), *others = _files(folder, draft).items()
    diffs = [text_diff("", text), *(text_diff("", text) for _, text in others)]
    shown = [diffs[0].diff]
    for (name, _), diff in zip(others, diffs[1:], strict=True):
        head, _, rest = (diff.diff or _NO_LINES).partition("\n")
        shown += [f"{head} {visible(name)}", *([rest] if rest else [])]
    added = sum(diff.added for diff in diffs)
    return DiffCard(path, "\n".join(shown), added, 0, note)
