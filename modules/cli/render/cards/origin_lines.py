"""Where lines come from, in lines of plain text. Imports no screen library."""

from __future__ import annotations

import time
from collections.abc import Iterator

from core.cards import LineOrigin, LineReceipt, OriginsCard
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import visible

_MAX_RANGES = 6
_MAX_ASKED = 300  # characters
_MAX_COMMAND = 60  # characters
_INDENT = "    "
WRITERS: dict[str, Text] = {
    "person": phrase("you, in Onefold"),
    "others": phrase("someone else, while no call was running"),
    "before": phrase("older than the first saved state"),
    "unknown": phrase("unknown: a state in between is no longer kept"),
}


def origin_lines(card: OriginsCard, translator: Translator) -> Iterator[str]:
    """Yield the lines of *card*, those that say more of an origin moved to the right."""
    yield visible(title(card))
    if card.line:
        yield f"{_INDENT}{visible(card.line.strip())}"
    for origin in card.origins:
        lines = f"{ranges_text(origin)}  " if len(card.origins) > 1 and origin.ranges else ""
        yield f"{lines}{translator.render(who(origin))}"
        yield from (f"{_INDENT}{translator.render(text)}" for text in details(origin))
    if card.note:
        yield translator.render(card.note)


def title(card: OriginsCard) -> str:
    """Return the file of *card*, with the lines that it is about where these are not all."""
    if not card.start:
        return card.path
    last = "" if card.start == card.end else f"-{card.end}"
    return f"{card.path}:{card.start}{last}"


def ranges_text(origin: LineOrigin) -> str:
    """Return the lines of *origin* as people write them: 3, 10-20 …"""
    runs = [str(a) if a == b else f"{a}-{b}" for a, b in origin.ranges[:_MAX_RANGES]]
    return ", ".join(runs) + (" …" if len(origin.ranges) > _MAX_RANGES else "")


def who(origin: LineOrigin) -> Text:
    """Return who wrote the lines of *origin*, and when."""
    if origin.writer == "call":
        about = visible(origin.about)
        name: Text = (
            phrase("{verb} {about}", verb=origin.verb, about=about) if about else origin.verb
        )
        where: Text = phrase("{call} · turn {turn}", call=name, turn=origin.turn)
    else:
        where = WRITERS[origin.writer]
    if not origin.when or origin.writer in ("before", "unknown"):
        return where
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(origin.when))
    return phrase("{who} · {when}", who=where, when=when)


def details(origin: LineOrigin) -> Iterator[Text]:
    """Yield the words that asked for a call, its session and its receipts, a line each."""
    if origin.writer != "call":
        return
    asked = visible(" ".join(origin.asked.split()))
    if asked:
        shown = asked if len(asked) <= _MAX_ASKED else f"{asked[:_MAX_ASKED]} …"
        yield phrase("asked: {words}", words=shown)
    if origin.title or origin.asked:
        yield phrase("session: {title}", title=visible(origin.title) or origin.session)
    else:
        yield phrase("session {id}: no longer kept", id=origin.session)
    for receipt in origin.receipts:
        yield receipt_text(receipt)


def receipt_text(receipt: LineReceipt) -> Text:
    command = visible(" ".join(receipt.command.split()))
    shown = command if len(command) <= _MAX_COMMAND else f"{command[:_MAX_COMMAND]}…"
    return phrase("receipt: {command} {said}", command=shown, said=receipt.said)
