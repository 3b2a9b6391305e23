"""Prompts of servers as commands of the person's."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.feature import PromptCommand
from core.tools import run_to_end
from modules.mcp_client.answers import fenced_prompt
from modules.mcp_client.failures import ServerFailed
from utils.i18n import UserError, phrase
from utils.text.clean import visible
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.mcp_client.config import ServerConfig
    from modules.mcp_client.listing import OfferedPrompt
    from modules.mcp_client.servers import Servers

_MAX_HELP = 120  # characters of what a server says of a prompt


def prompt_commands(servers: Servers, stop: Stop) -> Mapping[str, PromptCommand]:
    """Return a command for each prompt, by name; what it asks of its server is ended by *stop*."""
    return {
        _name(config, prompt): _command(servers, config, prompt, stop)
        for config in servers.usable()
        if (listing := servers.listing(config))
        for prompt in listing.prompts
        if prompt.name.isprintable() and " " not in prompt.name
    }


def _name(config: ServerConfig, prompt: OfferedPrompt) -> str:
    return f"/{config.prefix.removesuffix('__')}:{prompt.name}"


def _command(
    servers: Servers, config: ServerConfig, prompt: OfferedPrompt, stop: Stop
) -> PromptCommand:
    words = (f"{name}=…" if name in prompt.required else f"[{name}=…]" for name in prompt.arguments)
    name = _name(config, prompt)
    said = visible(" ".join(prompt.description.split()))[:_MAX_HELP]
    return PromptCommand(
        usage=" ".join([name, *map(visible, words)]),
        help=phrase("{what} (MCP server {server})", what=said or name, server=visible(config.name)),
        path=config.place,
        body="",
        programs=lambda _: (),
        expand=lambda argument, _: _message(servers, config.name, prompt, argument, stop),
    )


def _message(
    servers: Servers, server: str, prompt: OfferedPrompt, argument: str, stop: Stop
) -> str:
    """Return the message that a prompt is. Raises `UserError` and `Stopped`."""
    arguments = _arguments(prompt, argument)
    request: Callable[..., Any] = lambda connection, channel: connection.get_prompt(  # noqa: E731
        prompt.name, arguments, channel
    )
    try:
        answer: Any = run_to_end(servers.ask(server, request, stop))  # nobody is asked here
    except ServerFailed as error:
        why = phrase("MCP server {name}: {why}.", name=visible(server), why=error.message)
        raise UserError(why) from None
    return fenced_prompt(server, prompt.name, answer.text)


def _arguments(prompt: OfferedPrompt, argument: str) -> dict[str, str]:
    """Return the arguments of *prompt* in *argument*: by name, else in order.

    Raises `UserError` where one is missing.
    """
    try:
        words = shlex.split(argument)
    except ValueError:  # a quotation mark that is part of a word
        words = argument.split()
    arguments: dict[str, str] = {}
    for word in words:
        name, is_named, value = word.partition("=")
        if is_named and name in prompt.arguments:
            arguments[name] = value
            continue
        free = [one for one in prompt.arguments if one not in arguments]
        if not free:
            break
        arguments[free[0]] = argument if len(prompt.arguments) == 1 else word
    if missing := [name for name in prompt.required if name not in arguments]:
        raise UserError(phrase("It needs {names}, as NAME=TEXT.", names=", ".join(missing)))
    return arguments
