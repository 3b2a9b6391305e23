from __future__ import annotations

import pytest

from modules.practice.language.quoting import extract_quotes


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("say `a then b`", ["a then b"]),
        ('say "a \\"b\\" c"', ['a "b" c']),
        ("don't say 'x y'", ["x y"]),
        ("把“甲”改成「乙」", ["甲", "乙"]),
        ("make a.py with:\n```python\nprint(1)\n```", ["print(1)"]),
        ("make a.py with:\n  x\n\n  y", ["  x\n\n  y"]),
        ("make a.py with:\nx\nthen run it", ["x"]),
        ("an ```inline``` fence", ["inline"]),
        ("```\n```", [""]),
    ],
)
def test_quotes_are_set_aside(text: str, values: list[str]) -> None:
    assert list(extract_quotes(text).texts) == values


@pytest.mark.parametrize(
    "text",
    [
        "print('hi') and x = \"a\"",
        "def f():\n    return 'x'",
        "“甲”、`b`",
        'an open " quote',
        "it's",
    ],
)
def test_what_was_set_aside_comes_back_to_the_letter(text: str) -> None:
    quoted = extract_quotes(text)
    assert quoted.restore(quoted.text) == text


def test_a_request_cannot_forge_a_mark() -> None:
    quoted = extract_quotes("show \x000\x00")
    assert (quoted.text, quoted.texts) == ("show 0", ())
