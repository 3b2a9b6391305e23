"""A client that is made when it is first used: a prompt needs the name of its model alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.api_client import ApiClient


class LateClient:
    """The client that *make* returns at the first `get`. Several threads may use it at once."""

    def __init__(self, make: Callable[[], ApiClient]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: ApiClient | None = None
        """The client, None as long as nobody has asked for it."""

    def get(self) -> ApiClient:
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made
