"""Questions in a real terminal, and what is typed while they are open."""

import shutil
from pathlib import Path

import pytest

from tests.modules.cli.terminal import Terminal
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_a_question_is_answered_by_a_key(started: Terminal) -> None:
    started.press("web", "Enter")
    started.see("y yes · a always: web_search * · p other pattern · e edit · n no")
    started.press("n")
    started.see("Why not?")
    started.press("不要", "Enter")
    started.see_prompt_after("You said no: 不要")
    started.press("web", "Enter")
    started.see("y yes")
    started.press("a")
    screen = started.see_prompt_after("Allowed from now on: web_search *")
    assert "y yes" not in screen


def test_the_arguments_of_a_call_are_edited_before_it_runs(started: Terminal) -> None:
    started.press("web", "Enter")
    started.see("e edit")
    started.press("e")
    started.see('"query": "tea"')
    started.press("Up", "End", "Left", "BSpace", "BSpace", "BSpace", "coffee", "Enter")
    screen = started.see_prompt_after("Found.")
    assert "Allowed, as you changed it" in screen
    assert "Search the web coffee" in screen
    assert "changed by you" in screen


def test_what_was_typed_before_a_question_does_not_answer_it(
    started: Terminal, tmp_path: Path
) -> None:
    started.press("late web", "Enter")
    started.see("Waiting for the model")
    started.press("y", "y", "y")
    started.see("› yyy")
    (tmp_path / "go").touch()
    started.see("n no")
    started.press("n")
    started.see("Why not?")
    started.press("because", "Enter")
    started.see_prompt_after("You said no: because")
    started.see("› yyy")
    started.press(" later", "Enter")
    started.see("You said 'yyy later'.")


def test_a_line_typed_at_a_question_is_no_answer_and_waits(started: Terminal) -> None:
    started.press("web", "Enter")
    started.see("y yes")
    started.press("make a plan", "Enter", "and ")
    started.see("What you type waits for the next prompt")
    started.see("› make a plan\n› and")
    screen = started.see("y yes")
    assert screen.rstrip().endswith("› make a plan\n› and")
    started.press("y")
    started.see("Found.")
    started.see("You said 'make a plan'.")
    assert "Allowed from now on" not in started.screen()


def test_escape_leads_from_the_line_back_to_the_question(started: Terminal) -> None:
    started.press("web", "Enter")
    started.see("e edit")
    started.press("e")
    started.see('"query": "tea"')
    started.press("Escape")
    started.wait(lambda screen: "e edit" in screen.rstrip().splitlines()[-1])
    started.press("y")
    started.see_prompt_after("Found.")
    assert "Search the web tea" in started.screen()


def test_escape_says_no_and_the_reason_may_follow_at_once(started: Terminal) -> None:
    started.press("web", "Enter")
    started.see("y yes")
    started.press("Escape", "too dear", "Enter")
    started.see_prompt_after("You said no: too dear")


def test_a_second_message_sent_ahead_is_no_reason(started: Terminal) -> None:
    started.press("web", "Enter", "second", "Enter")
    started.see("y yes")
    started.press("n")
    started.see("Why not?")
    started.press("not now", "Enter")
    started.see("You said no: not now")
    started.see("You said 'second'.")
