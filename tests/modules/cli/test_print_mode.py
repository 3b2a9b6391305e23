import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from core.cards import Change, RunCard, TableCard, TextCard, TreeCard, TreeEntry
from core.commands import Commands
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Waiting,
    Warned,
)
from core.feature import Command, CommandSpec
from core.tools import Toolbox
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.cli.print_mode import OutputFormat, PlainScreen
from modules.cli.render.cards.plain_cards import card_text
from modules.translator import Translator
from tests.declared_tools import SPECS
from utils.i18n import phrase
from utils.llm.completion import Usage

ENGLISH = Translator("en", {})
USED = Usage(100, 60, 40, 10, 5, 1, 0.25)
CARD = TextCard("done")
TASK: list[Event] = [
    TurnStarted("do it", 1),
    StepStarted(1, False),
    TextDelta("I look first."),
    StepFinished(1, USED),
    ToolStarted("c1", "create_file", {"path": "a.py"}),
    ToolFinished("c1", "create_file", "done", CARD, 0.5, (Change("created", "a.py"),)),
    StepStarted(2, False),
    TextDelta("Made "),
    TextDelta("a.py\x1b[2J."),
    StepFinished(2, USED),
    TurnFinished("done", None, USED + USED, 1.0),
]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def play(
    events: list[Event], output: OutputFormat = "text", words: Translator = ENGLISH
) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    screen = PlainScreen(output, out, err, words, project="/p")
    screen.learn(Toolbox([], SPECS), {})
    for event in events:
        screen.show(event)
    return screen.finish("s1"), out.getvalue(), err.getvalue()


def play_json(events: list[Event]) -> tuple[int, Any]:
    code, out, _ = play(events, "json")
    assert out.count("\n") == 1
    return code, json.loads(out)


def ending(*events: Event) -> list[Event]:
    return [*TASK[:-1], *events]


def test_text_is_the_last_word_alone() -> None:
    assert play(TASK) == (0, "Made a.py.\n", "")


def test_json_is_the_object_of_the_contract() -> None:
    assert play_json(TASK) == (
        0,
        {
            "session": "s1",
            "project": "/p",
            "status": "done",
            "answer": "Made a.py\x1b[2J.",
            "steps": 2,
            "usage": {
                "prompt_tokens": 200,
                "cache_hit_tokens": 120,
                "cache_miss_tokens": 80,
                "completion_tokens": 20,
                "reasoning_tokens": 10,
                "requests": 2,
                "cost_usd": 0.5,
            },
            "files": {"created": ["a.py"], "modified": [], "deleted": [], "renamed": []},
            "error": None,
            "error_code": None,
            "citations": [],
            "unknown_citations": [],
            "receipts": [],
            "checks": {"state": "none", "commands": []},
            "claims": [],
        },
    )


def test_stream_json_is_one_event_a_line_and_the_object_last() -> None:
    _, out, _ = play(TASK, "stream-json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["type"] for line in lines] == [
        *(type(event).__name__ for event in TASK),
        "Result",
    ]
    assert lines[2] == {"type": "TextDelta", "text": "I look first."}
    assert lines[-1]["status"] == "done"


def test_json_holds_nothing_that_a_terminal_obeys() -> None:
    _, out, _ = play([TextDelta("\x1b[2J\x9b2J\udcff 中文"), TurnFinished("done")], "json")
    assert "中文" in out
    assert "\x9b" not in out
    assert json.loads(out)["answer"] == "\x1b[2J\x9b2J\udcff 中文"


@pytest.mark.parametrize(
    ("why", "code"),
    [("done", 0), ("error", 1), ("step_limit", 3), ("budget", 3), ("stopped", 130)],
)
def test_the_exit_code_says_why_it_ended(why: Any, code: int) -> None:
    end = TurnFinished(why, None if why == "done" else phrase("Because."))
    result = play_json(ending(end))
    assert (result[0], result[1]["status"]) == (code, why)
    assert result[1]["error"] == (None if why == "done" else "Because.")


def test_asking_is_refusing_and_the_exit_code_says_so() -> None:
    asked = ApprovalAsked("c1", "web_search", "network", phrase("It asks."), "*", CARD)
    screen = PlainScreen("text", StringIO(), err := StringIO(), ENGLISH)
    answers: list[object] = [screen.show(asked)]  # type: ignore[func-returns-value]
    screen.show(ToolFinished("c1", "web_search", "refused", CARD, 0.0))
    screen.show(TurnFinished("done"))
    assert (answers, screen.finish()) == ([None], 4)
    assert "--approve" in err.getvalue()


