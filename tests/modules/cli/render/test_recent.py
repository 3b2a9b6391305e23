"""One key shows whole what was shown in part: calls with their results, and thoughts."""

from __future__ import annotations

from core.cards import Card, DiffCard, RunCard, TextCard
from core.events import (
    Event,
    HelperEvent,
    Retrying,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ToolFinished,
    ToolStarted,
)
from tests.modules.cli.screens import ScriptedAsker, make_screen
from utils.i18n import phrase


def call(name: str, card: Card, **arguments: str) -> tuple[ToolStarted, ToolFinished]:
    return ToolStarted(name, name, arguments), ToolFinished(name, name, "done", card, 0.2)


def shown_by_the_key(*events: Event, times: int = 1) -> list[str]:
    """Return what each of *times* presses of the key prints after *events*."""
    screen, out = make_screen(terminal=True, person=ScriptedAsker([]))
    with screen.turn():
        for event in events:
            screen.show(event)
    printed = []
    for _ in range(times):
        said = len(out.getvalue())
        screen.show_all()
        printed.append(out.getvalue()[said:])
    return printed


LINES = "".join(f"line {number}\n" for number in range(40))
RUN = call("run_command", RunCard("bash", "make", LINES, 0, "", 0.2, "bubblewrap"), command="make")
DIFF = call(
    "modify_file", DiffCard("a.py", "@@ -1 +1,40 @@\n" + LINES.replace("line", "+new"), 40, 0)
)
SHORT = call("read_file", TextCard(phrase("Shown"), ""), path="a.py")


def test_the_hidden_output_and_the_rest_of_a_diff_are_shown() -> None:
    diff, run = shown_by_the_key(*RUN, *DIFF, *SHORT, times=2)
    assert [f"new {n}" in diff for n in range(40)] == [True] * 40
    assert [f"line {n}" in run for n in range(40)] == [True] * 40
    assert "above" not in run


def test_a_thought_is_shown_once_it_is_over() -> None:
    thought = (ThinkingDelta("First I "), ThinkingDelta("look.\nThen"), ThinkingFinished(2.0))
    (text,) = shown_by_the_key(*thought, *SHORT)
    assert "Thought for 2" in text
    assert "First I look." in text


def test_what_was_thought_for_a_reply_that_is_asked_for_again_is_gone() -> None:
    again = Retrying(phrase("The server is busy."), 2, 1.0)
    thought = (ThinkingDelta("wrong"), again, ThinkingDelta("right"), ThinkingFinished(2.0))
    (text,) = shown_by_the_key(*thought)
    assert "right" in text
    assert "wrong" not in text


def test_nothing_is_shown_where_nothing_was_cut() -> None:
    assert shown_by_the_key(*SHORT) == [""]


def test_the_steps_of_a_helper_are_one_line_while_it_works_and_shown_by_the_key() -> None:
    started, finished = call("read_file", TextCard(phrase("Read"), "2 lines"), path="a.py")
    steps = (StepStarted(1, thinks=False), started, finished, TextDelta("It is there."))
    task = call("delegate", TextCard(phrase("Helper"), "It is there."), task="look")
    events: list[Event] = [task[0], *(HelperEvent("delegate", step) for step in steps), task[1]]
    screen, out = make_screen(terminal=True, person=ScriptedAsker([]))
    with screen.turn():
        for event in events[:3]:
            screen.show(event)
        live = str(screen._live_region.calls["delegate"].helper)
        for event in events[3:]:
            screen.show(event)
    assert live == "step 1 · Read a.py"
    said = len(out.getvalue())
    screen.show_all()
    assert "a.py" in out.getvalue()[said:]
