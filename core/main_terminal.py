"""The terminal: one conversation about one project folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from typing import Any, Protocol

from core.approval import Approval, ApprovalMode, stricter
from core.blinding import mapped
from core.cards import Card, TextCard
from core.commands import BESIDE, Commands, has_to_wait
from core.context import news
from core.events import CommandAnswered, Event, TurnFinished, TurnStarted, Warned
from core.families import Families
from core.family import Command, Family, Section, commands_of
from core.history import BROKEN_OFF, History, lost
from core.host import Model, Turn
from core.messages import Record, Shift, ToolCall, User, Wire
from core.store import Store
from core.thinking import Mode
from core.tools import Outcome, Toolbox, ToolError
from core.transcript import ended
from core.window import Window
from utils.completion import Usage
from utils.phrases import Phrase, Problem, phrase
from utils.text import without_halves
from utils.waiting import Stop

TAKING_BACK = frozenset({"/undo", "/redo", "/rewind", "/compact"})
"""The commands that change a session, and so cannot be had in one that is only read."""


class NamedModel(Model, Protocol):
    """A model that can be told apart, and changed by name between two calls."""

    model: str


@dataclass(kw_only=True)
class MainTerminal(Families):
    """Owns the message history, the state of the families and the settings of the session.

    `ask` is the one way in, for a task and for a slash command alike; what happens comes out as
    events. One turn at a time: a second `ask` must wait until the first is exhausted or closed.
    """

    model: NamedModel
    families: Sequence[Family]
    store: Store
    project: str
    system_text: str
    files: Callable[[], Sequence[str]] = tuple
    mode: Mode = "fast"
    approval_mode: ApprovalMode = "guarded"
    step_limit: int = 20
    context_limit: int = 1_048_576
    budget_usd: float = 0.0
    is_practice: bool = False
    stop: Stop = field(default_factory=Stop)
    today: Callable[[], date] = date.today
    session: str = ""
    digest_prompt: str = ""
    """What asks the model to sum a conversation up; without it nothing is summed up."""
    reads_along: bool = True
    """Whether a session that another Onefold runs may be looked at (`held` says who does)."""

    def __post_init__(self) -> None:
        self.tools = Toolbox.of(self.families)
        self.approval = Approval(self.approval_mode, self.concern)
        self.history = History(self._keep)
        self.held: Phrase | None = None
        self.is_in_turn = False
        self.window = Window(self)
        everyone = [Commands(self), *self.families]
        self.commands: Mapping[str, Command] = {
            command.name: command for family in everyone for command in commands_of(family)
        }
        for family in self.families:
            family.meet(self)
        self._defaults = self._settings()

    # --- in: a line ------------------------------------------------------------------------------

    def ask(self, line: str) -> Turn:
        """Put *line* to the model, or run it when it is a slash command; yield all that follows."""
        from core.turn import run_turn  # a prompt is there sooner without it

        self.stop.clear()
        line = without_halves(line)
        if line.startswith("/"):
            yield self._run_command(line)
            return
        self._take_over()
        self._begin()
        line = self.blind(line)
        self.history.turn += 1
        self.window.next_turn()
        self._tell()
        self.record(User(line))
        yield TurnStarted(line, self.history.turn)
        for warning in self.store.warnings():
            yield Warned(warning)
        yield from self._in_turn(run_turn(self))

    @property
    def is_asking(self) -> bool:
        """Whether the session was left at a question about a call, and is ours: see `go_on`."""
        calls = self.history.asked
        if self.held or self.is_in_turn or not calls:
            return False
        try:
            tool = self.tools.find(calls[0].name)
            leave = self.approval.judge(tool, tool.arguments(calls[0]), was_asked=True)
        except ToolError:  # there is no such tool any more
            return False
        return leave.verdict == "ask"

    def go_on(self) -> Turn:
        """Ask again what was asked when the session was left, and go on with its turn."""
        from core.turn import Left, run_turn

        self.stop.clear()
        yield from self._in_turn(run_turn(self, Left.of(self.history)))

    def _in_turn(self, turn: Turn) -> Turn:
        self.is_in_turn = True
        try:
            yield from turn
        finally:
            self.is_in_turn = False
            for family in self.families:
                family.rest()

    def _run_command(self, line: str) -> CommandAnswered:
        name, _, rest = without_halves(line).strip().partition(" ")
        if name not in self.commands:
            answer = TextCard(self._unknown(name))
            return mapped(CommandAnswered(name, answer, ok=False), self.blind)
        return self.perform(name, lambda: self.commands[name].run(rest.strip()))

    def beside(self, line: str) -> CommandAnswered:
        """Run a slash command while a turn runs, from any thread; one that cannot says so."""
        name = line.split(maxsplit=1)[0]
        if name in self.commands and name not in BESIDE:
            return CommandAnswered(name, TextCard(has_to_wait(name)), ok=False)
        return self._run_command(line)

    def perform(self, name: str, work: Callable[[], Card | CommandAnswered]) -> CommandAnswered:
        """Do *work* as the command *name*; a mistake of the person becomes its answer."""
        try:
            if self.held and name in TAKING_BACK:
                self._take_over()
            answer = work()
        except (Problem, ToolError) as error:
            return mapped(CommandAnswered(name, TextCard(error.what), ok=False), self.blind)
        self._save_state()
        if not isinstance(answer, CommandAnswered):
            answer = CommandAnswered(name, answer)
        return mapped(answer, self.blind)

    def _unknown(self, name: str) -> Phrase:
        near = get_close_matches(name.lower(), self.commands, n=1)
        if not near:
            return phrase("There is no command {name}; /help lists all.", name=name)
        return phrase(
            "There is no command {name}. Did you mean {near}? /help lists all.",
            name=name,
            near=near[0],
        )

    # --- sessions --------------------------------------------------------------------------------

    def new(self) -> None:
        """Begin an empty session in the mode of this one; the first thing said makes it."""
        settings = self._settings()
        self._leave()
        self._restore(settings)

    def resume(self, start: str = "") -> str:
        """Go on with the one session whose id begins with *start* ("": the newest); return its id.

        Raises `Problem` when there is none, or when somebody else is running it.
        """
        session = self.store.find(start)
        if session == self.session:
            return session
        held = self._claim(session)
        with ExitStack() as failing:
            if not held:
                failing.callback(self.store.release, session)
            records = self.store.load(session)
            failing.pop_all()
        self._leave()
        self.held = held
        self._enter(session)
        self.history.replay([(turn, mapped(record, self.blind)) for turn, record in records])
        self._restore(self.history.state)
        return session

    def _claim(self, session: str) -> Phrase | None:
        """Take *session* for us; return who has it where it may only be read."""
        self.store.info(session)
        try:
            self.store.claim(session)
        except Problem as problem:
            if not self.reads_along:
                raise
            return problem.what
        return None

    def _take_over(self) -> None:
        """Make the session ours, if it was only read so far. Raises `Problem` while it is held."""
        if self.held:
            session = self.session
            self.store.claim(session)
            self._leave()
            self.resume(session)
        if self.held:  # somebody was faster
            raise Problem(self.held)

    def look_again(self) -> None:
        """Read anew a session that is only read; it is ours from then on if nobody runs it now."""
        if not self.held:
            return
        self.held = self._claim(self.session)
        records = self.store.load(self.session)
        self.history = History(self._keep)
        self.history.replay([(turn, mapped(record, self.blind)) for turn, record in records])
        self._restore(self.history.state)

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it: the talk, and the families' state with it."""
        self.history.rewind(turn, key)
        self._go_back()

    def give_back(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one."""
        is_back = self.history.give_back(key)
        if is_back:
            self._go_back()
        return is_back

    def _go_back(self) -> None:
        for family in self.families:
            family.go_back(dict(self.history.state))

    def fork(self, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""
        copy = self.store.fork(self.session, turn)
        for family in self.families:
            family.forked(self.session, copy, turn)
        return copy

    def _leave(self) -> None:
        if self.session:
            self.store.release(self.session)
            self._enter("")
        self.held = None
        self.history = History(self._keep)

    def close(self) -> None:
        """Give the session free for others and let go of everything; all is on disk."""
        self._leave()
        for family in self.families:
            family.close()

    def _enter(self, session: str) -> None:
        self.session = session
        for family in self.families:
            family.enter(session)

    def _settings(self) -> dict[str, Any]:
        return {"mode": self.mode, "model": self.model.model, "approval": self.approval.mode}

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take up what *state* says; it is allowed no more than was allowed so far."""
        self.mode = state.get("mode", self._defaults["mode"])
        self.model.model = state.get("model", self._defaults["model"])
        self.approval.mode = stricter(self.approval.mode, state.get("approval"))
        self.approval.patterns.clear()
        for family in self.families:
            family.restore(dict(state))

    def _save_state(self) -> None:
        """Keep what changed of the session's own state, once there is a session."""
        if not self.session:
            return
        state = self._settings()
        for family in self.families:
            state |= family.state()
        for name, value in state.items():
            if self.history.state.get(name, self._defaults.get(name)) != value:
                self.record(Shift(name, value))

    def _begin(self) -> None:
        """See to it that there is a session, and that it knows how things stood before the turn."""
        self._create()
        self._save_state()

    def _create(self) -> None:
        if not self.session:
            session = self.store.create(model=self.model.model)
            self.store.claim(session)
            self._enter(session)

    def _keep(self, turn: int, record: Record) -> None:
        if self.held:
            return  # what is only looked at is not written to
        self._create()
        self.store.append(self.session, turn, record)

    # --- what a turn needs (core.host.Host) ------------------------------------------------------

    def request(self) -> list[Wire]:
        """Return the messages of the next model call: each one a continuation of the last."""
        self._tell()
        self._save_state()  # looking at files for what is told, a family may have followed one
        self.window.fit()
        return [{"role": "system", "content": self.system_text}, *self.history.wire()]

    def record(self, record: Record) -> None:
        self.history.append(mapped(record, self.blind))

    def was_asked(self, call_id: str) -> bool:
        return call_id in [call.id for call in self.history.asked[:1]]

    def break_off(self, calls: Iterable[ToolCall]) -> None:
        if not self.history.asked:
            for call in calls:
                self.record(lost(call, BROKEN_OFF))

    def follow(self, outcome: Outcome) -> None:
        super().follow(outcome)
        self._save_state()

    def warnings(self) -> Sequence[Phrase]:
        told = [warning for family in self.families for warning in family.warnings()]
        return [*self.store.warnings(), *told]

    def finish(self, end: TurnFinished) -> None:
        if end.why != "done":  # the model's last word says that itself
            self.record(ended(self.history.turn, end))

    def spent(self) -> Phrase | None:
        if not self.budget_usd or self.usage.cost_usd < self.budget_usd:
            return None
        return phrase(
            "The budget of ${budget} for a session is used up (setting budget_usd).",
            budget=f"{self.budget_usd:g}",
        )

    # --- what the model is told ------------------------------------------------------------------

    def _tell(self) -> None:
        if told := news(self.history.told, self._sections()):
            self.record(told)

    def _sections(self) -> list[Section]:
        place = f"Project folder: {self.project} ({sys.platform}). Today: {self.today()}."
        sections = [Section("place", place)]
        if self.approval.mode == "read-only":
            sections.append(
                Section("approval", "This session is read-only: change and run nothing.")
            )
        return [*sections, *(s for family in self.families for s in family.context())]

    # --- how full it is --------------------------------------------------------------------------

    @property
    def usage(self) -> Usage:
        """What the session has used so far."""
        return self.history.usage

    @property
    def context_used(self) -> tuple[int, int]:
        """Return (tokens of the next request as far as known, the model's limit)."""
        return self.window.used, self.context_limit

    def parts(self) -> dict[str, int]:
        """Return an estimate of the tokens of the next request by part."""
        return self.window.parts()

    def make_room(self) -> Iterator[Event]:
        return self.window.make_room()

    def compact(self) -> Phrase:
        """Sum up all turns but the last; say how that went. Raises `Problem`."""
        return self.window.compact()
