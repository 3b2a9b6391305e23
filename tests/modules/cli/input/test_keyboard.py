from __future__ import annotations

import os
import pty
import select
import tty
from collections.abc import Iterator
from typing import Any

import pytest

from modules.cli.input.keyboard import TypedAhead, as_paste
from utils.waiting import Stop


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Yield the end of a terminal where a person types, and the one where a program reads."""
    person, program = pty.openpty()
    tty.setraw(program)
    yield person, program
    os.close(person)
    os.close(program)


def test_what_was_typed_is_kept_until_it_is_taken(terminal: tuple[int, int]) -> None:
    person, program = terminal
    ahead = TypedAhead()
    ahead.wait_for_pause(program, Stop())  # nothing was typed: nothing is waited for
    os.write(person, "你好".encode())
    ahead.wait_for_pause(program, Stop())
    os.write(person, b" y\r")
    ahead.wait_for_pause(program, Stop())
    os.write(person, b"half")
    ahead.wait_for_pause(program, Stop())
    assert ahead.entries == ["你好 y", "half"]
    assert ahead.take_for_prompt() == as_paste("你好 y".encode()) + b"\r"
    assert ahead.take_for_prompt() == as_paste(b"half")
    assert ahead.take_for_prompt() == b""


def test_who_goes_on_typing_is_waited_for(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next key comes while the last one is being waited out."""
    person, program = terminal
    keys = iter(["e", "s", "."])
    real = os.read

    def read(descriptor: int, count: int) -> bytes:
        typed = real(descriptor, count)
        os.write(person, next(keys, "").encode())
        return typed

    monkeypatch.setattr(os, "read", read)
    os.write(person, b"y")
    ahead = TypedAhead()
    ahead.wait_for_pause(program, Stop())
    assert ahead.entries == ["yes."]


def test_who_typed_just_now_is_waited_for_even_if_somebody_else_heard_it(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands typed while a turn runs are heard before there is a question."""
    person, program = terminal
    ahead = TypedAhead()
    os.write(person, b"ye")
    assert ahead.read(program, 10, lambda: True) == b"ye"
    real = select.select

    def waiting(*arguments: Any) -> Any:
        if arguments[-1] > 0:
            os.write(person, b"s")
            monkeypatch.undo()
        return real(*arguments)

    monkeypatch.setattr(select, "select", waiting)
    ahead.wait_for_pause(program, Stop())
    assert ahead.entries == ["yes"]


def test_a_stop_ends_the_waiting(terminal: tuple[int, int]) -> None:
    person, program = terminal
    stop = Stop()
    stop.set()
    os.write(person, b"y")
    ahead = TypedAhead()
    ahead.wait_for_pause(program, stop)
    assert ahead.take_for_prompt() == b""


def test_what_comes_at_once_is_one_line_and_so_is_what_is_pasted(
    terminal: tuple[int, int],
) -> None:
    person, program = terminal
    ahead = TypedAhead()
    heard: list[str] = []
    ahead.on_entered = heard.extend
    for typed in (b"a\rb\r", as_paste(b"c\rd\r"), b"\r"):
        os.write(person, typed)
        ahead.read(program, 10, lambda: True)
    assert heard == ahead.entries == ["a\nb", "c\nd"]


def test_who_takes_back_all_they_typed_is_not_waited_for(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    person, program = terminal
    ahead = TypedAhead()
    ahead.add(b"x")
    real = select.select

    def taken_back(*arguments: Any) -> Any:
        os.write(person, b"\x7f")
        monkeypatch.setattr(select, "select", no_more)
        return real(*arguments)

    def no_more(*_: Any) -> Any:
        raise AssertionError("somebody waits")

    monkeypatch.setattr(select, "select", taken_back)
    ahead.wait_for_pause(program, Stop())
    assert ahead.entries == []


def test_held_lines_stand_in_the_prompt_as_one_and_are_not_sent() -> None:
    ahead = TypedAhead()
    assert not ahead.return_to_draft()
    ahead.add(b"one\rtwp\x7fo\rhalf\x1b[D\x1b[Da")
    assert ahead.return_to_draft(["from elsewhere"])
    assert ahead.take_for_prompt() == as_paste(b"from elsewhere\none\ntwo\nhaalf")
