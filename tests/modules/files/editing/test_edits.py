"""An edit finds the one text that is meant, or says what there is instead; it never guesses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from modules.files.editing.edits import EditNotFound, find_edit

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
        ("a\nb\n", "1│a\n3│b\n", "old carries line numbers (12│); leave them out."),
        ("one two\n", "7│one too\n", "old does not occur. The nearest is line 1:\n1│one two\n"),
        (
            "one\n",
            "nothing alike",
            "old does not occur, nor anything like it; the file has 1 line",
        ),
        ("    x\n", "        x\n    y\n", "old does not occur"),
        ("", "x", "old does not occur, nor anything like it; the file has 0 lines."),
    ],
)
def test_what_is_not_clear_is_refused(text: str, old: str, said: str) -> None:
    with pytest.raises(EditNotFound) as caught:
        find_edit(text, old, "new")
    assert str(caught.value).startswith(said)


def test_a_new_line_that_cannot_be_indented_alike_is_refused() -> None:
    with pytest.raises(EditNotFound):
        find_edit("if x:\n    y\n", "    if x:\n        y\n", "  too little\n")


def test_the_nearest_block_is_quoted_with_its_first_difference() -> None:
    text = (
        "\n".join(f"line {n} of many" for n in range(1, 200)) + "\ndef total(items):\n    s = 0\n"
    )
    with pytest.raises(EditNotFound) as caught:
        find_edit(text, "def total(items):\n    s = 1\n", "x")
    assert str(caught.value) == (
        "old does not occur. The nearest are lines 200-201:\n"
        "200│def total(items):\n201│    s = 0\n"
        "The first difference:\nold:  '    s = 1'\nfile: '    s = 0' (line 201)"
    )


def test_letters_that_look_alike_are_told_apart() -> None:
    with pytest.raises(EditNotFound, match=r"'a cup of caf\\xe9'\nfile: 'a cup of cafe\\u0301'"):
        find_edit("a cup of cafe\u0301\nand a cake\n", "a cup of caf\u00e9\nand cake", "x")


METHOD = "class A:\n    def f(self):\n        x = 1\n        return x\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        pytest.param(
            METHOD,
            "x = 1\nreturn x",
            "        x = 2\n        return x + 1",
            METHOD.replace("x = 1", "x = 2").replace("return x", "return x + 1"),
            id="new stands as deep as the file",
        ),
        pytest.param(
            METHOD,
            "def f(self):\n    x = 1\n    return x",
            "    def f(self):\n        return 1",
            "class A:\n    def f(self):\n        return 1\n",
            id="a method, new as deep as the file",
        ),
        pytest.param(
            METHOD,
            "def f(self):\n        x = 1\n        return x",
            "    def f(self):\n        return 1",
            "class A:\n    def f(self):\n        return 1\n",
            id="only the first line of old lacks it",
        ),
        pytest.param(
            METHOD, "x = 1", "        x = 2", METHOD.replace("x = 1", "x = 2"), id="one line"
        ),
        pytest.param(
            METHOD,
            "return x",
            "        y = x\n        return y",
            METHOD.replace("return x", "y = x\n        return y"),
            id="one line by two",
        ),
        pytest.param(
            "    x\n    y\n",
            "        x\n        y\n",
            "    x\n    z\n",
            "    x\n    z\n",
            id="old is deeper than the file, new is not",
        ),
        pytest.param(
            "    if a:\n        b()\n",
            "if a:\n    b()",
            "    b()",
            "        b()\n",
            id="a line shared with old tells that new is meant as old is",
        ),
        pytest.param(
            "    if a:\n        b()\n",
            "if a:\n    b()",
            "    if c:\n        b()",
            "    if c:\n        b()\n",
            id="a line shared with the file tells that new is meant as it stands there",
        ),
    ],
)
def test_what_is_indented_already_is_not_indented_twice(
    text: str, old: str, new: str, after: str
) -> None:
    edit = find_edit(text, old, new)
    assert edit.applied(text) == after
    assert edit.tolerated is not None


def test_a_line_can_be_moved_to_the_right() -> None:
    edit = find_edit("if a:\n    x = 1\n", "x = 1", "    x = 1")
    assert edit.applied("if a:\n    x = 1\n") == "if a:\n        x = 1\n"


@pytest.mark.parametrize(
    "new",
    [
        pytest.param("            x\n            z", id="deeper than both"),
        pytest.param("    x\ny", id="a line as in the file, a line as in old"),
    ],
)
def test_an_indentation_that_can_be_meant_in_two_ways_is_refused(new: str) -> None:
    with pytest.raises(EditNotFound) as caught:
        find_edit("    x\n    y\n", "x\ny", new)
    assert str(caught.value) == (
        "old is lines 1-2 but for the indentation, and new can be meant in two ways. Give both as "
        "they are to stand in the file."
    )


@pytest.mark.parametrize(
    ("text", "old", "new", "after", "told"),
    [
        ("\tif a:\n\t\tb()\n", "    if a:\n        b()", "    if c:\n        d()",
         "\tif c:\n\t\td()\n", "indented by tabs where old has spaces"),
        ("  if a:\n    b()\n", "\tif a:\n\t\tb()", "\tif c:\n\t\td()",
         "  if c:\n    d()\n", "indented by spaces where old has tabs"),
        ("f(a,  b)\ng( c )\n", "f(a, b)\ng( c )\n", "f(b, a)\ng( c )\n",
         "f(b, a)\ng( c )\n", "white space within lines"),
        ("a =   1\nb = 2\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n",
         "a =   1\nb = 3\n", "white space within lines"),
        ("say “hello” – now\n", 'say "hello" - now', 'say "bye"', 'say "bye"\n', "look alike"),
        ('say "hello" - now\n', "say “hello” – now", "say “bye”", "say “bye”\n", "look alike"),
        ("it’s 1\nit’s 2\n", "it's 1\nit's 2", "it's 1\nit's 3", "it’s 1\nit's 3\n", "look alike"),
        ("a\u00a0b\n", "a b", "c", "c\n", "look alike"),
        ("a cafe\u0301!\n", "caf\u00e9", "tea", "a tea!\n", "look alike"),
        ("a caf\u00e9!\n", "cafe\u0301", "tea", "a tea!\n", "look alike"),
        ("a\u200bb = 1\n", "ab = 1", "ab = 2", "ab = 2\n", "look alike"),
        ("    x = “a”\n    y\n", 'x = "a"\ny', 'x = "b"\ny', '    x = "b"\n    y\n', "look alike"),
        ("a\nb\n", "\ufeffa\n", "\ufeffc\n", "c\nb\n", "byte order mark"),
        ("a\n  b\nc\n", "1│a\n2│  b", "1│a\n2│  B\n3│  C", "a\n  B\n  C\nc\n", "line numbers"),
        ("a\n  b\nc\n", "1│a\n2│  b\n", "x\n", "x\nc\n", "line numbers"),
        ("a\nb\nc\n", " 9│b\n10│c\n", "x\n", "a\nx\n", "line numbers"),
        ("a\nb\nc\n", "2 | b\n3 | c\n", "2 | x\n", "a\nx\n", "line numbers"),
        ("a\n\tb\n", "2\t\tb\n", "2\t\tc\n", "a\n\tc\n", "line numbers"),
        ("a\nb\nc\n", "```py\nb\n```", "```py\nd\n```\n", "a\nd\nc\n", "Markdown fence"),
        ("    a\n    b\n", "\n    a\n    b\n\n", "\n    c\n\n", "    c\n", "empty lines around it"),
        ("    a\n    b\n", "\n  a\n  b\n", "  c\n", "    c\n", "empty lines around it"),
        ("if a < b && c:\n", "if a &lt; b", "if a &gt; b", "if a > b && c:\n", "HTML entities"),
        ("<p>a</p>\n", "&lt;p&gt;a&lt;/p&gt;", "<b>a</b>", "<b>a</b>\n", "HTML entities"),
        ('print("a")\n', 'print(\\"a\\")', 'print(\\"b\\")', 'print("b")\n', "escaped once more"),
        ("a\nb\nc\n", "a\\nb", "x\\ny", "x\ny\nc\n", "escaped once more"),
        ("a\nb", "b\n", "c\n", "a\nc", "line ends"),
    ],
)  # fmt: skip
def test_trifles_are_forgiven_and_told(
    text: str, old: str, new: str, after: str, told: str
) -> None:
    edit = find_edit(text, old, new)
    assert edit.applied(text) == after
    assert told in str(edit.tolerated)


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        ("“a”\n„a“\n", '"a"', "b", "old occurs 2 times, at lines 1, 2."),
        ("a  b\na   b\n", "a b", "c", "old occurs 2 times, at lines 1, 2."),
        ("\ta\n  a\n", "    a", "    b", "old occurs 2 times, at lines 1, 2."),
        ("a\nb\n", "1│a\n2│b", "1│a\nb", "old has line numbers, which were left out, but new is"),
        ("a\nb\n", "8 | a\n9 | b", "c", "old does not occur"),
        ("<a>\n", "&lt;a&gt;", "<a> &lt;", "old has HTML entities (&lt;) where the file has"),
        ('f("a")\n', 'f(\\"a\\")', 'f(\\"b\\n\\")', "old was escaped once more than the file"),
        ("a\nb\nc\nd\n", "a\n...\nd", "x\n...\ny", "old does not occur"),
        ("def f():\n  a\n  b\nend\n", "def f():\n  z\n  z\nend", "x", "old does not occur"),
        ("ab\n", "a b", "c", "old does not occur"),
        ("x = '1  2'\ny = '1   2'\n", "x = '1 2'\ny = '1 3'", "c", "old does not occur"),
    ],
)  # fmt: skip
def test_what_could_be_wrong_is_refused(text: str, old: str, new: str, said: str) -> None:
    with pytest.raises(EditNotFound) as caught:
        find_edit(text, old, new)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "new", ["$1", r"\1 \g<0>", "{0} %s", r"C:\new\table", "&lt;", "\\n", "```"]
)
def test_new_is_taken_literally_where_old_is_exact(new: str) -> None:
    assert find_edit("a(.*)b[c]\n", "(.*)b[", new).applied("a(.*)b[c]\n") == f"a{new}c]\n"


words = some.lists(some.sampled_from(["a", "b", " ", "  ", "\t", "\n", "c"])).map("".join)


@given(words, words, words)
def test_no_edit_touches_more_than_white_space_beside_the_old_text(
    text: str, old: str, new: str
) -> None:
    """Whatever is forgiven: without white space, exactly one *old* has become *new*."""
    try:
        edit = find_edit(text, old, new)
    except EditNotFound:
        return
    assert squeezed(text[edit.start : edit.end]) == squeezed(old)
    assert squeezed(edit.new) == squeezed(new)
    assert edit.applied(text) == text[: edit.start] + edit.new + text[edit.end :]


def squeezed(text: str) -> str:
    return "".join(text.split())
