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
from modules.depth.hinted_pattern import HintedPattern
from modules.depth.simple_questions import is_simple_question
from modules.depth.social_lines import how_social
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
    """What a line was found to be, and the name or the pattern of the rule that says so."""

    depth: Depth
    rule: str = ""


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
            return Judged(rule.depth, rule.name)
    return Judged("standard")


def _as_words(text: str, begins_word: bool, ends_word: bool) -> re.Pattern[str]:
    """Return what finds *text* where no word of letters goes on at its ends; Chinese has none."""
    before = "(?<![a-z0-9_])" if begins_word and text else ""
    after = "(?![a-z0-9_])" if ends_word and text else ""
    return re.compile(f"{before}{re.escape(text)}{after}")


_SAYS_DEEP = HintedPattern(
    r"^(?:deep|深入|深度)\s*[:：]",
    r"\b(?:think|look|dig|analy[sz]e|investigate|research|study|examine|consider)\b"
    r"(?: \w+){0,3} (?:deep(?:ly|er)?|hard|thoroughly)\b(?!-| copy| nest| learn)",
    r"\b(?:in (?:great |more |full )?detail|thoroughly)(?=[ ,.:;!]|$)(?! view| page)",
    r"\bgo deep\b|\btake your time\b|\bin[- ]depth\b|\bdeep dive\b|\bthink (?:it|this) through\b"
    r"|\b(?:carefully )?think (?:carefully|through)\b",
    r"深入(?!浅出)|好好想|仔细想|认真思考|深思|慢慢来|彻底(?:分析|排查|调查|检查|查)",
    r"详细(?!信息|日志|输出|模式|程度|页|地址|数据|资料)|全面(?=地?(?:分析|评估|检查|审查|梳理"
    r"|排查|调查|了解))",
    hints="deep|careful|hard|thorough|your time|depth|through|detail|深|好好想|仔细想|认真思考"
    "|慢慢来|彻底|详细|全面",
)
_SAYS_BRIEF = HintedPattern(
    r"^(?:brief|简短|简要)\s*[:：]",
    r"^(?:briefly|in short|in brief|short answer|quick question|tl;?dr)\b",
    r"\bin (?:one|a|two|three|a few) (?:short )?(?:sentences?|words?|lines?)(?=[:,.?!]|$)",
    r"(?:[, ]briefly|[, ]in short|keep it (?:short|brief))[.!?]*$",
    r"一句话|^简短|简短(?:地)?(?:说|回答|介绍|解释)|简单(?:地)?(?:说|讲|回答|介绍|解释)|简要"
    r"|简而言之|长话短说",
    hints="brief|short|quick question|tldr|tl;dr|sentence|word|line|一句话|简|长话短说",
)
_SAYS_STANDARD = HintedPattern(
    r"^(?:standard|normal|标准|普通)\s*[:：]", hints="standard|normal|标准|普通"
)

