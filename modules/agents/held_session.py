"""A session that works in this process, as other processes of the person reach it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.events import Reply
from core.feature import SessionHandle
from core.tools import ToolError
from modules.agents.session_socket import Message, SessionSocket
from utils.i18n import UserError
from utils.text.codec import to_plain

_REPLY = {"always": bool, "pattern": str, "reason": str, "lasts": bool, "text": str}
"""The kinds of what a reply has beside its yes or no, and its arguments."""


class HeldSession:
    """Tells what *session* asks and takes answers to that; *stop* stops work of it."""

    def __init__(self, session: SessionHandle, stop: Callable[[str], None]) -> None:
        """*stop* raises `UserError` for what does not work here."""
        self._session = session
        self._stop = stop

    def open(self, folder: Path) -> SessionSocket | None:
        """Let it be reached by a socket in *folder*; None where there can be none."""
        try:
            return SessionSocket(folder, self._session.session, self.answer_to)
        except OSError:  # no sockets here, no room for a thread, or the folder is not ours alone
            return None

    def answer_to(self, message: Message) -> Message:
        """Do what *message* asks for; what cannot be done is the answer's problem."""
        try:
            match message:
                case {"do": "question"}:
                    return {"asked": to_plain(self._session.question.now())}
                case {"do": "answer", "question": str(key), "reply": dict(reply)}:
                    return {"taken": self._session.question.answer(key, _reply(reply))}
                case {"do": "stop", "work": str(work)}:
                    self._stop(work)
                    return {}
        except (UserError, ToolError) as error:
            return {"problem": to_plain(error.message)}
        return {"unknown": True}


def _reply(plain: dict[str, Any]) -> Reply:
    """Return the reply in *plain*: what is not of its kind is left out, and no yes is a no."""
    kept = {name: plain[name] for name, kind in _REPLY.items() if type(plain.get(name)) is kind}
    arguments = plain.get("arguments")
    is_yes = plain.get("yes") is True
    return Reply(is_yes, arguments=arguments if isinstance(arguments, dict) else None, **kept)
