"""Lines labelled before any rule was tried on them, a third of them courtesies, many in rare words.

Told apart at the first try, in the order in which they were written, and by the rules before that
day: 81 in a hundred (the same), 79 (73), 76 (71), 77 (69), 89 (83), 83 (79). Then lists and shapes
gave way to points of words: of the next four sets (a terse developer, a wordy one, a loose one, a
hobbyist) the lists told 81, 69, 74 and 73 in a hundred. The points, learned without the third, told
89 of it; learned with the three, 93 of the fourth, with one task as a courtesy. The next seven sets
were written by others, who had seen neither rules nor lines: 89, 87, 88, 84, 90, 92 and 93 at the
first try, and, learned with the first five of them, 94.5 and 96 of the last two, with 3 and 1 of
330 tasks as courtesies. All sets are what the points are learned from since, so what is measured
here says no more than that they hold.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from core.loop.depth import Depth
from modules.depth.line_rules import judge
from tests.modules.depth.all_lines import labelled

LINES = Path(__file__).parent / "blind_lines"
SETS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
)
LEAST_ACCURACY = 0.95


def of_set(name: str) -> list[tuple[str, Depth]]:
    """Return the lines of a set with their depths."""
    return labelled(LINES / f"{name}.txt")


@pytest.mark.parametrize("name", SETS)
def test_of_lines_that_were_labelled_unseen_nineteen_in_twenty_are_told_apart(name: str) -> None:
    lines = of_set(name)
    wrong = [(line, depth) for line, depth in lines if judge(line).depth != depth]
    right = len(lines) - len(wrong)
    print(f"depth, {name} blind set: {right} of {len(lines)}")  # noqa: T201
    assert len(lines) >= 149
    assert right >= LEAST_ACCURACY * len(lines), wrong


def test_no_task_of_them_is_social() -> None:
    tasks = [line for name in SETS for line, depth in of_set(name) if depth != "social"]
    assert len(tasks) >= 650
    assert [line for line in tasks if judge(line).depth == "social"] == []


def test_what_sets_to_work_or_stops_work_is_a_task() -> None:
    lines = [
        *(
            "Let's go",
            "lets go!",
            "Let's do this",
            "bring it on",
            "game on",
            "Stop it",
            "I mean it",
        ),
        *("I'm serious", "don't give up", "one step at a time", "makes sense to me", "baby steps"),
        *("冲", "冲冲冲", "起飞", "撤", "下线", "附议", "加油干"),
    ]
    assert [line for line in lines if judge(line).depth == "social"] == []


@pytest.mark.parametrize(
    ("courtesies", "orders"),
    [
        (
            ("thanks, ", "Great! ", "haha ", "good night, ", "wow, ok "),
            (
                *("you may begin", "okay go", "ok do it", "you better start", "over to you"),
                *("ok stop", "enough", "next one", "be quick", "come on", "work on it"),
                *("surprise me", "the rest too", "once more", "back to work", "I'm waiting"),
            ),
        ),
        (
            ("谢谢，", "太好了，", "哈哈，", "辛苦了，"),
            ("来吧", "你来吧", "好的开始吧", "那走吧", "认真点", "撤了吧", "全靠你了", "我很急"),
        ),
    ],
)
def test_an_order_beside_a_courtesy_is_a_task(
    courtesies: tuple[str, ...], orders: tuple[str, ...]
) -> None:
    lines = [f"{one}{order}" for one, order in itertools.product(courtesies, orders)]
    assert [line for line in (*lines, *orders) if judge(line).depth == "social"] == []


def test_what_looks_like_a_saying_and_names_a_thing_is_a_task() -> None:
    lines = (LINES / "tasks_like_sayings.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 500
    assert [line for line in lines if judge(line).depth == "social"] == []


def test_whatever_stands_beside_a_saying_makes_it_a_task() -> None:
    sayings = [
        *("good bot", "cool beans", "you're on fire today", "my cat says hi", "i owe you one"),
        *("that escalated quickly lol", "haha do you ever sleep?", "10/10", "hugs 🤗"),
        *("off to walk the dog", "what a beautiful sunset outside", "you deserve a raise"),
        *(
            "大佬受我一拜",
            "又要加班了",
            "记得吃月饼",
            "老板说你干得漂亮",
            "外面下大雪了",
            "你不累吗哈哈",
        ),
    ]
    tasks = [
        *("fix it", "run the tests", "do it again", "go on", "push", "yes", "a.py", "README"),
        *("why?", "rm -rf build", "`ls`", "@app.py", "2", "v1.2", "make it blue", "the other one"),
        *("invert it", "dim the lights", "swap them", "louder", "in French"),
        *(
            "继续",
            "再来一次",
            "提交",
            "改一下",
            "跑测试",
            "第二个",
            "为什么",
            "左边一点",
            "换成红色",
        ),
    ]
    lines = [
        line
        for one, task, joint in itertools.product(
            sayings, tasks, [", ", ". ", "\n", "，", "! now "]
        )
        for line in (f"{one}{joint}{task}", f"{task}{joint}{one}")
    ]
    assert [line for line in lines if judge(line).depth == "social"] == []


def test_a_thing_that_is_laughed_at_is_a_task() -> None:
    lines = ["猫的图片倒了哈哈", "标志歪了哈哈", "字母反了嘻嘻", "lol the logo is upside down"]
    assert [line for line in lines if judge(line).depth == "social"] == []
    assert judge("你太逗了哈哈").depth == "social"


@pytest.mark.parametrize("line", ["lunch time", "magic", "收工", "三连"])
def test_what_may_be_a_name_is_a_task(line: str) -> None:
    assert judge(line).depth == "standard"


@pytest.mark.parametrize(
    "line",
    [
        *("把这几个常量提到最上面", "能快一点吗这个接口", "你觉得这样写好吗", "能换成深蓝色吗"),
        *("what if the file is empty?", "讲讲你刚才改了啥", "将前几个测试挪到后面"),
    ],
)
def test_a_request_in_the_words_of_a_question_is_not_brief(line: str) -> None:
    assert judge(line).depth == "standard"


@pytest.mark.parametrize(
    "line", ["我" * 26, "今天" * 13, "太好" * 9 + "x", "又要去" * 8, "you're so " * 15, "好" * 160]
)
def test_what_is_said_over_and_over_is_looked_at_in_one_way(line: str) -> None:
    assert judge(line).depth in ("standard", "social")
