"""Notes, notes on lines, focus and `/why` hold while others edit, and the server is killed.

The real server works at files with its tools and with programs; meanwhile, between its calls and
while it is dead, others rename, edit and delete them. It is killed (SIGKILL) ten times: while it
rests, between two calls of a task and amid one, right before any change that it makes on disk.
"""

from __future__ import annotations

import random
import shlex
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from modules.checkpoints.store.heartbeat import Heartbeat
from tests.campaign import seeded
from tests.killed_server import HttpClient, Server, ServerDied
from tests.kills import MARK, marked_processes
from tests.outside_edits import Content, TrackedFile
from tests.session_kills import (
    TIMEOUT_SECONDS,
    KilledSession,
    ScriptedResponder,
    has_ended,
    wait_until,
)
from tests.simulator import Call, Say, Simulator, Step
from tests.simulator.server import ReceivedRequest

KILLS = 10
_FILES = 6
_MOST_CHANGES = 160
"""On disk, of a server that starts and does a task."""


def _wait_until_nobody_doubts(folder: Path) -> None:
    """Let the clock of the disk go on until what is changed is evidently not the killed call's."""
    heartbeat = Heartbeat(next(folder.parent.glob("data/projects/*/checkpoints/alive")))
    path = folder.parent / "now"
    while True:
        path.touch()
        if path.stat().st_ctime_ns > (heartbeat.end_of_doubt() or 0):
            return
        time.sleep(0.05)


