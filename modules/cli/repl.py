"""The dialogue at a terminal: a line is read, put to the terminal and its events are shown."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from core.commands import Commands
from core.events import ApprovalAsked, CommandAnswered, Event, Informed, Reply, TurnStarted
from core.feature import name_of
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from core.redaction import map_strings
from core.tools import ToolError
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checks.feature import Checks
from modules.cli.input.entered_text import entered_text
from modules.cli.input.keyboard import TypedAhead, no_echo
from modules.cli.input.pending_lines import PendingLines
from modules.cli.input.startup_questions import is_interactive
from modules.cli.input.typeahead import TypeAheadListener
from modules.cli.screen_settings import ScreenSettings
from modules.mentions.feature import Mentions
from modules.settings.feature import SettingsCommand
from modules.translator import Translator
from utils.i18n import Phrase, Text, UserError, phrase
from utils.logger import FailureLog
from utils.system.interrupts import stopping_on_signals
from utils.system.own_command import own_command
from utils.system.streams import OutputLost
from utils.text.clean import clean, visible
from utils.waiting import EitherStop

if TYPE_CHECKING:
    from core.cards import DiffCard
    from modules.cli.input.plain_lines import PlainLines
    from modules.cli.render.screen import CliScreen

EXIT_WORDS = ("exit", "quit")
_WITH_CHOICE = frozenset(
    name_of(one)
    for one in (Commands.resume, Commands.model, Commands.approve, SettingsCommand.theme)
)
"""The commands for which the person chooses from a list where they say nothing more."""


def run_repl(
    terminal: MainTerminal,
    translator: Translator,
    *,
    history_file: Path,
    failures: FailureLog,
    header: Sequence[Text] = (),
    start_options: Sequence[str] = ("--cli",),
    message: str | None = None,
    warm: Callable[[], None] = lambda: None,
    settings: ScreenSettings,
    is_plain: bool = False,
) -> int:
    """Talk until the person leaves; return the exit code of the program.

    *header* is shown below the greeting, a line each; *failures* is where an error of ours is told
    in full; *start_options* are the options that lead to this project again; *message* is said
    before any other; *warm* loads what the first task will need, in a thread, once the prompt is
    there. *settings* are those of the screen. One that *is_plain* is written to from top to bottom:
    nothing there is drawn twice.
    """
    typed_ahead = TypedAhead()
    repl = Repl(terminal, translator, failures, typed_ahead, start_options, settings)
    try:
        if is_interactive() and is_plain:
            with _title_kept(settings):
                return repl.run_plain(message, header, warm)
        if is_interactive():
            from modules.cli.render.greeting import greet

            terminal.offers_sessions = terminal.runs_shell_escapes = True
            with no_echo(sys.stdin.fileno(), typed_ahead), _title_kept(settings):
                greet(terminal, translator, header)
                lines = _lines_from_prompt(
                    *(terminal, translator, history_file, typed_ahead, warm, settings),
                )
                return repl.run(chain(repl.said(message), lines))
        return repl.run(chain(repl.said(message), _lines_from_stdin(translator)))
    except KeyboardInterrupt:
        return 130


@contextmanager
def _title_kept(settings: ScreenSettings) -> Iterator[None]:
    """Have the terminal keep its title meanwhile, if *settings* have us set another."""
    sys.stdout.write(settings.attention.begin() if settings.attention else "")
    try:
        yield
    finally:
        sys.stdout.write(settings.attention.end() if settings.attention else "")


class _EndAtQuestion(Exception):
    """The program is asked to end at a question about a call, which is asked again later."""


class Repl:
    """The loop, and the screen it draws on, made when it is first needed."""

    def __init__(
        self,
        terminal: MainTerminal,
        translator: Translator,
        failures: FailureLog,
        typed_ahead: TypedAhead,
        start_options: Sequence[str],
        settings: ScreenSettings | None = None,
    ) -> None:
        self._terminal = terminal
        self._translator = translator
        self._failures = failures
        self._typed_ahead = typed_ahead
        self._start_options = start_options
        self._settings = settings or ScreenSettings()
        self._queue = PendingLines(terminal)
        self._line = ""
        self._screen: CliScreen | None = None
        self._plain: PlainLines | None = None
        self._effect = ""
        self._signal = 0
        """The signal that has asked the program to end; 0 for none."""

    def run(self, lines: Iterator[str]) -> int:
        self._open_session()
        for line in lines if not self._signal else ():
            text = entered_text(line)
            if text in EXIT_WORDS:
                break
            if self._show_diff(text):
                continue
            if text:
                self._line = text
                self._run_turn(self._terminal.run_line(text, queued=self._queue.ids_of(text)))
            if self._effect == "exit":
                break
            if self._effect == "session":
                self._queue.enter()
                if self._terminal.history.records:
                    self._open_session()
            if self._signal:
                break
        if self._signal != signal.SIGHUP:  # which says that the terminal went away
            self._say_goodbye()
        return 128 + self._signal if self._signal else 0

    def run_plain(
        self, message: str | None, header: Sequence[Text], warm: Callable[[], None]
    ) -> int:
        """Do as `run` with the *message* and what is entered in plain mode."""
        from modules.cli.input.plain_lines import PlainLines

        terminal = self._terminal
        self._plain = lines = PlainLines(sys.stdin.fileno(), self._translator)
        terminal.offers_sessions = True
        hint = phrase(
            "Plain mode: Enter sends a line; end it with \\ to continue. Ctrl-C stops a task, "
            "Ctrl-D quits."
        )
        model = phrase("practice model, no AI") if terminal.is_practice else terminal.model.model
        for text in (f"Onefold  {visible(terminal.project)}", model, *header, hint):
            lines.say(text)
        threading.Thread(target=warm, name="warm-up", daemon=True).start()

        def begin() -> None:
            self._typed_ahead.take_interrupt()
            for what in terminal.features.news():
                lines.say(what)

        with lines.keeping_interrupts(self._typed_ahead.keep_interrupt):
            return self.run(chain(self.said(message), lines.messages(begin)))

    def said(self, message: str | None) -> Iterator[str]:
        """Yield the *message* that came with the start, if there is one, and show it."""
        if message is not None:
            self._make_screen().show_meanwhile(message)
            yield message

    def _show_diff(self, line: str) -> bool:
        """Show what the `/diff` in *line* tells of, hunk by hunk; return whether that was done.

        What nobody watches, what is plain and what is wrong is answered as any other command is.
        """
        name, _, argument = self._terminal.expand(line).partition(" ")
        if name != name_of(UndoCommands.diff) or not is_interactive() or self._plain:
            return False
        undo = self._terminal.features.find(UndoCommands)

        def diffs(*, is_whole: bool = False) -> Sequence[DiffCard]:
            cards = undo.diffs(argument.strip(), is_whole=is_whole) if undo else ()
            return map_strings(tuple(cards), self._terminal.redact)

        try:
            cards = diffs()
        except (UserError, ToolError):
            return False
        if not cards:
            return False
        self._make_screen().show_diffs(cards, partial(diffs, is_whole=True))
        self._queue.sent(line)
        return True

    def _open_session(self) -> None:
        """Show where the session is, and ask again what was asked when it was left."""
        has_open_turn = self._terminal.has_open_turn and is_interactive()
        if self._terminal.history.records:
            self._show_conversation(is_open=has_open_turn)
        if has_open_turn:
            self._line = ""
            self._run_turn(self._terminal.resume_turn())
        elif is_interactive() and (line := self._terminal.line_to_ask_again):
            self._line = ""
            self._make_screen().show_meanwhile(line)
            self._run_turn(self._terminal.run_line(line))
        self._restore_queue()

    def _run_turn(self, turn: Turn) -> None:
        """Show what comes of *turn*; an error ends this turn only."""
        from core.loop.turn import drive

        screen = self._make_screen()
        self._effect = ""
        stop = self._terminal.stop
        with ExitStack() as stack:
            stack.enter_context(stopping_on_signals(stop.set, on_signal=self._note_signal))
            stack.enter_context(stop.on_stop(screen.show_stopping))
            if self._typed_ahead.take_interrupt():
                stop.set()
            stack.enter_context(screen.turn())
            stack.enter_context(self._telling_at_once(screen))
            if self._plain:
                stack.enter_context(self._plain.in_turn())
            elif is_interactive():  # else lines are read as they come
                stack.enter_context(self._typeahead_listener(screen).listening())
            try:
                drive(turn, self._show)
            except _EndAtQuestion:
                pass
            except UserError as problem:
                screen.say(problem.message, "red")
            except OutputLost:
                raise  # nothing can be said any more
            except Exception as error:  # noqa: BLE001 - ours; the one place of this screen to log it
                screen.say(self._failures.log(error), "red")
        if stop.is_set() and self._typed_ahead.return_to_draft():
            self._queue.seen()
            self._say_unsent()

    @contextmanager
    def _telling_at_once(self, screen: CliScreen) -> Iterator[None]:
        """Show at once what the turn itself announces; what other threads do waits for an event."""
        before, thread = self._terminal.show_news, threading.get_ident()

        def show(what: Phrase) -> bool:
            if threading.get_ident() != thread:
                return before(what)
            screen.show(Informed(what))
            return True

        self._terminal.show_news = show
        try:
            yield
        finally:
            self._terminal.show_news = before

    def _note_signal(self, number: int) -> None:
        """Take note of what stops the turn: Ctrl-C does no more than that."""
        if number != signal.SIGINT:
            self._signal = number

    def _typeahead_listener(self, screen: CliScreen) -> TypeAheadListener:
        """Return what runs the commands that are typed while a turn runs and need not wait."""
        terminal = self._terminal

        def run(line: str) -> None:
            line = terminal.expand(line)
            if line == name_of(Commands.stop):
                terminal.stop.set()
                return
            try:
                screen.show_meanwhile(line, terminal.run_concurrently(line))
            except Exception as error:  # noqa: BLE001 - ours; the turn goes on
                screen.say(self._failures.log(error), "red")

        return TypeAheadListener(
            sys.stdin.fileno(),
            self._typed_ahead,
            may_listen=lambda: not screen.is_asking,
            is_wanted=lambda line: terminal.is_in_turn and is_command(terminal.expand(line)),
            run=run,
            show=screen.show_typed,
            keep=self._queue.add,
            stop=terminal.stop.set,
        )

    def _restore_queue(self) -> None:
        """Put what was entered during a turn, and never sent, before the person again."""
        if is_interactive() and not self._plain and (keys := self._queue.restored()):
            self._say_unsent()
            self._typed_ahead.add(keys)

    def _say_unsent(self) -> None:
        notice = phrase("Not sent yet. Press Enter to send.")
        self._make_screen().say(notice, "yellow")

    def _show_conversation(self, *, is_open: bool) -> None:
        """Show the session that goes on: its last turn as it was, those before folded.

        Where nobody watches it is the last turn alone. Ctrl-C leaves out the rest of the others.
        """
        from core.conversation.transcript import replay_events

        turns: list[list[Event]] = [[]]
        terminal = self._terminal
        seconds = terminal.store.seconds(terminal.session)
        for event in replay_events(terminal.history.records, seconds, is_open=is_open):
            if isinstance(event, TurnStarted):
                turns.append([])
            turns[-1].append(event)
        screen = self._make_screen()
        if is_interactive():
            is_stopped = threading.Event()
            with stopping_on_signals(is_stopped.set, on_signal=self._note_signal):
                screen.show_earlier(turns[1:-1], is_stopped.is_set)
        screen.replay(turns[-1])

    def _make_screen(self) -> CliScreen:
        if self._screen is None:
            self._screen = make_screen(
                *(self._terminal, self._translator, self._typed_ahead, self._settings),
                self._plain,
            )
        return self._screen

    def _show(self, event: Event) -> Reply | None:
        if isinstance(event, CommandAnswered):
            self._effect = event.effect
        if isinstance(event, CommandAnswered | TurnStarted):
            self._queue.sent(self._line)
        screen = self._make_screen()
        attention = self._settings.attention if is_interactive() else None
        if attention:
            screen.send(attention.before(event, self._typed_ahead.last_key_at))
        reply = screen.show(event)
        if attention and isinstance(event, ApprovalAsked):
            attention.note_seen()
        if self._signal and reply is None and self._terminal.history.unanswered_calls:
            raise _EndAtQuestion
        return reply

    def _say_goodbye(self) -> None:
        if self._terminal.session and sys.stdout.isatty():
            command = own_command(*self._start_options, "--resume", self._terminal.session)
            notice = phrase("Resume later: {command}", command=command)
            sys.stdout.write(f"{clean(self._translator.render(notice))}\n")


def is_command(line: str) -> bool:
    """Return whether *line* is meant as a command: a path from the root has another slash."""
    return line.startswith("/") and "/" not in line.split(maxsplit=1)[0][1:]


def make_screen(
    terminal: MainTerminal,
    translator: Translator,
    typed_ahead: TypedAhead,
    settings: ScreenSettings | None = None,
    plain: PlainLines | None = None,
) -> CliScreen:
    from modules.cli.input.approval_input import Approver, KeyboardApprover
    from modules.cli.render.cards.call_titles import CallTitles
    from modules.cli.render.screen import CliScreen
    from modules.cli.render.theme import make_console

    settings = settings or ScreenSettings()
    approver: Approver | None = None
    if plain:
        from modules.cli.input.plain_lines import LineApprover

        approver = LineApprover(plain, EitherStop(terminal.stop, terminal.question.take_answers()))
    elif is_interactive():
        ends = EitherStop(terminal.stop, terminal.question.take_answers())
        approver = KeyboardApprover(sys.stdin.fileno(), ends, translator, typed_ahead)
    screen = CliScreen(
        make_console(is_plain=plain is not None, colors=settings.colors),
        translator,
        CallTitles(terminal.tools.specs),
        approver=approver,
        has_show_all_key=plain is None and approver is not None,
        is_practice=lambda: terminal.is_practice,
        yuan=lambda: terminal.yuan_per_dollar,
        settings=settings,
    )
    typed_ahead.keys = lambda: settings.typed_keys
    typed_ahead.leave_screen, typed_ahead.show_all = screen.without_live_lines, screen.show_all
    return screen


def _lines_from_stdin(translator: Translator) -> Iterator[str]:
    """Yield the lines of a standard input at which nobody sits; one that has none is told of."""
    is_empty = True
    while line := sys.stdin.readline():
        is_empty = is_empty and not line.strip()
        yield line
    if is_empty:
        notice = phrase("Nothing to do: standard input is empty. For a single task use -p TEXT.")
        sys.stderr.write(f"{clean(translator.render(notice))}\n")


def _lines_from_prompt(
    terminal: MainTerminal,
    translator: Translator,
    history_file: Path,
    typed_ahead: TypedAhead,
    warm: Callable[[], None],
    settings: ScreenSettings,
) -> Iterator[str]:
    """Yield what the person types until they leave."""
    from modules.cli.input.input_history import open_history
    from modules.cli.input.line_completion import LineCompleter
    from modules.cli.input.prompt import Prompt
    from modules.cli.input.status_line import status_line_of

    mentions = terminal.features.find(Mentions)

    def warm_up() -> None:
        import rich.syntax  # noqa: F401

        import modules.cli.render.screen  # noqa: F401

        warm()

    def in_background() -> None:
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    prompt = Prompt(
        translator,
        LineCompleter(terminal.commands, terminal.list_paths, translator),
        lambda: status_line_of(terminal, translator),
        open_history(history_file, terminal.redact),
        typed_ahead=typed_ahead,
        next_mode=lambda: terminal.run_concurrently(f"{name_of(Commands.approve)} next"),
        settings=settings,
        when_shown=in_background,
        cost_of=mentions.cost if mentions else lambda _: "",
    )
    terminal.on_state_changed = prompt.refresh
    terminal.show_news = lambda what: prompt.show_above(f"  {clean(translator.render(what))}")

    def tell_news() -> None:
        """Tell what happened after the last event of a turn, and before there was a line."""
        for what in terminal.features.news():
            terminal.announce(what)
        if checks:
            checks.begin_watch(terminal.announce)

    checks = terminal.features.find(Checks)
    try:
        while (text := prompt.read(tell_news)) is not None:
            if checks:
                checks.end_watch()
            if terminal.expand(text).strip() in _WITH_CHOICE:
                from modules.cli.input.picked_line import picked_line

                text = picked_line(terminal, translator, settings.colors, text) or ""
            yield text
    finally:
        if checks:
            checks.end_watch()
