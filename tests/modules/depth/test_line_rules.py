"""Rules tell how deep the task of a line is, and take no line that asks for something as social."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import itertools

import pytest

from modules.depth.courtesies import how_social
from modules.depth.line_rules import OwnRule, judge
from tests.modules.depth.first_tries import FIRST_TRIES, TASKS_LIKE_SMALL_TALK
from tests.modules.depth.fresh_lines import MIXED, SHORT, VARIED
from tests.modules.depth.labelled_lines import HELD_OUT, LATER, TUNING
from tests.modules.depth.lines_anew import ANEW, RARE_COURTESIES, TASKS_LIKE_COURTESIES
from tests.modules.depth.lines_of_november import LINES, LINES_AFTER
from tests.modules.depth.things_in_talk import TASKS_IN_WORDS_OF_TALK
from tests.modules.depth.unheard_lines import TASKS_BESIDE_COURTESIES, UNHEARD
from tests.modules.depth.unseen_lines import UNSEEN, UNSEEN_LATER

LEAST_ACCURACY = 0.95
NOVEMBER = {depth: LINES[depth] + LINES_AFTER[depth] for depth in LINES}
SETS = (
    NOVEMBER,
    TUNING,
    HELD_OUT,
    LATER,
    MIXED,
    SHORT,
    VARIED,
    UNHEARD,
    ANEW,
    *FIRST_TRIES.values(),
)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        *(("tuning", TUNING), ("held out", HELD_OUT), ("later", LATER)),
        *(("mixed", MIXED), ("short", SHORT), ("varied", VARIED), ("unheard", UNHEARD)),
        *(("unseen", UNSEEN), ("unseen later", UNSEEN_LATER), ("anew", ANEW)),
        *FIRST_TRIES.items(),
        ("November", NOVEMBER),
    ],
)
def test_of_the_labelled_lines_nineteen_in_twenty_are_told_apart(
    name: str, lines: dict[str, list[str]]
) -> None:
    labelled = [(line, depth) for depth, some in lines.items() for line in some]
    wrong = [(line, depth, judge(line).depth) for line, depth in labelled]
    wrong = [one for one in wrong if one[1] != one[2]]
    right = len(labelled) - len(wrong)
    print(f"depth, {name}: {right} of {len(labelled)} ({right / len(labelled):.1%})")  # noqa: T201
    assert len(labelled) >= 150
    assert right >= LEAST_ACCURACY * len(labelled), wrong


def test_no_line_that_needs_a_tool_is_social() -> None:
    tasks = [
        line
        for lines in (*SETS, UNSEEN, UNSEEN_LATER)
        for depth, some in lines.items()
        for line in some
        if depth != "social"
    ]
    tasks += TASKS_BESIDE_COURTESIES + TASKS_LIKE_COURTESIES + TASKS_LIKE_SMALL_TALK
    assert len(tasks) >= 150
    assert [line for line in tasks if judge(line).depth == "social"] == []


def test_a_rare_courtesy_is_social_or_left_as_it_was() -> None:
    depths = [judge(line).depth for line in RARE_COURTESIES]
    print(f"depth, rare courtesies: {depths.count('social')} of {len(depths)}")  # noqa: T201
    assert set(depths) <= {"social", "standard"}


def test_a_thing_in_the_words_of_talk_is_a_task() -> None:
    assert len(TASKS_IN_WORDS_OF_TALK) >= 400
    assert [line for line in TASKS_IN_WORDS_OF_TALK if judge(line).depth == "social"] == []


@pytest.mark.parametrize(
    "line",
    [
        *("you're too kind", "that's too funny", "happy birthday to you", "have a lovely weekend"),
        *("time for lunch", "off to bed now", "so tired today", "finally friday", "what a day"),
        *("have the best day", "it's raining here", "hope you sleep well", "enjoy your coffee"),
        *(
            "我太开心了",
            "今天太累了",
            "生日快乐",
            "下班了",
            "祝你新年快乐",
            "你真漂亮",
        ),
        *("今天心情真好", "好兄弟", "我很喜欢", "睡觉去了", "真是个好消息"),
    ],
)
def test_talk_of_people_and_the_day_stays_social(line: str) -> None:
    assert judge(line).depth == "social"


def test_an_order_in_the_words_of_thanks_is_a_task() -> None:
    orders = [
        *("work on this", "work on it again", "make it clean", "make it better", "help", "help me"),
        *("read everything again", "read on", "answer the rest", "reply again", "clean it all"),
        *("support this too", "have it clean", "prompt me", "the fast one", "the best of it"),
        *("these", "all of it again", "now", "again, all of it", "see what works", "make us laugh"),
        *("take care of it", "you have to make it better", "you will save it", "i'd love it warm"),
        *("i wish it was quick", "i miss the old one", "it was better as it was", "the nice one"),
    ]
    lines = [
        line
        for thanks, order in itertools.product(["thanks", "thank you", "cheers", "amazing"], orders)
        for line in (f"{thanks}, {order}", f"{order}, {thanks}", f"{thanks} and {order}")
    ]
    lines += [f"thank you {order}" for order in orders if order not in ("now", "these")]
    assert [line for line in lines if judge(line).depth == "social"] == []


def test_whatever_stands_beside_thanks_makes_it_a_task() -> None:
    social = ["thanks", "hi", "谢谢", "great job!", "好的，谢谢", "bye 👋"]
    tasks = [
        *("fix it", "run the tests", "do it again", "go on", "push", "yes", "a.py", "README"),
        *("why?", "rm -rf build", "`ls`", "@app.py", "2", "v1.2", "https://example.org", "main.c"),
        *("继续", "再来一次", "提交", "改一下", "跑测试", "第二个", "为什么"),
    ]
    joints = [", ", " ", ". ", "\n", "，", "! now ", "-", " and then "]
    lines = [
        line
        for one, task, joint in itertools.product(social, tasks, joints)
        for line in (f"{one}{joint}{task}", f"{task}{joint}{one}")
    ]
    assert [line for line in lines if judge(line).depth == "social"] == []


@pytest.mark.parametrize(
    "line",
    [
        "thanks.md",
        "hello.py",
        "bye-bye.py",
        "hi/there",
        "yes",
        "sure",
        "yes, do",
        "no",
        "go",
        "sounds good",
        "是的",
        "可以",
        "行",
        "",
        "?",
        "88",
        "have a clean read, thanks",
        "…",
    ],
)
def test_names_and_what_may_be_a_yes_are_no_social_lines(line: str) -> None:
    assert judge(line).depth == "standard"


@pytest.mark.parametrize(
    "line",
    [
        *("great!", "Perfect", "太好了", "👍", "ok thanks", "好的，谢谢", "ok"),
        *(
            "okay",
            "got it",
            "好",
            "好的",
            "嗯",
            "收到",
            "明白了",
            "thanks, that works great for me",
        ),
    ],
)
def test_what_may_answer_an_open_question_is_a_task_then(line: str) -> None:
    assert judge(line).depth == "social"
    assert judge(line, is_open=True).depth == "standard"


@pytest.mark.parametrize("line", ["thanks!", "bye", "谢谢", "hello"])
def test_thanks_and_greetings_answer_nothing(line: str) -> None:
    assert judge(line, is_open=True).depth == "social"


def test_rules_of_the_person_go_before_ours() -> None:
    own = [OwnRule("deep", "release *"), OwnRule("standard", "where is"), OwnRule("social", "moin")]
    assert judge("Prepare the release 2.0", own).depth == "deep"
    assert judge("where is main()?", own).rule == "where is"
    assert judge("Moin!", own).depth == "social"
    assert judge("moin, fix the tests", own).depth == "standard"
    assert judge("the prerelease 1 is out of date", own).depth == "standard"
    assert judge("migrations ran", [OwnRule("deep", "migrat*")]).depth == "deep"
    assert judge("immigration", [OwnRule("deep", "migrat*")]).depth == "standard"
    assert judge("准备发布", [OwnRule("deep", "发布")]).depth == "deep"


def test_words_in_the_line_go_before_what_was_chosen_and_that_before_rules() -> None:
    assert judge("Where is main()?", chosen="deep").depth == "deep"
    assert judge("briefly: where is main()?", chosen="deep").depth == "brief"
    assert judge("standard: redesign the authentication system").depth == "standard"
    assert judge("thanks", chosen="standard").depth == "standard"
    assert judge("think hard about a name", [OwnRule("brief", "name")]).depth == "deep"


def test_a_rule_that_is_off_does_not_count() -> None:
    assert judge("what is a monad?", off={"question"}).depth == "standard"
    assert judge("thanks", off={"courtesies"}).depth == "standard"
    assert judge("briefly: hm", off={"words-brief", "question"}).depth == "standard"


@pytest.mark.parametrize(
    "line", ["thanks " * 400, "ha" * 100_000, "谢" * 50_000, "a" * 100_000 + "?", "* " * 20_000]
)
def test_a_line_of_any_length_is_looked_at_in_little_time(line: str) -> None:
    assert judge(line, [OwnRule("deep", "a*a*a*a*a*a*a*a*b")]).depth in (
        "standard",
        "social",
        "brief",
    )


def test_no_courtesy_is_tried_in_ever_more_ways() -> None:
    assert how_social(f"thanks{' again' * 60} zebra") == "no"


def test_words_of_hard_work_in_a_small_task_do_not_make_it_deep() -> None:
    lines = [
        "summarize the whole README",
        "verify that the output is complete",
        "fix the typo on the page in production",
        "find the file for weeks.py",
        "查一下几个没用的文件",
        "系统检查更新",
        "逐一检查这两个文件",
        "修改压力下降的提示",
        "minify the entire stylesheet",
        "notify me when the build is complete",
        "specify the complete path here",
        "resize the whole image",
        "capitalize the whole title",
        "verify the entire output against the golden file",
        "simplify the whole condition",
        "normalize the complete path",
        "fix the wording of the button in production",
        "find out which version runs in production",
        "track the number of requests in production",
        "fix the port in production settings",
        'find where "for days" is computed',
        "fix the label for weeks and months in the chart",
        "find the config for months",
        "查找几天没登录的用户",
        "查询几个月都没登录的用户",
        "修一下几个没对齐的按钮",
        "查一下这几个没有注释的函数",
        "系统优化提示的文字改一下",
        "系统清理缓存的按钮在哪",
        "逐一检查这三个函数的返回值",
        "修改高并发设置的说明文字",
        "查一下生产环境的端口",
        "修改生产环境的配置文件名",
        "找到压力下拉框的代码",
        "查一下生产环境用的是哪个版本",
        "run the system check",
        "系统排查日志在哪个目录",
        "summarize the whole project",
        "identify the files of the whole system",
        "replace the database name in the config with prod2",
        "run the backup every two hours",
        "find the label that says once in a while",
        "列出所有接口",
        "每五分钟跑一次备份",
        "所有页面的标题都加个句号",
    ]
    assert [line for line in lines if judge(line).depth == "deep"] == []


def test_what_is_done_to_a_whole_and_faults_that_are_hard_to_find_stay_deep() -> None:
    lines = [
        "modularize the whole code base",
        "internationalize the complete user interface",
        "containerize the entire backend",
        "internationalize the whole app",
        "find out why it crashes in production",
        "figure out why the service slows down under load in production",
        "fix the memory leak in production",
        "debug the 500 error that only happens in production",
        "I've been hunting this bug for days, find it",
        "fix the bug we have had for weeks",
        "系统地检查所有模块",
        "系统性地排查内存问题",
        "逐一检查每个模块",
        "查一下这个几天都没找到的 bug",
        "找了几个月没找到原因,查一下",
        "帮我查这个 bug,几周都没解决",
        "排查生产环境的崩溃",
        "定位压力下的超时",
        "修复高并发下的错误",
        "查一下线上偶发的故障",
    ]
    assert [line for line in lines if judge(line).depth != "deep"] == []
