"""A session in a process of its own that is killed while its helpers work, as by a power cut."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.conversation.helper_records import helpers_in
from core.conversation.history import ASKED
from core.conversation.messages import Assistant, StateRecord
from core.events import ApprovalAsked, Event, HelperEvent, Reply, ToolStarted
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from modules.checkpoints.restore.apply import PlanApplier
from modules.checkpoints.undo.recorder import CallRecorder
from modules.delegation.helper_copies import HelperCopies
from tests.modules.delegation.helper_models import PARENT, ModelOfHelpers
from tests.modules.delegation.test_delegation import Scripts, WildScripts, at_work, delegated
from tests.scripted_model import call_reply, calls_reply, text_reply
from tests.simulator.server import wait_for
from utils.waiting import Stop

TWICE = calls_reply(("r1", "read_file", '{"path": "a.txt"}'), ("r2", "list_files", "{}"))
WRITES = call_reply("create_file", path="b.txt", content="b\n")
ASKS = call_reply("ask_person", question="Which one?", choices=["red", "blue"])
ROLE = "---\ndescription: Writes.\n---\nYou write.\n"


def die(_: Stop | None = None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def scripts(how: str) -> Scripts:
    words = [text_reply(f"{name} is done.") for name in ("one", "two")]
    if how == "one answered":
        return {PARENT: [], "one": words[:1], "two": words[1:]}
    if how == "asking":
        return {PARENT: [delegated("one", "two")], "one": [ASKS], "two": [ASKS]}
    last = {"read-only": [die, *words[0]]}.get(how, calls_reply(("r3", "list_files", "{}")))
    looks = [call_reply("list_files", depth=n) for n in range(1, 9)]
    return {
        PARENT: [delegated("one", "two", mode=how)],
        "one": [TWICE, WRITES, last],
        "two": [TWICE, *looks],
    }


def told(terminal: MainTerminal, is_it: Callable[[object], bool]) -> int:
    """Return how many helpers kept a record of which *is_it* holds."""
    helpers = helpers_in(terminal.history.log)
    return sum(any(is_it(record) for _, record in helper.records) for helper in helpers)


def is_question(record: object) -> bool:
    return isinstance(record, StateRecord) and record.name == ASKED and bool(record.value)


def is_last_word(record: object) -> bool:
    return isinstance(record, Assistant) and not record.calls


BRINGS_BACK = [
    call_reply("modify_file", id="w1", path="a.txt", old="hello", new="one"),
    call_reply("create_file", id="w2", path="b.txt", content="b\n"),
    call_reply("modify_file", id="w3", path="a.txt", old="one", new="one\ntwo"),
    text_reply("Written."),
]
DEATHS: dict[str, tuple[type, str, int, bool]] = {
    "after the first": (CallRecorder, "take_from", 1, True),
    "within the second": (PlanApplier, "apply", 1, True),
    "after all": (HelperCopies, "remove", 1, True),
}
"""Where a session that resumes is killed, one after the other, while what a helper wrote is brought
back: a method, which of its calls, and whether behind it."""


def die_at(owner: type, name: str, number: int, is_behind: bool) -> None:
    """Be killed before, or behind, that call of the method *name* of *owner*."""
    method = getattr(owner, name)
    left = iter(range(number - 1, -1, -1))

    def deadly(*args: Any, **kwargs: Any) -> Any:
        is_it = next(left) == 0
        if is_it and not is_behind:
            die()
        result = method(*args, **kwargs)
        if is_it:
            die()
        return result

    setattr(owner, name, deadly)


def bring_back(base: Path, how: str) -> None:
    scripts: Scripts = {PARENT: [delegated("one", mode="write")], "one": BRINGS_BACK}
    with at_work(base, scripts if how == "after the first" else {}) as assembled:
        terminal = assembled.terminal
        die_at(*DEATHS[how])
        if how == "after the first":
            drive(terminal.run_line("go"), lambda _: None)
        else:
            terminal.resume()
            drive(terminal.resume_turn(), lambda _: None)


def go_wild(base: Path, seed: int) -> None:
    """Go on with whatever there is, or begin; be killed at some event of that."""
    chance = random.Random(seed)
    left = iter(range(chance.randrange(1, 40), -1, -1))

    def show(event: Event) -> Reply | None:
        if next(left) == 0:
            die()
        if isinstance(event, ApprovalAsked) and chance.random() < 0.8:
            return Reply(yes=True, text="Yes")
        return None

    with at_work(base, {}, step_limit=12) as assembled:
        terminal = assembled.terminal
        assert isinstance(terminal.model, ModelOfHelpers)
        terminal.model.scripts = WildScripts(chance)
        if terminal.store.sessions():
            terminal.resume()
        if terminal.has_open_turn:
            drive(terminal.resume_turn(), show)
        while True:
            drive(terminal.run_line("go"), show)


def main(base: Path, how: str) -> None:
    if how.startswith("wild "):
        go_wild(base, int(how.removeprefix("wild ")))
    if how in DEATHS:
        bring_back(base, how)
        return
    asked: list[Event] = []

    def show(event: Event) -> Reply | None:
        step = event.event if isinstance(event, HelperEvent) else None
        if isinstance(step, ToolStarted) and step.call_id == "r3":
            die()
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event)
        if how == "asking":
            wait_for(lambda: told(terminal, is_question) == 2)
            die()
        if how == "one answered" and len(asked) == 2:
            wait_for(lambda: told(terminal, is_last_word) == 1)
            die()
        return Reply(yes=True, text="Yes" if how == "agent" else "red")

    with at_work(base, scripts(how)) as assembled:
        terminal = assembled.terminal
        if how == "one answered":
            terminal.resume()
            drive(terminal.resume_turn(), show)
        elif how == "agent":
            roles = assembled.root / ".agents" / "agents"
            roles.mkdir(parents=True)
            (roles / "writer.md").write_text(ROLE, encoding="utf-8")
            drive(terminal.run_line("/agent writer one"), show)
        else:
            drive(terminal.run_line("go"), show)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
