"""Long results kept whole, so that a cut answer can be read on part by part."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.tools import ToolError
from utils.i18n import UserError, phrase

_ADDRESS = re.compile(r"@output/([1-9][0-9]{0,9})")
_MAX_BYTES = 200_000_000
_HINT_LENGTH = 200  # characters, more than the hint ever has


class Outputs:
    """Texts in *folder*, one numbered file each; the oldest go when they pass *max_bytes* bytes."""

    def __init__(
        self,
        folder: Path,
        *,
        reader: str = "",
        max_bytes: int = _MAX_BYTES,
        redact: Callable[[str], str] = str,
    ) -> None:
        """*reader* is the tool that reads what is kept at an address.

        *redact* takes out of a text what is not to be kept or shown.
        """
        self._reader = reader
        self._redact = redact
        self._folder = folder
        self._max_bytes = max_bytes

    def store(self, text: str) -> str:
        """Keep *text* and return its address, "@output/3". Raises `UserError` if it cannot."""
        text = self._redact(text)
        # Surrogates stand for bytes that were no UTF-8: they must come back as they were.
        data = text.encode("utf-8", "surrogatepass")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._delete_oldest(len(data))
            return f"@output/{self._write(data)}"
        except OSError as error:
            folder, why = str(self._folder), error.strerror or str(error)
            raise UserError(
                phrase("Cannot read or save {path}: {why}.", path=folder, why=why)
            ) from error

    def read(self, address: str) -> str:
        """Return the whole text at *address*. Raises `ToolError` where there is none."""
        if not (match := _ADDRESS.fullmatch(address)):
            raise ToolError(
                phrase("{address!r} is no kept output; one looks like @output/3.", address=address)
            )
        try:
            data = self._file(int(match[1])).read_bytes()
        except FileNotFoundError:
            raise ToolError(
                phrase("{address} is not kept (any more): run the call again.", address=address),
                "not_found",
            ) from None
        return data.decode("utf-8", "surrogatepass")

    def shorten(self, text: str, limit: int = 32_000) -> str:
        """Return *text* in at most *limit* characters.

        A longer one is kept whole; its head and tail come back, cut at line ends where there are
        any, with a line between them that says what is missing and how to read it.
        """
        text = self._redact(text)  # before it is cut: of half a secret, nobody would know
        if len(text) <= limit:
            return text
        half = (limit - _HINT_LENGTH) // 2
        head, tail = _head(text, half), _tail(text, half)
        left_out = text[len(head) : len(text) - len(tail)]
        hint = (
            f"[… {left_out.count(chr(10)):,} lines, {len(left_out):,} characters left out; "
            f"{self._how_to_read_on(text, head.count(chr(10)) + 1)} …]"
        )
        end = "" if head.endswith("\n") else "\n"
        return f"{head}{end}{hint}\n{tail}"

    def _how_to_read_on(self, text: str, line: int) -> str:
        try:
            return f'read on: {self._reader} path="{self.store(text)}" start_line={line}'
        except UserError:  # a full disk must not cost the part that is there
            return "they could not be kept"

    def _write(self, data: bytes) -> int:
        number = max(self._numbers(), default=0) + 1
        while True:
            try:
                handle = os.open(
                    self._file(number), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
                )
            except FileExistsError:
                number += 1
                continue
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            return number

    def _delete_oldest(self, size: int) -> None:
        """Delete the oldest texts until *size* bytes more fit."""
        sizes: dict[int, int] = {}
        for number in sorted(self._numbers()):
            with suppress(FileNotFoundError):
                sizes[number] = self._file(number).stat().st_size
        total = sum(sizes.values()) + size
        newest = max(sizes, default=0)
        for number, bytes_ in sizes.items():
            # The newest stays: its number must not be given out again.
            if total <= self._max_bytes or number == newest:
                return
            self._file(number).unlink(missing_ok=True)
            total -= bytes_

    def _numbers(self) -> list[int]:
        return [int(path.stem) for path in self._folder.glob("*.txt") if path.stem.isdecimal()]

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.txt"


def _head(text: str, length: int) -> str:
    line_end = text.rfind("\n", length // 2, length) + 1
    return text[: line_end or length]


def _tail(text: str, length: int) -> str:
    start = len(text) - length
    line_start = text.find("\n", start - 1, start + length // 2) + 1
    return text[line_start or start :]
