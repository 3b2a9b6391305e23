"""Which requests are understood, and as what."""

from __future__ import annotations

import pytest

from modules.practice.language.requests import parse_requests

Understood = list[tuple[str, dict[str, str]]]


def kinds(text: str, it: str = "") -> Understood:
    """Return what is understood, without the words around a name that only mark it as one."""
    return [
        (request.kind, {n: part for n, part in request.parts.items() if n not in ("noun", "named")})
        for request in parse_requests(text, it)
    ]


RUN_HELLO = ("run file", {"path": "hello.py"})


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("Can you describe this folder for me?", [("describe", {})]),
        ("what's in here", [("describe", {})]),
        ("list all files in src", [("describe", {"path": "src"})]),
        ("please show me README.md", [("show", {"path": "README.md"})]),
        ("open `main.py`.", [("show", {"path": "main.py"})]),
        ("show @main.py", [("show", {"path": "main.py"})]),
        (
            "show README.md and main.py",
            [("show", {"path": "README.md"}), ("show", {"path": "main.py"})],
        ),
        (
            "Make hello.py with `print('hi')`, then run it.",
            [("make", {"path": "hello.py", "text": "print('hi')"}), RUN_HELLO],
        ),
        (
            "create hello.py containing print('then') and run it",
            [("make", {"path": "hello.py", "text": "print('then')"}), RUN_HELLO],
        ),
        (
            "make hello.py with:\n```python\nprint('a')\n\nprint('b')\n```\nand run it",
            [("make", {"path": "hello.py", "text": "print('a')\n\nprint('b')"}), RUN_HELLO],
        ),
        (
            "make hello.py with:\nif x:\n    y\nthen run it",
            [("make", {"path": "hello.py", "text": "if x:\n    y"}), RUN_HELLO],
        ),
        (
            "make a.txt with salt and oil",
            [("make", {"path": "a.txt", "text": "salt and oil"})],
        ),
        (
            "make a.txt with eat and delete sadness",
            [("make", {"path": "a.txt", "text": "eat and delete sadness"})],
        ),
        ("create an empty file a.txt", [("make", {"path": "a.txt"})]),
        (
            'make "my notes.txt" with "x"',
            [("make", {"path": "my notes.txt", "text": "x"})],
        ),
        ('add the line "x = 1" to a.py', [("append", {"text": "x = 1", "path": "a.py"})]),
        ("in a.txt, change a to b", [("replace", {"path": "a.txt", "old": "a", "text": "b"})]),
        ("remove 'x' from a.txt", [("cut out", {"text": "x", "path": "a.txt"})]),
        ("run `ls -la`", [("run command", {"text": "ls -la"})]),
        ("run python3 hello.py", [("run command", {"text": "python3 hello.py"})]),
        ("what is 6*7?", [("compute", {"text": "6*7"})]),
        ("6*7", [("compute", {"text": "6*7"})]),
        ("where is main defined?", [("search", {"text": "main"})]),
        ('find "TODO" in src', [("search", {"text": "TODO", "path": "src"})]),
        ("find hello.py", [("find files", {"path": "hello.py"})]),
        ("find all *.py files", [("find files", {"glob": "*.py"})]),
        ("rm -rf build", [("delete folder", {"path": "build", "recursive": "rf"})]),
        ("plan: read, then write", [("plan", {"text": "read, then write"})]),
        ("remember that we build and run a.py", [("remember", {"text": "we build and run a.py"})]),
        ("thanks!", [("thank", {})]),
        ("这里有什么？", [("describe", {})]),
        ("读取笔记.md", [("show", {"path": "笔记.md"})]),
        ("看看README.md的内容", [("show", {"path": "README.md"})]),
        (
            "请新建 hello.py，内容为 print(“你好”)，然后运行它。",
            [("make", {"path": "hello.py", "text": "print(“你好”)"}), RUN_HELLO],
        ),
        (
            "新建一个 hello.py，打印“你好，世界”，并运行",
            [("make printing", {"path": "hello.py", "text": "你好，世界"}), RUN_HELLO],
        ),
        ("新建 a.txt 内容为 你好，世界。", [("make", {"path": "a.txt", "text": "你好，世界。"})]),
        ("把“再见”追加到 a.txt", [("append", {"text": "再见", "path": "a.txt"})]),
        ("把报告.md里的旧改成新", [("replace", {"path": "报告.md", "old": "旧", "text": "新"})]),
        ("把a.txt改名为b.txt", [("rename", {"path": "a.txt", "new": "b.txt"})]),
        ("6×7 等于多少？", [("compute", {"text": "6×7"})]),
        ("哪些文件包含 TODO？", [("search", {"text": "TODO"})]),
        ("给 a.py 加备注：入口", [("note", {"path": "a.py", "text": "入口"})]),
    ],
)
def test_a_request_is_understood(text: str, understood: Understood) -> None:
    assert kinds(text) == understood


@pytest.mark.parametrize(
    "text",
    [
        "",
        "write me a poem about the sea",
        "fix the bug in main.py",
        "describe this folder and fix the bug",
        "delete everything",
        "delete all files",
        "run away",
        "search the web for cats",
        # What to print is described, not said: to write that program would take an AI.
        "make fib.py that prints the first 10 fibonacci numbers and run it",
        "写一首诗",
        "删除所有文件",
        "新建 now.py，打印当前时间",
    ],
)
def test_anything_else_is_not(text: str) -> None:
    assert parse_requests(text) == []


def test_it_is_the_file_before() -> None:
    assert kinds("run it", "a.py") == [("run file", {"path": "a.py"})]
    assert kinds("rename a.py to b.py then run it") == [
        ("rename", {"path": "a.py", "new": "b.py"}),
        ("run file", {"path": "b.py"}),
    ]
    assert kinds("运行它") == [("run file", {"path": ""})]


def test_the_language_is_that_of_the_words_and_not_of_the_content() -> None:
    assert parse_requests("make 你好.txt with 你好")[0].language == "en"
    assert parse_requests("运行 hello.py")[0].language == "zh"


N = 100_000
HOSTILE = [
    "a" * N,
    " " * N,
    "\n" * N,
    "\0" * N,
    "😀" * N,
    "and then " * (N // 9),
    "then run a.py " * (N // 14),
    "replace " + "a with b in " * (N // 12),
    "append " + "a to " * (N // 5),
    "make a.txt with " + "and run b.py " * (N // 13),
    "make " + "a " * (N // 2),
    "find " + "*a" * (N // 2),
    "calculate " + "(" * N,
    "把" * N,
    "把 " + "改成" * (N // 2),
    "，然后" * (N // 3),
    '"' * (N + 1),
    '\\"' * (N // 2),
    "`" * (N + 1),
    "“" * N,
    ":\n" * (N // 2),
    "```a\n" * (N // 5),
    # As long as what is looked at may be.
    "replace " + "a with " * 2_800,
    "append " + "a to " * 3_900,
    "search " + "a in " * 3_900,
    "in a.txt replace b with " * 800,
    "make a.txt with " + "a. " * 6_600,
    "写 " * 9_000,
    "把 a 里 " * 3_300,
    "a在哪里" * 4_900,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_comes_to_an_end(text: str) -> None:
    parse_requests(text)
