"""Examples of requests that the practice model understands; a test tries each one."""

from __future__ import annotations

from modules.practice.voice import Voice, code

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("describe this folder", "描述这个文件夹"),
    ("show README.md", "看看 README.md"),
    ("show lines 2-4 of README.md", "显示 README.md 第 2 到 4 行"),
    ("make hello.py with print('hi') and run it", "新建 hello.py，内容为 print('hi')，然后运行它"),
    ("make greet.py that prints hello", "新建 greet.py，打印 你好"),
    ('overwrite notes.txt with "a new text"', "覆盖 notes.txt 内容为“新的内容”"),
    ('append "one more line" to notes.txt', "在 notes.txt 末尾添加“再来一行”"),
    ('in notes.txt replace "old" with "new"', "把 notes.txt 里的“old”改成“new”"),
    ("run hello.py", "运行 hello.py"),
    ("run the command `ls -la`", "执行命令 `ls -la`"),
    ("run python `print(2 ** 10)`", "执行 Python 代码 `print(2 ** 10)`"),
    ("calculate 6*7", "计算 6*7"),
    ("find TODO", "查找 TODO"),
    ("find files named *.py", "找文件 *.py"),
    ("count the lines of notes.txt", "统计 notes.txt 的行数"),
    ("rename notes.txt to diary.txt", "把 notes.txt 重命名为 diary.txt"),
    ("move notes.txt into docs/", "把 notes.txt 移动到 docs/"),
    ("make a folder docs", "新建文件夹 docs"),
    ("delete notes.txt", "删除 notes.txt"),
    ("delete the folder build and everything in it", "删除文件夹 build 及其所有内容"),
    ("focus on hello.py", "聚焦 hello.py"),
    ("note on hello.py: says hello", "给 hello.py 加备注：打招呼"),
    ("remember that the tests run with pytest", "记住：测试用 pytest 运行"),
    ("plan read, write, test", "计划：读、写、测试"),
    ("undo", "撤销"),
    ("help", "你能做什么"),
)
"""Each in English and in Chinese."""


def help_text(say: Voice) -> str:
    """Return an introduction and the list of example requests."""
    column = 0 if say.language == "en" else 1
    head = say(
        "I am the practice model: a small program, no AI. I understand only requests like these, "
        "in English and in Chinese:",
        "我是练习模型：一个小程序，不是 AI。我只懂下面这样的请求，中文英文都可以：",
    )
    tail = say(
        "Join several with “then”. Put texts and names with spaces in quotes.",
        "几件事可以用“然后”连起来。文字和带空格的文件名请加引号。",
    )
    return "\n".join([head, "", *(f"- {code(row[column])}" for row in EXAMPLES), "", tail])
