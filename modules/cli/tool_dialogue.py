"""The tool tester in a terminal (`--tools`): a dialogue, one text from a pipe, or all cases."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from core.commands import Commands
from core.events import CommandAnswered
from core.feature import name_of
from core.loop.turn import drive
from core.tool_texts import NATIVE, protocol_named
from modules.cli.input.keyboard import TypedAhead
from modules.cli.input.startup_questions import is_interactive
from modules.cli.print_mode import MARKS
from modules.cli.render.cards.plain_cards import card_text
from modules.cli.repl import EXIT_WORDS, make_screen
from modules.tool_tester.cases import ToolCases, rerun
from modules.tool_tester.tester import PendingRun, Place, ToolRun, ToolTester
from modules.translator import Translator
from utils.i18n import BadUsage, Text, UserError, phrase
from utils.system.interrupts import stopping_on_signals
from utils.text.clean import clean
from utils.text.tokens import estimate_tokens

_PROMPT = "tools> "
_MORE = "…      "
_LEAVING = (*EXIT_WORDS, name_of(Commands.exit), name_of(Commands.quit))


class ToolDialogue:
    """Talks to a person, or to a program, about the tools of *tester*'s project."""

    def __init__(
        self,
        tester: ToolTester,
        cases: ToolCases,
        project: Path,
        translator: Translator,
        *,
        place: str = "scratch",
    ) -> None:
        from modules.tool_switches import Switches

        self._tester = tester
        self._cases = cases
        self._project = project
        self._translator = translator
        self._place: Place = "project" if place == "project" else "scratch"
        self._protocol = NATIVE
        self._last: ToolRun | None = None
        self._is_hinted = False
        self._commands: Mapping[str, Callable[[str], None]] = {
            "help": self._help,
            name_of(Switches.tools): lambda entry: self._tools_command(entry.partition(" ")[2]),
            "list": lambda _: self._tools_command(""),
            "text": lambda _: self._tools_command(f"text {self._protocol}"),
            "scratch": self._use_place,
            "project": self._use_place,
            "protocol": self._use_protocol,
            "save": self._save,
            "undo": self._undo,
            "cases": self._rerun_cases,
        }

    # --- one text, or all cases ------------------------------------------------------------------

    def run_text(self, text: str, *, is_json: bool) -> int:
        """Run the calls of *text* and print what came of them; return the exit code."""
        run = self._run(text, self._place, self._protocol, is_quiet=is_json)
        if is_json:
            sys.stdout.write(f"{json.dumps(run.to_json())}\n")
        return 0 if run.is_ok else 4 if run.is_refused else 1

    def run_cases(self) -> int:
        """Run all cases and print each that differs; return the exit code."""
        return 1 if self._run_cases_and_say() else 0

    def _run_cases_and_say(self) -> int:
        cases = self._cases.all(self._project)
        differing = 0
        for case in cases:
            problem = rerun(self._tester, case, self._rerun)
            differing += bool(problem)
            self._say(f"{'✗' if problem else '✓'} {case.name}")
            if problem:
                self._say(problem)
        self._say(phrase("Cases run: {n:,}, different: {bad:,}.", n=len(cases), bad=differing))
        return differing

    # --- the dialogue ----------------------------------------------------------------------------

    def talk(self) -> int:
        """Answer lines and run texts until the person leaves; return the exit code."""
        self._say(phrase("Tool tester. No model is used. Type “help” for the commands."))
        for entry in self._entries():
            try:
                self._answer(entry)
            except UserError as error:
                self._say(error.message)
        return 0

    def _entries(self) -> Iterator[str]:
        """Yield commands, a line each, and texts, which an empty line ends."""
        while line := self._read(_PROMPT):
            if line.strip() in _LEAVING:
                return
            if not line.strip():
                continue
            lines = [line]
            if not self._is_whole(lines) and not self._is_hinted:
                self._is_hinted = True
                self._say(phrase("An empty line ends the text and runs it."))
            while not self._is_whole(lines) and (more := self._read(_MORE)) and more.strip():
                lines.append(more)
            yield "".join(lines).strip()

    def _read(self, prompt: str) -> str:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        return sys.stdin.readline()

    def _is_whole(self, lines: list[str]) -> bool:
        first = lines[0].split()[0]
        if len(lines) == 1 and (first in self._commands or self._is_tool(lines[0].strip())):
            return True
        try:
            json.loads("".join(lines))
        except ValueError:
            return False
        return True

    def _is_tool(self, name: str) -> bool:
        return any(tool.name == name for tool in self._tester.terminal.tools.installed)

    def _answer(self, entry: str) -> None:
        word, _, rest = entry.partition(" ")
        if "\n" not in entry and word in self._commands:
            self._commands[word](f"{word} {rest}".strip())
        elif self._is_tool(entry):
            self._tools_command(entry)
        else:
            self._run(entry, self._place, self._protocol)

    def _help(self, _: str) -> None:
        for line in (
            phrase("list · NAME · text: the tools, one tool, the descriptions the model gets"),
            phrase("a call in JSON or as a model writes it, then an empty line: run it"),
            phrase("scratch · project: where it runs; now: {place}", place=self._place),
            phrase("protocol NAME: how calls in text are read; now: {name}", name=self._protocol),
            phrase("save NAME: save the last run as a case; cases: run all cases again"),
            phrase("undo: undo the last run in the project; quit: quit"),
        ):
            self._say(line)

    def _tools_command(self, argument: str) -> None:
        from modules.tool_switches import Switches

        switches = self._tester.terminal.features.find(Switches)
        if switches:
            self._say(card_text(switches.tools(argument), self._translator))

    def _use_place(self, entry: str) -> None:
        self._place = "project" if entry == "project" else "scratch"
        self._say(
            phrase("Now running in the project; “undo” undoes the last run.")
            if self._place == "project"
            else phrase("Each run now uses an empty scratch folder, deleted afterwards.")
        )

    def _use_protocol(self, entry: str) -> None:
        name = entry.partition(" ")[2]
        self._protocol = protocol_named(name).name
        self._say(phrase("Calls in text are now read with the protocol {name}.", name=name))

    def _rerun_cases(self, _: str) -> None:
        self._run_cases_and_say()

    def _save(self, entry: str) -> None:
        if self._last is None:
            raise BadUsage(phrase("Nothing to save: no run yet."))
        case = self._cases.save(entry.partition(" ")[2].strip(), self._last, self._project)
        self._say(phrase("Saved as case {name}.", name=case.name))

    def _undo(self, _: str) -> None:
        answer: CommandAnswered = self._tester.undo()
        if answer.card:
            self._say(card_text(answer.card, self._translator))

    # --- running ---------------------------------------------------------------------------------

    def _run(self, text: str, place: Place, protocol: str, *, is_quiet: bool = False) -> ToolRun:
        """Run *text*, shown as in a dialogue unless *is_quiet*; nobody is asked then."""
        self._last = self._finish(self._tester.start(text, place, protocol), is_quiet=is_quiet)
        return self._last

    def _rerun(self, run: PendingRun) -> ToolRun:
        return self._finish(run, is_quiet=not is_interactive())

    def _finish(self, run: PendingRun, *, is_quiet: bool) -> ToolRun:
        with closing(run) as pending:
            stop = pending.terminal.stop
            with stopping_on_signals(stop.set):
                if is_quiet:
                    drive(pending.turn, lambda _: None)
                else:
                    screen = make_screen(pending.terminal, self._translator, TypedAhead())
                    with screen.turn():
                        drive(pending.turn, screen.show)
            result = pending.result()
        if not is_quiet:
            self._show(result)
        return result

    def _show(self, run: ToolRun) -> None:
        """Print the calls as they were understood, and what the model would read."""
        for call in run.results:
            result, arguments = call.result, json.dumps(dict(call.arguments), ensure_ascii=False)
            self._say(f"{MARKS[result.state]} {result.name} {arguments}")
            self._say(
                phrase(
                    "What the model reads ({n:,} tokens, after {seconds} s):",
                    n=estimate_tokens(result.text),
                    seconds=f"{result.seconds:.2f}",
                )
            )
            self._say(result.text)

    def _say(self, text: Text) -> None:
        sys.stdout.write(f"{clean(self._translator.render(text))}\n")
        sys.stdout.flush()


def run_tool_tester(
    tester: ToolTester,
    cases: ToolCases,
    project: Path,
    translator: Translator,
    *,
    wanted: str,
    is_json: bool,
) -> int:
    """Do what `--tools` is to do, and return the exit code. Raises `UserError`.

    *wanted* is the place where texts run, or "cases" for all cases. At a terminal it is a
    dialogue; else standard input is one text.
    """
    dialogue = ToolDialogue(tester, cases, project, translator, place=wanted)
    if wanted == "cases":
        return dialogue.run_cases()
    if sys.stdin.isatty():
        return dialogue.talk()
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    return dialogue.run_text(text, is_json=is_json)
