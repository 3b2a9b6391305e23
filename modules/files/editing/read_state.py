"""What the model last saw of each file, so that it never overwrites what it does not know."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from core.tools import ToolError
from modules.files.editing.text_file import NotText, TextFile
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.line_diff import difference
from utils.text.lines import cut_middle, lines_of, numbered

_FIRST_LINES = 20
_DIFF_CHARACTERS = 8_000
_KEPT_BYTES = 16_000_000
_KEPT_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Sight:
    """A version of a file; *data* is None when it was too much to keep."""

    digest: bytes
    data: bytes | None

    def is_of(self, data: bytes) -> bool:
        return self.digest == _digest(data)


class ReadState:
    """The versions that the model saw, by path; the memory for them is bounded.

    The calls of one reply were all made before any was answered: what an answer shows is known
    from the next reply on.
    """

    def __init__(self) -> None:
        self._sights: OrderedDict[str, Sight] = OrderedDict()
        self._shown: dict[str, Sight] = {}
        self._size = 0

    def remember(self, path: str, data: bytes) -> None:
        """Take note that the model knows *data* as the content of *path*."""
        self._put(path, _sight(data))

    def show(self, path: str, data: bytes) -> None:
        """Take note that the answer of a call shows *data* as the content of *path*."""
        self._shown[path] = _sight(data)

    def answered(self) -> None:
        """Take note that the model gets the answers now."""
        for path, sight in list(self._shown.items()):
            self._put(path, sight)

    def _put(self, path: str, sight: Sight) -> None:
        self.forget(path)
        self._sights[path] = sight
        self._size += len(sight.data or b"")
        self._make_room()

    def of(self, path: str) -> Sight | None:
        """Return the version of *path* that the model saw last; None if it never did."""
        return self._sights.get(path)

    def check_known(self, name: str, data: bytes) -> None:
        """Raise `ToolError` if *data* is not what the model saw last, and show it."""
        sight = self.of(name)
        if sight is None or sight.is_of(data):
            return
        self.show(name, data)
        raise ToolError(
            phrase(
                "{path} was changed by somebody else since you read it, so nothing was done. "
                "The difference (from now on you know it):\n{diff}",
                path=visible(name),
                diff=cut_middle(_diff_of(sight.data, data), _DIFF_CHARACTERS),
            )
        )

    def check_read(self, name: str, file: TextFile) -> None:
        """Raise `ToolError` if the model never saw the file, and show it how that begins."""
        if self.of(name) is not None:
            return
        self.show(name, file.data)
        lines = lines_of(file.text)
        raise ToolError(
            phrase(
                "You have not read {path} yet, so nothing was done. It has {count} lines and "
                "begins:\n{lines}\nRead the rest if it matters, then call again.",
                path=visible(name),
                count=len(lines),
                lines=cut_middle(numbered(lines[:_FIRST_LINES], 1), _DIFF_CHARACTERS),
            )
        )

    def forget(self, path: str) -> None:
        """Forget *path* and what is below it."""
        for name in _below(path, self._shown):
            del self._shown[name]
        for name in _below(path, self._sights):
            self._size -= len(self._sights.pop(name).data or b"")

    def move(self, path: str, new_path: str) -> None:
        """Follow a rename of *path*, a file or a folder."""
        for sights in (self._shown, self._sights):
            for name in _below(path, sights):
                sights[new_path + name[len(path) :]] = sights.pop(name)

    def _make_room(self) -> None:
        """Drop the oldest texts, keeping their digests; then the oldest digests."""
        for path, sight in list(self._sights.items()) if self._size > _KEPT_BYTES else ():
            if self._size <= _KEPT_BYTES:
                break
            self._size -= len(sight.data or b"")
            self._sights[path] = Sight(sight.digest, None)
        while len(self._sights) > _KEPT_FILES:
            _, oldest = self._sights.popitem(last=False)
            self._size -= len(oldest.data or b"")


def _below(path: str, sights: Iterable[str]) -> list[str]:
    return [name for name in sights if name == path or name.startswith(f"{path}/")]


def _sight(data: bytes) -> Sight:
    return Sight(_digest(data), data if len(data) <= _KEPT_BYTES // 4 else None)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _diff_of(before: bytes | None, after: bytes) -> str:
    """Return the difference between two versions as far as it can be told."""
    if before is None:
        return "(too much to show; read it again)"
    try:
        return difference(TextFile.decode(before).text, TextFile.decode(after).text).diff
    except NotText as error:
        return f"(it is no text now: {error.kind})"
