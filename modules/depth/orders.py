"""Clauses that set to work, have it go on or stop, or insist: a courtesy beside them is no more."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache

_BETWEEN = r"[,.!?;:~…，。！？；：、～\n]+|\band\b|\s[-–—]\s"
_BEFORE = (
    r"(?:(?:ok(?:ay)?|k|alright|well|so|oh|ah|hey|yes|yeah|yep|sure|right|then|just|please|pls"
    r"|(?:ha){2,}h?|lol) )*"
)
_AFTER = (
    r"(?: (?:please|pls|now|then|already|everyone|(?:my )?friend|mate|buddy|lol|(?:ha){2,}h?))*"
)
_WORK = (
    r"(?:start|begin|go(?: on| ahead| for it)?|continue|proceed|carry on|keep (?:going|at it)"
    r"|resume|stop|wait|hurry(?: up)?|work(?: on it)?|try(?: (?:it|again))?"
    r"|do (?:it|that|this|so|both|the rest)|finish(?: it)?|get (?:started|going|to work|to it))"
)
_ENGLISH = (
    rf"(?:let'?s |time to |you (?:may|can|could|should|must|have to|need to) )?{_WORK}",
    r"(?:you(?:'d| had)? better|you (?:have to|must|should))(?: [a-z]+)?|you go",
    r"you know (?:what to do|the drill)|your (?:call|turn|move|choice)|(?:it's )?up to you"
    r"|you (?:decide|choose|pick|first)|over to you|it's (?:all )?yours|all yours|you're up",
    r"(?:the )?next(?: (?:one|thing|step))?|what(?:'s| is)? next|(?:and )?then what|what now"
    r"|now what|what else|anything else",
    r"come (?:on|back|here)|help(?: me)?(?: out)?|(?:surprise|wow|impress) me|work your magic"
    r"|see to it|deal with it|work it out|say more|speak(?: up)?|be (?:quick|fast|quiet)"
    r"|be done with it|have at it|shoot",
    r"at once|now|asap|as soon as possible|by tonight|(?:once|one) more(?: time)?"
    r"|more(?: of that)?",
    r"both|all of (?:them|it)|everything else|the rest(?: too| of (?:it|them))?"
    r"|from (?:scratch|the (?:top|beginning|start))|as (?:you (?:suggested|said|proposed|like)"
    r"|planned|proposed)|like you said|what you said",
    r"(?:that's )?enough|(?:it's )?(?:go )?time(?: to (?:work|start|begin))?|back to (?:work|it)"
    r"|i'm (?:ready|waiting)",
    r"(?:are (?:you|we)|is it) (?:done|ready)|did it work|have you (?:finished|started|done it)"
    r"|are you (?:still )?working(?: on it)?|you (?:stopped|forgot(?: (?:it|one))?)",
)
_CHINESE = (
    r"(?:那|就|好的?|行|嗯|对|快|请|赶紧|哈哈+|ok|一起|大家)*"
    r"(?:来[吧啊嘛呗]?|走[吧起]|冲[吧啊呀鸭]*|(?:开始|继续|接着|动手|开工|开干|干活|干|做|办|上)"
    r"(?:吧|啊|呀|嘛|呗)?|[停撤](?:了?吧)?|别停|撤回)",
    r"[你您]先?(?:定|来|说|选|上|做主|决定|看着办)吧?|[你您]先",
    r"(?:认真|用心|快|给力|麻利|努力|抓紧)点[儿啊呀哈啦吧]*|.{0,5}加油干[啊呀哈了啦吧]*|我(?:很|好)?急",
    r"(?:全|就|都|这次|一切)?(?:靠|看|交给)[你您](?:的)?[了啦]|[你您](?:忘|漏|停)了",
)


@cache
def _orders() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    english = "|".join(_ENGLISH)
    return (
        re.compile(_BETWEEN),
        re.compile(f"{_BEFORE}(?:{english}){_AFTER}"),
        re.compile("|".join(f"(?:{one})" for one in _CHINESE)),
    )


def gives_order(line: str) -> bool:
    """Return whether a clause of *line*, in small letters, is an order and nothing else."""
    between, english, chinese = _orders()
    parts = (" ".join(re.sub(r"[^\w']+", " ", part).split()) for part in between.split(line))
    return any((english if one.isascii() else chinese).fullmatch(one) for one in parts if one)
