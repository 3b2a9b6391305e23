"""One open session: its terminal, and the thread in which a prompt runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from acp import RequestError
from acp.schema import PromptResponse, StopReason, Usage

from core.events import (
    ApprovalAsked,
    EndReason,
    Event,
    Reply,
    StepFinished,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
)
from core.loop.turn import drive
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from modules.acp.client_link import ClientLink
from modules.acp.editor_files import EditorFiles, has_programs
from modules.acp.given_servers import GivenServer, tables_of
from modules.acp.prompts import PromptContent, add_unsaved
from modules.acp.questions import asked_call, is_cancelled, options_of, reply_of
from modules.acp.session_view import SessionView
from modules.acp.terminals.run_terminals import RunTerminals
from modules.acp.updates.updates import Update
from modules.acp.write_gate import WriteGate
from modules.file_manager import FileManager
from modules.mcp_client.feature import McpServers
from modules.pictures.feature import Pictures
from modules.terminal_ops import TerminalOps
from modules.translator import Translator
from utils.i18n import Phrase, UserError, phrase
from utils.logger import FailureLog
from utils.pictures import Picture
from utils.waiting import EitherStop

_STOP_REASONS: dict[EndReason, StopReason] = {
    "done": "end_turn",
    "stopped": "cancelled",
    "step_limit": "max_turn_requests",
    "budget": "max_turn_requests",
}


class _LeftAtQuestion(Exception):
    """The client went away at a question about a call, which is asked again later."""


@dataclass(frozen=True)
class OpenProject:
    """A project folder, its texts by their paths, and where failures are told.

    *sockets* is a private folder outside of it, which is made when it is needed.

    *read_text* raises `ToolError` for what is no text of the project.
    """

    root: Path
    sockets: Path
    failures: FailureLog
    read_text: Callable[[str], str]


class AcpSession:
    """A session that a client has open. Methods are for any thread but that of the event loop,
    unless they say otherwise."""

    def __init__(
        self,
        terminal: MainTerminal,
        project: OpenProject,
        client: ClientLink,
        translator: Translator,
        find_neighbours: Callable[[AcpSession], Sequence[AcpSession]],
        gate: WriteGate,
    ) -> None:
        """*find_neighbours* returns the other open sessions that work in the same files, *gate* is
        theirs as well."""
        self._find_neighbours = find_neighbours
        self._gate = gate
        self.terminal = terminal
        self.project = project
        self._client = client
        self._translator = translator
        self._files = EditorFiles(
            client, terminal.session, project.root, terminal.stop, self._quiet, project.failures
        )
        if files := terminal.features.find(FileManager):
            files.editor = self._files
        self.view = SessionView(terminal, project.root, client, translator)
        folders = (project.sockets, project.root)
        self._terminals = RunTerminals(client, terminal, folders, self.view.send, translator)
        if programs := terminal.features.find(TerminalOps):
            programs.on_begin = self._begin_run
        terminal.show_news = self._tell
        self._question_ends = EitherStop(terminal.stop, terminal.question.take_answers())
        self.id = terminal.session
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._is_closed = False
        self._is_reserved = False
        self._thread: threading.Thread | None = None
        self.answered: Future[PromptResponse] | None = None
        """Done when nothing of the last prompt runs any more; None before the first."""
        self._is_cancelled = False
        self.is_ending = False
        """Whether it was closed, or is being closed."""
        self._is_leaving = False
        self._end: TurnFinished | None = None
        self._call: ToolStarted | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    @property
    def has_programs(self) -> bool:
        """Whether a program of this session may be at work that no turn waits for."""
        return has_programs(self.terminal)

    def _quiet(self) -> AbstractContextManager[bool]:
        return self._gate.writing(self.project.root, self._is_quiet)

    def _is_quiet(self) -> bool:
        """Whether nobody but the turn that asks is at work in the folder."""
        return not self.has_programs and not any(
            other.is_running or other.has_programs for other in self._find_neighbours(self)
        )

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Let no prompt begin. Raises `RequestError` while one is answered."""
        with self._lock:
            self._check_free()
            self._is_reserved = True
        try:
            yield
        finally:
            self._is_reserved = False

    def _check_free(self) -> None:
        if self._thread or self._is_reserved or self.is_ending:
            raise RequestError.invalid_request(
                {"details": "this session is busy: cancel what runs, or wait for it"}
            )

    # --- a prompt --------------------------------------------------------------------------------

    def begin(self, prompt: PromptContent) -> Future[PromptResponse]:
        """Begin to answer *prompt* in a thread of its own; never waits.

        Raises `RequestError` while another one is answered.
        """
        if prompt.is_command and (why := self._not_offered(prompt.text)):
            raise RequestError.invalid_params({"details": self._translator.render(why)})
        answered: Future[PromptResponse] = Future()
        answered.set_running_or_notify_cancel()  # from now on nobody takes it back
        with self._lock:
            self._check_free()
            self._is_cancelled = False
            # No daemon: the interpreter would cut a turn off between a call and its answer.
            self._thread = threading.Thread(
                target=self._run, args=(prompt, answered), name=f"turn {self.id}"
            )
            self.answered = answered
            self._thread.start()
        return answered

    def cancel(self) -> None:
        """Stop what runs, if anything does; never waits."""
        with self._lock:
            if self._thread:
                self._is_cancelled = True
                self.terminal.stop.set()

    def leave(self) -> None:
        """Let what runs end, and begin nothing more; never waits.

        A question about a call stays, and is asked again later.
        """
        self._is_leaving = True
        self.end()

    def end(self) -> None:
        """Stop what runs, and begin nothing more; never waits."""
        with self._lock:
            self.is_ending = True
        self.cancel()

    def stay(self) -> None:
        """Take back `end`: what was stopped may end late, and prompts may begin after it."""
        with self._lock:
            self.is_ending = self._is_leaving

    def wait(self, seconds: float) -> None:
        """Wait until nothing runs, at most *seconds*."""
        if thread := self._thread:
            thread.join(seconds)

    def _not_offered(self, text: str) -> Phrase | None:
        name = text.split(maxsplit=1)[0]
        if name in self.terminal.commands.hidden:
            return phrase("The editor provides {name}; use it there.", name=name)
        return None

    def _run(self, prompt: PromptContent, answered: Future[PromptResponse]) -> None:
        result: PromptResponse | None = None
        error: RequestError | None = None
        try:
            result = self._answer(prompt)
        except _LeftAtQuestion:
            result = PromptResponse(stop_reason="cancelled")
        except UserError as problem:
            error = self._failure(problem.message)
        except Exception as problem:  # noqa: BLE001 - ours; the one place of this screen to log it
            error = self._failure(self.project.failures.log(problem))
        with self._lock:
            self._thread = None
        if result:
            answered.set_result(result)
        else:
            answered.set_exception(error or self._failure(phrase("Stopped.")))

    def _failure(self, why: Phrase) -> RequestError:
        return RequestError(-32603, self._translator.render(why))

    def _answer(self, prompt: PromptContent) -> PromptResponse:
        """Answer *prompt*; a turn that was left at a question goes on before.

        One that is cancelled while an editor still writes was never begun.
        """
        root, stop = self.project.root, self.terminal.stop
        if not self._gate.wait(root, stop, lambda: self._is_cancelled):
            return PromptResponse(stop_reason="cancelled")
        if self.terminal.has_open_turn:
            self._drive(self.terminal.resume_turn())
        add_unsaved(prompt, self.project.read_text, self._files.text_of)
        pictures = self._keep_pictures(prompt)
        turn = self.terminal.run_line(prompt.message, pictures, typed=prompt.mentions)
        end = self._drive(turn)
        self.view.send_end_of_prompt()
        return self._response(end)

    def _drive(self, turn: Turn) -> TurnFinished | None:
        """Run *turn* to its end and return that; None for a command."""
        self._end = None
        with self._lock:
            if self._is_cancelled:  # before there was a turn to stop
                self.terminal.stop.set()
        try:
            drive(turn, self._show)
        finally:
            self._terminals.end()
        return self._end

    def _keep_pictures(self, prompt: PromptContent) -> Sequence[Picture] | None:
        """Return the pictures of *prompt*; None lets a command be one. Raises `UserError`."""
        if prompt.is_command:
            return None
        pictures = self.terminal.features.find(Pictures)
        if prompt.images and pictures is None:
            raise UserError(phrase("Pictures are not supported here."))
        return [pictures.add(data, name) for data, name in prompt.images] if pictures else ()

    def _response(self, end: TurnFinished | None) -> PromptResponse:
        """Return how the prompt ended. Raises `RequestError` for a turn that failed."""
        if end is None:
            return PromptResponse(stop_reason="end_turn")
        if end.why not in _STOP_REASONS:
            raise UserError(end.detail or phrase("The task failed."))
        usage = end.usage
        return PromptResponse(
            stop_reason=_STOP_REASONS[end.why],
            usage=Usage(
                total_tokens=usage.prompt_tokens + usage.completion_tokens,
                input_tokens=usage.prompt_tokens,
                output_tokens=usage.completion_tokens,
                thought_tokens=usage.reasoning_tokens,
                cached_read_tokens=usage.cache_hit_tokens,
            ),
        )

    # --- the screen ------------------------------------------------------------------------------

    def _tell(self, what: Phrase) -> bool:
        """Show at once what happened beside the conversation; return whether a client is there."""
        self.view.notify(what)
        return not self._client.is_gone

    def _show(self, event: Event) -> Reply | None:
        if isinstance(event, TurnFinished):
            self._end = event
        elif isinstance(event, ToolStarted):
            self._call = event
        for update in self._updates_of(event):
            self.view.send(update)
        if isinstance(event, StepFinished):
            self.view.send_usage()
        return self._ask(event) if isinstance(event, ApprovalAsked) else None

    def _updates_of(self, event: Event) -> Iterator[Update]:
        updates = self.view.updates.of(event)
        match event:
            case ToolOutput(text=text) if self._terminals.add(text):
                return
            case ToolFinished():
                yield from self._terminals.finished(event, updates)
            case _:
                yield from updates

    def _begin_run(self, stop_run: Callable[[], None]) -> None:
        """Be told that the call that was shown last runs a program now."""
        if self._call:
            self._terminals.begin(self.view.updates.call_id(self._call.call_id), stop_run)

    def _ask(self, question: ApprovalAsked) -> Reply | None:
        """Ask the client; a question that it went away from stays open."""
        terminal = self.terminal
        arguments = self._call.arguments if self._call else {}
        call = asked_call(
            question,
            terminal.tools.specs.get(question.name),
            self.view.updates.title(question.name, arguments),
            self.view.updates,
        )
        options = options_of(question, self._translator)
        response = self._client.ask_permission(self.id, call, options, self._question_ends)
        if (self._is_leaving or self._client.is_gone) and terminal.history.unanswered_calls:
            raise _LeftAtQuestion
        if response is None:
            return None
        if is_cancelled(response):
            self.cancel()
        return reply_of(response, question)

    def replay(self) -> None:
        """Send the whole history. Raises `RequestError` while a prompt is answered."""
        with self.reserved():
            self.view.replay(is_open=self.terminal.has_open_turn)

    def give_servers(self, servers: Sequence[GivenServer] | None) -> None:
        """Let the MCP *servers* of the client count here; None leaves those that it gave before."""
        feature = self.terminal.features.find(McpServers)
        if feature and servers is not None:
            feature.give(tables_of(servers))

    def close(self) -> None:
        """Let go of the terminal, once; return when that is done."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self.terminal.close()
