"""Reasons: what the sessions tell of the calls that wrote lines, and of what they rest on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.cards import LineOrigin, LineReceipt, WrittenBy
from core.conversation.helper_records import with_helpers_calls
from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, ShellResult, ToolResult, User
from core.conversation.proof import Proof, proofs_in
from core.conversation.store import SessionInfo, Store
from core.events import CHECK_CALL
from core.tool_spec import ToolSpec
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.line_origins.origins import Origin
from modules.checkpoints.undo.background_ids import BETWEEN_TURNS, IN_BACKGROUND
from modules.checks.receipt_texts import state_text
from modules.checks.receipts import ListedFiles, Tree, TreeStates
from modules.why.ranges import Ranges
from utils.i18n import Text, UserError, phrase

MAX_ASKED = 2_000
"""Characters of the words that asked for a call."""
_MAX_ABOUT = 300  # characters
_MAX_RECEIPTS = 5  # of one task, the last ones


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as it is kept: its line in the list, and its records."""

    info: SessionInfo
    records: Sequence[TurnRecord]


class Reasons:
    """Reads the sessions of *store*, each once; *specs* are the tools by name.

    Receipts are as the files of *project* are now.
    """

    def __init__(
        self,
        store: Store,
        specs: Mapping[str, ToolSpec],
        project: ListedFiles,
        checkpoints: LateCheckpoints,
    ) -> None:
        self._store = store
        self._specs = specs
        self._trees = TreeStates(project, checkpoints)
        self._sessions: dict[str, KeptSession | None] = {}
        self._now: Tree | None = None
        self._receipts: dict[tuple[str, int], tuple[LineReceipt, ...]] = {}
        self._arguments: dict[str, dict[tuple[int, str], Mapping[str, Any]]] = {}

    def session(self, session: str) -> KeptSession | None:
        """Return what is kept of *session*, None where that is nothing any more."""
        if session not in self._sessions:
            try:
                kept = KeptSession(self._store.info(session), self._store.load(session))
            except UserError:
                kept = None
            self._sessions[session] = kept
        return self._sessions[session]

    def arguments_of(self, origin: Origin) -> Mapping[str, Any] | None:
        """Return what the call of *origin* was run with, None where nothing of it is kept."""
        if origin.session not in self._arguments:
            kept = self.session(origin.session)
            self._arguments[origin.session] = _arguments_by_call(kept.records if kept else ())
        return self._arguments[origin.session].get((origin.turn, origin.call_id))

    def explain(self, origin: Origin, ranges: Ranges, *, with_receipts: bool) -> LineOrigin:
        """Return why the lines of *ranges* are as they are."""
        if origin.writer != "call":
            by: WrittenBy = "person" if origin.writer == "person" else "other"
            return LineOrigin(ranges, origin.writer, origin.when, by=by)
        kept = self.session(origin.session)
        records = kept.records if kept else ()
        of_turn = [record for turn, record in with_helpers_calls(records) if turn == origin.turn]
        tool, verb, about = self._call(origin.call_id, of_turn)
        return LineOrigin(
            ranges,
            "call",
            origin.when,
            origin.session,
            kept.info.title if kept else "",
            origin.turn,
            origin.call_id,
            tool,
            verb,
            about[:_MAX_ABOUT],
            next((_words(one) for one in of_turn if isinstance(one, User)), "")[:MAX_ASKED],
            self._receipts_of(origin, records) if with_receipts else (),
            self._by(tool),
        )

    def _by(self, tool: str) -> WrittenBy:
        """Return whether a call of *tool* ran a program, as checks and jobs do too."""
        spec = self._specs.get(tool)
        return "command" if not tool or (spec and spec.program) else "agent"

    def _call(self, call_id: str, records: Sequence[Any]) -> tuple[str, Text, str]:
        """Return the tool of a call, what it did and to what."""
        if call_id.endswith(IN_BACKGROUND):
            who = call_id.removeprefix(BETWEEN_TURNS).removesuffix(IN_BACKGROUND)
            return "", phrase("{who}, in the background", who=who), ""
        revised = {one.call_id: one.revised for one in records if isinstance(one, ToolResult)}
        for record in records:
            match record:
                case Assistant(calls=calls):
                    for call in calls:
                        if call.id == call_id:
                            arguments = revised.get(call_id) or json.loads(call.arguments)
                            return self._titled(call.name, arguments)
                case ShellResult(call_id=its_id, command=command) if its_id == call_id:
                    return "", phrase("Check"), command
        if call_id.startswith(CHECK_CALL):
            return "", phrase("Check"), ""
        return "", phrase("a call"), ""

    def _titled(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Text, str]:
        spec = self._specs.get(tool)
        if spec is None:
            return tool, tool, ""
        return tool, spec.verb or tool, spec.subject_of(arguments)

    def _receipts_of(
        self, origin: Origin, records: Sequence[TurnRecord]
    ) -> tuple[LineReceipt, ...]:
        key = origin.session, origin.turn
        if key not in self._receipts:
            proofs = [proof for turn, proof in proofs_in(records) if turn == origin.turn]
            self._receipts[key] = self._told(proofs[-1]) if proofs else ()
        return self._receipts[key]

    def _told(self, proof: Proof) -> tuple[LineReceipt, ...]:
        """Return the last receipts of *proof* as they are now."""
        if not proof.receipts:
            return ()
        if self._now is None:
            self._now = self._trees.now_or_last()
        last = {one.command: one for one in self._trees.receipts_of(proof, self._now)}
        return tuple(
            LineReceipt(one.command, one.exit_code, one.state, state_text(one))
            for one in [*last.values()][-_MAX_RECEIPTS:]
        )


def _arguments_by_call(
    records: Sequence[TurnRecord],
) -> dict[tuple[int, str], Mapping[str, Any]]:
    """Return what each call of *records* was run with, by its turn and id."""
    found: dict[tuple[int, str], Mapping[str, Any]] = {}
    for turn, record in with_helpers_calls(records):
        match record:
            case Assistant(calls=calls):
                found |= {(turn, call.id): json.loads(call.arguments) for call in calls}
            case ToolResult(call_id=its_id, revised=dict() as revised):
                found[turn, its_id] = revised
    return found


def _words(said: User) -> str:
    return "" if said.is_private else said.typed or said.text
