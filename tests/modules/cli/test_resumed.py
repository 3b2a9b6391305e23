"""A session that goes on in a real terminal (tmux): all of it is on the screen again."""

import shutil

import pytest

from tests.modules.cli.terminal import Terminal
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_the_whole_conversation_is_drawn_with_earlier_calls_on_one_line(
    started: Terminal,
) -> None:
    for line, end in (
        ("tools", "All done."),
        ("second", "You said 'second'."),
        ("prose", "最后是"),
    ):
        started.press(line, "Enter")
        started.see_prompt_after(end)
    started.press("/clear", "Enter")
    started.see_prompt_after("New session started.")
    started.tmux("clear-history")
    started.press("/resume s1", "Enter")
    started.see_prompt_after("最后是")
    text = started.screen(history=True)
    assert text.index("› tools") < text.index("All done.") < text.index("› second")
    assert text.index("You said 'second'.") < text.index("› prose") < text.index("• first item")
    assert "✓ Run pytest -q" in text
    assert "line 29" not in text  # the output of that call, which was on the screen before
    started.press("C-o")
    started.see_prompt_after("▾ fail\n  Failed: There is no file x.py.")


def test_history_shows_a_turn_whole(started: Terminal) -> None:
    started.press("second", "Enter")
    started.see_prompt_after("You said 'second'.")
    started.press("/history 1", "Enter")
    started.see_prompt_after("Turn 1\n› second\n\nYou said 'second'.")
    started.press("/history 9", "Enter")
    started.see_prompt_after("There is no turn 9.")
