"""The settings that hold now: those of the start, and those that took effect since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, Generic, Literal, TypeVar, cast

Effect = Literal["now", "new sessions", "restart"]
"""Whom a setting that was just saved reaches: everything that runs, what is opened from now on, or
the next start."""
Settings = TypeVar("Settings")


class LiveSettings(Generic[Settings]):
    """The settings of a start; `now` says those that hold, and may be read from any thread.

    *load_again* returns what a start would have now, None where nothing changes before that; what
    *in_new_sessions* names is read anew for each session. Its followers may do more.
    """

    def __init__(
        self,
        settings: Settings,
        load_again: Callable[[], Settings] | None = None,
        in_new_sessions: Collection[str] = (),
    ) -> None:
        self.now = settings
        self._load_again = load_again
        self._in_new_sessions = in_new_sessions
        self._followers: dict[str, list[Callable[[Settings, str], None]]] = {}
        self._lock = threading.Lock()

    def follow(self, names: Iterable[str], act: Callable[[Settings, str], None]) -> None:
        """Have *act* called with the settings and the name when one of *names* has changed."""
        for name in names:
            self._followers.setdefault(name, []).append(act)

    def effect_of(self, name: str) -> Effect:
        """Return whom the setting *name* reaches when it is saved."""
        if self._load_again is None:
            return "restart"
        if name in self._in_new_sessions:
            return "new sessions"
        return "now" if name in self._followers else "restart"

    def renew(self, name: str) -> None:
        """Take over what was saved of the setting *name*, where that needs no restart."""
        if self._load_again is None or self.effect_of(name) == "restart":
            return
        with self._lock:
            fresh = cast("Any", self._load_again())
            now = cast("Any", self.now)
            sources = {one: source for one, source in now.sources.items() if one != name}
            if name in fresh.sources:
                sources[name] = fresh.sources[name]
            self.now = replace(now, **{name: getattr(fresh, name), "sources": sources})
            for act in self._followers.get(name, ()):
                act(self.now, name)
