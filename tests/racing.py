"""Races with the real assembly: a terminal on a simulated server that answers each racer apart."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from config import ROOT
from core.events import ApprovalAsked, Event, Reply
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from modules.app_context import AppContext
from modules.assembly.build import furnish
from modules.assembly.model import client_factories
from modules.cli.model_access import ChosenServer
from modules.race.feature import Race
from tests.assembly import SETTINGS
from tests.simulator import Call, Say, Simulator
from tests.simulator.script import Step
from tests.simulator.server import ReceivedRequest
from utils.llm.account import DEEPSEEK_ACCOUNT
from utils.llm.late_client import LateClient
from utils.llm.provider import DEFAULT_PROVIDER, Provider
from utils.llm.providers import ModelClient

MODEL = "deepseek-flash"
Answer = Callable[[ReceivedRequest, int], Step]
"""Answers a racer's request: its step counts from 1."""


def writes(*calls: Call) -> Answer:
    """Return a racer that makes *calls*, one a step, and ends."""

    def answer(_: ReceivedRequest, step: int) -> Step:
        return calls[step - 1] if step <= len(calls) else Say("All done.")

    return answer


def creates(text: str, name: str = "new.txt") -> Answer:
    return writes(Call("create_file", path=name, content=text))


@dataclass
class Responder:
    """Answers the n-th conversation that begins with *answers*[n-1]; pairs by *verdict*.

    A conversation is known by the marks in its replies. *after* answers what is no racer's.
    """

    answers: Sequence[Answer]
    task: str = "Do it."
    verdict: Step = Say("A\nIt does all of it.")
    after: Step = Say("So be it.")
    pairs: list[ReceivedRequest] = field(default_factory=list)
    _begun: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: ReceivedRequest) -> Step:
        if request.messages[0]["content"].startswith("You compare two results"):
            self.pairs.append(request)
            return self.verdict
        if request.last_user != self.task:
            return self.after
        begin = [m["content"] for m in request.messages].index(self.task)
        replies = [m for m in request.messages[begin:] if m["role"] == "assistant"]
        if not replies:
            with self._lock:
                self._begun += 1
                number = self._begun
        else:
            number = int(replies[0]["content"].partition("racer ")[2].partition(".")[0])
        step = self.answers[number - 1](request, len(replies) + 1)
        parts = step if isinstance(step, tuple) else (step,)
        return parts if replies else (Say(f"I am racer {number}. "), *parts)


@dataclass(frozen=True)
class Racing:
    """A terminal that can race, in the folder *root*; *events* are all that it showed."""

    terminal: MainTerminal
    root: Path
    data: Path
    server: Simulator
    events: list[Event] = field(default_factory=list)

    @property
    def race(self) -> Race:
        race = self.terminal.features.find(Race)
        assert race
        return race

    def run(
        self, line: str, reply: Callable[[ApprovalAsked], Reply | None] = lambda _: None
    ) -> list[Event]:
        """Run *line*, each question answered by *reply*; return its events."""
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            return reply(event) if isinstance(event, ApprovalAsked) else None

        try:
            drive(self.terminal.run_line(line), show)
        finally:
            self.events.extend(events)
        return events

    def copies(self) -> list[Path]:
        """Return the folders of racers that are there."""
        return sorted(one for one in self.root.parent.iterdir() if "-race-" in one.name)


@contextmanager
def racing(base: Path, script: Any, **settings: Any) -> Iterator[Racing]:
    """Build a terminal on the project `base/project`; again on the same *base* is a new start."""
    root = base / "project"
    root.mkdir(parents=True, exist_ok=True)
    with Simulator(script) as server:
        its = replace(
            SETTINGS,
            data_dir=base / "data",
            deepseek_base_url=server.url,
            deepseek_api_key="key",
            project_map_tokens=0,
            **settings,
        )
        create_client, open_client = client_factories(its)
        chosen = ChosenServer(server.url, "key", MODEL)
        usual = Provider(
            name=DEFAULT_PROVIDER, base_url=server.url, key="key", account=DEEPSEEK_ACCOUNT
        )
        model = ModelClient(
            LateClient(partial(create_client, chosen)), MODEL, {}, open_client, usual
        )
        app_context = AppContext.of(root, its.data_dir, (), root=ROOT)
        terminal = furnish(partial(MainTerminal, model=model), app_context, its, is_practice=False)
        try:
            yield Racing(terminal, root, base / "data", server)
        finally:
            terminal.close()
            model.close()
            app_context.store.close()
            app_context.project.close()


def content_of(folder: Path) -> Mapping[str, tuple[int, bytes]]:
    """Return mode and content of everything in *folder*, but for git's own data."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.partition("/")[0] != ".git":
            mode = path.lstat().st_mode
            if path.is_symlink():
                content = bytes(path.readlink())
            else:
                content = path.read_bytes() if path.is_file() else b""
            found[name] = mode, content
    return found


def program_variables(base: Path, server: Simulator) -> dict[str, str]:
    """Return the environment in which Onefold works on `base/project` with *server*."""
    return {
        "HOME": str(base),
        "DEEPSEEK_BASE_URL": server.url,
        "DEEPSEEK_API_KEY": "key",
        "ONEFOLD_DATA_DIR": str(base / "data"),
        "ONEFOLD_BOOTSTRAP": "0",
        "ONEFOLD_LANG": "en",
    }


def start(base: Path, server: Simulator, *words: str) -> subprocess.Popen[str]:
    """Start Onefold on `base/project` as a person would."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *words],
        cwd=base / "project",
        env={"PATH": os.defpath, **program_variables(base, server)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
