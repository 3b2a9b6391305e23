"""A text file as bytes and as text: what was not edited comes back byte for byte."""

from __future__ import annotations

import codecs
import re
from dataclasses import field

from modules.files import encodings, file_kinds
from utils.frozen import frozen

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16's, so it stands before
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Text may hold escapes, form feeds and the like, but hardly any other control character.
_CONTROL = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_CRLF = re.compile("\r\n")
_SAMPLE = 64_000
_ENCODING_NAMES = {"gbk": "GBK", "shift_jis": "Shift-JIS", "cp932": "Shift-JIS (cp932)"}
_NEWLINE_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


class NotText(Exception):
    """Bytes that are no text; *kind* says what they are, in English ("PNG image, 800x600")."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class NotEncodable(Exception):
    """Character *char* that the file's encoding does not have."""

    def __init__(self, char: str, encoding: str) -> None:
        super().__init__(f"{char!r} has no place in {encoding}")
        self.char = char
        self.encoding = encoding


class NotRoundTrip(Exception):
    """File with bytes that its encoding would write in another way, so it is left alone."""


@frozen
class TextFile:
    r"""The content of a text file.

    *text* has "\n" for every line end; *newline* is the end most of its lines have ("\n", "\r\n",
    or "\r" where there is no other); *encoding* is a Python codec; *bom* tells of a byte order
    mark. *data* are the bytes it was decoded from.
    """

    text: str
    encoding: str = "utf-8"
    newline: str = "\n"
    bom: bool = False
    data: bytes = field(default=b"", repr=False)

    @classmethod
    def decode(cls, data: bytes) -> TextFile:
        """Return the text of *data*. Raises `NotText`."""
        for bom_bytes, encoding in _BOMS:
            if data.startswith(bom_bytes):
                return cls._decoded(data, encoding, bom_bytes)
        if kind := file_kinds.detect_kind(data):
            raise NotText(kind)
        encoding = _detect_encoding(data)
        return cls._decoded(data, encoding, b"")

    @classmethod
    def _decoded(cls, data: bytes, encoding: str, bom_bytes: bytes) -> TextFile:
        try:
            raw = data[len(bom_bytes) :].decode(encoding)
        except UnicodeDecodeError:
            raise NotText("binary data") from None
        if not _looks_like_text(raw):
            raise NotText("binary data")
        newline = _detect_newline(raw)
        return cls(_normalize_newlines(raw, newline), encoding, newline, bool(bom_bytes), data)

    @classmethod
    def new(cls, text: str) -> TextFile:
        """Return a file to be made of *text*: UTF-8, "\\n" unless every line ends in "\\r\\n"."""
        ends = text.count("\n")
        newline = "\r\n" if ends and text.count("\r\n") == ends else "\n"
        return cls(text.replace("\r\n", "\n"), "utf-8", newline)

    @property
    def is_utf8_lf(self) -> bool:
        return self.encoding == "utf-8" and not self.bom and self.newline == "\n"

    @property
    def format_name(self) -> str:
        """The encoding and line ends, as the model and people know them."""
        encoding = _ENCODING_NAMES.get(self.encoding, self.encoding.upper().replace("_", "-"))
        bom_suffix = " with BOM" if self.bom else ""
        return f"{encoding}{bom_suffix}, {_NEWLINE_NAMES[self.newline]}"

    def encode(self, text: str | None = None) -> bytes:
        """Return the bytes of the file with *text* in place of its own.

        The lines that *text* has in common with the old text keep their bytes; the rest gets the
        file's line ends. Raises `NotEncodable` or `NotRoundTrip`.
        """
        if text is None and self.data:
            return self.data
        text = self.text if text is None else text
        bom_bytes = next(m for m, e in _BOMS if e == self.encoding) if self.bom else b""
        raw = self._original_text(bom_bytes)
        head, tail = _common_ends(self.text, text)
        start = _offset(raw, head)
        end = len(raw) - _offset_from_end(raw, tail)
        middle = _with_newlines(text[head : len(text) - tail], raw[start:end], self.newline)
        return bom_bytes + self._encode_strictly(raw[:start] + middle + raw[end:])

    def _original_text(self, bom_bytes: bytes) -> str:
        """Return the text with the line ends it has in the file."""
        raw = self.data[len(bom_bytes) :].decode(self.encoding) if self.data else ""
        if not self.data and self.text:
            return self.text.replace("\n", self.newline)
        if bom_bytes + raw.encode(self.encoding) != self.data and self.data:
            raise NotRoundTrip
        return raw

    def _encode_strictly(self, raw: str) -> bytes:
        try:
            return raw.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise NotEncodable(raw[error.start], self.format_name.split(",")[0]) from None


def _detect_encoding(data: bytes) -> str:
    """Return the codec of unmarked *data*. Raises `NotText`."""
    if b"\0" in data:
        if encoding := _utf16_codec(data):
            return encoding
        raise NotText("binary data")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        if encoding := encodings.guess(data):
            return encoding
        raise NotText("binary data") from None
    return "utf-8"


def _utf16_codec(data: bytes) -> str | None:
    """Return UTF-16's codec if *data* clearly is that: one byte of most pairs is zero."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if len(data) % 2 or max(even, odd) * 5 < len(sample) or min(even, odd) * 20 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _looks_like_text(raw: str) -> bool:
    sample = raw[:_SAMPLE]
    if "\0" in raw:
        return False
    return len(_CONTROL.findall(sample)) * 20 <= len(sample)


def _detect_newline(raw: str) -> str:
    newlines = raw.count("\n")
    if not newlines:
        return "\r" if "\r" in raw else "\n"
    return "\r\n" if raw.count("\r\n") * 2 > newlines else "\n"


def _normalize_newlines(raw: str, newline: str) -> str:
    return raw.replace("\r", "\n") if newline == "\r" else raw.replace("\r\n", "\n")


def _with_newlines(text: str, raw: str, newline: str) -> str:
    """Return *text* with *newline* for its line ends; lines that *raw* has too end as there.

    Only where *raw* has several kinds of line ends the two are compared.
    """
    others = raw.count("\n") - raw.count("\r\n") if newline == "\r\n" else raw.count("\r\n")
    if newline == "\r" or not others:
        return text.replace("\n", newline)
    import difflib  # 9 ms: only for files whose line ends are mixed

    before, after = raw.split("\n"), text.split("\n")
    ends = [newline] * len(after)
    bare = [line.removesuffix("\r") for line in before]
    for old, new, size in difflib.SequenceMatcher(None, bare, after, False).get_matching_blocks():
        for n in range(size):
            ends[new + n] = "\r\n" if before[old + n].endswith("\r") else "\n"
    return "".join(line + end for line, end in zip(after, [*ends[:-1], ""], strict=True))


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """Return how many characters the two begin with, and how many they end with, in common."""
    head = _common_prefix_length(old, new)
    limit = min(len(old), len(new)) - head
    tail = _common_prefix_length(old[len(old) - limit :][::-1], new[len(new) - limit :][::-1])
    return head, tail


def _common_prefix_length(old: str, new: str) -> int:
    """Return the length of the common beginning, found by halving: comparing slices is fast."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _offset(raw: str, count: int) -> int:
    """Return how long the first *count* characters are in *raw*, where a line end may be two."""
    for end in _CRLF.finditer(raw):
        if end.start() >= count:
            break
        count += 1
    return count


def _offset_from_end(raw: str, count: int) -> int:
    """Return how long the last *count* characters are in *raw*, where a line end may be two."""
    for end in reversed([*_CRLF.finditer(raw)]):
        if len(raw) - end.end() >= count:
            break
        count += 1
    return count
