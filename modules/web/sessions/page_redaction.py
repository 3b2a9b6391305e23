"""Redaction for the page: a browser sees placeholders; files that it saves have the values."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from modules.files.editing.text_file import NotEncodable, NotRoundTrip, NotText, TextFile
from modules.secrets.redactor import NAME_START, Secrets
from utils.text.line_diff import LineChange, differing, line_changes

Segment = tuple[str, str]
"""A part of a text: redacted, and original."""
REFRESH_SECONDS = 2.0
"""Seconds between two refreshes where no file is read or written."""
AUTOJUNK_LINES = 1_000
"""Differing lines from which on frequent ones are not compared with each other."""
MAX_DIFF_LINES = 40_000
"""Differing lines that are compared at all; in more a name takes its values by their order."""
MAX_CHAR_PAIRS = 4_000_000
"""Pairs of characters that are compared for the names in a block of lines."""


class PageRedactor:
    """Redacts the values that *secrets* knows. May be used from several threads."""

    def __init__(self, secrets: Secrets | None) -> None:
        self._secrets = secrets
        self._lock = threading.Lock()
        self._last_refresh = float("-inf")

    @property
    def secret_count(self) -> int:
        """Number of values that are redacted."""
        return self._secrets.known_count if self._secrets else 0

    def refresh(self) -> None:
        """Read the secrets in the project's files right now."""
        if self._secrets:
            with self._lock:
                self._secrets.refresh()
                self._last_refresh = time.monotonic()

    def refresh_if_stale(self) -> None:
        """Read the secrets in the project's files, if that was not done just now."""
        if time.monotonic() - self._last_refresh >= REFRESH_SECONDS:
            self.refresh()

    def redact(self, text: str) -> str:
        """Return *text* redacted, by the secrets of the last `refresh`."""
        return "".join(redacted for redacted, _ in self._segments(text))

    def redact_between(self, before: str, text: str, after: str) -> str:
        """Return *text* redacted where it stands between *before* and *after*.

        A placeholder that reaches over an end shows where it begins.
        """
        offset, start, end = 0, len(before), len(before) + len(text)
        shown = []
        for redacted, original in self._segments(before + text + after):
            if redacted == original:
                shown.append(original[max(0, start - offset) : max(0, end - offset)])
            elif start <= offset < end:
                shown.append(redacted)
            offset += len(original)
        return "".join(shown)

    def redact_bytes(self, data: bytes) -> bytes:
        """Return the *data* of a file redacted; what is no text is left as it is."""
        try:
            file = TextFile.decode(data)
            text = self.redact(file.text)
            return data if text == file.text else file.encode(text)
        except (NotText, NotRoundTrip):
            return data
        except NotEncodable:  # an encoding without « and »
            return text.encode()

    def restore(self, text: str, before: str) -> str:
        """Return *text*, an edit of the redacted *before*, with the values back.

        A name that stands where it stood is again what it hid there, to the letter; any other one
        becomes the value that it stands for.
        """
        old = self._segments(before)
        if (
            not any(map(_is_placeholder, (redacted for redacted, _ in old)))
            and NAME_START not in text
        ):
            return text
        return "".join(self._restored_segments(old, self._segments(text)))

    def _restored_segments(self, old: list[Segment], new: list[Segment]) -> Iterator[str]:
        old_lines, new_lines = list(_segment_lines(old)), list(_segment_lines(new))
        for is_equal, was, now in _diff_blocks(old_lines, new_lines):
            if is_equal and not any(map(_is_typed_secret, now)):
                yield from (original for _, original in was)
            else:
                yield from self._restored_block(was, now)

    def _restored_block(self, was: list[Segment], now: list[Segment]) -> Iterator[str]:
        """Yield the parts of what is *now* where *was* stood, each name as what it hid there."""
        old, new = (was, now) if _is_too_large(was, now) else (_tokens(was), _tokens(now))
        unmatched: dict[str, list[str]] = defaultdict(list)
        matched: dict[int, str] = {}
        pairs = _matching_placeholders(old, new)
        for index, (redacted, original) in enumerate(old):
            if index in pairs:
                matched[pairs[index]] = original
            elif _is_placeholder(redacted):
                unmatched[redacted].append(original)
        for index, (redacted, original) in enumerate(new):
            if (
                not _is_placeholder(redacted) or redacted != original
            ):  # the latter is a value that the person typed
                yield original
            elif index in matched:
                yield matched[index]
            else:
                yield unmatched[redacted].pop(0) if unmatched[redacted] else self._value(redacted)

    def _value(self, name: str) -> str:
        with self._lock:
            return self._secrets.value(name) if self._secrets else name

    def _segments(self, text: str) -> list[Segment]:
        with self._lock:
            return self._secrets.segments(text) if self._secrets else [(text, text)]


