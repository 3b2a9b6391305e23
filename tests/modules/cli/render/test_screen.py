import re
from io import StringIO

import pytest
from rich.console import Console

from core.cards import (
    Card,
    Change,
    DiffCard,
    Hit,
    Link,
    LinksCard,
    PromptCard,
    PromptPart,
    RunCard,
    RunPicture,
    SearchCard,
    TableCard,
    TextCard,
    Todo,
    TodoCard,
    TreeCard,
    TreeEntry,
)
from core.conversation.messages import ResultState
from core.events import (
    ApprovalAsked,
    CallDrafted,
    CommandAnswered,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ThoughtKept,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Waiting,
    Warned,
)
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.live_region import LiveRegion
from modules.cli.render.screen import CliScreen
from modules.translator import Translator
from tests.modules.cli.screens import ScriptedAsker, make_screen, rendered
from utils.i18n import phrase
from utils.llm.completion import Usage
from utils.pictures import Picture

USED = Usage(2000, 1500, 500, 30, 0, 2, 0.0123)
HOSTILE = "\x1b]0;owned\x07\x1b[2Jshown\x1b[31m\x9b5A"
ESCAPE = re.compile(r"\x1b(?!\[[0-9;]*m)|\x07|[\x80-\x9f]")
"""All that a still screen must not send; colours it may."""


def finished(card: Card, name: str = "x", state: ResultState = "done") -> str:
    """Return what a finished call of *name* looks like."""
    text = rendered(
        ToolStarted("c", name, {"path": "a.py"}), ToolFinished("c", name, state, card, 0.5)
    )
    return text.strip("\n")


def test_a_turn_from_the_first_word_to_the_last() -> None:
    text = rendered(
        TurnStarted("do it", 1),
        StepStarted(1, True),
        ThinkingDelta("hm\nhm"),
        ThinkingFinished(12.4),
        TextDelta("I **look** "),
        TextDelta("first."),
        CallDrafted("read_file", 20),
        StepFinished(1, USED),
        ToolStarted("c1", "read_file", {"path": "a.py"}),
        ToolFinished("c1", "read_file", "done", TextCard(""), 0.0),
        ToolStarted("c2", "read_file", {"path": "b.py"}),
        ToolFinished("c2", "read_file", "done", TextCard(""), 0.0),
        ThoughtKept("It is simple.\nMore."),
        StepStarted(2, False),
        Warned(phrase("Careful.")),
        TextDelta("Done."),
        TurnFinished("done", None, USED, 3.0),
        practice=True,
    )
    assert text == (
        "Thought for 12 s\n\nI **look** first.\n\n✓ Read a.py\n✓ Read b.py\n\nReusing the earlier "
        "conclusion: It is "
        "simple.\n\n! Careful.\n\nDone.\n\nturn 1 · 2,000 tokens sent, 75 % from cache · 30 "
        "received ·\n$0.0123 · 3.0 s · practice model, no AI\n\n"
    )


def test_one_line_is_left_blank_behind_a_turn_whatever_follows() -> None:
    screen, out = make_screen()
    with screen.turn():
        screen.show(TurnStarted("do it", 1))
        screen.show(TurnFinished("done"))
    screen.say(phrase("One thing more."))
    assert out.getvalue().endswith("0.0 s\n\nOne thing more.\n")


def test_a_reply_that_broke_off_is_said_to_be_void() -> None:
    text = rendered(
        StepStarted(1, False),
        TextDelta("half a reply\n\nand a bit"),
        Retrying(phrase("The server is busy."), 2, 4.0),
        TextDelta("whole"),
        TurnFinished("done"),
    )
    assert text.startswith(
        "half a reply\n\n↻ The server is busy.\n  The reply shown so far was discarded.\n\nwhole\n"
    )


def test_waiting_is_told_where_no_line_moves() -> None:
    event = Waiting(phrase("Waiting for cheap hours (from {time})", time="18:00"), 0.0)
    assert "… Waiting for cheap hours (from 18:00)\n" in rendered(event, TurnFinished("done"))


def test_the_cost_of_a_turn_is_told_in_yuan_where_there_is_a_price_in_it() -> None:
    out = StringIO()
    console = Console(file=out, width=100, no_color=True)
    screen = CliScreen(console, Translator("en", {}), yuan=lambda: 20 / 3)
    with screen.turn():
        screen.show(TurnFinished("done", usage=USED))
    assert "$0.0123 (¥0.0820)" in out.getvalue()


