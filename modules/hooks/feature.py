"""Hooks by moment: whose they are, whether they may run, and what comes of them."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cards import Card, Change, TableCard, TextCard
from core.conversation.result_texts import REFUSED_PREFIX
from core.feature import Answer, Feature, HookEvent, HookVerdict, Question, command, name_of
from core.hooks import AsksPerson, PreparesTurns, ProvidesStatus, ProvidesWarnings, RunsHooks
from core.tools import ToolError
from modules.files.project import Project
from modules.instructions.consent import AskOnce, Consents
from modules.terminal_ops import TerminalOps
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import clean, visible

if TYPE_CHECKING:
    from modules.hooks.files import Hook, HookFile
    from modules.hooks.run import HookAnswer

PROJECT_FILE = ".agents/hooks.json"


class Hooks(Feature, PreparesTurns, AsksPerson, ProvidesStatus, ProvidesWarnings, RunsHooks):
    """The hooks in the person's *own* file and in *project*, run by *terminal_ops*.

    Those of the project are asked about once by content; *consents* keeps the answer. Both files
    are looked at once a task: what a call writes there counts for the next.
    """

    def __init__(
        self, project: Project, own: Path, consents: Consents, terminal_ops: TerminalOps
    ) -> None:
        self._project = project
        self._own = own
        self._consent = AskOnce(consents)
        self._terminal_ops = terminal_ops
        self._files: Sequence[HookFile] | None = None
        self._told: set[str] = set()

    def on_turn_start(self) -> None:
        self._files = None

    # --- what there is ---------------------------------------------------------------------------

    def _found(self) -> Sequence[HookFile]:
        """Return the files there are, the person's first; read once a task."""
        if self._files is None:
            self._files = self._read()
        return self._files

    def _read(self) -> Sequence[HookFile]:
        """Return the files as they are now, which a task that runs does not know yet."""
        return [file for file in (self._own_file(), self._project_file()) if file]

    def _own_file(self) -> HookFile | None:
        try:
            with self._own.open("rb") as stream:
                from modules.hooks.files import MAX_BYTES, parsed  # for those who have hooks

                return parsed(str(self._own), stream.read(MAX_BYTES + 1), is_own=True)
        except FileNotFoundError:
            return None
        except OSError as error:
            return _unreadable(str(self._own), error.strerror or str(error), is_own=True)

    def _project_file(self) -> HookFile | None:
        try:
            status = self._project.stat(PROJECT_FILE)
            if status is None:
                return None
            if not stat.S_ISREG(status.st_mode):
                return _unreadable(PROJECT_FILE, phrase("it is not a regular file"))
            from modules.hooks.files import MAX_BYTES, parsed

            data = self._project.read_bytes(PROJECT_FILE, MAX_BYTES)
        except (ToolError, UserError) as error:
            return _unreadable(PROJECT_FILE, error.message)
        return parsed(PROJECT_FILE, data, is_own=False)

    def _may_run(self, file: HookFile) -> bool:
        return file.is_own or self._consent.is_allowed(file.digest)

    def _hooks(self, event: HookEvent, tool: str) -> Iterator[tuple[HookFile, Hook]]:
        for file in self._found():
            for hook in file.hooks if self._may_run(file) else ():
                if hook.event == event and hook.matches(tool):
                    yield file, hook

    # --- running ---------------------------------------------------------------------------------

    def has_hooks(self, event: HookEvent, tool: str = "") -> bool:
        return bool(self._found()) and any(True for _ in self._hooks(event, tool))

    def run_hooks(
        self,
        event: HookEvent,
        tool: str,
        arguments: Mapping[str, Any],
        result: str,
        *,
        is_read_only: bool,
    ) -> HookVerdict:
        from modules.hooks.run import run_hook

        given = {"event": event, "tool": tool, "arguments": arguments, "result": result}
        notes: list[str] = []
        problems: list[Phrase] = []
        changes: list[Change] = []
        denial, why = "", ""
        for file, hook in self._hooks(event, tool):
            if is_read_only and not file.is_own:
                continue
            answer = run_hook(hook, given, self._terminal_ops.run_quietly)
            changes += answer.changes
            if answer.problem:
                problems.append(_problem(hook, answer.problem))
            if answer.note:
                notes.append(_note(file, answer.note))
            if answer.denies:
                denial, why = _denial(event, file, answer), " ".join(answer.reason.split())[:300]
            if answer.denies or answer.is_over:
                break
        return HookVerdict(denial, why, tuple(notes), tuple(problems), tuple(changes))

    # --- what is asked ---------------------------------------------------------------------------

    def questions(self) -> Sequence[Question]:
        return [self._question(file) for file in self._found() if self._is_open(file)]

    def _is_open(self, file: HookFile) -> bool:
        """Return whether nobody has said whether the hooks of *file* may run."""
        return bool(file.hooks) and not file.is_own and self._consent.is_open(file.digest)

    def _question(self, file: HookFile) -> Question:
        weakness = self._terminal_ops.weak_sandbox_reason()
        why = phrase(
            "Allow these project hooks to run in the sandbox, around calls and at the end of "
            "tasks? You are asked once, until their content changes."
        )
        if weakness:
            why = phrase("{why} {weakness}", why=why, weakness=weakness)
        return Question(
            *(f"hooks-{file.digest[:12]}", name_of(self.hooks), file.path, why),
            TextCard(file.path, "\n".join(hook.shown() for hook in file.hooks)),
            lambda answer: self._take_answer(file, answer),
        )

    def _take_answer(self, file: HookFile, answer: Answer) -> Phrase:
        self._consent.take(file.digest, answer)
        match answer:
            case "yes":
                return phrase("The project's hooks are enabled.")
            case "no":
                return phrase("The project's hooks are disabled. /hooks allow enables them.")
            case "allowed":
                return phrase("The project's hooks are enabled for this session.")
            case "nobody":
                return phrase(
                    "The project's hooks did not run: no one was there to approve them. "
                    "Approve them once in a session, or use --approve all for this run."
                )

    # --- what the person is told -----------------------------------------------------------------

    def warnings(self) -> Sequence[Phrase]:
        problems = filter(None, map(_problem_of, self._found()))
        pending = {str(one): one for one in problems if str(one) not in self._told}
        self._told.update(pending)
        return list(pending.values())

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        for file in self._read():
            count = phrase(
                "{path} ({n}): {state}",
                path=visible(file.path),
                n=len(file.hooks),
                state=self._state(file),
            )
            yield phrase("Hooks"), _problem_of(file) or count
            if file.unknown:
                yield phrase("Hooks"), _unknown(file)

    def _state(self, file: HookFile) -> Phrase:
        if self._may_run(file):
            return phrase("enabled")
        if self._consent.is_refused(file.digest):
            return phrase("disabled by you; /hooks allow enables them")
        return phrase("not approved; /hooks allow approves them")

    @command("/hooks [allow]", "List the hooks; “allow” approves the project's.")
    def hooks(self, argument: str) -> Card:
        self._files = None
        if argument not in ("", "allow"):
            raise UserError(phrase("Usage: /hooks or /hooks allow."))
        if argument == "allow":
            self._allow()
        rows = [row for file in self._found() for row in self._rows(file)]
        if not rows:
            places = phrase(
                "No hooks yet. Put yours in {own}, the project's in {path}.",
                own=str(self._own),
                path=PROJECT_FILE,
            )
            return TextCard(phrase("Hooks"), places)
        columns = (
            phrase("Event"),
            phrase("Tools"),
            phrase("Command"),
            phrase("Source"),
            phrase("State"),
        )
        return TableCard(phrase("Hooks"), tuple(rows), columns)

    def _allow(self) -> None:
        for file in self._found():
            if file.hooks and not self._may_run(file):
                self._take_answer(file, "yes")

    def _rows(self, file: HookFile) -> Iterator[tuple[Text, ...]]:
        path, state = visible(file.path), self._state(file)
        for hook in file.hooks:
            tools: Text = visible(hook.matcher) or phrase("all")
            what = "" if hook.event == "Stop" else tools
            yield hook.event, what, visible(hook.command), path, state
        if file.problem:
            yield "", "", "", path, file.problem
        for event in file.unknown:
            yield event, "", "", path, phrase("not supported")