def test_a_question_of_the_models_own_hides_no_refusal_for_want_of_approval() -> None:
    asked = ApprovalAsked("c1", "web_search", "network", phrase("It asks."), "*", CARD)
    own = ApprovalAsked("c2", "ask_person", "question", phrase("Which?"), "", CARD)
    refused = ToolFinished("c1", "web_search", "refused", CARD, 0.0)
    assert "--approve" in play([asked, refused, own, TurnFinished("done")])[2]
    assert "--approve" not in play([own, refused, TurnFinished("done")])[2]


def test_a_refusal_says_why() -> None:
    card = TextCard(phrase("Refused"), phrase("This session is read-only."))
    events = ending(ToolFinished("c2", "create_file", "refused", card, 0.0), TASK[-1])
    assert play(events) == (4, "Made a.py.\n", "Refused: Create a.py: This session is read-only.\n")
    assert play_json(events)[1]["error"] == "Refused: Create a.py: This session is read-only."


def test_what_a_failed_reply_used_counts() -> None:
    events: list[Event] = [
        StepStarted(1, False),
        TurnFinished("error", phrase("Empty."), USED + USED, 1.0),
    ]
    assert play_json(events)[1]["usage"]["requests"] == 2


def test_a_reply_that_broke_off_does_not_count() -> None:
    events: list[Event] = [
        StepStarted(1, False),
        TextDelta("half a"),
        Retrying(phrase("Busy."), 2, 1.0),
        TextDelta("whole"),
        TurnFinished("done"),
    ]
    assert play(events)[1] == "whole\n"


def test_a_reply_that_goes_on_in_the_next_step_is_one_answer() -> None:
    first: list[Event] = [StepStarted(1, False), TextDelta("one "), StepFinished(1, USED)]
    assert play([*first, StepStarted(2, False), TextDelta("two")])[1] == "one two\n"


def test_a_command_prints_its_card_as_text() -> None:
    card = TableCard(phrase("Status"), (("model", "m"), (phrase("mode"), "fast")))
    words = Translator("zh", {"Status": "状态", "mode": "模式"})
    assert play([CommandAnswered("/status", card)], words=words)[:2] == (
        0,
        "状态\nmodel  m\n模式   fast\n",
    )
    code, result = play_json([CommandAnswered("/status", card)])
    assert (code, result["answer"]) == (0, "Status\nmodel  m\nmode   fast")
    assert result["card"]["rows"] == [["model", "m"], ["mode", "fast"]]


def test_the_columns_of_a_table_stand_below_each_other_in_chinese() -> None:
    card = TableCard(phrase("Status"), (("费用", "$0"), ("上下文", "0 %"), ("Token", "1")))
    assert card_text(card, ENGLISH) == "Status\n费用    $0\n上下文  0 %\nToken   1"


def test_the_lines_of_a_cell_stay_in_its_column() -> None:
    card = TableCard("", (("text", "[\n  1\n]"), ("a\nb", "c\x07")))
    assert card_text(card, ENGLISH) == "text  [\n        1\n      ]\na     c\\x07\nb"


def test_what_a_command_did_to_files_is_told() -> None:
    answered = CommandAnswered("/undo", CARD, changes=(Change("deleted", "a.txt"),))
    assert play_json([answered])[1]["files"]["deleted"] == ["a.txt"]


def test_a_command_that_failed_is_an_error() -> None:
    failed = CommandAnswered("/undo", TextCard(phrase("Nothing to undo.")), ok=False)
    assert play([failed]) == (2, "", "Nothing to undo.\n")
    assert play_json([failed])[1]["error"] == "Nothing to undo."


@pytest.mark.parametrize(
    ("opening", "told"),
    [
        ("/model", ""),
        ("/model other", "--model"),
        ("/model set window=16384", ""),
        ("/model forget", ""),
        ("/think", "--think"),
        ("/undo", "--resume -p /undo"),
        ("/status", ""),
    ],
)
def test_a_command_that_a_session_begins_with_may_need_an_option(opening: str, told: str) -> None:
    err = StringIO()
    screen = PlainScreen("text", StringIO(), err, ENGLISH, first_line=opening)
    methods = (Commands.model, Commands.think, Commands.show_status, UndoCommands.undo)
    specs: list[CommandSpec] = [vars(method)["__command__"] for method in methods]
    screen.learn(Toolbox([]), {spec.name: Command(spec, str) for spec in specs})
    screen.show(CommandAnswered(opening.split()[0], CARD))
    screen.finish()
    assert told in err.getvalue()
    assert bool(err.getvalue()) == bool(told)


