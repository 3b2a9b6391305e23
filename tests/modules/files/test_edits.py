"""An edit finds the one text that is meant, or says what there is instead; it never guesses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from modules.files.edits import NotFound, find_edit

CODE = "class A:\n    def f(self):\n        if x:  \n            return 1\n\n    def g(self):\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("abc", "b", "B", "aBc"),
        ("a\nb", "a\r\nb", "c\r\nd", "c\nd"),
        (CODE, "        if x:\n            return 1\n", "        pass\n",
         CODE.replace("        if x:  \n            return 1\n", "        pass\n")),
        (CODE, "if x:\n    return 1", "if y:\n\n    return 2",
         CODE.replace("if x:  \n            return 1", "if y:\n\n            return 2")),
        (CODE, "            def g(self):\n", "            def h(self):\n",
         CODE.replace("def g", "def h")),
        ("\tif x:\n\t\ty()\n", "if x:\n\ty()\n", "z()\n", "\tz()\n"),
        ("a  \nb", "a\nb\n", "c\n", "c"),
    ],
)  # fmt: skip
def test_white_space_is_forgiven_where_it_is_clear(
    text: str, old: str, new: str, after: str
) -> None:
    edit = find_edit(text, old, new)
    assert edit.applied(text) == after
    assert (edit.tolerated is None) == (text.count(old) == 1)


@pytest.mark.parametrize(
    ("text", "old", "said"),
    [
        ("aXbX", "X", "old occurs 2 times, at lines 1, 1."),
        ("aaa", "aa", "old occurs 2 times, at lines 1, 1."),
        (" x:\n y\n  x:\n  y\n", "x:\ny", "old occurs 2 times, at lines 1, 3."),
        ("a \nb\na\t\nb\n", "a\nb", "old occurs 2 times, at lines 1, 3."),
        (
            "  a\n    b\n",
            "a\nb",
            "old does not occur. The nearest are lines 1-2:\n1│  a\n2│    b\n",
        ),
        ("a b\n", "a c\n", "old does not occur. The nearest is line 1:\n1│a b\n"),
        ("one two\n", "1│one two\n", "old carries line numbers (12│); leave them out."),
        (
            "one\n",
            "nothing alike",
            "old does not occur, nor anything like it; the file has 1 lines",
        ),
        ("    x\n", "        x\n    y\n", "old does not occur"),
        ("", "x", "old does not occur, nor anything like it; the file has 0 lines."),
    ],
)
def test_what_is_not_clear_is_refused(text: str, old: str, said: str) -> None:
    with pytest.raises(NotFound) as caught:
        find_edit(text, old, "new")
    assert str(caught.value).startswith(said)


def test_a_new_line_that_cannot_be_indented_alike_is_refused() -> None:
    with pytest.raises(NotFound):
        find_edit("if x:\n    y\n", "    if x:\n        y\n", "  too little\n")


def test_the_nearest_block_is_quoted_with_its_first_difference() -> None:
    text = (
        "\n".join(f"line {n} of many" for n in range(1, 200)) + "\ndef total(items):\n    s = 0\n"
    )
    with pytest.raises(NotFound) as caught:
        find_edit(text, "def total(items):\n    s = 1\n", "x")
    assert str(caught.value) == (
        "old does not occur. The nearest are lines 200-201:\n"
        "200│def total(items):\n201│    s = 0\n"
        "The first difference:\nold:  '    s = 1'\nfile: '    s = 0' (line 201)"
    )


def test_letters_that_look_alike_are_told_apart() -> None:
    with pytest.raises(NotFound, match=r"'a cup of caf\\xe9'\nfile: 'a cup of cafe\\u0301'"):
        find_edit("a cup of cafe\u0301\n", "a cup of caf\u00e9", "x")


words = some.lists(some.sampled_from(["a", "b", " ", "  ", "\t", "\n", "c"])).map("".join)


@given(words, words, words)
def test_no_edit_touches_more_than_white_space_beside_the_old_text(
    text: str, old: str, new: str
) -> None:
    """Whatever is forgiven: without white space, exactly one *old* has become *new*."""
    try:
        edit = find_edit(text, old, new)
    except NotFound:
        return
    assert squeezed(text[edit.start : edit.end]) == squeezed(old)
    assert squeezed(edit.new) == squeezed(new)
    assert edit.applied(text) == text[: edit.start] + edit.new + text[edit.end :]


def squeezed(text: str) -> str:
    return "".join(text.split())
