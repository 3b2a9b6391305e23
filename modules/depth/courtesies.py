"""Lines that are wholly social: thanks, greetings, goodbyes, praise, small talk.

The points of a line's words tell, and they alone are not enough: each clause has to be talk, none
may set to work, and what names a file or code asks for something.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from modules.depth.orders import gives_order
from modules.depth.simple_questions import is_simple_question
from modules.depth.word_points import tally

Social = Literal["no", "agreeing", "wholly"]
"""How social a line is: one that is "agreeing" may be the answer to an open question."""

MAX_LENGTH = 160
"""Characters of a line beyond which nobody only says thanks."""
LEAST_LEAD = 3
"""Tenths by which social has to lead in the whole line."""
LEAST_LEAD_OF_A_QUESTION = 20
"""The same where the line asks what is: "how are you" more than "where is it"."""
LEAST_EVIDENCE = 10
"""Tenths that its words have to give it, whatever its shape gives."""
MOST_BEHIND = 8
"""Tenths by which it may be behind in one clause of it: "sorry, the cat sat on the keyboard"."""
_THING = r"`|@|https?:|\w\(\)|\w[/\\]\w|\b[\w-]+\.[a-z]{1,4}\d?\b|[a-z]_[a-z]|(?<!\w)--?[a-z]"
SENTENCES = r"[，。！？；：、～…]+|[,.!?;:~]+(?=\s|$|[^\x00-\x7f])"
"""What stands between sentences, and between the parts of one."""
_CLAUSES = (
    r"[-–—]+|[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]+|\b(?:and|but|then|now)\b"
    # a greeting or thanks with something else beside it, and no sign between
    r"|\b(?:thanks|thank you|thx|hi|hello|bye|great job)\b(?! (?:for|to|so|on|of)\b)"
    r"|谢谢|好的|你好(?!像|几)|(?<=[一-鿿])\s+|\s+(?=[一-鿿])"
)
_ORDER = (
    r"(?!(?:have|that's|thanks|thx|you're|ur|your|what|such|quite|not|no|well|ok|okay|so|oh|ah|aw+"
    r"|wow|yo+|lol|haha|appreciate|enjoy|love|like|hope|all|glad|it's|i'm|is|was|are|were|as|at|by"
    r"|for|from|in|of|on|to|with|just|such|evening|morning|nah|still|grabbing|learned|pardon|now)\b)"
    r"[a-z]+ (?:an?|the|this|these|those|all|each|every|some) "
)
"""A word before an article at the beginning is a verb of work: "plot a histogram"."""
_WORK = (
    r"检查|改(?!天|日)|删(?!库)|修(?!养|行|仙)|[换设转]成|设[为置]|写(?![得字作])|跑(?!步|了|通|来|去|调)|运行"
    r"|部署|提交|生成|添加|替换|配置|安装|更新|加[个上一](?!天|晚)|移[到动]|打开|关[闭掉]|显示|输出|读取|保存"
    r"|调[大小高低整用]|开关|列出|接口|文件|代码|页面|按钮|脚本|数据|日志|目录|变量|函数|参数|依赖"
)
"""Chinese words of work, which no talk has in it."""
_ANSWERS_NOTHING = (
    r"(?:(?:many |oh )?(?:thank|thx|tnx|ty\b|tysm|cheers|ta\b|hi\b|hello|hey|hiya|good (?:morning"
    r"|afternoon|evening|night)|morning\b|evening\b|bye|good ?bye|see (?:you|ya)|sorry|have an?\b"
    r"|gracias|merci|danke)|谢|感谢|多谢|非常感谢|太感谢|辛苦|你好|您好|早|晚安|晚上好|下午好|拜|再见"
    r"|明天见|抱歉|不好意思|对不起).*"
)


def how_social(line: str) -> Social:
    """Return how social *line* is."""
    if len(line) > MAX_LENGTH or "\n" in line.strip() or not line.strip():
        return "no"
    said = tally(line)
    lead = said.lead("social")
    if lead < LEAST_LEAD or said.evidence < LEAST_EVIDENCE:
        return "no"
    if lead < LEAST_LEAD_OF_A_QUESTION and is_simple_question(line):
        return "no"
    patterns = _patterns()
    if patterns.thing.search(line) or patterns.work.search(line) or gives_order(line):
        return "no"
    sentences = _parts(patterns.sentences, line.casefold())
    if any(_is_work(one) for each in sentences for one in _parts(patterns.clauses, each)):
        return "no"
    answers_nothing = sentences and all(map(patterns.answers_nothing.fullmatch, sentences))
    return "wholly" if answers_nothing else "agreeing"


def _parts(between: re.Pattern[str], text: str) -> list[str]:
    return [part.strip() for part in between.split(text) if part.strip()]


def _is_work(clause: str) -> bool:
    """Return whether *clause* may be of something else than talk: it is, or has unknown words."""
    said = tally(clause)
    lead, is_unknown = said.lead("social"), not said.words
    is_order = _patterns().order.match(clause) is not None
    return is_order or lead < -MOST_BEHIND or clause.isdecimal() or (lead > 0 and is_unknown)


class _Patterns(NamedTuple):
    sentences: re.Pattern[str]
    clauses: re.Pattern[str]
    order: re.Pattern[str]
    thing: re.Pattern[str]
    work: re.Pattern[str]
    answers_nothing: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    texts = (SENTENCES, _CLAUSES, _ORDER, _THING, _WORK, _ANSWERS_NOTHING)
    return _Patterns(*map(re.compile, texts))
