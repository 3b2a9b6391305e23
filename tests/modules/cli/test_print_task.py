"""A task of `-p` ends when it is asked to, however early."""

from __future__ import annotations

import signal
from io import StringIO
from pathlib import Path

import pytest

from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from modules.cli.print_mode import PlainScreen
from modules.cli.print_task import run_task
from modules.translator import Translator
from tests.scripted_model import terminal, text_reply
from utils.logger import FailureLog


def test_a_signal_before_there_is_a_turn_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = terminal(text_reply("too late"))
    begin = main.run_line

    def interrupted(turn: Turn) -> Turn:
        signal.raise_signal(signal.SIGTERM)
        assert main.stop.wait(120)
        yield from turn

    monkeypatch.setattr(
        MainTerminal, "run_line", lambda _, line, _pictures, **_more: interrupted(begin(line))
    )
    screen = PlainScreen("text", out := StringIO(), StringIO(), Translator("en", {}))
    assert run_task(main, "do it", screen, FailureLog(tmp_path / "failures")) == 130
    assert out.getvalue() == ""
