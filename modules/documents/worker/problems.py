"""Problems of a document, as the worker tells them: a code, and values for the sentence."""

from __future__ import annotations


class Problem(Exception):
    """The document cannot be used for *code*; `modules.documents.problems` says it to people."""

    def __init__(self, code: str, **values: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.values = values
