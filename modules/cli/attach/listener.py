"""What happens in a session of a running server, heard in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from modules.cli.attach.http import Deleted, Lost, Packet, ServerLink
from modules.cli.attach.packet_reader import newest_turn, open_call, said_since
from utils.waiting import Stop

AGAIN = 1.0
"""Seconds between two tries to reach a server that is gone."""
PATIENCE = 5.0
"""Seconds that the thread is given to end, if it is in the midst of connecting."""


class EventListener:
    """Puts what happens in *session* into `heard`, by name, until it is closed.

    From its thread: *tell* gets each of these before; *tell_lost* whether the server is gone,
    after each try. Between two servers there is a "lost"; "deleted" is the last that is heard of a
    session that is there no more.
    """

    def __init__(
        self,
        link: ServerLink,
        session: str,
        *,
        tell: Callable[[str, Packet], object],
        tell_lost: Callable[[bool], object],
    ) -> None:
        self.heard: SimpleQueue[tuple[str, Packet]] = SimpleQueue()
        self._link = link
        self._session = session
        self._tell = tell
        self._tell_lost = tell_lost
        self._boot, self._after, self._turn = "", 0, 0
        self._over = Stop()
        self._thread = threading.Thread(target=self._listen, name="events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hear nothing more, and end the connection."""
        self._over.set()
        self._thread.join(PATIENCE)

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                self._follow()
            except Deleted:
                self._put("deleted", {})
                return
            except Lost:
                pass
            if self._over.is_set():
                return
            self._tell_lost(True)
            self.heard.put(("lost", {}))
            self._over.wait(AGAIN)

    def _follow(self) -> None:
        """Hear what one server tells. Raises `Lost` when the connection breaks."""
        events = self._link.events(self._session, self._boot, self._after, self._over)
        for name, packet in events:
            if self._over.is_set():
                return
            if name == "attached":
                self._attach(packet)
            elif name == "ev":
                self._after = packet["seq"]
                self._turn = max(self._turn, newest_turn([packet]))
            self._put(name, packet)
            self._tell_lost(False)

    def _attach(self, arrival: Packet) -> None:
        """Note where we stand; what was missed since the last connection is heard first.

        That it is another server than before is told as "restarted"; what was said to that one
        by now is heard, else the call that is not over.
        """
        is_other = self._boot not in ("", arrival["boot"])
        self._boot, self._after = arrival["boot"], arrival["head"]
        if is_other:
            self._tell("restarted", arrival)
        self._tell("state", arrival["state"])
        events: Sequence[Packet] = arrival["events"]
        missed = events if arrival["mode"] == "replay" else ()
        if is_other:
            missed = said_since(events, self._turn) or open_call(events)
        self._turn = max(self._turn, newest_turn(events))
        for event in missed:
            self._put("ev", event)

    def _put(self, name: str, packet: Packet) -> None:
        if name != "attached":
            self._tell(name, packet)
        self.heard.put((name, packet))
