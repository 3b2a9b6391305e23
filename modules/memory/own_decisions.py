"""Decisions of the model in its own words, and why or instead of what.

A rule finds them, which misses rather than guesses: the model speaks of itself, says that it does
something or has decided, and gives a reason or what was not taken. Offers and questions are none.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache, lru_cache

_MAX_READ = 20_000
"""Characters of a reply that are looked at."""
_MAX_SENTENCE = 240
"""Characters of a sentence beyond which it says more than one decision."""
_CODE = re.compile(r"```.*?(?:```|\Z)|^>[^\n]*$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r" {0,3}\t| {4}")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?=\s|$|[一-鿿])|\n+")
_MARKUP = re.compile(r"^(?:\s*(?:[-*+]|\d+[.)]|#+)\s+)+|\*\*|__")


@lru_cache(maxsize=1024)  # the replies of a session are read after each turn
def find_decisions(reply: str) -> tuple[str, ...]:
    """Return the sentences of *reply* that say a decision, each a line, in their order."""
    text = _without_indented_code(_CODE.sub("\n", reply[:_MAX_READ]))
    sentences = (" ".join(_MARKUP.sub("", one).split()) for one in _SENTENCE_END.split(text))
    return tuple(one for one in sentences if len(one) <= _MAX_SENTENCE and _is_decision(one))


def _without_indented_code(text: str) -> str:
    """Return *text* without lines that are indented as code is; bullets below a bullet are none."""
    kept: list[str] = []
    is_in_list = False
    for line in text.split("\n"):
        is_bullet = bool(_BULLET.match(line))
        if not _INDENTED.match(line):
            is_in_list = is_bullet or (is_in_list and not line.strip())
        elif not (is_in_list and is_bullet):
            continue
        kept.append(line)
    return "\n".join(kept)


def _is_decision(sentence: str) -> bool:
    if sentence.endswith(("?", "？")) or not sentence:
        return False
    return any(pattern.match(sentence) for pattern in _patterns())


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    lead = r"(?:(?:so|therefore|instead|thus|hence|for now|here|ok|okay)[,:]? )?"
    who = r"(?:i|we)(?:['’](?:ll|ve|m|re)| will| have| am| are)?"
    decided = r"(?:decided|chose|chosen|opted|settled on|picked|rejected|ruled out)\b"
    does = (
        r"(?:use|using|used|keep|keeping|kept|store|storing|stored|go(?:ing)? with|went with"
        r"|stick(?:ing)? (?:with|to)|take(?! a look)|taking|took|put|putting|build|add|write"
        r"|leave|leaving|left|avoid|avoiding|avoided|switch(?:ed|ing)? to|base|drop|dropped)\b"
    )
    why = (
        r"\b(?:because|since|instead of|rather than|so that|as (?:it|this|that|the)"
        r"|to (?:avoid|keep|stay|prevent|not))\b"
    )
    chosen_zh = r"(?:决定|选择了?|选用|选了|采用|改用|沿用|保留|使用|放弃)"
    why_zh = r"(?:因为|由于|而不是|而非|以便|以免|以避免|避免|这样|理由是|原因是)"
    return (
        re.compile(r"(?:decision|decided|决定|决策)\s*[:：]\s*\S.*", re.IGNORECASE),
        re.compile(rf"{lead}{who} (?:also |have |therefore )?{decided}.+", re.IGNORECASE),
        re.compile(rf"{lead}{who} (?:also |therefore )?{does}.*{why}.+", re.IGNORECASE),
        re.compile(r"(?:所以|因此|于是|这里)?[,，]?(?:我们?)(?:最终|最后|就|将|会|先)?决定.+"),
        re.compile(
            rf"(?:所以|因此|于是|这里)?[,，]?(?:我们?)[^，。可能要想]{{0,6}}{chosen_zh}.+{why_zh}.+"
        ),
        re.compile(
            rf"(?:因为|由于)[^。]+[,，](?:所以|因此)?(?:我们?)[^，。可能要想]{{0,6}}{chosen_zh}.+"
        ),
    )
