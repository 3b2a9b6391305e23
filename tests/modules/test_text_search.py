"""Searching gives the same answers with ripgrep and without, in every encoding."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from core.cards import Hit, SearchCard
from core.tools import Outcome, ToolError
from modules import text_search
from modules.files.containment import ConfinedFolder
from modules.files.project import Project
from modules.files.search_worker import CpuTimer, SearchJob, SearchResult
from modules.files.search_worker import search as search_files
from modules.text_search import TextSearch
from tests.campaign import seeded
from utils.system.child import ChildResult
from utils.system.programs import system_program
from utils.waiting import Stop, Stopped

FILES = {
    "plain.py": b"import os\n\ndef main() -> None:\n    print('main')\n",
    "crlf.txt": "first main\r\nzweite Größe\r\n中文 测试\r\n".encode(),
    "gbk.txt": "这是中文的配置文件\nmain = 主要\n".encode("gbk"),
    "sjis.txt": "これは設定ファイルです\nmain\n".encode("shift_jis"),
    "utf16.txt": b"\xff\xfe" + "中文 main\nsecond\n".encode("utf-16-le"),
    "utf16-unmarked.txt": "plain main\nsecond line\n".encode("utf-16-be"),
    "latin.txt": "la Größe von main\n".encode("latin-1"),
    "koi8.txt": "настройки сервера\nмного кода\n".encode("koi8-r"),
    "mac.txt": b"first\rmain\rlast\r",
    "binary.bin": b"\0\1\2main\n" * 50,
    "image.png": b"\x89PNG\r\n\x1a\nmain\n",
    "empty": b"",
    "no newline": b"main",
    "sub/deep/-rf": b"main\n",
    "sub/new\nline": b"Main\n",
    "long.js": b"x" * 5000 + b"main" + b"y" * 5000,
    "ignored.log": b"main\n",
    ".gitignore": b"*.log\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, data in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / os.fsdecode(b"\xff\xfe")).write_bytes(b"main\n")
    (tmp_path / "outside.txt").write_text("main outside\n")
    (root / "link.txt").symlink_to("../outside.txt")
    (root / "inner.txt").symlink_to("plain.py")
    os.mkfifo(root / "fifo")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    project = Project(root)
    yield project
    project.close()


@pytest.fixture(params=["ripgrep", "alone"])
def search(
    request: pytest.FixtureRequest, project: Project, monkeypatch: pytest.MonkeyPatch
) -> TextSearch:
    if request.param == "alone":
        monkeypatch.setattr(text_search, "system_program", lambda _: None)
    return TextSearch(project)


def test_hits_are_told_by_file(search: TextSearch) -> None:
    assert search.search_text("main", glob="*.{py,txt}") == Outcome(
        "9 lines in 8 files:\n"
        "crlf.txt\n1│first main\ngbk.txt\n2│main = 主要\nlatin.txt\n1│la Größe von main\n"
        "mac.txt\n2│main\nplain.py\n3│def main() -> None:\n4│    print('main')\n"
        "sjis.txt\n2│main\nutf16-unmarked.txt\n1│plain main\nutf16.txt\n1│中文 main",
        SearchCard(
            "main",
            (
                Hit("crlf.txt", 1, "first main"),
                Hit("gbk.txt", 2, "main = 主要"),
                Hit("latin.txt", 1, "la Größe von main"),
                Hit("mac.txt", 2, "main"),
                Hit("plain.py", 3, "def main() -> None:"),
                Hit("plain.py", 4, "    print('main')"),
                Hit("sjis.txt", 2, "main"),
                Hit("utf16-unmarked.txt", 1, "plain main"),
                Hit("utf16.txt", 1, "中文 main"),
            ),
            9,
        ),
    )


@pytest.mark.parametrize(
    ("pattern", "options", "paths"),
    [
        ("中文", {}, ["crlf.txt", "gbk.txt", "utf16.txt"]),
        ("сервера", {}, ["koi8.txt"]),
        ("设定", {}, []),
        ("設定", {}, ["sjis.txt"]),
        ("größe", {"ignore_case": True}, ["crlf.txt", "latin.txt"]),
        ("main", {"path": "sub", "ignore_case": True}, ["sub/deep/-rf", r"sub/new\nline"]),
        ("main()", {}, ["plain.py"]),
        (r"def \w+\(", {"regex": True}, ["plain.py"]),
        ("^main$", {"regex": True, "path": "sub"}, ["sub/deep/-rf"]),
        ("测试$", {"regex": True}, ["crlf.txt"]),
        (r"(?<=def )main", {"regex": True}, ["plain.py"]),
        (r"(m)ain.\1", {"regex": True}, []),
        ("^$", {"regex": True}, ["plain.py"]),
        ("^last", {"regex": True}, ["mac.txt"]),
        ("main", {"path": "plain.py"}, ["plain.py"]),
        ("main", {"path": "ignored.log"}, ["ignored.log"]),
        ("-rf", {}, []),
        ("main", {"glob": "sub/**"}, ["sub/deep/-rf"]),
        ("outside", {}, []),
    ],
)
def test_what_is_found(
    search: TextSearch, pattern: str, options: dict[str, object], paths: list[str]
) -> None:
    outcome = search.search_text(pattern, **options)  # type: ignore[arg-type]
    assert isinstance(outcome.card, SearchCard)
    assert list(dict.fromkeys(hit.path for hit in outcome.card.hits)) == paths


def test_a_long_line_is_cut_around_the_match(search: TextSearch) -> None:
    outcome = search.search_text("main", path="long.js")
    assert outcome.text == (f"1 line in 1 file:\nlong.js\n1│…{'x' * 150}main{'y' * 146}…")


def test_many_hits_are_cut_with_the_total(search: TextSearch, root: Path) -> None:
    (root / "many").write_text("needle\n" * 250)
    outcome = search.search_text("needle")
    assert outcome.text.startswith("250 lines in 1 file; the first 100:\nmany\n1│needle\n")
    assert isinstance(outcome.card, SearchCard)
    assert (len(outcome.card.hits), outcome.card.total) == (100, 250)


def test_a_huge_file_is_said_to_be_left_out(search: TextSearch, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.write(b"text " * 2_000)
        file.truncate(10**12)
    outcome = search.search_text("needle")
    assert outcome.text.endswith("matches. Too large to search: 1 file.")
    assert outcome.card == SearchCard("needle", (), 0, too_large=1)


@pytest.mark.parametrize("regex", [False, True])
def test_a_large_file_is_searched_when_it_is_named(
    search: TextSearch, root: Path, regex: bool
) -> None:
    with (root / "big").open("wb") as file:
        file.write(b"first\r\n\r\n" + (b"x" * 9_998 + b"\r\n") * 2_001)
        file.write("the 中文 needle\n".encode())
    assert search.search_text("needle", path="big", regex=regex) == Outcome(
        "1 line in 1 file:\nbig\n2004│the 中文 needle",
        SearchCard("needle", (Hit("big", 2_004, "the 中文 needle"),), 1),
    )
    if regex:
        assert search.search_text("^$", path="big", regex=True).text.endswith("\n2│")
    assert isinstance(card := search.search_text("needle").card, SearchCard)
    assert (card.total, card.too_large) == (0, 1)


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\0b"])
def test_a_pattern_is_one_line(search: TextSearch, pattern: str) -> None:
    with pytest.raises(ToolError, match="one line"):
        search.search_text(pattern)


@pytest.mark.parametrize("pattern", ["(a", "a{99999999999999999999}", "(" * 600 + ")" * 600])
def test_a_broken_expression_is_told(search: TextSearch, pattern: str) -> None:
    with pytest.raises(ToolError, match="no regular expression: "):
        search.search_text(pattern, regex=True)


EVIL = r"(?:a+)+(?=$)b"


def test_an_evil_expression_ends_in_time(project: Project, root: Path) -> None:
    (root / "evil").write_text("a" * 64 + "!\n")
    with pytest.raises(ToolError, match="not done after 0 seconds"):
        TextSearch(project, seconds=0.3).search_text(EVIL, regex=True)


def test_what_was_found_before_the_time_was_up_is_told(project: Project, root: Path) -> None:
    (root / "b").write_text("a" * 64 + "!\n" + "b\n")
    (root / "a").write_text("b\n")
    outcome = TextSearch(project, seconds=0.3).search_text(f"^b|{EVIL}", regex=True)
    assert outcome == Outcome(
        "1 line in 1 file: The time was up: 20 files not searched to the end. Search a smaller "
        "folder.\na\n1│b",
        SearchCard(f"^b|{EVIL}", (Hit("a", 1, "b"),), 1, is_cut_short=True),
    )


def test_waiting_is_no_searching(project: Project, root: Path) -> None:
    """A worker that is stopped for longer than its time is not out of it: only work counts."""
    (root / "evil").write_text("needle\n")
    search = TextSearch(project, seconds=0.5)
    ask = search._run_program

    def slow(command: Sequence[str], folder: Path, stdin: bytes = b"") -> ChildResult:
        waiting = f"sleep 0.8; exec {shlex.join(command)}"
        return ask(["/bin/sh", "-c", waiting], folder, stdin)

    search._rg = None
    search._run_program = slow  # type: ignore[method-assign]
    assert search.search_text("needle").text.endswith("1│needle")


def test_a_search_can_be_stopped(project: Project, root: Path) -> None:
    """The stop comes once the search is under way: the timer is started before the search is."""
    (root / "evil").write_text("a" * 64 + "!\n")
    stop = Stop()
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    with pytest.raises(Stopped):
        TextSearch(project, stop=stop, seconds=600).search_text(EVIL, regex=True)
    timer.join()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Git lists no pipes, so this is a folder without a repository."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "f").write_text("needle\n")
    project = Project(tmp_path)
    assert TextSearch(project).search_text("needle").text.endswith("\nf\n1│needle")
    project.close()


def test_a_hidden_folder_is_not_searched(root: Path) -> None:
    (root / "data").mkdir()
    (root / "data/key").write_text("needle\n")
    (root / "way").symlink_to("data/key")
    project = Project(root, hidden=[root / "data"])
    assert TextSearch(project).search_text("needle").text.startswith("No line of")
    project.close()


PIECES = ["main", "Main", "中", "文", "ö", " ", "\t", "a", "b.c", "(x)", "\\d", "$", "[", "9", "é",
          "²", "e\u0301", "İ", "ı", "😀", "\x1c"]  # fmt: skip
PATTERNS = ["main", "中文", r"\w+", r"a.*9", "^a", r"\bmain\b", "[ab]+c?", r"\(x\)", "ö|é", r"\s9",
            "a{2}", r"\d$", "(?i)MAIN", r"[^a]b", "(main|a)b", r"b\.c", "i", r"\S\s\S",
            r"\W\w"]  # fmt: skip


class SearchInThisProcess(TextSearch):
    """Saves the start of a worker for each search: what ripgrep lets it see is in question."""

    def _run_worker(self, job: SearchJob) -> SearchResult:
        with closing(ConfinedFolder(Path(job.root))) as folder:
            return search_files(folder, job, CpuTimer())


@seeded(1)
def test_ripgrep_changes_no_answer(tmp_path: Path, seed: int) -> None:
    assert system_program("rg"), "without ripgrep this compares our search with itself"
    chance = random.Random(seed)
    for number in range(120):
        encoding = chance.choice(["utf-8", "utf-8", "utf-8", "utf-16", "gb18030", "latin-1"])
        lines = ["".join(chance.choices(PIECES, k=chance.randint(0, 6))) for _ in range(8)]
        data = chance.choice(["\n", "\r\n"]).join(lines).encode(encoding, "ignore")
        (tmp_path / f"{number:03}.txt").write_bytes(data)
    project = Project(tmp_path)
    by_both, alone = SearchInThisProcess(project), SearchInThisProcess(project)
    alone._rg = None
    for pattern, ignores_case in product([*PATTERNS, *PIECES], [False, True]):
        asked = (pattern, ".", None, pattern in PATTERNS, ignores_case)
        assert by_both.search_text(*asked) == alone.search_text(*asked), asked
    project.close()


def test_ripgrep_is_indeed_used(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextSearch, "_candidates", lambda self, job: self.narrowed(job))
    seen = []

    def narrowed(self: TextSearch, job: object) -> list[str]:
        monkeypatch.undo()
        seen.append(self._candidates(job))  # type: ignore[arg-type]
        return list(seen[0])

    monkeypatch.setattr(TextSearch, "narrowed", narrowed, raising=False)
    TextSearch(project).search_text("import os")
    assert "plain.py" in seen[0]
    assert not {"no newline", "sub/deep/-rf", "crlf.txt"} & set(seen[0])
