"""The checks of a session that runs elsewhere: told at this terminal once they stand no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.conversation.proof import Receipt
from modules.checks.receipt_texts import outdated_text
from modules.checks.receipt_watch import ReceiptWatch
from modules.cli.attach.followed_session import FollowedSession
from modules.cli.attach.http import Packet, ServerLink
from utils.i18n import Phrase, UserError
from utils.text.codec import from_plain


class RemoteChecks:
    """The receipts of *session* on the server of *link*, of the last turn that has any."""

    def __init__(self, link: ServerLink, session: FollowedSession) -> None:
        self._link = link
        self._session = session
        self._told: set[str] = set()

    @contextmanager
    def watched(self, tell: Callable[[Phrase], bool]) -> Iterator[None]:
        """Tell, within this, of checks of the last task as soon as they stand no more."""
        project = self._link.project if self._session.has_passed_checks else None
        if project is None:
            yield
            return
        watch = ReceiptWatch(project, self, tell)
        try:
            yield
        finally:
            watch.end()

    def files_to_watch(self, limit: int) -> list[str]:
        """Return *limit* files at most that receipts rest on; none where the server is gone."""
        files: list[str] = self._answer().get("files", [])
        return files[:limit]

    def tell_outdated(self, tell: Callable[[Phrase], bool]) -> bool:
        """Tell of checks that passed and stand no more, each once; return whether there are any.

        What *tell* cannot say is told by another call.
        """
        receipts = self._answer().get("receipts", [])
        turns = [one["turn"] for one in receipts]
        last = [from_plain(Receipt, one) for one in receipts if one["turn"] == turns[-1]]
        outdated = [one for one in last if one.is_check and one.state == "grey" and one.files]
        texts = [outdated_text(one) for one in outdated if one.exit_code == 0]
        news = [text for text in texts if str(text) not in self._told]
        self._told.update(str(text) for text in news if tell(text))
        return bool(news)

    def _answer(self) -> Packet:
        try:
            return self._link.request("GET", self._session.address("receipts"))
        except UserError:  # the connection: who follows the session says so
            return {}