class Campaign:
    """Plays in *base* by *seed*; `play` checks after each kill that all is one to one."""

    def __init__(self, base: Path, seed: int) -> None:
        self._rng = random.Random(f"outside {seed}")
        self._base = base
        self._session = ""
        self._server: Server | None = None
        self._http: HttpClient | None = None
        self._turn = 0
        self._calls_left = 0
        self._kills_before_call = -1
        self._pending: tuple[TrackedFile, Content] | None = None
        self._write: Call | None = None  # as soon as its file was read
        self._failure = ""  # of what the model's side saw
        self.kills = 0
        self.finished_calls = 0

    def play(self) -> None:
        with Simulator(self._next_step) as wire:
            self._stage = KilledSession(self._base, "queue", ScriptedResponder(), wire.url)
            self._files = [
                TrackedFile(self._stage.project, f"file{number}", in_focus=number < 3)
                for number in range(_FILES)
            ]
            self._begin()
            while self.kills < KILLS:
                self._play_round(self._rng.choice(["rest", "between", "change", "change"]))
            self._start(0)
            self._check()
            self._kill()

    def _begin(self) -> None:
        """Set the notes and the focus, and let a first task be done."""
        self._start(0)
        for file in self._files:
            self._command(f"/note {file.content.path} {file.name}")
            texts = [line.text for line in file.content.lines]
            for text, line in file.noted.items():
                self._command(f"/note {file.content.path}:{texts.index(line) + 1} {text}")
            if file.in_focus:
                self._command(f"/focus {file.content.path}")
        self._run_task(2)
        self._check()
        self._kill()

    def _play_round(self, kind: str) -> None:
        """Start the server, look, let it work while others do, kill it, and let others go on."""
        self._start(self._rng.randint(1, _MOST_CHANGES) if kind == "change" else 0)
        with suppress(ServerDied):
            self._check()
            for _ in range(self._rng.randint(1, 3)):
                self._change_outside(2)
                self._kills_before_call = self._rng.randrange(3) if kind == "between" else -1
                self._run_task(self._rng.randint(1, 3))
        self._kill()
        self.kills += 1
        self._change_outside(3)

    # --- the server ------------------------------------------------------------------------------

    def _start(self, change: int) -> None:
        self._server = Server(self._stage, change)
        if not self._server.is_ready:
            assert change, "the server did not start"
            return
        self._http = HttpClient(self._server.info)
        if not self._session:
            self._session = self._ask("POST", "/api/sessions")["id"]

    def _kill(self) -> None:
        """Kill the server, and see by the disk whether the call that was on was made."""
        assert self._server
        self._server.kill()
        self._http = self._write = None
        self._calls_left = 0
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while marked_processes():
            assert time.monotonic() < deadline, "a program goes on"
            time.sleep(0.01)
        if self._pending:
            file, content = self._pending
            self._pending = None
            _wait_until_nobody_doubts(self._stage.project)
            if file.is_as(content):
                file.content = content
            assert file.is_as(file.content), ("half done", file.content.path)

    def _ask(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        if self._http is None:
            raise ServerDied
        return self._http.ask(method, path, **body)

    def _command(self, line: str) -> dict[str, Any]:
        answer = self._ask("POST", f"/api/sessions/{self._session}/command", line=line)
        assert answer["ok"], answer
        assert answer["done"], answer
        card: dict[str, Any] = answer["card"]
        return card

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._ask("GET", f"/api/sessions/{self._session}")["state"]
        return state

    def _wait_for_rest(self) -> dict[str, Any]:
        assert self._server
        if not wait_until(lambda: not self._state()["running"], self._server.process):
            raise ServerDied
        return self._state()

    # --- the model, and the others ---------------------------------------------------------------

    def _run_task(self, calls: int) -> None:
        """Let a task of so many *calls* be done."""
        assert self._server
        self._turn = self._wait_for_rest()["turn"] + 1
        self._calls_left = calls
        given = {"text": f"change {self._turn}", "cmd": uuid.uuid4().hex}
        sent = self._ask("POST", f"/api/sessions/{self._session}/messages", stream=False, **given)
        assert sent["ok"], sent
        has_begun = wait_until(lambda: self._calls_left < calls, self._server.process)
        if not has_begun or has_ended(self._server.process):
            raise ServerDied
        self._wait_for_rest()
        assert not self._failure, self._failure

    def _next_step(self, request: ReceivedRequest) -> Step:
        """Settle the call before, let others do something, and return the next call."""
        if self._failure:
            return Say("Done.")
        if write := self._write:
            self._write = None
            return write
        if self._pending:
            file, content = self._pending
            file.content, self._pending = content, None
            if not file.is_as(file.content):
                self._failure = f"not done: {file.content.path}: {request.last_answer}"
            file.looked_at()
            self.finished_calls += 1
        assert self._server
        if self._kills_before_call == 0:
            self._server.process.kill()
            return Say("too late")
        self._kills_before_call -= 1
        if not self._calls_left:
            return Say("Done.")
        if self.finished_calls:  # what was before any call is of nobody that can be named
            self._change_outside(1)
        self._calls_left -= 1
        there = [file for file in self._files if file.is_there]
        return self._call(self._rng.choice(there)) if there else Say("Done.")

    def _call(self, file: TrackedFile) -> Step:
        """Return a call that changes or renames *file*, as *pending*."""
        path = file.content.path
        mark = ("call", self._turn)
        kind = self._rng.choice(["tool", "tool", "shell", "rename", "move"])
        is_edit = kind in ("tool", "shell")
        after = file.edited(self._rng, mark) if is_edit else file.renamed(self._rng)
        self._pending = file, after
        match kind:
            case "tool":
                self._write = Call("create_file", path=path, content=after.text, overwrite=True)
                return Call("read_file", path=path)
            case "shell":
                command = f"printf %s {shlex.quote(after.text)} > {shlex.quote(path)}"
            case "rename":
                return Call("rename_file", path=path, new_path=after.path)
            case _:
                folder, old, new = map(shlex.quote, (Path(after.path).parts[0], path, after.path))
                command = f"mkdir -p {folder} && mv {old} {new}"
        return Call("run_command", command=f"{command} # {MARK}")

    def _change_outside(self, count: int) -> None:
        for file in self._rng.sample(self._files, count):
            for _ in range(self._rng.randint(1, 3)):
                file.change_outside(self._rng)

    # --- what must be so -------------------------------------------------------------------------

    def _check(self) -> None:
        """Hold all that the server says of the files against what was done to them."""
        self._wait_for_rest()
        there = [file for file in self._files if file.is_there]
        noted = [row[0] for row in self._command("/note")["rows"]]
        assert len(noted) == 3 * len(there), noted
        rows = self._command("/focus").get("rows", ())
        focus = {path for path, size in rows if size["template"] != "missing"}
        assert focus == {file.content.path for file in there if file.in_focus}
        for file in there:
            path = quote(file.content.path)
            file.check_notes(self._ask("GET", f"/api/files/text?path={path}"))
            file.check_why(self._ask("GET", f"/api/files/why?path={path}")["card"])
        for file in self._files:
            file.looked_at()


@seeded(1)
def test_an_hour_of_others_and_ten_kills_leave_all_one_to_one(tmp_path: Path, seed: int) -> None:
    campaign = Campaign(tmp_path / "stage", seed)
    campaign.play()
    assert campaign.kills == KILLS
    assert campaign.finished_calls > KILLS / 2
