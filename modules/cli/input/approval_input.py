"""Approval by the person at the keyboard."""

from __future__ import annotations

import json
import os
import signal
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from core.events import ApprovalAsked, Reply
from core.loop.approval import PACKAGES
from modules.cli.input import keyboard, typed_keys
from modules.cli.render.cards.heading import elide_middle
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.system.interrupts import wakeup_fd_released
from utils.text.clean import visible
from utils.waiting import Stop

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyPressEvent

_PASTE = keyboard.PASTE_START.decode()
MAX_PATTERN_CELLS = 60
"""Cells of a pattern that is named: it says no more than the call that stands there."""
EDITABLE_ARGUMENTS = ("command", "code", "content", "new")
"""Names of the argument that is edited alone where there is one; else all are, as JSON."""


class Approver(Protocol):
    """Somebody who can be asked."""

    def wait_until_idle(self) -> None:
        """Wait until they do not type: what they typed is no answer to what comes now."""

    def read_key(self) -> str | None:
        """Wait for a key and return what it sends; None when there will be none."""

    @property
    def has_draft(self) -> bool:
        """Whether they began a line that is no answer: keys that edit are for that."""

    def keep_typed(self, typed: str) -> None:
        """Keep *typed*, and what follows until they pause, for the next prompt."""

    def ask_reason(self) -> str | None:
        """Ask why not; "" when no reason is given, None when they were led away meanwhile."""

    def ask_answer(self, typed: str) -> str:
        """Ask for an answer in words, of which *typed* is there; "" when they go back."""

    def edit(self, label: Phrase, text: str, *, takes_unchanged: bool = False) -> str | None:
        """Let the person change *text*; None when they go back.

        So is a text that they leave as it is, but where one is what they choose
        (*takes_unchanged*).
        """

    def stop(self) -> None:
        """Stop the turn."""

    def suspend(self) -> None:
        """Let the shell have the terminal, until it lets us go on."""


@dataclass(frozen=True)
class ApprovalQuestion:
    """A question on the screen: *show* shows what can be answered, *hide* takes that away.

    *show_waiting* shows in its place that it waits for the person to end what they type. *show_all*
    prints what is asked for in full, if anything of it was cut.
    """

    event: ApprovalAsked
    arguments: Mapping[str, Any]
    show: Callable[[], None]
    hide: Callable[[], None]
    show_waiting: Callable[[], None]
    show_all: Callable[[], object]


def choices(event: ApprovalAsked, *, is_cut: bool, show_key: str = "Ctrl-O") -> list[Phrase]:
    """Return what can be answered, each with its key; *show_key* views all of what *is_cut*."""
    match event.risk:
        case "loop":
            offered = [phrase("y continue"), phrase("n stop here")]
        case "loss" | "protected":
            offered = [phrase("y keep"), phrase("n undo all")]
        case "question":
            offered = [phrase("type an answer, then Enter"), phrase("Esc skip")]
            if event.choices:
                offered.insert(0, phrase("1–{last} choose", last=len(event.choices)))
        case _:
            offered = [phrase("y yes")]
            if event.pattern:
                pattern = elide_middle(visible(event.pattern), MAX_PATTERN_CELLS)
                offered.append(
                    phrase("a yes, for this session: packages")
                    if event.pattern == PACKAGES
                    else phrase("a always, this session: {pattern}", pattern=pattern)
                )
            if event.may_last:
                pattern = elide_middle(visible(event.pattern), MAX_PATTERN_CELLS)
                offered.append(phrase("f always, in this project: {pattern}", pattern=pattern))
            if event.pattern:
                offered.append(phrase("p other pattern"))
            if event.may_revise:
                offered.append(phrase("e edit"))
            offered.append(phrase("n no"))
    return [*offered, phrase("{key} view all", key=show_key)] if is_cut else offered


