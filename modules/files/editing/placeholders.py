"""Lines that stand for code somebody did not write out: "// ... rest of the code unchanged"."""

from __future__ import annotations

import re

_COMMENT_FRAME = re.compile(
    r"^(?://+|#+|--+|;+|%+|\*+|/\*+|<!--+|\{/\*+|\(\*|\"\"\"|''')?[\s\[({<（【*-]*"
    r"|[\s\])}>）】*-]*(?:\*+/\}?|--+>|\*\)|\"\"\"|''')?$"
)
_DOTS = r"(?:\.{3,}|…+)"
_ADJECTIVES = r"(?:rest|remaining|remainder|other|existing|unchanged|previous|original|same)"
_NOUNS = (
    r"(?:code|codes|methods?|functions?|class(?:es)?|file|files|content|contents|implementations?|"
    r"body|logic|lines?|imports?|props|properties|fields|tests?|cases|sections?|items|entries|"
    r"rules|styles|text|definitions?|parameters|parts?|stuff)"
)
_STAYS = (
    r"(?:(?:remains?|stays?|is|are|continues?|goes)\s+)?(?:the\s+)?"
    r"(?:unchanged|same|as\s+(?:before|is|above)|omitted|unmodified|here|for\s+brevity)"
)
_ENGLISH = re.compile(
    rf"(?:{_DOTS}\s*.*\b{_ADJECTIVES}\b.*\b{_NOUNS}\b.*"
    rf"|{_DOTS}\s*(?:{_NOUNS}\s+)?{_STAYS}.*"
    rf"|{_DOTS}\s*{_ADJECTIVES}(?:\s+{_STAYS})?\s*{_DOTS}?"
    rf"|(?:the\s+)?{_ADJECTIVES}\b(?:\s+[\w'`.()]+){{0,5}}\s*{_DOTS}"
    rf"|(?:the\s+)?{_ADJECTIVES}\s+(?:of\s+)?(?:the\s+|your\s+|this\s+)?{_NOUNS}"
    rf"(?:\s+{_STAYS}|\s+(?:goes\s+)?here)\.?)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"{_DOTS}?\s*(?:此处|这里|以下|以上|后面)?(?:的)?(?:其余|其他|剩余|剩下|原有|现有|已有|省略|余下|之前)"
    rf"[\u4e00-\u9fff]{{0,8}}(?:代码|部分|内容|方法|函数|实现|逻辑|不变|省略)"
    rf"[\u4e00-\u9fff，、]{{0,8}}\s*{_DOTS}?。?"
)
_HINT = re.compile(
    rf"{_DOTS}|unchanged|omitted|same|before|here|[余他原现有前]|省略", re.IGNORECASE
)
_COMMENT_START = re.compile(r"^(?://|#|--|;|%|/\*|<!--|\{/\*|\(\*|[(\[（【<]|\.{3}|…)")
_ONLY_DOTS = re.compile(rf"(?://+|#+|--+|;+|%+)\s*{_DOTS}|(?:/\*|<!--|\{{/\*)\s*{_DOTS}\s*\S+")


def find_placeholder(new: str, text: str, *, is_shorter: bool) -> str | None:
    """Return the first line of *new* that stands for what was left out; None if there is none.

    A line that *text* holds itself is none. A comment of nothing but dots is one where *new*
    *is_shorter* than what it replaces.
    """
    if not _may_contain(new):
        return None
    existing = {line.strip() for line in text.split("\n")}
    for line in map(str.strip, new.split("\n")):
        if line and line not in existing and _is_placeholder(line, is_shorter):
            return line
    return None


def _may_contain(new: str) -> bool:
    return bool(_HINT.search(new))


def _is_placeholder(line: str, is_shorter: bool) -> bool:
    if len(line) > 120 or not _COMMENT_START.match(line):
        return False
    if is_shorter and _ONLY_DOTS.fullmatch(line):
        return True
    inner = _COMMENT_FRAME.sub("", line).strip()
    return bool(_ENGLISH.fullmatch(inner) or _CHINESE.fullmatch(inner))
