"""Text of documents for whoever reads files: with the scanned pages read by OCR where that is."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from modules.documents.contained_run import ContainedRuns
from modules.documents.kinds import MAX_DOCUMENT_BYTES, kind_by_name, kind_of
from modules.documents.ocr import read_scanned, unread_note
from modules.documents.problems import DocumentError, empty, too_large
from modules.documents.worker_process import run_worker

_MAX_KEPT_CHARACTERS = 20_000_000
"""Characters of the texts that are kept for the next range of them."""


class DocumentReader:
    """Reads documents, and keeps the texts of those read last."""

    def __init__(self, runs: ContainedRuns) -> None:
        self._runs = runs
        self._texts: OrderedDict[bytes, str] = OrderedDict()

    def read_text(self, name: str, data: bytes) -> str | None:
        """Return the text of *data*, the content of the file *name*; None for no document.

        Lines like `--- page 3 ---` mark its pages, slides, sheets, cells or sections. Raises
        `DocumentError`.
        """
        if len(data) > MAX_DOCUMENT_BYTES:
            raise DocumentError(too_large(name, len(data), MAX_DOCUMENT_BYTES))
        if not data and kind_by_name(name):
            raise DocumentError(empty(name))
        kind = kind_of(name, data)
        if kind is None:
            return None
        digest = hashlib.sha256(data).digest()
        if digest in self._texts:
            self._texts.move_to_end(digest)
            return self._texts[digest]
        answer = run_worker("read", kind, name, [data])
        text = answer.files[0].decode()
        if scanned := answer.values["scanned"]:
            text = self._with_scanned(name, data, text, scanned)
        return self._keep(digest, text)

    def _with_scanned(self, name: str, data: bytes, text: str, scanned: Sequence[int]) -> str:
        """Return *text* with what is on the pages *scanned*, or with what keeps it from us."""
        texts = read_scanned(self._runs, name, data, scanned)
        for number in scanned:
            mark = f"--- page {number} ---"
            said = texts.get(number)
            new = (
                f"--- page {number}, scanned, read by OCR ---\n{said}"
                if said
                else unread_note(number, is_tried=number in texts)
            )
            text = f"\n{text}\n".replace(f"\n{mark}\n", f"\n{new}\n", 1).strip("\n")
        return text

    def _keep(self, digest: bytes, text: str) -> str:
        self._texts[digest] = text
        while len(self._texts) > 1 and sum(map(len, self._texts.values())) > _MAX_KEPT_CHARACTERS:
            self._texts.popitem(last=False)
        return text
