"""The slash commands of the terminal itself: text in, cards out, the same on both screens.

Commands about one subject (focus, notes, memory, …) stand in the family of that subject.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from core.cards import Card, TableCard, TextCard
from core.conversation.history import History
from core.conversation.messages import Assistant, User
from core.conversation.store import Store
from core.events import CommandAnswered
from core.feature import Command, Feature, command
from core.feature_set import FeatureSet
from core.loop.approval import MODES, Approval, ApprovalMode
from core.loop.thinking import Mode
from core.model_choice import served, set_fields
from core.session_choice import SessionChoice, when
from core.tools import Risk, Toolbox
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.completion import Usage
from utils.text.nearest import nearest

Row = tuple[Text, ...]
PARTS = {
    "system": phrase("instructions"),
    "tools": phrase("tools"),
    "context": phrase("focus, notes, memory"),
    "talk": phrase("conversation"),
    "answers": phrase("tool answers"),
}
_SAID_MODES: Mapping[ApprovalMode, Phrase] = {
    "guarded": phrase("guarded"),
    "ask": phrase("ask"),
    "read-only": phrase("read-only"),
    "all": phrase("all"),
}


def has_to_wait(name: str) -> Phrase:
    """Return what is said of the command *name*, given while a turn runs."""
    return phrase("{command} has to wait: a task runs.", command=name)


class CommandContext(Protocol):
    """What the commands need of the terminal."""

    model: Any
    mode: Mode
    approval: Approval
    tools: Toolbox
    store: Store
    features: FeatureSet
    commands: Mapping[str, Command]
    project: str
    step_limit: int
    is_practice: bool
    is_in_turn: bool
    offers_sessions: bool

    @property
    def history(self) -> History: ...
    @property
    def session(self) -> str: ...
    @property
    def held(self) -> Phrase | None: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def context_used(self) -> tuple[int, int]: ...
    def parts(self) -> dict[str, int]: ...
    def new(self) -> None: ...
    def resume(self, start: str = "") -> str: ...
    def compact(self) -> Phrase: ...


class Commands(Feature):
    """What a person can ask of the terminal without a model."""

    def __init__(self, desk: CommandContext) -> None:
        self._desk = desk
        self._choice = SessionChoice()

    @command(
        "/help",
        "Show the commands.",
        is_concurrent=True,
    )
    def help(self, _: str) -> Card:
        rows = tuple((c.usage, c.help) for c in self._desk.commands.values())
        return TableCard(phrase("Commands"), rows)

    @command(
        "/status",
        "Show model, context, cost, focus, sandbox and approval.",
        is_concurrent=True,
        button="status",
    )
    def show_status(self, _: str) -> Card:
        return TableCard(phrase("Status"), tuple(self._status_rows()))

    @command(
        "/cost",
        "Show the tokens and the cost of this session.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def cost(self, _: str) -> Card:
        return TableCard(phrase("Cost"), tuple(self._cost_rows()))

    @command(
        "/tools",
        "List the tools the model has.",
        is_concurrent=True,
    )
    def tools(self, _: str) -> Card:
        rows = tuple((tool.name, _RISKS[tool.risk], tool.summary) for tool in self._desk.tools)
        columns = (phrase("tool"), phrase("risk"), phrase("what it does"))
        return TableCard(phrase("Tools"), rows, columns)

    @command(
        "/history",
        "Show the turns of this session.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def history(self, _: str) -> Card:
        rows: list[Row] = []
        for turn, record in self._desk.history.records:
            match record:
                case User(text):
                    rows.append((str(turn), phrase("you"), _first_line(text)))
                case Assistant(text, calls=calls) if text or calls:
                    names = ", ".join(call.name for call in calls)
                    said = [_first_line(text), f"→ {names}" if calls else ""]
                    rows.append((str(turn), "Onefold", " ".join(filter(None, said))))
        return TableCard(phrase("History"), tuple(rows))

    @command(
        "/sessions",
        "List the sessions of this project.",
        is_concurrent=True,
    )
    def sessions(self, _: str) -> Card:
        rows = tuple(
            (
                f"{info.id}{' *' if info.id == self._desk.session else ''}",
                when(info.updated),
                phrase("turns: {n}", n=info.turns),
                info.title,
            )
            for info in self._desk.store.sessions()
        )
        return TableCard(phrase("Sessions"), rows)

    @command(
        "/resume [ID]",
        "Go on with a session; without ID, choose one.",
        leads_to="known",
    )
    def resume(self, rest: str) -> CommandAnswered:
        if not rest and self._desk.offers_sessions:
            found = self._desk.store.sessions()
            return CommandAnswered("/resume", self._choice.offer(found, self._desk.session))
        rest = self._choice.id_of(rest)
        session = self._desk.resume(rest)
        turns = self._desk.history.turn
        said = phrase("Session {id} goes on, turns: {n}.", id=session, n=turns)
        card = TextCard(said, self._desk.held or "")
        return CommandAnswered("/resume", card, effect="session")

    @command(
        "/new",
        "Begin a new session.",
        leads_to="new",
    )
    def new(self, _: str) -> CommandAnswered:
        self._desk.new()
        return CommandAnswered("/new", TextCard(phrase("A new session.")), effect="session")

    @command(
        "/search TEXT",
        "Search all sessions of this project.",
        is_concurrent=True,
    )
    def search(self, rest: str) -> Card:
        if not rest:
            raise UserError(phrase("Say what to search for: /search TEXT"))
        rows = tuple(
            (found.session, when(found.when), found.role, found.snippet)
            for found in self._desk.store.search(rest)
        )
        title = phrase("“{text}” in the sessions, found: {n}", text=_first_line(rest), n=len(rows))
        return TableCard(title, rows)

    @command(
        "/compact",
        "Sum up all turns but the last, to make room.",
        takes_back=True,
        belongs_to_session=True,
        button="compact",
    )
    def compact(self, _: str) -> Card:
        return TextCard(self._desk.compact())

    @command(
        "/fast",
        "Never think before acting, but for one call when a task goes in circles.",
        is_concurrent=True,
        option="--fast",
        button="fast",
    )
    def fast(self, _: str) -> Card:
        self._desk.mode = "fast"
        return self._mode_card(phrase("Fast mode: the model acts without thinking first."))

    @command(
        "/think",
        "Think in the first step of each task.",
        is_concurrent=True,
        option="--think",
        button="think",
    )
    def think(self, _: str) -> Card:
        self._desk.mode = "think"
        return self._mode_card(phrase("Think-once mode: the first step of each task thinks."))

    def _mode_card(self, said: Phrase) -> Card:
        later = phrase("It holds from the next task on; this one goes on as it began.")
        return TextCard(said, later if self._desk.is_in_turn else "")

    @command(
        "/model [NAME|forget|set FIELD=VALUE]",
        "Show or change the model; forget what was learnt of its server, or say it yourself.",
        option="--model",
        shows_alone=True,
    )
    def model(self, rest: str) -> Card:
        if rest and self._desk.is_practice:
            raise UserError(
                phrase(
                    "There is only the practice model here. For a real one leave, and start "
                    "without --offline."
                )
            )
        model = self._desk.model
        if rest == "forget":
            model.forget_profile()
        elif rest.startswith("set "):
            set_fields(model, rest.split()[1:])
        elif rest:
            model.model = served(model, rest.split()[0])
        said = phrase("The model is {name}.", name=model.model)
        learnt = model.profile.summary
        note = phrase("What its server takes: {what}", what=learnt) if learnt else ""
        if rest or self._desk.is_practice or not (names := model.models()):
            return TextCard(said, note)
        rows: list[Row] = [(note,)] if note else []
        return TableCard(said, (*rows, *((name,) for name in names)))

    @command(
        "/approve [MODE]",
        "Show or change what you are asked about: guarded, ask, …",
        is_concurrent=True,
        option="--approve",
        shows_alone=True,
        button="approval",
    )
    def approve(self, rest: str) -> Card:
        if rest:
            self._desk.approval.mode = _mode(rest)
        always = ", ".join(self._desk.approval.patterns)
        mode = _SAID_MODES[self._desk.approval.mode]
        return TextCard(phrase("Approval: {mode}.", mode=mode), always)

    @command("/stop", "Stop the running task.")
    def stop(self, _: str) -> Card:
        return TextCard(phrase("Nothing is running."))

    @command("/clear", "Clear the screen; the session stays.")
    def clear(self, _: str) -> CommandAnswered:
        return CommandAnswered("/clear", effect="clear")

    @command("/exit", "Leave Onefold.")
    def exit(self, _: str) -> CommandAnswered:
        return CommandAnswered("/exit", effect="exit")

    def _status_rows(self) -> list[Row]:
        desk = self._desk
        used, limit = desk.context_used
        model = phrase("practice model, no AI") if desk.is_practice else desk.model.model
        mode = phrase("think once") if desk.mode == "think" else phrase("fast")
        turns = phrase("turns: {n}", n=desk.history.turn)
        session: Text = phrase("not begun")
        if desk.session:
            session = phrase("{id}, {turns}", id=desk.session, turns=turns)
        rows: list[Row] = [
            (phrase("Project"), desk.project),
            (phrase("Model"), model),
            (phrase("Mode"), mode),
            (phrase("Session"), session),
            (phrase("Steps"), phrase("at most {n} a task", n=desk.step_limit)),
            (phrase("Context"), _of(used, limit)),
            *(
                (phrase("  for {part}", part=PARTS[part]), f"{tokens:,}")
                for part, tokens in desk.parts().items()
            ),
            *self._cost_rows(),
            (phrase("Approval"), _SAID_MODES[desk.approval.mode]),
            *((phrase("Always allowed"), pattern) for pattern in desk.approval.patterns),
        ]
        if desk.held:
            rows.append((phrase("Only reading"), desk.held))
        if mended := desk.history.incidents:
            repaired = phrase(
                "times: {n}; lost answers or records: {lost}, others put right: {mended}",
                n=len(mended),
                lost=sum(incident.get("lost", 0) for incident in mended),
                mended=max(incident.get("mended", 0) for incident in mended),
            )
            rows.append((phrase("Repaired"), repaired))
        rows += desk.store.status()
        return [*rows, *desk.features.status()]

    def _cost_rows(self) -> list[Row]:
        usage = self._desk.usage
        hits = 100 * usage.cache_hit_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
        return [
            (phrase("Requests"), str(usage.requests)),
            (
                phrase("Tokens"),
                phrase(
                    "in {input:,}, out {output:,}, thinking {thinking:,} of that",
                    input=usage.prompt_tokens,
                    output=usage.completion_tokens,
                    thinking=usage.reasoning_tokens,
                ),
            ),
            (phrase("Cache hits"), f"{hits:.0f} %"),
            (phrase("Cost"), self._price(usage)),
        ]

    def _price(self, usage: Usage) -> Text:
        if usage.requests and not usage.cost_usd and not self._desk.is_practice:
            return phrase("unknown: the settings have no price for this model")
        return f"${usage.cost_usd:.4f}"


_MODES = ", ".join(MODES)
_RISKS = {
    Risk.READ: phrase("reads"),
    Risk.WRITE: phrase("writes"),
    Risk.RUN: phrase("runs programs"),
    Risk.NETWORK: phrase("uses the network"),
    Risk.DESTROY: phrase("deletes"),
}
_LONGEST = 100
"""Characters of one message in `/history`."""


def _mode(name: str) -> ApprovalMode:
    """Return the approval mode called *name*. Raises `UserError` that names them all."""
    for mode in MODES:
        if mode == name:
            return mode
    what = phrase("{mode} is no approval mode; use one of {modes}.", mode=name, modes=_MODES)
    raise UserError(nearest(what, name, MODES))


def _of(used: int, limit: int) -> Phrase:
    return phrase(
        "{used} of {limit} tokens ({part} %)",
        used=f"{used:,}",
        limit=f"{limit:,}",
        part=f"{100 * used / limit:.1f}",
    )


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
