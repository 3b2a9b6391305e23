"""The sessions of a running server, found and begun from a terminal that joins it."""

from __future__ import annotations

from collections.abc import Sequence

from core.conversation.store import SessionInfo
from modules.cli.attach.http import ServerLink
from utils.i18n import UserError, phrase
from utils.text.codec import from_plain


def sessions_of(link: ServerLink) -> Sequence[SessionInfo]:
    """Return the sessions of the server, the one used last first. Raises `UserError`."""
    rows = link.request("GET", "/api/sessions")["sessions"]
    return [from_plain(SessionInfo, row) for row in rows]


def find_session(link: ServerLink, id_prefix: str) -> str:
    """Return the id of the newest session that begins so, of a new one where there is none at all.

    Raises `UserError`, also where none begins with *id_prefix*.
    """
    matches = [one.id for one in sessions_of(link) if one.id.startswith(id_prefix)]
    if id_prefix and not matches:
        raise UserError(phrase("The server has no session {start!r}.", start=id_prefix))
    return matches[0] if matches else create_session(link)


def create_session(link: ServerLink) -> str:
    """Return the id of a new session. Raises `UserError`."""
    session: str = link.request("POST", "/api/sessions")["id"]
    return session
