"""`CONFIG.md` is read as people write it, with lists of words as well as with rules."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

from modules.depth.line_rules import OwnRule, judge
from modules.depth.person_config import PersonConfig, with_item, without_rule

LISTS = """# CONFIG
> 用户配置 - 偏好设置和路由规则

## Preferences
communicationStyle: concise
technicalDepth: detailed_when_asked
- Answer in Chinese

## Routing
patterns:
  social:
    - "好的"
    - "👍"

  brief:
    - "一下子"

  detailed:
    - "仔细地"

  deepKeywords:
    - "架构"
    - "debug"

## Memory
detectionEnabled: true
archivePromptThreshold: 3  # 检测到3个候选时提示

## Checkpoints
defaultCheckpoints: true
"""


def test_lists_of_words_are_rules_and_named_values_are_preferences() -> None:
    config = PersonConfig.parse(LISTS.encode())
    assert config.preferences == (
        "communicationStyle: concise",
        "technicalDepth: detailed_when_asked",
        "Answer in Chinese",
    )
    assert config.rules == (
        OwnRule("social", "好的"),
        OwnRule("social", "👍"),
        OwnRule("brief", "一下子"),
        OwnRule("deep", "仔细地"),
        OwnRule("deep", "架构"),
        OwnRule("deep", "debug"),
    )
    assert config.unknown == ()
    assert judge("debug the login", config.rules).depth == "deep"
    assert judge("改一下架构图的颜色", config.rules).depth == "deep"
    assert judge("好的，继续", config.rules).depth == "standard"


def test_rules_are_added_to_lists_of_words_and_taken_from_them() -> None:
    added = with_item(LISTS.encode(), "brief: where is")
    rules = PersonConfig.parse(added).rules
    assert rules[-1] == OwnRule("brief", "where is")
    assert len(rules) == 7
    removed = without_rule(added, OwnRule("deep", "架构"))
    assert [one.pattern for one in PersonConfig.parse(removed).rules] == [
        *("好的", "👍", "一下子", "仔细地", "debug", "where is")
    ]
    assert without_rule(added, OwnRule("brief", "where is")) == LISTS.encode()
