"""Secrets on the page: a person's browser sees their names, and what it saves has their values."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from modules.files.editing.text_file import NotEncodable, NotExact, NotText, TextFile
from modules.secrets.redactor import NAME_START, Secrets
from utils.text.line_diff import LineChange, differing, line_changes

Part = tuple[str, str]
"""A part of a text as it may be seen, and as it is."""
EVERY = 2.0
"""Seconds between two looks for secrets where no file is read or written."""
MANY_LINES = 1_000
"""Differing lines from which on frequent ones are not compared with each other."""
MOST_LINES = 40_000
"""Differing lines that are compared at all; in more a name takes its values by their order."""
LARGEST = 4_000_000
"""Pairs of characters that are compared for the names in a block of lines."""


class PageRedactor:
    """Hides what *secrets* knows from the page. May be used from several threads."""

    def __init__(self, secrets: Secrets | None) -> None:
        self._secrets = secrets
        self._lock = threading.Lock()
        self._looked = float("-inf")

    @property
    def known(self) -> int:
        """How many values are hidden."""
        return self._secrets.known if self._secrets else 0

    def look(self) -> None:
        """Take note of what is in the project's files right now."""
        if self._secrets:
            with self._lock:
                self._secrets.look()
                self._looked = time.monotonic()

    def glance(self) -> None:
        """Take note of what is in the project's files, if that was not done just now."""
        if time.monotonic() - self._looked >= EVERY:
            self.look()

    def hidden(self, text: str) -> str:
        """Return *text* as it may be seen, by what the last `look` has found."""
        return "".join(seen for seen, _ in self._parts(text))

    def hidden_between(self, before: str, text: str, after: str) -> str:
        """Return *text* as it may be seen where it stands between *before* and *after*.

        What is hidden and reaches over an end shows where it begins.
        """
        at, start, end = 0, len(before), len(before) + len(text)
        shown = []
        for seen, real in self._parts(before + text + after):
            if seen == real:
                shown.append(real[max(0, start - at) : max(0, end - at)])
            elif start <= at < end:
                shown.append(seen)
            at += len(real)
        return "".join(shown)

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
        if not any(map(_is_name, (seen for seen, _ in old))) and NAME_START not in text:
            return text
        return "".join(self._put_back(old, self._parts(text)))

    def _put_back(self, old: list[Part], new: list[Part]) -> Iterator[str]:
        old_lines, new_lines = list(_lines(old)), list(_lines(new))
        for is_equal, was, now in _blocks(old_lines, new_lines):
            if is_equal and not any(map(_is_typed, now)):
                yield from (real for _, real in was)
            else:
                yield from self._real(was, now)

    def _real(self, was: list[Part], now: list[Part]) -> Iterator[str]:
        """Yield the parts of what is *now* where *was* stood, each name as what it hid there."""
        old, new = (was, now) if _is_large(was, now) else (_tokens(was), _tokens(now))
        left: dict[str, list[str]] = defaultdict(list)
        known: dict[int, str] = {}
        places = _pairs(old, new)
        for place, (seen, real) in enumerate(old):
            if place in places:
                known[places[place]] = real
            elif _is_name(seen):
                left[seen].append(real)
        for place, (seen, real) in enumerate(new):
            if not _is_name(seen) or seen != real:  # the latter is a value that the person typed
                yield real
            elif place in known:
                yield known[place]
            else:
                yield left[seen].pop(0) if left[seen] else self._value(seen)

    def _value(self, name: str) -> str:
        with self._lock:
            return self._secrets.value(name) if self._secrets else name

    def _parts(self, text: str) -> list[Part]:
        with self._lock:
            return self._secrets.pieces(text) if self._secrets else [(text, text)]


def _is_typed(part: Part) -> bool:
    """Return whether the person wrote a value where a name would show."""
    return part[0] != part[1]


def _is_name(seen: str) -> bool:
    return seen.startswith(NAME_START)


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


def _blocks(
    old: list[list[Part]], new: list[list[Part]]
) -> Iterator[tuple[bool, list[Part], list[Part]]]:
    """Yield lines that look as they did one by one, and others by the block: is it so, old, new."""
    at = new_at = 0
    for change in _changes(_seen(old), _seen(new)):
        pairs = zip(old[at : change.start], new[new_at : change.new_start], strict=True)
        yield from ((True, *pair) for pair in pairs)
        before, after = old[change.start : change.end], new[change.new_start : change.new_end]
        yield False, list(chain.from_iterable(before)), list(chain.from_iterable(after))
        at, new_at = change.end, change.new_end
    yield from ((True, *pair) for pair in zip(old[at:], new[new_at:], strict=True))


def _changes(was: list[str], now: list[str]) -> list[LineChange]:
    """Return how *was* became *now*; roughly if it is long."""
    changes = line_changes(was, now, most=MOST_LINES, exact_up_to=MANY_LINES)
    return [differing(was, now)] if changes is None else changes


def _is_large(was: list[Part], now: list[Part]) -> bool:
    """Return whether there is too much to compare it by the character."""
    was_size, size = (sum(len(seen) for seen, _ in parts) for parts in (was, now))
    return was_size * size > LARGEST


def _tokens(parts: list[Part]) -> list[Part]:
    """Return *parts* with names in one piece, and what is beside them by the character."""
    tokens: list[Part] = []
    for part in parts:
        tokens += [part] if _is_name(part[0]) else zip(*part, strict=True)
    return tokens


def _pairs(old: list[Part], new: list[Part]) -> dict[int, int]:
    """Return which name of *new*, by its place, is which one of *old*."""
    was, now = [seen for seen, _ in old], [seen for seen, _ in new]
    if not any(map(_is_name, was)) or _is_large(old, new):
        return {}
    from difflib import SequenceMatcher  # 9 ms: only when there are names in it

    matcher = SequenceMatcher(None, was, now, autojunk=False)
    return {
        a + n: b + n
        for a, b, size in matcher.get_matching_blocks()
        for n in range(size)
        if _is_name(was[a + n])
    }


def _seen(lines: Iterable[list[Part]]) -> list[str]:
    return ["".join(seen for seen, _ in line) for line in lines]
