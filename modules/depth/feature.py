"""Depth of tasks: social, brief, standard or deep, by rules that the person can see and edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.cards import Card, TableCard
from core.conversation.messages import Assistant
from core.conversation.transcript import is_turn_end, turn_end_in
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import (
    BindsToSession,
    KeepsState,
    ProvidesContext,
    ProvidesStatus,
    RoutesTasks,
)
from core.loop.depth import STANDARD, Depth, Route
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.lines import parse_number

if TYPE_CHECKING:
    from modules.depth.line_rules import Judged
    from modules.depth.person_config import PersonConfig

MAX_SOCIAL_TOKENS = 140
"""Tokens of the reply to a social line."""
BRIEF_NOTE = "A brief question: look at no more than the answer needs, and answer in few sentences."
DEPTH_LABELS: dict[Depth, Phrase] = {
    "social": phrase("social"),
    "brief": phrase("brief"),
    "standard": phrase("standard"),
    "deep": phrase("deep"),
}
_CHOICES = ("brief", "standard", "deep")
_PREFERENCES = "Preferences of the person:"


class TaskDepth(Feature, RoutesTasks, ProvidesContext, ProvidesStatus, KeepsState, BindsToSession):
    """Finds out how deep each task goes, by the rules and by those in the file *path*.

    *chosen* is what the settings say, None for the rules; *deep_note* is what the model is told of
    a deep task. *has_open_work* tells whether the last task
    has left something to do.
    """

    _session: SessionHandle

    def __init__(
        self,
        path: Path,
        chosen: Depth | None,
        deep_note: str,
        has_open_work: Callable[[], bool] = lambda: False,
    ) -> None:
        self._file = SharedFile(path)
        self._set = self._chosen = chosen
        self._is_kept = False
        self._deep_note = deep_note
        self._has_open_work = has_open_work
        self._last: Judged | None = None
        self._problem: Text | None = None
        self._cached: tuple[Stamp | None, PersonConfig | None] = (None, None)

    def take_default(self, chosen: Depth | None) -> None:
        """Go as deep as *chosen* where the session does not say itself, None: by the rules."""
        self._set = chosen
        if not self._is_kept:
            self._chosen = chosen

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    @property
    def last_depth(self) -> Depth | None:
        """The depth of the last task, None where there was none yet."""
        return self._last.depth if self._last else None

    def route(self, line: str) -> Route:
        from modules.depth.line_rules import judge  # its patterns, once there is a line

        config = self._config()
        self._last = judge(
            line,
            config.rules if config else (),
            config.off if config else (),
            chosen=self._chosen,
            is_open=self._is_something_open(),
        )
        match self._last.depth:
            case "social":
                return Route("social", reply_tokens=MAX_SOCIAL_TOKENS, may_think=False)
            case "brief":
                # Small models take the note for leave to guess: of 15 none looked, without it ten.
                is_told = self._chosen or self._session.model.is_well_known
                return Route("brief", BRIEF_NOTE if is_told else "", may_think=False)
            case "deep":
                return Route("deep", self._deep_note)
            case _:
                return STANDARD

    def _is_something_open(self) -> bool:
        """Return whether the person may mean to answer: a question, or a task that did not end."""
        from modules.depth.open_answers import leaves_open  # its patterns, once there is a line

        history = self._session.history
        last = history.records[-1][0] if history.records else 0
        records = [one for _, one in takewhile(lambda r: r[0] == last, reversed(history.records))]
        ends = (turn_end_in(one) for one in records if is_turn_end(one))
        if any(end.why != "done" for end in ends) or self._has_open_work():
            return True
        said = next((one.text for one in records if isinstance(one, Assistant) and one.text), "")
        return leaves_open(said)

    @command(
        "/depth [auto|brief|standard|deep|add RULE|forget N|off RULE|on RULE]",
        "Show or change the depth of tasks and its rules.",
        is_concurrent=True,
        shows_alone=True,
        button="depth",
    )
    def depth(self, argument: str) -> Card:
        word, _, rest = argument.partition(" ")
        match word:
            case "":
                pass
            case "auto" | "brief" | "standard" | "deep" if not rest:
                self._chosen = None if word == "auto" else cast(Depth, word)
                self._is_kept = True
            case "add" if rest.strip():
                self._add(rest.strip())
            case "forget":
                self._forget(parse_number(rest.strip()) or 0)
            case "off" | "on":
                self._switch(rest.strip(), is_on=word == "on")
            case _:
                raise UserError(_how_to_say())
        return self._card()

    def _add(self, text: str) -> None:
        from modules.depth.person_config import parse_rule, with_item

        if not (rule := parse_rule(text)):
            raise UserError(_how_to_say())
        config = self._config()
        if not config or rule not in config.rules:
            self._file.change(lambda data: with_item(data, f"{rule.depth}: {rule.pattern}"))

    def _forget(self, number: int) -> None:
        from modules.depth.person_config import without_rule

        config = self._config()
        if not config or not 0 < number <= len(config.rules):
            raise UserError(
                phrase("Usage: /depth forget N. /depth shows the numbers of your rules.")
            )
        self._file.change(lambda data: without_rule(data, config.rules[number - 1]))

    def _switch(self, name: str, *, is_on: bool) -> None:
        from modules.depth.line_rules import RULES, WORD_RULES
        from modules.depth.person_config import off_item, with_item, without_off

        if name not in [rule.name for rule in (*WORD_RULES, *RULES)]:
            raise UserError(phrase("Unknown rule {name!r}. /depth lists the rules.", name=name))
        config = self._config()
        is_off = config is not None and name in config.off
        if is_on and is_off:
            self._file.change(lambda data: without_off(data, name))
        elif not is_on and not is_off:
            self._file.change(lambda data: with_item(data, off_item(name)))

    def _card(self) -> Card:
        from modules.depth.line_rules import RULES, WORD_RULES

        config = self._config()
        rows: list[tuple[Text, ...]] = []
        for number, own in enumerate(config.rules if config else (), 1):
            rows.append((str(number), DEPTH_LABELS[own.depth], own.pattern))
        off = config.off if config else frozenset()
        for rule in (*WORD_RULES, *RULES):
            name = phrase("{name} (off)", name=rule.name) if rule.name in off else rule.name
            rows.append((name, DEPTH_LABELS[rule.depth], rule.about))
        rows.append(("", DEPTH_LABELS["standard"], phrase("Everything else")))
        for text in config.unknown if config else ():
            rows.append((phrase("invalid rule"), "", text))
        rows.append((phrase("Your rules"), "", str(self._file.path)))
        return TableCard(
            self._title(), tuple(rows), (phrase("rule"), phrase("depth"), phrase("matching lines"))
        )

    def _title(self) -> Phrase:
        if self._chosen:
            label = DEPTH_LABELS[self._chosen]
            return phrase("Depth: {depth}, until /depth auto", depth=label)
        if self._last is None:
            return phrase("Depth: by the rules")
        return phrase("Depth: by the rules; the last task: {depth}", depth=self._last_words())

    def _last_words(self) -> Text:
        if self._last is None:
            return ""
        label = DEPTH_LABELS[self._last.depth]
        if not self._last.rule:
            return label
        if self._last.words:
            words = ", ".join(self._last.words)
            return phrase(
                "{depth} ({rule}: {words})", depth=label, rule=self._last.rule, words=words
            )
        return phrase("{depth} ({rule})", depth=label, rule=self._last.rule)

    def context(self) -> Iterable[Section]:
        config = self._config()
        if not config or not config.preferences:
            return [Section("preferences", "")]
        lines = [f"- {one}" for one in config.preferences]
        return [Section("preferences", "\n".join([_PREFERENCES, *lines]))]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        if self._problem:
            return [(phrase("Depth"), self._problem)]
        return [(phrase("Depth"), self._last_words())] if self._last else []

    def state(self) -> dict[str, Any]:
        """Return what was chosen, where something was."""
        return {"depth": self._chosen or ""} if self._is_kept else {}

    def restore(self, state: dict[str, Any]) -> None:
        self._is_kept = "depth" in state
        kept = state.get("depth")
        self._chosen = (kept if kept in _CHOICES else None) if self._is_kept else self._set
        self._last = None

    def _config(self) -> PersonConfig | None:
        """Return what the file says, None where there is none or it cannot be read."""
        stamp = self._file.stamp()
        if stamp is None:
            return None
        if stamp != self._cached[0]:
            from modules.depth.person_config import PersonConfig  # where there is a file

            self._cached, self._problem = (stamp, None), None
            try:
                self._cached = (stamp, PersonConfig.parse(self._file.read()))
            except UserError as error:  # /status tells of it; our own rules do without
                self._problem = error.message
        return self._cached[1]


def _how_to_say() -> Phrase:
    return phrase(
        "Usage: /depth deep (or auto, brief, standard), /depth add deep: WORDS, /depth "
        "forget N, or /depth off RULE."
    )
