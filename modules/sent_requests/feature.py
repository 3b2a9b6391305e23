"""What a session sends: each request is kept, at the step it is for, and shown by `/context`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.cards import Card
from core.feature import Feature, SessionHandle, command
from core.hooks import BindsToSession, ProvidesWarnings
from core.redaction import map_strings
from modules.sent_requests.request_log import RequestLog, SentRequest
from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import parse_number

if TYPE_CHECKING:
    from modules.sent_requests.prompt_cards import PromptView


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

    @command(
        "/context [N] [all|diff]",
        "Show what the model read in each step, how much was cached, and why not more.",
        is_concurrent=True,
        belongs_to_session=True,
        button="context",
    )
    def show_context(self, argument: str) -> Card:
        number, *how = argument.split() or [""]
        if not number:
            return self._view(0).list_card()
        if (step := parse_number(number) or 0) < 1 or how not in ([], ["all"], ["diff"]):
            raise UserError(
                phrase("Usage: /context, /context N, /context N all or /context N diff.")
            )
        view = self._view(step)
        if step > (count := len(view.steps)):
            raise UserError(phrase("No step {n}; there are {count:,}.", n=step, count=count))
        if how == ["diff"]:
            return view.diff_card(step - 1)
        return view.step_card(step - 1, is_folded=not how)

    def _view(self, with_body: int) -> PromptView:
        """Return the requests of the session, the step number *with_body* to be looked into.

        Raises `UserError`.
        """
        from modules.sent_requests.prompt_cards import PromptView
        from modules.sent_requests.prompt_parts import Origins
        from modules.sent_requests.steps import read_steps

        log, model = list(self._session.history.log), self._session.model
        session = self._session.session
        kept = self._log.read(session) if session else ()
        requests = (one for one in kept if not one.parent)  # what helpers read is no step of it
        steps = read_steps(requests, log, with_body=with_body)
        if not steps:
            raise UserError(phrase("Nothing has been sent to the model in this session yet."))
        # A secret may have become one only after it was said: then what is shown has its name.
        seen = map_strings(log, self._session.redact) if with_body else ()
        is_told = model.is_well_known or any(step.hit_tokens for step in steps)
        return PromptView(
            *(steps, Origins(seen), model.tariff, model.model),
            has_figures=is_told and model.profile.cache_figures != "none",
            redact=self._session.redact,
        )

    def _on_request(self, body: bytes) -> None:
        if not self._session.session:
            return
        history = self._session.history
        self._keep(SentRequest(history.turn, 1 + history.reply_count, time.time(), body))

    def keep_of_helper(self, call_id: str, step: int, body: bytes) -> None:
        """Keep what the helper sends for its *step* that is the call *call_id*; from any thread."""
        turn = self._session.history.turn
        self._keep(SentRequest(turn, step, time.time(), body, call_id))

    def _keep(self, request: SentRequest) -> None:
        try:
            self._log.append(self._session.session, request)
        except OSError as error:
            self._note_failure(error)

    def _note_failure(self, error: OSError) -> None:
        if not self._has_failed:
            why = error.strerror or str(error)
            self._warnings.append(
                phrase("Cannot save requests for /export, so some will be missing: {why}.", why=why)
            )
        self._has_failed = True
