"""Calls for the attention of a person who waits elsewhere: bell, desktop notification and title.

Each is a sequence of the terminal's that shows nothing in the window and moves no cursor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Literal

from core.events import ApprovalAsked, Event, TurnFinished, TurnStarted
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

Notify = Literal["off", "bell", "desktop"]
BELL = "\a"
KEEP_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
MAX_NAME = 60
"""Characters of the project's name that a title and a notification have."""
OFF = phrase("notify is off. Set it first: /settings notify bell")
_OSC_9 = ("iTerm.app", "WezTerm", "ghostty", "WarpTerminal")
"""What TERM_PROGRAM is in terminals that take a notification as `OSC 9 ; TEXT`."""


class Attention:
    """Tells by *write* what a turn comes to; *environment* says which terminal it is.

    A bell or a notification is for who has pressed no key for *seconds*; titles are set at once.
    """

    def __init__(
        self,
        translator: Translator,
        project: str,
        environment: Mapping[str, str],
        *,
        notify: Notify,
        sets_title: bool,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._translator = translator
        self._project = visible(project).replace(";", ",")[:MAX_NAME]
        self._environment = environment
        self._notify = notify
        self._sets_title = sets_title
        self._seconds = seconds
        self._clock = clock
        self._seen_at = clock()

    def before(self, event: Event, key_at: float) -> str:
        """Return what to send before *event* is shown; the last key was pressed at *key_at*."""
        name = self._project
        match event:
            case TurnStarted():
                self.note_seen()
                return self._title("…")
            case ApprovalAsked():
                told = self._tell(phrase("{project}: a question is waiting", project=name), key_at)
                return self._title("?") + told
            case TurnFinished(why="done"):
                told = self._tell(phrase("{project}: the task is done", project=name), key_at)
                return self._title("✓") + told
            case TurnFinished(why="stopped" | "interrupted"):  # the person did that, and is there
                return self._title("■")
            case TurnFinished():
                told = self._tell(phrase("{project}: the task ended early", project=name), key_at)
                return self._title("✗") + told
            case _:
                return ""

    def note_seen(self) -> None:
        """Take note that the person is here now."""
        self._seen_at = self._clock()

    def try_out(self) -> tuple[str, Phrase]:
        """Return what to send to notify the person right now, and how that is done."""
        if self._notify == "off":
            return "", OFF
        rung = phrase("Rang the terminal's bell.")
        if self._notify == "bell":
            return BELL, rung
        sequence = self._notification(
            self._translator.render(phrase("{project}: a test", project=self._project))
        )
        if sequence == BELL:
            return BELL, phrase(
                "This terminal is not known to show notifications: rang its bell instead."
            )
        return sequence, phrase("Sent a notification to the terminal.")

    def begin(self) -> str:
        """Return what to send before all else: the terminal keeps the title that it has."""
        return KEEP_TITLE + self._title("›") if self._sets_title else ""

    def end(self) -> str:
        """Return what to send at the end: the terminal has its title again."""
        return RESTORE_TITLE if self._sets_title else ""

    def _title(self, mark: str) -> str:
        return f"\x1b]2;{mark} {self._project} · Onefold{BELL}" if self._sets_title else ""

    def _tell(self, what: Phrase, key_at: float) -> str:
        is_away = self._clock() - max(self._seen_at, key_at) >= self._seconds
        if self._notify == "off" or not is_away:
            return ""
        return BELL if self._notify == "bell" else self._notification(self._translator.render(what))

    def _notification(self, text: str) -> str:
        """Return the terminal's own notification of *text*; a bell where it is known to have none.

        In tmux what is meant for the terminal goes through it where `allow-passthrough` says so;
        a bell reaches tmux itself in any case.
        """
        environment = self._environment
        is_osc_9 = environment.get("TERM_PROGRAM") in _OSC_9 or bool(
            {"KITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR", "WEZTERM_PANE", "ITERM_SESSION_ID"}
            & environment.keys()
        )
        is_osc_777 = "VTE_VERSION" in environment or environment.get("TERM", "").startswith(
            ("foot", "rxvt")
        )
        if is_osc_9:
            sequence = f"\x1b]9;{text}{BELL}"
        elif is_osc_777:
            sequence = f"\x1b]777;notify;Onefold;{text}{BELL}"
        else:
            return BELL
        if "TMUX" not in environment:
            return sequence
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\" + BELL
