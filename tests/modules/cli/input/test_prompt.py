from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.output import DummyOutput

from modules.cli.input import prompt
from modules.cli.input.keyboard import TypedAhead
from modules.cli.input.line_completion import LineCompleter
from modules.cli.input.line_keys import line_key_bindings
from modules.cli.input.prompt import Prompt
from modules.cli.screen_settings import ScreenSettings
from modules.translator import Translator
from tests.assembly import assembled_terminal
from utils.shortcuts import COMMAND_KEYS

PATIENCE = 60.0


@pytest.mark.parametrize(
    ("arrows", "typed"),
    [("\x1b[A", "one!\n@two"), ("\x1b[A\x1b[B", "one\n@two!")],
)
def test_arrows_move_in_the_line_while_paths_are_still_looked_for(
    arrows: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_looking, may_find = threading.Event(), threading.Event()

    def files() -> list[str]:
        is_looking.set()
        may_find.wait(PATIENCE)
        return []

    with create_pipe_input() as source:
        session: PromptSession[str] = PromptSession(
            multiline=True,
            completer=LineCompleter({}, files, Translator("en", {})),
            complete_in_thread=True,
            key_bindings=line_key_bindings(lambda _: None, lambda: None, shortcuts={}),
            input=source,
            output=DummyOutput(),
        )

        leave = session.app.exit

        def look_no_further(**result: Any) -> None:
            may_find.set()  # the end of the prompt waits for who looks
            leave(**result)

        monkeypatch.setattr(session.app, "exit", look_no_further)

        def type_on() -> None:
            assert is_looking.wait(PATIENCE)
            source.send_text(f"{arrows}\x1b[F!")
            source.send_text("\r")

        typing = threading.Thread(target=type_on)
        typing.start()
        source.send_text("one\n@two")
        try:
            # In a thread: a browser's test before this one may leave a loop that runs in here.
            assert session.prompt(in_thread=True) == typed
        finally:
            may_find.set()
            typing.join()


@pytest.mark.parametrize(
    ("shortcuts", "keys", "line"),
    [
        ({}, "a\x1b\rb\x0fc\r", "a\nbc"),
        ({"terminal.newline": "F5"}, "a\x1b[15~b\nc\r", "a\nbc"),
        ({"terminal.show_output": "Ctrl-G"}, "a\x0fb\x07c\r", "abc"),
        ({"terminal.quit": "F10"}, "\x04a\r", "a"),
        ({"terminal.quit": "F10"}, "\x1b[21~", None),
        ({"terminal.next_mode": "Alt-M"}, "a\x1bmb\r", "ab"),
        ({}, "\x18u", "/undo"),
        ({}, "\x1bp", "/model"),
        ({}, "a\x18ub\r", "aub"),  # a line that is being written stays
        ({"terminal.undo": "Ctrl-X Z"}, "\x18z", "/undo"),
    ],
)
def test_the_keys_of_the_line_are_those_of_the_settings(
    shortcuts: dict[str, str], keys: str, line: str | None
) -> None:
    pressed: list[str] = []
    with create_pipe_input() as source:
        session: PromptSession[str] = PromptSession(
            multiline=True,
            key_bindings=line_key_bindings(
                lambda _: None,
                lambda: pressed.append("output"),
                next_mode=lambda _: pressed.append("mode"),
                shortcuts=shortcuts,
            ),
            input=source,
            output=DummyOutput(),
        )
        source.send_text(keys)
        if line is None:
            with pytest.raises(EOFError):
                session.prompt()
        else:
            assert session.prompt() == line
    shown = "\x0fc" in keys or "\x07" in keys
    assert pressed == ["mode"] * ("terminal.next_mode" in shortcuts) + ["output"] * shown


def test_the_keys_of_commands_send_commands_that_there_are(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        assert {f"/{name}" for name in COMMAND_KEYS} <= set(env.terminal.commands)


def test_letters_after_the_escape_key_stand_in_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are no keys with Alt: `fix` lost its f, a command its slash."""
    translator = Translator("en", {})
    with create_pipe_input() as source:
        flush = source.flush_keys

        def flush_and_type() -> list[KeyPress]:
            keys = flush()
            if keys:
                source.send_text("/b\x1bbfix \r")
            return keys

        monkeypatch.setattr(source, "flush_keys", flush_and_type)
        monkeypatch.setattr(prompt, "create_input", lambda: source)
        monkeypatch.setattr(prompt, "create_output", DummyOutput)
        line = Prompt(
            translator,
            LineCompleter({}, list, translator),
            list,
            InMemoryHistory(),
            typed_ahead=TypedAhead(),
            next_mode=lambda: None,
            settings=ScreenSettings(),
        )
        source.send_text("\x1b")
        assert line.read() == "/fix b"
