"""The session of a client: its calls, one after the other, in a thread of their own."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from mcp_types import CallToolResult

from core.cards import TextCard
from core.conversation.messages import ToolCall, as_message
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Reply,
    StepStarted,
    ToolOutput,
    ToolStarted,
)
from core.loop.approval_flow import format_arguments, refusal
from core.loop.tool_calls import FinishedCall
from core.loop.turn import drive
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from core.model_choice import served
from core.redaction import map_strings
from core.tools import Outcome, Tool, ToolError
from modules.cli.print_mode import PlainScreen
from modules.cli.render.cards.call_titles import CallTitles
from modules.jobs.feature import Jobs
from modules.mcp_server.calls import PendingCall
from modules.mcp_server.offered_tools import offered
from modules.mcp_server.own_tools import OwnTools
from modules.mcp_server.results import NOBODY_ASKED, result_of, task_result, text_result
from modules.memory_manager import Memory
from modules.pictures.feature import Pictures
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.logger import FailureLog
from utils.pictures import read_no_picture
from utils.text.clean import clean, visible

_PROGRESS_SECONDS = 0.5
"""Seconds between two updates of what a running call puts out."""
_SHUTDOWN_SECONDS = 5.0
"""Seconds that a stopped call has to end."""
_NOT_RUN = "Not run."


@dataclass(frozen=True)
class Workplace:
    """What a client works in: its *terminal* on the project, and where failures are told.

    *check_model* raises `UserError` where there is no model to be had, as without a key.
    """

    terminal: MainTerminal
    project: str
    failures: FailureLog
    check_model: Callable[[], None]


class McpSession:
    """Runs calls in the order in which they are submitted. Every method may be called from any
    thread; those that may wait say so."""

    def __init__(self, workplace: Workplace, translator: Translator) -> None:
        self._workplace = workplace
        self._terminal = workplace.terminal
        if memory := self._terminal.features.find(Memory):
            memory.offers_decisions = False
        self._translator = translator
        self._own = OwnTools(self._run_command, self._run_task)
        self._own_tools = {tool.name: tool for tool in self._own.all()}
        self.tools = [*offered(self._terminal.tools), *self._own_tools.values()]
        self.task_name = self._own.task_name
        self._titles = CallTitles(self._terminal.tools.specs)
        self._calls: SimpleQueue[PendingCall | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._current: PendingCall | None = None
        self._is_closing = False
        self._was_unasked = False
        self._task: dict[str, Any] | None = None
        self._told_at = 0.0
        # No daemon: the interpreter would cut a call off before its answer is kept.
        self._thread = threading.Thread(target=self._work, name="mcp calls")
        self._thread.start()

    def submit(self, call: PendingCall) -> None:
        """Have *call* run when those before it are over."""
        self._calls.put(call)

    def cancel(self, call: PendingCall) -> None:
        """Stop *call*, or have it never begin."""
        with self._lock:
            call.is_cancelled = True
            if self._current is call:
                self._terminal.stop.set()

    def leave(self) -> None:
        """Stop what runs, and begin nothing more."""
        with self._lock:
            self._is_closing = True
            if self._current:
                self._terminal.stop.set()
        self._calls.put(None)

    def close(self) -> None:
        """Let go of everything; waits for what runs to end, a short time."""
        self.leave()
        self._thread.join(_SHUTDOWN_SECONDS)
        self._terminal.close()

    # --- the thread ------------------------------------------------------------------------------

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            with self._lock:
                is_to_run = not (call.is_cancelled or self._is_closing)
                self._current = call if is_to_run else None
            result = self._answer(call) if is_to_run else text_result(_NOT_RUN, ok=False)
            with self._lock:
                self._current = None
            call.finish(result)

    def _answer(self, call: PendingCall) -> CallToolResult:
        """Return the result of *call*, whatever comes."""
        self._was_unasked, self._task, self._told_at = False, None, 0.0
        try:
            with self._awake():
                return self._run(call)
        except (ToolError, UserError) as error:
            return text_result(str(error.message), ok=False)
        except Exception as error:  # noqa: BLE001 - ours; the one place of this screen to log it
            return text_result(str(self._workplace.failures.log(error)), ok=False)

    @contextmanager
    def _awake(self) -> Iterator[None]:
        """Have the session while a call runs: between calls others may go on with it.

        Where somebody else has it by now, the calls go on in a new one. While a job runs it stays
        ours.
        """
        try:
            self._terminal.go_on()
        except UserError:
            self._terminal.new()
        try:
            yield
        finally:
            jobs = self._terminal.features.find(Jobs)
            if not (jobs and jobs.running_names()):
                self._terminal.pause()

    def _run(self, call: PendingCall) -> CallToolResult:
        tool = self._find(call.name)
        arguments = tool.validate(call.arguments)
        if tool.name in self._own_tools:
            return self._run_own(call, tool, arguments)
        who = call.client or "MCP"
        line = f"{who}: {self._titles.title(call.name, arguments)}"
        redacted = map_strings(arguments, self._terminal.redact)
        to_run = ToolCall("call", call.name, json.dumps(redacted, ensure_ascii=False))
        results: list[FinishedCall] = []
        self._drive(self._terminal.run_calls(line, [to_run], results), call)
        if not results:
            return text_result(_NOT_RUN, ok=False)
        pictures = self._terminal.features.find(Pictures)
        return result_of(
            results[0].result,
            pictures.read if pictures else read_no_picture,
            was_unasked=self._was_unasked,
        )

    def _find(self, name: str) -> Tool:
        """Return the tool *name* that clients have. Raises `ToolError` that names those."""
        for tool in self.tools:
            if tool.name == name:
                return tool
        known = ", ".join(tool.name for tool in self.tools)
        raise ToolError(f"There is no tool {name!r}. There are: {known}.", "not_found")

    def _drive(self, turn: Turn, call: PendingCall) -> None:
        with self._lock:
            if call.is_cancelled or self._is_closing:  # before there was a turn to stop
                self._terminal.stop.set()
        drive(turn, lambda event: self._show(event, call))

    # --- what happens ----------------------------------------------------------------------------

    def _show(self, event: Event, call: PendingCall) -> Reply | None:
        match event:
            case ApprovalAsked():
                reply = call.ask(event, self._terminal.stop)
                self._was_unasked |= not call.can_ask and event.risk != "question"
                return reply
            case ToolStarted():
                title = self._titles.title(event.name, event.arguments)
                call.title = visible(self._translator.render(title))
                call.tell(call.title)
            case StepStarted():
                step = phrase("Model call {n}", n=event.step)
                call.tell(self._translator.render(step))
            case ToolOutput():
                self._tell_output(event.text, call)
        return None

    def _tell_output(self, text: str, call: PendingCall) -> None:
        """Tell the last line of what a program put out, now and then."""
        now, lines = time.monotonic(), clean(text).split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        if last and now - self._told_at >= _PROGRESS_SECONDS:
            self._told_at = now
            call.tell(last[:200])

    # --- the tools that only clients have --------------------------------------------------------

    def _run_own(self, call: PendingCall, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
        if tool.name != self.task_name and (refused := self._refused(call, tool, arguments)):
            return text_result(refused, ok=False)
        outcome = tool.function(**arguments)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"{tool.name} has no outcome")
        if self._task is not None:
            return task_result(self._task, was_unasked=self._was_unasked)
        return text_result(outcome.text, ok=outcome.ok)

    def _refused(self, call: PendingCall, tool: Tool, arguments: dict[str, Any]) -> str:
        """Return why a call may not run, "" where it may; the person is asked as about others."""
        decision = self._terminal.approval.decide(tool, arguments)
        if decision.verdict == "allow":
            return ""
        reply: Reply | None = None
        if decision.verdict == "ask":
            preview = TextCard(tool.summary, format_arguments(arguments))
            question = ApprovalAsked(
                "", tool.name, str(tool.risk), decision.why, decision.pattern, preview
            )
            reply = self._show(question, call)
        if reply and reply.yes:
            if reply.always:
                self._terminal.approval.allow_always(decision.pattern)
            return ""
        text = refusal(decision, reply).text
        return f"{text}\n{NOBODY_ASKED}" if self._was_unasked else text

    def _run_command(self, line: str) -> CommandAnswered:
        answers: list[Event] = []
        drive(self._terminal.run_line(line), answers.append)
        [answer] = [event for event in answers if isinstance(event, CommandAnswered)]
        return answer

    def _run_task(
        self, task: str, model: str | None, think: bool | None, new_session: bool
    ) -> Outcome:
        self._workplace.check_model()
        terminal, call = self._terminal, self._current
        if call is None:
            raise RuntimeError("a task is that of a call")
        if new_session:
            terminal.new()
        screen = PlainScreen(
            "json", sys.stderr, sys.stderr, self._translator, project=self._workplace.project
        )
        screen.learn(terminal.tools, terminal.commands)

        def show(event: Event) -> Reply | None:
            screen.show(event)
            return self._show(event, call)

        message = as_message(f" {task}" if task.startswith("/") else task)
        with self._settings(model, think):
            turn = terminal.run_line(message, (), typed="")  # a program wrote it
            with self._lock:
                if call.is_cancelled or self._is_closing:
                    terminal.stop.set()
            drive(turn, show)
        self._task = screen.result(terminal.session)
        return Outcome(screen.answer, TextCard(""))

    @contextmanager
    def _settings(self, model: str | None, think: bool | None) -> Iterator[None]:
        """Have one task done by *model*, and *think* or not. Raises `UserError`."""
        terminal = self._terminal
        usual, mode = terminal.model.model, terminal.mode
        if model is not None and not terminal.is_practice:
            terminal.model.model = served(terminal.model, model)
        if think is not None:
            terminal.mode = "think" if think else "fast"
        try:
            yield
        finally:
            terminal.model.model, terminal.mode = usual, mode
