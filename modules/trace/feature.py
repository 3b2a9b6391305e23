"""A trace of turns, steps, calls and commands as OpenTelemetry spans (`--trace FILE`).

One line of OTLP JSON for each span that is over, as the file receiver of a collector reads them.
The names are those of the GenAI conventions, which are still called "Development". Nothing that was
said, read or written is in it unless that is asked for: names, numbers and how it ended. Written by
hand: the SDK brings packages and threads along for what are a few lines here.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from core.conversation.messages import Record, Wire
from core.conversation.request_prefix import PrefixBreak
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    HelperEvent,
    Reply,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, HoldsResources, ProvidesWarnings
from core.observer import Observer
from modules.trace.helper_spans import HelperSpans
from modules.trace.span import CLIENT, INTERNAL, Span, Value, usage_attributes
from utils.i18n import Phrase, phrase
from utils.llm.completion import Usage
from utils.llm.provider import DEFAULT_PROVIDER, Provider, split_model_name

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Trace(Feature, BindsToSession, ProvidesWarnings, HoldsResources):
    """Writes the spans of a session to the file *path*, behind what is there.

    In the *project* a program of the model could put a link in its place: there none is followed,
    and the file is opened once, before anything runs. A disk that takes nothing stops no task: that
    is told once. *providers* are those that a model's name may say; what was said is in it where it
    *has content*, and then a file that is new is its owner's alone.
    """

    _session_handle: SessionHandle

    def __init__(
        self,
        path: Path,
        project: Path,
        providers: Mapping[str, Provider],
        *,
        has_content: bool,
    ) -> None:
        self._path = path
        self._providers = providers
        self._has_content = has_content
        self._file: BinaryIO | None = None
        self._next: Observer | None = None
        self._turn: Span | None = None
        self._step: Span | None = None
        self._calls: dict[str, Span] = {}
        self._helpers = HelperSpans(self._call_below, self._end)
        self._has_failed = False
        self._warnings: list[Phrase] = []
        self._open(project)

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle
        self._next, session_handle.observer = session_handle.observer, self

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def warnings(self) -> Sequence[Phrase]:
        pending, self._warnings = self._warnings, []
        return pending

    # --- what it hears of (core.observer.Observer) ------------------------------------------------

    def on_event(self, event: Event) -> None:
        match event:
            case TurnStarted(_, turn):
                self._begin_turn(turn)
            case StepStarted(step, thinks):
                self._begin_step(step, thinks=thinks)
            case StepFinished(_, usage):
                self._end_step(usage)
            case ToolStarted():
                self._begin_call(event)
            case ToolFinished():
                self._end_call(event)
            case HelperEvent(parent) if call := self._calls.get(parent):
                self._helpers.on_event(call, event)
            case TurnFinished(why, _, usage):
                self._end_turn(why, usage)
        if self._next:
            self._next.on_event(event)

    def on_reply(self, question: ApprovalAsked, reply: Reply | None) -> None:
        if self._next:
            self._next.on_reply(question, reply)

    def on_request(self, messages: Sequence[Wire]) -> None:
        if self._has_content and self._step:
            from modules.trace.content import request_attributes  # few want it

            self._step.attributes |= request_attributes(messages)
        if self._next:
            self._next.on_request(messages)

    def on_prefix_break(self, prefix_break: PrefixBreak) -> None:
        if self._next:
            self._next.on_prefix_break(prefix_break)

    def on_command_answered(self, answer: CommandAnswered) -> None:
        name: dict[str, Value] = {"onefold.command.name": answer.command}
        span = self._child(f"command {answer.command}", INTERNAL, name)
        self._end(span, "" if answer.ok else "failed")
        if self._next:
            self._next.on_command_answered(answer)

    def _begin_call(self, event: ToolStarted) -> None:
        """Begin the span of a call; one that the person revised has begun already."""
        call = self._calls.get(event.call_id) if event.is_revised else None
        if call:
            self._add_arguments(call, event)
        elif not event.is_revised:
            self._calls[event.call_id] = self._call_below(self._turn, event)

    def _call_below(self, parent: Span | None, event: ToolStarted) -> Span:
        """Begin the span of a call below *parent*."""
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.name,
            "gen_ai.tool.call.id": event.call_id,
            "gen_ai.tool.type": "function",
        }
        span = _below(parent, f"execute_tool {event.name}", INTERNAL, attributes)
        self._add_arguments(span, event)
        return span

    def _add_arguments(self, span: Span, event: ToolStarted) -> None:
        if self._has_content:
            arguments = json.dumps(event.arguments, ensure_ascii=False)
            redacted = self._session_handle.redact(arguments)
            span.attributes["gen_ai.tool.call.arguments"] = redacted

    def _end_call(self, event: ToolFinished) -> None:
        span = self._calls.pop(event.call_id, None)
        if span is None:
            return
        if self._has_content:
            from modules.trace.content import result_attributes

            span.attributes |= result_attributes(self._records(), event.call_id)
        error = "" if event.state == "done" else event.state
        self._helpers.end(event.call_id, error)
        self._end(span, error)

    def _records(self) -> Iterator[Record]:
        """Yield what was kept of the session, the newest first."""
        return (record for _, record in reversed(self._session_handle.history.records))

    @property
    def _provider(self) -> str:
        model = str(self._session_handle.model.model)
        provider, _ = split_model_name(model, self._providers)
        return provider.name if provider else DEFAULT_PROVIDER

    def _begin_turn(self, turn: int) -> None:
        self._turn = self._child(
            "invoke_agent Onefold",
            INTERNAL,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": self._provider,
                "gen_ai.agent.name": "Onefold",
                "gen_ai.conversation.id": self._session_handle.session,
                "onefold.turn": turn,
            },
        )

    def _begin_step(self, step: int, *, thinks: bool) -> None:
        model = str(self._session_handle.model.model)
        self._step = self._child(
            f"chat {model}",
            CLIENT,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": self._provider,
                "gen_ai.request.model": model,
                "onefold.step": step,
                "onefold.thinks": "yes" if thinks else "no",
            },
        )

    def _end_step(self, usage: Usage) -> None:
        if span := self._step:
            span.attributes |= usage_attributes(usage)
            if self._has_content:
                from modules.trace.content import reply_attributes

                span.attributes |= reply_attributes(self._records())
            self._end(span)
        self._step = None

    def _end_turn(self, why: str, usage: Usage) -> None:
        """End the turn, and whatever of it has not come to its own end."""
        error = "" if why == "done" else why
        for call_id in self._calls:
            self._helpers.end(call_id, error or "lost")
        for span in filter(None, [*self._calls.values(), self._step]):
            self._end(span, error or "lost")
        self._calls.clear()
        self._step = None
        if turn := self._turn:
            turn.attributes |= {**usage_attributes(usage), "onefold.cost_usd": usage.cost_usd}
            self._end(turn, error)
        self._turn = None

    # --- writing ---------------------------------------------------------------------------------

    def _child(self, name: str, kind: int, attributes: dict[str, Value]) -> Span:
        """Begin a span below the turn, or one of its own where there is none."""
        return _below(self._turn, name, kind, attributes)

    def _end(self, span: Span, error: str = "") -> None:
        """Write *span*, which is over; *error* is how, "" where nothing went wrong."""
        line = json.dumps(span.to_otlp(error))
        if self._file is None:
            return
        try:
            self._file.write(f"{line}\n".encode())
        except OSError as problem:
            self._note_failure(problem)

    def _open(self, project: Path) -> None:
        try:
            mode = 0o600 if self._has_content else 0o666
            descriptor = _opened(self._path, project, mode)
            self._file = os.fdopen(descriptor, "ab", buffering=0)
        except OSError as problem:
            self._note_failure(problem)

    def _note_failure(self, problem: OSError) -> None:
        if not self._has_failed:
            path, why = str(self._path), problem.strerror or str(problem)
            self._warnings.append(
                phrase("Cannot write the trace {path}: {why}.", path=path, why=why)
            )
        self._has_failed = True


def _below(parent: Span | None, name: str, kind: int, attributes: dict[str, Value]) -> Span:
    """Begin a span below *parent*, or one of a trace of its own."""
    if parent:
        return parent.child(name, kind, attributes)
    return Span(name, kind, secrets.token_hex(16), "", attributes)


def _opened(path: Path, project: Path, mode: int) -> int:
    """Return a descriptor of the file *path*, to be written at its end, which has *mode* if it is
    new; no link below *project* is followed. Raises `OSError`."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    parts = parts_in(path, project)
    if not parts:
        return os.open(path, flags, mode)
    *folders, name = parts
    folder = os.open(project, _FOLDER)
    try:
        for inner_name in folders:
            inner = os.open(inner_name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode, dir_fd=folder)
    finally:
        os.close(folder)


def parts_in(path: Path, project: Path) -> tuple[str, ...]:
    """Return the names that lead from *project* to *path* as it is written, () from elsewhere."""
    written = Path(os.path.normpath(path))
    for parent in written.parents:
        if parent.resolve() == project:
            return written.relative_to(parent).parts
    return ()
