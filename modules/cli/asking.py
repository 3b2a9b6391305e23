"""Asking the person at the keyboard for leave."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Protocol

from core.events import ApprovalAsked, Reply
from modules.cli import keyboard
from modules.words import Words
from utils.phrases import phrase
from utils.waiting import Stop


class Asker(Protocol):
    """Somebody who can be asked."""

    def key(self) -> str | None:
        """Wait for a key and return what it sends; None when there will be none."""

    def reason(self) -> str:
        """Ask why not; "" when no reason is given."""

    def stop(self) -> None:
        """Stop the turn."""


def wait_for_reply(
    asker: Asker,
    event: ApprovalAsked,
    show_all: Callable[[], object] | None,
    close: Callable[[], None],
) -> Reply | None:
    """Wait for one of the keys offered; *close* is called before the keyboard is used for text."""
    while (key := asker.key()) is not None:
        match _plain(key):
            case "y" | "yes":
                return Reply(yes=True)
            case "a" | "always":
                return Reply(yes=True, always=True, pattern=event.pattern)
            case "n" | "no" | keyboard.ESCAPE:
                close()
                return Reply(yes=False, reason=asker.reason())
            case "v" if show_all:
                show_all()
            case keyboard.CTRL_C:
                asker.stop()
                return None
    return None


def _plain(key: str) -> str:
    """Return *key* as it would be without an input method for Chinese and without Shift."""
    return unicodedata.normalize("NFKC", key).strip("\r\n ").lower()


class Keyboard:
    """The person at the terminal *descriptor*."""

    def __init__(self, descriptor: int, stop: Stop, words: Words) -> None:
        self._descriptor = descriptor
        self._stop = stop
        self._words = words

    def key(self) -> str | None:
        return keyboard.read_key(self._descriptor, self._stop)

    def reason(self) -> str:
        from prompt_toolkit import prompt

        label = self._words.say(phrase("Why not? (Enter: no reason)"))
        try:
            return prompt(f"  {label} › ").strip()
        except (EOFError, KeyboardInterrupt):
            return ""

    def stop(self) -> None:
        self._stop.set()
