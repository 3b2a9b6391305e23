"""What a client lets the person choose in a session: modes, options and slash commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from acp import RequestError
from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    UnstructuredCommandInput,
)

from core.commands import Commands
from core.feature import name_of
from core.loop.approval import ApprovalMode
from core.loop.thinking import Mode
from core.main_terminal import MainTerminal
from core.model_choice import served
from modules.translator import Translator
from utils.i18n import Phrase, phrase

Choice = TypeVar("Choice", bound=str)
APPROVALS: Mapping[ApprovalMode, tuple[Phrase, Phrase]] = {
    "guarded": (
        phrase("Guarded"),
        phrase("Asks before actions that cannot be undone, leave the sandbox or use the network."),
    ),
    "ask": (phrase("Ask"), phrase("Asks before every change and every run.")),
    "plan": (phrase("Plan"), phrase("Reads and asks, then writes a plan; changes nothing.")),
    "read-only": (phrase("Read-only"), phrase("Changes and runs nothing.")),
    "all": (
        phrase("Allow all"),
        phrase("Never asks, except before running something outside the sandbox."),
    ),
}
THINKING: Mapping[Mode, tuple[Phrase, Phrase]] = {
    "fast": (
        phrase("Fast"),
        phrase("Act without thinking first, except once when a task goes in circles."),
    ),
    "think": (phrase("Think"), phrase("Think once, in the first step of each task.")),
}
MODE: Literal["mode"] = "mode"
ConfigOptions = list[SessionConfigOptionSelect | SessionConfigOptionBoolean]
_OF_THE_SCREEN = {
    name_of(method)
    for method in (Commands.cls, Commands.exit, Commands.keys, Commands.quit, Commands.stop)
}
"""The commands that are the client's own to do."""


def mode_state(terminal: MainTerminal, translator: Translator) -> SessionModeState:
    modes = [
        SessionMode(id=name, name=translator.render(label), description=translator.render(meaning))
        for name, (label, meaning) in APPROVALS.items()
    ]
    return SessionModeState(current_mode_id=terminal.approval.mode, available_modes=modes)


def config_options(
    terminal: MainTerminal, models: Sequence[str], translator: Translator
) -> ConfigOptions:
    """Return what can be chosen and what is; the model only where *models* tells of several."""
    say = translator.render
    approvals = _choices(APPROVALS.items(), translator)
    levels = _choices(THINKING.items(), translator)
    approval, thought = say(phrase("Approval")), say(phrase("Thinking"))
    options: ConfigOptions = [
        _select(MODE, approval, terminal.approval.mode, approvals),
        _select("thought_level", thought, terminal.mode, levels),
    ]
    current = terminal.model.model
    if models and not terminal.is_practice:
        names = dict.fromkeys([*models, current])
        choices = [SessionConfigSelectOption(value=name, name=name) for name in names]
        options.append(_select("model", say(phrase("Model")), current, choices))
    return options


def _select(
    name: Literal["mode", "thought_level", "model"],
    label: str,
    current: str,
    choices: list[SessionConfigSelectOption],
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect(
        type="select", id=name, category=name, name=label, current_value=current, options=choices
    )


def _choices(
    choices: Iterable[tuple[str, tuple[Phrase, Phrase]]], translator: Translator
) -> list[SessionConfigSelectOption]:
    say = translator.render
    return [
        SessionConfigSelectOption(value=value, name=say(label), description=say(meaning))
        for value, (label, meaning) in choices
    ]


def choose(terminal: MainTerminal, name: str, value: str) -> None:
    """Set the option *name* to *value*.

    Raises `RequestError` when there is no such thing, `UserError` for a model that is not served.
    """
    match name:
        case "mode":
            terminal.approval.mode = _one_of(APPROVALS, name, value)
        case "thought_level":
            terminal.mode = _one_of(THINKING, name, value)
        case "model" if not terminal.is_practice:
            terminal.model.model = served(terminal.model, value)
        case _:
            raise RequestError.invalid_params({"details": f"there is no option {name!r}"})
    terminal.save_state()


def _one_of(choices: Mapping[Choice, object], name: str, value: str) -> Choice:
    for choice in choices:
        if choice == value:
            return choice
    raise RequestError.invalid_params(
        {"details": f"{name} is one of {', '.join(choices)}, not {value!r}"}
    )


def offered_commands(terminal: MainTerminal, translator: Translator) -> list[AvailableCommand]:
    """Return the slash commands that make sense where the client has its own list of sessions."""
    return list(_offered(terminal, translator))


def _offered(terminal: MainTerminal, translator: Translator) -> Iterator[AvailableCommand]:
    for command in terminal.commands.values():
        if command.name in terminal.commands.hidden:
            continue
        rest = command.usage.partition(" ")[2]
        hint = AvailableCommandInput(UnstructuredCommandInput(hint=rest)) if rest else None
        description = translator.render(command.help)
        yield AvailableCommand(
            name=command.name.removeprefix("/"), description=description, input=hint
        )


def commands_of_clients(terminal: MainTerminal) -> frozenset[str]:
    """Return the names of the commands that a client does in its own way."""
    leading = {command.name for command in terminal.commands.values() if command.spec.leads_to}
    return frozenset(_OF_THE_SCREEN | leading)
