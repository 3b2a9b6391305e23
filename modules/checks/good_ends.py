"""Good ends: clauses that name a check and tell something good of it, in English and Chinese.

Both are small vocabularies, and any word of the one with any of the other is a good end: so what
nobody thought of is found too. Told bad of bad is good as well: "not one failure", "没有一个挂的".
"""

from __future__ import annotations

import re

_BAD = (
    r"(?:errors?|fail(?:s|ed|ing|ures?)?|issues?|problems?|warnings?|complaints?|regressions?"
    r"|red|hitch(?:es)?|break(?:s|ages?)?|br[eo]ken?|crash(?:es|ed)?|exceptions?|bad"
    r"|surprises?|trouble)"
)
_BAD_ZH = r"(?:报错|出错|错误|错|失败|挂|问题|告警|警告|异常|红|毛病|意外|遗漏)"
_NONE_ZH = (
    r"(?:没有?|无|零|未|不(?:会)?再|0\s?)(?:任何|一个?|一[处条例项]|出现?|发现|见|有|测试|用例|再)*"
)
NOT_BAD = re.compile(
    rf"\b(?:no|zero|0|without(?: an?y?)?|not an?y?(?: single)?|not one|never an?)"
    rf" (?:(?!(?:longer|one|need)\b)[\w-]+ ){{0,2}}{_BAD}\b"
    rf"|\b(?:nothing|none|no (?:tests?|specs?|checks?|builds?))"
    rf" (?:(?:of (?:it|them|these)|is|are|was|has|have|ever|now|still) ){{0,3}}{_BAD}\b"
    r"|\b(?:nothing|none|not one)(?: (?:in|of|from) (?:[\w'’-]+ ){1,4}?| )"
    r"(?:complains?|complained|objects?|objected|fails?|failed|breaks?|broke)\b"
    rf"|\b(?:no longer|nothing to|never once) (?:complain|fail|break|object|report|mend|fix)\w*"
    rf"|{_NONE_ZH}{_BAD_ZH}|无误|不错",
    re.IGNORECASE,
)
"""That something bad is not there."""
_CHECK = (
    r"(?:\b(?:(?:unit|test|type|regression)[- ]?){0,3}(?:tests?|testing|specs?|suites?|checks?"
    r"|checking|(?<=type )checkers?|ci|assertions?|regressions?|pipelines?|builds?"
    r"|lint(?:s|er|ers|ing)?|compil(?:er|ation|ing)"
    r"|pytest|unittest|mypy|ruff|eslint|jest|tsc|test_\w+)\b"
    r"|测试|单测|用例|断言|构建|编译|检查|校验|回归|流水线|\b(?:CI|lint|pytest)\b)"
)
_GOOD = (
    r"(?:\b(?:pass(?:es|ed|ing)?|green|clean(?:ly)?|ok|okay|fine|good|great|happy|happily|well"
    r"|success(?:ful|fully|es)?|succeed(?:s|ed|ing)?|works?|worked|working|holds?|held"
    r"|through(?= without| fine| clean|\W*$)|(?:went|came|got) through(?! \w+ \w+s\b)|checks? out"
    r"|in (?:\w+ )?order(?! (?:to|of|that|in)\b)|right|correct(?:ly)?|perfect(?:ly)?|smooth(?:ly)?"
    r"|spotless|flawless(?:ly)?|satisfied"
    r"|(?:as|the|what was|what I) expected|exit(?:s|ed)?(?: with)?(?: code| status)? (?:0|zero)"
    r"|thumbs up|full marks|agrees?)\b"
    r"|100 ?%|✅|✓|✔|\b(\d+)\s?/\s?\1\b"
    r"|通过|过[了啦关]|[全都皆均]过|绿|成功|正常|顺利|\bOK\b|无误|达标|成立|正确|对的|干净|好用"
    r"|符合预期|完好|…good…)"
)
_AFTER = re.compile(rf"{_CHECK}.{{0,60}}?{_GOOD}", re.IGNORECASE)
_BEFORE = re.compile(
    r"\b(?:all|everything)(?: is| are|['’]s)? (?:good|fine|ok|green|well) (?:with|in|on|for|by)"
    rf" .{{0,20}}?{_CHECK}|…good…\W+(?:(?:in|of|from|by|with) .{{0,20}}?)?{_CHECK}"
    rf"|\b(?:survive[sd]?|h[eo]ld?s? up|full marks|thumbs up) .{{0,20}}?{_CHECK}"
    rf"|(?:通过|…good…)[^，。]{{0,8}}?{_CHECK}",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\b(?:add|wr[io]t|creat|updat|renam|mov|remov|delet|chang|read|extend|configur|cover|fix"
    rf"|replac|adjust|prepar|set up)\w* (?:[\w-]+ ){{0,5}}?{_CHECK}"
    rf"|(?:新增|添加|加[了上]|写[了好]|增加|修改|删除?|改[了成]|移动?|重命名|补充?|更新)"
    rf"[^，。]{{0,12}}?{_CHECK}",
    re.IGNORECASE,
)
"""That somebody made a check, which says nothing of how it ended."""
_SOME_GOOD = re.compile(_GOOD, re.IGNORECASE)
_SOME_CHECK = re.compile(_CHECK, re.IGNORECASE)
_BARE = re.compile(
    r"^\W*(?:(?:(?:it|they|that)(?:['’](?:s|re))?|which|all|everything|now|then|is|are|was"
    r"|were|came|comes|come|back|out|finish(?:es|ed)|end(?:s|ed)|complete[sd]?|ran|runs"
    r"|with|of|them|the|still|there|again|too|a"
    r"|no)\W+|I can (?:now |happily )?(?:say|confirm|report|tell)(?: you)?(?: that)? |['’](?:s|re) "
    r"|(?:[也都全均皆]|全部|为|是|结果)\s*)*"
    rf"{_GOOD}(?:\W+(?:now|again|any ?more|any longer|too|as well|so far|there|at all|everywhere))*"
    r"[的了啦]?\W*$",
    re.IGNORECASE,
)
"""A clause that tells nothing but good, of what another one of its sentence names."""
_AS_MEANT = re.compile(
    r"\b(?:(?:as|the|what was|what I) expected|correct(?:ly)?|fine|clean(?:ly)?|success(?:fully)?"
    r"|green|the right|exit(?:s|ed)?(?: with)?(?: code| status)? (?:0|zero))\b",
    re.IGNORECASE,
)
_NONE_RED = re.compile(
    r"^\W*(?:zero|no|0|零)\W*(?:red|failures|failed|失败|报错)\W*$", re.IGNORECASE
)
"""A clause that is of checks, whatever stands beside it."""


def is_good_end(clause: str, sentence: str) -> bool:
    """Return whether *clause*, a part of *sentence*, says that a check ended well."""
    if _NONE_RED.search(clause):
        return True
    told = NOT_BAD.sub(" …good… ", clause)
    if _MADE.search(clause):
        return False
    if not _SOME_GOOD.search(told):  # quick: most say nothing good
        return bool(_BEFORE.search(told))
    if _BARE.search(told):
        return bool(_SOME_CHECK.search(sentence))
    return bool(_AFTER.search(told) or _BEFORE.search(told))


def tells_good(sentence: str) -> bool:
    """Return whether *sentence* tells something good, whatever it is of."""
    return bool(NOT_BAD.search(sentence) or _SOME_GOOD.search(sentence))


def tells_well(clause: str) -> bool:
    """Return whether *clause* says that what runs does so without fault, or as it should."""
    return bool(NOT_BAD.search(clause) or _AS_MEANT.search(clause))
