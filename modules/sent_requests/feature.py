"""The keeping of what a session sends: each request, at the step that it is for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import takewhile

from core.conversation.messages import Assistant
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, ProvidesWarnings
from modules.sent_requests.request_log import RequestLog, SentRequest
from utils.i18n import Phrase, phrase


class SentRequests(Feature, BindsToSession, ProvidesWarnings):
    """Keeps in *log* each request of the session, as it goes out.

    A disk that takes nothing stops no task: that is told once.
    """

    _session: SessionHandle

    def __init__(self, log: RequestLog) -> None:
        self._log = log
        self._warnings: list[Phrase] = []
        self._has_failed = False

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle
        session_handle.model.set_request_observer(self._on_request)

    def warnings(self) -> Sequence[Phrase]:
        pending, self._warnings = self._warnings, []
        return pending

    def _on_request(self, body: bytes) -> None:
        if not self._session.session:
            return
        history = self._session.history
        newest = takewhile(lambda one: one[0] == history.turn, reversed(history.log))
        step = 1 + sum(isinstance(record, Assistant) for _, record in newest)
        try:
            self._log.append(
                self._session.session, SentRequest(history.turn, step, time.time(), body)
            )
        except OSError as error:
            self._note_failure(error)

    def _note_failure(self, error: OSError) -> None:
        if not self._has_failed:
            why = error.strerror or str(error)
            self._warnings.append(
                phrase("Requests cannot be kept for /export, so it lacks some: {why}.", why=why)
            )
        self._has_failed = True
