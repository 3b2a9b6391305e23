"""Simple questions, in English and Chinese: they ask what is, and for no work."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache

from modules.depth.hinted_pattern import HintedPattern

_MAX_QUESTION = 160
"""Characters of a question beyond which it is none that is simple."""
_ASKS_BACK = re.compile(r"[^\w]*[a-z]+\W*|are you [a-z]+\W*|\w{1,3}吗\W*", re.IGNORECASE)
"""What asks about that which was just said: "what?", "are you sure?"."""
_ASKS = HintedPattern(
    r"(?:what|where|who(?:se)?|when|which|how (?:many|much|old|big|large|long|often|far)|is|are"
    r"|do(?:es)?|did|has|have|was|were)(?:['’]s|['’]re)?\b.*\?",
    r"(?:what|where|who)(?:['’]s| is| are| does)\b.{1,60}|how (?:many|much|old|big|large|long"
    r"|often|far)\b.{1,60}",
    r"how (?:is|are|was|were) [\w .`/-]{1,40}(?:ed|built|set|read|kept|run|sent|done|written)\?",
    r"(?:which|what) [\w -]{1,30} (?:is|are|do|does|did|was|were|has|have)\b.{1,60}",
    r"(?=.*[\u4e00-\u9fff])(?:(?!为什么|为何|为啥)[^?？])*(?:什么|啥|干嘛|在哪|哪[里儿个些种一年天]"
    r"|[从到]哪|多[少大久长]|几(?:[个行次年种类张条页本位台份项列层家款天秒分小元块字时号点级]|(?=[?？]?$))|谁|何时|有没有|是不是|是否|吗)[^。！；]*[?？]?",
    hints="?|？|what|where|who|which|how |什么|啥|干嘛|哪|多|几|谁|何时|有没有|是不是|是否|吗",
)
_ASKS_FOR_WORK = HintedPattern(
    r"\b(?:fix|mend|correct|repair|change|add|write|create|make|implement|update|remove|delete"
    r"|rename|run(?! (?:on|under|with|in)\b)|start|stop|commit|push|install|build|refactor"
    r"|please|should|could|would|(?:what|how|tell me) about"
    r"|wrong|bugs?|fail(?:s|ing|ed|ure)?|broken|crash(?:es)?|slow|problem|cause|best|better|pass"
    r"|passes|instead|then|me|going on|next|what can|try|show|check|ready|done)\b",
    r"[?？。！;；]\s*\S|[.!]\s+\S|[,，]\s*(?:and|so|but|然后|再|顺便)",
    r"怎[么样]|如何|为[何啥]|帮|请|麻烦|给我|修[复好改](?![了过]|时间|记录|者)|改[成为一改]|添加"
    r"|加[上一]|增加|写[一个出]|编写|删",
    r"去掉|移除|运行(?!在|时)|执行|跑|(?<!次)提交(?!记录|历史|者)|推送|创建(?!了|者|时间|于)"
    r"|新建|实现(?!了)|重构|重写|安装",
    r"更新(?!时间|是|于)|升级|检查|审查|重命名|替换|优化|部署|生成|翻译|能不能|可不可以|可以"
    r"|[能要]否|要不要"
    r"|该|[报出]错(?!.{0,3}什么意思)|错误(?!.{0,3}什么意思)|失败|崩溃|慢|问题|然后|看看|继续|再",
    hints="",  # most questions are looked at for all of it
)


def is_simple_question(text: str) -> bool:
    """Return whether *text* is one simple question."""
    if (
        len(text) > _MAX_QUESTION
        or _ASKS_BACK.fullmatch(text)
        or "\n" in text
        or not _ASKS.may_fit(text)
    ):
        return False
    body = _politeness().sub("", text.rstrip("?？ .。"), count=1)
    body = _no_work().sub(r"\1 thing", _how_to_use().sub("what 什么 ", body, count=1))
    mark = "?" if text.endswith(("?", "？")) else ""
    return not _ASKS_FOR_WORK.is_in(body) and _ASKS.is_all_of(body + mark)


@cache
def _how_to_use() -> re.Pattern[str]:
    """Return how a question begins that is answered by what is written down somewhere."""
    return re.compile(
        r"^how (?:do|can|would|does) (?:i|we|you|one) (?:start|run|use|launch|open|install|build"
        r"|test|deploy|set up|stop|exit|quit|call|import|log in to|connect to) "
        r"|怎么(?:启动|运行|使用|用|安装|部署|打开|关闭|编译|构建|停止|退出|登录|调用)(?![不没了])",
        re.IGNORECASE,
    )


@cache
def _no_work() -> re.Pattern[str]:
    """Return what is called as work is, and is none: the last commit."""
    return re.compile(
        r"\b(the|a|an|any|each|every|last|latest|first|previous|my|our|your|its|of|which"
        r"|many) (?:commits?|builds?|updates?|changes|push|installation|runs?|start|releases?)\b"
        # a word of work that is the name of something
        r"|(?<!\w)--?[a-z][\w-]*|\b[a-z]+ (?=(?:functions?|methods?|class(?:es)?|commands?|scripts?"
        r"|options?|flags?|modules?|targets?|hooks?|endpoints?)\b)"
        r"|[a-z]+\s*(?=(?:函数|方法|类|命令|脚本|选项|参数|模块|接口|按钮))",
        re.IGNORECASE,
    )


@cache
def _politeness() -> re.Pattern[str]:
    """Return what may stand before a question and asks for nothing itself."""
    return re.compile(
        r"^(?:请问|你好[,，]|告诉我|你知道|我想知道|想问一下)+[,，]?"
        r"|^(?:(?:and|so|ok|okay|hey|hi|hello)[, ]+)*(?:(?:can|could|would) you (?:please )?tell me"
        r"|(?:do )?you know|tell me|please tell me|i(?:'d| would) like to know|i want to know"
        r"|remind me|any idea)? *",
        re.IGNORECASE,
    )
