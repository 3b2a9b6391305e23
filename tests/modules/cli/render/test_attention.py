"""What calls a person who waits elsewhere."""

from collections.abc import Mapping
from typing import Any

import pytest

from core.cards import TextCard
from core.events import ApprovalAsked, StepStarted, TurnFinished, TurnStarted
from modules.cli.render.attention import Attention
from modules.translator import Translator
from utils.i18n import phrase
from utils.llm.completion import Usage

DONE = TurnFinished("done", None, Usage(), 1.0)


def attention(
    environment: Mapping[str, str], *, project: str = "demo", language: Any = "en", **wanted: Any
) -> tuple[Attention, list[float]]:
    """Return an attention with notifications, and its clock."""
    clock = [100.0]
    wanted = dict[str, Any](notify="desktop", sets_title=False, seconds=10.0) | wanted
    translator = Translator.of(language)
    return Attention(translator, project, environment, clock=lambda: clock[0], **wanted), clock


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;demo: the task is done\a"),
        ({"KITTY_WINDOW_ID": "1"}, "\x1b]9;demo: the task is done\a"),
        ({"VTE_VERSION": "7000"}, "\x1b]777;notify;Onefold;demo: the task is done\a"),
        ({"TERM": "foot"}, "\x1b]777;notify;Onefold;demo: the task is done\a"),
        ({"TERM": "xterm-256color"}, "\a"),
        (
            {"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"},
            "\x1bPtmux;\x1b\x1b]9;demo: the task is done\a\x1b\\\a",
        ),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x"}, "\a"),
    ],
)
def test_a_notification_is_what_the_terminal_has(environment: dict[str, str], sent: str) -> None:
    calls, clock = attention(environment)
    assert calls.before(TurnStarted("go", 1), 0.0) == ""
    clock[0] += 10
    assert calls.before(DONE, 0.0) == sent


def test_only_who_has_been_away_is_called() -> None:
    calls, clock = attention({}, notify="bell")
    calls.before(TurnStarted("go", 1), 0.0)
    clock[0] += 9
    assert calls.before(DONE, 0.0) == ""
    clock[0] += 20
    assert calls.before(DONE, clock[0] - 9) == ""  # a key was pressed since
    assert calls.before(DONE, clock[0] - 10) == "\a"
    calls.note_seen()
    assert calls.before(DONE, 0.0) == ""


def test_who_stopped_it_is_there() -> None:
    calls, clock = attention({}, notify="bell")
    clock[0] += 60
    assert calls.before(TurnFinished("stopped", None, Usage(), 1.0), 0.0) == ""
    assert calls.before(TurnFinished("error", None, Usage(), 1.0), 0.0) == "\a"


def test_the_title_says_what_the_task_does_and_is_put_back() -> None:
    calls, _ = attention({}, notify="off", sets_title=True)
    assert calls.begin() == "\x1b[22;2t\x1b]2;› demo · Onefold\a"
    assert calls.before(TurnStarted("go", 1), 0.0) == "\x1b]2;… demo · Onefold\a"
    assert calls.before(StepStarted(1, False), 0.0) == ""
    assert calls.before(DONE, 0.0) == "\x1b]2;✓ demo · Onefold\a"
    assert calls.end() == "\x1b[23;2t"


def test_a_name_cannot_drive_the_terminal() -> None:
    calls, clock = attention({"VTE_VERSION": "1"}, project="a\x1b]0;x\a;b\n" + "w" * 200)
    clock[0] += 60
    sent = calls.before(DONE, 0.0)
    assert sent.startswith("\x1b]777;notify;Onefold;a\\x1b]0,x\\x07,b\\nww")
    assert sent.count("\x1b") == sent.count("\a") == 1
    assert sent.count(";") == 3
    assert len(sent) < 150


def test_it_speaks_chinese() -> None:
    calls, clock = attention({"VTE_VERSION": "1"}, language="zh")
    clock[0] += 60
    assert "demo：任务已完成" in calls.before(DONE, 0.0)


def test_a_question_is_told_before_it_is_asked() -> None:
    calls, clock = attention({}, notify="bell", sets_title=True)
    clock[0] += 60
    asked = ApprovalAsked("c", "run", "run", phrase("Why not"), "", TextCard("", ""))
    assert calls.before(asked, 0.0) == "\x1b]2;? demo · Onefold\a\a"
