"""What a page or a program can ask about sessions: the same over Socket.IO and over HTTP."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from typing import Annotated, Any, Literal, assert_never

from core.blinding import mapped
from core.events import Reply
from core.history import mended
from core.web_terminal import Packet
from modules.export import to_json, to_markdown
from modules.web.file_desk import attachment
from modules.web.following import following, to_the_end, turn_of, with_numbers
from modules.web.outlet import Outlet
from modules.web.refusal import Refused, explained
from modules.web.routes import Events, Sent, route
from modules.web.seat import Operation, Seat
from modules.web.veil import Veil
from modules.web.workspace import Workspace
from utils.codec import to_plain
from utils.phrases import phrase
from utils.text import read_number

TURNS = 30
"""Turns in a snapshot unless more are asked for."""
MOST = 1_000
_ID = Annotated[str, "The id of the session."]
_COMMAND = Annotated[str, "An id of yours: the same twice is done once."]
_ARGUMENTS = Annotated[
    dict[str, Any] | None, "With a yes: what the call is to run with, all of its arguments."
]
Replay = Callable[[str, list[Packet]], str]
"""Makes a page that replays events, from its title and them."""


class SessionDesk:
    """Answers about sessions. Every method may block, and raises `Refused`."""

    def __init__(self, workspace: Workspace, outlet: Outlet, replay: Replay, veil: Veil) -> None:
        self._workspace = workspace
        self._outlet = outlet
        self._replay = replay
        self._veil = veil

    # --- over HTTP only --------------------------------------------------------------------------

    @route("GET", "/api/sessions", "List the sessions, the newest first.")
    def sessions(self, archived: bool = False, limit: int = 200) -> Packet:
        rows = self._workspace.rows(archived=archived, limit=_within(limit, MOST))
        return {"sessions": rows}

    @route("POST", "/api/sessions", "Begin a session.", status=201)
    def create(self) -> Packet:
        return self._workspace.row(self._workspace.create().session)

    @route("GET", "/api/sessions/{id}", "One session and its state.")
    def session(self, id: _ID) -> Packet:  # noqa: A002 - its name in the address
        seat = self._workspace.open(id)
        return {**self._workspace.row(id), "state": seat.picture.state()}

    @route("PATCH", "/api/sessions/{id}", "Rename or archive a session.")
    def change(self, id: _ID, title: str | None = None, archived: bool | None = None) -> Packet:  # noqa: A002
        if title is not None:
            self._workspace.rename(id, title)
        if archived is not None:
            self._workspace.archive(id, archived)
        return self._workspace.row(id)

    @route("DELETE", "/api/sessions/{id}", "Forget a session for good.", status=204)
    def delete(self, id: _ID) -> None:  # noqa: A002
        self._workspace.delete(id)

    @route("GET", "/api/sessions/{id}/transcript", "Older turns of a session.")
    def transcript(self, id: _ID, before: int = 2**31, turns: int = TURNS) -> Packet:  # noqa: A002
        seat = self._workspace.open(id)
        first, events = seat.picture.earlier(before, _within(turns, MOST))
        return {"first_turn": first, "events": events}

    @route("POST", "/api/sessions/{id}/fork", "Begin a session from an earlier turn.", status=201)
    def fork(self, id: _ID, turn: Annotated[int, "The last turn to take over; 0 none."]) -> Packet:  # noqa: A002
        return self._workspace.row(self._workspace.fork(id, turn))

    @route("GET", "/api/sessions/{id}/export", "A session as a file: md, json or html.")
    def export(self, id: _ID, format: Literal["md", "json", "html"] = "md") -> Sent:  # noqa: A002
        info = self._workspace.info(id)
        with explained():
            numbered = mended(self._workspace.store.load(id))
        self._veil.look()
        info = mapped(info, self._veil.hidden)
        records = [mapped(record, self._veil.hidden) for _, record in numbered]
        match format:
            case "md":
                return _file(f"{id}.md", to_markdown(records, info), "text/markdown")
            case "json":
                text = json.dumps(to_json(records, info), indent=1)
                return _file(f"{id}.json", text, "application/json")
            case "html":
                _, events = self._workspace.open(id).picture.earlier(2**31, 2**31)
                return _file(f"{id}.html", self._replay(info.title or id, events), "text/html")
            case _:
                assert_never(format)

    @route("GET", "/api/search", "Search what was said in all sessions.")
    def search(self, text: str, limit: int = 20) -> Packet:
        found = self._workspace.search(text, _within(limit, 200))
        self._veil.look()
        return {"found": [to_plain(mapped(one, self._veil.hidden)) for one in found]}

    @route("POST", "/api/sessions/{id}/messages", "Send a message; stream what follows.")
    def message(
        self,
        id: _ID,  # noqa: A002
        text: str,
        now: bool = False,
        stream: bool = True,
        cmd: _COMMAND = "",
    ) -> Events | Packet:
        command = cmd or uuid.uuid4().hex
        if not stream:
            return {**self.send(id, command, text, now), "cmd": command}
        seat = self._workspace.open(id)
        is_known = command in seat.once
        with ExitStack() as stack:
            listener = stack.enter_context(self._outlet.listening(id))
            answer = self.send(id, command, text, now)
            if "open" in answer:
                return Events(iter([("open", None, {**answer, "cmd": command})]))
            is_over = is_known and not seat.is_awaited(command)
            here = {"session": id, "boot": seat.terminal.boot}
            told = [{**here, **packet} for packet in seat.terminal.since_command(command)]
            kept = stack.pop_all()
        if is_over:
            kept.close()
            return Events(with_numbers(to_the_end(told, command)))
        return Events(turn_of(command, seat, listener, kept, told))

    @route("POST", "/api/sessions/{id}/confirm", "Answer a question; the first answer wins.")
    def confirm(
        self,
        id: _ID,  # noqa: A002
        call_id: str,
        yes: bool,
        always: bool = False,
        pattern: str = "",
        reason: str = "",
        arguments: _ARGUMENTS = None,
        cmd: _COMMAND = "",
    ) -> Packet:
        command = cmd or uuid.uuid4().hex
        return self.answer(id, command, call_id, yes, always, pattern, reason, arguments)

    @route("POST", "/api/sessions/{id}/stop", "Stop what runs.")
    def halt(self, id: _ID) -> Packet:  # noqa: A002
        return self.stop(id, uuid.uuid4().hex)

    @route("POST", "/api/sessions/{id}/command", "Run a slash command beside the talk.")
    def run_command(self, id: _ID, line: str) -> Packet:  # noqa: A002
        return self.command(id, uuid.uuid4().hex, line)

    @route("POST", "/api/sessions/{id}/queue", "Take back, move or bring forward what is queued.")
    def rearrange(
        self,
        id: _ID,  # noqa: A002
        op: Operation,
        item: Annotated[str, "The id of what is queued."],
        to: int = 0,
    ) -> Packet:
        return self.queue(id, uuid.uuid4().hex, op, item, to)

    @route("GET", "/events", "Follow a session: `attached`, then `ev` and `state`.")
    def events(self, session: str, after: int = 0, boot: str = "", turns: int = TURNS) -> Events:
        seat = self._workspace.open(session)
        with ExitStack() as stack:
            listener = stack.enter_context(self._outlet.listening(session))
            arrival = seat.arrive(boot, after, _within(turns, MOST))
            kept = stack.pop_all()
        return Events(following(listener, arrival, kept))

    # --- over both -------------------------------------------------------------------------------

    def attach(self, session: str, boot: str = "", after: int = 0, turns: int = TURNS) -> Packet:
        return self._workspace.open(session).arrive(boot, after, _within(turns, MOST))

    def send(self, session: str, cmd: str, text: str, now: bool = False) -> Packet:
        seat = self._workspace.open(session)
        return seat.once.do(cmd, lambda: self._sent(seat, cmd, text, now))

    def answer(
        self,
        session: str,
        cmd: str,
        call_id: str,
        yes: bool,
        always: bool = False,
        pattern: str = "",
        reason: str = "",
        arguments: _ARGUMENTS = None,
    ) -> Packet:
        seat = self._workspace.open(session)
        reply = Reply(yes, always and yes, pattern, reason, arguments if yes else None)
        return seat.once.do(cmd, lambda: {"won": seat.answer(call_id, reply)})

    def stop(self, session: str, cmd: str) -> Packet:
        seat = self._workspace.open(session)
        return seat.once.do(cmd, lambda: {"running": seat.stop()})

    def queue(self, session: str, cmd: str, op: Operation, id: str, to: int = 0) -> Packet:  # noqa: A002
        seat = self._workspace.open(session)
        return seat.once.do(cmd, lambda: {"text": seat.rearrange(op, id, to)})

    def command(self, session: str, cmd: str, line: str) -> Packet:
        seat = self._workspace.open(session)
        return seat.once.do(cmd, lambda: seat.command(line))

    def _sent(self, seat: Seat, command: str, text: str, now: bool) -> Packet:
        name, _, rest = text.partition(" ")
        match name.rstrip():
            case "/new":
                return {"queued": False, "open": self._workspace.create().session}
            case "/resume":
                return {"queued": False, "open": self._workspace.find(rest.strip())}
            case "/fork" if "--with-files" not in rest:
                return {"queued": False, "open": self._forked(seat, rest.strip())}
            case _:
                return seat.send(command, text, now=now)

    def _forked(self, seat: Seat, turn: str) -> str:
        newest = seat.terminal.history.turn - seat.is_working
        number = read_number(turn) if turn else newest
        if number is None:
            raise Refused("failed", phrase("Say the number of a turn: /fork 3."))
        return self._workspace.fork(seat.session, number)


def _within(number: int, most: int) -> int:
    return max(1, min(number, most))


def _file(name: str, text: str, kind: str) -> Sent:
    return attachment(name, text.encode("utf-8", "replace"), f"{kind}; charset=utf-8")
