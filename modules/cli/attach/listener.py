"""Listener for the events of a running server's session, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from modules.cli.attach.http import ConnectionLost, Packet, ServerLink, SessionDeleted
from modules.cli.attach.packet_reader import events_since, newest_turn, open_call_events
from utils.waiting import Stop

RETRY_SECONDS = 1.0
"""Seconds between two tries to reach a server that is gone."""
JOIN_SECONDS = 5.0
"""Seconds that the thread is given to end, if it is in the midst of connecting."""


class EventListener:
    """Puts what happens in *session* into `packets`, by name, until it is closed.

    From its thread: *on_packet* gets each of these before; *on_connection_change* whether the
    server is gone, after each try. Between two servers there is a "lost"; "deleted" is the last
    that is heard of a session that is there no more.
    """

    def __init__(
        self,
        link: ServerLink,
        session: str,
        *,
        on_packet: Callable[[str, Packet], object],
        on_connection_change: Callable[[bool], object],
    ) -> None:
        self.packets: SimpleQueue[tuple[str, Packet]] = SimpleQueue()
        self._link = link
        self._session = session
        self._on_packet = on_packet
        self._on_connection_change = on_connection_change
        self._boot, self._after, self._turn = "", 0, 0
        self._closed = Stop()
        self._thread = threading.Thread(target=self._listen, name="events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hear nothing more, and end the connection."""
        self._closed.set()
        self._thread.join(JOIN_SECONDS)

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                self._read_events()
            except SessionDeleted:
                self._put("deleted", {})
                return
            except ConnectionLost:
                pass
            if self._closed.is_set():
                return
            self._on_connection_change(True)
            self.packets.put(("lost", {}))
            self._closed.wait(RETRY_SECONDS)

    def _read_events(self) -> None:
        """Hear what one server tells. Raises `ConnectionLost` when the connection breaks."""
        events = self._link.events(self._session, self._boot, self._after, self._closed)
        for name, packet in events:
            if self._closed.is_set():
                return
            if name == "attached":
                self._on_attached(packet)
            elif name == "ev":
                self._after = packet["seq"]
                self._turn = max(self._turn, newest_turn([packet]))
            self._put(name, packet)
            self._on_connection_change(False)

    def _on_attached(self, arrival: Packet) -> None:
        """Note where we stand; what was missed since the last connection comes first.

        That it is another server than before is told as "restarted"; what was said to that one
        by now is heard, else the call that is not over.
        """
        is_new_server = self._boot not in ("", arrival["boot"])
        self._boot, self._after = arrival["boot"], arrival["head"]
        if is_new_server:
            self._on_packet("restarted", arrival)
        self._on_packet("state", arrival["state"])
        events: Sequence[Packet] = arrival["events"]
        missed = events if arrival["mode"] == "replay" else ()
        if is_new_server:
            missed = events_since(events, self._turn) or open_call_events(events)
        self._turn = max(self._turn, newest_turn(events))
        for event in missed:
            self._put("ev", event)

    def _put(self, name: str, packet: Packet) -> None:
        if name != "attached":
            self._on_packet(name, packet)
        self.packets.put((name, packet))
