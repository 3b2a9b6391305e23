"""Messages to a session on a server, each with the pictures that it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from modules.cli.attach.followed_session import FollowedSession
from modules.cli.attach.http import Packet, ServerLink


def send_message(
    link: ServerLink, session: FollowedSession, message: Packet, pictures: Sequence[str] = ()
) -> Packet:
    """Send *message* with *pictures* and with those that its text names; return the answer.

    Raises `UserError`.
    """
    if not _is_command(text := message["text"]):
        named = _give_pictures(link, session.id, text)
        if found := list(dict.fromkeys([*pictures, *named])):
            message = {**message, "pictures": found}
    return link.request("POST", session.address("messages"), **message)


def _give_pictures(link: ServerLink, session: str, line: str) -> list[str]:
    """Give *session* the pictures whose paths stand in *line*; return their digests.

    Relative paths are in the project, as in a terminal of its own. Raises `UserError`.
    """
    if "/" not in line and "@" not in line:
        return []
    from modules.pictures.mentions import add_mentioned_pictures

    def give(data: bytes, name: str) -> str:
        path = f"/api/sessions/{session}/pictures?name={quote(name, safe='')}"
        digest: str = link.upload(path, data)["digest"]
        return digest

    return list(
        add_mentioned_pictures(line, Path(link.request("GET", "/api/status")["root"]), give)
    )


def _is_command(line: str) -> bool:
    """Return whether *line* is a slash command, and no path from the root."""
    name = line.split(maxsplit=1)[0] if line.strip() else ""
    return name.startswith("/") and "/" not in name[1:]
