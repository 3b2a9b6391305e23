"""Choice of the model: that of the settings, a server on this machine, or the practice model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from modules.cli.args import Args
from modules.translator import Translator
from utils.api_client import ApiClient

CreateClient = Callable[[str, str, str], ApiClient]
"""Makes a client of an address, a key and the name of a model."""


@dataclass(frozen=True, kw_only=True)
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
) -> tuple[ApiClient, bool]:
    """Return the client of the model to use, and whether that is the practice model.

    The practice model is served in this process until *stack* ends. Raises `UserError` when there
    is no key for what needs one, and nobody to ask.
    """
    if options.offline:
        return practice_model(create_client, translator, stack), True
    if access.key or not access.is_default_server or options.is_command:
        return create_client(access.url, access.key or "none", access.model), False
    from modules.cli.api_key import ask_for_key_or_server, no_key, say_server_is_tested

    if options.task is not None:
        raise no_key()
    from modules.models.local_servers import LocalServer, check_tools, find_servers

    chosen = ask_for_key_or_server(translator, find_servers(), access.config)
    if isinstance(chosen, LocalServer):
        client = create_client(chosen.base_url, "none", chosen.model)
        say_server_is_tested(translator, chosen)
        check_tools(client, chosen)
        return client, False
    if chosen == "practice":
        return practice_model(create_client, translator, stack), True
    return create_client(access.url, chosen, access.model), False


def practice_model(
    create_client: CreateClient, translator: Translator, stack: ExitStack
) -> ApiClient:
    from modules.practice.practice_model import reply_to
    from modules.practice.practice_server import serve

    client = create_client(
        stack.enter_context(serve(partial(reply_to, screen=translator.language))),
        "practice",
        "practice",
    )
    client.may_probe = False  # it is our own
    return client