_WHOLE = (
    r"(?:whole|entire|everywhere|throughout|across (?:the|all)|code ?base|repository"
    r"|complete(?:ly)?|monolith)"
)
_ALL = rf"(?:{_WHOLE}|all|every|everything|backend|front ?end|architecture|from scratch|legacy)"
_LANGUAGES = (
    r"(?:go|golang|rust|c\+\+|c#|java|kotlin|python|typescript|javascript|swift|elixir|ruby|zig)"
)
_THINGS = (
    r"(?:apps?|application|project|code|backend|back end|front ?end|system|service|engine|web ?site"
    r"|site|server|library|framework|compiler|interpreter|platform|product|stack|api|game|web ?app"
    r"|marketplace|shop|(?:programming )?language|repo(?:sitory)?|code ?base)"
)
_CHANGES = (
    r"(?:adapt|adjust|refactor|rewrite|replace|rework|convert|upgrade|migrate|implement"
    r"|introduce|make|turn|transform|change"
    r"|unify|modernise|modernize|harden|overhaul|restructure|fix)"
)
_LOOKS = r"(?:search|find|list|count|show|run|grep|format|rename|print|what|where|which|how)"
_WHOLE_THING = (
    r"(?:(?:the |our |this )?(?:whole|entire) (?:\w+ )?(?:code ?base|project|app|application|system"
    r"|repo|repository|backend|frontend|site|website|product|platform|service|program)"
    r"|(?:all|every|each)(?: of)?(?: the| our)? (?:modules?|services?|packages?|components?))"
)
_TELLS = r"(?:summar|verif|notif|specif|identif|clarif|visuali|recogni)"
"""What makes nothing into something, though it is called like what does."""
_SMALL = r"(?!.*\b(?:function|method|line|script|loop|test|sentence|query|class|variable|file)\b)"
_BIG_CHANGE = HintedPattern(
    r"\b(?:refactor|rewrite|restructure|reorgani[sz]e|redesign|re-?architect|overhaul|migrate|port|"
    rf"moderni[sz]e|modulari[sz]e|decompose|rework)\b.*\b{_ALL}\b",
    r"\b(?:add|introduce|apply|implement|write|extract|unify|standardi[sz]e|document|transform)\b"
    r".*\b(?:throughout|(?:whole|entire) (?:project|app|application|code ?base|system|repository)"
    r"|across (?:the|all))\b",
    rf"\b(?:rewrite|rebuild|redesign|restructure|reorgani[sz]e) (?:the|our|this|my) (?:\w+ ){{0,2}}"
    rf"{_THINGS}\b",
    r"\b(?:thorough|comprehensive|complete|full) (?:security )?(?:analysis|review|audit)\b",
    r"\b(?:convert|replace|move|translate|clean up|audit|review|analy[sz]e|optimi[sz]e|upgrade)\b"
    rf".*\b{_WHOLE}\b",
    rf"\bport (?:the|our|this|my) (?:\w+ ){{0,2}}{_THINGS} to\b",
    rf"\b{_CHANGES}\b.*\b{_WHOLE_THING}\b|^(?!.*\b{_LOOKS}\b).*\b{_WHOLE_THING}\b.*\b{_CHANGES}\b",
    r"\b(?:overhaul|rework|redo|rewrite|rebuild|redesign)\b.*\bfrom (?:scratch|the ground up)\b",
    r"\b(?:move|switch|convert|port) (?:everything|all)\b.*\b(?:from|to|into)\b",
    r"\bmove (?:us|the (?:whole )?(?:app|project|site|service|database)) from\b",
    # to make a whole into something: what such verbs are called tells it, in both languages
    rf"^{_SMALL}(?:please )?(?!{_TELLS})\w+(?:i[sz]e|ify)\b.*\b(?:{_WHOLE_THING}"
    r"|(?:complete|whole|entire) (?:user interface|ui))\b",
    r"[把将].*(?:项目|应用|系统|服务|代码|网站|工程|仓库|平台)[^，。]{0,10}化$",
    r"(?:整[个站套]|全站|(?:所有|全部|每个).*从)"
    r"(?!.*(?:函数|方法|变量|文件|脚本|测试|按钮|颜色|搜索|查找|列出|统计|吗|什么))"
    r".*(?:(?:改|换|转|迁|变|移植)[成为到至]|引入|国际化)",
    rf"移植[到成为]\s*{_LANGUAGES}",
    r"\bconvert (?:all|every)\b.*\bfrom\b.*\bto\b",
    r"\b(?:redesign|overhaul|re-?architect)\b.*\b(?:systems?|architecture|layer|engine|api|schema|"
    r"database|app|application|framework|pipeline|modules?|plugins?|workflow|structure|how)\b",
    rf"^{_SMALL}.*\b(?:rewrite|re-?implement|port)\b.*\b(?:in|to) {_LANGUAGES}\b",
    r"\bmigrate\b.*\b(?:from|to)\b|\b(?:plan|prepare)\b.*\b(?:migration|upgrade|transition"
    r"|rewrite|redesign)\b",
    r"\b(?:split|break)\b.*\b(?:monolith|application|app|backend)\b.*\binto\b",
    r"(?:重构|重写|改写|改造|移植|重组|重新实现).*(?:整个|所有|全部|整套|全面|代码库|[后前]端"
    r"|架构)",
    r"(?:整个|所有|全部|整套|全面|从零|从头).*(?:重构|重写|改写|改造|移植|重组|重新实现)",
    r"(?:升级|替换|审计|审查|分析|优化|检查|转换).*(?:整个|整条|整套|代码库|全项目)",
    r"(?:整个|整条|整套|代码库|全项目|全面).*(?:转[成为换]|换成|国际化|升级|替换|审计|审查|分析"
    r"|优化|检查|转换)",
    r"迁移(?:到|至)|迁移.*计划|重新(?:设计|架构)(?!.*(?:按钮|图标|标志|颜色))",
    rf"用\s*{_LANGUAGES}\s*(?:重写|重新实现)(?!.*(?:函数|方法|脚本|循环|测试|这一?[段行个]))",
    r"(?:单体|应用|项目|系统|代码库|[后前]端).*拆(?:分)?[成为]|(?:大规模|彻底|全面)(?:重构|重写|改造|升级"
    r"|优化)",
    r"[把将].*(?:代码|项目|系统|接口|模块|服务|页面|组件)[^一-鿿]?(?:全部|统统|通通|都)(?:改|换|转|迁|重)"
    r"(?!.*(?:一行|这段|颜色|大写|小写))",
    r"(?:通盘|全盘|系统性?地|逐一(?=.*(?:所有|全部|每|各|整)))(?:检查|审查|梳理|排查|清理|优化|改)"
    r"(?![这那]?[一两二三四五六七八九十几\d]+[个份条项])|梳理.*(?:整个|整体|全部)",
    r"\bturn\b.*\b(?:app|project|collection|scripts|prototype|code ?base|repo|repository"
    r"|notebooks)\b.* into (?:an? |the |our )?(?:[\w-]+ ){0,3}(?:library|package|service"
    r"|framework|product|platform)\b",
    r"\b(?:complete|full|comprehensive) (?:[\w-]+ )?(?:test suite|suite of tests|test coverage"
    r"|documentation)\b.*\b(?:every|all|each|whole|entire)\b",
    r"[给为把对将](?:整个|所有|全部)(?:项目|应用|系统|服务|模块|代码|工程|仓库|网站|接口)"
    r"(?!.*(?:搜索|查找|列出|统计|运行|跑|显示))",
    hints="module|service|package|component|refactor|rewrit|restructur|reorgani|redesign"
    "|everywhere|每个|化"
    "|everything|move all|from scratch|ground up"
    "|architect|overhaul|migrat|port |moderni"
    "|modulari|decompos|rework|throughout|whole|entire|across|rebuild|thorough|comprehensive"
    "|complete|full |code base|codebase|repository|monolith|move us|move the"
    "|convert|implement|plan|prepare|split|break|重|改写|改造|移植|整|所有|全|从零|从头|代码库"
    "|迁移|拆|大规模|彻底|都|统统|通通|通盘|逐一|全盘|系统|梳理|turn ",
)
_FAULT = (
    r"(?:bugs?|faults?|crash\w*|leak\w*|fail\w*|errors?|exceptions?|hang(?:s|ing)?|hung|freez\w*"
    r"|slow\w*|time-?outs?|times? out|timing out|corrupt\w*|lost|los(?:es|ing)|outages?"
    r"|drop(?:s|ped|ping)|broken|break(?:s|ing)|restart(?:s|ing)|stuck|stall\w*|spik\w+|flak\w+|regressions?"
    r"|problems?|issues?|wrong\w*|memory|why|50\d)"
)
_WORDING = r"(?:typos?|wordings?|spellings?|labels?|captions?|colou?rs?|error messages?)"
_FAULT_ZH = (
    r"(?:崩|慢|超时|泄漏|泄露|故障|出错|错误(?!提示|信息|文案)|异常|报错|失败|卡|挂|死锁|丢|抖|问题|原因"
    r"|为什么|不稳|飙|宕|重启|bug)"
)
_HARD_FAULT = HintedPattern(
    r"(?=.*\b(?:find|figure|track|hunt|debug|diagnose|investigate|trace|fix|solve|get to)\b)"
    r"(?=.*(?:\b(?:intermittent\w*|sporadic\w*|occasional\w*|randomly|now and then|once in a while"
    r"|under load|deadlocks?|data races?|race conditions?|heisenbug|root cause"
    r"|keeps? (?:growing|leaking|coming back))\b"
    r"|memory leaks?.*\b(?:for good|across|long)\b))",
    # where and since when something is say that it is hard only of a fault
    r"(?=.*\b(?:find|figure|track|hunt|debug|diagnose|investigate|trace|fix|solve|get to)\b)"
    r"(?=.*\b(?:(?:in|on) production|for (?:days|weeks|months|years))\b)"
    rf"(?=.*\b{_FAULT}\b)(?!.*\b{_WORDING}\b)",
    r"(?=.*(?:找|查|排查|定位|调试|解决|修|诊断|追))"
    r"(?=.*(?:偶发|偶尔|间歇|时不时|随机出现|死锁|竞态|根因|根本原因"
    r"|线上.*(?:泄漏|崩溃|故障)"
    r"|几(?:个月|个?星期|天|周|年)了?[都也还]?没有?(?:找[到出]|解决|修[好复]|查[到出清明]|定位"
    r"|搞[定好]|头绪|结果)))",
    rf"(?=.*(?:找|查|排查|定位|调试|解决|修|诊断|追))(?=.*(?:生产环境|高并发|压力下(?![降拉])))"
    rf"(?=.*{_FAULT_ZH})",
    hints="intermit|sporad|occasion|random|now and then|once in a|under load|deadlock|race"
    "|heisenbug|root cause|production|for days|for weeks|for months|for years|growing|leak"
    "|coming back|偶|间歇|时不时|随机|死锁|竞态|根|线上|生产|并发|压力|几",
)
_BIG_WORK = HintedPattern(
    r"\b(?:design|plan) and (?:implement|build|develop|write|carry out|execute)\b",
    r"\bdesign\b.*\b(?:architecture|system)\b.*\b(?:build|implement|develop) it\b",
    r"\b(?:build|create|develop|implement|write|make)\b(?: me)? (?:an?|the|our)? ?"
    r"(?:complete|full(?:y|-stack)?|entire|whole|production[- ]ready|end[- ]to[- ]end)\b",
    r"\b(?:build|create|develop|implement|write)\b.*\bfrom (?:scratch|the ground up)\b",
    rf"\b(?:build|develop|design|implement)(?: me)? (?:an?|our)"
    rf"(?! (?:small|simple|tiny|minimal|little))(?: [\w-]+){{0,3}} {_THINGS}"
    r"(?=[.,!]| (?:for|with|that|which|to|using|in|where)\b|$)",
    rf"{_SMALL}^(?:please |let's |let us |can you |could you )*(?:plan|design|architect|devise)"
    r"(?: me| out| and \w+)? (?:an?|the|our|how)\b"
    r"(?!.*\b(?:button|icon|logo|banner|color|colour|page|card|header|footer)\b)",
    r"\b(?:compare|evaluate|weigh)\b.*\b(?:architectures|approaches|strategies|frameworks|designs"
    r"|alternatives)\b|\b(?:propose|outline|draft|write|develop|come up with|work out|create) "
    r"(?:me )?(?:an?|the|our) (?:[\w-]+ ){0,3}(?:architecture|strategy|road ?map|migration plan"
    r"|plan)\b",
    r"(?:对比|比较|评估|权衡).*(?:方案|架构|路线|框架).*(?:实现|落地|选|采用)",
    r"设计(?:并|和|与)(?:实现|开发|搭建)|设计.*架构",
    r"(?:(?:制定|制订|拟定|规划|设计|提出|给出)(?:一下|一[个份套种])?|[写出做想]一?[个份套种])"
    r".{0,16}(?:方案|策略|计划|路线图|规划)",
    r"^(?:请|帮我|麻烦)*规划(?!了)|(?:完整|全套)(?:地)?(?:实现|开发|搭建)",
    r"(?:从零|从头)(?:开始)?(?:开发|实现|搭建|构建|写|做)",
    r"(?:搭建|开发|实现|构建|编写|做|写)(?:一[个套款])?(?:完整|全套|全栈|端到端)的",
    r"(?:搭建|开发|构建|设计|打造)一[个套款](?!简单|小的|小型|小工具).{0,12}"
    r"(?:网站|平台|系统|应用|小程序|游戏|编译器|解释器|框架|引擎|商城)",
    hints="implement|design|plan|architect|devise|compare|evaluate|weigh|propose|strateg|road|complete"
    "|对比|比较|评估|权衡"
    "|full|entire|whole|production|end-to-end|end to end|scratch"
    "|ground up|build|develop|设计|制|拟定|规划|方案|策略|计划|路线图|从零|从头|完整|全套|全栈"
    "|端到端|搭建|开发|构建|打造",
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
        phrase("Only thanks, a greeting, a goodbye or praise"),
        lambda text: how_social(text) != "no",
    ),
    Rule(
        "big-change",
        "deep",
        phrase("A change of everything: rewrite, migrate, redesign, “refactor the entire …”"),
        _BIG_CHANGE.is_in,
    ),
    Rule(
        "big-work",
        "deep",
        phrase("A large piece of work: “design and implement”, “build a complete …”"),
        _BIG_WORK.is_in,
    ),
    Rule(
        "hard-fault",
        "deep",
        phrase(
            "A fault that is hard to find: intermittent, in production, a deadlock, a root cause"
        ),
        _HARD_FAULT.is_in,
    ),
    Rule(
        "question",
        "brief",
        phrase("A simple question without a change: what, where, which, how many"),
        is_simple_question,
    ),
)
