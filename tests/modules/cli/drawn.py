"""A terminal screen whose output is kept, and a person whose keys are prepared."""

from dataclasses import dataclass, field
from io import StringIO

from rich.console import Console

from core.events import Event
from modules.cli.render.call_titles import CallTitles
from modules.cli.render.screen import CliScreen
from modules.cli.render.theme import THEME
from modules.translator import Translator
from tests.declared_tools import SPECS
from utils.i18n import Phrase

ENGLISH = Translator("en", {})


@dataclass
class Person:
    """Presses the keys prepared, and says why not."""

    keys: list[str | None]
    why: str = ""
    stopped: list[bool] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    has_draft: bool = False

    def keep(self, typed: str) -> None:
        self.kept.append(typed)

    def edit(self, label: Phrase, text: str) -> str | None:
        self.edited.append(text)
        return self.texts.pop(0)

    def settle(self) -> None:
        """Nothing was typed."""

    def key(self) -> str | None:
        return self.keys.pop(0)

    def reason(self) -> str:
        return self.why

    def stop(self) -> None:
        self.stopped.append(True)

    def suspend(self) -> None:
        """There is no shell."""


def make(
    *, terminal: bool = False, person: Person | None = None, practice: bool = False
) -> tuple[CliScreen, StringIO]:
    """Return a screen that moves no cursor, and what it writes."""
    out = StringIO()
    console = Console(
        file=out, width=60, theme=THEME, force_terminal=terminal, no_color=True, highlight=False
    )
    titles = CallTitles(SPECS)
    return CliScreen(console, ENGLISH, titles, asker=person, is_practice=lambda: practice), out


def shown(*events: Event, practice: bool = False) -> str:
    screen, out = make(practice=practice)
    with screen.turn():
        for event in events:
            screen.show(event)
    return out.getvalue()
