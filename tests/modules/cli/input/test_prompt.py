from __future__ import annotations

import threading
from typing import Any

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from modules.cli.input.line_completion import LineCompleter
from modules.cli.input.prompt import line_key_bindings
from modules.translator import Translator

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
            key_bindings=line_key_bindings(lambda _: None, lambda: None),
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
