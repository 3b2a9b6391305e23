"""Secrets on the page: a person's browser sees their names, and what it saves has their values."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from modules.files.text_file import NotEncodable, NotExact, NotText, TextFile
from modules.secrets import Secrets

Part = tuple[str, str]
"""A part of a text as it may be seen, and as it is."""


class Veil:
    """Hides what *secrets* knows from the page. May be used from several threads."""

    def __init__(self, secrets: Secrets | None) -> None:
        self._secrets = secrets
        self._lock = threading.Lock()

    def look(self) -> None:
        """Take note of what is in the project's files right now."""
        if self._secrets:
            with self._lock:
                self._secrets.look()

    def hidden(self, text: str) -> str:
        """Return *text* as it may be seen, by what the last `look` has found."""
        return "".join(seen for seen, _ in self._parts(text))

    def hidden_bytes(self, data: bytes) -> bytes:
        """Return the *data* of a file as it may leave; what is no text is left as it is."""
        try:
            file = TextFile.decode(data)
            text = self.hidden(file.text)
            return data if text == file.text else file.encode(text)
        except (NotText, NotExact):
            return data
        except NotEncodable:  # an encoding without « and »
            return text.encode()

    def restored(self, text: str, before: str) -> str:
        """Return *text*, which was made of *before* as it was seen, with the values back.

        A name that stands where it stood is again what it hid there, to the letter; any other one
        becomes the value that it stands for.
        """
        old = self._parts(before)
        if not any(map(_is_name, (seen for seen, _ in old))) and "«SECRET:" not in text:
            return text
        return "".join(self._put_back(old, self._parts(text)))

    def _put_back(self, old: list[Part], new: list[Part]) -> Iterator[str]:
        old_lines, new_lines = list(_lines(old)), list(_lines(new))
        matcher = SequenceMatcher(None, _seen(old_lines), _seen(new_lines), autojunk=False)
        for kind, old_start, old_end, start, end in matcher.get_opcodes():
            if kind == "equal":
                for before, after in zip(
                    old_lines[old_start:old_end], new_lines[start:end], strict=True
                ):
                    yield from map(_kept, before, after)
                continue
            known = _values([part for line in old_lines[old_start:old_end] for part in line])
            for line in new_lines[start:end]:
                yield from (self._real(part, known) for part in line)

    def _real(self, part: Part, known: dict[str, list[str]]) -> str:
        seen, real = part
        if not _is_name(seen) or seen != real:  # the latter is a value that the person typed
            return real
        return known[seen].pop(0) if known[seen] else self._value(seen)

    def _value(self, name: str) -> str:
        with self._lock:
            return self._secrets.value(name) if self._secrets else name

    def _parts(self, text: str) -> list[Part]:
        with self._lock:
            return self._secrets.pieces(text) if self._secrets else [(text, text)]


def _kept(before: Part, after: Part) -> str:
    """Return what a part is that looks as before: what it hid, unless the person typed a value."""
    return before[1] if after[0] == after[1] else after[1]


def _is_name(seen: str) -> bool:
    return seen.startswith("«SECRET:")


def _lines(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield *parts* line by line; a hidden value of several lines is within one."""
    line: list[Part] = []
    for part in parts:
        line.append(part)
        if part[0] == "\n":
            yield line
            line = []
    if line:
        yield line


def _seen(lines: Iterable[list[Part]]) -> list[str]:
    return ["".join(seen for seen, _ in line) for line in lines]


def _values(parts: Iterable[Part]) -> dict[str, list[str]]:
    """Return what each name in *parts* hides, in the order it stands there."""
    values: dict[str, list[str]] = defaultdict(list)
    for seen, real in parts:
        if _is_name(seen):
            values[seen].append(real)
    return values
