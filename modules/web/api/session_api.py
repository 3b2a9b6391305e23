"""What a page or a program can do in a session: the same over Socket.IO and over HTTP."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from typing import Annotated, Any

from core.conversation.message_queue import QueuedMessage
from core.events import Reply
from core.web_terminal import Packet
from modules.web.api.pictures_api import found
from modules.web.api.sessions_api import ID, MOST, TURNS, within
from modules.web.http.errors import ApiError
from modules.web.http.idempotency import Command
from modules.web.http.params import Header, Within
from modules.web.http.routes import Events, route
from modules.web.sessions.event_bus import EventBus
from modules.web.sessions.event_stream import following, to_the_end, turn_of, with_numbers
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import LONGEST, Operation, SessionRunner
from utils.i18n import phrase
from utils.text.lines import read_number

_LAST = Annotated[
    int,
    "What a browser sends when it comes back: it counts, and not `after`.",
    Header("Last-Event-ID"),
]
_ARGUMENTS = Annotated[
    dict[str, Any] | None, "With a yes: what the call is to run with, all of its arguments."
]
_INSTEAD = Annotated[
    list[str] | None, "Ids of what is queued and waits no longer: this message comes in its place."
]
_PICTURES = Annotated[
    list[str] | None, "The digests of pictures that the session was given; then it is no command."
]


class SessionApi:
    """Does what is asked for in the sessions of *workspace*, told of by *outlet*.

    Every method may block, and raises `ApiError`.
    """

    def __init__(self, workspace: SessionRegistry, outlet: EventBus) -> None:
        self._workspace = workspace
        self._outlet = outlet

    # --- over HTTP only --------------------------------------------------------------------------

    @route(
        "POST",
        "/api/sessions/{id}/messages",
        "Send a message; stream what follows.",
        answer={
            "queued": "Whether it waits behind what runs.",
            "cmd": "The id of the command.",
            "open?": "The session to go to, where the command leads to another.",
        },
    )
    def message(
        self,
        id: ID,  # noqa: A002
        text: Annotated[str, "A message or a slash command.", Within(0, LONGEST)],
        now: Annotated[bool, "Stop what runs and go on with this."] = False,
        stream: Annotated[bool, "Tell what happens; else only whether it waits."] = True,
        cmd: Command = "",
        instead: _INSTEAD = None,
        pictures: _PICTURES = None,
    ) -> Events | Packet:
        command = cmd or uuid.uuid4().hex
        if not stream:
            return {**self.send(id, command, text, now, instead, pictures), "cmd": command}
        seat = self._workspace.open(id)
        is_known = command in seat.once
        with ExitStack() as stack:
            listener = stack.enter_context(self._outlet.listening(id))
            answer = self.send(id, command, text, now, instead, pictures)
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

    @route(
        "POST",
        "/api/sessions/{id}/confirm",
        "Answer a question; the first answer wins.",
        answer={"won": "Whether this was the first."},
    )
    def confirm(
        self,
        id: ID,  # noqa: A002
        call_id: str,
        yes: bool,
        always: bool = False,
        pattern: str = "",
        reason: str = "",
        arguments: _ARGUMENTS = None,
        cmd: Command = "",
    ) -> Packet:
        command = cmd or uuid.uuid4().hex
        return self.answer(id, command, call_id, yes, always, pattern, reason, arguments)

    @route(
        "POST",
        "/api/sessions/{id}/stop",
        "Stop what runs.",
        answer={"running": "Whether something ran."},
    )
    def halt(self, id: ID) -> Packet:  # noqa: A002
        return self.stop(id, uuid.uuid4().hex)

    @route(
        "POST",
        "/api/sessions/{id}/command",
        "Run a slash command beside the talk.",
        answer={
            "command": "Its name.",
            "card": "What there is to show, or null.",
            "done": "Whether it was done.",
            "changes": "What it did to files, each with its kind, path and new_path.",
            "effect": "What a screen has to do: clear, session, exit or nothing.",
        },
    )
    def run_command(self, id: ID, line: str) -> Packet:  # noqa: A002
        return self.command(id, uuid.uuid4().hex, line)

    @route(
        "POST",
        "/api/sessions/{id}/queue",
        "Take back, move or bring forward what is queued.",
        answer={"text": "The message.", "pictures?": "Those that belong to it."},
    )
    def rearrange(
        self,
        id: ID,  # noqa: A002
        op: Operation,
        item: Annotated[str, "The id of what is queued."],
        to: int = 0,
    ) -> Packet:
        return self.queue(id, uuid.uuid4().hex, op, item, to)

    @route("GET", "/events", "Follow a session: `attached`, then `ev` and `state`.")
    def events(
        self, session: str, after: int = 0, boot: str = "", turns: int = TURNS, last: _LAST = -1
    ) -> Events:
        after = last if last >= 0 else after
        seat = self._workspace.open(session)
        with ExitStack() as stack:
            listener = stack.enter_context(self._outlet.listening(session))
            arrival = seat.arrive(boot, after, within(turns, MOST))
            kept = stack.pop_all()
        return Events(following(listener, arrival, kept))

    # --- over both -------------------------------------------------------------------------------

    def attach(self, session: str, boot: str = "", after: int = 0, turns: int = TURNS) -> Packet:
        return self._workspace.open(session).arrive(boot, after, within(turns, MOST))

    def send(
        self,
        session: str,
        cmd: str,
        text: str,
        now: bool = False,
        instead: _INSTEAD = None,
        pictures: _PICTURES = None,
    ) -> Packet:
        seat = self._workspace.open(session)
        return seat.once.do(
            cmd, lambda: self._sent(seat, cmd, text, now, instead or [], pictures or [])
        )

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
        return seat.once.do(cmd, lambda: _told(seat.rearrange(op, id, to)))

    def command(self, session: str, cmd: str, line: str) -> Packet:
        seat = self._workspace.open(session)
        return seat.once.do(cmd, lambda: seat.command(line))

    def _sent(
        self,
        seat: SessionRunner,
        command: str,
        text: str,
        now: bool,
        instead: list[str],
        pictures: list[str],
    ) -> Packet:
        if pictures:
            given = found(seat, pictures)
            return seat.send(command, text, now=now, instead=instead, pictures=given)
        name, _, rest = text.partition(" ")
        asked = seat.terminal.commands.get(name.rstrip())
        match asked and asked.spec.leads_to:
            case "new":
                return {"queued": False, "open": self._workspace.create(like=seat).session}
            case "known":
                return {"queued": False, "open": self._workspace.find(rest.strip())}
            case "copy" if "--with-files" not in rest:
                return {"queued": False, "open": self._forked(seat, rest.strip())}
            case _:
                return seat.send(command, text, now=now, instead=instead)

    def _forked(self, seat: SessionRunner, turn: str) -> str:
        newest = seat.terminal.history.turn - seat.is_working
        number = read_number(turn) if turn else newest
        if number is None:
            raise ApiError("failed", phrase("Say the number of a turn: /fork 3."))
        return self._workspace.fork(seat.session, number)


def _told(item: QueuedMessage) -> Packet:
    return {name: value for name, value in item.plain.items() if name != "id"}
