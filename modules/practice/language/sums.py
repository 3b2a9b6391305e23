"""Sums as people write them, as Python says them."""

from __future__ import annotations

import re

_NAMES = re.compile(
    r"(?:a?sin|a?cos|a?tan|sqrt|log2?|log10|exp|pi|e|factorial|floor|ceil|abs|round|min|max|pow|gcd)"
)
_SIGNS = str.maketrans({"×": "*", "÷": "/", "^": "**", "（": "(", "）": ")", "，": ",", "−": "-"})
_SPOKEN = {"times": "*", "multiplied by": "*", "plus": "+", "minus": "-", "divided by": "/"}
_WORD = re.compile(r"[A-Za-z_]\w*")
_LONGEST = 1_000  # characters


def as_python(text: str) -> str | None:
    """Return Python that prints the value of the sum *text*; None if it is not a sum."""
    if len(text) > _LONGEST:
        return None
    text = text.strip().rstrip("=?？ ").translate(_SIGNS)
    for words, sign in _SPOKEN.items():
        text = text.replace(words, sign)
    text = re.sub(r"(?<=[0-9)]) ?x ?(?=[0-9(])", "*", text)
    names = set(_WORD.findall(text))
    rest = _WORD.sub("", text)
    if not re.fullmatch(r"[0-9\s+*/%().,-]+", rest) or not all(map(_NAMES.fullmatch, names)):
        return None
    if names:
        return f"from math import *\nprint({text})"
    return f"print({text})" if re.search(r"[0-9)]\s*[-+*/%]", rest) else None
