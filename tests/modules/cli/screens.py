"""A terminal screen with captured output, and an asker with scripted keys."""

from dataclasses import dataclass, field
from io import StringIO

from rich.console import Console

from core.events import Event
from modules.cli.render.cards.call_titles import CallTitles
from modules.cli.render.screen import CliScreen
from modules.cli.render.theme import THEME
from modules.translator import Translator
from tests.declared_tools import SPECS
from utils.i18n import Phrase

ENGLISH = Translator("en", {})


@dataclass
class ScriptedAsker:
    """Presses the keys prepared, and says why not."""

    keys: list[str | None]
    denial_reason: str = ""
    stopped: list[bool] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    has_draft: bool = False

    def keep_typed(self, typed: str) -> None:
        self.kept.append(typed)

    def edit(self, label: Phrase, text: str, *, takes_unchanged: bool = False) -> str | None:
        self.edited.append(text)
        return self.texts.pop(0)

    def wait_until_idle(self) -> None:
        """Nothing was typed."""

    def read_key(self) -> str | None:
        return self.keys.pop(0)

    def ask_reason(self) -> str | None:
        return self.denial_reason

    def ask_answer(self, typed: str) -> str:
        return typed + (self.texts.pop(0) or "")

    def stop(self) -> None:
        self.stopped.append(True)

    def suspend(self) -> None:
        """There is no shell."""


def make_screen(
    *,
    terminal: bool = False,
    person: ScriptedAsker | None = None,
    practice: bool = False,
    translator: Translator = ENGLISH,
) -> tuple[CliScreen, StringIO]:
    """Return a screen that moves no cursor, and what it writes."""
    out = StringIO()
    console = Console(
        file=out, width=60, theme=THEME, force_terminal=terminal, no_color=True, highlight=False
    )
    titles = CallTitles(SPECS)
    return CliScreen(
        console, translator, titles, approver=person, is_practice=lambda: practice
    ), out


def rendered(*events: Event, practice: bool = False) -> str:
    screen, out = make_screen(practice=practice)
    with screen.turn():
        for event in events:
            screen.show(event)
    return out.getvalue()