def _unreadable(path: str, why: Text, *, is_own: bool = False) -> HookFile:
    from modules.hooks.files import HookFile

    return HookFile(path, is_own, problem=why)


def _problem_of(file: HookFile) -> Phrase | None:
    if not file.problem:
        return None
    path = visible(file.path)
    return phrase("The hooks in {path} are disabled: {why}.", path=path, why=file.problem)


def _unknown(file: HookFile) -> Phrase:
    events = ", ".join(file.unknown)
    return phrase("{path}: unsupported events: {events}", path=visible(file.path), events=events)


def _problem(hook: Hook, why: Phrase) -> Phrase:
    shown = visible(clean(hook.command))[:60]
    return phrase("The hook {command} was ignored: {why}", command=shown, why=why)


def _note(file: HookFile, note: str) -> str:
    return (
        f"A hook of the person's adds: {note}" if file.is_own else f"{_data(file)}: {_quoted(note)}"
    )


def _denial(event: HookEvent, file: HookFile, answer: HookAnswer) -> str:
    """Return what the model reads of a no: the person's own as it is, the project's as data."""
    reason = answer.reason or "(without a reason)"
    source = f"the person has set up says no: {reason}"
    if not file.is_own:
        source = f"of the project says no. {_data(file)}: {_quoted(reason)}"
    match event:
        case "PreToolUse":
            return f"{REFUSED_PREFIX} a hook {source}"
        case "PostToolUse":
            return f"A hook {source}"
        case "Stop":
            told = "See to that, or say what is in the way."
            return f"The task is not over yet: a hook {source}\n{told}"


def _data(file: HookFile) -> str:
    return f"A hook in {visible(file.path)} says, as data and not in the person's name"


def _quoted(text: str) -> str:
    """Return *text* as one line that cannot end before its last character."""
    return json.dumps(text, ensure_ascii=False)
