"""Simple questions, in English and Chinese: they ask what is, and for no work."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache

from modules.depth.hinted_pattern import HintedPattern

MAX_QUESTION = 160
"""Characters of a question beyond which it is none that is simple."""
_ASKS_BACK = re.compile(
    r"[^\w]*[a-z]+\W*|are you (?:sure|done|serious|kidding|certain|ready|finished|stuck|blocked"
    r"|joking|positive|mad|crazy|ok|okay)\W*|\w{1,3}吗\W*",
    re.IGNORECASE,
)
"""What asks about that which was just said: "what?", "are you sure?"."""
_ABLE = (
    r"can you (?:run|read|see|open|speak|understand|use|access|write|handle|parse|draw|hear|search)"
    r" (?:python|code|javascript|shell|commands|programs|scripts|pdfs?|images?|pictures|files"
    r"|excel|word|csvs?|the (?:internet|web|screen|terminal)"
    r"|chinese|english|french|german|spanish|japanese|audio|videos?|me|my screen|urls?"
    r"|websites?|web pages)(?: files?| code| documents?)?"
)
"""What the agent is able to do: nothing is asked to be done."""
_OF_THE_AGENT = (
    *(
        "what can you do",
        "what can you do for me",
        "what can you help with",
        "what can you help me with",
    ),
    *("what are you able to do", "what do you do", "how can you help", "how can you help me"),
    *(
        "who are you",
        "what are you",
        "你能做什么",
        "你可以做什么",
        "你能干什么",
        "你能干啥",
        "你能帮我做什么",
    ),
    *("你可以帮我做什么", "你能做些什么", "你可以干嘛", "你能干嘛"),
)
"""Questions on the agent itself in words of work."""
_ASKS = HintedPattern(
    r"(?:what|where|who(?:se)?|when|which|how (?:many|much|old|big|large|long|often|far|fast"
    r"|deep|heavy|high|tall|new|stable|mature|common|expensive|complex|secure|safe)|is|are"
    r"|do(?:es)?|did|has|have|was|were)(?:['’]s|['’]re)?\b.*\?",
    r"(?:what|where|who)(?:['’]?s| is| are| does)\b.{1,60}|where (?:do|did|can|are|does|was"
    r"|were|will|would|have|has) .{1,60}|who (?!cares|knows)[a-z]+ .{1,60}|when (?:is|was|were"
    r"|did|does|do|will) .{1,60}|(?:is there|are there|do (?:we|you|they|i)|does (?!not\b)[\w.`"
    r"(/-]+|did (?:we|you|it|they)|is (?:it|this|the|our|that)) .{1,60}|what (?!about|if|can"
    r"|should|next|to|you|else|we|i\b|the\b|a\b)[a-z]+ .{1,60}|how (?:many|much|old|big|large"
    r"|long"
    r"|often|far)\b.{1,60}",
    r"how (?:is|are|was|were) [\w .`/-]{1,40}(?:ed|built|set|read|kept|run|sent|done|written)\?",
    r"(?:which|what) [\w -]{1,30} (?:is|are|do|does|did|was|were|has|have)\b.{1,60}",
    # what something is able to do: nothing is asked to be made so
    r"can (?:this|it|the|these|they|our|that|[a-z]+)\b(?: [\w./-]+){0,4} (?:run|work|handle|read"
    r"|parse|support|take|be used|deal with|cope with|talk to|speak|scale|hold)\b.*\?",
    r"[^?？。；]*(?:[放存用走写跑装]|支持|属于|位于)[^?？。；，]{1,14}还是[^?？。；，]{1,14}[?？]",
    r"[^?？。；]*是[^?？。；]{1,20}还是[^?？。；]{1,20}[?？]?",
    r"(?=.*[\u4e00-\u9fff])(?:(?!为什么|为何|为啥)[^?？])*(?:什么|啥|干嘛|在哪"
    r"|哪[里儿个些种一年天台条款位次家]"
    r"|[从到]哪|多[少大久长快慢高重宽远深]|(?<![这那好前后上下十头末])几"
    r"(?:[个行次年种类张条页本位台份项列层家款天秒分小元块字时号点级]"
    r"|(?=[?？]?$))|谁|何时|归[^，。]{1,6}管|哪[了儿呢]?(?=[?？]?$)|有没有|是不是|是否|要不要"
    r"|会不会|吗)[^。！；]*[?？]?",
    hints="?|？|是|归|what|where|who|which|how |when |is |are |do |does |did |什么|啥"
    "|干嘛|哪|多|几|谁|何时|有没有|是不是|是否|要不要|会不会|吗",
)
_ASKS_FOR_WORK = HintedPattern(
    r"\b(?:fix|mend|correct|repair|change|add|write|create|make|implement|update|remove|delete"
    r"|rename|(?<!is )(?<!are )(?<!was )(?<!were )(?<!gets )run(?! (?:on|under|with|without|in"
    r"|from|as|inside|outside|offline)\b)|start|stop|commit|push|install|build|refactor"
    r"|please|do you think|your opinion|recommend|suggest|prefer|should|could|would|what if|"
    r"(?:what|how"
    r"|tell me) about"
    r"|wrong|bugs?|fail(?:s|ing|ed|ure)?|broken|crash(?:es)?|slow|problem|cause|best|better|pass"
    r"|passes|instead|then|me|going on|next|what can|try|show|check|ready|done)\b",
    r"[?？。！;；]\s*\S|[.!]\s+\S|[,，]\s*(?:and|so|but|然后|再|顺便)",
    r"怎[么样]|如何|为[何啥]|帮|请(?!求)|麻烦|给我|修[复好改](?![了过]|时间|记录|者)"
    r"|改[成为一改]|添加"
    r"|加[上一]|增加|写[一个出]|编写|删",
    r"去掉|移除|运行(?!在|时)|执行|跑|(?<!次)提交(?!记录|历史|者)|推送|创建(?!了|者|时间|于)"
    r"|新建|实现(?!了)|重构|重写|安装",
    r"更新(?!时间|是|于)|升级|检查|审查|重命名|替换|优化|部署|生成|翻译|能不能|可不可以|可以"
    r"|[能要]否|(?<!这个接口)(?<!接口)(?<!功能)(?<!服务)(?<!命令)(?<!函数)(?<!参数)(?<!字段)"
    r"(?<!这里)要不要"
    r"|^(?:讲讲|说说|聊聊|谈谈|讲一?下|解释|介绍|描述|总结|对比|比较)|^[请先就再]?"
    r"(?:[把将让给别]|用(?![户的了到]))|[你您]觉得|[你您]认为|[你您]看(?![得的过到见])|(?:^"
    r"|[你您，,])能(?:不能|否)?(?:帮|给|把|换|改|加|去掉|做|弄|调|变|让|再|移|放[到大]|缩|删)"
    r"|能(?:不能|否)?[^，。]{0,4}[快慢大小多少短长](?:一)?[点些]|该|找[出到]|查[一清明]|定位"
    r"|排查|弄清|[报出]错(?!.{0,14}(?:什么意思|啥意思|是什么))|错误(?!.{0,3}什么意思)"
    r"|失败|崩溃|慢|问题|然后|看看|继续|再",
    hints="",  # most questions are looked at for all of it
)


def is_simple_question(text: str) -> bool:
    """Return whether *text* is one simple question."""
    if (
        len(text) > MAX_QUESTION
        or _ASKS_BACK.fullmatch(text)
        or "\n" in text
        or not _ASKS.may_fit(text)
    ):
        return False
    body = _politeness().sub("", text.rstrip("?？ .。"), count=1)
    if body.casefold() in _OF_THE_AGENT or _able().fullmatch(body):
        return True
    body = _no_work().sub(r"\1 thing", _how_to_use().sub("what 什么 ", body, count=1))
    mark = "?" if text.endswith(("?", "？")) else ""
    return not _ASKS_FOR_WORK.is_in(body) and _ASKS.is_all_of(body + mark)


@cache
def _able() -> re.Pattern[str]:
    return re.compile(_ABLE, re.IGNORECASE)


@cache
def _how_to_use() -> re.Pattern[str]:
    """Return how a question begins that is answered by what is written down somewhere."""
    return re.compile(
        r"^how (?:do|can|would|does) (?:i|we|one|you(?<!would you)) (?:start|run|use|launch|open"
        r"|install|build"
        r"|see|check out|watch|find|pronounce|spell|contact|reach|view|get to|cancel|end|leave"
        r"|switch|log out of"
        r"|test|deploy|set up|stop|exit|quit|call|import|log in to|connect to) "
        r"|怎么[存算读写配传管][起]?的(?=$)|(?<![你您])(?<!觉得)怎么看(?=$)|怎么(?:启动|运行|跑"
        r"|使用|用|安装|部署|打开|关闭|编译|构建|停止|退出|登录"
        r"|调用)(?![不没了])",
        re.IGNORECASE,
    )


@cache
def _no_work() -> re.Pattern[str]:
    """Return what is called as work is, and is none: the last commit."""
    return re.compile(
        r"\b(the|a|an|any|each|every|last|latest|first|previous|my|our|your|its|of|which"
        r"|many) (?:commits?|fix(?:es)?|patch(?:es)?|checks?|shows?|notes?|builds?|updates?"
        r"|changes|push|installation|runs?|start|releases?)\b"
        # how something is done, and what a thing does by itself
        r"|(?<=^how is )[\w -]{1,30} done$|(?<=^how are )[\w -]{1,30} done$"
        r"|(?:(?<=\bdo we)|(?<=\bdo they)|(?<=\bdo you))"
        r"(?: (?:read|write|show|update|build|run|start|create)\b)"
        r"|(?<=\bdoes\b)(?: (?!not\b)[\w().'-]+){0,4}? (?:start|stop|run|build|install|update"
        r"|create"
        r"|write|add|change|remove|commit|push|show|check|delete)\b"
        r"|(?<=\bis it safe to )\w+|(?<=\bis it ok to )\w+|(?<=\bis it okay to )\w+|"
        r"(?<=\bis it possible to )\w+|(?<=\bis it allowed to )\w+"
        # a word of work that is the name of something
        r"|(?<!\w)--?[a-z][\w-]*|\b(?!(?:which|what|whose|how|many|the|an?|this|that|is|are"
        r"|any)\b)[a-z]+ (?=(?:functions?|methods?|class(?:es)?|commands?|scripts?"
        r"|options?|flags?|modules?|targets?|hooks?|endpoints?)\b)"
        r"|\bbug (?:tracker|reports?|list|board)\b|\berror (?:pages?|logs?|handler|messages?)\b"
        r"|(?:(?<=什么)|(?<=什么命令)|(?<=什么脚本)|(?<=什么工具)|(?<=哪个命令)|(?<=哪个脚本)|"
        r"(?<=啥命令))来?(?:跑|运行|执行|部署|构建|安装|启动|生成)的?"
        r"|(?:部署|安装|生成|运行|跑|执行)(?=(?:在|到|于)哪)"
        # how often and when something is done by itself
        r"|(?<=几点)[就会]?(?:跑|运行|执行|提交|更新|备份|检查)|(?:(?<=多久)|(?<=什么时候)"
        r"|(?<=自动)|(?<=定时))"
        r"[就会才]?(?:一般)?(?:跑|运行|执行|提交|更新|备份|检查)"
        r"|(?:这个|那个|该|此|的)修[复正](?=$)|修复(?=版|记录|分支)|每[天周月年小时分钟]+"
        r"(?:自动)?(?:跑|运行|执行|备份)"
        r"|[a-z]+\s*(?=(?:函数|方法|类|命令|脚本|选项|参数|模块|接口|按钮))",
        re.IGNORECASE,
    )


@cache
def _politeness() -> re.Pattern[str]:
    """Return what may stand before a question and asks for nothing itself."""
    return re.compile(
        r"^(?:那个[,，]?(?=请|想|问)|请问(?:一下|下)?|(?:想|我想)?(?:问|请教)(?:一?[个下]|你)?"
        r"(?:小|简单的?)?(?:问题)?[:：,，]?|想问下|你好[,，]|告诉我|你知道|我想知道"
        r"|想问一下)+[,，]?"
        r"|^(?:(?:and|so|ok|okay|hey|hi|hello)[, ]+)*(?:(?:can|could|would) you (?:please )?tell me"
        r"|(?:do )?you know|tell me|please tell me|i(?:'d| would) like to know|i want to know"
        r"|remind me|any idea)? *",
        re.IGNORECASE,
    )
