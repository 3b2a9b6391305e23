"""The dialogue without a terminal: lines come through a pipe and plain text goes out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, PreparesContext
from modules.cli.input.keyboard import TypedAhead
from modules.cli.repl import Repl
from modules.translator import Translator
from tests.scripted_model import run_turn, terminal, text_reply
from utils.i18n import phrase
from utils.logger import FailureLog


class Slow(Feature, BindsToSession, PreparesContext):
    """Says, in the midst of a turn, what it waits for."""

    def bind(self, session_handle: SessionHandle) -> None:
        self._handle = session_handle

    def before_request(self) -> None:
        assert self._handle.announce(phrase("Starting a server"))


def talk(folder: Path, lines: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.modules.cli.scripted_program", str(folder), "en", "0"],
        input=lines.encode(),
        capture_output=True,
        timeout=300,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


def test_piped_lines_are_answered_in_plain_text(tmp_path: Path) -> None:
    code, out, err = talk(tmp_path, "hello\n\n/table\nweb\n")
    assert (code, err) == (0, "")
    assert "You said 'hello'." in out
    assert "cost  back" in out
    assert "Refused: no one was there to approve" in out
    assert "\x1b" not in out


def test_exit_leaves(tmp_path: Path) -> None:
    for line in ("/exit", "exit", "quit"):
        assert "You said" not in talk(tmp_path, f"{line}\nhello\n")[1]


def test_an_error_of_ours_ends_the_turn_alone_and_is_logged(tmp_path: Path) -> None:
    code, out, _ = talk(tmp_path, "/crash\nhello\n")
    assert code == 0
    assert f"KeyError: 'a bug'. Details are in {tmp_path / 'log'}." in out
    assert "You said 'hello'." in out
    assert "Traceback" in (tmp_path / "log").read_text()


def test_an_unknown_command_is_one_line(tmp_path: Path) -> None:
    assert "Did you mean /note?" in talk(tmp_path, "/nite\n")[1]


def test_a_session_that_goes_on_shows_its_last_turn(tmp_path: Path) -> None:
    _, out, _ = talk(tmp_path, "hello\nsecond\n/new\n/resume s1\n")
    assert out.count("› second") == 1
    assert out.count("You said 'second'.") == 2
    assert out.count("You said 'hello'.") == 1


def test_a_turn_that_is_shown_again_keeps_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main = terminal(text_reply("done"))
    run_turn(main, "go")
    monkeypatch.setattr(main.store, "seconds", lambda _session: {1: 65.0})
    failures = FailureLog(tmp_path / "log")
    Repl(main, Translator("en", {}), failures, TypedAhead(), ()).run(iter(()))
    assert "1 min 05 s" in capsys.readouterr().out


def test_what_a_turn_announces_is_shown_before_the_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main = terminal(text_reply("the answer"), features=[Slow()])
    Repl(main, Translator("en", {}), FailureLog(tmp_path / "log"), TypedAhead(), ()).run(
        iter(["go"])
    )
    out = capsys.readouterr().out
    assert -1 < out.find("Starting a server") < out.find("the answer")
    assert not main.announce(phrase("too late"))
