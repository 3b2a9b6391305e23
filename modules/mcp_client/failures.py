"""Failures of servers, in words for people."""

from __future__ import annotations

from utils.error_codes import ErrorCode
from utils.i18n import Phrase


class ServerFailed(Exception):
    """A server cannot be reached, or failed in the middle; *message* says how, for people."""

    code: ErrorCode = "internal"

    def __init__(self, message: Phrase) -> None:
        super().__init__(str(message))
        self.message = message


class RequestRefused(ServerFailed):
    """A server that works did not do what it was asked."""

    code = "command"


class ServerLate(ServerFailed):
    """A server did not answer in its time."""

    code = "timeout"
