"""Clauses in the words of talk that are about a thing, or name one: "the star is too big".

A sun is drawn, a hero has a part in a game, and lunch stands in a calendar. So what only names such
a thing, says what it is like or which of two is better may be a task, and is taken for one: a
courtesy is about who writes and who reads.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_THINGS = """
lunch dinner breakfast supper brunch coffee tea beer wine bed sleep nap vacation holiday holidays
birthday christmas easter afternoon morning evening weekend weather rain snow sun sunshine storm
star legend hero wizard magician champ champion boss rockstar angel treasure gem pro masterpiece
magic heart smile smiling laughing laugh joy mood energy surprise surprises wishes greetings hugs
regards compliments blessing peace quick fast safe smooth smoothly busy friend friends buddy mate
pal bro dude jokes fun luck turned hope hero's raining rainy snowing snowy sunny stormy windy chilly
freezing pouring cozy worries surprised relaxed rested respects tired sleepy hungry happy happier
"""
"""Words of talk that name a thing, or what one is like."""
_WEATHER = "raining rainy snowing snowy sunny stormy windy chilly freezing pouring cold hot warm"
_OPENINGS = "oh ah ooh aww wow haha lol well ok okay so and yeah yep hey sorry anyway finally"
_SPEAKERS = """
i i'm im i've ive i'll you you're youre you've youve you'll we we're we've they they're he he's she
she's
"""
_OF_PEOPLE = "you me us all everyone everybody ya"
_MAY_BEGIN = """
what such how time off back heading going good best great nice lovely happy merry welcome enjoy see
no much many such sweet tired sleepy hungry busy sorry happier take sending wishing catch talk rest
"""
"""What begins a clause about the day that names no thing by itself: "time for lunch"."""
_ACTS = "made make making gave give put took take brought got left kept keep turned moved"
_OBJECTS = "the a an it them him her his its their in on out up this that these those"
_LIKENESSES = """
cute funny happy big huge tired sleepy cold warm beautiful adorable charming clever busy hungry new
old smart wild crazy quiet magical excited gorgeous smiling laughing fast quick tiny long short
"""
_PICTURED = """
cat dog baby hero sun star snow rain storm heart angel wizard magician champion legend boss house
home car bus train city town airport garden park beach school station couch face hat hats office gym
phone coffee tea beer wine bed treasure gem kids family friends mom dad wife husband sofa traffic
news joke jokes words
"""
"""What is drawn and written of: "cute cat"."""
_PARTS = "it them him her that this these those everyone everybody everything all each both your"
_CREATURES = "cat dog baby hero star sun angel wizard magician champion legend boss"
_DAYS = """
monday tuesday wednesday thursday friday saturday sunday january february april june july august
september october november december noon midnight
"""
_TIMES = """
day days week weekend evening night morning afternoon time one trip rest holiday holidays vacation
lunch dinner break fun journey flight nap sleep
"""
_COMPARED = "better like old new big first other last next"
_KINDLY = "kind funny hilarious sweet generous good lovely nice"
_DEEDS = (
    r"(?:下班|上班|收工|回家|睡觉?|休息|吃饭|午休|开会|下雨|下雪|刮风|打雷|出太阳|放假|喝茶|喝咖啡|加班|堵车"
    r"|出差|旅[游行]|健身|跑步|逛街|做饭|熬夜|散步|过年)"
)
_NAMES = (
    r"(?:天气|太阳|彩虹|晴天|阴天|雨天|咖啡|奶茶|[午晚早]饭|外卖|火锅|蛋糕|生日|节日|新年|春节|中秋|周末|假期|朋友"
    r"|兄弟|哥们|老铁|大佬|大神|高手|天才|专家|老师|救星|宝藏|孩子|老婆|老公|妈妈|爸爸|家人|身体|心情|旅途|缘分"
    r"|好消息|好日子|祝福|好评|时间|日子|消息|人|事|心|今天|明天|昨天|[那这一两]个|一?杯)"
)
_PRAISED = (
    r"(?:好|棒|厉害|牛|赞|完美|漂亮|优秀|强|不错|给力|出色|精彩|贴心|聪明|靠谱|舒服|可爱|有趣|有意思|好[玩笑看]"
    r"|美|妙|香|帅|酷|稳|爽|专业|细致|周到|到位|高效|有用|用心|温暖|满意|惊艳|喜欢)"
)
_PERSON = r"(?:我们?|你们?|您|他们?|她们?|咱们?|大家|自己)"
_NO_SUBJECT = (
    rf"(?:{_PERSON}|真的?|真是|实在|简直|确实|也|都|就|可|又|[这那](?!个)|哇|啊|哦|唉|哎|嗯|嘿|哈|噢|呀"
    r"|今[天晚早]|昨[天晚]|明天|最近|这几天|这周|一天|一直|终于|刚[才刚])*"
)


class _Patterns(NamedTuple):
    too: re.Pattern[str]
    named: re.Pattern[str]
    compared: re.Pattern[str]
    about_people: re.Pattern[str]
    deed: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        too=re.compile(rf"(?!{_NO_SUBJECT}(?:太(?!阳)|有点)).+(?:太|有点|过于)(?!阳|太|平).+"),
        # a thing with what it is like before it, and a thing alone
        named=re.compile(rf"(?![谢感多祝你您亲]).*的{_NAMES}[啊呀呢吧]?$"),
        compared=re.compile(
            rf"(?!{_PERSON}?[做写干改搞弄说讲]).*(?:的|(?<![点是])个)(?:也|就|更|最|还是?|都|比较|很|真|挺)*{_PRAISED}"
            r"|.*(?:觉得|感觉|感到)(?![你您好真很太超可非特挺自棒赞幸开高荣欣踏放安满有]).+"
            r"|.*(?:觉得|感觉|还是).*(?:的|更|比较|最).+|还是.+|.*(?:喜欢|爱了?)(?![你您了啊呀啦哦]).+"
        ),
        about_people=re.compile(
            rf"[哇啊哦唉哎嗯嘿哈]?(?:今天|明天|今晚|刚才|终于|昨[天晚])?{_PERSON}(?!的|.*(?:周[一二三四五六日]|喝|出差))"
            r"|(?:今[天晚]|外面|最近)?(?:心情)?[真好太很可](?:冷|热|累|困|饿|忙|好)[啊呀了]?$"
            r"|(?:真是个?)?好(?:兄弟|哥们|朋友|老师|消息)[啊呀]?$|刚[才刚]在忙$|周末好好休息$"
        ),
        deed=re.compile(
            r"[哇啊哦唉哎嗯嘿哈]?(?:今[天晚]|明天|外面|终于|总算|该|先|又|要|去|都|好好|[早中下晚][上午]|周[一-日]|准备)*"
            rf"{_DEEDS}.{{0,2}}[了啦咯吧去喽呀啊哦]$"
        ),
    )


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def names_a_thing(words: list[str], told_by: frozenset[str]) -> bool:
    """Return whether English *words* of talk name a thing or judge one.

    *told_by* are those that say what talk is about.
    """
    said = list(words)
    while said and said[0] in _words(_OPENINGS):
        del said[0]
    if not said:
        return False
    return (
        _is_too_much(said)
        or _orders_a_part(said)
        or _judges_one_of_some(said)
        or said[:4] == ["i", "like", "how", "it"]
        or (said[0] in _words(_LIKENESSES) and said[-1] in _words(_PICTURED))
        or (bool(told_by) and told_by <= _words(_THINGS) and not _is_about_people(said))
    )


def _is_too_much(said: list[str]) -> bool:
    """Return whether something is too big; who is too kind is a person."""
    if "too" not in said[:-1]:
        return False
    praised = said[said.index("too") + 1] in _words(_KINDLY)
    if said[0] in _words(_SPEAKERS) and (praised or said[0][0] in "iwy"):
        return not _words(_ACTS).isdisjoint(said)
    return not (praised and said[0] in ("that's", "that", "thats"))


def _orders_a_part(said: list[str]) -> bool:
    """Return whether somebody is to have something: "have the hero laugh", "hello world"."""
    if said[0] == "have" and len(said) > 1:
        is_time = said[1] in ("a", "an") and not _words(_TIMES).isdisjoint(said)
        is_time = is_time and _words(_CREATURES).isdisjoint(said)
        is_best_time = said[1] == "the" and said[2:3] in (["best"], ["most"], ["time"])
        is_fun = said[1] not in ("a", "an", "the", *_words(_PARTS))
        return not (is_time or is_best_time or is_fun) or "say" in said
    return said[:2] in (["hello", "world"], ["hi", "world"]) or "hello" in said[2:]


def _judges_one_of_some(said: list[str]) -> bool:
    """Return whether one of some things is liked better, or the reader did something to one."""
    likes = said[0] in ("i", "we") and "the" in said and not _words(_COMPARED).isdisjoint(said)
    is_one = said[0] in ("the", "that", "this") and "one" in said[1:4]
    pairs = zip(said, said[1:], strict=False)
    acts = said[0] in ("you", "you've") and any(
        one in _words(_ACTS) and two in _words(_OBJECTS) for one, two in pairs
    )
    return likes or is_one or (acts and "easy" not in said and "time" not in said)


def _is_about_people(said: list[str]) -> bool:
    first, second = said[0], said[1:2]
    if first in _words(_SPEAKERS):
        is_dated = not _words(_DAYS).isdisjoint(said) and second == ["have"]
        return not is_dated and _words("thought wanted expected think better").isdisjoint(said)
    if first in ("it's", "its", "it", "this", "that", "that's"):
        return not _words(_WEATHER).isdisjoint(said) or second in (["time"], ["made"], ["went"])
    if first in _words(_MAY_BEGIN):
        last = said[-1] if len(said) > 3 and said[-2] == "to" else "you"
        return last in _words(_OF_PEOPLE) and (first not in ("happy", "sweet") or len(said) < 6)
    if first in ("have", "hope"):
        return second not in (["is"], ["and"], ["for"])
    return len(said) == 1 and first in _words("morning afternoon evening raining snowing")


def names_a_thing_in_chinese(clause: str) -> bool:
    """Return whether a Chinese *clause* of talk names a thing or judges one."""
    patterns = _patterns()
    return any(one.match(clause) for one in (patterns.too, patterns.named, patterns.compared))


def is_about_people_in_chinese(clause: str) -> bool:
    """Return whether a Chinese *clause* of things says what a person is about to do, or feels."""
    patterns = _patterns()
    return bool(patterns.about_people.match(clause) or patterns.deed.match(clause))
