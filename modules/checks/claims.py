"""Claims of an answer: what it says was run or holds, told by rule, in English and Chinese.

What is denied, asked, wished, quoted or said under a condition is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["passes", "ran", "verified"]
"""A claim that tests or checks pass; that something was run; that something was made sure of."""

HINTS = (
    *("pass", "green", "ran ", "run ", "execut", "verif", "confirm", "validat", "tested"),
    *("clean", "succe", "double-check"),
    *("通过", "验证", "测试", "运行", "执行", "跑", "确认", "全绿"),
)
"""Words of which a claim has one: without any there is nothing to look for."""
MAX_TEXT = 200
"""Characters of a claim that are kept."""
_MAX_ANSWER = 50_000


class FoundClaim(NamedTuple):
    """A claim, the sentence that makes it, and the commands that it names."""

    kind: Kind
    text: str
    commands: tuple[str, ...]


_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTE_LINE = re.compile(r"^ {0,3}>.*$", re.MULTILINE)
_QUOTED = re.compile(r"“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|\"[^\"\n]*\"")
_CODE = re.compile(r"`([^`\n]+)`")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CLAUSE = re.compile(
    r"[,;:，；：、—()（）]|\s[-–]\s|\b(?:and|but|so|because|while|however|yet)\b"
    r"|但|而且|并且|所以|因此"
)
_CONDITION = re.compile(
    r"^\W*(?:and |then )?(?:if|when|whenever|once|unless|until|after|before|assuming|provided"
    r"|as soon as|to)\b"
    r"|^\s*(?:如果|若|假如|一旦|当|只要|除非|请|建议|等)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|no|never|none|nothing|cannot|without|neither|nor|fail(?:s|ed|ing)?|unable"
    r"|un(?:verified|tested|confirmed)|should|would|will|could|may|might|must|can|please|if|unless"
    r"|until|once|expect(?:ed)?|need(?:s|ed)?|whether|hopefully|probably|likely|presumably|seems?"
    r"|let me|going to|try|want|wish|plan)\b"
    r"|n['’]t\b|\?\s*$"
    r"|没|未|不|无法|无需|尚|应该|应当|将|会|可以|可能|需要|如果|若|请|建议|希望|预计|失败|能否"
    r"|是否|吗|待|？\s*$",
    re.IGNORECASE,
)
_NOT_UNSURE = re.compile(
    r"\bno (?:errors?|failures?|issues?|problems?|warnings?)\b"
    r"|没有(?:错误|问题|失败)|无(?:错误|报错)|不错",
    re.IGNORECASE,
)
_TESTS = r"(?:tests?|checks?|specs?|suite)"
_PASSES = re.compile(
    rf"\b(?:{_TESTS}|(?:test )?suites|lint(?:er|ing)?|type[- ]?check(?:s|er|ing)?|mypy|ruff|eslint"
    r"|pytest|build|ci)\b[^.]{0,60}?"
    r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed|ing)?|successful(?:ly)?|green|clean)\b"
    r"|\bpass(?:es|ed|ing)? (?:(?:all|every|each|both|\d+)\b[^.]{0,40}?\b|(?:the |its )?)"
    rf"{_TESTS}\b"
    r"|\b\d+ (?:tests? )?pass(?:ed|ing)\b"
    r"|\b(?:everything|all)(?: of (?:it|them))? (?:(?:is|are) )?(?:now )?"
    r"(?:pass(?:es|ed|ing)?|green)\b"
    r"|\b(?:green|passing|successful) (?:test|build|check)s?\b"
    r"|(?:测试|检查|用例|构建|编译)[^。]{0,16}?(?:通过|全绿|成功)"
    r"|通过(?:了)?[^。]{0,10}?(?:测试|检查|用例)",
    re.IGNORECASE,
)
_VERIFIED = re.compile(
    r"\b(?:verified|confirmed|validated|double-checked"
    r"|tested (?:it|this|that|the|and|with|by|manually|locally))\b"
    r"|\bI(?:'ve|’ve| have)?(?: also| now| just)? tested\b|^\W*(?:fully |thoroughly )?tested\b"
    r"|已(?:经)?(?:验证|确认|测试)|经(?:过)?(?:验证|测试)|验证(?:了|过|通过|无误)"
    r"|确认(?:了|过|无误)|测试过|测试了",
    re.IGNORECASE,
)
_RAN = re.compile(
    r"\b(?:I|we)(?:'ve|’ve| have)?(?: also| then| just| now| already)? "
    r"(?:ran|run|re-?ran|re-?run|executed)\b"
    r"|^\W*(?:ran|re-?ran|executed)\b|\bw(?:as|ere) (?:run|executed)\b"
    r"|(?:我|已|已经)(?:经)?(?:运行|执行|跑)|(?:运行|执行|跑)(?:了|过)",
    re.IGNORECASE,
)
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("passes", _PASSES),
    ("verified", _VERIFIED),
    ("ran", _RAN),
)


def may_claim(answer: str) -> bool:
    """Return whether it is worth looking for claims in *answer*; quick."""
    lowered = f" {answer[:_MAX_ANSWER].lower()}"
    return any(hint in lowered for hint in HINTS)


def claims_in(answer: str) -> list[FoundClaim]:
    """Return what *answer* claims, in order, each sentence once for each kind of claim."""
    text = _QUOTE_LINE.sub("", _FENCE.sub("\n", answer[:_MAX_ANSWER]))
    return [claim for sentence in _SENTENCE.split(text) for claim in _claims_of(sentence)]


def _claims_of(sentence: str) -> Iterator[FoundClaim]:
    commands = tuple(match[1].strip() for match in _CODE.finditer(sentence))
    # What is quoted is what somebody else says; a command in code stays as one word.
    plain = _QUOTED.sub("…", _CODE.sub(_as_word, sentence))
    plain = re.sub(r"[*_]{1,3}|^#+ |^\s*[-+] ", "", plain)
    shown = " ".join(sentence.split())[:MAX_TEXT]
    kinds: set[Kind] = set()
    is_conditional = False
    for clause in _CLAUSE.split(plain):
        is_conditional = is_conditional or bool(_CONDITION.search(clause))
        if is_conditional or _UNSURE.search(_NOT_UNSURE.sub("", clause)):
            continue
        kinds |= {kind for kind, pattern in _PATTERNS if pattern.search(clause)}
    for kind in sorted(kinds):
        yield FoundClaim(kind, shown, commands)


def _as_word(match: re.Match[str]) -> str:
    """Return the name of a test runner that is named in code, "…" for anything else."""
    found = re.search(r"\b(?:pytest|mypy|ruff|eslint|test|tests|check)\b", match[1])
    return found[0] if found else "…"