def wait_for_reply(approver: Approver, question: ApprovalQuestion) -> Reply | None:
    """Wait for one of the keys offered; the question is closed while the keyboard is for text.

    Any other letter begins a line that somebody types: nothing of that is an answer.
    """
    approver.wait_until_idle()
    question.show()
    while (key := approver.read_key()) is not None:
        match _normalized(key):
            case typed_keys.CTRL_O:
                question.show_all()
            case normalized if normalized.endswith(keyboard.CTRL_C):
                approver.stop()
                return None
            case keyboard.CTRL_Z:
                question.hide()
                approver.suspend()
                question.show()
            case _ if question.event.risk == "question":
                if reply := _reply_to_question(approver, question, key):
                    return reply
            case normalized if normalized in _answer_keys(question.event):
                if reply := _reply_to_key(approver, question, normalized):
                    return reply
            case normalized if approver.has_draft or _begins_line(normalized):
                question.show_waiting()
                approver.keep_typed(key)
                question.show()
    return None


def _reply_to_question(approver: Approver, question: ApprovalQuestion, key: str) -> Reply | None:
    """Return the answer to a question of the model's own: a choice by its digit, or a line."""
    choices_by_digit = dict(zip("1234", map(str, question.event.choices), strict=False))
    chosen = choices_by_digit.get(_normalized(key))
    if chosen is None and key == typed_keys.ESCAPE:
        return Reply(yes=False)
    if chosen is None and _begins_line(key):
        question.hide()
        chosen = approver.ask_answer(key).strip()
        question.show()
    return Reply(yes=True, text=chosen) if chosen else None


def _answer_keys(event: ApprovalAsked) -> set[str]:
    """Return what answers the question, spelt out or not."""
    keys = {"y", "yes", "n", "no", typed_keys.ESCAPE}
    if event.pattern:
        keys |= {"a", "always", "p"}
    if event.may_last:
        keys.add("f")
    return keys | {"e"} if event.may_revise else keys


def _reply_to_key(approver: Approver, question: ApprovalQuestion, key: str) -> Reply | None:
    event = question.event
    match key:
        case "y" | "yes":
            return Reply(yes=True)
        case "a" | "always":
            return Reply(yes=True, always=True, pattern=event.pattern)
        case "f":
            return Reply(yes=True, lasts=True)
        case "n" | "no" | typed_keys.ESCAPE:
            if event.risk == "told":  # the model never hears of the question
                return Reply(yes=False)
            question.hide()
            reason = approver.ask_reason()
            return None if reason is None else Reply(yes=False, reason=reason)
        case "p":
            question.hide()
            label = phrase("Allow from now on")
            if pattern := approver.edit(label, event.pattern, takes_unchanged=True):
                return Reply(yes=True, always=True, pattern=pattern.strip())
            question.show()
        case "e":
            question.hide()
            if arguments := _edit_arguments(approver, question.arguments):
                return Reply(yes=True, arguments=arguments)
            question.show()
    return None


