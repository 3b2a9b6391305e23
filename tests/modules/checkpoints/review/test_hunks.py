from __future__ import annotations

import random

from modules.checkpoints.restore.merge3 import merge_common, merge_preferring_theirs
from modules.checkpoints.review.hunks import apply_hunk, hunks, revert_hunk
from utils.text.line_diff import text_diff, with_ends

OLD = "".join(f"line {number}\n" for number in range(1, 31))


def changed(text: str, *edits: tuple[str, str]) -> str:
    for before, after in edits:
        text = text.replace(before, after)
    return text


def test_far_changes_are_hunks_of_their_own() -> None:
    new = changed(OLD, ("line 3\n", "three\n"), ("line 25\n", ""))
    found = hunks(OLD, new) or []
    assert [(hunk.added, hunk.removed) for hunk in found] == [(1, 1), (0, 1)]
    assert found[0].diff.split("\n") == [
        *("@@ -1,6 +1,6 @@", " line 1", " line 2", "-line 3", "+three"),
        *(" line 4", " line 5", " line 6"),
    ]
    assert "\n".join(hunk.diff for hunk in found) == text_diff(OLD, new).diff


def test_near_changes_are_one_hunk() -> None:
    new = changed(OLD, ("line 3\n", "three\n"), ("line 9\n", "nine\n"))
    assert len(hunks(OLD, new) or []) == 1


def test_one_hunk_goes_and_the_others_stay() -> None:
    new = changed(OLD, ("line 3\n", "three\n"), ("line 25\n", "and more\nline 25\n"))
    first, second = hunks(OLD, new) or []
    assert revert_hunk(OLD, new, first) == apply_hunk(OLD, new, second)
    assert revert_hunk(OLD, new, first) == OLD.replace("line 25\n", "and more\nline 25\n")
    assert revert_hunk(OLD, new, second) == apply_hunk(OLD, new, first)
    assert apply_hunk(OLD, new, first) == OLD.replace("line 3\n", "three\n")


def test_the_end_without_a_newline_is_shown() -> None:
    (only,) = hunks("a\nb", "a\nb\n") or []
    assert only.diff == "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"
    assert revert_hunk("a\nb", "a\nb\n", only) == "a\nb"


def test_form_feeds_and_other_ends_are_no_lines() -> None:
    assert with_ends("a\x0cb\u2028c\rd\ne") == ["a\x0cb\u2028c\rd\n", "e"]


def test_any_hunk_of_any_texts_can_be_taken_alone() -> None:
    rnd = random.Random(7)
    for _ in range(300):
        old = "".join(rnd.choice("abc\n") + "\n" * rnd.randint(0, 2) for _ in range(40))
        lines = with_ends(old)
        for _ in range(rnd.randint(0, 6)):
            place = rnd.randrange(len(lines) + 1)
            lines[place : place + rnd.randint(0, 3)] = ["new\n"] * rnd.randint(0, 2)
        new = "".join(lines)
        left = new
        while found := hunks(old, left):
            left = revert_hunk(old, left, rnd.choice(found))
        assert left == old
        while found := hunks(left, new):
            left = apply_hunk(left, new, rnd.choice(found))
        assert left == new


def test_too_much_is_not_divided() -> None:
    old, new = ("".join(f"{side}{number}\n" for number in range(15_000)) for side in "ab")
    assert hunks(old, new) is None


def test_where_both_changed_one_side_is_preferred() -> None:
    base, ours, theirs = b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\nE\n", b"A\nb\nc\nd\nX\n"
    assert merge_preferring_theirs(base, ours, theirs) == b"A\nb\nc\nd\nX\n"
    assert (
        merge_preferring_theirs(base, b"a\nB\nc\nd\ne\n", b"a\nb\nc\nD\ne\n") == b"a\nB\nc\nD\ne\n"
    )
    assert merge_preferring_theirs(b"\0", b"a", b"b") == b"b"


def test_what_both_changed_alike_is_shared() -> None:
    base, one, other = b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\nE\n", b"A\nb\nc\nd\nX\n"
    assert merge_common(base, one, other) == b"A\nb\nc\nd\ne\n"
    assert merge_common(base, base, other) == base
