"""The features of a session, asked as one: who implements which hook is found out once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from core.cards import Card, Change
from core.cost_features import CostFeatures
from core.feature import (
    CallsOfMessage,
    EndDecision,
    Feature,
    HookEvent,
    HookVerdict,
    PostRunConfirmation,
    PromptCommand,
    Question,
    Section,
    SessionHandle,
)
from core.hook_members import HookMembers
from core.hooks import (
    AsksAgain,
    AsksPerson,
    BeginsWithTurns,
    BindsToSession,
    CallsForMessages,
    ConfinesRuns,
    ConfirmsCalls,
    DecidesFailures,
    FinishesTurns,
    FlagsCalls,
    FollowsFiles,
    FollowsForks,
    FollowsSession,
    HoldsResources,
    KeepsPlans,
    KeepsState,
    MarksProgress,
    OffersCommands,
    OffersTools,
    PreparesContext,
    PreparesTurns,
    PreviewsCalls,
    ProposesCommands,
    ProvesWork,
    ProvidesContext,
    ProvidesNews,
    ProvidesStatus,
    ProvidesWarnings,
    RecordsCalls,
    RecordsPerson,
    RedactsText,
    RemembersWork,
    RestsAfterTurns,
    RoutesTasks,
    RunsForPerson,
    RunsHooks,
)
from core.loop.approval_flow import arguments_preview
from core.loop.depth import STANDARD, Route
from core.redaction import map_strings
from core.tools import Risk, RunningTool, Tool
from utils.i18n import Phrase, Text, UserError, phrase
from utils.waiting import Stop

if TYPE_CHECKING:
    from core.events import Informed

Kind = TypeVar("Kind")
CHANGING_RISKS = frozenset({Risk.WRITE, Risk.RUN, Risk.DESTROY})


class FeatureSet:
    """All *features* of a terminal, in the order in which they are asked.

    Raises `TypeError` for one that has the method of a hook which is none of its bases.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self._features = tuple(features)
        members = HookMembers(features)
        self._contexts = members.of(ProvidesContext)
        self._preparing = members.of(PreparesContext)
        self._asking = members.of(AsksPerson)
        self._offering = members.of(OffersCommands)
        self.tool_sources = members.of(OffersTools)
        self._statuses = members.of(ProvidesStatus)
        self._warning = members.of(ProvidesWarnings)
        self._informing = members.of(ProvidesNews)
        self._proposing = members.of(ProposesCommands)
        self._work = members.of(RemembersWork)
        self._progress = members.of(MarksProgress)
        self._redactors = members.of(RedactsText)
        self._flagging = members.of(FlagsCalls)
        self._confining = members.of(ConfinesRuns)
        self._previews = members.of(PreviewsCalls)
        self._recorders = members.of(RecordsCalls)
        self._person_recorders = members.of(RecordsPerson)
        self._confirming = members.of(ConfirmsCalls)
        self._file_followers = members.of(FollowsFiles)
        self.costs = CostFeatures(members)
        self._starting = members.of(PreparesTurns)
        self._begun = members.of(BeginsWithTurns)
        self._calling = members.of(CallsForMessages)
        self._router = next(iter(members.of(RoutesTasks)), None)
        self._deciding = members.of(DecidesFailures)
        self._finishing = members.of(FinishesTurns)
        self._resting = members.of(RestsAfterTurns)
        self._bound = members.of(BindsToSession)
        self._session_followers = members.of(FollowsSession)
        self._asking_again = members.of(AsksAgain)
        self._fork_followers = members.of(FollowsForks)
        self._states = members.of(KeepsState)
        self._runners = members.of(RunsForPerson)
        self._hooks = members.of(RunsHooks)
        self.plans = next(iter(members.of(KeepsPlans)), None)
        self.prover = next(iter(members.of(ProvesWork)), None)
        self._resources = members.of(HoldsResources)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self._features)

    def find(self, kind: type[Kind]) -> Kind | None:
        """Return the feature that is a *kind*, None where there is none."""
        return next((one for one in self._features if isinstance(one, kind)), None)

    # --- what the model and the person are told --------------------------------------------------

    def before_request(self) -> None:
        """Be told that the model is about to be asked, before `context` is."""
        for one in self._preparing:
            one.before_request()

    def context(self) -> list[Section]:
        """Return what the model should know now."""
        return [section for one in self._contexts for section in one.context()]

    def questions(self) -> list[Question]:
        """Return what the person must decide before the model is asked."""
        return [question for one in self._asking for question in one.questions()]

    def prompt_commands(self) -> dict[str, PromptCommand]:
        """Return the commands that are none of ours, by name."""
        return {n: one for each in self._offering for n, one in each.prompt_commands().items()}

    def status(self) -> list[tuple[Phrase, Text]]:
        """Return their rows of `/status`."""
        return [row for one in self._statuses for row in one.status()]

    def warnings(self) -> list[Phrase]:
        """Return what the person should see and was not told yet; it counts as told."""
        return [warning for one in self._warning for warning in one.warnings()]

    def news(self) -> list[Phrase]:
        """Return what happened beside the conversation and was not told yet; it counts as told."""
        return [what for one in self._informing for what in one.news()]

    def proposals(self) -> list[Informed]:
        """Return what to propose to the person at the end of a turn; each counts as told."""
        return [proposal for one in self._proposing for proposal in one.proposals()]

    def state_fingerprint(self) -> str:
        """Return a short text that is another when the folder or the todos are."""
        return "\n".join(filter(None, (one.state_fingerprint() for one in self._progress)))

    def compaction_notes(self) -> list[str]:
        """Return what the model must not forget when older turns are left out."""
        return [one.compaction_notes() for one in self._work]

    def unfinished_work(self) -> Phrase | None:
        """Return what the person should know is left to do."""
        reminders = (one.unfinished_work() for one in self._work)
        return next((reminder for reminder in reminders if reminder), None)

    def redact(self, text: str) -> str:
        """Return *text* without what nobody may see; see `core.redaction.Redactor`."""
        for one in self._redactors:
            text = one.redact(text)
        return text

    def partial_secret_length(self, text: str) -> int:
        """Return how many characters at the end may begin something that nobody may see."""
        return max((one.partial_secret_length(text) for one in self._redactors), default=0)

    # --- calls -----------------------------------------------------------------------------------

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        """Return why a call needs the person's leave even in guarded mode, or None."""
        reasons = (one.approval_reason(tool, arguments) for one in self._flagging)
        return next((reason for reason in reasons if reason), None)

    def run_tier(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return how a call that runs a program would be confined; see `RunCard.tier`."""
        tiers = (one.run_tier(tool, arguments) for one in self._confining)
        return next((tier for tier in tiers if tier), "")

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card:
        """Return what a call would do, for the person: nothing in it that nobody may see."""
        unredacted = self.unredact(tool, arguments)
        previews = (one.preview(tool, unredacted) for one in self._previews)
        card = next((card for card in previews if card), None)
        return map_strings(card or arguments_preview(tool, arguments), self.redact)

    def unredact(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return *arguments* with what was hidden from the model, where *tool* may have it."""
        for one in self._redactors:
            arguments = one.unredact(tool, arguments)
        return arguments

    def before_call(self, tool: Tool, call_id: str, turn: int) -> None:
        """Be told that *tool* is about to run. Raises `UserError` when it must not."""
        for one in self._recorders if self._may_change_files(tool) else ():
            one.before_call(call_id, turn)

    def after_call(self, tool: Tool, call_id: str, turn: int) -> None:
        """Be told that *tool* is over, before its answer is recorded."""
        for one in self._recorders if self._may_change_files(tool) else ():
            one.after_call(call_id, turn)

    def _may_change_files(self, tool: Tool) -> bool:
        """Return whether *tool* may, or a hook around its calls."""
        return (
            changes_files(tool)
            or self.has_hooks("PreToolUse", tool.name)
            or self.has_hooks("PostToolUse", tool.name)
        )

    @contextmanager
    def recorded(self, call_id: str, turn: int) -> Iterator[None]:
        """Record what the block does to the folder as a call. Raises `UserError`."""
        for one in self._recorders:
            one.before_call(call_id, turn)
        try:
            yield
        finally:
            for one in self._recorders:
                one.after_call(call_id, turn)

    def has_hooks(self, event: HookEvent, tool: str = "") -> bool:
        """Return whether hooks of the person's or the project's are to run."""
        return any(one.has_hooks(event, tool) for one in self._hooks)

    def run_hooks(
        self,
        event: HookEvent,
        tool: str,
        arguments: Mapping[str, Any],
        result: str,
        *,
        is_read_only: bool,
    ) -> HookVerdict:
        """Run those there are; see `RunsHooks`."""
        for one in self._hooks:
            return one.run_hooks(event, tool, arguments, result, is_read_only=is_read_only)
        return HookVerdict()

    def confirm_after(self, tool: Tool, call_id: str, stop: Stop) -> PostRunConfirmation | None:
        """Return what the person must decide about a call that is over."""
        doubts = (one.confirm_after(tool, call_id, stop) for one in self._confirming)
        return next((doubt for doubt in doubts if doubt), None)

    def on_files_changed(self, changes: Sequence[Change]) -> None:
        """Be told what a call did to the files."""
        for one in self._file_followers if changes else ():
            one.on_files_changed(changes)

    def person_wrote(self, path: str, before: bytes | None, after: bytes) -> None:
        """Record what the person has made of a file; see `RecordsPerson`."""
        for one in self._person_recorders:
            one.person_wrote(path, before, after)

    def run_for_person(self, command: str, *, is_private: bool) -> RunningTool:
        """Run *command* of the person's own; see `RunsForPerson`."""
        for one in self._runners:
            with ExitStack() as stack:
                for recorder in self._person_recorders:
                    stack.enter_context(recorder.while_person_runs())
                return (yield from one.run_for_person(command, is_private=is_private))
        raise UserError(phrase("Commands cannot be run here."))

    # --- turns and the session -------------------------------------------------------------------

    def on_turn_start(self) -> None:
        """Be told that a turn is about to begin, before it has a number."""
        for one in self._starting:
            one.on_turn_start()

    def on_turn_begun(self) -> None:
        """Be told that a turn runs from now on, a new one or one that was left."""
        for one in self._begun:
            one.on_turn_begun()

    def route(self, line: str) -> Route:
        """Return how deep the task goes that the person's *line* begins."""
        return self._router.route(line) if self._router else STANDARD

    def calls_for(self, text: str, given: Collection[str]) -> CallsOfMessage:
        """Return the calls that the person's message *text* asks for."""
        found = [one.calls_for(text, given) for one in self._calling]
        return CallsOfMessage(
            [call for one in found for call in one.calls],
            [problem for one in found for problem in one.problems],
        )

    def failed_step(self, tool: str) -> EndDecision | None:
        """Return what is to be decided where a task ends on a failed call of *tool*."""
        steps = (one.failed_step(tool) for one in self._deciding)
        return next((step for step in steps if step), None)

    def on_turn_finished(self) -> None:
        """Be told that the turn came to its end, which nobody has seen yet."""
        for one in self._finishing:
            one.on_turn_finished()

    def on_turn_end(self) -> None:
        """Be told that the turn is over, however it ended."""
        for one in self._resting:
            one.on_turn_end()

    def bind(self, session: SessionHandle) -> None:
        """Be told once which conversation they are part of."""
        for one in self._bound:
            one.bind(session)

    def on_session_changed(self, session: str) -> None:
        """Be told that *session* is the one from now on, "" being one that is yet to begin."""
        for one in self._session_followers:
            one.on_session_changed(session)

    def line_to_ask_again(self) -> str:
        """Return the line that asks anew what a turn of the session was left at, "" for nothing."""
        return next(filter(None, (one.line_to_ask_again() for one in self._asking_again)), "")

    def on_fork(self, session: str, new_session: str, turn: int) -> None:
        """Be told that *new_session* was made of *session* up to the end of *turn*."""
        for one in self._fork_followers:
            one.on_fork(session, new_session, turn)

    def state(self) -> dict[str, Any]:
        """Return what of them belongs to the session, by name, as JSON values."""
        return {name: value for one in self._states for name, value in one.state().items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take back *state*; names that are missing mean the initial state."""
        for one in self._states:
            one.restore(dict(state))

    def on_rewind(self, state: Mapping[str, Any]) -> None:
        """Be told that the conversation went to another moment, when its state was *state*."""
        for one in self._states:
            one.on_rewind(dict(state))

    def close(self) -> None:
        """Let go of what is held open; nothing is asked of them after that."""
        for one in self._resources:
            one.close()


def changes_files(tool: Tool) -> bool:
    """Return whether a call of *tool* may change the project folder."""
    is_changing = tool.risk in CHANGING_RISKS or tool.spec.changes_files
    return is_changing and not tool.spec.touches_nothing