def test_an_end_before_the_end_says_why() -> None:
    assert rendered(TurnFinished("error", phrase("No network."))).startswith("✗ No network.\n")
    assert rendered(TurnFinished("stopped")).startswith("■ Stopped.\n")


@pytest.mark.parametrize(
    ("card", "rows"),
    [
        (
            DiffCard("a.py", "@@ -1,2 +1,2 @@\n-old\r\n+new\r\n \tend\n@@ -9 +9,2 @@\n+x", 2, 1),
            "✓ x a.py  +2 −1 · 0.5 s\n  1 − old\n  1 + new\n  2       end\n  ⋮\n  9 + x",
        ),
        (
            DiffCard("a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file", 1, 1),
            "✓ x a.py  +1 −1 · 0.5 s\n  1 − a\n  1 + a\n      No newline at end of file",
        ),
        (
            RunCard(
                "python", "print(1)", "1\n", 0, "", 0.5, "A: bubblewrap", (Change("created", "o"),)
            ),
            "✓ x a.py · 0.5 s · sandbox A\n  print(1)\n  │ 1\n  created o",
        ),
        (
            TextCard(
                "raw: plot",
                "Drawn.",
                pictures=(Picture("d", "raw 1", "PNG", 4, 3, 70, "image/png"),),
            ),
            "✓ x a.py · 0.5 s\n  Drawn.\n  picture raw 1, PNG, 4×3, 70 B",
        ),
        (
            RunCard("bash", "true", "\n", 0, "", 0.5, "A: bubblewrap"),
            "✓ x a.py · 0.5 s · sandbox A\n  exit code 0",
        ),
        (
            RunCard(
                *("bash", "true", "ok\n", 0, "", 0.5, "A: bubblewrap"),
                pictures=(RunPicture("plot.png", "image/png", 1_200),),
                shown_folders=("~/.nvm", "~/.cargo/bin"),
            ),
            "✓ x a.py · 0.5 s · sandbox A, 2 folders shown\n  │ ok\n  picture plot.png (1.2 kB)",
        ),
        (
            RunCard("bash", "sleep 9", "", None, phrase("too long"), 0.5, ""),
            "✗ x a.py · 0.5 s\n  stopped: too long",
        ),
        (
            RunCard("bash", "serve", "", None, phrase("job {n} was stopped", n=1), 0.5, ""),
            "✓ x a.py · 0.5 s\n  stopped",
        ),
        (
            SearchCard("old", (Hit("a.py", 3, "  old"), Hit("b.py", 0, "")), 5),
            "✓ x a.py · 0.5 s\n  a.py\n      3  old\n  b.py\n  … and 3 more",
        ),
        (
            SearchCard("old", (Hit("a.py", 3, "  old"),), 1),
            "✓ x a.py · 0.5 s\n  a.py\n      3  old",
        ),
        (SearchCard("x", (), 0), "✓ x a.py · 0.5 s\n  No matches."),
        (
            SearchCard("x", (), 0, too_large=2),
            "✓ x a.py · 0.5 s\n  No matches.\n  Too large to search: 2 files",
        ),
        (TextCard(phrase("Read {path}", path="a.py"), "5 lines"), "✓ x a.py · 5 lines · 0.5 s"),
        (TextCard(phrase("Deleted {path}", path="a.py")), "✓ x a.py · 0.5 s"),
        (TextCard("T", "one\ntwo"), "✓ x a.py · 0.5 s\n  one\n  two"),
        (TextCard("T", "w" * 51), f"✓ x a.py · 0.5 s\n  {'w' * 51}"),
        (
            TreeCard("", (TreeEntry("src", 1, None), TreeEntry("src/a", 2, 1200, "a note")), 2),
            "✓ x a.py · 0.5 s\n  src/\n    a  1.2 kB  a note\n  … and 2 more",
        ),
        (
            TableCard("T", (("a", "1"), ("中文", "2")), ("k", "v")),
            "✓ x a.py · 0.5 s\n  k     v\n  a     1\n  中文  2",
        ),
        (
            LinksCard("q", (Link("A", "https://a.test", "some\nwords"),)),
            "✓ x a.py · 0.5 s\n  A\n    https://a.test\n    some words",
        ),
        (
            TodoCard((Todo("a", "completed"), Todo("b", "in_progress"), Todo("c", "pending"))),
            "✓ x a.py · 0.5 s\n  ✓ a\n  ● b\n  ○ c",
        ),
        (
            PromptCard(
                "T",
                (("k", "v"),),
                (
                    PromptPart("system", "instructions", "Be\ngood.\n", 9, 9),
                    PromptPart("person", "I", "one two", 4, 3, "new"),
                    PromptPart("model", "model", "gone", 2, 0, "gone"),
                ),
                is_folded=True,
            ),
            "✓ x a.py · 0.5 s\n  T\n  k: v\n  ── 1 instructions · 9 tokens · cached\n  "
            "Be good.\n  ── 2 I · 4 tokens · 42 % cached · new in this step\n  one\n  ┄┄ not "
            "cached from here on ┄┄\n   two\n  ── 3 model · 2 tokens · no longer sent\n  gone",
        ),
        (
            TextCard("T", "\n".join(f"line {n}" for n in range(14))),
            "✓ x a.py · 0.5 s\n" + "".join(f"  line {n}\n" for n in range(12)) + "  … 2 more lines",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_card_is_drawn(card: Card, rows: str) -> None:
    assert finished(card) == rows


def test_a_failed_and_a_refused_call_say_why_in_a_line() -> None:
    card = TextCard(phrase("Failed"), phrase("There is no a.py."))
    assert finished(card, state="failed") == "✗ x a.py · 0.5 s\n  Failed: There is no a.py."
    assert finished(TextCard("You refused"), state="refused").startswith("⊘ x a.py")


def hostile_cards() -> list[Card]:
    return [
        TextCard(HOSTILE, HOSTILE),
        DiffCard(HOSTILE, f"@@ -1 +1 @@\n+{HOSTILE}", 1, 0, HOSTILE),
        RunCard("bash", f"{HOSTILE}\n{HOSTILE}", HOSTILE, None, HOSTILE, 1.0, HOSTILE),
        RunCard("bash", "x", "", 0, "", 1.0, "", (Change("renamed", HOSTILE, HOSTILE),)),
        SearchCard(HOSTILE, (Hit(HOSTILE, 1, HOSTILE),), 1),
        TreeCard(HOSTILE, (TreeEntry(HOSTILE, 1, 2, HOSTILE),)),
        TableCard(HOSTILE, ((HOSTILE, HOSTILE),), (HOSTILE, HOSTILE)),
        LinksCard(HOSTILE, (Link(HOSTILE, HOSTILE, HOSTILE),)),
        TodoCard((Todo(HOSTILE, "completed"),)),
        PromptCard(HOSTILE, ((HOSTILE, HOSTILE),), (PromptPart("person", HOSTILE, HOSTILE, 1, 5),)),
    ]


@pytest.mark.parametrize("card", hostile_cards(), ids=lambda card: type(card).__name__)
@pytest.mark.parametrize("terminal", [True, False])
def test_no_card_can_drive_the_terminal(card: Card, terminal: bool) -> None:
    screen, out = make_screen(terminal=terminal, person=ScriptedAsker([None]))
    why = phrase("{why}", why=HOSTILE)
    with screen.turn():
        screen.show(ToolStarted("c", HOSTILE, {"path": HOSTILE, "code": HOSTILE}))
        screen.show(ApprovalAsked("c", HOSTILE, "run", why, HOSTILE, card))
        screen.show(ToolOutput("c", HOSTILE))
        screen.show(ToolFinished("c", HOSTILE, "done", card, 1.0))
        screen.show(ToolFinished("c", HOSTILE, "failed", card, 1.0))
        screen.show(CommandAnswered("/x", card))
        screen.show(TextDelta(f"{HOSTILE} [a]({HOSTILE})\n\n```{HOSTILE}\n{HOSTILE}\n```\n"))
        screen.show(ThoughtKept(HOSTILE))
        screen.show(Retrying(why, 1, 1.0))
        screen.show(TurnFinished("error", why))
    text = out.getvalue()
    assert "shown" in text
    assert not ESCAPE.search(text)


def test_a_call_that_the_person_changed_says_so_when_it_is_over() -> None:
    text = rendered(
        ToolStarted("c", "run_command", {"command": "rm x"}),
        ToolStarted("c", "run_command", {"command": "rm y"}, is_revised=True),
        ToolFinished("c", "run_command", "done", RunCard("bash", "rm y", "", 0, "", 1.0, ""), 1.0),
    )
    assert "Run rm y" in text
    assert "edited by you" in text


def test_the_clock_of_what_is_waited_for_counts_down() -> None:
    translator = Translator("en", {})
    region = LiveRegion(translator, CardRenderer(translator))
    region.wait(phrase("Waiting for cheap hours (from {time})", time="18:00"), 4e9)
    out = StringIO()
    Console(file=out, width=100).print(region())
    assert re.search(r"\(from 18:00\) · \d+ min \d\d s left", out.getvalue())
    region.begin(phrase("Working"))
    assert region.until is None
