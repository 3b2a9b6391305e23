"""A model that follows a script, a store in memory, and a terminal put together from them.

For tests of the core alone; whatever touches the wire uses the simulator instead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from core.conversation.messages import Record, Wire
from core.conversation.store import SessionInfo, SessionMatch
from core.events import ApprovalAsked, Event, Reply
from core.feature import Feature
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.completion import Completion, Delta, ModelError, RawCall, Retry, Usage
from utils.llm.prices import PriceList, Tariff
from utils.llm.profiles.server_profile import ServerProfile
from utils.llm.served_model import ModelChoice
from utils.pictures import ReadPicture
from utils.waiting import Stop, Stopped

Item = Delta | Retry | Completion | ModelError | Callable[[Stop], None]
USED = Usage(100, 60, 40, 10, 0, 1, 0.001)


def text_reply(text: str, *, thinking: str = "") -> list[Item]:
    """A reply that is only text."""
    deltas: list[Item] = [Delta(thinking=thinking)] if thinking else []
    return [*deltas, Delta(text), Completion(text, thinking, (), USED)]


def call_reply(name: str, *, id: str = "c1", thinking: str = "", **arguments: Any) -> list[Item]:  # noqa: A002
    """A reply that is one call."""
    return calls_reply((id, name, json.dumps(arguments)), thinking=thinking)


def calls_reply(*raw: tuple[str, str, str], thinking: str = "", text: str = "") -> list[Item]:
    """A reply of several calls, their arguments to the letter."""
    deltas: list[Item] = [Delta(thinking=thinking)] if thinking else []
    return [
        *deltas,
        Completion(text, thinking, tuple(RawCall(*raw_call) for raw_call in raw), USED),
    ]


class ScriptedModel:
    """Gives the prepared replies, one a request, and remembers what it was asked."""

    is_well_known = True
    tariff: Tariff | None = None

    def __init__(self, *replies: list[Item]) -> None:
        self.model = "scripted"
        self.profile = self.usual_profile = ServerProfile()
        self.listed: list[str] = []
        self.replies = list(replies)
        self.requests: list[list[Wire]] = []
        self.think_flags: list[bool] = []
        self.reply_limits: list[int] = []
        self.efforts: list[str] = []
        """How hard each call was told to think: "" for not at all."""
        self.tool_lists: list[list[Wire]] = []

    @property
    def choice(self) -> ModelChoice:
        return ModelChoice(self.model)

    def use(self, choice: ModelChoice | None) -> None:
        self.model = choice.name if choice else self.model

    def forget_profile(self) -> None:
        self.profile = ServerProfile()

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        usual = {name: getattr(self.usual_profile, name) for name in changes}
        said = {name: value for name, value in changes.items() if value is not None}
        self.profile = replace(self.profile, **usual | said)

    def set_picture_reader(self, read_picture: ReadPicture) -> None:
        self.read_picture = read_picture

    def set_request_observer(self, on_request: Callable[[bytes], None]) -> None:
        self.on_request = on_request

    def for_other_conversation(self) -> ScriptedModel:
        return self

    def models(self, name: str = "") -> list[str]:  # noqa: ARG002
        """This server does not say what it has, unless a test says so."""
        return self.listed

    def known_of(self, name: str) -> tuple[ServerProfile, Tariff | None]:
        return self.profile, PriceList().tariff(name)

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> Iterator[Delta | Retry | Completion]:
        self.think_flags.append(think)
        self.reply_limits.append(reply_tokens)
        self.efforts.append(effort or "usual" if think else "")
        self.tool_lists.append(list(tools))
        # Last, for that is what a test waits for.
        self.requests.append(json.loads(json.dumps(list(messages))))
        for item in self.replies.pop(0):
            if stop.is_set():
                raise Stopped
            if isinstance(item, ModelError):
                raise item
            if isinstance(item, Delta | Retry | Completion):
                yield item
            else:
                item(stop)


class MemoryStore:
    """Keeps the sessions of one test in memory, in the order they were begun."""

    def __init__(self) -> None:
        self.records: dict[str, list[tuple[int, Record]]] = {}

    def create(self, *, model: str, parent: str = "") -> str:
        session = f"s{len(self.records) + 1}"
        self.records[session] = []
        return session

    def append(self, session: str, turn: int, *records: Record) -> None:
        self.records[session] += [(turn, record) for record in records]

    def fork(self, session: str, turn: int) -> str:
        copy = self.create(model="m", parent=session)
        self.records[copy] = [(n, record) for n, record in self.records[session] if n <= turn]
        return copy

    def load(self, session: str) -> list[tuple[int, Record]]:
        return list(self.records[session])

    def length(self, session: str) -> int:
        return len(self.records.get(session, ()))

    def seconds(self, session: str) -> dict[int, float]:  # noqa: ARG002
        return {}

    def claim(self, session: str) -> None: ...
    def release(self, session: str) -> None: ...

    def warnings(self) -> Sequence[Phrase]:
        return ()

    def status(self) -> Sequence[tuple[Phrase, Text]]:
        return ()

    def sessions(self, limit: int = 50) -> Sequence[SessionInfo]:
        return [SessionInfo(s, s, "m", 0.0, 0.0, 1) for s in reversed(self.records)]

    def info(self, session: str) -> SessionInfo:
        return SessionInfo(session, session, "m", 0.0, 0.0, 1)

    def find(self, id_prefix: str) -> str:
        found = [session for session in self.records if session.startswith(id_prefix)]
        if not found:
            raise UserError(phrase("There is no session {id}.", id=id_prefix))
        return found[-1]

    def search(self, text: str, limit: int = 20) -> Sequence[SessionMatch]:
        return []


def terminal(
    *replies: list[Item], features: Sequence[Feature] = (), **settings: Any
) -> MainTerminal:
    """Return a terminal on a scripted model."""
    settings = {"store": MemoryStore(), "today": lambda: date(2026, 1, 2), **settings}
    return MainTerminal(
        model=ScriptedModel(*replies),
        feature_list=features,
        project="demo",
        system_prompt="You are a test.",
        **settings,
    )


def run_turn(main_terminal: MainTerminal, line: str, reply: Reply | None = None) -> list[Event]:
    """Drive one turn, giving *reply* to every question; return the events."""
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return reply if isinstance(event, ApprovalAsked) else None

    drive(main_terminal.run_line(line), show)
    return events


def start_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
