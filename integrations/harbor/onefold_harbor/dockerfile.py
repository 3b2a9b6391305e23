"""The part of a Dockerfile that can be followed without Docker."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import Template

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ABOUT_IMAGES = {"FROM", "CMD", "EXPOSE", "LABEL", "MAINTAINER", "STOPSIGNAL", "HEALTHCHECK"}


class Unsupported(ValueError):
    """The Dockerfile asks for something that only Docker can do."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Files of the build's folder, into the container; a *target* may be relative to *folder*."""

    sources: tuple[str, ...]
    target: str
    folder: str


@dataclass(frozen=True, slots=True)
class Run:
    """A command of the build, in *folder*, with the variables that were set before it."""

    command: str
    folder: str
    variables: Mapping[str, str]


@dataclass(slots=True)
class Recipe:
    """What a Dockerfile says: its steps in their order, and what holds at their end."""

    steps: list[Copy | Run] = field(default_factory=list)
    folder: str = "/"
    variables: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})


def parse(text: str) -> Recipe:
    """Return what *text* says; its FROM is not looked at. Raises `Unsupported`."""
    recipe, stages = Recipe(), 0
    for word, rest in _instructions(text):
        match word:
            case "FROM":
                stages += 1
                if stages > 1:
                    raise Unsupported("A Dockerfile of several stages needs Docker.")
            case "WORKDIR":
                recipe.folder = _below(recipe.folder, _expanded(rest, recipe))
            case "ENV":
                recipe.variables.update(_variables(_expanded(rest, recipe)))
            case "COPY":
                recipe.steps.append(_copy(rest, recipe.folder))
            case "RUN":
                recipe.steps.append(Run(_shell(rest), recipe.folder, dict(recipe.variables)))
            case "USER" if rest in ("root", "0"):
                pass
            case _ if word not in _ABOUT_IMAGES:
                raise Unsupported(f"{word} in a Dockerfile needs Docker.")
    return recipe


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\[ \t]*\n", " ", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            if "<<" in rest:
                raise Unsupported("A here-document in a Dockerfile needs Docker.")
            yield word.upper(), rest.strip()


def _copy(rest: str, folder: str) -> Copy:
    words = _list(rest) or shlex.split(rest)
    if any(word.startswith("--") for word in words):
        raise Unsupported(f"An option of COPY needs Docker: {rest}")
    *sources, target = words
    return Copy(tuple(sources), target, folder)


def _shell(rest: str) -> str:
    if rest.startswith("--"):
        raise Unsupported(f"An option of RUN needs Docker: {rest}")
    words = _list(rest)
    return shlex.join(words) if words else rest


def _list(rest: str) -> list[str]:
    """Return the words of an instruction in its JSON form, or nothing if it is in the other."""
    return [str(word) for word in json.loads(rest)] if rest.startswith("[") else []


def _variables(rest: str) -> dict[str, str]:
    words = shlex.split(rest)
    if "=" not in words[0]:
        return {words[0]: " ".join(words[1:])}
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _expanded(text: str, recipe: Recipe) -> str:
    return Template(text).safe_substitute(recipe.variables)


def _below(folder: str, path: str) -> str:
    return path if path.startswith("/") else f"{folder.rstrip('/')}/{path}"
