"""The first lines of a dialogue. Drawn without rich, which need not be loaded to see a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_toolkit import print_formatted_text
from prompt_toolkit.formatted_text import FormattedText

from core.main_terminal import MainTerminal
from modules.words import Words
from utils.clean import clean, visible
from utils.phrases import Text, phrase


def greet(terminal: MainTerminal, words: Words, header: Sequence[Text] = ()) -> None:
    """Say where we are and how to go on, then the lines of *header*."""
    mode = phrase("thinks once") if terminal.mode == "think" else phrase("fast")
    facts = f" · {terminal.model.model} · {words.say(mode)}"
    lines: list[tuple[str, str]] = [
        ("bold ansicyan", "Onefold"),
        ("bold", f"  {visible(terminal.project)}"),
        ("ansibrightblack", clean(facts)),
    ]
    if terminal.is_practice:
        practice = phrase("practice model, no AI")
        lines += [("ansibrightblack", " · "), ("ansiyellow", words.say(practice))]
    keys = phrase("/help lists the commands · @ names a file · Ctrl-C stops, twice leaves")
    for text in (*header, keys):
        lines += [("", "\n"), ("ansibrightblack", clean(words.say(text)))]
    print_formatted_text(FormattedText(lines), end="\n\n")
