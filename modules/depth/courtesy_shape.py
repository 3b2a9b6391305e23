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

from modules.depth.talk_of_things import names_a_thing_in_chinese
from modules.depth.talk_words import is_talk

_PRAISED = (
    r"(?:great|super|awesome|amazing|perfect|excellent|wonderful|fantastic|brilliant|superb|lovely"
    r"|beautiful|impressive|cool|neat|nice|sweet|incredible|outstanding|terrific|gorgeous|good)"
)
_WORK = (
    r"(?:files?|folders?|director(?:y|ies)|code|tests?|function|method|class|module|script|branch"
    r"|commit|build|server|database|page|button|field|column|row|line|version|readme|docs?|config"
    r"|settings?|logs?|import|package|api|app|site|repo|style|colou?r|title|header|footer|menu|icon"
    r"|fix|change|add|remove|delete|rename|update|run|push|merge|deploy|install|check|try|undo|redo"
    r"|revert|refactor|test|show|open|close|print|list|search|find|replace|move|copy|explain|tell)"
)
"""What work is done on, and with: no clause of a courtesy speaks of it."""
_WORK_ZH = (
    r"文件|目录|代码|测试|函数|方法|类|模块|脚本|分支|版本|服务|数据库|页面|按钮|字段|接口|配置|日志|标题|颜色|样式|图标|注释"
    r"|变量|依赖|参数|撤销|恢复|回滚|合并|推送|部署|安装|更新|添加|加[上个]|解释|说明|介绍|翻译|生成|搜索|替换|移动|复制|打开|重"
)
_THANKS = (
    r"(?:thank (?:you|u|ya)|thanks+|thx|tnx|thanx|ty|tysm|cheers|much obliged|merci|gracias|danke)"
)
_GO_ON_AFTER_THANKS = (
    r"for|so|a|very|much|lots|tons|heaps|loads|again|all|everyone|team|guys|man|bro|mate|friend|my"
    r"|anyway|though|to|indeed|kindly|folks|dear|sir|buddy|dude"
)
_MARK = (
    rf"(?:{_THANKS}|hi+|hello+|hey+|hiya|howdy|good (?:morning|afternoon|evening|day)|morning"
    r"|good ?night|(?:good ?)?bye+|see (?:you|ya)|take care"
    r"|(?:ha){2,}h?|lol|lmao|wow|whoa|yay|phew|congrats|kudos"
    rf"|{_PRAISED}(?: (?:work|job|stuff|one))?)"
)
_WHOM = (
    r"(?:there|again|all|everyone|folks|guys|team|mate|man|bro|dear|sir|(?:(?:my|old|dear) )*friend"
    r"|onefold|indeed|then|though|anyway|too|bien|beaucoup)"
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
    r"|all right|i (?:was|am|got|have been|['’]ve been) \w+$|i(?:['’]m| am) \w+$"
    r"|(?:i )?hope(?:fully)? (?:you|your|all|everyone|that|this|it)|same here|me too)"
)
_PERSONAL_PRAISE = (
    r"\byou(?:['’](?:re|ve)| are| were| have).{0,20}\b(?:help(?:ful)?|kind|patient|funny|best"
    r"|legend|hero|star)\b|\bwithout you\b|\bimpressed\b"
)
_COURTESY = (
    r"(?:(?:i(?:['’]m| am) )?(?:so |very |really |terribly )*sorry (?:for|about|to have|i was)"
    r"|apologies for|(?:my (?:bad|fault|mistake))$|pardon|excuse me$|forgive me"
    r"|(?:no|don['’]t) (?:worr(?:y|ies)|problem|rush|hurry|stress)\b|not at all$|never mind$"
    r"|i did(?:n['’]t| not) (?:expect|think|know|realise|realize|even)\b"
    r"|best of luck|i owe you|you deserve"
    r"|(?:(?:that|this|it)(?:['’]s| is| was) )?(?:exactly|just|precisely|everything)"
    r" (?:what|how|as|that)? ?i(?:['’]d| had| was| have)? (?:need|want|hop|look|imagin|expect|dream"
    r"|in mind|been)\w*"
    r"|(?:i )?could(?:n['’]t| not) (?:have \w+|be|agree)(?: \w+)? (?:better|more|happier|nicer))"
)
_ASKS = (
    r"\b(?:please|can(?!['’]t believe)|could(?!n['’]t (?:have|be|agree))|would|should|must|have to"
    r"|need(?!ed)|want(?!ed)|wish(?! you|ing)|wait|now|also|next(?! (?:time|week))|then \w|but"
    r"|however|yet|still|instead|let['’]?s|not(?! (?:at all$|expect|think|know|realise))"
    r"|no(?! (?:more|further|other|worries|problem|rush|hurry|stress))|never(?! mind$)|why"
    r"|how(?! [a-z]+ly| (?:i|kind|nice|lovely|sweet))|when"
    r"|where|which|if|unless|after|before|once|in advance|ahead|to [a-z]+ (?:the|it|this|that)"
    r"|(?:is|are|was) (?:there|it)|wrong|broken?|fail\w*|errors?|bugs?|slow|missing|crash\w*|stuck"
    r"|problems?|issues?|weird|strange|odd|off by|looks off|confus\w*|(?<!my )(?<!not )bad|worse"
    r"|worst|red|empty|almost|nearly|except|only|forgot|missed|left|meant|other|another"
    r"|like to|write|draw|better (?:as|when|like)|you (?:will|have to|are to)"
    rf"|{_WORK}"
    r"|(?:were|are|['’]re) to|and (?:add|fix|make|run|do|show|tell|give|write|commit))\b"
    r"|(?<!could)(?<!do)(?<!i did)n['’]t\b|\bdon['’]t (?!worry|rush|hurry|stress|mention)"
)
_MARK_ZH = (
    r"抱歉|不好意思|对不起|过意不去|没想到|多亏|有你真|有你在|了不起|不愧|不错|绝了|松了?一?口气|想要的|期待的"
    r"|[我咱](?:先)?(?:知道|明白|懂|了解)|(?:下班|收工|回家|睡觉?|休息|吃[饭中午晚早]饭?|午休|开会)(?:去|啦|了)"
    r"|好[冷热困累饿]|祝|恭喜|幸好|幸运|惊喜|惊艳|舒服|感动|放心|安心"
    r"|顺利|爽|过瘾|佩|敬|靠谱|没毛病|"
    r"谢|感激|辛苦|拜拜|再见|晚安|早安|[早中下晚][上午]?好|[你您大家]好|哈[喽啰罗]|嗨|厉害|棒|真牛|太牛"
    r"|赞|完美|满意|愉快|快乐|幸会|客气|佩服|贴心|给力|哈哈|嘻嘻|6{3}|开心|帮了?.{0,2}大忙|关照|指教"
    r"|保重|加油|有意思|[你您](?:真|太|好|很|可)|^牛|太好了"
    r"|(?:明天|下?周[一二三四五六日末]?|回头|改天|下次|一会儿?|晚点|待会儿?)[再]?[见聊]"
)
_ABOUT_PEOPLE_ZH = (
    r"^(?:我先|我(?:知道|明白|懂|去|得走)|刚才|刚刚|让[你您]|有[你您]|正是"
    r"|果然|居然|竟然|行$|吃饭|下班|回家|睡觉|休息|我[走下撤睡]|你|您|这|那"
    r"|真|太|好|嗯|哦|今天|终于|下次|改天|没别的|没其他)"
)
_ASKS_ZH = (
    r"第|-|请(?!多)|帮(?!了)|麻烦(?!你了|您了)|再(?!见|聊|会|次感谢|次谢谢|接再厉)|但|不过|可是|还(?!是)"
    r"|改(?!天|得)|修|加(?!油)|删|写(?!得)|跑|运行|试|看|查|做(?!得|个)|弄(?!得)|处理|继续|然后|接着|顺便"
    r"|能|可以|吗|怎|为什么|为啥|哪|什么|(?<!不)错|报|失败|问题|(?<!了)不(?!错|好意思|愧|客气|用谢|得不说)"
    r"|慢|没(?!有?(?:别|其他|事)|想到|毛病|关系|白)|坏|卡|把|给我|将|(?<!想)要|换|提交|如果"
    r"|(?<!久)等|先(?!去|走|撤|睡|下|这样|吃|休|回)|[a-z]{2,}|另|说的是"
    rf"|{_WORK_ZH}"
)
_WORDS_OF_MARKS = (
    *("thank", "thx", "tnx", " ty", "cheers", "obliged", "merci", "gracias", "danke", "hello"),
    *("hey", "hi ", "hi,", "howdy", "good", "morning", "bye", "see y", "take care", "haha", "lol"),
    *("wow", "yay", "congrats", "kudos", "great", "awesome", "amazing", "perfect", "wonderful"),
    *("brilliant", "lovely", "nice", "sweet", "help", "impressed", "without you", "funny"),
    *("sorry", "apolog", "my bad", "fault", "mistake", "worr", "hope", "happy", "merry", "luck"),
    *("have a", "enjoy", "wish", "look", "best", "顺", "奖", "福"),
    *("owe you", "deserve", "exactly", "couldn", "could not", "glad", "proud", "pleased", "phew"),
    *("what a", "such a", "it's", "i'm", "i am", "time for", "off to", "never mind", "not at all"),
    *("不", "歉", "没", "知道", "懂", "了", "祝", "想要", "爽", "吧"),
    *("谢", "感激", "辛苦", "拜", "再见", "安", "好", "嗨", "哈", "厉害", "棒", "牛", "赞", "完美"),
    *("满意", "愉快", "快乐", "幸会", "客气", "佩服", "贴心", "给力", "66", "开心", "忙", "关照"),
    *("指教", "保重", "加油", "有意思", "你", "您", "见", "聊"),
)
"""What stands in most lines of that shape: others need no pattern."""


