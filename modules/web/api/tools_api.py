"""The API on the tools of a session: looked at, and tried in the tool tester."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Literal

from core.conversation.transcript import Packet
from core.events import ApprovalAsked, Reply
from core.loop.turn import drive
from core.tool_texts import NATIVE, definition_tokens, definitions_text, protocol_names
from modules.tool_tester.cases import ToolCases, rerun
from modules.tool_tester.tester import PendingRun, Place, ToolRun, ToolTester
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from utils.i18n import phrase
from utils.text.codec import to_plain

_RUN = Annotated[str, "The id of a run."]
_PROTOCOL = Annotated[str, "The name of a protocol."]
_MAX_TEXT = 1_000_000  # characters
_ANSWER = {
    "id": "Of the run.",
    "question": "What is asked before it goes on, or null: its tool, why and what it would do.",
    "run": "What came of it, or null: its calls, with arguments, state, answer, card and tokens.",
}


class ToolsApi:
    """Shows the tools of sessions of *registry*; *make_tester* makes what tries them."""

    def __init__(
        self,
        registry: SessionRegistry,
        make_tester: Callable[[], ToolTester] | None,
        cases: ToolCases,
        project: Path,
    ) -> None:
        self._registry = registry
        self._make_tester = make_tester
        self._cases = cases
        self._project = project
        self._tester: ToolTester | None = None
        self._lock = threading.Lock()
        self._id = ""
        self._pending: PendingRun | None = None
        self._run: ToolRun | None = None

    @route(
        "GET",
        "/api/sessions/{id}/tools",
        "The tools of the model, and their switches.",
        answer={
            "on": "Whether any are offered at all.",
            "new": "Whether tools that the project has not seen are.",
            "protocols": "The names of all protocols.",
            "tools": "Each with its switch (whether the model is told of it), risk, source, "
            "tokens, words and schema.",
        },
    )
    def tools(self, id: ID) -> Packet:  # noqa: A002 - its name in the address
        tools = self._registry.open(id).terminal.tools
        return {
            "on": tools.switches.is_on,
            "new": tools.switches.new_is_on,
            "protocols": protocol_names(),
            "tools": [
                {
                    "name": tool.name,
                    "on": tools.is_set(tool.name, tool.spec),
                    "risk": str(tool.risk),
                    "source": tool.source,
                    "tokens": definition_tokens(tool),
                    "summary": to_plain(tool.summary),
                    "description": tool.description,
                    "schema": tool.schema,
                }
                for tool in tools.installed
            ],
        }

    @route(
        "GET",
        "/api/sessions/{id}/tools/text",
        "What the model is told of its tools, to the letter.",
        answer={"text": "Of all that are on, or of one."},
    )
    def text(
        self,
        id: ID,  # noqa: A002
        protocol: _PROTOCOL = NATIVE,
        name: Annotated[str, "Of this tool alone."] = "",
    ) -> Packet:
        tools = self._registry.open(id).terminal.tools
        with as_api_errors():
            shown = [tools.find_installed(name)] if name else tools
            return {"text": definitions_text(shown, protocol)}

    # --- the tester ------------------------------------------------------------------------------

    @route(
        "POST",
        "/api/tool-runs",
        "Run the calls of a text, without a model. One that waits for an answer is given up.",
        status=201,
        answer=_ANSWER,
    )
    def start(
        self,
        text: Annotated[str, "JSON, or as a model writes calls.", Bounds(1, _MAX_TEXT)],
        place: Annotated[Place, "Where it runs."] = "scratch",
        protocol: _PROTOCOL = NATIVE,
        id: Annotated[str, "A name for it, to stop it by."] = "",  # noqa: A002
    ) -> Packet:
        with self._one_at_a_time(), as_api_errors():
            self._give_up()
            self._pending = self._open_tester().start(text, place, protocol)
            self._id, self._run = id or uuid.uuid4().hex, None
            return self._go_on(None)

    @route("POST", "/api/tool-runs/{run}/answer", "Answer the question of a run.", answer=_ANSWER)
    def answer(self, run: _RUN, yes: bool, reason: str = "") -> Packet:
        with self._one_at_a_time(), as_api_errors():
            if run != self._id or self._pending is None:
                raise _unknown_run()
            return self._go_on(Reply(yes, reason=reason))

    @route("POST", "/api/tool-runs/{run}/stop", "Stop a run.", status=204)
    def stop(self, run: _RUN) -> None:
        if run != self._id:
            raise _unknown_run()
        if pending := self._pending:
            pending.terminal.stop.set()

    @route(
        "POST",
        "/api/tool-runs/{run}/undo",
        "Take back what a run did in the project.",
        answer={"done": "Whether that could be done.", "card": "What came of it."},
    )
    def undo(self, run: _RUN) -> Packet:
        with self._one_at_a_time(), as_api_errors():
            done = self._finished(run)
            answer = self._open_tester().undo(done.turn)
            return {"done": answer.ok, "card": to_plain(answer.card)}

    @route(
        "POST",
        "/api/tool-runs/{run}/case",
        "Keep a run as a case.",
        answer={"name": "Of the case."},
    )
    def save(self, run: _RUN, name: str) -> Packet:
        with self._one_at_a_time(), as_api_errors():
            return {"name": self._cases.save(name, self._finished(run), self._project).name}

    @route(
        "POST",
        "/api/tool-cases/run",
        "Run all cases again; what has to be asked about is refused.",
        answer={"cases": "Each with its name and how it differs now, empty for not at all."},
    )
    def run_cases(self) -> Packet:
        with self._one_at_a_time(), as_api_errors():
            self._give_up()
            tester = self._open_tester()
            return {
                "cases": [
                    {"name": case.name, "difference": to_plain(rerun(tester, case, _run_unasked))}
                    for case in self._cases.all(self._project)
                ]
            }

    def close(self) -> None:
        """Give up what waits, and remove its folder."""
        if self._pending:
            self._pending.terminal.stop.set()
        with self._lock:
            self._give_up()
            if self._tester:
                self._tester.close()

    def _one_at_a_time(self) -> _Exclusive:
        return _Exclusive(self._lock)

    def _open_tester(self) -> ToolTester:
        if self._make_tester is None:
            raise ApiError("failed", phrase("The tool tester is not available here."))
        self._tester = self._tester or self._make_tester()
        return self._tester

    def _go_on(self, reply: Reply | None) -> Packet:
        """Go on to the next question, or to the end."""
        pending = self._pending
        if pending is None:
            raise _unknown_run()
        with suppress(StopIteration):
            event = pending.turn.send(reply)
            while not isinstance(event, ApprovalAsked):
                event = pending.turn.send(None)
            return {"id": self._id, "question": to_plain(event), "run": None}
        self._run = pending.result()
        self._give_up()
        return {"id": self._id, "question": None, "run": self._run.to_json()}

    def _give_up(self) -> None:
        pending, self._pending = self._pending, None
        if pending:
            pending.close()

    def _finished(self, run: str) -> ToolRun:
        if run != self._id or self._run is None:
            raise _unknown_run()
        return self._run


class _Exclusive:
    """Holds *lock*, or raises `ApiError` where it is held: nobody waits for another's run."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise ApiError("busy", phrase("The tool tester is already running."))

    def __exit__(self, *_: object) -> Literal[False]:
        self._lock.release()
        return False


def _run_unasked(pending: PendingRun) -> ToolRun:
    with closing(pending):
        drive(pending.turn, lambda _: None)
        return pending.result()


def _unknown_run() -> ApiError:
    return ApiError("not_found", phrase("This run no longer exists."))
