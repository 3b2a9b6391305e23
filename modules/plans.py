"""Plans made in plan mode: one of each session, as a file that the person may read and change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from core.cards import Card, TextCard
from core.feature import Feature, PromptCommand, SessionHandle, command
from core.hooks import BindsToSession, FollowsForks, KeepsPlans, OffersCommands
from utils.i18n import UserError, phrase
from utils.system.atomic_write import write_atomically

_HEADING = r"(?im)^#{1,4}[^\n]*?(?:\bplan\b|计划|方案|规划)"
_STEP = r"(?m)^\s*\d+[.)、]\s"
_MIN_STEPS = 2
_QUESTION_MARKS = ("?", "\uff1f")
_DO = "The person says yes to your plan, and plan mode is over: do all of it now."
_DO_CHANGED = (
    "The person says yes to your plan, which they changed, and plan mode is over: do all of it "
    "now, as it stands here.\n\n{plan}"
)


class Plans(Feature, BindsToSession, KeepsPlans, OffersCommands, FollowsForks):
    """Keeps the plan of the session in *folder*."""

    _session: SessionHandle

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._told = ""
        """The plan that the model has just given."""

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    @command("/plan", "Show the plan of this session.", is_concurrent=True, belongs_to_session=True)
    def show(self, _: str) -> Card:
        return TextCard(phrase("Plan: {path}", path=str(self._path)), self._read())

    def prompt_commands(self) -> Mapping[str, PromptCommand]:
        help_text = phrase("Leave plan mode and do the plan.")
        return {
            "/do-plan": PromptCommand(
                "/do-plan", help_text, "", "", lambda _: (), lambda *_: self._begin()
            )
        }

    def keep_plan(self, answer: str) -> str:
        plan = _plan_in(answer, is_first=not self._path.is_file())
        if not plan:
            return ""
        plan = self._session.redact(f"{plan}\n")
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_atomically(self._path, plan.encode("utf-8", "replace"))
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(
                phrase("Cannot write {path}: {why}.", path=str(self._path), why=why)
            ) from None
        self._told = plan
        return str(self._path)

    def approved_plan(self) -> str:
        plan = self._read()
        return _DO if plan == self._told else _DO_CHANGED.format(plan=plan.strip())

    def on_fork(self, session: str, new_session: str, turn: int) -> None:  # noqa: ARG002
        """Let the new session have the plan as well."""
        if (plan := _plan_file(self._folder, session)).is_file():
            write_atomically(_plan_file(self._folder, new_session), plan.read_bytes())

    @property
    def _path(self) -> Path:
        return _plan_file(self._folder, self._session.session or "-")

    def _begin(self) -> str:
        plan = self._read()
        self._session.leave_plan_mode()
        return f"Do this plan, all of it.\n\n{plan.strip()}"

    def _read(self) -> str:
        """Return the plan as its file has it now. Raises `UserError`."""
        try:
            return self._session.redact(self._path.read_text("utf-8", "replace"))
        except FileNotFoundError:
            raise UserError(
                phrase("This session has no plan yet. Make one in plan mode: /approve plan")
            ) from None
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(
                phrase("Cannot read {path}: {why}.", path=str(self._path), why=why)
            ) from None


def forget_plan(folder: Path, session: str) -> None:
    """Delete the plan of *session* in *folder*, if there is one. Raises `UserError`."""
    path = _plan_file(folder, session)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(phrase("Cannot delete {path}: {why}.", path=str(path), why=why)) from None


def _plan_file(folder: Path, session: str) -> Path:
    return folder / f"{session}.md"


def _plan_in(answer: str, *, is_first: bool) -> str:
    """Return the plan that *answer* holds, "" for none.

    It begins with a heading that says so. Where it *is_first*, steps with numbers are one without.
    """
    if found := re.search(_HEADING, answer):
        return answer[found.start() :].strip()
    is_question = answer.rstrip().endswith(_QUESTION_MARKS)
    has_steps = len(re.findall(_STEP, answer)) >= _MIN_STEPS
    return answer.strip() if is_first and has_steps and not is_question else ""
