"""The terminal: one conversation about one project folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import InitVar, dataclass, field, replace
from datetime import date
from itertools import takewhile
from posixpath import normpath
from typing import TYPE_CHECKING

from core.cards import Card, TextCard
from core.command_table import CommandTable
from core.commands import Commands, must_wait_message
from core.conversation.citations import Citations, citations_of
from core.conversation.context_updates import context_diff
from core.conversation.context_window import ContextWindow
from core.conversation.history import NATIVE_FAILURES, QUESTION, History, lost_result
from core.conversation.messages import SHELL_ESCAPE, Record, StateRecord, ToolCall, User, Wire
from core.conversation.proof import NO_PROOF, Proof
from core.conversation.request_prefix import PrefixWatch, Request
from core.conversation.result_texts import INTERRUPTED_TEXT
from core.conversation.store import Store
from core.conversation.transcript import turn_end_record
from core.conversation.turn_progress import is_turn_over
from core.events import ApprovalAsked, CommandAnswered, Reply, TurnFinished, TurnStarted
from core.feature import Command, Feature, OwnTurn, PromptCommand, Section, commands_of
from core.feature_set import FeatureSet
from core.loop.approval import Approval, ApprovalMode
from core.loop.current_question import CurrentQuestion
from core.loop.depth import STANDARD
from core.loop.thinking import Mode
from core.loop.turn_context import Turn
from core.observer import Observer, observe
from core.redaction import map_strings
from core.session import NamedModel, SessionManager
from core.tool_texts import TOOLS_PLACE, fill_template
from core.tools import Outcome, Tool, Toolbox, ToolError
from utils.i18n import Phrase, UserError, phrase
from utils.llm.completion import Usage
from utils.llm.prices import plain_sum
from utils.pictures import Picture
from utils.text.clean import visible
from utils.text.codec import to_plain
from utils.text.lines import replace_lone_surrogates
from utils.text.nearest import nearest_name
from utils.waiting import Stop

if TYPE_CHECKING:
    from core.loop.tool_calls import FinishedCall

FAILURES_BEFORE_OFFER = 2
"""Replies of a session without native calls that could have had some, before text is offered."""
_APPROVAL_WORDS: Mapping[ApprovalMode, str] = {
    "read-only": "This session is read-only: change and run nothing.",
    "plan": (
        "Plan mode: read, search and ask the person; change and run nothing until they say yes to "
        "a plan. Once you know what to do, make the whole plan your answer, and nothing else: the "
        'heading "# Plan", then numbered steps, each with its files, and how the result will be '
        "checked. To a mere question just answer."
    ),
}
"""What the model is told of a mode; of the others it need not know."""


@dataclass(kw_only=True)
class MainTerminal:
    """Owns the session, the features, the model's window and the settings of one conversation.

    `run_line` is the one way in, for a task and for a slash command alike; the result comes as
    events. One turn at a time: a second `run_line` must wait until the first is done or closed.
    """

    model: NamedModel
    feature_list: InitVar[Sequence[Feature]]
    store: Store
    project: str
    system_prompt: str
    list_paths: Callable[[], Sequence[str]] = tuple
    mode: Mode = "fast"
    approval_mode: ApprovalMode = "guarded"
    step_limit: int = 100
    """Model calls of one task; 0 for as many as it takes."""
    context_limit: int = 1_048_576
    budget_usd: float = 0.0
    is_practice: bool = False
    stop: Stop = field(default_factory=Stop)
    today: Callable[[], date] = date.today
    summary_prompt: str = ""
    """The prompt that asks the model for a summary; without it nothing is summed up."""
    load_pictures: Callable[[str], Sequence[Picture]] = lambda _: ()
    """Keeps the pictures that a typed line names by their paths. Raises `UserError`."""
    observer: Observer | None = None
    offers_sessions: bool = False
    """Whether `/resume` without an ID shows what there is; else it takes the newest."""
    show_news: Callable[[Phrase], bool] = lambda _: False
    """Shows a person what happened meanwhile, from any thread; returns whether it could."""
    on_state_changed: Callable[[], None] = lambda: None
    """Called, from any thread, when what the screen says of the session may have changed."""
    runs_shell_escapes: bool = False
    """Whether a line that begins with "!" was typed by a person, to be run as theirs."""
    reads_along: bool = True
    """Whether a session that another Onefold runs may be looked at (`locked_by` says who does)."""

    def __post_init__(self, feature_list: Sequence[Feature]) -> None:
        self.features = FeatureSet(feature_list)
        self.tools = Toolbox.of(self.features, self.features.tool_sources)
        self.approval = Approval(self.approval_mode, self.features.approval_reason)
        self.sessions = SessionManager(self)
        self.window = ContextWindow(self)
        self._prefix_watch = PrefixWatch()
        self.question = CurrentQuestion(lambda: self.tools, self._on_reply, self._on_asked)
        self.is_in_turn = False
        self.task = ""
        command_sources = [Commands(self), *self.features]
        self.commands = CommandTable(
            (command for feature in command_sources for command in commands_of(feature)),
            self.features.prompt_commands,
        )
        self.features.bind(self)

    # --- in: a line ------------------------------------------------------------------------------

    def run_line(
        self,
        line: str,
        pictures: Sequence[Picture] | None = None,
        queued: Sequence[str] = (),
        typed: str | None = None,
    ) -> Turn:
        """Put *line* to the model, or run it when it is a slash command; yield all that follows.

        With *pictures* it is never a command; None stands for those that `load_pictures` finds in
        it. *queued* are the ids under which it waited. *typed* is what of it a person typed, who
        may name files with an `@`; None for all. A stop from before counts no more; one that comes
        from now on ends what follows.
        """
        self.stop.clear()
        return self._with_observer(
            self._run_line(replace_lone_surrogates(line), pictures, tuple(queued), typed)
        )

    def expand(self, line: str) -> str:
        """Return *line* with the command written out that a person, typing, was short for."""
        return self.commands.expand(line) if self.runs_shell_escapes else line

    def _with_observer(self, turn: Turn) -> Turn:
        return observe(turn, self.observer) if self.observer else turn

    def _run_line(
        self,
        line: str,
        attached: Sequence[Picture] | None,
        queued: tuple[str, ...],
        typed: str | None,
    ) -> Turn:
        from core.loop.tool_calls import notices
        from core.loop.turn import run_turn  # a prompt is there sooner without it

        pictures = tuple(self.load_pictures(line) if attached is None else attached)
        if not pictures:
            line = self.expand(line)
        if line.startswith("/") and not pictures:
            if calls := self._calls_of(line):
                yield from self._run_calls(line, calls, [], is_private=False)
            elif own_turn := self._own_turn_of(line):
                self._begin_turn()
                yield from self._track_turn(own_turn(self, line, queued))
            elif prompt := self._prompt_of(line):
                yield from self._run_prompt(line, prompt, queued)
            else:
                yield self._run_command(line)
            return
        if self.runs_shell_escapes and line.startswith(SHELL_ESCAPE) and not pictures:
            yield from self._run_shell_escape(line, queued)
            return
        self._begin_turn()
        line, pictures = map_strings((line, pictures), self.features.redact)
        self.task = line
        route = STANDARD if pictures else self.features.route(line)
        self._record_context_updates()
        self.record(User(line, pictures, queued=queued))
        yield TurnStarted(line, self.history.turn, pictures)
        yield from notices(self)
        turn = run_turn(self, route=route)
        mentioning = line if typed is None else replace_lone_surrogates(typed)
        if "@" in mentioning:
            turn = self._with_mentions(mentioning, pictures, turn)
        yield from self._track_turn(turn)

    def _with_mentions(self, text: str, pictures: Sequence[Picture], turn: Turn) -> Turn:
        """Run the calls that *text*, which a person typed, asks for, then *turn*."""
        from core.loop.direct_calls import run_message_calls

        yield from run_message_calls(self, text, [picture.name for picture in pictures])
        yield from turn

    def _begin_turn(self) -> None:
        self.approval.settle()
        self.sessions.take_over()
        self.sessions.begin_turn()
        self.history.turn += 1
        self.window.next_turn()

    def _run_shell_escape(self, line: str, queued: tuple[str, ...]) -> Turn:
        """Run the command of the person's own that *line* is."""
        from core.loop.shell_escape import ShellEscape, run_shell_escape

        try:
            if reason := self.approval.outside_refusal:
                raise UserError(reason)
            escape = ShellEscape.parse(line)
        except UserError as error:
            yield CommandAnswered(SHELL_ESCAPE, TextCard(error.message), ok=False)
            return
        self._begin_turn()
        yield from self._track_turn(run_shell_escape(self, escape, line, queued))

    def run_calls(
        self,
        line: str,
        calls: Sequence[ToolCall],
        results: list[FinishedCall],
        *,
        is_private: bool = False,
    ) -> Turn:
        """Run *calls* that no model asked for, in a turn called *line*; fill *results*.

        The model reads nothing of those that are *is_private*. A stop from before counts no more.
        """
        self.stop.clear()
        return self._with_observer(self._run_calls(line, calls, results, is_private=is_private))

    def _run_calls(
        self,
        line: str,
        calls: Sequence[ToolCall],
        results: list[FinishedCall],
        *,
        is_private: bool,
    ) -> Turn:
        from core.loop.direct_calls import run_direct_calls

        self._begin_turn()
        yield from self._track_turn(
            run_direct_calls(self, line, calls, results, is_private=is_private)
        )

    def _prompt_of(self, line: str) -> PromptCommand | None:
        """Return the command that *line* gives, where that says something to the model."""
        command = self.commands.get(line.split(maxsplit=1)[0])
        return command.prompt if command else None

    def _calls_of(self, line: str) -> Sequence[ToolCall]:
        """Return the calls that the command in *line* makes in a turn of their own."""
        name, _, argument = line.strip().partition(" ")
        command = self.commands.get(name)
        return command.calls(argument.strip()) if command and command.calls else ()

    def _own_turn_of(self, line: str) -> OwnTurn | None:
        """Return the turn of its own that the command in *line* is."""
        name, _, argument = line.strip().partition(" ")
        command = self.commands.get(name)
        return command.turn(argument.strip()) if command and command.turn else None

    def _run_prompt(self, line: str, prompt: PromptCommand, queued: tuple[str, ...]) -> Turn:
        from core.loop.prompt_command import run_prompt_command

        name = line.split(maxsplit=1)[0]
        why = prompt.help if prompt.problem else prompt.refusal(line[len(name) :].strip())
        if why:
            answer = CommandAnswered(name, TextCard(why), ok=False)
            yield map_strings(answer, self.features.redact)
            return
        self._begin_turn()
        yield from self._track_turn(run_prompt_command(self, prompt, line, queued))

    @property
    def has_open_turn(self) -> bool:
        """Whether the session was left at a question or while a helper was at work, and is ours:
        see `resume_turn`."""
        calls = self.history.unanswered_calls
        if self.locked_by or self.is_in_turn or not calls:
            return False
        try:
            tool = self.tools.find(calls[0].name)
            decision = self.approval.decide(tool, tool.arguments(calls[0]), was_asked=True)
        except ToolError:  # there is no such tool any more
            return False
        return decision.verdict == "ask" or tool.spec.asks_person or tool.spec.runs_turn

    @property
    def line_to_ask_again(self) -> str:
        """The line that asks anew what a turn of its own was left at, "" where nothing is open."""
        return "" if self.locked_by or self.is_in_turn else self.features.line_to_ask_again()

    def resume_turn(self) -> Turn:
        """Ask again what was asked when the session was left, have helpers go on where they stood,
        and go on with its turn."""
        from core.loop.turn import PausedTurn, run_turn

        self.stop.clear()
        return self._with_observer(self._track_turn(run_turn(self, PausedTurn.of(self.history))))

    def continue_turn(self) -> Turn:
        """Go on with the turn that the session was left in: at its question, or with a step."""
        from core.loop.turn import run_turn

        if self.history.unanswered_calls:
            return self.resume_turn()
        self.stop.clear()
        return self._with_observer(self._track_turn(run_turn(self)))

    def _track_turn(self, turn: Turn) -> Turn:
        self.is_in_turn = True
        try:
            self.features.on_turn_begun()
            yield from self.question.follow(turn)
        finally:
            self.is_in_turn = False
            self.features.on_turn_end()

    def _on_asked(self, question: ApprovalAsked | None) -> None:
        """Keep what is asked, so that other processes know, and None once it was answered."""
        self.record(StateRecord(QUESTION, to_plain(question.why) if question else ""))

    def _on_reply(self, question: ApprovalAsked, reply: Reply | None) -> None:
        if self.observer:
            self.observer.on_reply(question, reply)

    def _run_command(self, line: str) -> CommandAnswered:
        name, _, argument = replace_lone_surrogates(line).strip().partition(" ")
        if name not in self.commands:
            unknown = TextCard(self._unknown_command(name))
            return map_strings(CommandAnswered(name, unknown, ok=False), self.features.redact)
        command, argument = self.commands[name], argument.strip()
        answer = self.perform(name, lambda: command.run(argument))
        return answer if answer.ok else self._suggest_path(answer, command, argument)

    def _suggest_path(
        self, answer: CommandAnswered, command: Command, arguments: str
    ) -> CommandAnswered:
        """Return *answer*, with the file that was probably meant by one that is not there."""
        paths = arguments.split() if "PATH…" in command.usage else arguments.split()[:1]
        if "PATH" not in command.usage or not isinstance(answer.card, TextCard) or not paths:
            return answer
        files = list(self.list_paths())
        # "a.py:3-5" names lines of a file that is there.
        unknown = (
            p for p in paths if {normpath(p), normpath(p.rpartition(":")[0])}.isdisjoint(files)
        )
        if not (missing := next(unknown, "")):
            return answer
        path_by_name = {path.rpartition("/")[2]: path for path in reversed(files)}
        near = nearest_name(missing.rpartition("/")[2], path_by_name)
        if near is None or not isinstance(answer.card.title, Phrase):
            return answer
        title = phrase(
            "{problem} Did you mean {near}?",
            problem=answer.card.title,
            near=visible(path_by_name[near]),
        )
        return replace(
            answer, card=map_strings(replace(answer.card, title=title), self.features.redact)
        )

    def run_concurrently(self, line: str) -> CommandAnswered:
        """Run a slash command while a turn runs, from any thread; one that cannot says so."""
        name = line.split(maxsplit=1)[0]
        if name in self.commands and not self.commands[name].spec.is_concurrent:
            return CommandAnswered(name, TextCard(must_wait_message(name)), ok=False)
        return self._run_command(line)

    def perform(self, name: str, action: Callable[[], Card | CommandAnswered]) -> CommandAnswered:
        """Do *action* as the command *name*; a mistake of the person becomes its answer."""
        try:
            if self.locked_by and name in self.commands and self.commands[name].spec.takes_back:
                self.sessions.take_over()
            answer = action()
        except (UserError, ToolError) as error:
            answer = CommandAnswered(name, TextCard(error.message), ok=False)
        else:
            if not isinstance(answer, CommandAnswered):
                answer = CommandAnswered(name, answer)
            self.features.on_files_changed(answer.changes)
            self.save_state()
        answer = map_strings(answer, self.features.redact)
        if self.observer:
            self.observer.on_command_answered(answer)
        return answer

    def _unknown_command(self, name: str) -> Phrase:
        near = nearest_name(name.lower(), self.commands)
        if near is None:
            return phrase("Unknown command {name}. /help lists all commands.", name=name)
        return phrase(
            "Unknown command {name}. Did you mean {near}? /help lists all commands.",
            name=name,
            near=near,
        )

    # --- what a turn needs (core.loop.turn_context.TurnContext) ---------------------------------

    def before_request(self) -> None:
        """Keep what the model is to be told before it is asked, and see to it that it fits."""
        self._record_context_updates()
        self.save_state()  # looking at files for what is told, a feature may have followed one
        self.window.drop_oldest_turns()
        self._record_prefix_break()

    def _record_prefix_break(self) -> None:
        """Keep what it costs where the next request does not begin with the last one."""
        model = f"{self.model.model} ({self.model.profile.protocol})"
        request = Request(self.session, model, tuple(self.tools.wire), self.build_request())
        if prefix_break := self._prefix_watch.next(request, self.history.take_rewrite()):
            self.record(prefix_break.to_record())
            if self.observer:
                self.observer.on_prefix_break(prefix_break)

    def build_request(self) -> list[Wire]:
        """Return the messages of the next model call: each one a continuation of the last."""
        return [{"role": "system", "content": self.system_text}, *self.history.messages()]

    @property
    def system_text(self) -> str:
        """The system prompt as it is sent: one that has a place for the tools tells of them."""
        if TOOLS_PLACE not in self.system_prompt:
            return self.system_prompt
        return fill_template(self.system_prompt, self.tools, self.model.profile.protocol)

    def announce_request(self, messages: Sequence[Wire]) -> None:
        if self.observer:
            self.observer.on_request(messages)

    def was_asked(self, call_id: str) -> bool:
        return call_id == self.history.asked_call_id

    def on_abandoned(self, calls: Iterable[ToolCall]) -> None:
        if not self.history.unanswered_calls:
            for call in calls:
                self.record(lost_result(call, INTERRUPTED_TEXT))

    def before_call(self, tool: Tool, call_id: str) -> None:
        self.features.before_call(tool, call_id, self.history.turn)

    def after_call(self, tool: Tool, call_id: str) -> None:
        self.features.after_call(tool, call_id, self.history.turn)

    def recorded(self, call_id: str) -> AbstractContextManager[None]:
        return self.features.recorded(f"{call_id}-{self.history.turn}", self.history.turn)

    def on_files_changed(self, outcome: Outcome) -> None:
        self.features.on_files_changed(outcome.changes)
        self.save_state()

    def warnings(self) -> Sequence[Phrase]:
        return [*self.store.warnings(), *self.features.warnings()]

    def on_turn_finished(self, end: TurnFinished) -> None:
        is_told = end.why == "done" and is_turn_over(self._records_of_turn())
        if not is_told:  # by the model's last word
            self.record(turn_end_record(self.history.turn, end))
        self.features.on_turn_finished()

    def citations(self) -> Citations:
        return citations_of(self._records_of_turn())

    def proof(self) -> Proof:
        prover, turn = self.features.prover, self.history.turn
        if prover is None:
            return NO_PROOF
        proof = map_strings(prover.proof(self._records_of_turn()), self.features.redact)
        if proof != NO_PROOF:
            self.record(proof.to_record(turn))
        return proof

    def _records_of_turn(self) -> list[Record]:
        history = self.history
        newest = takewhile(lambda one: one[0] == history.turn, reversed(history.records))
        return [record for _, record in newest][::-1]

    def native_failure(self) -> Phrase | None:
        if self.model.profile.protocol != "native":
            return None
        count = int(self.history.state.get(NATIVE_FAILURES, 0)) + 1
        self.record(StateRecord(NATIVE_FAILURES, count))
        if count != FAILURES_BEFORE_OFFER:
            return None
        return phrase(
            "The model has trouble calling tools. Text calls may work better: /model set "
            "protocol=vcp."
        )

    def over_budget_reason(self) -> Phrase | None:
        if not self.budget_usd or self.usage.cost_usd < self.budget_usd:
            return self.features.costs.refusal()
        return phrase(
            "The session's budget of ${budget} is used up (setting budget_usd).",
            budget=plain_sum(self.budget_usd),
        )

    # --- context for the model -----------------------------------------------------------------

    def _record_context_updates(self) -> None:
        self.features.before_request()
        if update := context_diff(self.history.context_sent, self._context_sections()):
            self.record(update)

    def _context_sections(self) -> list[Section]:
        location = f"You are in {self.project} ({sys.platform}); paths begin here."
        location_and_date = f"{location} Today: {self.today()}."
        sections = [Section("place", location_and_date)]
        if words := _APPROVAL_WORDS.get(self.approval.mode):
            sections.append(Section("approval", words))
        return [*sections, *self.features.context()]

    # --- how full it is --------------------------------------------------------------------------

    @property
    def usage(self) -> Usage:
        """Everything that the session has used so far."""
        return self.history.usage

    @property
    def helper_steps(self) -> int:
        """The model calls that helpers have made in this task."""
        return self.history.helper_steps

    @property
    def helper_usage(self) -> Usage:
        """What helpers have used in this task."""
        return self.history.helper_usage

    @property
    def yuan_per_dollar(self) -> float:
        """What the model's maker asks in yuan for one dollar of the session's cost.

        0 where it has no list in yuan, or where the session had other models as well.
        """
        models = {
            json.dumps(record.value)
            for _, record in self.history.log
            if isinstance(record, StateRecord) and record.name == "model"
        }
        tariff = self.model.tariff if len(models) <= 1 else None
        return tariff.price.yuan if tariff else 0.0

    @property
    def context_used(self) -> tuple[int, int]:
        """Return (tokens of the next request as far as known, the model's limit)."""
        return self.window.used, self.window.limit

    def tokens_by_part(self) -> dict[str, int]:
        """Return an estimate of the tokens of the next request by part."""
        return self.window.tokens_by_part()

    def compact(self) -> Phrase:
        """Sum up all turns but the last; say how that went. Raises `UserError`."""
        return self.window.compact()

    # --- the session -----------------------------------------------------------------------------

    def pause(self) -> None:
        """Let another process work in the session until `go_on`: see `SessionManager.pause`."""
        self.sessions.pause()

    def go_on(self) -> None:
        """Go on in the session that was paused: see `SessionManager.go_on`."""
        self.sessions.go_on()

    @property
    def allows_all(self) -> bool:
        return self.approval.mode == "all"

    @property
    def session(self) -> str:
        """The id of the session that it is in, "" before anything was kept of it."""
        return self.sessions.id

    @property
    def history(self) -> History:
        return self.sessions.history

    @property
    def locked_by(self) -> Phrase | None:
        """The process that runs the session, where it may only be read."""
        return self.sessions.locked_by

    def record(self, record: Record) -> None:
        """Keep *record* without what nobody may see; it is durable on return."""
        self.sessions.record(record)

    def save_state(self) -> None:
        self.sessions.save_state()

    def begin_turn(self, line: str) -> int:
        """Begin a turn for what the command in *line* does to the files; return its number."""
        self._begin_turn()
        self.record(User(line, is_private=True))
        return self.history.turn

    def new(self) -> None:
        """Begin an empty session in the mode of this one; the first thing said makes it."""
        self.sessions.new()

    def resume(self, id_prefix: str = "") -> str:
        """Go on with another session: see `SessionManager.resume`."""
        return self.sessions.resume(id_prefix)

    def fork(self, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""
        return self.sessions.fork(turn)

    def rewind(self, turn: int, key: int) -> None:
        self.sessions.rewind(turn, key)

    def undo_rewind(self, key: int) -> bool:
        return self.sessions.undo_rewind(key)

    def redact(self, text: str) -> str:
        """Return *text* without what nobody may see."""
        return self.features.redact(text)

    def take_settings_of(self, other: MainTerminal) -> None:
        """Have the mode, the model and the approval of *other*, as `new` does with its own."""
        self.mode = other.mode
        self.model.use(other.model.choice)
        self.approval.mode = other.approval.mode
        self.approval.after_plan = other.approval.after_plan

    def leave_plan_mode(self) -> None:
        """Go on in the mode in which a plan is done, where this is plan mode."""
        if self.approval.mode == "plan":
            self.approval.mode = self.approval.after_plan
            self.save_state()

    def announce(self, what: Phrase) -> bool:
        """Tell the person what happened beside the conversation; return whether that was done."""
        return self.show_news(map_strings(what, self.features.redact))

    def refresh(self) -> None:
        """Let the screen show anew what features say of themselves."""
        self.on_state_changed()

    def on_history_replaced(self) -> None:
        """Be told that the history is another one, or was read anew."""

    def close(self) -> None:
        """Give the session free and let go of everything: see `SessionManager.close`."""
        self.sessions.close()
