"""Cards in the language of the person."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType

from core.cards import TextCard
from modules.cli.render.card_renderer import CardRenderer
from modules.cli.render.theme import THEME
from modules.translator import Translator
from utils.i18n import phrase

TRANSLATOR = Translator.of("zh")
CHINESE = CardRenderer(TRANSLATOR)


def drawn(what: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=80, theme=THEME, no_color=True, highlight=False).print(what)
    return out.getvalue()


def test_what_is_asked_about_is_said_in_chinese() -> None:
    card = TextCard(phrase("Jobs"), phrase("Nothing runs in the background."))
    body, is_cut = CHINESE.draft(card, 12, width=80)
    assert not is_cut
    assert TRANSLATOR.render(card.body) in drawn(body)
    assert str(card.body) not in drawn(body)
