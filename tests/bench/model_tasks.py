"""Twelve small tasks, each with a check of the files or of the answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_RUN_SECONDS = 20


@dataclass(frozen=True)
class Task:
    """*check* is given the folder and the answer; it says whether the task is done."""

    name: str
    text: str
    check: Callable[[Path, str], bool]
    files: Mapping[str, str] = field(default_factory=dict)

    def lay(self, folder: Path) -> None:
        """Write the files that the task begins with."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


def _holds(name: str, content: str) -> Callable[[Path, str], bool]:
    return lambda folder, _: _text(folder / name).strip() == content


def _says(pattern: str) -> Callable[[Path, str], bool]:
    return lambda _, answer: re.search(pattern, answer.replace(",", ""), re.IGNORECASE) is not None


def _prints(name: str, output: str) -> Callable[[Path, str], bool]:
    def check(folder: Path, _: str) -> bool:
        return (folder / name).is_file() and _run(folder, name) == (0, output)

    return check


def _run(folder: Path, name: str) -> tuple[int, str]:
    """Run what the model wrote, where it can write nothing and reach no network."""
    confined = (
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--unshare-all",
        "--die-with-parent",
    )
    try:
        ended = subprocess.run(  # noqa: S603 - confined
            [*confined, "--chdir", str(folder), sys.executable, "-B", name],
            capture_output=True,
            text=True,
            timeout=_RUN_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return ended.returncode, ended.stdout.strip()


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.is_file() else ""


def _debug_is_on(folder: Path, _: str) -> bool:
    try:
        found = json.loads(_text(folder / "settings.json"))
    except ValueError:
        return False
    return bool(found == {"name": "shop", "debug": True, "port": 80})


def _is_renamed(folder: Path, _: str) -> bool:
    return not (folder / "old.txt").exists() and _text(folder / "new.txt") == "keep me\n"


def _is_deleted(folder: Path, _: str) -> bool:
    return not (folder / "junk.tmp").exists() and (folder / "good.txt").is_file()


def _is_mended(folder: Path, _: str) -> bool:
    test = TASKS["mend"].files["test_calc.py"]
    return _text(folder / "test_calc.py") == test and _run(folder, "test_calc.py")[0] == 0


_ALL = (
    Task(
        "create",
        "Create a file notes.txt with the text: buy milk",
        _holds("notes.txt", "buy milk"),
        {"readme.txt": "A shop.\n"},
    ),
    Task(
        "read",
        "Which port does config.ini set?",
        _says(r"\b8137\b"),
        {"config.ini": "[server]\nhost = localhost\nport = 8137\n", "readme.txt": "A shop.\n"},
    ),
    Task(
        "edit",
        "In settings.json change debug from false to true.",
        _debug_is_on,
        {"settings.json": '{\n  "name": "shop",\n  "debug": false,\n  "port": 80\n}\n'},
    ),
    Task(
        "search",
        "Which file defines the function parse_date?",
        _says(r"\bcalendar_tools\.py\b"),
        {
            "main.py": "from lib.calendar_tools import parse_date\n\nprint(parse_date('x'))\n",
            "lib/calendar_tools.py": "def parse_date(text):\n    return text.split('-')\n",
            "lib/words.py": "def count_words(text):\n    return len(text.split())\n",
        },
    ),
    Task(
        "list",
        "How many .md files are in the folder docs?",
        _says(r"\b(3|three)\b"),
        {f"docs/{name}": "text\n" for name in ("a.md", "b.md", "c.md", "d.txt", "e.txt")},
    ),
    Task(
        "python",
        "Use Python to compute 123456789 * 987654321 and tell me the result.",
        _says("121932631112635269"),
    ),
    Task("rename", "Rename old.txt to new.txt.", _is_renamed, {"old.txt": "keep me\n"}),
    Task(
        "delete",
        "Delete the file junk.tmp.",
        _is_deleted,
        {"junk.tmp": "x\n", "good.txt": "y\n"},
    ),
    Task(
        "mend",
        "test_calc.py fails. Find the bug in calc.py and fix it.",
        _is_mended,
        {
            "calc.py": "def add(a, b):\n    return a - b\n",
            "test_calc.py": "from calc import add\n\nassert add(2, 3) == 5\n",
        },
    ),
    Task(
        "two steps",
        "Read name.txt, then create greeting.txt with the text Hello, NAME! where NAME is the name "
        "that name.txt holds.",
        _holds("greeting.txt", "Hello, Ada!"),
        {"name.txt": "Ada\n"},
    ),
    Task(
        "append",
        "Add the line pears at the end of list.txt.",
        _holds("list.txt", "apples\nplums\npears"),
        {"list.txt": "apples\nplums\n"},
    ),
    Task(
        "program",
        "Create the folder src and in it a file main.py that prints hello.",
        _prints("src/main.py", "hello"),
    ),
)
TASKS: Mapping[str, Task] = {task.name: task for task in _ALL}