def _is_typed_secret(segment: Segment) -> bool:
    """Return whether the person wrote a value where a name would show."""
    return segment[0] != segment[1]


def _is_placeholder(redacted: str) -> bool:
    return redacted.startswith(NAME_START)


def _segment_lines(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    """Yield *segments* line by line; a hidden value of several lines is within one."""
    line: list[Segment] = []
    for segment in segments:
        line.append(segment)
        if segment[0] == "\n":
            yield line
            line = []
    if line:
        yield line


def _diff_blocks(
    old: list[list[Segment]], new: list[list[Segment]]
) -> Iterator[tuple[bool, list[Segment], list[Segment]]]:
    """Yield lines that look as they did one by one, and others by the block: is it so, old, new."""
    index = new_at = 0
    for change in _opcodes(_redacted_lines(old), _redacted_lines(new)):
        pairs = zip(old[index : change.start], new[new_at : change.new_start], strict=True)
        yield from ((True, *pair) for pair in pairs)
        before, after = old[change.start : change.end], new[change.new_start : change.new_end]
        yield False, list(chain.from_iterable(before)), list(chain.from_iterable(after))
        index, new_at = change.end, change.new_end
    yield from ((True, *pair) for pair in zip(old[index:], new[new_at:], strict=True))


def _opcodes(old_lines: list[str], new_lines: list[str]) -> list[LineChange]:
    """Return how *old_lines* became *new_lines*; roughly if it is long."""
    changes = line_changes(old_lines, new_lines, most=MAX_DIFF_LINES, exact_up_to=AUTOJUNK_LINES)
    return [differing(old_lines, new_lines)] if changes is None else changes


def _is_too_large(was: list[Segment], now: list[Segment]) -> bool:
    """Return whether there is too much to compare it by the character."""
    was_size, size = (sum(len(redacted) for redacted, _ in parts) for parts in (was, now))
    return was_size * size > MAX_CHAR_PAIRS


def _tokens(segments: list[Segment]) -> list[Segment]:
    """Return *segments* with names in one piece, and what is beside them by the character."""
    tokens: list[Segment] = []
    for segment in segments:
        tokens += [segment] if _is_placeholder(segment[0]) else zip(*segment, strict=True)
    return tokens


def _matching_placeholders(old: list[Segment], new: list[Segment]) -> dict[int, int]:
    """Return which name of *new*, by its place, is which one of *old*."""
    old_texts, new_texts = [redacted for redacted, _ in old], [redacted for redacted, _ in new]
    if not any(map(_is_placeholder, old_texts)) or _is_too_large(old, new):
        return {}
    from difflib import SequenceMatcher  # 9 ms: only when there are names in it

    matcher = SequenceMatcher(None, old_texts, new_texts, autojunk=False)
    return {
        a + n: b + n
        for a, b, size in matcher.get_matching_blocks()
        for n in range(size)
        if _is_placeholder(old_texts[a + n])
    }


def _redacted_lines(lines: Iterable[list[Segment]]) -> list[str]:
    return ["".join(redacted for redacted, _ in line) for line in lines]
