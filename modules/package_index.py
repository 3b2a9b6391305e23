"""Where pip of the person gets packages from: asked of pip itself."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from utils.child import TooSlow, ask_program

_SECONDS = 20.0
_OWN_INDEX = (
    "from pip._internal.models.index import PyPI as i; print(i.netloc, i.file_storage_domain)"
)
_PYTHONS = (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")


def pip_settings(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return what pip is configured with, by the long name of the option.

    *variables* are those of the person's environment that mean something to pip.
    """
    return _parsed(_asked("-m", "pip", "config", "list", variables=variables))


def default_hosts() -> tuple[str, ...]:
    """Return the hosts that pip goes to when nothing is configured, by its own word."""
    return tuple(_asked("-c", _OWN_INDEX, variables={}).split())


def _asked(*arguments: str, variables: Mapping[str, str]) -> str:
    """Return what the first Python that has pip answers, "" when none has."""
    for python in _PYTHONS:
        try:
            answer = ask_program(
                [python, "-I", *arguments],
                folder=Path("/"),
                environment={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **variables},
                seconds=_SECONDS,
            )
        except (OSError, TooSlow):
            continue
        if answer.code == 0:
            return answer.output.decode(errors="replace")
    return ""


def _parsed(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if value.startswith(("'", '"')):
            found[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    return found


def index_hosts(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that packages come from by *settings*; what pip takes when they say none."""
    urls = f"{settings.get('index-url', '')} {settings.get('extra-index-url', '')}".split()
    hosts = [urlsplit(url).hostname for url in urls if url.startswith("https://")]
    if "index-url" not in settings:
        hosts += default_hosts()
    return tuple(dict.fromkeys(host for host in hosts if host))


def index_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that makes pip elsewhere use the same index, without passwords."""
    variables = {}
    for option in ("index-url", "extra-index-url"):
        urls = [_without_password(url) for url in settings.get(option, "").split()]
        if urls := [url for url in urls if url.startswith("https://")]:
            variables[f"PIP_{option.upper().replace('-', '_')}"] = " ".join(urls)
    return variables


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
