"""A client that is made when it is first used: a prompt needs no more than what is known of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.api_client import ApiClient
    from utils.llm.profiles.server_profile import ServerProfile


class LateClient:
    """The client that *make* returns at the first `get`. Several threads may use it at once.

    *find_profile* tells what is known of its server for a model, as the client would.
    """

    def __init__(
        self,
        make: Callable[[], ApiClient],
        find_profile: Callable[[str], ServerProfile] | None = None,
    ) -> None:
        self._make = make
        self._find_profile = find_profile
        self._lock = threading.Lock()
        self.made: ApiClient | None = None
        """The client, None as long as nobody has asked for it."""

    def get(self) -> ApiClient:
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made

    def profile(self, model: str) -> ServerProfile:
        """Return what is known of the server for *model*."""
        if self._find_profile:
            return self._find_profile(model)
        return self.get().known_of(model)[0]
