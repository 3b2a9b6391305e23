"""The questions before there is a screen: one line each, in the language of the person."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.system.interrupts import raising_keyboard_interrupt


def is_interactive() -> bool:
    """Return whether a person sits at this terminal who sees what they type."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_text(
    translator: Translator, question: Phrase, *, default: str = "", is_hidden: bool = False
) -> str:
    """Return the answer, *default* where it is empty; without a default it is asked again.

    Raises `KeyboardInterrupt` at Ctrl-C and where the input ends.
    """
    try:
        with raising_keyboard_interrupt():
            answer: str = click.prompt(
                translator.render(question), default=default or None, hide_input=is_hidden
            )
    except click.Abort:
        click.echo()
        raise KeyboardInterrupt from None
    return answer.strip()


def ask_choice(
    translator: Translator, question: Phrase, choices: Sequence[str], default: str
) -> str:
    """Return one of *choices*; how it begins is enough, and so is its number."""
    label = phrase("{what} ({choices})", what=question, choices=", ".join(choices))
    while True:
        answer = ask_text(translator, label, default=default).lower()
        for number, choice in enumerate(choices, start=1):
            if answer == str(number) or (answer and choice.startswith(answer)):
                return choice
        click.echo(
            translator.render(phrase("Choose one of {choices}.", choices=", ".join(choices)))
        )


def ask_yes_no(translator: Translator, question: Phrase) -> bool:
    """Return whether the answer is yes; anything else is no."""
    label = phrase("{what} (y, n)", what=question)
    return ask_text(translator, label, default="n").lower() in {"y", "yes", "是"}
