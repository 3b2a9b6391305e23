"""Keys typed at a terminal, from the text that stands for them: "yes<Enter>", "<C-c>", "<Up>"."""

from __future__ import annotations

import re

_KEY = re.compile(r"<([^<>\s]{1,12})>")
_CONTROL = re.compile(r"[Cc]-([@-_a-z])")
_META = re.compile(r"[MmAa]-([!-~])")
_ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D"}
_KEYS = {
    "enter": "\r", "return": "\r", "cr": "\r", "tab": "\t", "s-tab": "\x1b[Z", "esc": "\x1b",
    "escape": "\x1b", "space": " ", "lt": "<", "backspace": "\x7f", "bs": "\x7f",
    "delete": "\x1b[3~", "del": "\x1b[3~", "insert": "\x1b[2~", "home": "\x1b[1~",
    "end": "\x1b[4~", "pageup": "\x1b[5~", "pagedown": "\x1b[6~",
    "f1": "\x1b[[A", "f2": "\x1b[[B", "f3": "\x1b[[C", "f4": "\x1b[[D", "f5": "\x1b[[E",
    "f6": "\x1b[17~", "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~",
    "f11": "\x1b[23~", "f12": "\x1b[24~",
}  # fmt: skip
"""What each key sends, by its name in small letters: those of the terminal "linux" of terminfo."""


def typed(text: str, *, has_application_keys: bool = False) -> bytes:
    """Return the bytes that a terminal sends when *text* is typed, keys in it by name.

    A line end is the Enter key; "<lt>" is "<", and a name that is no key is typed as it stands.
    A program that asked for *application keys* gets its arrows otherwise.
    """

    def key(match: re.Match[str]) -> str:
        name = match[1]
        if control := _CONTROL.fullmatch(name):
            return chr(ord(control[1].upper()) & 0x1F)
        if meta := _META.fullmatch(name):
            return f"\x1b{meta[1]}"
        if arrow := _ARROWS.get(name.lower()):
            return f"\x1b{'O' if has_application_keys else '['}{arrow}"
        return _KEYS.get(name.lower(), match[0])

    lines = text.replace("\r\n", "\n").replace("\n", "\r")
    return _KEY.sub(key, lines).encode(errors="replace")
