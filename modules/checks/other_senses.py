"""Words of checks in another sense: a test that passes a list to a function ends neither way.

English and Chinese have one word for handing something on and for ending well (pass), and for by
means of (通过). What follows tells them apart: something that is handed to somebody, or a deed.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re

_CHECKS = (
    r"(?:tests?|check(?:s|er|ers)?|specs?|suites?|cases|assertions?|ci|build|pipeline|validation"
    r"|lint(?:er|ing)?|mypy|ruff|eslint|tsc|pytest|compiler|review|gates?)"
)
_THING = rf"(?:(?!{_CHECKS}\b|(?:first|second|third|last|next|same|time|run|try)\b)[\w.…'’]+(?!\w))"
_NO_THING = (
    r"(?:for|on|in|with|after|when|once|because|and|but|under|at|without|before|since|by|from|to"
    r"|as|if|both|every|each|all|now|again|too|thanks|due|prior|up|it|locally|\w+ly|fine|here"
    r"|there|everywhere|either|or|so|where|while|against|across|over|every|just|only|out|\d+)"
)
_HANDS = re.compile(
    rf"\bpass(?:es|ed|ing)? (?:an?|its|their|some|another|two|three|several|many) {_THING}"
    rf"(?: {_THING})?"
    rf"(?!(?: [\w-]+){{0,3}}? {_CHECKS}\b)"
    rf"|\bpass(?:es|ed|ing)? (?:the|this|that|these|those|all|both|our|your) (?:{_THING} ){{1,3}}?"
    r"(?:(?:on|along|through|down) )?(?:to|as(?! well| expected)|into|through)\b"
    rf"|\bpass(?:es|ed|ing)? (?:all|both|the|its) {_CHECKS} (?:to|as|into)\b"
    rf"|\bpass(?:es|ed|ing)? (?!{_NO_THING}\b){_THING} "
    r"(?:to|as|into|through|in(?! (?:less|under|about|\d))) "
    r"|\bpassed (?:\w+ )?as an? (?:\w+ )?(?:argument|parameter|value|option)\b",
    re.IGNORECASE,
)
_GOOD_THING = re.compile(
    r"\b(?:good|clean|green|correct|right|success|successful|happy|fine|perfect)"
    r"(?: and (?:an? )?\w+)? (?:value|file|case|path|input|button|branch|example|scenario|callback"
    r"|handler|request|folder|data|state|string|word|token|bar|icon|light|page|message)s?\b",
    re.IGNORECASE,
)
_BY_MEANS = re.compile(
    r"通过(?![了过率的啦吧后且并而没无，。！、；）)]|$"
    r"|(?:全部|所有|这些|新增的?|\s*\d{1,6}\s*[个项条]?){0,4}(?:单元|集成|回归|冒烟|类型)?(?:测试|检查|用例|校验)"
    r"(?!夹具|数据|文件|函数|类|框架|工具|脚本|参数|对象|客户端|代码))"
    r"(?=[^，。；]{1,24}?(?:调用|实现|模拟|选择|拿到|获取|取得|得到|设置|生成|传|完成|注册|读|访问|连接"
    r"|注入|指定|配置|控制|加载|发送|触发|比较|创建|区分|管理|定义|启动|判断|处理|查|找|写入))"
)


def without_other_senses(clause: str) -> str:
    """Return *clause* without the words that only look as if a check had ended well."""
    if "pass" in clause.lower():
        clause = _HANDS.sub(" hands ", clause)
    return _BY_MEANS.sub("经由", _GOOD_THING.sub(" thing ", clause))
