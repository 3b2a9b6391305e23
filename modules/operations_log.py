"""The operations log: what was asked, called, answered, approved and changed, a JSON line each.

Off, it is but a row of `/status`. On, it gets everything that the screens are shown, and the
requests to the model. No secret gets into it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from core.cards import Change
from core.conversation.messages import Assistant, ShellResult, ToolResult, Wire
from core.conversation.request_prefix import PrefixBreak
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    HelperEvent,
    HelperStep,
    Informed,
    Reply,
    Retrying,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Warned,
)
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, FollowsSession, ProvidesStatus, ProvidesWarnings
from core.redaction import map_strings
from utils.i18n import Phrase, Text, phrase
from utils.system.rotated_lines import append_line
from utils.text.codec import to_plain
from utils.text.keys import redact_keys, redact_secret

MAX_TEXT = 20_000
"""Characters of one text that are kept; the session has all of it."""

Fields = Mapping[str, Any]


class OperationsLog(Feature, BindsToSession, FollowsSession, ProvidesStatus, ProvidesWarnings):
    """Writes to the file *path* if it *is_on*; each of *keys* is blotted out of what it writes.

    A disk that takes nothing stops no task: that is told once (`warnings`).
    """

    _session_handle: SessionHandle

    def __init__(self, path: Path, keys: Iterable[str], *, is_on: bool) -> None:
        self._path = path
        self._keys = tuple(keys)
        self._is_on = is_on
        self._step = StepStarted(0, thinks=False)
        self._sent_count = 0
        self._has_failed = False
        self._warnings: list[Phrase] = []

    def bind(self, session_handle: SessionHandle) -> None:
        if self._is_on:
            self._session_handle = session_handle
            session_handle.observer = self

    def on_session_changed(self, session: str) -> None:  # noqa: ARG002
        self._sent_count = 0

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        where = str(self._path) if self._is_on else phrase("off; --log turns it on")
        yield phrase("Operations log"), where

    def warnings(self) -> Sequence[Phrase]:
        pending, self._warnings = self._warnings, []
        return pending

    # --- what it hears of (core.observer.Observer) ------------------------------------------------

    def on_event(self, event: Event) -> None:  # noqa: C901 - one case for each event
        match event:
            case TurnStarted(text, turn):
                self._write("turn", {"turn": turn, "text": text})
            case StepStarted():
                self._step = event
            case StepFinished(step, usage):
                self._write(
                    "reply", {"step": step, **self._reply_fields(), "usage": to_plain(usage)}
                )
            case ToolStarted(call_id, name, arguments, is_revised):
                fields = {"id": call_id, "name": name, "arguments": arguments}
                self._write("call", fields | ({"revised": True} if is_revised else {}))
            case ApprovalAsked(call_id, name, risk, why):
                fields = {"id": call_id, "name": name, "risk": risk, "why": str(why)}
                self._write("question", fields)
            case ToolFinished():
                self._write_result(event)
            case HelperEvent(parent, step):
                self._write_helper(parent, step)
            case Retrying(reason, attempt):
                self._write("retry", {"attempt": attempt, "reason": str(reason)})
            case Warned(what) | Informed(what):
                kind = "warning" if isinstance(event, Warned) else "info"
                self._write(kind, {"what": str(what)})
            case TurnFinished(why, detail, usage, seconds, still_open, code):
                outcome = {"why": why, "detail": str(detail or "")}
                outcome |= {"still_open": str(still_open)} if still_open else {}
                outcome |= {"error_code": code} if code else {}
                totals = {"seconds": round(seconds, 3), "usage": to_plain(usage)}
                self._write("end", outcome | totals)

    def on_reply(self, question: ApprovalAsked, reply: Reply | None) -> None:
        fields = {"id": question.call_id, "name": question.name, "answered": reply is not None}
        self._write("approval", fields | to_plain(reply or Reply(yes=False)))

    def on_request(self, messages: Sequence[Wire]) -> None:
        """Log how much is sent, and of what no other line tells: the system messages."""
        since, self._sent_count = (
            self._sent_count if self._sent_count <= len(messages) else 0,
            len(messages),
        )
        new = [one["content"] for one in messages[since:] if one["role"] == "system"]
        fields = {"step": self._step.step, "thinks": self._step.thinks, "messages": len(messages)}
        size = sum(len(one.get("content") or "") for one in messages)
        model = self._session_handle.model.model
        self._write("request", fields | {"characters": size, "model": model, "told": new})

    def on_prefix_break(self, prefix_break: PrefixBreak) -> None:
        self._write("prefix_break", asdict(prefix_break))

    def on_command_answered(self, answer: CommandAnswered) -> None:
        self._write("command", {"command": answer.command, "ok": answer.ok})
        self._write_changes(answer.changes, {"command": answer.command})

    def _write_result(self, event: ToolFinished) -> None:
        fields = {"id": event.call_id, "name": event.name, "state": event.state}
        fields |= {"error_code": event.error_code} if event.error_code else {}
        result = self._newest_record(ToolResult | ShellResult)
        is_recorded = result is not None and result.call_id == event.call_id
        # A question beside the calls, and a program of a command, leave no record.
        text = {"text": result.text} if is_recorded else {}
        self._write("answer", fields | {"seconds": round(event.seconds, 3)} | text)
        self._write_changes(event.changes, {"id": event.call_id})

    def _write_helper(self, parent: str, event: HelperStep) -> None:
        """Log what a helper does, as lines of its own that name its call."""
        fields: dict[str, Any] = {"parent": parent}
        match event:
            case StepFinished(step, usage):
                self._write("reply", fields | {"step": step, "usage": to_plain(usage)})
            case ToolStarted(call_id, name, arguments):
                self._write("call", fields | {"id": call_id, "name": name, "arguments": arguments})
            case ToolFinished(call_id, name, state):
                self._write("answer", fields | {"id": call_id, "name": name, "state": state})

    def _write_changes(self, changes: Sequence[Change], source: Fields) -> None:
        for change in changes:
            fields = {"change": change.kind, "path": change.path}
            self._write(
                "change",
                {**source, **fields} | ({"to": change.new_path} if change.new_path else {}),
            )

    def _reply_fields(self) -> Fields:
        reply = self._newest_record(Assistant)
        calls = [to_plain(call) for call in reply.calls]
        return {"text": reply.text, "thinking": reply.thinking, "calls": calls}

    def _newest_record(self, kind: Any) -> Any:
        """Return the newest record of *kind*, None where there is none."""
        records = reversed(self._session_handle.history.records)
        return next((record for _, record in records if isinstance(record, kind)), None)

    # --- writing ---------------------------------------------------------------------------------

    def _write(self, kind: str, fields: Fields) -> None:
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        head = {"time": now, "session": self._session_handle.session, "kind": kind}
        line = json.dumps(head | dict(map_strings(fields, self._redacted)), ensure_ascii=False)
        try:
            # Halves of a surrogate pair become the escapes that JSON has for them.
            append_line(self._path, line.encode("utf-8", "backslashreplace"))
        except OSError as error:
            self._fail(error.strerror or str(error))
        else:
            self._has_failed = False

    def _fail(self, why: str) -> None:
        if not self._has_failed:
            path = str(self._path)
            self._warnings.append(
                phrase("Cannot write the operations log {path}: {why}.", path=path, why=why)
            )
        self._has_failed = True

    def _redacted(self, text: str) -> str:
        """Return *text* without secrets, cut where it is long."""
        text = text[: 4 * MAX_TEXT]
        for key in self._keys:
            text = redact_secret(key, text)
        text = redact_keys(self._session_handle.redact(text))
        return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
