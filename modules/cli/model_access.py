"""Choice of the model: that of the settings, a server on this machine, or the practice model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from modules.cli.args import Args
from modules.translator import Translator
from utils.frozen import frozen

if TYPE_CHECKING:
    from utils.api_client import ApiClient


NO_KEY = "none"
"""What is sent for a key to a server that wants none."""


@frozen
class ChosenServer:
    """The server to use by default, with a *key* and a *model* of it; maybe that of practice."""

    url: str
    key: str = field(repr=False)
    model: str
    is_practice: bool = False


CreateClient = Callable[[ChosenServer], "ApiClient"]
"""Makes a client of a server."""


@frozen(kw_only=True)
class ModelAccess:
    """The settings of the model's server; *is_usual* that the address is the one that wants a key.

    *config* is the file to keep a key in.
    """

    url: str
    key: str = field(repr=False)
    model: str
    is_default_server: bool
    config: Path


def choose_model(
    options: Args,
    access: ModelAccess,
    create_client: CreateClient,
    translator: Translator,
    stack: ExitStack,
) -> ChosenServer:
    """Return the server of the model to use.

    The practice model is served in this process until *stack* ends. Raises `UserError` when there
    is no key for what needs one, and nobody to ask.
    """
    if options.offline:
        return practice_server(translator, stack)
    if access.key or not access.is_default_server or options.is_command or options.web:
        return ChosenServer(access.url, access.key or NO_KEY, access.model)
    from modules.cli.api_key import ask_for_key_or_server, no_key, say_server_is_tested

    if options.task is not None:
        raise no_key()
    from modules.models.local_servers import LocalServer, check_tools, find_servers

    chosen = ask_for_key_or_server(translator, find_servers(), access.config)
    if isinstance(chosen, LocalServer):
        local = ChosenServer(chosen.base_url, NO_KEY, chosen.model)
        say_server_is_tested(translator, chosen)
        with closing(create_client(local)) as client:
            check_tools(client, chosen)
        return local
    if chosen == "practice":
        return practice_server(translator, stack)
    return ChosenServer(access.url, chosen, access.model)


def practice_server(translator: Translator, stack: ExitStack) -> ChosenServer:
    from modules.practice.practice_model import reply_to
    from modules.practice.practice_server import serve

    url = stack.enter_context(serve(partial(reply_to, screen=translator.language)))
    return ChosenServer(url, "practice", "practice", is_practice=True)
