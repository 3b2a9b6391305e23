"""A person at a terminal, whose program is killed: the dialogue itself, or one of a server's."""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from tests.killed_server import Server, ServerDied
from tests.modules.cli.terminal import Terminal
from tests.session_kills import ROOT, KilledSession, numbers_in

_IDLE, _ASKS, _UNSENT = "context", "y yes", "Not sent yet"
_MARK = "zq"
_COMPACTED = re.compile("Summarized|Nothing to summarize|not usable|not save any")


class Pane:
    """A terminal in which one program after the other runs, each until it is killed."""

    def __init__(self) -> None:
        self._terminal = Terminal(f"onefold-{uuid.uuid4().hex[:8]}")
        self._is_open = False
        self.pid = 0

    def run(self, argv: list[str], environment: dict[str, str]) -> None:
        variables = {**environment, "LANG": "C.UTF-8", "ONEFOLD_LANG": "en"}
        words = [f"{name}={value}" for name, value in variables.items()]
        line = shlex.join(["env", "-i", *words, *argv])
        line = f"cd {shlex.quote(str(ROOT))} && clear && exec {line}"
        if self._is_open:
            self._terminal.tmux("clear-history")
            self._terminal.tmux("respawn-pane", "-k", line)
        else:
            keep = ("set-option", "-g", "remain-on-exit", "on", ";")
            size = ("-x", "100", "-y", "40")
            self._terminal.tmux("start-server", ";", *keep, "new-session", "-d", *size, line)
            self._is_open = True
        self.pid = int(self._terminal.tmux("display-message", "-p", "#{pane_pid}"))

    @property
    def is_dead(self) -> bool:
        return self._terminal.tmux("display-message", "-p", "#{pane_dead}").strip() == "1"

    def kill_now(self) -> None:
        """Kill the program, if it lives still."""
        if self.pid and not self.is_dead:
            with suppress(ProcessLookupError):
                os.kill(self.pid, 9)

    def kill(self) -> None:
        """Kill the program, and wait until it is gone."""
        self.kill_now()
        if self.pid:
            self._terminal.wait_for(lambda _: self.is_dead)

    def close(self) -> None:
        name = self._terminal.socket
        subprocess.run(["tmux", "-L", name, "kill-server"], capture_output=True, check=False)

    def screen(self) -> str:
        return self._terminal.screen(history=True)

    def wait(self, is_there: Callable[[str], object]) -> str:
        """Return the screen as soon as *is_there* says so. Raises `ServerDied`."""
        screen = self._terminal.wait_for(
            lambda shown: is_there(shown) or self.is_dead, history=True
        )
        if not is_there(screen):
            raise ServerDied
        return screen

    def press(self, *keys: str) -> None:
        if self.is_dead:
            raise ServerDied
        self._terminal.press(*keys)

    def paste(self, text: str) -> None:
        if self.is_dead:
            raise ServerDied
        self.type_paste(text)

    def type_paste(self, text: str) -> None:
        """Type *text* in the brackets of a paste, to a program that may be dead by now.

        The command `paste-buffer` of tmux 3.3a ends the tmux server where it is.
        """
        begin, end = (
            ("send-keys", "-H", *(f"{byte:02x}" for byte in bracket))
            for bracket in (b"\x1b[200~", b"\x1b[201~")
        )
        self._terminal.tmux(*begin, ";", "send-keys", "-l", "--", text, ";", *end)


def _tail(screen: str) -> str:
    """Return what stands at the end of *screen*, where the person is asked or types."""
    return "\n".join(screen.rstrip().splitlines()[-14:])


def _shows(text: str, screen: str) -> bool:
    return text in _tail(screen)


def _is_ready(screen: str) -> bool:
    tail = _tail(screen)
    return _ASKS in tail or (_IDLE in tail.splitlines()[-1] if tail else False)


