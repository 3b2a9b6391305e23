"""Rules by which a line says how deep its task is, in English and Chinese.

In doubt a task is standard. A rule that is off, or one of the person's own, changes that; words in
the line itself go before all.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from core.loop.depth import Depth
from modules.depth.courtesies import LEAST_EVIDENCE, how_social
from modules.depth.hinted_pattern import HintedPattern
from modules.depth.simple_questions import MAX_QUESTION, is_simple_question
from modules.depth.word_points import plain_words, tally
from utils.i18n import Phrase, phrase

_MAX_LINE = 2_000
"""Characters that are looked at: what was pasted is not the person speaking."""
_ENDS = " .!?~。！？～"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of ours: lines that *matches* are of *depth*; *about* tells people which."""

    name: str
    depth: Depth
    about: Phrase
    matches: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A rule of the person's: lines with the words of *pattern*, in which `*` is anything.

    A social line has to be nothing but those, and has no `*`.
    """

    depth: Depth
    pattern: str

    def matches(self, line: str) -> bool:
        text = " ".join(line[:_MAX_LINE].casefold().split())
        pattern = " ".join(self.pattern.casefold().split())
        if self.depth == "social":
            return text.strip(_ENDS) == pattern.strip(_ENDS)
        parts, position = pattern.split("*"), 0
        for number, part in enumerate(parts):  # one after the other: no pattern takes long
            begins_word = number == 0 or part.startswith(" ")
            ends_word = number == len(parts) - 1 or part.endswith(" ")
            found = _as_words(part.strip(), begins_word, ends_word).search(text, position)
            if not found:
                return False
            position = found.end()
        return True


@dataclass(frozen=True, slots=True)
class Judged:
    """What a line was found to be, and the name or the pattern of the rule that says so.

    *words* are those of the line that told it, where it was told by its words.
    """

    depth: Depth
    rule: str = ""
    words: tuple[str, ...] = ()


def judge(
    line: str,
    own_rules: Sequence[OwnRule] = (),
    off: Collection[str] = (),
    *,
    chosen: Depth | None = None,
    is_open: bool = False,
) -> Judged:
    """Return how deep the task of *line* is.

    Words in it count first, then what was *chosen* for the session, then *own_rules*, then ours
    without those that are *off*. Where something *is_open*, a question or work, what may be an
    answer to it is no social line.
    """
    text = line[:_MAX_LINE].strip()
    for rule in (r for r in WORD_RULES if r.name not in off):
        if rule.matches(text):
            return Judged(rule.depth, rule.name)
    if chosen:
        return Judged(chosen)
    for own in own_rules:
        if own.matches(line) and not (is_open and own.depth == "social"):
            return Judged(own.depth, own.pattern)
    for rule in (r for r in RULES if r.name not in off):
        if rule.matches(text):
            if rule.depth == "social" and is_open and how_social(text) == "agreeing":
                break
            return Judged(rule.depth, rule.name, plain_words(text))
    return Judged("standard")


def _as_words(text: str, begins_word: bool, ends_word: bool) -> re.Pattern[str]:
    """Return what finds *text* where no word of letters goes on at its ends; Chinese has none."""
    before = "(?<![a-z0-9_])" if begins_word and text else ""
    after = "(?![a-z0-9_])" if ends_word and text else ""
    return re.compile(f"{before}{re.escape(text)}{after}")


def _is_told(depth: Depth, text: str) -> bool:
    """Return whether *depth* has the most points of *text*, and its words some of them."""
    told = tally(text)
    return told.depth == depth and told.evidence >= LEAST_EVIDENCE


def _is_lookup(text: str) -> bool:
    return len(text) <= MAX_QUESTION and _is_told("brief", text)


_SAYS_DEEP = HintedPattern(
    r"^(?:deep|深入|深度)\s*[:：]",
    r"\b(?:think|look|dig|analy[sz]e|investigate|research|study|examine|consider)\b"
    r"(?: \w+){0,3} (?:deep(?:ly|er)?|hard|thoroughly)\b(?!-| copy| nest| learn)",
    r"\b(?:in (?:great |more |full )?detail|thoroughly)(?=[ ,.:;!]|$)(?! view| page)",
    r"\b(?:deep|thorough|in-depth|detailed|exhaustive|comprehensive) (?:analysis|investigation"
    r"|study|dive|research|examination|assessment)\b",
    r"\bgo deep\b|\btake your time\b|\bin[- ]depth\b|\bdeep dive\b|\bthink (?:it|this) through\b"
    r"|\b(?:carefully )?think (?:carefully|through)\b",
    r"深入(?!浅出)|深度(?:优化|分析|排查|调研|重构|思考)|(?:好好|仔细|认真|慎重)(?:地)?(?:想"
    r"|思考|考虑|琢磨|斟酌|推敲)(?!念|我)|深思"
    r"|(?<!没关系，)(?<!没事，)(?<!别急，)(?<!不急，)(?<!没关系)慢慢来|彻底(?:分析|排查|调查"
    r"|检查|查)",
    r"详细(?!信息|日志|输出|模式|程度|页|地址|数据|资料)|全面(?=地?(?:分析|评估|检查|审查|梳理"
    r"|排查|调查|了解))",
    hints="exhaustive|comprehensive|detailed|deep|careful|hard|thorough|your time|depth|through"
    "|detail|深|好好|仔细|认真|慎重"
    "|慢慢来|彻底|详细|全面",
)
_SAYS_BRIEF = HintedPattern(
    r"^(?:brief|简短|简要)\s*[:：]",
    r"^(?:(?:hey|hi|hello|ok|okay|so|um|just an?)[, ]+)*(?:briefly|in short|in brief"
    r"|short answer|quick q(?:uestion)?|in a nutshell|in a sentence|long story short|tl;?dr)\b",
    r"\bin (?:one|a|two|three|a few) (?:short )?(?:sentences?|words?|lines?)(?=[:,.?!]|$)",
    r"\b(?:one|single|two)[- ](?:line|sentence|word|liner)s? (?:summary|answer|explanation"
    r"|description|version|overview)\b|\b(?:short|quick|brief) (?:summary|answer|explanation"
    r"|description|overview)(?: of|[:,.?!]|$)|\bin a nutshell\b|\bthe short version\b|"
    r"(?:[, ]briefly|[, ]in short|keep it (?:short|brief))[.!?]*$",
    r"一句话|^简短|简短(?:地)?(?:说|回答|介绍|解释)|简单(?:地)?(?:说|讲|回答|介绍|解释)|简要"
    r"|简而言之|长话短说",
    hints="brief|nutshell|short|quick|one-|single|quick question|tldr|tl;dr|sentence|word"
    "|line|一句话|简|长话短说",
)
_SAYS_STANDARD = HintedPattern(
    r"^(?:standard|normal|标准|普通)\s*[:：]", hints="standard|normal|标准|普通"
)


WORD_RULES = (
    Rule(
        "words-deep",
        "deep",
        phrase("Asked for: “think hard”, “in depth”, “take your time”, “deep: …”"),
        _SAYS_DEEP.is_in,
    ),
    Rule(
        "words-brief",
        "brief",
        phrase("Asked for: “briefly”, “in one sentence”, “brief: …”"),
        _SAYS_BRIEF.is_in,
    ),
    Rule(
        "words-standard",
        "standard",
        phrase("Asked for: “standard: …”"),
        _SAYS_STANDARD.is_in,
    ),
)
RULES = (
    Rule(
        "courtesies",
        "social",
        phrase("Only thanks, a greeting, a goodbye, praise or small talk"),
        lambda text: how_social(text) != "no",
    ),
    Rule(
        "big-work",
        "deep",
        phrase("Large work by its words: migrate, redesign, “the entire …”, a fault hard to find"),
        lambda text: _is_told("deep", text) and not is_simple_question(text),
    ),
    Rule(
        "question",
        "brief",
        phrase("A simple question without a change: what, where, which, how many"),
        lambda text: _is_lookup(text) or is_simple_question(text),
    ),
)
