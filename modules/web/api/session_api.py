"""Actions of a page or a program in a session: the same over Socket.IO and over HTTP."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from typing import Annotated, Any

from core.conversation.message_queue import QueuedMessage
from core.conversation.transcript import Packet
from core.events import Reply
from modules.web.api.pictures_api import find_pictures
from modules.web.api.sessions_api import DEFAULT_TURNS, ID, MAX_LIMIT, clamp
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.idempotency import CommandId
from modules.web.http.params import Bounds, Header
from modules.web.http.routes import EventStream, route
from modules.web.sessions.event_bus import EventBus
from modules.web.sessions.event_stream import session_stream, turn_stream, until_end, with_event_ids
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import MAX_MESSAGE_LENGTH, QueueOperation, SessionRunner
from utils.i18n import phrase
from utils.text.lines import parse_number

_LAST_EVENT_ID = Annotated[
    int,
    "What a browser sends when it comes back: it counts, and not `after`.",
    Header("Last-Event-ID"),
]
_ARGUMENTS = Annotated[
    dict[str, Any] | None, "With a yes: what the call is to run with, all of its arguments."
]
_QUESTION_KEY = Annotated[
    str, "The `key` of the question that is meant: no later one about the same call is answered."
]
_REPLACED_IDS = Annotated[
    list[str] | None, "Ids of what is queued and waits no longer: this message comes in its place."
]
_PICTURES = Annotated[
    list[str] | None, "The digests of pictures that the session was given; then it is no command."
]

_MAX_WORDS = 50  # of a completion


class SessionApi:
    """Acts in the sessions of *registry*, whose events come from *event_bus*.

    Every method may block, and raises `ApiError`.
    """

    def __init__(self, registry: SessionRegistry, event_bus: EventBus) -> None:
        self._registry = registry
        self._event_bus = event_bus

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
        text: Annotated[str, "A message or a slash command.", Bounds(0, MAX_MESSAGE_LENGTH)],
        now: Annotated[bool, "Stop what runs and go on with this."] = False,
        stream: Annotated[bool, "Tell what happens; else only whether it waits."] = True,
        cmd: CommandId = "",
        instead: _REPLACED_IDS = None,
        pictures: _PICTURES = None,
    ) -> EventStream | Packet:
        command = cmd or uuid.uuid4().hex
        if not stream:
            return {**self.send(id, command, text, now, instead, pictures), "cmd": command}
        runner = self._registry.open(id)
        is_known = command in runner.idempotency
        with ExitStack() as stack:
            subscriber = stack.enter_context(self._event_bus.subscribe(id))
            answer = self.send(id, command, text, now, instead, pictures)
            if "open" in answer:
                return EventStream(iter([("open", None, {**answer, "cmd": command})]))
            is_over = is_known and not runner.is_pending(command)
            identity = {"session": id, "boot": runner.terminal.delivery.boot}
            past_events = [
                {**identity, **packet} for packet in runner.terminal.delivery.since_command(command)
            ]
            resources = stack.pop_all()
        if is_over:
            resources.close()
            return EventStream(with_event_ids(until_end(past_events, command)))
        return EventStream(turn_stream(command, runner, subscriber, resources, past_events))

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
        lasts: bool = False,
        text: str = "",
        key: _QUESTION_KEY = "",
        cmd: CommandId = "",
    ) -> Packet:
        command = cmd or uuid.uuid4().hex
        return self.answer(
            id, command, call_id, yes, always, pattern, reason, arguments, lasts, text, key
        )

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
            "effect": "What a screen has to do: clear, keys, session, exit or nothing.",
        },
    )
    def run_command(self, id: ID, line: str) -> Packet:  # noqa: A002
        return self.command(id, uuid.uuid4().hex, line)

    @route(
        "GET",
        "/api/sessions/{id}/completions",
        "Complete what stands behind a slash command.",
        answer={"words": "Those that may take the place of the last one."},
    )
    def complete(
        self,
        id: ID,  # noqa: A002
        line: Annotated[str, "The line as far as it is typed."],
    ) -> Packet:
        name, _, typed = line.partition(" ")
        command = self._registry.open(id).terminal.commands.get(name)
        with as_api_errors():
            return {"words": command.next_words(typed)[:_MAX_WORDS] if command else []}

    @route(
        "POST",
        "/api/sessions/{id}/queue",
        "Take back, move or bring forward what is queued.",
        answer={"text": "The message.", "pictures?": "Those that belong to it."},
    )
    def rearrange(
        self,
        id: ID,  # noqa: A002
        op: QueueOperation,
        item: Annotated[str, "The id of what is queued."],
        to: int = 0,
    ) -> Packet:
        return self.queue(id, uuid.uuid4().hex, op, item, to)

    @route("GET", "/events", "Follow a session: `attached`, then `ev` and `state`.")
    def events(
        self,
        session: str,
        after: int = 0,
        boot: str = "",
        turns: int = DEFAULT_TURNS,
        last: _LAST_EVENT_ID = -1,
    ) -> EventStream:
        after = last if last >= 0 else after
        runner = self._registry.open(session)
        with ExitStack() as stack:
            subscriber = stack.enter_context(self._event_bus.subscribe(session))
            attached = runner.attach(boot, after, clamp(turns, MAX_LIMIT))
            self._registry.on_looked_at(session)
            resources = stack.pop_all()
        return EventStream(session_stream(subscriber, attached, resources))

    # --- over both -------------------------------------------------------------------------------

    def attach(
        self, session: str, boot: str = "", after: int = 0, turns: int = DEFAULT_TURNS
    ) -> Packet:
        runner = self._registry.open(session)
        self._registry.on_looked_at(session)
        return runner.attach(boot, after, clamp(turns, MAX_LIMIT))

    def send(
        self,
        session: str,
        cmd: str,
        text: str,
        now: bool = False,
        instead: _REPLACED_IDS = None,
        pictures: _PICTURES = None,
    ) -> Packet:
        runner = self._registry.open(session)
        return runner.idempotency.run_once(
            cmd, lambda: self._dispatch(runner, cmd, text, now, instead or [], pictures or [])
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
        lasts: bool = False,
        text: str = "",
        key: _QUESTION_KEY = "",
    ) -> Packet:
        runner = self._registry.open(session)
        reply = Reply(
            yes, always and yes, pattern, reason, arguments if yes else None, lasts and yes, text
        )
        return runner.idempotency.run_once(cmd, lambda: {"won": runner.answer(call_id, reply, key)})

    def stop(self, session: str, cmd: str) -> Packet:
        runner = self._registry.open(session)
        return runner.idempotency.run_once(cmd, lambda: {"running": runner.stop()})

    def queue(self, session: str, cmd: str, op: QueueOperation, id: str, to: int = 0) -> Packet:  # noqa: A002
        runner = self._registry.open(session)
        return runner.idempotency.run_once(cmd, lambda: _queue_answer(runner.rearrange(op, id, to)))

    def command(self, session: str, cmd: str, line: str) -> Packet:
        runner = self._registry.open(session)
        return runner.idempotency.run_once(cmd, lambda: runner.run_command(line))

    def _dispatch(
        self,
        runner: SessionRunner,
        command: str,
        text: str,
        now: bool,
        replaces: list[str],
        pictures: list[str],
    ) -> Packet:
        if pictures:
            messages_pictures = find_pictures(runner, pictures)
            return runner.send(
                command, text, now=now, replaces=replaces, pictures=messages_pictures
            )
        name, _, argument = text.partition(" ")
        asked = runner.terminal.commands.get(name.rstrip())
        match asked and asked.spec.leads_to:
            case "new":
                return {"queued": False, "open": self._registry.create(settings_of=runner).session}
            case "known":
                return {"queued": False, "open": self._registry.find(argument.strip())}
            case "copy" if "--with-files" not in argument:
                return {"queued": False, "open": self._fork(runner, argument.strip())}
            case _:
                return runner.send(command, text, now=now, replaces=replaces)

    def _fork(self, runner: SessionRunner, turn: str) -> str:
        newest = runner.terminal.history.turn - runner.is_working
        number = parse_number(turn) if turn else newest
        if number is None:
            raise ApiError("failed", phrase("Usage: /fork TURN, such as /fork 3."))
        return self._registry.fork(runner.session, number)


def _queue_answer(item: QueuedMessage) -> Packet:
    return {name: value for name, value in item.as_json.items() if name != "id"}
