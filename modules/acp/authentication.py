"""How a client may get the person to a key: by hand, by a variable, in a terminal."""

from __future__ import annotations

from acp.schema import (
    AuthEnvVar,
    AuthMethodAgent,
    ClientCapabilities,
    EnvVarAuthMethod,
    TerminalAuthMethod,
)

from modules.translator import Translator
from utils.i18n import phrase
from utils.system.own_command import own_command

LOGIN_OPTION = "--login"
"""Behind `acp`: asks for the key in a terminal."""
_KEY, _VARIABLE, _LOGIN = "onefold-key", "onefold-variable", "onefold-login"
AUTH_METHODS = (_KEY, _VARIABLE, _LOGIN)
_KEYS_PAGE = "https://platform.deepseek.com/api_keys"

AuthMethod = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent


def auth_methods(client: ClientCapabilities, translator: Translator) -> list[AuthMethod]:
    """Return the methods that *client* can use; one that knows only the oldest kind has one too."""
    say = translator.render
    how = phrase(
        "Run {command} in a terminal, or set DEEPSEEK_API_KEY where the editor starts Onefold.",
        command=own_command("acp", LOGIN_OPTION),
    )
    methods: list[AuthMethod] = [
        AuthMethodAgent(id=_KEY, name=say(phrase("DeepSeek API key")), description=say(how))
    ]
    if client.auth and client.auth.terminal:
        methods.append(
            TerminalAuthMethod(
                type="terminal",
                id=_LOGIN,
                name=say(phrase("Enter the key in a terminal")),
                args=[LOGIN_OPTION],
            )
        )
    variable = AuthEnvVar(name="DEEPSEEK_API_KEY", label=say(phrase("DeepSeek key")))
    methods.append(
        EnvVarAuthMethod(
            type="env_var",
            id=_VARIABLE,
            name=say(phrase("Environment variable")),
            vars=[variable],
            link=_KEYS_PAGE,
        )
    )
    return methods
