"""The dialogue at a terminal: a line is read, put to the terminal and its events are shown."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from core.commands import Commands
from core.events import CommandAnswered, Event, Reply, TurnStarted
from core.feature import name_of
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from modules.cli.input.keyboard import TypedAhead, quiet
from modules.cli.input.pending_lines import PendingLines
from modules.cli.input.startup_questions import somebody_is_there
from modules.cli.input.typeahead import TypeAheadListener
from modules.translator import Translator
from utils.i18n import Text, UserError, phrase
from utils.logger import FailureLog
from utils.system.interrupts import stopping
from utils.system.own_command import own_command
from utils.system.streams import OutputLost
from utils.text.clean import clean

if TYPE_CHECKING:
    from modules.cli.render.screen import CliScreen

LEAVING = ("exit", "quit")


def run_dialogue(
    terminal: MainTerminal,
    words: Translator,
    *,
    history_file: Path,
    failures: FailureLog,
    header: Sequence[Text] = (),
    start: Sequence[str] = ("--cli",),
    warm: Callable[[], None] = lambda: None,
) -> int:
    """Talk until the person leaves; return the exit code of the program.

    *header* is shown below the greeting, a line each; *failures* is where an error of ours is told
    in full; *start* are the options that lead to this project again; *warm* loads what the first
    task will need, in a thread, once the prompt is there.
    """
    ahead = TypedAhead()
    dialogue = Repl(terminal, words, failures, ahead, start)
    try:
        if somebody_is_there():
            from modules.cli.render.greeting import greet

            terminal.offers_sessions = True
            with quiet(sys.stdin.fileno(), ahead):
                greet(terminal, words, header)
                return dialogue.run(_typed(terminal, words, history_file, ahead, warm))
        return dialogue.run(_piped())
    except KeyboardInterrupt:
        return 130


class _Ending(Exception):
    """The program is asked to end at a question about a call, which is asked again later."""


class Repl:
    """The loop, and the screen it draws on, made when it is first needed."""

    def __init__(
        self,
        terminal: MainTerminal,
        words: Translator,
        failures: FailureLog,
        ahead: TypedAhead,
        start: Sequence[str],
    ) -> None:
        self._terminal = terminal
        self._words = words
        self._failures = failures
        self._ahead = ahead
        self._start = start
        self._queued = PendingLines(terminal)
        self._line = ""
        self._screen: CliScreen | None = None
        self._effect = ""
        self._signal = 0
        """What has asked the program to end; 0 for nothing."""

    def run(self, lines: Iterator[str]) -> int:
        self._enter()
        for line in lines if not self._signal else ():
            text = line.strip()
            if text in LEAVING:
                break
            if text:
                self._line = text
                self._turn(self._terminal.ask(text, queued=self._queued.ids_of(text)))
            if self._effect == "exit":
                break
            if self._effect == "session":
                self._queued.enter()
                if self._terminal.history.records:
                    self._enter()
            if self._signal:
                break
        if self._signal != signal.SIGHUP:  # which says that the terminal went away
            self._say_goodbye()
        return 128 + self._signal if self._signal else 0

    def _enter(self) -> None:
        """Show where the session is, and ask again what was asked when it was left."""
        goes_on = self._terminal.is_asking and somebody_is_there()
        if self._terminal.history.records:
            self._recall(is_open=goes_on)
        if goes_on:
            self._line = ""
            self._turn(self._terminal.go_on())
        self._restore_queued()

    def _turn(self, turn: Turn) -> None:
        """Show what comes of *turn*; an error ends this turn only."""
        from core.loop.turn import drive

        screen = self._make_screen()
        self._effect = ""
        stop = self._terminal.stop
        with ExitStack() as stack:
            stack.enter_context(stopping(stop.set, note=self._note_signal))
            stack.enter_context(stop.calling(screen.stopping))
            if self._ahead.was_interrupted():
                stop.set()
            stack.enter_context(screen.turn())
            if somebody_is_there():  # else lines are read as they come
                stack.enter_context(self._beside(screen).listening())
            try:
                drive(turn, self._show)
            except _Ending:
                pass
            except UserError as problem:
                screen.say(problem.what, "red")
            except OutputLost:
                raise  # nothing can be said any more
            except Exception as error:  # noqa: BLE001 - ours; the one place of this screen to log it
                screen.say(self._failures.keep(error), "red")
        if stop.is_set() and self._ahead.hold():
            self._queued.seen()
            self._say_unsent()

    def _note_signal(self, number: int) -> None:
        """Take note of what stops the turn: Ctrl-C does no more than that."""
        if number != signal.SIGINT:
            self._signal = number

    def _beside(self, screen: CliScreen) -> TypeAheadListener:
        """Return what runs the commands that are typed while a turn runs and need not wait."""
        terminal = self._terminal

        def run(line: str) -> None:
            if line == name_of(Commands.stop):
                terminal.stop.set()
                return
            try:
                screen.beside(line, terminal.beside(line))
            except Exception as error:  # noqa: BLE001 - ours; the turn goes on
                screen.say(self._failures.keep(error), "red")

        return TypeAheadListener(
            sys.stdin.fileno(),
            self._ahead,
            may_listen=lambda: not screen.is_asking,
            is_wanted=lambda line: terminal.is_in_turn and is_command(line),
            run=run,
            show=screen.typing,
            keep=self._queued.add,
        )

    def _restore_queued(self) -> None:
        """Put what was entered during a turn, and never sent, before the person again."""
        if somebody_is_there() and (typed := self._queued.restored()):
            self._say_unsent()
            self._ahead.add(typed)

    def _say_unsent(self) -> None:
        waiting = phrase("Typed while a task ran, and never sent: Enter sends it now.")
        self._make_screen().say(waiting, "yellow")

    def _recall(self, *, is_open: bool) -> None:
        """Show the last turn of the session that goes on."""
        from core.conversation.transcript import retold

        last: list[Event] = []
        terminal = self._terminal
        seconds = terminal.store.seconds(terminal.session)
        for event in retold(terminal.history.records, seconds, is_open=is_open):
            if isinstance(event, TurnStarted):
                last = []
            last.append(event)
        self._make_screen().recall(last)

    def _make_screen(self) -> CliScreen:
        if self._screen is None:
            self._screen = make_screen(self._terminal, self._words, self._ahead)
        return self._screen

    def _show(self, event: Event) -> Reply | None:
        if isinstance(event, CommandAnswered):
            self._effect = event.effect
        if isinstance(event, CommandAnswered | TurnStarted):
            self._queued.sent(self._line)
        reply = self._make_screen().show(event)
        if self._signal and reply is None and self._terminal.history.asked:
            raise _Ending
        return reply

    def _say_goodbye(self) -> None:
        if self._terminal.session and sys.stdout.isatty():
            command = own_command(*self._start, "--resume", self._terminal.session)
            again = phrase("Go on with it later: {command}", command=command)
            sys.stdout.write(f"{clean(self._words.say(again))}\n")


def is_command(line: str) -> bool:
    """Return whether *line* is meant as a command: a path from the root has another slash."""
    return line.startswith("/") and "/" not in line.split(maxsplit=1)[0][1:]


def make_screen(terminal: MainTerminal, words: Translator, ahead: TypedAhead) -> CliScreen:
    from modules.cli.input.approval_input import Keyboard
    from modules.cli.render.call_titles import CallTitles
    from modules.cli.render.screen import CliScreen
    from modules.cli.render.theme import make_console

    keyboard = None
    if somebody_is_there():
        keyboard = Keyboard(sys.stdin.fileno(), terminal.stop, words, ahead)
    screen = CliScreen(
        make_console(),
        words,
        CallTitles(terminal.tools.specs),
        asker=keyboard,
        is_practice=lambda: terminal.is_practice,
    )
    ahead.away, ahead.show_all = screen.away, screen.show_all
    return screen


def _piped() -> Iterator[str]:
    """Yield the lines of a standard input at which nobody sits."""
    while line := sys.stdin.readline():
        yield line


def _typed(
    terminal: MainTerminal,
    words: Translator,
    history_file: Path,
    ahead: TypedAhead,
    warm: Callable[[], None],
) -> Iterator[str]:
    """Yield what the person types until they leave."""
    from modules.cli.input.input_history import typed_before
    from modules.cli.input.line_completion import LineCompleter
    from modules.cli.input.prompt import Prompt
    from modules.cli.input.status_line import standing_of

    def warm_up() -> None:
        import rich.syntax  # noqa: F401

        import modules.cli.render.screen  # noqa: F401

        warm()

    def in_background() -> None:
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    prompt = Prompt(
        words,
        LineCompleter(terminal.commands, terminal.files, words),
        lambda: standing_of(terminal, words),
        typed_before(history_file, terminal.blind),
        ahead=ahead,
        when_shown=in_background,
    )
    while (text := prompt.read()) is not None:
        yield text
