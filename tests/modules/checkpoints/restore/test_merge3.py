from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modules.checkpoints.restore.merge3 import merge

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\r\n", b"d"]), max_size=12).map(
    b"".join
)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"),
        (b"a\nb\nc\n", b"b\nc\n", b"a\nb\nc\nd\n", b"b\nc\nd\n"),
        (b"a\nb\n", b"x\nb\n", b"x\nb\n", b"x\nb\n"),
        (b"a\nb\n", b"x\nb\n", b"y\nb\n", None),
        (b"a\nb\n", b"x\nb\n", b"a\ny\n", None),
        (b"", b"x\n", b"y\n", None),
        (b"a\r\nb\r\nc\r\n", b"A\r\nb\r\nc\r\n", b"a\r\nb\r\nC\r\n", b"A\r\nb\r\nC\r\n"),
        (b"a\0\nb\nc\n", b"A\nb\nc\n", b"a\0\nb\nC\n", None),
        (b"a\nb\nc", b"A\nb\nc", b"a\nb\nc\n", b"A\nb\nc\n"),
    ],
)
def test_merging(base: bytes, ours: bytes, theirs: bytes, expected: bytes | None) -> None:
    assert merge(base, ours, theirs) == expected


@given(LINES, LINES)
def test_one_side_alone_wins(base: bytes, side: bytes) -> None:
    assert merge(base, side, base) == side
    assert merge(base, base, side) == side
    assert merge(base, side, side) == side


@given(LINES, LINES, LINES)
def test_merging_does_not_care_for_sides(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merge(base, ours, theirs) == merge(base, theirs, ours)
