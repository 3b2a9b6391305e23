"""The model's own edits of files in focus: which of them it knows to be done."""

from __future__ import annotations

import pytest

from modules.focus_contents import OwnEdit, OwnEdits


def test_a_request_looks_through_the_turn_only_where_edits_wait() -> None:
    edits = OwnEdits()
    edits.begin_request(lambda: pytest.fail("the whole turn was looked through for nothing"))
    edits.add("a.py", OwnEdit("c1", "one\n", "two\n"))
    looks = iter([{"c1"}])
    edits.begin_request(lambda: next(looks))
    edits.begin_request(lambda: pytest.fail("no edit came since the last request"))
    assert list(looks) == []
