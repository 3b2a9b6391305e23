"""Which model is asked: that of the settings, a server on this machine, or the practice model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from modules.cli.args import Args
from modules.translator import Translator
from utils.api_client import ApiClient

Make = Callable[[str, str, str], ApiClient]
"""Makes a client of an address, a key and the name of a model."""


@dataclass(frozen=True, kw_only=True)
class ModelAccess:
    """What the settings say; *is_usual* that the address is the one that wants a key.

    *config* is the file to keep a key in.
    """

    url: str
    key: str = field(repr=False)
    model: str
    is_usual: bool
    config: Path


def choose_model(
    options: Args, access: ModelAccess, make: Make, words: Translator, stack: ExitStack
) -> tuple[ApiClient, bool]:
    """Return the client of the model to use, and whether that is the practice model.

    The practice model is served in this process until *stack* ends. Raises `Problem` when there
    is no key for what needs one, and nobody to ask.
    """
    if options.offline:
        return practice_model(make, words, stack), True
    if access.key or not access.is_usual or options.is_command:
        return make(access.url, access.key or "none", access.model), False
    from modules.cli.api_key import ask_for_key, no_key, tell_of_trial

    if options.task is not None:
        raise no_key()
    from modules.models.local_servers import LocalServer, check_tools, find_servers

    chosen = ask_for_key(words, find_servers(), access.config)
    if isinstance(chosen, LocalServer):
        local = make(chosen.base_url, "none", chosen.model)
        tell_of_trial(words, chosen)
        check_tools(local, chosen)
        return local, False
    if chosen == "practice":
        return practice_model(make, words, stack), True
    return make(access.url, chosen, access.model), False


def practice_model(make: Make, words: Translator, stack: ExitStack) -> ApiClient:
    from modules.practice.practice_server import serve
    from modules.practice.understanding import answer

    client = make(
        stack.enter_context(serve(partial(answer, screen=words.language))), "practice", "practice"
    )
    client.may_probe = False  # it is our own
    return client
