"""What the model last saw of each file, so that it never overwrites what it does not know."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b

_KEPT_BYTES = 16_000_000
_KEPT_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Sight:
    """A version of a file; *data* is None when it was too much to keep."""

    digest: bytes
    data: bytes | None

    def is_of(self, data: bytes) -> bool:
        return self.digest == _digest(data)


class Seen:
    """The versions that the model saw, by path; the memory for them is bounded."""

    def __init__(self) -> None:
        self._sights: OrderedDict[str, Sight] = OrderedDict()
        self._size = 0

    def remember(self, path: str, data: bytes) -> None:
        """Take note that the model knows *data* as the content of *path*."""
        self.forget(path)
        self._sights[path] = Sight(_digest(data), data if len(data) <= _KEPT_BYTES // 4 else None)
        self._size += len(self._sights[path].data or b"")
        self._make_room()

    def of(self, path: str) -> Sight | None:
        """Return the version of *path* that the model saw last; None if it never did."""
        return self._sights.get(path)

    def forget(self, path: str) -> None:
        """Forget *path* and what is below it."""
        for name in self._below(path):
            self._size -= len(self._sights.pop(name).data or b"")

    def move(self, path: str, new_path: str) -> None:
        """Follow a rename of *path*, a file or a folder."""
        for name in self._below(path):
            self._sights[new_path + name[len(path) :]] = self._sights.pop(name)

    def _below(self, path: str) -> list[str]:
        return [name for name in self._sights if name == path or name.startswith(f"{path}/")]

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


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
