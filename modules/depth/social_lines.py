"""Lines that are wholly social: thanks, greetings, goodbyes, praise, in English and Chinese.

A line is taken apart into phrases from its beginning; one word that belongs to none, and it is no
social line. So whatever asks for something, beside thanks as well, stays a task.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache
from itertools import takewhile
from typing import Literal, NamedTuple

from modules.depth.courtesy_shape import is_courteous
from modules.depth.kind_lines import is_kind

Social = Literal["no", "agreeing", "wholly"]
"""How social a line is: one that is "agreeing" may be the answer to an open question."""

MAX_LENGTH = 160
"""Characters of a line beyond which nobody only says thanks."""

_BETWEEN = (
    r"(?:[\s,!?;:~…*\"'()，。！？；：、～“”·]|\.(?=[\s.!?…)]|$)|[-–—](?=\s|$)|[:;]-?[)dp(]|<3"
    r"|\^_?\^"
    "|[🙏👏🎉😊🙂😀😃😄😁😂🤣😅❤♥💯🥳😍🤗👋✨🌹💪🔥😎🙌🤝💐💖🌟\ufe0f])+"
)
_AGREEING_EMOJI = "[👍👌✅🆗]+"
_WHOM = (
    r"(?: (?:there|again|all|everyone|everybody|onefold|mate|buddy|my friend|friend|folks|guys|dude"
    r"|man|bro|pal|sir|team|dear))?"
)
_THANKS = (
    r"(?:thank (?:you|yuo|yo|u|ya|yiu|oyu)|thankyou|thanks+|thnks|thaks|thansk|thakns|tahnks|thnaks"
    r"|thank|thanx|thx|thnx|tnx)"
)
"""Thanks, as hurried fingers write it too."""
_FOR_WHAT = (
    r"(?: for (?:everything|helping(?: me)?(?: out)?|fixing (?:it|that|this)|"
    r"(?:(?:your|the|all|this|that|of) ){0,3}(?:(?:quick|great|kind|fast|good|hard|amazing) )?"
    r"(?:help|work|time|patience|support|efforts?|assistance|reply|answers?|explanations?|response"
    r"|job|tips?|info|information|clarification|feedback|advice|fix|update|hint)))?"
)
_HOW_MUCH = (
    r"(?: (?:so much|so very much|very much|a lot|lots|heaps|loads|a bunch|a ton|tons|a million"
    r"|kindly))?(?: indeed)?"
)
_WHEN = r"(?: (?:today|yesterday|earlier|this morning|tonight|for today|for now))?"
_ENGLISH = (
    # thanks
    rf"(?:many |a million |huge |big )?(?:{_THANKS}|tysm|tyvm|ty|ta"
    rf"|cheers){_HOW_MUCH}{_WHOM}{_FOR_WHAT}{_WHOM}{_WHEN}(?: anyway| though)?",
    r"(?:i )?(?:(?:really|truly|do|so) )?appreciate (?:it|that|this|(?:all )?(?:your|the) help)"
    rf"{_HOW_MUCH}",
    r"thank you for everything you(?:'ve| have) done|(?:(?:that|this|it)(?:'s| is| was) )?(?:so"
    r"|very|how|really) kind(?: of you)?",
    r"much (?:appreciated|obliged)|appreciated|no,? (?:thanks|thank you)",
    r"danke(?: sch[oö]n| sehr)?|merci(?: beaucoup)?|(?:muchas )?gracias"
    r"(?: amigo)?|grazie(?: mille)?|arigato",
    # greetings
    rf"(?:hi+|hello+|hey+|heya|hiya|howdy|greetings|yo){_WHOM}",
    rf"(?:good )?(?:morning|afternoon|evening)(?: to you)?{_WHOM}|good day{_WHOM}|welcome back",
    r"how(?: are|'re) (?:you|things)(?: doing| going)?(?: today)?|how do you do|how have you been",
    r"how(?:'s| is) (?:it|everything|life|your day)(?: going)?(?: today)?|what'?s up|are you there",
    r"(?:nice|good|great) to (?:meet|see) you(?: too| again)?|long time no see|(?:and )?you too"
    r"|same to you|likewise|and you|i(?:'m| am) (?:fine|good|great|well|doing (?:well|fine|great))",
    # goodbyes
    rf"(?:good ?)?bye(?:[ -]bye)?{_WHOM}{_WHEN}|(?:good )?night(?: night)?{_WHOM}|farewell",
    r"take care|ttyl|cya|(?:see|talk to|catch) (?:you|ya|u)"
    r"(?: (?:later|soon|tomorrow|around|then|next (?:time|week)))?",
    r"(?:have|enjoy) (?:a|your|the) (?:(?:nice|good|great|lovely|wonderful) )?"
    r"(?:day|evening|night|weekend|one|afternoon|rest of (?:your|the) day)",
    r"that(?:'s| is| was| will be|'ll be) (?:all|it)"
    r"(?: (?:for (?:today|now)|i (?:need|needed)|from me))?",
    r"i(?:'m| am) (?:done|finished) for (?:today|now)|(?:i )?(?:gotta|have to|must) go(?: now)?"
    r"|signing off|logging off|until (?:tomorrow|next time)|sleep (?:well|tight)|take it easy"
    r"|good luck|best wishes|(?:happy|merry)"
    r" (?:new year|christmas|friday|weekend|holidays|birthday)",
    # courtesies and laughter
    r"no (?:worries|problem|prob)|np|you(?:'re| are) (?:very |most )?welcome|my pleasure|anytime",
    r"(?:i(?:'m| am) )?(?:so |very )?sorry(?: about that| for that)?"
    r"|my (?:bad|mistake|fault)|apologies|oops",
    r"(?:ha){1,}h?|(?:he){2,}|lo+l|rofl|lmao|xd|wow|yay|hooray|woohoo|phew"
    r"|woah|whoa|omg|gn|ily",
)  # fmt: skip
_PRAISED = (
    r"(?:great|super|awesome|amazing|perfect|excellent|wonderful|fantastic|brilliant|superb|lovely"
    r"|beautiful|impressive|cool|neat|nice|sweet|incredible|outstanding|marvellous|terrific)"
)
_ENGLISH_PRAISE = (
    rf"(?:{_PRAISED}|good) (?:job|work|stuff|one|effort)(?: as always| today)?{_WHOM}|{_PRAISED}",
    rf"(?:well|nicely|beautifully) (?:done|played|put|said){_WHOM}|bravo|congrats|congratulations"
    r"|kudos",
    r"(?:that|this|it)(?:'s| is| was| looks) (?:(?:so|really|very|just|absolutely|simply|pretty) )?"
    rf"(?:{_PRAISED}|good|quick|fast|helpful|great work)",
    rf"(?:so|really|very|just|absolutely|simply|pretty|how|what an?) {_PRAISED}",
    r"you(?:'re| are) (?:(?:so|really|very|just) )?(?:the best"
    rf"|an? (?:star|genius|life ?saver|legend|hero|wizard|gem)"
    rf"|kind|helpful|good|smart|fast|{_PRAISED})|you rock|you nailed it|nailed it",
    r"(?:i )?(?:love|like) (?:it|this|that)(?: a lot| so much| very much)?",
    r"(?:you |that |it |this )?(?:just )?(?:made|saved) (?:my (?:day|life|week)"
    r"|me (?:(?:so much|a lot of|lots of|some|hours of|a ton of) )?(?:time|hours|work|trouble))",
    r"(?:that|this|it) (?:really |totally |completely )?(?:did (?:it|the trick)|helps?|helped"
    r"|solved it|fixed it|clears? (?:it|that|things) up|explains it)"
    r"(?: (?:a lot|me|so much|perfectly|nicely))?",
    r"(?:that's|this is|it's|that is) (?:exactly )?what i (?:needed|wanted)|i(?:'m| am) impressed",
    r"you (?:did|have done|'ve done) (?:great|well|an? (?:great|good|amazing|wonderful) job)",
    r"you(?:'ve| have) been (?:very |so |really )?(?:helpful|kind)|good to know",
    r"(?:(?:that|this|it) (?:worked|works)|works|worked)"
    r"(?: (?:great|perfectly|well|fine|like a charm|beautifully|now))?",
    r"that was (?:(?:really|very|so) )?(?:quick|fast|helpful|great|kind)",
    # what says that it was heard
    r"ok(?:ay|ie|i)?|alright|all right|aha|(?:i )?got it|i see(?: now)?|(?:i )?understood|noted"
    r"|i understand(?: now)?|(?:that |it )?makes sense(?: now)?|all good|fine|good|roger(?: that)?"
    r"|copy that|duly noted|will do|good to hear",
    # what stands beside thanks, and means nothing by itself
    r"oh|ah|well|and|so|no|nope|then|onefold|sounds (?:good|great|fine|perfect)",
)  # fmt: skip
_NEEDS_MORE = (
    r"oh|ah|well|and|so|no|nope|then|onefold|sounds (?:good|great|fine|perfect)|那|[啦呀哦啊]+"
    r"|没问题了?|可以了|行了|够了|好了|好吧|will do|88+"
    r"|就?先?这样[吧了]?"
)
_PARTICLES = "[啊呀啦了哦哈呢哟喔嘛吖]*"
_CHINESE = (
    r"(?:(?:非常|十分|太|真的?|真心|万分|很|实在|特别|多多)*(?:感谢|谢谢|多谢|感激|谢)"
    r"(?:你们?|您|大家|各位|兄弟|哥们?|大哥|姐|老师|老铁|朋友|大佬|大神|亲|了|啦)?的?(?:耐心"
    r"|细心|热心|详细|精彩|及时|大力)?(?:帮助|帮忙|支持|耐心|解答|回答|回复|指点|讲解|解释|工作"
    r"|协助|付出|努力)?"
    rf"(?:不尽)?{_PARTICLES})",
    rf"(?:辛苦|麻烦|有劳|劳烦)(?:你们?|您|大家)?[了啦]{_PARTICLES}",
    r"(?:大家|各位|老师|朋友们?)(?:早上|上午|中午|下午|晚上)好|(?:你们?|您|大家|各位|早上|上午"
    r"|中午|下午|晚上)好"
    + _PARTICLES
    + "|嗨+|哈[喽啰罗]|嘿+|早安|午安|晚安|(?:做个)?好梦|早点(?:休息|睡)|注意休息|早[啊呀]?"
    "|好久不见|在吗|在不在|你好吗|最近(?:怎么样|好吗)|(?:新年|节日|周末|生日|中秋|国庆)(?:快乐"
    "|愉快|好)",
    rf"(?:(?:明天|下周|下次|改天|回头)?再见|拜拜|回见|回头见|明天见|下次见|下周见|改天见"
    rf"|待会儿?见|一会儿?见|晚点见|明天聊|下次聊|改天聊|回头聊|回聊|有空再聊|改天再聊){_PARTICLES}",
    r"今天(?:就|先)*(?:到这[里儿]?|到此为止|这样)[吧了]?|(?:我(?:先)?)?(?:走|下|撤|睡|下班|收工|休息)了"
    "|没(?:有)?(?:别的|其他)(?:事|问题)?了|没事[了儿]?",
    r"祝(?:你|您|大家)?(?:有)?(?:一天|周末|工作|生活)?(?:愉快|开心|顺利|好运)",
    rf"(?:不客气|别客气|客气啥|合作愉快|很高兴认识你|不用谢|不谢|没关系|不好意思|抱歉|对不起"
    rf"|客气了|应该的){_PARTICLES}",
    r"哈{2,}|嘻{2,}|呵{2,}|哇塞?|哇+|耶+|笑死(?:我了?)?|绝了|泪目|2?33{2,}|6{3,}|88+|恭喜(?:你|您)?|大功告成",
)
_CHINESE_PRAISE = (
    r"(?:你|您|这|那|它|干得|做得|写得|改得|真的?|太|很|非常|实在|简直|可真|是){0,4}"
    rf"(?:棒极|好极|棒|厉害|牛|赞|完美|漂亮|优秀|强|不错|给力|出色|精彩|贴心|聪明"
    rf"|靠谱){_PARTICLES}",
    rf"(?:干|做|写|改|搞|弄)得(?:太|真|很|非常)?好{_PARTICLES}|(?:太|真|很|非常|好)(?:有意思|有趣|好笑|好玩|暖心|开心|舒服|感动|可爱|好|快|妙|酷|顶|绝|香|神){_PARTICLES}",
    "(?:可|真是|真的|太)*帮(?:了)?(?:我)?(?:一个)?(?:大|很大的)?忙[了啦]|(?:很|非常|真|太"
    "|特别)(?:清楚|清晰|详细|有用|有帮助|及时|到位|好用|方便)(?:了)?"
    "|爱了|爱你|学到了|受教了|长见识了",
    "不用了|好(?:的|吧|嘞|滴|哒|了|呀|哦|啊)?|嗯+|哦+|噢|喔|明白了?|清楚了|知道了|知道啦|收到"
    "|了解了?|懂了"
    "|原来如此|原来是这样|那|就?先?这样[吧了]?|没问题了?|可以了|行了|够了|[啦呀哦啊]+|解决了"
    "|(?:终于)?(?:搞定了?|成功了|好了)",
)


_FIRST_WORDS = (
    " a absolutely afternoon ok okie oki noted roger copy duly i then now will ah aha all"
    " alright amazing and anytime apologies appreciate"
    " appreciated are awesome beautiful best big bravo brilliant bye catch cheers congrats"
    " congratulations cool cya danke do enjoy evening excellent fantastic farewell fine good"
    " goodbye got gotta gracias great greetings ha happy have he hello hey heya hi hiya hooray how"
    " howdy huge i impressive incredible it just kudos like likewise lmao logging lol long love"
    " lovely made makes many marvellous merci merry morning much muchas must my nailed neat nice"
    " night no np oh ok okay oops outstanding perfect phew pretty really rofl same saved see"
    " signing simply sleep so sorry sounds superb sweet take talk terrific thank thanks super gm"
    " that this thnx tahnks thnaks thankss thansk thakns thaks thanx thnks thankyou thx"
    " tnx truly ttyl ty tysm tyvm understood until very welcome well what whats wonderful woohoo"
    " worked works wow xd yay yo you ta grazie arigato woah whoa omg gn ily onefold nicely"
    " beautifully ur yeah finally glad honestly literally really thankful grateful hilarious "
)
_FIRST_SIGNS = (
    "2368一万终上下对是没可行够清解搞成不中了今优你做先再写出别劳十午厉原受可合周呵哇哈哦喔嗨嗯嘻嘿噢回国在多大太好学它完实客对就干应强"
    "待很恭您撤下走睡绝泪笑收弄感懂我抱拜收改新早明是晚最有棒没注漂爱牛特生真知祝简精给耶聪节谢贴赞辛这那长非靠麻"
)
"""What the phrases begin with: a line that begins otherwise needs no pattern at all."""


def _begins_like_one(text: str) -> bool:
    first = text.lstrip(_SIGNS)
    word = "".join(takewhile(lambda sign: "a" <= sign <= "z", first))
    if word:
        return word[:2] in ("ha", "he", "lo") or f" {word} " in _FIRST_WORDS
    return not first[:1].isalnum() or first[0] in _FIRST_SIGNS


class _Patterns(NamedTuple):
    between: re.Pattern[str]
    agreeing_emoji: re.Pattern[str]
    wholly: re.Pattern[str]
    praise: re.Pattern[str]
    needs_more: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        re.compile(_BETWEEN),
        re.compile(_AGREEING_EMOJI),
        _phrases(tuple(f"(?:{one})" for one in _ENGLISH), _CHINESE),
        _phrases(tuple(f"(?:{one})" for one in _ENGLISH_PRAISE), _CHINESE_PRAISE),
        re.compile(_NEEDS_MORE),
    )


def _phrases(english: tuple[str, ...], chinese: tuple[str, ...]) -> re.Pattern[str]:
    """Return what matches one phrase, English ones to the end of a word."""
    return re.compile(
        rf"(?:{'|'.join(english)})(?![^\W一-鿿]|['/\\]|[.-]\w)|(?:{'|'.join(chinese)})"
    )


def how_social(line: str) -> Social:
    """Return how social *line* is."""
    if len(line) > MAX_LENGTH or "\n" in line.strip():
        return "no"
    text = line.casefold().replace("’", "'")
    if not _begins_like_one(text):
        return "agreeing" if is_courteous(text) else "no"
    patterns = _patterns()
    position, is_wholly, is_agreeing, says_something = 0, False, False, False
    while position < len(text):
        if found := patterns.between.match(text, position):
            says_something |= bool(found[0].strip(_SIGNS))
        elif found := patterns.agreeing_emoji.match(text, position):
            is_agreeing = says_something = True
        elif found := _longest(text, position):
            is_praise = bool(patterns.praise.fullmatch(found[0]))
            is_wholly |= not is_praise
            is_agreeing |= is_praise
            says_something |= not patterns.needs_more.fullmatch(found[0])
        else:
            return "agreeing" if is_kind(text) or is_courteous(text) else "no"
        position = found.end()
    if not says_something:
        return "no"
    return "agreeing" if is_agreeing else "wholly"


_SIGNS = " \t\r,.!?;:~…*\"'()-–—，。！？；：、～“”·"


def _longest(text: str, position: int) -> re.Match[str] | None:
    """Return the longest phrase at *position* of *text*; none begins within a word."""
    if position and (text[position - 1 : position + 1]).isascii() and text[position - 1].isalnum():
        return None
    kinds = (_patterns().wholly, _patterns().praise)
    found = [one for kind in kinds if (one := kind.match(text, position)) and one[0]]
    return max(found, key=lambda one: one.end(), default=None)
