"""Whatever happens to a session, each request it makes is one that the API takes."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.conversation.messages import Wire
from core.events import ApprovalAsked, CommandAnswered, Event, Reply
from core.loop.turn import drive
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.campaign import examples
from tests.core.loop.test_turn import check_whole
from tests.request_validation import recipe_error
from tests.scripted_model import ScriptedModel
from utils.i18n import phrase
from utils.llm.completion import Completion, Delta, ModelError, RawCall, Retry, Usage
from utils.waiting import Stop, Stopped


class Fault(Exception):
    """The screen, or something of ours, breaks."""


class WildModel(ScriptedModel):
    """Says anything a model may say, and fails in every way; each request to it is judged."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance
        self.count = 0

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,  # noqa: ARG002
        effort: str = "",  # noqa: ARG002
    ) -> Iterator[Delta | Retry | Completion]:
        check_whole(list(messages))
        thinking = {"type": "enabled" if think else "disabled"}
        body = {"model": "deepseek-flash", "tools": tools, "messages": messages}
        if not tools:
            del body["tools"]
        said = recipe_error(json.dumps({**body, "thinking": thinking, "stream": True}).encode())
        assert said is None, said
        yield from self._reply(stop)

    def _reply(self, stop: Stop) -> Iterator[Delta | Retry | Completion]:
        fate = self.chance.random()
        yield Delta("some ")
        if fate < 0.05:
            raise ModelError("network", phrase("No network."))
        if fate < 0.1 or stop.is_set():
            stop.set()
            raise Stopped
        if fate < 0.2:
            yield Retry(phrase("It broke off."), 1, 0.0)
        number = 0 if fate > 0.8 else self.chance.randint(1, 3)
        calls = tuple(self._call() for _ in range(number))
        is_cut = fate > 0.97
        yield Completion("some text", "", calls, Usage(10, 0, 10, 5, 0, 1, 0.0), is_cut=is_cut)

    def _call(self) -> RawCall:
        self.count += 1
        pick = self.chance.choice
        path = pick("abc")
        name, arguments = pick([
            ("create_file", {"path": path, "content": str(self.count), "overwrite": True}),
            ("read_file", {"path": path}),
            ("delete_file", {"path": path}),
            ("annotate_file", {"path": path, "note": str(self.count)}),
            ("update_todos", {"todos": [{"title": str(self.count), "status": "pending"}]}),
            ("nothing", {}),
        ])  # fmt: skip
        text = json.dumps(arguments)
        return RawCall(f"call{self.count}", name, text if self.chance.random() < 0.9 else text[:-3])


LINES = (
    *["work"] * 6, "/rewind", "/rewind 1", "/rewind talk", "/rewind files", "/undo", "/undo call",
    "/redo", "/fork", "/fork 1", "/fork --with-files", "/compact", "/new", "/focus a", "/note a b",
)  # fmt: skip


def drive_wildly(env: AssembledTerminal, line: str, chance: random.Random) -> None:
    """Run *line*; the screen may go away or the person may stop, at any event."""

    def show(event: Event) -> Reply | None:
        fate = chance.random()
        if fate < (0.2 if isinstance(event, ApprovalAsked) else 0.03):
            raise Fault
        if fate < 0.06:
            env.terminal.stop.set()
        if isinstance(event, CommandAnswered) and not event.ok:
            assert event.card is not None
        return Reply(yes=fate < 0.7)

    if env.terminal.has_open_turn and chance.random() < 0.7:
        with suppress(Fault):
            drive(env.terminal.resume_turn(), show)
    with suppress(Fault):
        drive(env.terminal.run_line(line), show)
    if not env.terminal.history.unanswered_calls:
        check_whole(env.terminal.history.messages())


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), lines=st.lists(st.sampled_from(LINES), min_size=3, max_size=12))
def test_every_request_is_whole(seed: int, lines: list[str]) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        session = ""
        while lines:
            mode = chance.choice(["guarded", "ask"])
            with assembled_terminal(
                base, summary_prompt="You sum up.", step_limit=6, approval_mode=mode
            ) as env:
                model = WildModel(chance)
                env.terminal.model = model
                if session:
                    env.terminal.resume(session)
                for line in lines[: (cut := chance.randint(1, len(lines)))]:
                    drive_wildly(env, line, chance)
                lines = lines[cut:]
                session = env.terminal.session
                if session:
                    tear(env, session, chance)


def tear(env: AssembledTerminal, session: str, chance: random.Random) -> None:
    """Take away the end of the session's log, as a kill does that came before it was written."""
    count = chance.choice([0, 0, 1, 2, 5])
    with env.store._database.writing() as connection:
        connection.execute(
            "DELETE FROM event WHERE session = ?1 AND seq > (SELECT max(max(seq) - ?2, 1) FROM"
            " event WHERE session = ?1)",
            (session, count),
        )