class Typist:
    """Types at random into *pane*, until the program dies or they are through."""

    def __init__(self, stage: KilledSession, pane: Pane, rng: random.Random) -> None:
        self._stage, self._log, self._model = stage, stage.log, stage.responder
        self._pane, self._random = pane, rng

    def wait_for_prompt(self) -> list[int]:
        """Wait for the prompt, with yes to what is asked; return the tasks that stand unsent."""
        screen = self._settle()
        return numbers_in(screen.rpartition(_UNSENT)[2]) if _UNSENT in screen else []

    def _settle(self) -> str:
        while _ASKS in _tail(screen := self._pane.wait(_is_ready)):
            self._answer(yes=True)
        return screen

    def _answer(self, *, yes: bool) -> None:
        """Answer the question that stands; it is another screen then."""
        if yes:
            self._log.approved.update(self._model.asked_tasks[-1:])
            self._pane.press("y")
        else:
            self._pane.press("n")
            self._pane.wait(lambda screen: "Why not?" in _tail(screen))
            self._pane.press("Enter")
        self._pane.wait(lambda screen: _ASKS not in _tail(screen))

    def act(self, unsent: list[int]) -> None:
        for _ in range(3):
            self._send_task(unsent)
            unsent = self._act_during_task()
            if unsent is None:
                unsent = []

    def _send_task(self, unsent: list[int]) -> None:
        """Send what stands in the line, changed or not; else a new task."""
        count = len(self._model.asked_tasks)
        if self._stage.kind == "queue":
            self._model.gate.clear()
        if unsent and self._random.random() < 0.3:
            self._pane.press(" ", "m", "o", "r", "e")
        if not unsent:
            if self._stage.kind == "compaction" and self._random.random() < 0.3:
                self._compact()
            number = self._new()
            self._pane.paste(self._stage.text(number))
        self._pane.press("Enter")
        self._pane.wait(lambda _: len(self._model.asked_tasks) > count)
        self._log.acknowledged.add(self._model.asked_tasks[-1])

    def _compact(self) -> None:
        self._pane.press(*"/compact")
        self._pane.wait(lambda screen: "/compact" in _tail(screen))
        self._pane.press("Enter")
        self._pane.wait(lambda screen: _COMPACTED.search(screen.rpartition("› /compact")[2]))
        self._settle()

    def _new(self) -> int:
        number = self._log.next()
        self._log.sent.add(number)
        return number

    def _act_during_task(self) -> list[int]:
        """Do what can be done while a task runs; return what stands unsent at its end."""
        is_stopped = False
        match self._stage.kind:
            case "queue":
                self._queue_up()
                if is_stopped := self._random.random() < 0.3:
                    self._pane.press("C-c")
                self._model.gate.set()
            case "approval":
                while _ASKS in _tail(self._pane.wait(_is_ready)):
                    self._answer(yes=self._random.random() < 0.7)
        screen = self._settle()
        if is_stopped and _UNSENT in screen:
            return numbers_in(screen.rpartition(_UNSENT)[2])
        return []

    def _queue_up(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            number = self._new()
            for key in self._stage.text(number):
                self._pane.press("Space" if key == " " else key)
            self._pane.wait(partial(_shows, f"task {number}"))
            self._pane.press("Enter")  # by itself: in what comes at once it begins a line
            self._pane.press(_MARK)
            self._pane.wait(lambda screen: _MARK in _tail(screen))
            if (
                number in self._stage.queued_tasks()
            ):  # else both came at once, and stand in the line
                self._log.acknowledged.add(number)
            self._pane.press("BSpace", "BSpace")
            self._pane.wait(lambda screen: _MARK not in _tail(screen))


def _end(timer: threading.Timer) -> None:
    """See to it that *timer* kills nothing any more: it may be about to, and asks tmux first."""
    timer.cancel()
    if timer.ident is not None:
        timer.join()


def run_attached_rounds(stage: KilledSession, rng: random.Random, times: int) -> None:
    """Do as `run_rounds`, with terminals that join one server; it lives to the end."""
    server = Server(stage, 0)
    try:
        assert server.is_ready
        port = str(urlsplit(server.info["url"]).port)
        run_rounds(stage, rng, times, joined=("--attach", "--port", port))
    finally:
        server.kill()


def run_rounds(
    stage: KilledSession, rng: random.Random, times: int, *, joined: Sequence[str] = ()
) -> None:
    """Start the dialogue *times* times and kill it each time; the next one shows what is left.

    With the options *joined* it is one of a server's, and writes nothing to disk itself.
    """
    pane = Pane()
    try:
        for round_ in range(times + 1):
            by_change = not joined and round_ < times and rng.random() < 0.6
            resumed = ["--resume"] if not joined and stage.session() else []
            options = ["--cli", *joined, *resumed]
            pane.run(
                stage.argv(rng.randint(1, 160) if by_change else 0, *options), stage.environment
            )
            timer = threading.Timer(rng.uniform(0, 5), pane.kill_now)
            try:
                typist = Typist(stage, pane, rng)
                unsent = typist.wait_for_prompt()
                stage.check(unsent)
                if round_ < times:
                    if not by_change:
                        timer.start()
                    typist.act(unsent)
            except ServerDied:
                pass
            finally:
                _end(timer)
                stage.responder.gate.set()
                pane.kill()
            stage.killed += round_ < times
    finally:
        pane.close()
