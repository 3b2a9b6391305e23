"""Arithmetic as people write it, translated to Python."""

from __future__ import annotations

import re

_FUNCTIONS = re.compile(
    r"(?:a?sin|a?cos|a?tan|sqrt|log2?|log10|exp|pi|e|factorial|floor|ceil|abs|round|min|max|pow|gcd)"
)
_OPERATORS = str.maketrans(
    {"×": "*", "÷": "/", "^": "**", "（": "(", "）": ")", "，": ",", "−": "-"}
)
_SPOKEN_OPERATORS = {
    "times": "*",
    "multiplied by": "*",
    "plus": "+",
    "minus": "-",
    "divided by": "/",
}
_WORD = re.compile(r"[A-Za-z_]\w*")
_MAX_LENGTH = 1_000  # characters


def to_python(text: str) -> str | None:
    """Return Python that prints the value of the sum *text*; None if it is not a sum."""
    if len(text) > _MAX_LENGTH:
        return None
    text = text.strip().rstrip("=?？ ").translate(_OPERATORS)
    for words, sign in _SPOKEN_OPERATORS.items():
        text = text.replace(words, sign)
    text = re.sub(r"(?<=[0-9)]) ?x ?(?=[0-9(])", "*", text)
    names = set(_WORD.findall(text))
    operators = _WORD.sub("", text)
    if not re.fullmatch(r"[0-9\s+*/%().,-]+", operators) or not all(
        map(_FUNCTIONS.fullmatch, names)
    ):
        return None
    if names:
        return f"from math import *\nprint({text})"
    return f"print({text})" if re.search(r"[0-9)]\s*[-+*/%]", operators) else None
