"""Asking for the key on the first start, and keeping it where only its owner reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from modules.cli.input.startup_questions import ask_text, ask_yes_no, is_interactive
from modules.models.local_servers import LocalServer
from modules.translator import Translator
from utils.i18n import UserError, phrase

KeyOrChoice = str | LocalServer | Literal["practice"]
_KEY = "deepseek_api_key"
_MIN_KEY_LENGTH = 8  # a slip of the fingers is shorter


def no_key() -> UserError:
    return UserError(
        phrase(
            "No API key: set DEEPSEEK_API_KEY (from platform.deepseek.com), or use --offline "
            "for the practice model."
        ),
        "key",
    )


def ask_for_key_or_server(
    translator: Translator, servers: Sequence[LocalServer], config: Path
) -> KeyOrChoice:
    """Ask for a key, offering the *servers* found on this machine and the practice model.

    Returns the key, which is kept in *config* if the person wants that, or what was chosen instead.
    Raises `UserError` when nobody can be asked.
    """
    if not is_interactive():
        raise no_key()
    say = translator.render
    click.echo(say(phrase("Onefold needs a DeepSeek API key (from platform.deepseek.com).")))
    for number, server in enumerate(servers, start=1):
        line = phrase(
            "  {number}  use {name} at {url}, model {model}",
            number=number,
            name=server.name,
            url=server.base_url,
            model=server.model,
        )
        click.echo(say(line))
    click.echo(say(phrase("  p  try the practice model: no key, no network, no AI")))
    answer = _key_or_choice(translator, servers)
    if isinstance(answer, LocalServer) or answer == "practice":
        return answer
    if ask_yes_no(translator, phrase("Save it in {path}, readable only by you?", path=str(config))):
        keep_key(answer, config)
    return answer


def log_in(key: str, config: Path, translator: Translator) -> int:
    """Ask for a key and keep it in *config*, unless there is the *key*; return the exit code.

    Raises `UserError` when nobody can be asked, and for the practice model, which needs no key.
    """
    if key:
        click.echo(translator.render(phrase("A key is already set.")))
        return 0
    chosen = ask_for_key_or_server(translator, (), config)
    if chosen == "practice":
        message = phrase(
            "The practice model needs no key. Set the editor to start “acp --offline”."
        )
        raise UserError(message)
    return 0


def _key_or_choice(translator: Translator, servers: Sequence[LocalServer]) -> KeyOrChoice:
    label = phrase("Your key (hidden), or an option from above")
    while True:
        answer = ask_text(translator, label, is_hidden=True)
        if answer.lower() == "p":
            return "practice"
        if answer.isdigit() and 1 <= int(answer) <= len(servers):
            return servers[int(answer) - 1]
        if len(answer) >= _MIN_KEY_LENGTH:
            return answer
        click.echo(translator.render(phrase("That is not a valid key. Ctrl-C quits.")))


def say_server_is_tested(translator: Translator, server: LocalServer) -> None:
    """Say what is waited for: a model on a small computer may take a minute to answer."""
    click.echo(translator.render(phrase("Testing {name} with a tool call.", name=server.name)))


def keep_key(key: str, config: Path) -> None:
    """Keep *key* in the settings file *config*, mode 0600, all else in it untouched."""
    from modules.settings.config_file import keep_setting  # once a key is typed

    keep_setting(config, _KEY, key)
