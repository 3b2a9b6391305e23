"""Agents: command lines with places for the task, ours among them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.eval.tasks import Task, TaskError
from tests.simulator import Call, Say, Simulator

ROOT = Path(__file__).parents[2]
PLACES = ("prompt", "project", "home", "base_url", "model")
_PLACES_TEXT = ", ".join(f"{{{name}}}" for name in PLACES)
_OPTIONS = ("--approve", "all", "--output", "stream-json")
_ONEFOLD = (sys.executable, str(ROOT / "main.py"), "-p", "{prompt}", *_OPTIONS)
ORACLE, OURS = "oracle", "onefold"


@dataclass(frozen=True)
class Agent:
    """*command* has places for the task (see `PLACES`); so do the values of *variables*."""

    name: str
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    def command_line(self, values: Mapping[str, str]) -> list[str]:
        return [_filled(part, values) for part in self.command]

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the person's environment, but for what it says of Onefold, with *variables*."""
        inherited = {n: v for n, v in os.environ.items() if not n.startswith("ONEFOLD_")}
        added = {name: _filled(text, values) for name, text in self.variables.items()}
        return {**inherited, **added}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with the *values* in their places; a place in a value stays as it is."""
    pieces, rest = "", text
    while rest:
        places = [(rest.find(f"{{{name}}}"), name) for name in values]
        at, name = min((one for one in places if one[0] >= 0), default=(-1, ""))
        if at < 0:
            break
        pieces += rest[:at] + values[name]
        rest = rest[at + len(name) + 2 :]
    return pieces + rest


def parse_agent(text: str, key: str, race: int = 0) -> Agent:
    """Return the agent that *text* asks for: a name of ours, or NAME=COMMAND.

    *key* is the model server's. Ours has each task done *race* times and takes the best, 0 for
    once. Raises `TaskError` for what is neither.
    """
    if text == OURS and race:
        ours = [f"/race {race} {{prompt}}" if word == "{prompt}" else word for word in _ONEFOLD]
        return Agent(f"{OURS}-race-{race}", tuple(ours), _own_variables(key))
    if text in (ORACLE, OURS):
        return Agent(text, _ONEFOLD, _own_variables(key))
    name, _, command = text.partition("=")
    if not command.strip() or not name or not set(name) <= _NAME_CHARACTERS or name[0] == ".":
        raise TaskError(
            f"{text!r} is no agent: say {OURS}, {ORACLE} or NAME=COMMAND, with {_PLACES_TEXT} "
            "where they belong; a name has letters, digits, - and . alone."
        )
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise TaskError(f"Cannot read the command of {name}: {error}.") from None
    if not any("{prompt}" in word for word in words):
        raise TaskError(f"The command of {name} has no {{prompt}}: it would not know the task.")
    return Agent(name, words, {"OPENAI_BASE_URL": "{base_url}", "OPENAI_API_KEY": key})


_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")


def _own_variables(key: str) -> dict[str, str]:
    return {
        "DEEPSEEK_BASE_URL": "{base_url}",
        "DEEPSEEK_API_KEY": key,
        "ONEFOLD_BOOTSTRAP": "0",
        "ONEFOLD_DATA_DIR": "{home}/onefold",
        "ONEFOLD_IDLE_SECONDS": "3600",
        "ONEFOLD_LANG": "en",
        "ONEFOLD_MODEL": "{model}",
    }


@contextmanager
def scripted_server(task: Task) -> Iterator[str]:
    """Serve a model that writes the own solution of *task*; yield its base URL."""
    solution = task.solution()
    reads = tuple(Call("read_file", path=name) for name in solution)
    writes = tuple(
        Call("create_file", path=name, content=text, overwrite=True)
        for name, text in solution.items()
    )
    with Simulator([reads, writes, Say("It is solved.")], is_validated=False) as server:
        yield server.url
