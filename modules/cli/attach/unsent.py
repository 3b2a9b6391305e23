"""Lines that wait in the queue of a server to be sent by somebody, as they stand in ours."""

from __future__ import annotations

from modules.cli.attach.http import Packet


class Unsent:
    """The lines that wait; while they stand in the line they stay queued, so that none is lost."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._text = ""
        self._pictures: list[str] = []

    @property
    def pictures(self) -> list[str]:
        """The digests of the pictures that go with what stood in the line last."""
        return list(self._pictures)

    def differs(self, state: Packet) -> bool:
        """Return whether other lines wait, by *state*, than stand in the line."""
        return [item["id"] for item in _waiting_items(state)] != self._ids

    def insert_into(self, draft: str, state: Packet) -> str:
        """Return *draft* with what waits by *state* in the place of what stood there for it."""
        own_text = draft.replace(self._text, "", 1).strip("\n") if self._text else draft
        self._ids = [item["id"] for item in _waiting_items(state)]
        self._text = "\n".join(item["text"] for item in _waiting_items(state))
        given = (picture for item in _waiting_items(state) for picture in item.get("pictures", ()))
        self._pictures = [picture["digest"] for picture in given]
        return "\n".join(filter(None, [self._text, own_text]))

    def take(self) -> list[str]:
        """Return the ids of what stands in the line, and hold it no longer: the line is sent."""
        ids, self._ids, self._text = self._ids, [], ""
        return ids

    def keep(self, ids: list[str], text: str) -> None:
        """Take note that *ids* wait on, and that *text* stands in the line for them."""
        self._ids, self._text = ids, text


def _waiting_items(state: Packet) -> list[Packet]:
    """Return what waits for a word of somebody: nothing while a turn runs."""
    queue: list[Packet] = state["queue"] if state.get("paused") else []
    return queue
