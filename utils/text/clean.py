"""Foreign text made harmless: what a file, a program or a model wrote cannot drive a terminal.

Sources of the sequences: ECMA-48 (control functions), the Unicode bidirectional algorithm (UAX 9).
"""

from __future__ import annotations

import re

# A sequence never reaches over the end of a line, so that an unfinished one cannot hide what
# follows it: there only the introducer is dropped, by _CONTROL.
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\n\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC …
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement, modes
    r"|\x1b[ -/]*[0-~]"  # all other escapes
)
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n])", re.MULTILINE)
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    r"|[\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff]"  # invisible, or turns the direction
    r"|[\u202a-\u202e\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Printable by Unicode's rules, and yet nothing to be seen: fillers, and selectors in a row, in
# which any text can be hidden.
_UNSEEN = re.compile(
    "[\u115f\u1160\u2800\u3164\uffa0\U000e0100-\U000e01ef]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_LINE_BREAK = re.compile(r"(?<!\r)\r+\n|[\u2028\u2029]")


def clean(text: str) -> str:
    """Return *text* as it may be shown on a terminal.

    Escape sequences and control characters are gone (newline and tab stay), and so is what is
    invisible or turns the direction of reading. Of a line that a program wrote over, as progress
    bars do, the last state stays. What is left can be encoded in UTF-8.
    """
    if text.isprintable():  # then nothing of the above is in it
        return text
    text = _SEQUENCE.sub("", _LINE_BREAK.sub("\n", text))
    text = _OVERSTRUCK.sub("", _OVERWRITTEN.sub("", text))
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def visible(name: str) -> str:
    """Return *name* on one line, with everything unprintable in it as a backslash escape."""
    if name.isprintable():
        return name
    return "".join(char if _is_shown(char) else _escaped(char) for char in name)


def visible_lines(text: str) -> str:
    """Return *text* to be judged by a reader: line by line, with nothing in it left out."""
    return "\n".join(visible(line.removesuffix("\r").expandtabs(4)) for line in text.split("\n"))


def visible_text(text: str) -> str:
    """Return *text* as `visible_lines` does, with what is printable and yet not seen escaped."""
    return _UNSEEN.sub(lambda found: f"\\U{ord(found[0]):08x}", visible_lines(text))


def _is_shown(char: str) -> bool:
    return char.isprintable() or char == "\u3000"  # the space of Chinese text


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