def test_a_command_that_was_refused_needs_none() -> None:
    screen = PlainScreen("text", StringIO(), err := StringIO(), ENGLISH, first_line="/model set x")
    spec: CommandSpec = vars(Commands.model)["__command__"]
    screen.learn(Toolbox([]), {spec.name: Command(spec, str)})
    screen.show(CommandAnswered("/model", TextCard(phrase("No such field.")), ok=False))
    assert screen.finish() == 2
    assert err.getvalue() == "No such field.\n"


def test_progress_is_shown_to_a_person_only() -> None:
    screen = PlainScreen("text", StringIO(), err := Terminal(), ENGLISH)
    for event in TASK:
        screen.show(event)
    assert err.getvalue() == "✓ create_file a.py  0.5 s\n"


def test_a_failure_outside_the_turn_is_told() -> None:
    screen = PlainScreen("json", out := StringIO(), StringIO(), ENGLISH)
    screen.fail(phrase("No network."), "network")
    assert screen.finish() == 1
    result = json.loads(out.getvalue())
    assert (result["error"], result["error_code"]) == ("No network.", "network")


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from core.events import TextDelta\n"
        "from modules.cli.print_mode import PlainScreen\n"
        "from modules.translator import Translator\n"
        "from utils.system.streams import repair_streams\n"
        "repair_streams()\n"
        "screen = PlainScreen('stream-json', sys.stdout, sys.stderr, Translator('en', {}))\n"
        "for _ in range(5000): screen.show(TextDelta('x' * 50))\n"
        "sys.exit(screen.finish())\n"
    )
    read, write = os.pipe()
    os.close(read)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE, timeout=300
        )
    finally:
        os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_it_loads_no_screen_library() -> None:
    program = (
        "import sys, modules.cli.print_mode\n"
        "print(sorted({'rich', 'prompt_toolkit', 'asyncio', 'openai'} & sys.modules.keys()))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=300)
    assert ended.stdout.decode().strip() == "[]"


def test_a_put_back_after_a_loss_is_said_on_standard_error_and_in_the_json() -> None:
    asked = ApprovalAsked("c1", "run_command", "loss", phrase("It deleted."), "", CARD)
    events: list[Event] = [
        TurnStarted("do it", 1),
        ToolStarted("c1", "run_command", {"command": "rm -r src"}),
        asked,
        Warned(phrase("All its file changes were undone.")),
        ToolFinished("c1", "run_command", "refused", RunCard("bash", "", "", 0, "", 0.1, ""), 0.1),
        TurnFinished("done"),
    ]
    said = "Run rm -r src: All its file changes were undone."
    assert play(events)[2].splitlines()[0] == said
    assert play_json(events)[1]["error"] == said
    limited = [*events[:-1], TurnFinished("step_limit", phrase("The limit."))]
    assert play_json(limited)[1]["error"] == f"{said} The limit."


def test_a_tree_tells_folders_from_files_and_their_sizes() -> None:
    entries = (TreeEntry("src", 1, None, "the code"), TreeEntry("src/a.py", 2, 1_200, "reads"))
    text = card_text(TreeCard("", (*entries, TreeEntry("empty", 1, 0))), ENGLISH)
    assert text == ".\n  src/  the code\n    a.py  1.2 kB  reads\n  empty  0 B"


@pytest.mark.parametrize("output", ["text", "json"])
def test_waiting_is_told_on_standard_error_whoever_reads_it(output: OutputFormat) -> None:
    waiting = Waiting(phrase("Waiting for cheap hours (from {time})", time="18:00"), 0.0)
    _, _, told = play([TASK[0], waiting, *TASK[1:]], output)
    assert told == "Waiting for cheap hours (from 18:00): 0 s left. Ctrl-C stops.\n"


def test_a_budget_says_how_to_go_on() -> None:
    end = TurnFinished("budget", phrase("Enough."), USED, 1.0, error_code="limit")
    code, _, told = play(ending(end))
    assert (code, told.splitlines()) == (
        3,
        ["Enough.", 'To continue: --resume -p "go on", with a larger --budget or daily_budget'],
    )
