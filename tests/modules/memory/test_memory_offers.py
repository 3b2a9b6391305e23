"""What the person says that should last is offered to be remembered, once, and never taken."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

from pathlib import Path

import pytest

from core.cards import TextCard
from core.events import CommandAnswered, Event, Informed
from modules.memory.memory_offers import Offer, OfferedTexts, find_offer
from modules.memory.session_decisions import SessionDecisions
from modules.memory_manager import Memory
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


MORE_OFFERS = [
    "Hi, my name is Ana and I work on the billing team.",
    "By the way, I like my functions short.",
    "Also, please remember that staging is down on Mondays.",
    "btw I prefer pytest over unittest",
    "Oh, and remember: the API key rotates weekly.",
    "Fix the footer, and remember that we support IE11.",
    "Thanks. I really like two-space indentation.",
    "One more thing: from now on write commit messages in English.",
    "And I hate trailing commas.",
    "Please keep in mind that prod runs Python 3.9.",
    "I'd like you to always answer in German from now on.",
    "You can call me Max.",
    "Remember, we never force-push.",
    "Remember my timezone is CET.",
    "I strongly prefer composition over inheritance.",
    "你好，我叫李雷。",
    "顺便说一下，我喜欢用 tab 缩进。",
    "另外请记住，生产环境是 Python 3.9。",
    "还有，以后提交信息都用英文写。",
    "帮我记住数据库端口是 5433。",
    "我比较喜欢函数式的写法。",
    "我不喜欢太长的函数。",
    "请你记一下：周一不发布。",
    "记一下，接口要带版本号。",
    "我姓王，叫我老王就行。",
    "对了，我更喜欢 pnpm。",
    "Good morning! My name is Tomás, nice to meet you.",
    "Okay, please remember that all dates are ISO 8601.",
    "Quick note: I prefer early returns.",
    "And please don't forget that the CI only runs on Linux.",
    "Just so you know, I hate abbreviations in names.",
    "Yes, and from now on run the linter before you commit.",
    "Rename the file. Also, remember: no emojis in commit messages.",
    "By the way, my name is Priya.",
    "I generally prefer explicit imports.",
    "In the future, please use British spelling.",
    "Remember, this repo uses tabs.",
    "please keep in mind we deploy on Fridays",
    "I really don't like nested ternaries.",
    "Call me Ishmael.",
    "嗨，我叫小美。",
    "对了，记住我们用的是 MySQL 8。",
    "请帮我记住：日志要用英文。",
    "我讨厌写注释。",
    "另外，今后所有接口都要加鉴权。",
    "顺便一提，我更喜欢单引号。",
    "谢谢！以后回答尽量简短。",
    "麻烦记一下，测试账号是 demo。",
    "我姓陈。",
    "别忘了我们只支持 Python 3.11。",
]
MORE_NOTHING = [
    "Can you remember what we did yesterday?",
    "I would like a button in the header.",
    "I like the second option, go with it.",
    "I'd like the tests to run faster.",
    "I'd like to rename the module.",
    "Remember the login bug? It is back.",
    "I don't like that the page flickers.",
    "I like where this is going.",
    "My name is not shown in the header.",
    "I would love some help with this.",
    "I love it!",
    "From now on it works, great.",
    "在代码里记住用户的选择",
    "我喜欢第二个方案，就用它吧",
    "我想要一个按钮",
    "记得吗，上次那个 bug",
    "我叫你停下",
    "记得跑一下测试",
    "实现一个“记住密码”的功能",
    "以后再说吧",
    "I'd like a dark theme for the page.",
    "I would like to see the diff first.",
    "Please remember the last window size in the settings.",
    "Remember the user's choice between visits.",
    "I like the blue version better.",
    "I love how it looks.",
    "I'd prefer the second approach.",
    "I don't like the new header.",
    "Call me back when the tests are done.",
    "My name is missing from the authors list.",
    "Remember to bump the version.",
    "Don't forget to update the changelog.",
    "I like them both.",
    "I'd love to have a search box.",
    "Which do I prefer?",
    "Add a test that my name is Ana appears on the page.",
    "I prefer not to answer.",
    "From now on the build is broken.",
    "记得更新文档",
    "别忘了提交",
    "我喜欢新的首页",
    "以后可能会加上",
    "我叫了三次都没反应",
    "我想让按钮变大",
    "记住密码的勾选框不起作用",
    "把“我喜欢你”翻译成英文",
    "我不喜欢这个颜色",
    "以后再改这个问题",
]


@pytest.mark.parametrize("said", OFFERS)
def test_what_should_last_is_found(said: str) -> None:
    assert find_offer(said) == Offer(*OFFERS[said])


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("My name is Ana; fix the login", "My name is Ana"),
        ("call me Sam, and run the tests", "call me Sam"),
        ("我叫李雷，帮我修一下登录", "我叫李雷"),  # noqa: RUF001
        ("修一下登录，另外以后提交信息都用英文", "以后提交信息都用英文"),  # noqa: RUF001
    ],
)
def test_what_is_to_be_done_beside_it_is_not_offered(said: str, offered: str) -> None:
    offer = find_offer(said)
    assert offer is not None
    assert offer.text == offered


@pytest.mark.parametrize("said", NOTHING)
def test_what_should_not_last_is_not(said: str) -> None:
    assert find_offer(said) is None


def test_what_should_last_is_told_from_what_is_wished_for_now() -> None:
    """Sentences that were labelled before they were tried: the second half was all right then."""
    assert [said for said in MORE_OFFERS if find_offer(said) is None] == []
    assert [said for said in MORE_NOTHING if find_offer(said) is not None] == []


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


def test_what_a_session_decided_is_offered_at_the_end_once_it_is_over(tmp_path: Path) -> None:
    said = "I decided to keep the old endpoint.\n\nI'll use SQLite because it is simple."
    offer = (
        "Earlier sessions decided 2 things. /remember saves them for later ones: "
        "“I decided to keep the old endpoint.”; “I'll use SQLite because it is simple.”"
    )
    with assembled_terminal(tmp_path, text_reply(said), *[text_reply("ok")] * 2) as env:
        assert proposals(run_turn(env.terminal, "Store it")) == []
        run_turn(env.terminal, "/new")
        assert (memory := env.terminal.features.find(Memory))
        memory.offers_decisions = False  # as with -p
        assert proposals(run_turn(env.terminal, "Another thing")) == []
    with assembled_terminal(tmp_path, *[text_reply("ok")] * 4) as env:
        # what this task says itself goes before, and nothing is lost by that
        (own,) = proposals(run_turn(env.terminal, "I like short answers. Go on"))
        assert "short answers" in own
        assert proposals(run_turn(env.terminal, "And now?")) == [offer]
        (answer,) = run_turn(env.terminal, "/remember")
        assert isinstance(answer, CommandAnswered)
        assert [line.partition("] ")[2] for line in remembered(env)] == [
            "I decided to keep the old endpoint.",
            "I'll use SQLite because it is simple.",
        ]
        run_turn(env.terminal, "/new")
        assert proposals(run_turn(env.terminal, "Hm")) == []


@pytest.mark.parametrize("damage", ["{", "[]", '{"s": 1, "t": ["I decided on a table.", 2]}'])
def test_damaged_decisions_of_sessions_are_left_out(tmp_path: Path, damage: str) -> None:
    file = SharedFile(tmp_path / "decisions.json")
    file.path.write_text(damage)
    assert SessionDecisions(file).take_others("me") == ["I decided on a table."] * ('"t"' in damage)
    SessionDecisions(file).keep("other", ["I decided on b."])
    assert SessionDecisions(file).take_others("other") == []
    assert SessionDecisions(file).take_others("me") == ["I decided on b."]
    assert SessionDecisions(file).take_others("me") == []
