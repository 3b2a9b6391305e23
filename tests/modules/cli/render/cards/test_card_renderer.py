"""Cards in the language of the person."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType

from core.cards import MACHINE_PLACE, RunCard, TextCard
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.theme import MARKS, THEME
from modules.translator import Translator
from utils.i18n import phrase

TRANSLATOR = Translator.of("zh")
CHINESE = CardRenderer(TRANSLATOR)


def drawn(what: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=80, theme=THEME, no_color=True, highlight=False).print(what)
    return out.getvalue()


def test_what_is_asked_about_is_said_in_chinese() -> None:
    card = TextCard(phrase("Jobs"), phrase("No background jobs."))
    body, is_cut = CHINESE.draft(card, 12, width=80)
    assert not is_cut
    assert TRANSLATOR.render(card.body) in drawn(body)
    assert str(card.body) not in drawn(body)


def test_of_a_machine_of_the_agents_own_a_run_says_shortly_that_there_is_no_sandbox() -> None:
    card = RunCard("bash", "ls", "", 0, "", 0.0, MACHINE_PLACE)
    head = CHINESE.head("run_command", {"command": "ls"}, mark=MARKS["done"], card=card)
    assert drawn(head).rstrip().endswith("· 无沙箱")
