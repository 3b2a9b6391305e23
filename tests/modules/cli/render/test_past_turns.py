"""Turns of an earlier time on a terminal: all of them, folded."""

from collections.abc import Sequence

from core.cards import DiffCard, TextCard
from core.events import (
    Event,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from tests.modules.cli.render.test_screen import ESCAPE, HOSTILE
from tests.modules.cli.screens import ScriptedAsker, make_screen
from utils.llm.completion import Usage

DIFF = DiffCard("a.py", "@@ -1 +1 @@\n-old\n+new\n", 1, 1)


def turn(number: int, question: str, *between: Event, answer: str = "Done.") -> list[Event]:
    """Return the events of a kept turn, which took two seconds."""
    return [
        TurnStarted(question, number),
        StepStarted(1, False),
        *between,
        TextDelta(answer),
        TurnFinished("done", None, Usage(), 2.0),
    ]


def call(name: str = "modify_file", path: str = "a.py") -> list[Event]:
    return [ToolStarted("c", name, {"path": path}), ToolFinished("c", name, "done", DIFF, 0.0)]


def drawn(*turns: Sequence[Event], stops_after: int | None = None) -> str:
    """Return what a screen shows of *turns*, as if it were stopped after so many looks."""
    screen, out = make_screen()
    looks = iter(range(10_000))
    screen.show_earlier(turns, lambda: stops_after is not None and next(looks) >= stops_after)
    return out.getvalue()


def test_a_turn_is_its_words_and_a_line_for_each_call() -> None:
    thought: list[Event] = [ThinkingDelta("hm"), ThinkingFinished(3.0)]
    text = drawn(
        turn(1, "mend it", *thought, *call(), *call(path="b.py"), answer="It is **whole**."),
        turn(2, "thanks"),
    )
    assert text == (
        "› mend it\n\nThought for 3.0 s\n\n✓ Change a.py  +1 −1\n✓ Change b.py  +1 −1\n\n"
        "It is whole.\n\nturn 1 · 2.0 s\n\n› thanks\n\nDone.\n\nturn 2 · 2.0 s\n"
    )


def test_a_long_text_says_how_to_see_the_rest() -> None:
    lines = [f"line {n}" for n in range(1, 22)]
    text = drawn(turn(7, "\n".join([*lines, "last"]), answer="\n".join(lines)))
    assert "line 20\n… 2 more lines · /history 7 shows all\n" in text
    assert "line 20\n… 1 more line · /history 7 shows all\n" in text
    assert "line 21" not in text


def test_a_line_without_end_is_cut() -> None:
    text = drawn(turn(3, "w" * 100_000, answer="v" * 100_000))
    assert text.count("… 1 more line · /history 3 shows all") == 2
    assert len(text) < 10_000


def test_each_of_thousands_of_turns_is_drawn() -> None:
    text = drawn(*(turn(n, f"question {n}", answer=f"- answer {n}") for n in range(1, 2_501)))
    assert text.startswith("2,500 earlier turns; Ctrl-C skips them\n\n› question 1\n")
    assert [f"› question {n}\n" in text for n in range(1, 2_501)] == [True] * 2_500
    assert "\n- answer 2400\n" in text  # formatting all of them would take seconds
    assert "\n• answer 2401\n" in text


def test_the_rest_is_left_out_when_asked_to_stop() -> None:
    text = drawn(*(turn(n, f"question {n}") for n in range(1, 101)), stops_after=2)
    assert "question 20\n" in text
    assert "question 21\n" not in text


def test_a_folded_card_can_be_shown_whole() -> None:
    screen, out = make_screen(person=ScriptedAsker([]))
    screen.show_earlier([turn(1, "mend it", *call())], lambda: False)
    before = out.getvalue()
    assert "new" not in before
    screen.show_all()
    assert "+ new" in out.getvalue().removeprefix(before)


def test_no_kept_text_can_drive_the_terminal() -> None:
    shown = ToolFinished("c", "x", "failed", TextCard(HOSTILE, HOSTILE), 0.0)
    text = drawn(
        turn(1, HOSTILE, ToolStarted("c", "x", {"path": HOSTILE}), shown, answer=HOSTILE),
        *(turn(n, HOSTILE, answer=HOSTILE) for n in range(2, 200)),
    )
    assert not ESCAPE.search(text)