class _SimplePatterns(NamedTuple):
    names: re.Pattern[str]
    thanked: re.Pattern[str]
    between: re.Pattern[str]


@cache
def _simple_patterns() -> _SimplePatterns:
    return _SimplePatterns(
        names=re.compile(r"[?？/\\`\"@#=<>{}]|\d|\w\.\w|\bthen \w"),
        # thanks after which another sentence begins, with no sign between them
        thanked=re.compile(rf"\b{_THANKS}(?= (?!(?:{_GO_ON_AFTER_THANKS})\b))"),
        between=re.compile(
            r"[,.!;:~…，。！；：、～]+|\band\b|\s[-–—]\s|(?<=[一-鿿])\s+(?=[一-鿿])"
        ),
    )


class _Patterns(NamedTuple):
    thanked_for: re.Pattern[str]
    asks: re.Pattern[str]
    asks_zh: re.Pattern[str]
    marked: re.Pattern[str]
    marked_zh: re.Pattern[str]
    people: re.Pattern[str]
    people_zh: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    # each word in one way only: two ways for one would be tried in all their combinations
    tail = (
        rf"(?:(?! again) {_MUCH}| {_WHOM}| (?:for|to you|from|on|at|as)\b.*"
        rf"| {_ABOUT_PEOPLE}\b.*)*"
    )
    begins = rf"(?:(?:oh|ah|ok|okay|well|so|and|many|a million) )*{_MARK}"
    wish = (
        r"(?:have an?|enjoy (?:the|your)|happy) (?:[a-z]+ ){0,2}(?:days?|evening|night|morning"
        r"|afternoon|week|weekend|time|one|trip|holidays?|lunch|break|rest|birthday|friday)"
        r"|(?:see|talk to|catch) (?:you|ya) [a-z ]{1,20}"
    )
    return _Patterns(
        thanked_for=re.compile(
            rf"\b(?:{_THANKS}(?: {_MUCH})?|{_PRAISED} (?:work|job|stuff)) (?:for|on|with)"
            r" (?:the|your|all|this|that|these|those|[a-z]+ing)\b(?: (?!and\b)[a-z]+){0,5}"
            r"|(?<=sorry )(?:for|about) (?:being|my|the (?:wait|delay|confusion|trouble|mess))\b"
            r"(?: [a-z]+){0,3}"
        ),
        asks=re.compile(_ASKS),
        asks_zh=re.compile(_ASKS_ZH),
        marked=re.compile(rf"(?:{begins}{tail}|{wish})$|.*(?:{_PERSONAL_PRAISE})|{_COURTESY}"),
        marked_zh=re.compile(rf".*(?:{_MARK_ZH})(?:[^第-]*[了啦吧的得呀啊哒呢哦哈])?$"),
        people=re.compile(rf"(?:{_ABOUT_PEOPLE}\b.*|{_WHOM})$"),
        people_zh=re.compile(
            rf"{_ABOUT_PEOPLE_ZH}(?:.*[了啦吧的得呀啊])?$|(?:非常|真|太|很|特别|超|挺).{{1,4}}$"
        ),
    )


