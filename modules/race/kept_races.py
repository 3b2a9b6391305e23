"""Races on disk: what there is of each, and whether it still runs."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from core.events import EndReason
from core.loop.thinking import Mode
from utils.i18n import Phrase, UserError, phrase
from utils.llm.completion import Usage
from utils.system.atomic_write import write_atomically
from utils.system.file_lock import unlock_and_close
from utils.text.codec import from_plain, to_plain

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
ChecksState = Literal["green", "red", "none"]
RacerState = Literal["waiting", "running"] | EndReason
"""How far a racer is, or how its task ended."""


@dataclass(frozen=True, slots=True)
class Racer:
    """One racer: its *folder* and *session* there, and what has come of it.

    *before* and *after* are snapshots of its folder in its own store, 0 for none yet; *files*
    counts what changed between them, *added* and *removed* lines of text, *commits* how often its
    branch moved. *seconds* are without those in which a person was waited for.
    """

    number: int
    folder: str
    session: str = ""
    model: str = ""
    mode: Mode = "fast"
    state: RacerState = "waiting"
    detail: Phrase | None = None
    before: int = 0
    after: int = 0
    answer: str = ""
    checks: ChecksState = "none"
    files: int = 0
    added: int = 0
    removed: int = 0
    commits: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def can_be_taken(self) -> bool:
        """Whether its folder was looked at and holds something that the project's does not."""
        return self.after > 0 and (self.files > 0 or self.commits > 0)

    @property
    def is_at_end(self) -> bool:
        return self.state not in ("waiting", "running")


@dataclass(frozen=True, slots=True)
class KeptRace:
    """A race of the session *session* in its turn *turn*.

    *proposed* is a racer's number, 0 for none; *reasons* say why that one. A race that *is_over*
    only waits to be removed.
    """

    id: str
    session: str
    turn: int
    task: str
    racers: tuple[Racer, ...] = ()
    proposed: int = 0
    reasons: tuple[Phrase, ...] = ()
    is_over: bool = False
    is_asking: bool = False
    """Whether the person is asked, while it runs, which result to take."""

    def racer(self, number: int) -> Racer | None:
        return next((one for one in self.racers if one.number == number), None)

    def with_racer(self, racer: Racer) -> KeptRace:
        """Return it with *racer* in the place of the one of that number."""
        racers = (racer if one.number == racer.number else one for one in self.racers)
        return replace(self, racers=tuple(racers))


def racer_id(race: str, number: int) -> str:
    """Return what a board calls the racer *number* of *race*."""
    return f"{race}/{number}"


class KeptRaces:
    """Races in *folder*, a JSON file for each, written whole. Everything raises `UserError`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @staticmethod
    def new_id() -> str:
        return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"

    def save(self, race: KeptRace) -> None:
        """Keep *race*; it is durable on return."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self._path(race.id), json.dumps(to_plain(race)).encode())
        except OSError as error:
            raise _not_kept(self._path(race.id), error) from None

    def all(self) -> list[KeptRace]:
        """Return all races, the oldest first; what cannot be read is left out."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with suppress(OSError, ValueError, TypeError, LookupError):
                race: KeptRace = from_plain(KeptRace, json.loads(path.read_bytes()))
                if race.id == path.stem and _ID.fullmatch(race.id):
                    found.append(race)
        return found

    def remove(self, race: KeptRace) -> None:
        """Forget *race*."""
        self._path(race.id).unlink(missing_ok=True)
        self._lock_path(race.id).unlink(missing_ok=True)
        with suppress(OSError):  # there are others
            self._folder.rmdir()

    @contextmanager
    def running(self, race: KeptRace) -> Iterator[None]:
        """Mark *race* as one that runs, for every process, until the block or this process ends."""
        handle = self._lock(race.id)
        if handle is None:
            raise UserError(phrase("Another Onefold is at work on this race."))
        try:
            yield
        finally:
            unlock_and_close(handle)

    def is_running(self, race: KeptRace) -> bool:
        """Return whether somebody is at work on *race*."""
        if not self._lock_path(race.id).exists():
            return False
        handle = self._lock(race.id)
        if handle is not None:
            unlock_and_close(handle)
        return handle is None

    def _lock(self, race: str) -> int | None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            handle = os.open(self._lock_path(race), flags, 0o600)
        except OSError as error:
            raise _not_kept(self._lock_path(race), error) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle

    def _path(self, race: str) -> Path:
        return self._folder / f"{race}.json"

    def _lock_path(self, race: str) -> Path:
        return self._folder / f"{race}.lock"


def _not_kept(path: Path, error: OSError) -> UserError:
    why = error.strerror or str(error)
    return UserError(phrase("Cannot read or save {path}: {why}.", path=str(path), why=why))
