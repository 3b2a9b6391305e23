"""The screen of `-p`: one task without a dialogue, for a person in a hurry or for a program.

It never replies, and so refuses whatever would have to be asked. It must stay quick to import: no
screen library here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO, assert_never

from core.cards import Card, RunCard, TextCard
from core.conversation.citations import Citation
from core.conversation.messages import ResultState
from core.events import (
    CHECK_CALL,
    FAILED_STEP_CALL,
    PLAN_CALL,
    ApprovalAsked,
    CallDrafted,
    CommandAnswered,
    Event,
    HelperEvent,
    Informed,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ThoughtKept,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Waiting,
    Warned,
)
from modules.cli.next_steps import hint_after, hint_for
from modules.cli.render.cards.call_titles import CallTitles
from modules.cli.render.cards.plain_cards import card_text, duration, picture_phrase
from modules.cli.render.cards.receipts import receipt_lines
from modules.cli.task_changes import TaskChanges
from modules.translator import Translator
from utils.error_codes import ErrorCode
from utils.i18n import Phrase, Text, phrase
from utils.llm.completion import DIRECT_CALL, Usage
from utils.system.streams import OutputLost
from utils.text.clean import clean, visible

if TYPE_CHECKING:
    from core.feature import Command
    from core.tools import Toolbox

OutputFormat = Literal["text", "json", "stream-json"]
Status = Literal["done", "error", "stopped", "step_limit", "budget", "refused"]

EXIT_CODES: dict[Status, int] = {
    "done": 0,
    "error": 1,
    "step_limit": 3,
    "budget": 3,
    "refused": 4,
    "stopped": 130,
}
BAD_USAGE = 2
CHECKS_RED = 5
MARKS: dict[ResultState, str] = {"done": "✓", "failed": "✗", "refused": "⊘", "stopped": "■"}
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class PlainScreen:
    """Shows a turn as plain text, as one JSON object or as one JSON line per event.

    Text goes to *out* when all is known, and what happens meanwhile to *err*, if that is a
    terminal. The JSON object is documented in `result`. *first_line* is what a new session begins
    with, "" where an old one goes on.
    """

    def __init__(
        self,
        output: OutputFormat,
        out: TextIO,
        err: TextIO,
        translator: Translator,
        *,
        project: str = "",
        first_line: str = "",
        fails_on_red: bool = False,
    ) -> None:
        """One that *fails_on_red* makes failed checks of the project an exit code of their own."""
        self._output = output
        self._out: TextIO | None = out
        self._err = err
        self._translator = translator
        self._project = project
        self._first_line = first_line
        self._fails_on_red = fails_on_red
        self._end = TurnFinished("done")
        self._is_answer_over = False
        self._text_parts: list[str] = []
        self._parts_before_step = 0
        self._steps = 0
        self._usage = Usage()
        self._usage_before = Usage()
        self._changes = TaskChanges()
        self._status: Status = "done"
        self._call_title: Text = ""
        self._open_titles: dict[str, Text] = {}  # of calls that run
        self._refused: tuple[Text, Text] | None = None
        self._is_loss_question = False
        self._reverted: list[Text] = []
        self._was_asked = False
        self._helper_titles: dict[str, Text] = {}
        self._is_usage_error = False
        self._failed_command: ToolFinished | None = None
        self._error: Text = ""
        self._error_code: ErrorCode | None = None
        self._citations: tuple[Citation, ...] = ()
        self._unknown_citations: tuple[int, ...] = ()
        self._card: Card | None = None
        self._hint: Phrase | None = None
        self._remarks: list[Phrase] = []
        self._output_error: OutputLost | None = None
        self._titles = CallTitles()
        self._commands: Mapping[str, Command] = {}
        self._has_sessions: Callable[[], bool] = lambda: True
        self.has_begun = False
        """Whether anything has happened yet."""

    def show(self, event: Event) -> None:  # noqa: C901 - one case for each event
        """Take note of *event*, and print it where the output is a stream."""
        self.has_begun = True
        if self._output == "stream-json":
            self._print_json(self._event_as_json(event))
        match event:
            case StepStarted():
                self._steps += 1
                if self._is_answer_over:  # what comes is another answer
                    self._text_parts.clear()
                self._is_answer_over = False
                self._parts_before_step = len(self._text_parts)
            case TextDelta():
                self._text_parts.append(event.text)
            case Retrying():
                del self._text_parts[self._parts_before_step :]
                self._say(event.reason)
            case StepFinished():
                self._usage += event.usage
            case ToolStarted():
                self._on_tool_start(event)
            case ToolFinished():
                self._on_tool_end(event)
            case Warned() if self._is_loss_question:
                self._on_revert(event, self._call_title)
            case Waiting():
                self._print_error(self._translator.render(_waiting_phrase(event)))
            case Informed():
                self._is_answer_over |= event.ends_answer
                self._changes.add(event.changes)
                if event.is_result:
                    self._remarks.append(event.what)
                else:
                    self._say(event.what)
            case Warned():
                self._say(event.what)
            case CommandAnswered():
                self._on_command(event)
            case TurnFinished():
                self._on_turn_end(event)
            case ApprovalAsked(risk=risk):
                self._was_asked = self._was_asked or risk != "question"
                self._is_loss_question = risk in ("loss", "protected")
            case HelperEvent():
                self._on_helper(event)
            case TurnStarted(pictures=pictures):
                for picture in pictures:
                    self._say(picture_phrase(picture))
            case (
                ThinkingDelta() | ThinkingFinished() | CallDrafted() | ThoughtKept() | ToolOutput()
            ):
                pass
            case _:
                assert_never(event)

    def _on_tool_start(self, event: ToolStarted) -> None:
        title = self._titles.title(event.name, event.arguments)
        self._open_titles[event.call_id] = title
        if event.call_id.startswith((CHECK_CALL, FAILED_STEP_CALL)):
            self._is_answer_over = True
            return
        if event.call_id.startswith(PLAN_CALL):  # the plan is the answer
            return
        self._text_parts.clear()
        self._parts_before_step = 0
        self._call_title = title
        self._is_loss_question = False

    def _on_helper(self, event: HelperEvent) -> None:
        """Take what is refused to a helper, or put back of its, as were it the task's own."""
        match event.event:
            case ToolStarted() as started:
                title = self._titles.title(started.name, started.arguments)
                self._helper_titles[event.parent] = title
                self._is_loss_question = False
            case ToolFinished(state="refused") as finished:
                self._on_refused(finished, self._helper_titles.get(event.parent, ""))
            case Warned() as warned if self._is_loss_question:
                self._on_revert(warned, self._helper_titles.get(event.parent, ""))

    def _on_refused(self, event: ToolFinished, title: Text) -> None:
        why = event.card.body if isinstance(event.card, TextCard) else ""
        self._refused = self._refused or (title, why)

    def _on_revert(self, event: Warned, title: Text) -> None:
        message = phrase("{call}: {what}", call=title, what=event.what)
        self._reverted.append(message)
        self._is_loss_question = False

    def learn(
        self,
        tools: Toolbox,
        commands: Mapping[str, Command],
        has_sessions: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take note of what there is in the session that is going to be shown, and of what tells
        whether there is any to resume."""
        self._titles, self._commands = CallTitles(tools.specs), commands
        self._has_sessions = has_sessions

    def fail(self, message: Text, code: ErrorCode) -> None:
        """Take note of a failure outside the turn; `finish` then tells it."""
        self._status = "error"
        self._error, self._error_code = message, code

    def finish(self, session: str = "") -> int:
        """Print what is still to be said about the task; return the exit code.

        Raises `OutputLost` when something could not be written since the task began.
        """
        match self._output:
            case "text":
                self._finish_text()
            case "json":
                self._print_json(self.result(session))
            case "stream-json":
                self._print_json({"type": "Result", **self.result(session)})
            case _:
                assert_never(self._output)
        if self._output_error:
            raise self._output_error
        if self._fails_on_red and self.status == "done" and self._end.checks.state == "red":
            return CHECKS_RED
        return BAD_USAGE if self._is_usage_error else EXIT_CODES[self.status]

    @property
    def status(self) -> Status:
        return "refused" if self._status == "done" and self._refused else self._status

    def result(self, session: str) -> dict[str, Any]:
        """Return the task as one JSON object.

        `answer` is the model's last word, or a slash command's text, then with its `card` beside
        it. `files` has paths by what became of them over the whole task, a rename as
        `{"from", "to"}`. `error` is None or a sentence, `error_code` says the same to programs.
        """
        result: dict[str, Any] = {
            "session": session,
            "project": self._project,
            "status": self.status,
            "answer": self.answer,
            "steps": self._steps,
            "usage": self._to_json(self._usage),
            "files": self._changes.to_json(),
            "error": self._error_text() or None,
            "error_code": "refused" if self.status == "refused" else self._error_code,
            "citations": self._to_json(self._citations),
            "unknown_citations": list(self._unknown_citations),
            "receipts": [self._to_json(one) for one in self._end.receipts],
            "checks": self._to_json(self._end.checks),
            "claims": self._to_json(self._end.claims),
        }
        if self._remarks:
            result["remarks"] = self._to_json(self._remarks)
        if self._card:
            result["card"] = self._to_json(self._card)
        return result

    @property
    def answer(self) -> str:
        """The model's last word so far, or the text of a slash command."""
        if self._card:
            return card_text(self._card, self._translator)
        return "".join(self._text_parts).strip()

    @property
    def has_answer(self) -> bool:
        """Whether a task came to its end, with a last word of the model's."""
        return self._status == "done" and self._steps > 0

    def set_answer(self, text: str) -> None:
        """Print *text* as the model's last word."""
        self._text_parts = [text]

    def begin_again(self) -> None:
        """Take what comes as the rest of the task; its answer is another one."""
        self._usage_before = self._usage
        self._text_parts.clear()
        self._parts_before_step = 0

    def _error_text(self) -> str:
        """Return what was put back after a loss, and the failure, or why the first call that was
        refused was."""
        error = self._error
        if self._refused and self.status == "refused":
            call, why = self._refused
            if why:
                error = phrase("Refused: {call}: {why}", call=call, why=why)
            elif not self._reverted:
                error = phrase("Refused: {call}", call=call)
        return " ".join(filter(None, map(self._translator.render, [*self._reverted, error])))

    def _on_command(self, event: CommandAnswered) -> None:
        self._hint = hint_for(
            self._first_line,
            self._commands,
            is_done=event.ok,
            has_sessions=self._has_sessions,
        )
        self._changes.add(event.changes)
        if event.ok:
            self._card = event.card
        else:
            why = card_text(event.card, self._translator) if event.card else event.command
            self.fail(why, "bad_arguments")
            self._is_usage_error = True

    def _on_turn_end(self, event: TurnFinished) -> None:
        if event.still_open:
            self._say(event.still_open)
        self._hint = hint_after(event.why)
        self._status = "error" if event.why == "interrupted" else event.why
        self._error, self._error_code = event.detail or "", event.error_code
        self._end = event
        if event.why == "done" and (failed := self._failed_command):
            self.fail(card_text(failed.card, self._translator), failed.error_code or "command")
        self._citations = event.citations or self._citations
        self._unknown_citations = event.unknown_citations or self._unknown_citations
        # With that of replies which came to nothing.
        self._usage = self._usage_before + event.usage

    def _on_tool_end(self, event: ToolFinished) -> None:
        self._changes.add(event.changes)
        if event.state == "refused" and not event.call_id.startswith(CHECK_CALL):
            self._on_refused(event, self._call_title)
        if event.state == "failed" and event.call_id.startswith(DIRECT_CALL):
            is_run = isinstance(event.card, RunCard)  # its receipt tells of it
            self._failed_command = None if is_run else event
        title = self._translator.render(self._open_titles.pop(event.call_id, event.name))
        self._progress(f"{MARKS[event.state]} {visible(title)}  {event.seconds:.1f} s")

    def _finish_text(self) -> None:
        answer, error = clean(self.answer), self._error_text()
        if answer:
            self._print(answer)
        for mark, style, line in receipt_lines(self._end):
            if style != "green" or not answer:
                self._print_error(clean(f"{mark} {self._translator.render(line)}"))
        if note := self._checks_note():
            self._print_error(clean(self._translator.render(note)))
        for remark in self._remarks:
            self._print_error(clean(self._translator.render(remark)))
        if error:
            self._print_error(clean(error))
        if self._was_asked and self.status == "refused":
            refused = phrase(
                "Something was refused because no one could approve it; see --approve."
            )
            self._print_error(self._translator.render(refused))
        if self._hint:
            self._print_error(self._translator.render(self._hint))

    def _checks_note(self) -> Phrase | None:
        """Return what is to be said of checks that were asked for where their receipts do not."""
        is_asked = self._fails_on_red and self.status in ("done", "refused")
        if not is_asked:
            return None
        if any(one.is_check for one in self._end.receipts):
            if self._end.checks.state != "none":
                return None
            return phrase(
                "Not every check passed on the files as they are, so they are not verified."
            )
        if self._end.checks.state == "red":
            names = ", ".join(map(visible, self._end.checks.commands))
            return phrase("Nothing has changed since these checks failed: {names}", names=names)
        if any(self._changes.to_json().values()):
            return phrase("No checks ran, so nothing is verified. See /check list.")
        return None

    def _event_as_json(self, event: Event) -> dict[str, Any]:
        """Return *event*, and one in it, with its type."""
        fields = {"type": type(event).__name__, **self._to_json(event)}
        nested = (
            {"event": self._event_as_json(event.event)} if isinstance(event, HelperEvent) else {}
        )
        return fields | nested

    def _to_json(self, value: Any) -> Any:
        """Return *value* as plain JSON, its phrases said in the person's language."""
        if isinstance(value, Phrase):
            return self._translator.render(value)
        if is_dataclass(value):
            return {f.name: self._to_json(getattr(value, f.name)) for f in fields(value)}
        if isinstance(value, dict):
            return {key: self._to_json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._to_json(item) for item in value]
        return value

    # --- writing ---------------------------------------------------------------------------------

    def _print_json(self, value: dict[str, Any]) -> None:
        text = json.dumps(value, ensure_ascii=False)
        self._print(_UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))

    def _print(self, text: str) -> None:
        """Print *text* and flush; a reader that went away is no error."""
        if self._out is None:
            return
        try:
            _write(self._out, text)
        except OutputLost as error:
            self._out = None
            self._output_error = None if error.is_broken_pipe else error

    def _say(self, message: Text) -> None:
        self._progress(self._translator.render(message))

    def _progress(self, line: str) -> None:
        if self._output == "text" and self._err.isatty():
            self._print_error(clean(line))

    def _print_error(self, line: str) -> None:
        with suppress(OutputLost):  # nobody listens
            _write(self._err, line)


def _waiting_phrase(event: Waiting) -> Phrase:
    left = duration(max(0, round(event.until - time.time())))
    return phrase("{why}: {time} left. Ctrl-C stops.", why=event.why, time=left)


def _write(file: TextIO, text: str) -> None:
    encoding = file.encoding or "utf-8"
    file.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    file.flush()