def _edit_arguments(approver: Approver, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return *arguments* as the person changed them, None when they did not."""
    for name in EDITABLE_ARGUMENTS:
        if isinstance(arguments.get(name), str):
            label = phrase("{name}, edited", name=name)
            text = approver.edit(label, arguments[name])
            return None if text is None else {**arguments, name: text}
    return _edit_as_json(approver, json.dumps(dict(arguments), ensure_ascii=False, indent=1))


def _edit_as_json(approver: Approver, text: str) -> dict[str, Any] | None:
    label = phrase("The arguments, as JSON")
    while (changed := approver.edit(label, text)) is not None:
        try:
            value = json.loads(changed)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        label, text = phrase("Not a valid JSON object. Fix it"), changed
    return None


def _begins_line(key: str) -> bool:
    """Return whether *key* is text, typed or pasted."""
    return key.startswith(_PASTE) or key[:1].isprintable() and key > ""


def _normalized(key: str) -> str:
    """Return *key* as it would be without an input method for Chinese and without Shift."""
    if key.startswith(typed_keys.ESCAPE):  # Alt-Enter is no Escape
        return key
    return unicodedata.normalize("NFKC", key).strip("\r\n ").lower()


@contextmanager
def _left_on(stop: Stop, session: PromptSession[str]) -> Iterator[Callable[[], None]]:
    """Leave the prompt of *session* on *stop*; yield what does so for a stop before it began."""
    app = session.app

    def leave() -> None:
        if app.is_running and not app.is_done:
            app.exit(exception=KeyboardInterrupt)

    def leave_from_thread() -> None:
        if app.is_running and app.loop:
            app.loop.call_soon_threadsafe(leave)

    with stop.on_stop(leave_from_thread):
        yield lambda: leave() if stop.is_set() else None


class KeyboardApprover:
    """The person at the terminal *descriptor*; what they type too early goes to *typed_ahead*."""

    def __init__(
        self, descriptor: int, stop: Stop, translator: Translator, typed_ahead: keyboard.TypedAhead
    ) -> None:
        self._descriptor = descriptor
        self._stop = stop
        self._translator = translator
        self._typed_ahead = typed_ahead
        self._early_keys = ""

    def wait_until_idle(self) -> None:
        self._typed_ahead.wait_for_pause(self._descriptor, self._stop)

    def read_key(self) -> str | None:
        key = keyboard.read_key(self._descriptor, self._stop)
        show_output = self._typed_ahead.keys().show_output
        if key in (show_output, typed_keys.CTRL_O):
            return typed_keys.CTRL_O if key == show_output else ""
        if key and key.startswith(typed_keys.ESCAPE) and not key[1:].startswith(("[", "O", "\r")):
            key, self._early_keys = key[:1], key[1:]  # what follows at once is no part of that key
        return key

    @property
    def has_draft(self) -> bool:
        return bool(self._typed_ahead.draft)

    def keep_typed(self, typed: str) -> None:
        self._typed_ahead.add(typed.encode(), came_at_once=True)
        if not self._typed_ahead.is_erased:
            self.wait_until_idle()

    def ask_reason(self) -> str | None:
        reason = self._prompt(phrase("Why not? (Enter: no reason)"), "")
        return None if reason is None and self._stop.is_set() else (reason or "").strip()

    def ask_answer(self, typed: str) -> str:
        self._early_keys = typed + self._early_keys
        return self._prompt(phrase("Your answer"), "") or ""

    def edit(self, label: Phrase, text: str, *, takes_unchanged: bool = False) -> str | None:
        changed = self._prompt(label, text)
        return None if changed == text and not takes_unchanged else changed

    def _prompt(self, label: Phrase, text: str) -> str | None:
        """Return what was typed in the place of *text*; None when the person went back."""
        from prompt_toolkit import PromptSession

        from modules.cli.input.line_keys import line_key_bindings
        from modules.cli.input.prompt import create_terminal_output, preloaded

        def leave(event: KeyPressEvent) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        keys = line_key_bindings(leave, self._typed_ahead.show_all, shortcuts={})
        keys.add("escape")(leave)
        early_keys, self._early_keys = self._early_keys.encode(), ""
        try:
            session: PromptSession[str] = PromptSession(output=create_terminal_output())
            with wakeup_fd_released(), preloaded(early_keys), _left_on(self._stop, session) as look:
                return session.prompt(
                    f"  {self._translator.render(label)} › ",
                    default=text,
                    multiline=True,
                    key_bindings=keys,
                    prompt_continuation="    ",
                    enable_open_in_editor=True,
                    enable_suspend=True,
                    pre_run=look,
                )
        except (EOFError, KeyboardInterrupt):
            return None

    def stop(self) -> None:
        self._stop.set()

    def suspend(self) -> None:
        os.kill(0, signal.SIGTSTP)  # as the terminal does: all that the shell started together
