"""Consent to what a project brings along: what the person said of each content, asked once.

Instructions are the person's own unless their origin speaks against it
(`modules.instructions.origin`), or a call of the model has written them, or a program that one ran.
Then they are asked about, once by content. What was told as the person's own stays that, committed
and pushed or not. Hooks, servers and commands of the project are never taken for the person's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from core.feature import Answer as Said
from utils.i18n import UserError
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json

Answer = Literal["confirmed", "refused", "written"]
"""What is known of a content: what the person said, or that a call has *written* it."""
_MAX_KEPT = 1_000
_ANY = "*"
"""Stands in the file for all that had to make room there, so that forgetting allows nothing."""


class Consents:
    """What is known of the contents, in the file *path*, which all Onefolds on the project share.

    What cannot be kept holds for this process.
    """

    def __init__(self, path: Path) -> None:
        self._file = SharedFile(path)
        self._for_now: dict[str, Answer] = {}

    def get(self, digest: str) -> Answer | None:
        """Return what is known of a content, None for nothing."""
        kept = self._kept()
        return self._for_now.get(digest) or kept.get(digest) or kept.get(_ANY)

    def set(self, digest: str, answer: Answer) -> None:
        """Keep *answer* for good."""
        self.set_all([digest], answer)

    def set_all(self, digests: Collection[str], answer: Answer) -> None:
        """Keep *answer* of each content for good.

        Where more are known than are kept, each that is forgotten counts as written by a call.
        """

        def edit(before: bytes) -> bytes:
            kept = {d: one for d, one in _parse(before).items() if d not in now}
            return json.dumps(_bounded(kept | now), indent=1).encode()

        now = dict.fromkeys(digests, answer)
        for digest in digests:
            self._for_now.pop(digest, None)
        try:
            self._file.change(edit)
        except UserError:
            self._for_now |= now

    def set_for_now(self, digest: str, answer: Answer) -> None:
        """Let *answer* hold as long as this process runs."""
        self._for_now[digest] = answer

    def _kept(self) -> dict[str, Answer]:
        try:
            return _parse(self._file.read())
        except UserError:
            return {}


class AskOnce:
    """Asks once about each content: *consents* keeps a yes or a no, this process what else is said.

    Contents are told apart by `content_digest`.
    """

    def __init__(self, consents: Consents) -> None:
        self._consents = consents
        self._said: dict[str, Said] = {}

    def is_allowed(self, digest: str) -> bool:
        """Return whether the content counts: for good, or for this session."""
        return self._said.get(digest) == "allowed" or self._consents.get(digest) == "confirmed"

    def is_refused(self, digest: str) -> bool:
        return not self.is_allowed(digest) and self._consents.get(digest) == "refused"

    def is_open(self, digest: str) -> bool:
        """Return whether the person is still to be asked."""
        kept = self._consents.get(digest)
        return digest not in self._said and kept not in ("confirmed", "refused")

    def take(self, digest: str, said: Said) -> None:
        """Let what was *said* count for the content."""
        self._said[digest] = said
        if said in ("yes", "no"):
            self._consents.set(digest, "confirmed" if said == "yes" else "refused")


def content_digest(kind: str, data: bytes) -> str:
    """Return the digest of *data* as a *kind* of content: a yes to one kind is none to another."""
    return hashlib.sha256(kind.encode() + b"\0" + data).hexdigest()


def _bounded(answers: dict[str, Answer]) -> dict[str, Answer]:
    """Return the newest of *answers*, and what stands for the others unless a yes was all they
    were."""
    pairs = [pair for pair in answers.items() if pair[0] != _ANY]
    forgotten = [answer for _, answer in pairs[:-_MAX_KEPT]]
    is_any = _ANY in answers or any(answer != "confirmed" for answer in forgotten)
    kept: dict[str, Answer] = {_ANY: "written"} if is_any else {}
    return kept | dict(pairs[-_MAX_KEPT:])


def _parse(data: bytes) -> dict[str, Answer]:
    """Return what the file says; what it cannot mean confirms nothing."""
    try:
        values = read_json(data) if data else {}
    except ValueError:
        return {}
    known: tuple[Answer, ...] = ("confirmed", "refused", "written")
    pairs = values.items() if isinstance(values, dict) else ()
    return {digest: answer for digest, answer in pairs if answer in known}