def is_courteous(line: str) -> bool:
    """Return whether *line*, in small letters, has the shape of a courtesy and asks for nothing."""
    patterns = _simple_patterns()
    if patterns.names.search(line):
        return False
    plain = "".join(" " if _is_picture(sign) else sign for sign in line)
    plain = patterns.thanked.sub("thanks.", plain)
    parts = (" ".join(part.split()).strip("\"'()") for part in patterns.between.split(plain))
    clauses = [part for part in parts if part]
    talks = [is_talk(clause) for clause in clauses]
    if None in talks and any(word in line for word in _WORDS_OF_MARKS):
        pairs = zip(clauses, talks, strict=True)
        talks = [_has_mark(clause) if talk is None else talk for clause, talk in pairs]
    return None not in talks and True in talks


def _is_picture(sign: str) -> bool:
    return unicodedata.category(sign) in ("So", "Sk", "Cf", "Mn")


def _has_mark(clause: str) -> bool | None:
    """Return whether *clause* bears a mark; None where it is of no such shape at all."""
    patterns = _patterns()
    if patterns.asks.search(patterns.thanked_for.sub("thanks", clause)):
        return None
    if clause.isascii():
        if patterns.marked.match(clause):
            return True
        return False if patterns.people.match(clause) else None
    if patterns.asks_zh.search(clause) or names_a_thing_in_chinese(clause):
        return None
    if patterns.marked_zh.match(clause):
        return True
    return False if patterns.people_zh.search(clause) else None
