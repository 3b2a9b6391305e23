"""Tests of settings: a real request to a model's server, a folder looked at, a host resolved.

What is tested is what the next start would have: a key just saved can be tried at once.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from modules.settings.meanings import TESTED
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.completion import ModelError
from utils.llm.provider import Provider, split_model_name
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from utils.api_client import ApiClient
    from utils.llm.api import Api

_SECONDS = 20.0
"""Seconds for a request in all."""
_REPLY_TOKENS = 16
_NO_CHAT = re.compile(
    r"embed|rerank|whisper|tts|speech|audio|transcri|realtime|moderation|guard|image|dall-e|sora"
    r"|video|ocr|davinci|babbage",
    re.IGNORECASE,
)
"""What stands in the names of models that do not chat."""


class ServerSettings(Protocol):
    """What of the settings says where a model is, and what programs may see."""

    @property
    def deepseek_base_url(self) -> str: ...
    @property
    def usual_key(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def all_providers(self) -> list[Provider]: ...
    @property
    def show_folders(self) -> tuple[Path, ...]: ...
    @property
    def network_hosts(self) -> tuple[str, ...]: ...
    @property
    def checks(self) -> tuple[str, ...]: ...
    @property
    def tavily_api_key(self) -> str: ...
    @property
    def tavily_base_url(self) -> str: ...


def test_setting(settings: object, changes: Mapping[str, Any], name: str) -> Text:
    """Return in words that what *name* says works, in *settings* with *changes*.

    Raises `UserError` where it does not, and where there is nothing to test.
    """
    if name not in TESTED:
        raise UserError(
            phrase("There is nothing to test of {name}. Tested: {all}", name=name, all=_ALL)
        )
    changed = cast("ServerSettings", replace(cast("Any", settings), **changes))
    if name == "show_folders":
        return _test_folders(changed.show_folders)
    if name == "network_hosts":
        return _test_hosts(changed.network_hosts)
    if name == "notify":
        raise UserError(phrase("Try it in the terminal that notifies you: /settings test notify"))
    if name == "checks":
        return _test_commands(changed.checks)
    if name.startswith("tavily_"):
        return _test_search(changed.tavily_api_key, changed.tavily_base_url)
    return _test_server(changed, name)


_ALL = ", ".join(TESTED)


def _test_folders(folders: Sequence[Path]) -> Phrase:
    missing = [str(folder) for folder in folders if not folder.is_dir()]
    if missing:
        raise UserError(
            phrase(
                "No folder: {paths}. Create it, or change the setting.", paths=", ".join(missing)
            )
        )
    return phrase("Folders that exist: {n:,}", n=len(folders))


def _test_hosts(hosts: Sequence[str]) -> Phrase:
    """Resolve the names in *hosts*; of all below one (`.a.org`) that name."""
    unknown = []
    for host in hosts:
        try:
            socket.getaddrinfo(host.removeprefix("."), None)
        except OSError:
            unknown.append(host)
    if unknown:
        raise UserError(
            phrase("Cannot resolve {hosts}. Check the spelling.", hosts=", ".join(unknown))
        )
    return phrase("Hosts that resolve: {n:,}", n=len(hosts))


def _test_commands(commands: Sequence[str]) -> Phrase:
    """Read the *commands* as the shell will, and run none of them."""
    if not commands:
        raise UserError(phrase("No checks are set; the project's own are used."))
    for command in commands:
        read = subprocess.run(  # noqa: S603 - it only reads
            (shutil.which("bash") or "/bin/bash", "-n"),
            input=command,
            text=True,
            capture_output=True,
        )
        if read.returncode:
            why = (read.stderr.strip().splitlines() or [""])[0].removeprefix("bash: ")
            raise UserError(
                phrase("The shell cannot read {command}: {why}", command=command, why=why)
            )
    return phrase("Commands that the shell understands: {n:,}. /check runs them.", n=len(commands))


def _test_search(key: str, url: str) -> Phrase:
    """Search for one result, as the model does."""
    if not key:
        raise UserError(phrase("Set {name} first.", name="tavily_api_key"))
    from core.tools import ToolError
    from modules.search_engine import WebSearch

    started = time.monotonic()
    try:
        WebSearch(key, _Whole(), Stop(), base_url=url, timeout=_SECONDS).web_search(
            "test", max_results=1
        )
    except ToolError as problem:
        raise UserError(phrase("The search failed: {why}", why=problem.message)) from problem
    seconds = time.monotonic() - started
    return phrase("The search answered in {seconds:.1f} s.", seconds=seconds)


class _Whole:
    """Leaves texts as long as they are."""

    def shorten(self, text: str, /) -> str:
        return text


def _test_server(settings: ServerSettings, name: str) -> Phrase:
    """Ask the server that the setting *name* is about: its model, or where it has none in use for
    its models.
    """
    providers = {provider.name: provider for provider in settings.all_providers}
    if name == "model":
        provider, model = split_model_name(settings.model, providers)
    else:
        provider, model = providers.get(name.partition("_")[0]), ""
    url = provider.base_url if provider else settings.deepseek_base_url
    key = provider.key if provider else settings.usual_key
    own_provider, own_model = split_model_name(settings.model, providers)
    if not model and own_provider is provider:
        model = own_model
    from utils.api_client import ApiClient  # and its SDK: once somebody tests
    from utils.llm.apis import api_of

    api = api_of(provider) if provider else None
    client = ApiClient(
        url,
        key or "none",
        model=model or own_model,
        api=api,
        idle_seconds=_SECONDS,
        retries=0,
    )
    client.may_probe = False
    with closing(client):
        if not model:
            return _test_unused(client, api, url, has_key=bool(key))
        return _answered(client)


def _test_unused(client: ApiClient, api: Api | None, url: str, *, has_key: bool) -> Phrase:
    """Test a server no model of which is in use: by its list, else by a model that may chat."""
    from utils.llm.key_check import demands_key  # with its SDK: once somebody tests

    names = client.models()
    if names and has_key and api and demands_key(api, url):
        host = urlsplit(url).hostname or url
        return phrase("{host} accepts the key. Models: {n:,}", host=host, n=len(names))
    chats = [name for name in names if not _NO_CHAT.search(name)]
    client.model = next(iter([*chats, *names]), client.model)
    try:
        return _answered(client)
    except ModelError as error:
        if error.kind != "request":
            raise
        message = phrase(
            "The key was not refused, but {model} cannot be used for a test: {why} Set model to "
            "one of this server, and test that.",
            model=client.model,
            why=error.message,
        )
        raise UserError(message) from error


def _answered(client: ApiClient) -> Phrase:
    seconds = _ask(client)
    return phrase("{model} answered in {seconds:.1f} s.", model=client.model, seconds=seconds)


def _ask(client: ApiClient) -> float:
    """Return after how many seconds a model has answered. Raises `UserError` when it does not."""
    started, stop = time.monotonic(), Stop()
    timer = threading.Timer(_SECONDS, stop.set)
    timer.daemon = True
    timer.start()
    question = {"role": "user", "content": "Answer with: ok"}
    try:
        for _ in client.stream([question], [], think=False, stop=stop, reply_tokens=_REPLY_TOKENS):
            pass
    except Stopped:
        raise UserError(
            phrase("No answer within {seconds:.0f} s. Check the address.", seconds=_SECONDS)
        ) from None
    finally:
        timer.cancel()
    return time.monotonic() - started
