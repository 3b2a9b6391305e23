"""State of what the model has read, so that it never overwrites a version that it has not seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b

from core.tools import ToolError
from modules.files.editing.text_file import NotText, TextFile
from utils.frozen import frozen
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.line_diff import text_diff
from utils.text.lines import cut_middle, lines_of, numbered

_FIRST_LINES = 20
_MAX_DIFF_CHARACTERS = 8_000
_MAX_KEPT_BYTES = 16_000_000
_MAX_KEPT_FILES = 10_000


@frozen
class SeenVersion:
    """Version of a file that was seen; *data* is None when it was too much to keep."""

    digest: bytes
    data: bytes | None

    def matches(self, data: bytes) -> bool:
        return self.digest == _digest(data)


class ReadState:
    """Versions of files that the model saw, by path; bounded in memory.

    The calls of one reply were all made before any was answered: what an answer shows is known
    from the next reply on.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, SeenVersion] = OrderedDict()
        self._shown: dict[str, SeenVersion] = {}
        self._size = 0

    def record_known(self, path: str, data: bytes) -> None:
        """Record that the model knows *data* as the content of *path*."""
        self._record(path, _version_of(data))

    def record_shown(self, path: str, data: bytes) -> None:
        """Record that the answer of a call shows *data* as the content of *path*."""
        self._shown[path] = _version_of(data)

    def confirm_shown(self) -> None:
        """Record that the model gets the answers now."""
        for path, version in list(self._shown.items()):
            self._record(path, version)

    def _record(self, path: str, version: SeenVersion) -> None:
        self.forget(path)
        self._seen[path] = version
        self._size += len(version.data or b"")
        self._evict()

    def last_seen(self, path: str) -> SeenVersion | None:
        """Return the version of *path* that the model saw last; None if it never did."""
        return self._seen.get(path)

    def check_known(self, name: str, data: bytes) -> None:
        """Raise `ToolError` if *data* is not what the model saw last, and show it."""
        version = self.last_seen(name)
        if version is None or version.matches(data):
            return
        self.record_shown(name, data)
        raise ToolError(
            phrase(
                "{path} was changed by somebody else since you read it, so nothing was done. "
                "The difference (from now on you know it):\n{diff}",
                path=visible(name),
                diff=cut_middle(_diff_of(version.data, data), _MAX_DIFF_CHARACTERS),
            )
        )

    def check_read(self, name: str, file: TextFile) -> None:
        """Raise `ToolError` if the model never saw the file, and show it how that begins."""
        if self.last_seen(name) is not None:
            return
        self.record_shown(name, file.data)
        lines = lines_of(file.text)
        raise ToolError(
            phrase(
                "You have not read {path} yet, so nothing was done. It has {count} lines and "
                "begins:\n{lines}\nRead the rest if it matters, then call again.",
                path=visible(name),
                count=len(lines),
                lines=cut_middle(numbered(lines[:_FIRST_LINES], 1), _MAX_DIFF_CHARACTERS),
            )
        )

    def forget(self, path: str) -> None:
        """Forget *path* and what is below it."""
        for name in _at_or_below(path, self._shown):
            del self._shown[name]
        for name in _at_or_below(path, self._seen):
            self._size -= len(self._seen.pop(name).data or b"")

    def move(self, path: str, new_path: str) -> None:
        """Follow a rename of *path*, a file or a folder."""
        for versions in (self._shown, self._seen):
            for name in _at_or_below(path, versions):
                versions[new_path + name[len(path) :]] = versions.pop(name)

    def _evict(self) -> None:
        """Drop the oldest texts, keeping their digests; then the oldest digests."""
        for path, version in list(self._seen.items()) if self._size > _MAX_KEPT_BYTES else ():
            if self._size <= _MAX_KEPT_BYTES:
                break
            self._size -= len(version.data or b"")
            self._seen[path] = SeenVersion(version.digest, None)
        while len(self._seen) > _MAX_KEPT_FILES:
            _, oldest = self._seen.popitem(last=False)
            self._size -= len(oldest.data or b"")


def _at_or_below(path: str, versions: Iterable[str]) -> list[str]:
    return [name for name in versions if name == path or name.startswith(f"{path}/")]


def _version_of(data: bytes) -> SeenVersion:
    return SeenVersion(_digest(data), data if len(data) <= _MAX_KEPT_BYTES // 4 else None)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _diff_of(before: bytes | None, after: bytes) -> str:
    """Return the difference between two versions as far as it can be told."""
    if before is None:
        return "(too much to show; read it again)"
    try:
        return text_diff(TextFile.decode(before).text, TextFile.decode(after).text).diff
    except NotText as error:
        return f"(it is no text now: {error.kind})"
