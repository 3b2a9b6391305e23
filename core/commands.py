"""The slash commands of the terminal itself: text in, cards out, the same on both screens.

Commands about one subject (focus, notes, memory, …) stand in the feature of that subject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast, get_args

from core.cards import Alarm, Card, TableCard, TextCard
from core.command_table import CommandTable
from core.conversation.history import History
from core.conversation.messages import Assistant, User
from core.conversation.store import Store
from core.events import CommandAnswered
from core.feature import Feature, command
from core.feature_set import FeatureSet
from core.loop.approval import MODES, PACKAGES, Approval, ApprovalMode, KeptApproval
from core.loop.thinking import Mode
from core.model_choice import served, set_fields
from core.session_choice import SessionChoice, format_time, marks_of, turn_count
from core.tools import Toolbox
from utils.i18n import Phrase, Text, UserError, join_lines, phrase
from utils.llm.completion import Usage
from utils.llm.prices import in_money
from utils.text.clean import visible
from utils.text.lines import parse_number
from utils.text.nearest import with_suggestion

Row = tuple[Text, ...]
PART_LABELS = {
    "system": phrase("instructions"),
    "tools": phrase("tools"),
    "context": phrase("focus, notes, memory"),
    "talk": phrase("conversation"),
    "answers": phrase("tool results"),
}
MODE_LABELS: Mapping[ApprovalMode, Phrase] = {
    "guarded": phrase("guarded"),
    "ask": phrase("ask"),
    "plan": phrase("plan"),
    "read-only": phrase("read-only"),
    "all": phrase("all"),
}


def must_wait_message(name: str) -> Phrase:
    """Return the message for the command *name*, given while a turn runs."""
    return phrase("{command} has to wait: a task is running.", command=name)


class CommandContext(Protocol):
    """Everything that the commands need of the terminal."""

    model: Any
    mode: Mode
    approval: Approval
    tools: Toolbox
    store: Store
    features: FeatureSet
    commands: CommandTable
    project: str
    step_limit: int
    is_practice: bool
    is_in_turn: bool
    offers_sessions: bool
    runs_shell_escapes: bool

    @property
    def history(self) -> History: ...
    @property
    def session(self) -> str: ...
    @property
    def locked_by(self) -> Phrase | None: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def yuan_per_dollar(self) -> float: ...
    @property
    def context_used(self) -> tuple[int, int]: ...
    def tokens_by_part(self) -> dict[str, int]: ...
    def new(self) -> None: ...
    def resume(self, id_prefix: str = "") -> str: ...
    def compact(self) -> Phrase: ...


class Commands(Feature):
    """Commands that a person can give to the terminal without a model."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._choice = SessionChoice()

    @command(
        "/help",
        "Show the commands.",
        is_concurrent=True,
    )
    def help(self, _: str) -> Card:
        rows: list[Row] = list(self._context.commands.help_rows())
        if self._context.runs_shell_escapes:
            rows += self._context.commands.shortcut_rows()
            rows.append(("!COMMAND", phrase("Run the command yourself, outside the sandbox.")))
            rows.append(("!!COMMAND", phrase("The same, without telling the model.")))
        return TableCard(phrase("Commands"), tuple(rows))

    @command("/keys", "Show the keyboard shortcuts.", is_concurrent=True, shortcut="?？")
    def keys(self, _: str) -> CommandAnswered:
        return CommandAnswered("/keys", effect="keys")

    @command(
        "/status",
        "Show the model, context, cost, focus, sandbox and approval mode.",
        is_concurrent=True,
        button="status",
    )
    def show_status(self, _: str) -> Card:
        rows = tuple(self._status_rows())
        alarms = tuple(n for n, row in enumerate(rows) if any(isinstance(c, Alarm) for c in row))
        return TableCard(phrase("Status"), rows, alarms=alarms)

    @command(
        "/cost [turn|session|day|model]",
        "Show the tokens and the cost of this session, or of what you name.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def cost(self, argument: str) -> Card:
        if argument:
            return self._figures(argument)
        thinking = self._context.features.costs.thinking_rows(self._context.mode)
        return TableCard(phrase("Cost"), (*self._cost_rows(), *thinking))

    @command(
        "/history [TURN]",
        "Show the turns of this session, or all that was said in one of them.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def history(self, argument: str) -> Card:
        if argument:
            return self._turn_card(argument)
        rows: list[Row] = []
        for turn, record in self._context.history.records:
            match record:
                case User(text, typed=typed):
                    rows.append((str(turn), phrase("you"), _first_line(typed or text)))
                case Assistant(text, calls=calls) if text or calls:
                    names = ", ".join(call.name for call in calls)
                    parts = [_first_line(text), f"→ {names}" if calls else ""]
                    rows.append((str(turn), "Onefold", " ".join(filter(None, parts))))
        return TableCard(phrase("History"), tuple(rows))

    def _turn_card(self, argument: str) -> Card:
        """Return all that was said in the turn that *argument* names. Raises `UserError`."""
        turn = parse_number(argument)
        texts: list[str] = []
        for number, record in self._context.history.records:
            match record:
                case User(text, typed=typed) if number == turn:
                    texts.append(f"› {typed or text}")
                case Assistant(text, calls=calls) if number == turn:
                    names = ", ".join(call.name for call in calls)
                    texts += filter(None, [text, f"→ {names}" if calls else ""])
        if not texts:
            raise UserError(phrase("There is no turn {turn}.", turn=argument))
        return TextCard(phrase("Turn {n}", n=argument), "\n\n".join(texts))

    @command(
        "/sessions",
        "List the sessions of this project.",
        is_concurrent=True,
    )
    def sessions(self, _: str) -> Card:
        infos = sorted(self._context.store.sessions(), key=lambda info: not info.pinned)
        has_marks = any(any(marks_of(info)) for info in infos)
        rows = tuple(
            (
                f"{info.id}{' *' if info.id == self._context.session else ''}",
                format_time(info.updated),
                turn_count(info.turns),
                info.title,
                *(marks_of(info) if has_marks else ()),
            )
            for info in infos
        )
        return TableCard(phrase("Sessions"), rows)

    @command(
        "/resume [ID]",
        "Resume a session; without ID, choose one.",
        leads_to="known",
    )
    def resume(self, argument: str) -> CommandAnswered:
        if not argument and self._context.offers_sessions:
            sessions = self._context.store.sessions()
            return CommandAnswered("/resume", self._choice.offer(sessions, self._context.session))
        argument = self._choice.id_of(argument)
        session = self._context.resume(argument)
        turns = turn_count(self._context.history.turn)
        title = phrase("Resumed session {id} ({turns}).", id=session, turns=turns)
        card = TextCard(title, self._context.locked_by or "")
        return CommandAnswered("/resume", card, effect="session")

    @command(
        "/new",
        "Start a new session.",
        leads_to="new",
    )
    def new(self, _: str) -> CommandAnswered:
        return self._begin_session("/new")

    @command(
        "/clear",
        "Clear the screen and start a new session.",
        leads_to="new",
    )
    def clear(self, _: str) -> CommandAnswered:
        return self._begin_session("/clear")

    def _begin_session(self, name: str) -> CommandAnswered:
        before = self._context.session
        self._context.new()
        way_back = phrase("/resume {id} returns to the previous one.", id=before) if before else ""
        card = TextCard(phrase("New session started."), way_back)
        return CommandAnswered(name, card, effect="session")

    @command(
        "/search TEXT",
        "Search all sessions of this project.",
        is_concurrent=True,
    )
    def search(self, argument: str) -> Card:
        if not argument:
            raise UserError(phrase("Usage: /search TEXT"))
        rows = tuple(
            (match.session, format_time(match.when), match.role, match.snippet)
            for match in self._context.store.search(argument)
        )
        title = phrase(
            "Sessions that contain “{text}”: {n:,}", text=_first_line(argument), n=len(rows)
        )
        return TableCard(title, rows)

    @command(
        "/compact",
        "Summarize all turns but the last to free up context.",
        takes_back=True,
        belongs_to_session=True,
        button="compact",
    )
    def compact(self, _: str) -> Card:
        return TextCard(self._context.compact())

    @command(
        "/fast",
        "Act without thinking first, except once when a task goes in circles.",
        is_concurrent=True,
        option="--fast",
        button="fast",
    )
    def fast(self, _: str) -> Card:
        title = phrase("Fast mode: the model acts without thinking first.")
        return self._switch("fast", title)

    @command(
        "/think",
        "Think once, in the first step of each task.",
        is_concurrent=True,
        option="--think",
        button="think",
    )
    def think(self, _: str) -> Card:
        title = phrase("Think-once mode: the first step of each task thinks.")
        return self._switch("think", title)

    def _switch(self, mode: Mode, title: Phrase) -> Card:
        """Go over to *mode*; say what that costs, for it costs nothing before the next task."""
        costs = self._context.features.costs
        if cost := costs.switch_note(mode):
            costs.on_switch_told(mode)
        self._context.mode = mode
        when = phrase("This takes effect with the next task.")
        if not self._context.is_in_turn:
            return TextCard(title, cost)
        return TextCard(title, join_lines(when, cost) if cost else when)

    @command(
        "/model [NAME|forget|set FIELD=VALUE]",
        "Show or change the model; forget or set what its server supports.",
        option="--model",
        shows_alone=True,
        kept=("forget", "set"),
    )
    def model(self, argument: str) -> Card:
        if argument and self._context.is_practice:
            raise UserError(
                phrase(
                    "Only the practice model is available. For a real one, restart without "
                    "--offline."
                )
            )
        model = self._context.model
        if argument == "forget":
            model.forget_profile()
        elif argument.startswith("set "):
            set_fields(model, _assignments(argument.split()[1:]))
        elif argument:
            model.model = served(model, argument.split()[0])
        title = phrase("Model: {name}.", name=model.model)
        profile_summary = model.profile.summary
        note: Text = (
            phrase("Server settings: {what}", what=profile_summary) if profile_summary else ""
        )
        if argument or self._context.is_practice:
            return TextCard(title, note)
        how = phrase("/model NAME changes it.")
        if not (names := model.models()):
            return TextCard(title, join_lines(how, note) if note else how)
        listed = ((f"{name} *" if name == model.model else name,) for name in names)
        rows: list[Row] = [(note,)] if note else []
        return TableCard(title, (*rows, *listed, (how,)))

    @command(
        "/approve [MODE|next|list|forget N]",
        "Show or change the approval mode: guarded, ask, …",
        is_concurrent=True,
        option="--approve",
        shows_alone=True,
        kept=("list", "forget"),
        button="approval",
    )
    def approve(self, argument: str) -> Card:
        if argument == "list":
            return self._approvals_card()
        if argument.split()[:1] == ["forget"]:
            return self._approvals_card(self._forget_approval(argument.split()[1:]))
        if argument == "next":
            self._context.approval.go_round()
        elif argument:
            self._context.approval.mode = _parse_mode(argument)
        always = ", ".join(self._context.approval.patterns)
        mode = MODE_LABELS[self._context.approval.mode]
        return TextCard(phrase("Approval mode: {mode}.", mode=mode), always)

    def _approvals_card(self, news: Phrase | None = None) -> Card:
        """Return what is always allowed, below *news*."""
        rows: list[Row] = [(str(number), *one) for number, one in enumerate(self._allowed(), 1)]
        if not rows:
            nothing = phrase("Nothing is always allowed.")
            return TextCard(news, nothing) if news else TextCard(nothing)
        title = news or phrase("Always allowed (/approve forget N takes one back)")
        columns = (phrase("number"), phrase("allowed"), phrase("scope"))
        return TableCard(title, tuple(rows), columns)

    def _allowed(self) -> list[tuple[Text, Phrase]]:
        """Return what is always allowed, in words, and where."""
        tools, in_session = self._context.tools, self._context.approval.patterns
        return [
            *(
                (_words_for_kept(one, tools), phrase("in this project"))
                for one in self._kept_approvals()
            ),
            *((_words_for_pattern(one, tools), phrase("in this session")) for one in in_session),
        ]

    def _kept_approvals(self) -> Sequence[KeptApproval]:
        kept = self._context.approval.kept
        return kept.all() if kept else ()

    def _forget_approval(self, words: Sequence[str]) -> Phrase:
        """Take back what `/approve list` shows with the number that *words* say; tell what."""
        approval, known, allowed = self._context.approval, self._kept_approvals(), self._allowed()
        number = parse_number(" ".join(words)) or 0
        if not 0 < number <= len(allowed):
            raise UserError(phrase("Usage: /approve forget N. /approve list shows the numbers."))
        if number > len(known):
            del approval.patterns[number - len(known) - 1]
        elif approval.kept:
            approval.kept.remove(known[number - 1])
        return phrase("No longer allowed: {what}", what=allowed[number - 1][0])

    @command("/stop", "Stop the running task.")
    def stop(self, _: str) -> Card:
        return TextCard(phrase("No task is running."))

    @command("/cls", "Clear the screen and keep the session.")
    def cls(self, _: str) -> CommandAnswered:
        return CommandAnswered("/cls", effect="clear")

    @command("/exit", "Quit Onefold.")
    def exit(self, _: str) -> CommandAnswered:
        return CommandAnswered("/exit", effect="exit")

    @command("/quit", "Quit Onefold.")
    def quit(self, _: str) -> CommandAnswered:
        return CommandAnswered("/quit", effect="exit")

    def _status_rows(self) -> list[Row]:
        context = self._context
        used, limit = context.context_used
        model = phrase("practice model, no AI") if context.is_practice else context.model.model
        mode = phrase("think once") if context.mode == "think" else phrase("fast")
        turns = turn_count(context.history.turn)
        session: Text = phrase("not started")
        if context.session:
            session = phrase("{id}, {turns}", id=context.session, turns=turns)
        rows: list[Row] = [
            (phrase("Project"), context.project),
            (phrase("Model"), model),
            *_protocol_row(context.model.profile.protocol),
            (phrase("Mode"), mode),
            (phrase("Session"), session),
            (phrase("Steps"), _step_limit(context.step_limit)),
            (phrase("Context"), _share_of_limit(used, limit)),
            *(
                (phrase("  for {part}", part=PART_LABELS[part]), f"{tokens:,}")
                for part, tokens in context.tokens_by_part().items()
            ),
            *self._cost_rows(),
            (phrase("Approval"), MODE_LABELS[context.approval.mode]),
            *((phrase("Always allowed"), pattern) for pattern in context.approval.patterns),
        ]
        if context.locked_by:
            rows.append((phrase("Read-only"), context.locked_by))
        if incidents := context.history.incidents:
            repaired = phrase(
                "{n:,} times; lost answers or records: {lost:,}; repaired: {mended:,}",
                n=len(incidents),
                lost=sum(incident.get("lost", 0) for incident in incidents),
                mended=max(incident.get("mended", 0) for incident in incidents),
            )
            rows.append((phrase("Repaired"), repaired))
        rows += context.store.status()
        return [*rows, *context.features.status()]

    def _figures(self, by: str) -> Card:
        from core.conversation.figures import By, figures_by, figures_card  # for who asks only

        if by not in get_args(By):
            raise UserError(phrase("Usage: /cost turn, /cost session, /cost day or /cost model."))
        context = self._context
        kind: By = cast("By", by)
        figures = figures_by(kind, context.store.spent(), context.session)
        if not figures:
            return TextCard(phrase("Nothing was spent yet."))
        titles = {one.key: _title(context.store, one.key) for one in figures if by == "session"}
        return figures_card(kind, figures, titles, context.yuan_per_dollar)

    def _cost_rows(self) -> list[Row]:
        usage = self._context.usage
        hits = 100 * usage.cache_hit_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
        return [
            (phrase("Requests"), str(usage.requests)),
            (
                phrase("Tokens"),
                phrase(
                    "input {input:,}, output {output:,} (thinking {thinking:,})",
                    input=usage.prompt_tokens,
                    output=usage.completion_tokens,
                    thinking=usage.reasoning_tokens,
                ),
            ),
            (phrase("Cache hits"), f"{hits:.0f} %"),
            (phrase("Cost"), self._price(usage)),
            *self._context.features.costs.rows(),
        ]

    def _price(self, usage: Usage) -> Text:
        if usage.requests and not usage.cost_usd and not self._context.is_practice:
            return phrase("unknown: no price is set for this model")
        return in_money(usage.cost_usd, self._context.yuan_per_dollar)


def _title(store: Store, session: str) -> str:
    return store.info(session).title


_MODE_NAMES = ", ".join(MODES)
_MAX_SNIPPET = 100
"""Characters of one message in `/history`."""


def _words_for_kept(kept: KeptApproval, tools: Toolbox) -> Phrase:
    """Return what *kept* allows, in words, and what it was asked for."""
    why = visible(kept.why) if "{" in kept.why else Phrase(kept.why)
    what = _words_for_pattern(kept.pattern, tools)
    return phrase("{what} (when the question says: {why})", what=what, why=why)


def _words_for_pattern(pattern: str, tools: Toolbox) -> Phrase:
    """Return what *pattern* covers, in words."""
    if pattern == PACKAGES:
        return phrase("runs that only download packages")
    name, _, subject = pattern.partition(" ")
    spec = tools.specs.get(name)
    if spec and subject == "*":
        return phrase("every call of {tool}", tool=name)
    if spec and spec.is_shell and subject.endswith(" *"):
        return phrase(
            "commands that start with “{words}”, without ; | > or similar",
            words=visible(subject.removesuffix(" *")),
        )
    if pattern.endswith(" *"):
        return phrase("calls that start with “{words}”", words=visible(pattern.removesuffix(" *")))
    return phrase("only {call}", call=visible(pattern))


def _protocol_row(name: str) -> list[Row]:
    return [] if name == "native" else [(phrase("Protocol"), name)]


def _assignments(words: Sequence[str]) -> Sequence[str]:
    """Return *words* as FIELD=VALUE; one field and its value may be two words."""
    is_pair = len(words) == 2 and not any("=" in word for word in words)
    return ["=".join(words)] if is_pair else words


def _parse_mode(name: str) -> ApprovalMode:
    """Return the approval mode called *name*. Raises `UserError` that names them all."""
    for mode in MODES:
        if mode == name:
            return mode
    message = phrase(
        "Unknown approval mode {mode}. Choose one of: {modes}.", mode=name, modes=_MODE_NAMES
    )
    raise UserError(with_suggestion(message, name, MODES))


def _step_limit(limit: int) -> Phrase:
    if not limit:
        return phrase("no limit")
    return phrase("up to {n:,} per task", n=limit)


def _share_of_limit(used: int, limit: int) -> Phrase:
    return phrase(
        "{used:,} of {limit:,} tokens ({part} %)",
        used=used,
        limit=limit,
        part=f"{100 * used / limit:.1f}",
    )


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _MAX_SNIPPET else line[: _MAX_SNIPPET - 1] + "…"
