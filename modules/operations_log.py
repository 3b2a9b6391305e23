"""The operations log: what was asked, called, answered, approved and changed, a JSON line each.

Off, it is but a row of `/status`. On, it hears of everything that the screens are shown, and of the
requests to the model. No secret gets into it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from core.cards import Change
from core.conversation.messages import Assistant, ToolResult, Wire
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
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
from core.redaction import mapped
from utils.i18n import Phrase, Text, phrase
from utils.system.rotated_lines import append_line
from utils.text.codec import to_plain
from utils.text.keys import without, without_keys

LONGEST = 20_000
"""Characters of one text that are kept; the session has all of it."""

Fields = Mapping[str, Any]


class OperationsLog(Feature, BindsToSession, FollowsSession, ProvidesStatus, ProvidesWarnings):
    """Writes to the file *path* if it *is_on*; each of *keys* is blotted out of what it writes.

    A disk that takes nothing stops no task: that is told once (`warnings`).
    """

    _talk: SessionHandle

    def __init__(self, path: Path, keys: Iterable[str], *, is_on: bool) -> None:
        self._path = path
        self._keys = tuple(keys)
        self._is_on = is_on
        self._step = StepStarted(0, thinks=False)
        self._sent = 0
        self._has_failed = False
        self._warnings: list[Phrase] = []

    def meet(self, talk: SessionHandle) -> None:
        if self._is_on:
            self._talk = talk
            talk.observer = self

    def enter(self, session: str) -> None:  # noqa: ARG002
        self._sent = 0

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        where = str(self._path) if self._is_on else phrase("off; --log switches it on")
        yield phrase("Operations log"), where

    def warnings(self) -> Sequence[Phrase]:
        told, self._warnings = self._warnings, []
        return told

    # --- what it hears of (core.observer.Observer) ------------------------------------------------

    def saw(self, event: Event) -> None:
        match event:
            case TurnStarted(text, turn):
                self._write("turn", {"turn": turn, "text": text})
            case StepStarted():
                self._step = event
            case StepFinished(step, usage):
                self._write("reply", {"step": step, **self._reply(), "usage": to_plain(usage)})
            case ToolStarted(call_id, name, arguments, is_revised):
                told = {"id": call_id, "name": name, "arguments": arguments}
                self._write("call", told | ({"revised": True} if is_revised else {}))
            case ApprovalAsked(call_id, name, risk, why):
                told = {"id": call_id, "name": name, "risk": risk, "why": str(why)}
                self._write("question", told)
            case ToolFinished():
                self._finished(event)
            case Retrying(reason, attempt):
                self._write("retry", {"attempt": attempt, "reason": str(reason)})
            case Warned(what) | Informed(what):
                kind = "warning" if isinstance(event, Warned) else "info"
                self._write(kind, {"what": str(what)})
            case TurnFinished(why, detail, usage, seconds, still_open):
                why_else = {"why": why, "detail": str(detail or "")}
                why_else |= {"still_open": str(still_open)} if still_open else {}
                spent = {"seconds": round(seconds, 3), "usage": to_plain(usage)}
                self._write("end", why_else | spent)

    def replied(self, question: ApprovalAsked, reply: Reply | None) -> None:
        told = {"id": question.call_id, "name": question.name, "answered": reply is not None}
        self._write("approval", told | to_plain(reply or Reply(yes=False)))

    def requested(self, messages: Sequence[Wire]) -> None:
        """Log how much is sent, and of what no other line tells: the system messages."""
        since, self._sent = self._sent if self._sent <= len(messages) else 0, len(messages)
        new = [one["content"] for one in messages[since:] if one["role"] == "system"]
        told = {"step": self._step.step, "thinks": self._step.thinks, "messages": len(messages)}
        size = sum(len(one.get("content") or "") for one in messages)
        model = self._talk.model.model
        self._write("request", told | {"characters": size, "model": model, "told": new})

    def answered(self, answer: CommandAnswered) -> None:
        self._write("command", {"command": answer.command, "ok": answer.ok})
        self._changed(answer.changes, {"command": answer.command})

    def _finished(self, event: ToolFinished) -> None:
        told = {"id": event.call_id, "name": event.name, "state": event.state}
        text = self._newest(ToolResult).text
        self._write("answer", told | {"seconds": round(event.seconds, 3), "text": text})
        self._changed(event.changes, {"id": event.call_id})

    def _changed(self, changes: Sequence[Change], by: Fields) -> None:
        for change in changes:
            told = {"change": change.kind, "path": change.path}
            self._write(
                "change", {**by, **told} | ({"to": change.new_path} if change.new_path else {})
            )

    def _reply(self) -> Fields:
        reply = self._newest(Assistant)
        calls = [to_plain(call) for call in reply.calls]
        return {"text": reply.text, "thinking": reply.thinking, "calls": calls}

    def _newest(self, kind: Any) -> Any:
        """Return the newest record of *kind*; there is one whenever an event tells of it."""
        records = reversed(self._talk.history.records)
        return next(record for _, record in records if isinstance(record, kind))

    # --- writing ---------------------------------------------------------------------------------

    def _write(self, kind: str, fields: Fields) -> None:
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        head = {"time": now, "session": self._talk.session, "kind": kind}
        line = json.dumps(head | dict(mapped(fields, self._kept)), ensure_ascii=False)
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
                phrase("The operations log {path} cannot be written: {why}.", path=path, why=why)
            )
        self._has_failed = True

    def _kept(self, text: str) -> str:
        """Return *text* without secrets, cut where it is long."""
        text = text[: 4 * LONGEST]
        for key in self._keys:
            text = without(key, text)
        text = without_keys(self._talk.blind(text))
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
