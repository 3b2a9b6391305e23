"""Commands that are typed alone, with what is chosen for them from a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from core.commands import Commands
from core.conversation.history import History
from core.conversation.messages import Assistant, User
from core.feature import name_of
from core.loop.approval import MODES, ApprovalMode
from core.main_terminal import MainTerminal
from core.session_choice import format_time, turn_count
from modules.cli.input.picker import Choice, Picker
from modules.translator import Translator
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.prices import in_money

MAX_SESSIONS = 1_000
_MODES: dict[ApprovalMode, Phrase] = {
    "guarded": phrase(
        "Asks before actions that cannot be undone, leave the sandbox or use the network."
    ),
    "ask": phrase("Asks before every change and every run."),
    "plan": phrase("Reads and asks, then writes a plan; changes nothing."),
    "read-only": phrase("Changes and runs nothing."),
    "all": phrase("Never asks, except before running something outside the sandbox."),
}


def picked_line(terminal: MainTerminal, translator: Translator, line: str) -> str | None:
    """Return *line*, a command that stands alone, with what the person chooses for it.

    It is as it was where there is nothing to choose from, None where they leave.
    """
    pickers: dict[str, Callable[[MainTerminal, Translator], Picker | None]] = {
        name_of(Commands.resume): _session_picker,
        name_of(Commands.model): _model_picker,
        name_of(Commands.approve): _mode_picker,
    }
    make = pickers.get(line.strip())
    picker = make(terminal, translator) if make else None
    if picker is None:
        return line
    chosen = picker.pick()
    return None if chosen is None else f"{line.strip()} {chosen}"


def _session_picker(terminal: MainTerminal, translator: Translator) -> Picker | None:
    others = [one for one in terminal.store.sessions(MAX_SESSIONS) if one.id != terminal.session]
    if not others:
        return None
    choices = [
        Choice(one.id, f"{format_time(one.updated)}  {terminal.redact(one.title)}  {one.id}")
        for one in others
    ]

    @cache
    def preview(session: str) -> Sequence[str]:
        try:
            return _told_of(terminal, translator, session)
        except UserError as problem:  # it is damaged, or was deleted meanwhile
            return [translator.render(problem.message)]

    return Picker(phrase("Go on with"), choices, translator, preview)


def _told_of(terminal: MainTerminal, translator: Translator, session: str) -> Sequence[str]:
    """Return how far *session* is, what it has cost, and the last words said in it."""
    history = History(lambda *_: None)
    history.replay(terminal.store.load(session))
    cost = in_money(history.usage.cost_usd, 0.0)
    facts: list[Text] = [turn_count(history.turn), cost]
    if history.unanswered_calls:
        facts.append(phrase("a question waits"))
    spoken = [
        one for _, one in history.records if isinstance(one, User | Assistant) and one.text.strip()
    ][-2:]
    words = [
        f"{'›' if isinstance(one, User) else ' '} {' '.join(terminal.redact(one.text).split())}"
        for one in spoken
    ]
    return [" · ".join(map(translator.render, facts)), *words]


def _model_picker(terminal: MainTerminal, translator: Translator) -> Picker | None:
    if terminal.is_practice:
        return None
    return model_picker(terminal.model.models(), terminal.model.model, translator)


def model_picker(names: Sequence[str], now: str, translator: Translator) -> Picker | None:
    """Return what lets the person choose among the models *names*; None where there are none."""
    if not names:
        return None
    choices = [Choice(name, name, name == now) for name in dict.fromkeys([*names, now])]
    return Picker(phrase("Model"), choices, translator)


def _mode_picker(terminal: MainTerminal, translator: Translator) -> Picker | None:
    return mode_picker(terminal.approval.mode, translator)


def mode_picker(now: str, translator: Translator) -> Picker:
    """Return what lets the person choose among the approval modes."""
    choices = [
        Choice(mode, f"{mode:10} {translator.render(_MODES[mode])}", mode == now) for mode in MODES
    ]
    return Picker(phrase("Approval"), choices, translator)
