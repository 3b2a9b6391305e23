"""Commands that are typed alone, with what is chosen for them from a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

from prompt_toolkit.formatted_text import StyleAndTextTuples

from core.commands import MODE_LABELS, Commands
from core.conversation.history import History
from core.conversation.messages import Assistant, User
from core.feature import name_of
from core.loop.approval import MODES, ApprovalMode
from core.main_terminal import MainTerminal
from core.session_choice import format_time, turn_count
from modules.cli.colors import PALETTES, Colors, ThemeName
from modules.cli.input.picker import Choice, Picker
from modules.settings.feature import SettingsCommand
from modules.translator import Translator
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.prices import in_money

MAX_SESSIONS = 1_000
_THEMES: dict[ThemeName, Phrase] = {
    "auto": phrase("The terminal's own colors."),
    "light": phrase("For a light background."),
    "dark": phrase("For a dark background."),
    "contrast": phrase("High contrast: the terminal's own text color, bold."),
}
_MODES: dict[ApprovalMode, Phrase] = {
    "guarded": phrase(
        "Asks before actions that cannot be undone, leave the sandbox or use the network."
    ),
    "ask": phrase("Asks before every change and every run."),
    "plan": phrase("Reads and asks, then writes a plan; changes nothing."),
    "read-only": phrase("Changes and runs nothing."),
    "all": phrase("Never asks, except before running something outside the sandbox."),
}


def picked_line(
    terminal: MainTerminal, translator: Translator, colors: Colors, line: str
) -> str | None:
    """Return *line*, a command that stands alone, with what the person chooses for it.

    It is as it was where there is nothing to choose from, None where they leave.
    """
    pickers: dict[str, Callable[[MainTerminal, Translator, Colors], Picker | None]] = {
        name_of(Commands.resume): _session_picker,
        name_of(Commands.model): _model_picker,
        name_of(Commands.approve): _mode_picker,
        name_of(SettingsCommand.theme): lambda _, *shown: theme_picker(*shown),
    }
    make = pickers.get(line.strip())
    picker = make(terminal, translator, colors) if make else None
    if picker is None:
        return line
    chosen = picked(picker, colors)
    return None if chosen is None else f"{line.strip()} {chosen}"


def picked(picker: Picker, colors: Colors) -> str | None:
    """Return what the person chooses; *colors* then are what they were, whatever was tried on."""
    theme = colors.theme
    try:
        return picker.pick()
    finally:
        colors.theme = theme


def _session_picker(
    terminal: MainTerminal, translator: Translator, colors: Colors
) -> Picker | None:
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

    return Picker(phrase("Resume"), choices, translator, colors, preview)


def _told_of(terminal: MainTerminal, translator: Translator, session: str) -> Sequence[str]:
    """Return how far *session* is, what it has cost, and the last words said in it."""
    history = History(lambda *_: None)
    history.replay(terminal.store.load(session))
    cost = in_money(history.usage.cost_usd, 0.0)
    facts: list[Text] = [turn_count(history.turn), cost]
    if history.asked_call_id:
        facts.append(phrase("a question waits"))
    elif history.unanswered_calls:
        facts.append(phrase("a helper continues"))
    spoken = [
        one for _, one in history.records if isinstance(one, User | Assistant) and one.text.strip()
    ][-2:]
    words = [
        f"{'›' if isinstance(one, User) else ' '} {' '.join(terminal.redact(one.text).split())}"
        for one in spoken
    ]
    return [" · ".join(map(translator.render, facts)), *words]


def _model_picker(terminal: MainTerminal, translator: Translator, colors: Colors) -> Picker | None:
    if terminal.is_practice:
        return None
    return model_picker(terminal.model.models(), terminal.model.model, translator, colors)


def model_picker(
    names: Sequence[str], now: str, translator: Translator, colors: Colors
) -> Picker | None:
    """Return what lets the person choose among the models *names*; None where there are none."""
    if not names:
        return None
    choices = [Choice(name, name, name == now) for name in dict.fromkeys([*names, now])]
    return Picker(phrase("Model"), choices, translator, colors)


def _mode_picker(terminal: MainTerminal, translator: Translator, colors: Colors) -> Picker:
    return mode_picker(terminal.approval.mode, translator, colors)


def mode_picker(now: str, translator: Translator, colors: Colors) -> Picker:
    """Return what lets the person choose among the approval modes."""

    def row(mode: ApprovalMode) -> str:
        label, meaning = translator.render(MODE_LABELS[mode]), translator.render(_MODES[mode])
        return f"{mode:10} {meaning}" if label == mode else f"{mode:10} {label} · {meaning}"

    choices = [Choice(mode, row(mode), mode == now) for mode in MODES]
    return Picker(phrase("Approval"), choices, translator, colors)


def theme_picker(translator: Translator, colors: Colors) -> Picker:
    """Return what lets the person choose among the themes, each shown while it is at hand."""
    choices = [
        Choice(name, f"{name:10} {translator.render(_THEMES[name])}", name == colors.theme)
        for name in PALETTES
    ]

    def try_on(name: str) -> None:
        colors.theme = cast("ThemeName", name)

    return Picker(
        phrase("Theme"), choices, translator, colors, sample=_sample(translator), when_at=try_on
    )


def _sample(translator: Translator) -> StyleAndTextTuples:
    """Return a little of everything that is drawn in color."""
    say = translator.render
    return [
        ("ansicyan bold", f"  › {say(phrase('your message'))}   "),
        ("ansigreen", f"✓ {say(phrase('done'))}   "),
        ("ansired", f"✗ {say(phrase('failed'))}   "),
        ("ansiyellow", f"⊘ {say(phrase('refused'))}\n"),
        ("ansigreen", f"  + {say(phrase('added line'))}   "),
        ("ansired", f"- {say(phrase('removed line'))}   "),
        ("ansiblue", "https://…   "),
        ("ansibrightblack", f"{say(phrase('aside'))}\n"),
    ]
