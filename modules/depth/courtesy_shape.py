"""The shape of a courtesy: clauses that thank, greet, part or praise, and ask for nothing.

A line is one where a clause bears a mark of it and every other is about people or what is over:
told by the words that such a clause begins with, which are few, not by all that it may say. Any
word of a request, a doubt or a fault, and it is none. A model that calls a tool for such a line
all the same does so: what is decided here is how long the answer may be.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

_PRAISED = (
    r"(?:great|super|awesome|amazing|perfect|excellent|wonderful|fantastic|brilliant|superb|lovely"
    r"|beautiful|impressive|cool|neat|nice|sweet|incredible|outstanding|terrific|gorgeous|good)"
)
_THANKS = (
    r"(?:thank (?:you|u|ya)|thanks+|thx|tnx|thanx|ty|tysm|cheers|much obliged|merci|gracias|danke)"
)
_MARK = (
    rf"(?:{_THANKS}|hi+|hello+|hey+|hiya|howdy|good (?:morning|afternoon|evening|day)|morning"
    r"|good ?night|(?:good ?)?bye+|see (?:you|ya)|take care"
    r"|(?:ha){2,}h?|lol|lmao|wow|whoa|yay|phew|congrats|kudos"
    rf"|{_PRAISED}(?: (?:work|job|stuff|one))?)"
)
_WHOM = (
    r"(?:there|again|all|everyone|folks|guys|team|mate|man|bro|dear|sir|(?:my )?friend|onefold"
    r"|indeed|then|though|anyway|too|bien|beaucoup)"
)
_MUCH = r"(?:a (?:bunch|lot|million|ton|heap)|so much|very much|lots|tons|heaps|loads|again|kindly)"
_ABOUT_PEOPLE = (
    r"(?:you(?:['’](?:re|ve|d))?"
    r"|i(?:['’]m| am|['’]ve| have)? (?:so|really|very|truly|off|done|out|heading|leaving|impressed"
    r"|glad|happy|amazed|grateful|love|loved|enjoyed|appreciate|learned|learnt|couldn['’]t have)"
    r"|(?:that|this|it)(?:['’]s| was| has| looks| is|['’]s been| did| went)"
    r"|(?:so |how )?(?:good|nice|great|lovely) to (?:be|see|hear|know|meet|have)"
    r"|what an?|such an?|no (?:more|further|other) (?:questions?|requests?)|nothing (?:else|more)"
    r"|exactly (?:what|as|how)|until|till|talk|catch|oh|ah|ok|okay|cool|whoa|alright"
    r"|all right)"
)
_PERSONAL_PRAISE = (
    r"\byou(?:['’](?:re|ve)| are| were| have).{0,20}\b(?:help(?:ful)?|kind|patient|funny|best"
    r"|legend|hero|star)\b|\bwithout you\b|\bimpressed\b"
)
_ASKS = (
    r"[?？/\\`\"@#=<>{}]|\d|\w\.\w"
    r"|\b(?:please|can(?!['’]t believe)|could(?!n['’]t have)|would|should|must|have to|need(?!ed)"
    r"|want(?!ed)|wish|wait|now|also|next(?! (?:time|week))|then \w|but|however|yet|still|instead"
    r"|let['’]?s|not|no(?! (?:more|further|other|worries|problem))|never|why|how(?! [a-z]+ly)|when"
    r"|where|which|if|unless|after|before|once|in advance|ahead|to [a-z]+ (?:the|it|this|that)"
    r"|(?:is|are|was) (?:there|it)|wrong|broken?|fail\w*|errors?|bugs?|slow|missing|crash\w*|stuck"
    r"|problems?|issues?|weird|strange|odd|off by|looks off|confus\w*|bad|worse|worst|red|empty"
    r"|almost|nearly|except|only|forgot|missed|left"
    r"|(?:were|are|['’]re) to|and (?:add|fix|make|run|do|show|tell|give|write|commit))\b"
    r"|(?<!couldn)n['’]t\b"
)
_MARK_ZH = (
    r"谢|感激|辛苦|拜拜|再见|晚安|早安|[早中下晚][上午]?好|[你您大家]好|哈[喽啰罗]|嗨|厉害|棒|真牛|太牛"
    r"|赞|完美|满意|愉快|快乐|幸会|客气|佩服|贴心|给力|哈哈|嘻嘻|6{3}|开心|帮了?.{0,2}大忙|关照|指教"
    r"|保重|加油|有意思|[你您](?:真|太|好|很|可)|^牛|太好了"
    r"|(?:明天|下?周[一二三四五六日末]?|回头|改天|下次|一会儿?|晚点|待会儿?)[再]?[见聊]"
)
_ABOUT_PEOPLE_ZH = (
    r"^(?:我先|我[走下撤睡]|你|您|这|那|真|太|好|嗯|哦|今天|终于|下次|改天|没别的|没其他)"
)
_ASKS_ZH = (
    r"第|-|请(?!多)|帮(?!了)|麻烦(?!你了|您了)|再(?!见|聊|会|次感谢|次谢谢|接再厉)|但|不过|可是|还(?!是)"
    r"|改(?!天|得)|修|加(?!油)|删|写(?!得)|跑|运行|试|看|查|做(?!得|个)|弄(?!得)|处理|继续|然后|接着|顺便"
    r"|能|可以|吗|怎|为什么|为啥|哪|什么|错|报|失败|问题|不|慢|没(?!有?(?:别|其他|事))|坏|卡|把|给我|将"
    r"|需要|要|换|提交|如果|等|先(?!去|走|撤|睡|下|这样)|[a-z]{2,}"
)
_WORDS_OF_MARKS = (
    *("thank", "thx", "tnx", " ty", "cheers", "obliged", "merci", "gracias", "danke", "hello"),
    *("hey", "hi ", "hi,", "howdy", "good", "morning", "bye", "see y", "take care", "haha", "lol"),
    *("wow", "yay", "congrats", "kudos", "great", "awesome", "amazing", "perfect", "wonderful"),
    *("brilliant", "lovely", "nice", "sweet", "help", "impressed", "without you", "funny"),
    *("谢", "感激", "辛苦", "拜", "再见", "安", "好", "嗨", "哈", "厉害", "棒", "牛", "赞", "完美"),
    *("满意", "愉快", "快乐", "幸会", "客气", "佩服", "贴心", "给力", "66", "开心", "忙", "关照"),
    *("指教", "保重", "加油", "有意思", "你", "您", "见", "聊"),
)
"""What stands in most lines of that shape: others need no pattern."""


class _Patterns(NamedTuple):
    asks: re.Pattern[str]
    asks_zh: re.Pattern[str]
    marked: re.Pattern[str]
    marked_zh: re.Pattern[str]
    people: re.Pattern[str]
    people_zh: re.Pattern[str]
    between: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    tail = rf"(?: {_MUCH}| {_WHOM}| (?:for|to you|from|on|at|as)\b.*| {_ABOUT_PEOPLE}\b.*)*"
    begins = rf"(?:(?:oh|ah|ok|okay|well|so|and|many|a million) )*{_MARK}"
    wish = (
        r"(?:have an?|enjoy (?:the|your)|happy) (?:[a-z]+ ){0,2}(?:days?|evening|night|morning"
        r"|afternoon|week|weekend|time|one|trip|holidays?|lunch|break|rest|birthday|friday)"
        r"|(?:see|talk to|catch) (?:you|ya) [a-z ]{1,20}"
    )
    return _Patterns(
        asks=re.compile(_ASKS),
        asks_zh=re.compile(_ASKS_ZH),
        marked=re.compile(rf"(?:{begins}{tail}|{wish})$|.*(?:{_PERSONAL_PRAISE})"),
        marked_zh=re.compile(rf".*(?:{_MARK_ZH})(?:[^第-]*[了啦吧的得呀啊哒呢哦哈])?$"),
        people=re.compile(rf"(?:{_ABOUT_PEOPLE}\b.*|{_WHOM})$"),
        people_zh=re.compile(
            rf"{_ABOUT_PEOPLE_ZH}.*[了啦吧的得呀啊]$|(?:非常|真|太|很|特别|超|挺).{{1,4}}$"
        ),
        between=re.compile(
            r"[,.!;:~…，。！；：、～]+|\band\b|\s[-–—]\s|(?<=[一-鿿])\s+(?=[一-鿿])"
        ),
    )


def is_courteous(line: str) -> bool:
    """Return whether *line*, in small letters, has the shape of a courtesy and asks for nothing."""
    if not any(word in line for word in _WORDS_OF_MARKS):
        return False
    patterns = _patterns()
    if patterns.asks.search(line):
        return False
    plain = "".join(" " if _is_picture(sign) else sign for sign in line)
    parts = (" ".join(part.split()) for part in patterns.between.split(plain))
    marks = [_has_mark(part, patterns) for part in parts if part]
    return None not in marks and True in marks


def _is_picture(sign: str) -> bool:
    return unicodedata.category(sign) in ("So", "Sk", "Cf", "Mn")


def _has_mark(clause: str, patterns: _Patterns) -> bool | None:
    """Return whether *clause* bears a mark; None where it is of no such shape at all."""
    if clause.isascii():
        if patterns.marked.match(clause):
            return True
        return False if patterns.people.match(clause) else None
    if patterns.asks_zh.search(clause):
        return None
    if patterns.marked_zh.match(clause):
        return True
    return False if patterns.people_zh.search(clause) else None
