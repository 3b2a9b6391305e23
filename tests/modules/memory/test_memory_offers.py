"""What the person says that should last is offered to be remembered, once, and never taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cards import TextCard
from core.events import CommandAnswered, Event, Informed
from modules.memory.memory_offers import Offer, OfferedTexts, find_offer
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.system.shared_file import SharedFile

OFFERS = {
    "Remember that the tests need a database.": ("the tests need a database", "fact"),
    "Fix it. Please remember: never push to main!": ("never push to main", "fact"),
    "don't forget that v1.2 is still supported": ("v1.2 is still supported", "fact"),
    "My name is Ana": ("My name is Ana", "fact"),
    "I like short answers.": ("I like short answers", "preference"),
    "I'd prefer tabs": ("I'd prefer tabs", "preference"),
    "remember I prefer pnpm over npm": ("I prefer pnpm over npm", "preference"),
    "From now on, answer in French.": ("From now on, answer in French", "preference"),
    "记住测试要先启动数据库。": ("测试要先启动数据库", "fact"),
    "请记住：不要直接推送到 main！": ("不要直接推送到 main", "fact"),
    "我的名字是小王": ("我的名字是小王", "fact"),
    "我喜欢简短的回答。": ("我喜欢简短的回答", "preference"),
    "以后请用中文回答": ("以后请用中文回答", "preference"),
}
NOTHING = [
    "Do you remember the tests?",
    "remember when we did that",
    "Remember to run the tests",
    "I like it.",
    "I like what you did.",
    "I'd like to see the log",
    "thanks",
    "你记得上次的文件吗？",
    "我喜欢这个",
    '> Remember that this was quoted\nwhat does it say',
    "```\nremember that this is code\n```",
    "`I like tabs` is in the file",
    "The class remembers that it was closed",
    "She said I like tea",
    "",
    "x" * 5_000 + "\nRemember that this was pasted",
]  # fmt: skip


@pytest.mark.parametrize("said", OFFERS)
def test_what_should_last_is_found(said: str) -> None:
    assert find_offer(said) == Offer(*OFFERS[said])


@pytest.mark.parametrize("said", NOTHING)
def test_what_should_not_last_is_not(said: str) -> None:
    assert find_offer(said) is None


def test_nothing_is_offered_twice_also_from_a_damaged_file(tmp_path: Path) -> None:
    file = SharedFile(tmp_path / "offers.json")
    assert OfferedTexts(file).add(Offer("Tabs", "fact"))
    assert not OfferedTexts(file).add(Offer("tabs", "preference"))
    (tmp_path / "offers.json").write_text("{")
    assert OfferedTexts(file).add(Offer("tabs", "fact"))
    assert not OfferedTexts(file).add(Offer("tabs", "fact"))


def proposals(events: list[Event]) -> list[str]:
    return [str(one.what) for one in events if isinstance(one, Informed) and one.command]


def remembered(env: AssembledTerminal) -> list[str]:
    lines: list[str] = env.terminal.features.state()["memory"]
    return lines


def test_an_offer_enters_the_memory_with_the_persons_yes_alone(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *[text_reply("ok")] * 2) as env:
        events = run_turn(env.terminal, "I like short answers. Make a file.")
        assert proposals(events) == [
            "Remember “I like short answers” for later sessions? /remember saves it."
        ]
        assert remembered(env) == []
        (answer,) = run_turn(env.terminal, "/remember")
        assert isinstance(answer, CommandAnswered)
        assert answer.ok
        assert remembered(env)[0].startswith("preference: [")
        assert remembered(env)[0].endswith("] I like short answers")
        assert proposals(run_turn(env.terminal, "I like short answers.")) == []
    with assembled_terminal(tmp_path, text_reply("ok")) as env:
        assert proposals(run_turn(env.terminal, "I like short answers!")) == []


def test_what_the_model_remembers_itself_is_not_offered_again(tmp_path: Path) -> None:
    remember = call_reply("remember", text="answers are short", category="preference")
    with assembled_terminal(tmp_path, remember, text_reply("ok")) as env:
        env.terminal.approval.mode = "all"
        assert proposals(run_turn(env.terminal, "I like short answers.")) == []


def test_without_an_offer_it_says_what_to_say(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        (answer,) = run_turn(env.terminal, "/remember")
        assert isinstance(answer, CommandAnswered)
        assert isinstance(answer.card, TextCard)
        assert str(answer.card.title) == "Usage: /remember TEXT"
