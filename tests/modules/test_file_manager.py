"""The tools on files, run on real folders."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from core.cards import Change, DiffCard, Hit, SearchCard, TextCard, TreeCard, TreeEntry
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Tool, Toolbox, ToolError
from modules.file_manager import FileManager
from modules.files.project import DirectoryItem, Project
from tests.declared_tools import tool_named
from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import with_count


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    project = Project(root)
    yield project
    project.close()


@pytest.fixture
def files(project: Project) -> FileManager:
    return FileManager(project)


def read(files: FileManager, path: str) -> None:
    """Read *path* and have the model see the answer."""
    files.read_file(path)
    files.before_request()


# Reading


def test_reading_numbers_the_lines(files: FileManager, root: Path) -> None:
    (root / "a.py").write_text("one\n\tdeux\n三\n")
    assert files.read_file("a.py") == Outcome(
        "a.py: lines 1-3 of 3\n1│one\n2│\tdeux\n3│三",
        TextCard(
            phrase("Read {path}", path="a.py"),
            phrase("{n:,} lines", n=3),
        ),
    )
    assert files.read_file("./a.py", 2, 2).text == "a.py: lines 2-2 of 3\n2│\tdeux"
    assert files.read_file(str(root / "a.py"), 3, 99).text == "a.py: lines 3-3 of 3\n3│三"
    with pytest.raises(ToolError, match="has lines 1 to 3; lines 4 to 9 were"):
        files.read_file("a.py", 4, 9)


def test_a_person_is_told_which_part_was_read(files: FileManager, root: Path) -> None:
    def part(lines: int, start: int = 1, end: int | None = None) -> str:
        (root / "a.py").write_text("x\n" * lines)
        card = files.read_file("a.py", start, end).card
        assert isinstance(card, TextCard)
        assert isinstance(card.body, Phrase)
        return str(card.body)

    assert part(0) == "empty"
    assert part(1) == "1 line"
    assert part(3) == "3 lines"
    assert part(3, 2, 2) == "line 2 of 3"
    assert part(3, 2) == "lines 2-3 of 3"


@pytest.mark.parametrize("path", ["", ".", "a/.."])
def test_the_project_itself_is_no_file(files: FileManager, path: str) -> None:
    with pytest.raises(ToolError, match="names the project folder itself"):
        files.read_file(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("中文，配置\r\n".encode("gbk"), ", GBK, CRLF"),
        ("Привет, мир\r\n".encode("cp1251"), ", CP1251, CRLF"),
        (codecs.BOM_UTF8 + b"a\n", ", UTF-8 with BOM, LF"),
        (codecs.BOM_UTF16_LE + "a\n".encode("utf-16-le"), ", UTF-16-LE with BOM, LF"),
        ("日本語のテスト".encode("shift_jis"), ", Shift-JIS, LF, no newline at the end"),
    ],
)
def test_reading_says_what_is_not_plain(
    files: FileManager, root: Path, data: bytes, said: str
) -> None:
    (root / "f").write_bytes(data)
    assert files.read_file("f").text.split("\n")[0] == f"f: lines 1-1 of 1{said}"


def test_reading_stops_where_an_answer_is_full(files: FileManager, root: Path) -> None:
    lines = [f"line {number} 中文" for number in range(1, 5001)]
    (root / "long").write_text("\n".join(lines) + "\n")
    told = []
    start = 1
    while start:
        answer = files.read_file("long", start).text
        assert len(answer.encode()) < 33_000
        body, _, rest = answer.partition("\n… ")
        told += [line.partition("│")[2] for line in body.split("\n")[1:]]
        start = int(rest.rpartition("=")[2]) if rest else 0
    assert told == lines


def test_lines_of_a_large_file_are_read(files: FileManager, root: Path) -> None:
    with (root / "big").open("wb") as file:
        file.write((b"x" * 9_999 + b"\n") * 2_001 + "the 中文 end".encode())
    outcome = files.read_file("big", start_line=2_002)
    assert outcome == Outcome(
        "big: lines 2002-2002 of 2002, no newline at the end\n2002│the 中文 end",
        TextCard(
            phrase("Read {path}", path="big"),
            phrase("line {first} of {count}", first=2_002, count=2_002),
        ),
    )
    assert files.read_file("big").text.endswith("… 1995 more lines; go on with start_line=8")
    with pytest.raises(ToolError, match="has lines 1 to 2002"):
        files.read_file("big", start_line=2_003)


def test_lines_of_a_file_of_any_size_are_read(files: FileManager, root: Path) -> None:
    with (root / "huge.log").open("wb") as file:
        file.write("first\r\n中文\r\n".encode() + b"x" * 5_000_000 + b"\r\nafter\r\n")
        file.truncate(10**12)
    assert files.read_file("huge.log", 2, 2) == Outcome(
        "huge.log: lines 2-2 (the file has 1.0 TB), UTF-8, CRLF\n2│中文",
        TextCard(phrase("Read {path}", path="huge.log"), phrase("line {n}", n=2)),
    )
    answer = files.read_file("huge.log", 1, 4).text.split("\n")
    assert (answer[1], answer[2], answer[4]) == ("1│first", "2│中文", "4│after")
    assert len(answer[3]) < 5_000
    with pytest.raises(ToolError, match=r"huge.log is too large to read whole .*; use Python"):
        files.read_file("huge.log", 9, 10)


def test_a_very_long_line_is_cut(files: FileManager, root: Path) -> None:
    (root / "min.js").write_text("x" * 1_000_000)
    answer = files.read_file("min.js").text
    assert len(answer) < 5_000
    assert "1000000 characters" in answer


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none", "There is no none."),
        ("folder", "folder is a folder, not a file."),
        ("a/b", "There is no a/b."),
        ("text/x", "text/x is not a folder, or goes through a file."),
        ("../x", "../x leads outside the project folder; only what is inside can be used."),
        ("/etc/passwd", "/etc/passwd leads outside the project folder; only what is inside can be"),
        ("out/x", "out/x leads outside the project folder; only what is inside can be used."),
        ("fifo", "fifo is a device, pipe or socket, not a file."),
        ("a\0b", "A path cannot hold a NUL character."),
        ("huge", "huge is too large to read whole (1.0 TB); give start_line and end_line."),
        ("p.png", "p.png is not text but PNG image, 800x600 (24 B); use Python to look into"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(
    files: FileManager, root: Path, name: str, sentence: str
) -> None:
    (root / "folder").mkdir()
    (root / "text").write_text("")
    (root / "out").symlink_to("/etc")
    (root / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\0\x02\x58")
    os.mkfifo(root / "fifo")
    with (root / "huge").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ToolError) as caught:
        files.read_file(name)
    assert str(caught.value).startswith(sentence)


def test_kept_outputs_are_read_by_lines(project: Project) -> None:
    class Outputs:
        def read(self, address: str) -> str:
            return f"kept at {address}\nsecond\n"

    answer = FileManager(project, Outputs()).read_file("@output/3", 2)
    assert answer.text == "@output/3: lines 2-2 of 2\n2│second"


# Listing and finding


def test_the_tree_leaves_out_what_is_ignored(project: Project, root: Path) -> None:
    for name in ("src/deep/x.py", "src/a.py", "node_modules/p/i.js", "README.md", "b.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("12345")
    (root / "empty").mkdir()
    (root / ".gitignore").write_text("*.pyc\n")
    (root / "to").symlink_to("src")
    files = FileManager(project, note_of=lambda path: "read me" if path == "README.md" else "")
    assert files.list_files() == Outcome(
        "./ (5 files)\nempty/  (empty)\nnode_modules/  (ignored)\nsrc/\n  deep/  (1 file)\n"
        "  a.py  5 B\n.gitignore  6 B\nREADME.md  5 B  # read me\nto  (link)\n… 1 ignored files",
        TreeCard(
            ".",
            (
                TreeEntry("src", 1, None),
                TreeEntry("src/deep", 2, None),
                TreeEntry("src/a.py", 2, 5),
                TreeEntry(".gitignore", 1, 6),
                TreeEntry("README.md", 1, 5, "read me"),
                TreeEntry("to", 1, 3),
            ),
        ),
    )
    assert files.list_files("src", 1).text == "src/ (2 files)\ndeep/  (1 file)\na.py  5 B"
    with pytest.raises(ToolError, match="is not a folder"):
        files.list_files("README.md")


def test_a_folder_that_cannot_be_read_is_named_and_the_rest_listed(
    files: FileManager, project: Project, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "shut").mkdir()
    (root / "a.txt").write_text("a")
    scan = project.entries

    def entries(path: str) -> Sequence[DirectoryItem]:
        if path == "shut":
            raise ToolError(phrase("The system does not permit that for {path}.", path=path))
        return scan(path)

    monkeypatch.setattr(project, "entries", entries)
    assert "shut/  (not readable)\na.txt" in files.list_files().text
    with pytest.raises(ToolError):
        files.list_files("shut")


def test_a_big_folder_is_cut_with_its_count(files: FileManager, root: Path) -> None:
    for number in range(150):
        (root / f"{number:03}").write_text("")
    outcome = files.list_files()
    assert outcome.text.endswith("\n099  0 B\n… 50 more here")
    assert isinstance(outcome.card, TreeCard)
    assert (len(outcome.card.entries), outcome.card.left_out) == (100, 50)


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", ".", ["a.py", "src/b.py", "src/deep/test_c.py"]),
        ("*.py", "src", ["src/b.py", "src/deep/test_c.py"]),
        ("src/*.py", ".", ["src/b.py"]),
        ("src/**/*.py", ".", ["src/b.py", "src/deep/test_c.py"]),
        ("**/test_*.{py,js}", ".", ["src/deep/test_c.js", "src/deep/test_c.py"]),
        ("?.py", ".", ["a.py", "src/b.py"]),
        ("[!a].py", ".", ["src/b.py"]),
        ("deep/**", "src", ["src/deep/test_c.js", "src/deep/test_c.py"]),
    ],
)
def test_files_are_found_by_their_names(
    files: FileManager, root: Path, pattern: str, path: str, found: list[str]
) -> None:
    (root / "src/deep").mkdir(parents=True)
    for name in ("a.py", "src/b.py", "src/deep/test_c.py", "src/deep/test_c.js", "x.txt"):
        (root / name).write_text("")
    outcome = files.find_files(pattern, path)
    assert outcome.text.split("\n") == [f"{with_count(len(found), 'file')}:", *found]
    hits = tuple(Hit(name, 0, "") for name in found)
    assert outcome.card == SearchCard(pattern, hits, len(found))


def test_finding_nothing_hints_at_the_case(files: FileManager, root: Path) -> None:
    (root / "README.md").write_text("")
    assert files.find_files("readme.*").text == (
        "None of 1 file fits readme.*. With other upper or lower case: README.md."
    )


# Creating


def test_creating_makes_the_folders(files: FileManager, root: Path) -> None:
    assert files.create_file("a/b/new.py", "x = 1\n") == Outcome(
        "Created a/b/new.py (1 line).",
        DiffCard("a/b/new.py", "@@ -0,0 +1 @@\n+x = 1", 1, 0),
        changes=(Change("created", "a/b/new.py"),),
    )
    assert (root / "a/b/new.py").read_bytes() == b"x = 1\n"


def test_creating_does_not_replace(files: FileManager, root: Path) -> None:
    (root / "old").write_text("old\n")
    with pytest.raises(ToolError, match="old exists already. modify_file"):
        files.create_file("old", "new")
    with pytest.raises(ToolError, match=r"not read old yet.*1 line(.|\n)*1│old"):
        files.create_file("old", "new", overwrite=True)
    assert (root / "old").read_text() == "old\n"
    files.before_request()
    outcome = files.create_file("old", "new\n", overwrite=True)
    assert outcome.changes == (Change("modified", "old"),)
    assert outcome.card == DiffCard("old", "@@ -1 +1 @@\n-old\n+new", 1, 1)


def test_overwriting_keeps_the_encoding(files: FileManager, root: Path) -> None:
    (root / "f").write_bytes("配置文件\r\n旧的\r\n".encode("gbk"))
    read(files, "f")
    files.create_file("f", "新的配置\n第二行\n", overwrite=True)
    assert (root / "f").read_bytes() == "新的配置\r\n第二行\r\n".encode("gbk")
    with pytest.raises(ToolError, match=r"GBK, which has no 😀 \(U\+1F600\)"):
        files.create_file("f", "😀", overwrite=True)


@pytest.mark.parametrize("path", [".git/hooks/x", ".GIT/config", "sub/.git/config", ".git"])
def test_no_repository_is_made_by_hand(files: FileManager, root: Path, path: str) -> None:
    (root / "x").write_text("")
    (root / "sub").mkdir()
    works: list[Callable[[], object]] = [
        lambda: files.create_file(path, "x"),
        lambda: files.rename_file("x", path),
        lambda: files.create_folder(path),
    ]
    for work in works:
        with pytest.raises(ToolError, match="out of bounds"):
            work()
    assert sorted(p.name for p in root.rglob("*")) == ["sub", "x"]


def test_gits_own_files_are_changed_with_leave_and_only_they(
    files: FileManager, root: Path
) -> None:
    (root / ".git/hooks").mkdir(parents=True)
    (root / "x").write_text("x")
    arguments: list[dict[str, str]] = [
        {"path": ".git/hooks/pre-commit"},
        {"path": "sub/../.git/config"},
        {"path": "x", "new_path": ".git/x"},
        {"path": str(root / ".git/x")},
    ]
    for given in arguments:
        tool = "rename_file" if "new_path" in given else "create_file"
        assert "git's own" in str(files.approval_reason(tool_named(tool), given))
    for path in ("x", ".gitignore", ".git", "a/git/x", "\0", "../.git/x"):
        assert files.approval_reason(tool_named("create_file"), {"path": path}) is None
    assert files.approval_reason(tool_named("read_file"), {"path": ".git/config"}) is None

    files.create_file(".git/hooks/pre-commit", "one")
    files.modify_file(".git/hooks/pre-commit", "replace", old="one", new="two")
    files.rename_file(".git/hooks/pre-commit", ".git/info/kept")
    files.rename_file("x", ".git/x")
    assert (root / ".git/info/kept").read_text() == "two"
    files.delete_file(".git/x")
    files.delete_folder(".git/info", recursive=True)
    assert sorted(p.name for p in root.rglob("*")) == [".git", "hooks"]
    tries: list[Callable[[], object]] = [
        lambda: files.rename_file(".git", "elsewhere"),
        lambda: files.delete_folder(".git", recursive=True),
        lambda: files.create_folder(".git/modules/.git"),
    ]
    for work in tries:
        with pytest.raises(ToolError, match="out of bounds|memory of git"):
            work()
    (root / ".git/link").symlink_to(root.parent)
    with pytest.raises(ToolError, match="link"):
        files.create_file(".git/link/x", "")


def test_a_repository_of_another_name_is_gits_own_too(
    files: FileManager, project: Project, root: Path
) -> None:
    for name in ("objects", "refs", "hooks"):
        (root / "a/.bare" / name).mkdir(parents=True)
    (root / "a/.bare/HEAD").write_text("ref: refs/heads/main\n")
    hook = {"path": "a/.bare/hooks/post-commit"}
    for tool, given in (
        ("create_file", hook),
        ("modify_file", {"path": "a/x/../.bare/config"}),
        ("rename_file", {"path": "a/.bare", "new_path": "a/b"}),
        ("rename_file", {"path": "a/x", "new_path": "a/.bare/hooks/x"}),
    ):
        why = files.approval_reason(tool_named(tool), given)
        assert isinstance(why, AlwaysAskReason), given
    assert files.approval_reason(tool_named("create_file"), {"path": "a/hooks/x"}) is None
    with pytest.raises(ToolError, match="out of bounds"):
        project.write_bytes(hook["path"], b"x", expected=None)
    files.create_file(hook["path"], "one")  # with leave
    assert (root / hook["path"]).read_text() == "one"


def test_a_folder_with_a_repository_is_not_deleted(files: FileManager, root: Path) -> None:
    (root / "a/b/.git").mkdir(parents=True)
    with pytest.raises(ToolError, match=r"a/b/\.git is the memory of git"):
        files.delete_folder("a", recursive=True)
    assert (root / "a/b/.git").is_dir()


# Modifying

KINDS = {
    "utf-8": b"",
    "utf-8 BOM": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "gbk": b"",
    "shift_jis": b"",
}
TEXT = {"gbk": "配置：服务器\n第二行\n\n最后", "shift_jis": "設定：サーバー\n二行目です\n\n終わり"}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", KINDS)
def test_edits_keep_the_bytes_around(
    files: FileManager, root: Path, kind: str, newline: str
) -> None:
    encoding = kind.split(" ")[0]
    text = TEXT.get(kind, "première\nsecond 中文\n\nlast")

    def stored(text: str) -> bytes:
        return KINDS[kind] + text.replace("\n", newline).encode(encoding)

    path = root / "f"
    path.write_bytes(stored(text))
    path.chmod(0o754)
    read(files, "f")
    old = text.split("\n")[1]
    files.modify_file("f", "replace", old=old, new="new\nlines")
    assert path.read_bytes() == stored(text.replace(old, "new\nlines"))
    files.modify_file("f", "replace_lines", new="one\r\n", start_line=2, end_line=3)
    assert path.read_bytes() == stored(text.replace(old, "one"))
    files.modify_file("f", "append", new="more\r\nand more")
    assert path.read_bytes() == stored(text.replace(old, "one") + "\nmore\nand more")
    files.modify_file("f", "clear")
    assert path.read_bytes() == KINDS[kind]
    assert path.stat().st_mode & 0o777 == 0o754


def test_an_edit_tells_what_it_did(files: FileManager, root: Path) -> None:
    (root / "f").write_text("a\nb\nc\n")
    assert files.modify_file("f", "replace", old="b\n", new="B\nB2\n") == Outcome(
        "Changed f (+2 -1); it has 4 lines now.",
        DiffCard("f", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c", 2, 1),
        changes=(Change("modified", "f"),),
    )


def test_what_was_tolerated_is_told(files: FileManager, root: Path) -> None:
    (root / "f").write_text("def f():\n    if x:\n        return 1\n")
    outcome = files.modify_file(
        "f", "replace", old="if x:\n    return 1", new="if y:\n    return 2"
    )
    assert (root / "f").read_text() == "def f():\n    if y:\n        return 2\n"
    assert "Not exact, but clear: every line is indented by '    ' where old has ''" in outcome.text
    assert isinstance(outcome.card, DiffCard)
    assert outcome.card.note


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"operation": "replace", "new": "x"}, "replace also needs: old."),
        ({"operation": "replace", "old": "a"}, "replace also needs: new."),
        ({"operation": "append"}, "append also needs: new."),
        ({"operation": "replace_lines", "new": "x"}, "replace_lines also needs: start_line, end"),
        ({"operation": "clear", "new": "x"}, "clear takes no new."),
        ({"operation": "append", "new": "x", "old": "y"}, "append takes no old."),
        ({"operation": "replace", "old": "a", "new": "b", "end_line": 3}, "replace takes no end"),
        ({"operation": "replace", "old": "", "new": "b"}, "old is empty; to add text use append"),
        ({"operation": "append", "new": "b", "all": True}, "append takes no all."),
        ({"operation": "insert", "new": "b"}, "insert also needs: start_line."),
        ({"operation": "insert", "new": "b", "start_line": 0}, "The file has 3 lines, so new can"),
        ({"operation": "insert", "new": "b", "start_line": 5}, "The file has 3 lines, so new can"),
        (
            {"operation": "insert", "new": "b", "start_line": 1, "end_line": 2},
            "insert takes no end_line.",
        ),
        ({"operation": "replace", "old": "z", "new": "b", "all": True}, "old does not occur, nor"),
        ({"operation": "replace", "old": "a", "new": "a"}, "old and new are the same."),
        ({"operation": "replace", "old": "z", "new": "b"}, "old does not occur, nor anything"),
        ({"operation": "replace", "old": "a", "new": "b"}, "old occurs 2 times, at lines 1, 3."),
        (
            {"operation": "replace_lines", "new": "x", "start_line": 2, "end_line": 4},
            "The file has lines 1 to 3; 2 to 4 cannot be replaced.",
        ),
        (
            {"operation": "replace_lines", "new": "x", "start_line": 2, "end_line": 1},
            "The file has lines 1 to 3; 2 to 1 cannot be replaced.",
        ),
    ],
)
def test_a_wrong_edit_is_refused_in_a_sentence(
    files: FileManager, root: Path, arguments: dict[str, object], sentence: str
) -> None:
    (root / "f").write_text("a\nb\na\n")
    read(files, "f")
    with pytest.raises(ToolError) as caught:
        files.modify_file("f", **arguments)  # type: ignore[arg-type]
    assert str(caught.value).startswith(sentence)
    assert (root / "f").read_text() == "a\nb\na\n"


@pytest.mark.parametrize(
    ("text", "first", "last", "new", "after"),
    [
        ("a\nb\nc\n", 2, 2, "B", "a\nB\nc\n"),
        ("a\nb\nc\n", 2, 2, "B\n", "a\nB\nc\n"),
        ("a\nb\nc\n", 1, 3, "", ""),
        ("a\nb\nc", 3, 3, "", "a\nb\n"),
        ("a\nb\nc", 3, 3, "C\n", "a\nb\nC"),
        ("a\nb\n", 1, 1, "\n", "\nb\n"),
        ("a\nb\n", 2, 2, "x\n\n", "a\nx\n\n"),
    ],
)
def test_lines_are_replaced_with_their_ends_kept(
    files: FileManager, root: Path, text: str, first: int, last: int, new: str, after: str
) -> None:
    (root / "f").write_text(text)
    read(files, "f")
    files.modify_file("f", "replace_lines", new=new, start_line=first, end_line=last)
    assert (root / "f").read_text() == after


@pytest.mark.parametrize(
    ("text", "line", "new", "after"),
    [
        ("a\nb\n", 1, "x", "x\na\nb\n"),
        ("a\nb\n", 2, "x\ny\n", "a\nx\ny\nb\n"),
        ("a\nb\n", 3, "x\n", "a\nb\nx\n"),
        ("a\nb", 3, "x", "a\nb\nx"),
        ("a\nb", 2, "x", "a\nx\nb"),
        ("a\r\nb\r\n", 2, "x\n", "a\r\nx\r\nb\r\n"),
        ("", 1, "x\n", "x\n"),
        ("a\n", 1, "", "a\n"),
        ("a\n", 1, "\n", "\na\n"),
    ],
)
def test_lines_are_inserted_before_a_line(
    files: FileManager, root: Path, text: str, line: int, new: str, after: str
) -> None:
    (root / "f").write_bytes(text.encode())
    read(files, "f")
    files.modify_file("f", "insert", new=new, start_line=line)
    assert (root / "f").read_bytes().decode() == after


def test_every_occurrence_is_replaced_and_counted(files: FileManager, root: Path) -> None:
    (root / "f").write_bytes(b"aaaa\r\nmixed\nb$1\r\nb$1\r\n")
    outcome = files.modify_file("f", "replace", old="b$1", new="\\1b$1", all=True)
    assert (root / "f").read_bytes() == b"aaaa\r\nmixed\n\\1b$1\r\n\\1b$1\r\n"
    assert outcome.text == "Changed f (+2 -2); it has 4 lines now. 2 places were changed."
    files.modify_file("f", "replace", old="aa", new="a", all=True)
    assert (root / "f").read_bytes().startswith(b"aa\r\nmixed\n")


def test_lines_between_two_changes_keep_their_ends(files: FileManager, root: Path) -> None:
    (root / "f").write_bytes(b"x\r\none\ntwo\r\nx\nthree\r\nfour\r\n")
    files.modify_file("f", "replace", old="x", new="y", all=True)
    assert (root / "f").read_bytes() == b"y\r\none\ntwo\r\ny\nthree\r\nfour\r\n"


def test_an_empty_file_is_filled_by_replacing_nothing(files: FileManager, root: Path) -> None:
    (root / "f").write_text("")
    files.modify_file("f", "replace", old="", new="a\n")
    assert (root / "f").read_text() == "a\n"


def test_line_numbers_in_new_are_left_out(files: FileManager, root: Path) -> None:
    (root / "f").write_text("a\nb\n")
    outcome = files.modify_file("f", "replace", old="a", new="1│x\n2│y")
    assert (root / "f").read_text() == "x\ny\nb\n"
    assert "the line numbers in new were left out" in outcome.text
    files.modify_file("f", "append", new="1│x\n3│y\n")
    assert (root / "f").read_text() == "x\ny\nb\n1│x\n3│y\n"


LEFT_OUT = [
    "    # ... rest of the method unchanged ...",
    "// ... existing code ...",
    "// … existing code …",
    "(rest of the method …)",
    "(rest of methods ...)",
    "/* ... other functions remain the same ... */",
    "<!-- rest of the file unchanged -->",
    "{/* ... rest of component code ... */}",
    "# (remaining code unchanged)",
    "# rest of code...",
    "... (existing code unchanged)",
    "# ... same as before",
    "[... rest of file ...]",
    "# ……其余代码不变……",
    "// 其他代码保持不变",
    "# ...",
]


@pytest.mark.parametrize("line", LEFT_OUT)
def test_a_line_that_stands_for_lost_text_is_refused(
    files: FileManager, root: Path, line: str
) -> None:
    text = "def f():\n    a()\n    b()\n    c()\n"
    (root / "f.py").write_text(text)
    read(files, "f.py")
    new = f"def f():\n    z()\n{line}\n"
    for asked in (
        {"operation": "replace", "old": text, "new": new},
        {"operation": "replace_lines", "start_line": 1, "end_line": 4, "new": new},
    ):
        with pytest.raises(ToolError, match="stands in new for text that would be lost"):
            files.modify_file("f.py", **asked)
    with pytest.raises(ToolError, match="stands in new for text that would be lost"):
        files.create_file("f.py", new, overwrite=True)
    assert (root / "f.py").read_text() == text
    (root / "f.py").write_text(text + line + "\n")
    read(files, "f.py")
    files.modify_file("f.py", "replace", old=text, new=new)
    assert (root / "f.py").read_text() == new + line + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "    ...",
        "# The rest of the code relies on this.",
        "# existing code must not call this",
        "print('(rest of the method ...)')",
        "# Load the other files...",
        "// see the previous section",
        "(the same)",
        "# -----",
        "#: the remaining seconds, unchanged by a pause",
        "# keep the original file name here",
        "return [*rest, *others]",
        "# 其他语言的用户看到英文",
    ],
)
def test_an_ordinary_line_is_not_taken_for_a_placeholder(
    files: FileManager, root: Path, line: str
) -> None:
    (root / "f.py").write_text("a\nb\nc\n")
    files.modify_file("f.py", "replace", old="a\nb\n", new=line + "\n")
    assert (root / "f.py").read_text() == f"{line}\nc\n"


def test_a_fence_around_new_is_refused_but_in_prose(files: FileManager, root: Path) -> None:
    for name in ("f.py", "f.md"):
        (root / name).write_text("a\n")
    with pytest.raises(ToolError, match="wrapped in a Markdown fence"):
        files.modify_file("f.py", "replace", old="a", new="```python\nb\n```")
    files.modify_file("f.md", "replace", old="a", new="```python\nb\n```")
    assert (root / "f.md").read_text() == "```python\nb\n```\n"


def test_lines_of_an_unread_file_are_not_replaced(files: FileManager, root: Path) -> None:
    (root / "f").write_text("a\nb\n")
    with pytest.raises(ToolError, match=r"You have not read f yet(.|\n)*1│a\n2│b"):
        files.modify_file("f", "replace_lines", new="x", start_line=1, end_line=1)
    files.before_request()
    files.modify_file("f", "replace_lines", new="x", start_line=1, end_line=1)
    assert (root / "f").read_text() == "x\nb\n"


@pytest.mark.parametrize(
    "work",
    [
        lambda files: files.modify_file("f", "replace", old="mine", new="x"),
        lambda files: files.modify_file("f", "append", new="x"),
        lambda files: files.modify_file("f", "clear"),
        lambda files: files.create_file("f", "x", overwrite=True),
        lambda files: files.delete_file("f"),
    ],
)
def test_a_change_by_somebody_else_is_shown_not_overwritten(
    files: FileManager, root: Path, work: object
) -> None:
    (root / "f").write_text("mine\n")
    read(files, "f")
    (root / "f").write_text("mine\ntheirs\n")
    with pytest.raises(ToolError) as caught:
        work(files)  # type: ignore[operator]
    assert "changed by somebody else" in str(caught.value)
    assert str(caught.value).endswith("@@ -1 +1,2 @@\n mine\n+theirs")
    with pytest.raises(ToolError):  # a call of the same reply
        work(files)  # type: ignore[operator]
    assert (root / "f").read_text() == "mine\ntheirs\n"
    files.before_request()
    work(files)  # type: ignore[operator]
    assert not (root / "f").exists() or (root / "f").read_text() != "mine\ntheirs\n"


def test_what_was_read_by_a_call_of_the_same_reply_is_not_known_to_it(
    files: FileManager, root: Path
) -> None:
    (root / "f").write_text("mine\n")
    files.read_file("f")
    with pytest.raises(ToolError, match="not read f yet"):
        files.create_file("f", "x", overwrite=True)
    assert (root / "f").read_text() == "mine\n"
    files.before_request()
    (root / "f").write_text("theirs\n")
    files.read_file("f")
    with pytest.raises(ToolError, match="changed by somebody else"):
        files.create_file("f", "x", overwrite=True)


def test_a_change_in_the_last_moment_is_noticed(
    files: FileManager, project: Project, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("mine\n")
    read(files, "f")
    write = project.write_bytes

    def late(path: str, data: bytes, **options: object) -> None:
        (root / "f").write_text("theirs\n")
        write(path, data, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(project, "write_bytes", late)
    with pytest.raises(ToolError, match="changed by somebody else"):
        files.modify_file("f", "replace", old="mine", new="x")
    assert (root / "f").read_text() == "theirs\n"


def test_its_own_changes_are_known(files: FileManager, root: Path) -> None:
    files.create_file("f", "a\n")
    files.modify_file("f", "append", new="b\n")
    files.rename_file("f", "g/h")
    files.modify_file("g/h", "replace_lines", new="c", start_line=1, end_line=1)
    assert (root / "g/h").read_text() == "c\nb\n"
    (root / "g/h").write_text("else\n")
    with pytest.raises(ToolError, match="changed by somebody else"):
        files.modify_file("g/h", "clear")


def test_a_hard_link_is_mentioned(files: FileManager, root: Path) -> None:
    (root / "f").write_text("a\n")
    (root / "other").hardlink_to(root / "f")
    outcome = files.modify_file("f", "append", new="b")
    assert outcome.text.endswith("It had other names (hard links); they keep the old content.")
    assert (root / "other").read_text() == "a\n"


def test_links_are_not_written_through(files: FileManager, root: Path) -> None:
    (root / "f").write_text("a\n")
    (root / "link").symlink_to("f")
    assert files.read_file("link").text == "link: lines 1-1 of 1\n1│a"
    with pytest.raises(ToolError, match="link is or goes through a link to f;"):
        files.modify_file("link", "append", new="b")
    files.delete_file("link")
    assert (root / "f").read_text() == "a\n"


# Renaming, deleting, folders


def test_renaming_moves_and_never_replaces(files: FileManager, root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    with pytest.raises(ToolError, match="b exists already; nothing was replaced"):
        files.rename_file("a", "b")
    with pytest.raises(ToolError, match="There is no none"):
        files.rename_file("none", "x/y")
    assert files.rename_file("a", "x/y/a") == Outcome(
        "Renamed a to x/y/a.",
        TextCard(phrase("Renamed {path} to {new_path}", path="a", new_path="x/y/a")),
        changes=(Change("renamed", "a", "x/y/a"),),
    )
    files.rename_file("x", "z")
    assert (root / "z/y/a").read_text() == "a"
    with pytest.raises(ToolError, match="z cannot be moved into itself"):
        files.rename_file("z", "z/new/z")
    assert not (root / "z/new").exists()


def test_deleting(files: FileManager, root: Path) -> None:
    (root / "d/e").mkdir(parents=True)
    (root / "d/f").write_text("")
    (root / "d/e/g").write_text("")
    with pytest.raises(ToolError, match=r"d is not empty, 2 inside \(e, f\)"):
        files.delete_folder("d")
    with pytest.raises(ToolError, match="d is a folder, not a file"):
        files.delete_file("d")
    assert files.delete_file("d/f").changes == (Change("deleted", "d/f"),)
    outcome = files.delete_folder("d", recursive=True)
    assert outcome.changes == (Change("deleted", "d/e/g"),)
    assert outcome.text == "Deleted d/ with 1 file."
    assert list(root.iterdir()) == []
    with pytest.raises(ToolError, match="There is no d"):
        files.delete_folder("d")


def test_a_file_is_not_made_where_a_folder_was_meant(files: FileManager, root: Path) -> None:
    with pytest.raises(ToolError, match="new/ names a folder"):
        files.create_file("new/", "x")
    assert not (root / "new").exists()


def test_an_empty_file_has_no_lines_to_replace(files: FileManager) -> None:
    files.create_file("empty", "")
    with pytest.raises(ToolError, match="The file is empty"):
        files.modify_file("empty", "replace_lines", start_line=1, end_line=1, new="x")


def test_folders_are_created(files: FileManager, root: Path) -> None:
    assert files.create_folder("a/b").changes == (Change("created", "a/b"),)
    assert (root / "a/b").is_dir()
    with pytest.raises(ToolError, match="The folder a/b exists already"):
        files.create_folder("a/b/")
    files.delete_folder("a/b")


@pytest.mark.parametrize("path", ["", ".", "./", "a/.."])
def test_the_project_itself_is_neither_renamed_nor_deleted(files: FileManager, path: str) -> None:
    works: list[Callable[[], object]] = [
        lambda: files.delete_folder(path, recursive=True),
        lambda: files.rename_file(path, "x"),
        lambda: files.create_file(path, "x"),
    ]
    for work in works:
        with pytest.raises(ToolError, match="project folder itself"):
            work()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("\x1b[31m", r"\x1b[31m"),
        (os.fsdecode(b"\xff.txt"), r"\udcff.txt"),
        ("-rf", "-rf"),
        ("C:\\new", "C:\\new"),
    ],
)
def test_odd_names_are_shown_with_escapes_and_understood_so(
    files: FileManager, root: Path, name: str, shown: str
) -> None:
    (root / name).write_text("x\n")
    assert files.list_files().text == f"./ (1 file)\n{shown}  2 B"
    assert files.find_files("*").text == f"1 file:\n{shown}"
    assert files.read_file(shown).text == f"{shown}: lines 1-1 of 1\n1│x"
    outcome = files.modify_file(shown, "append", new="y")
    assert outcome.changes == (Change("modified", name),)
    assert (root / name).read_text() == "x\ny"
    files.rename_file(shown, "plain")
    files.delete_file("plain")


# The whole


def test_the_parameters_are_those_of_the_contract(files: FileManager) -> None:
    tools = {tool.name: list(tool.schema["properties"]) for tool in Toolbox.of([files])}
    assert tools == {
        "list_files": ["path", "depth"],
        "read_file": ["path", "start_line", "end_line"],
        "find_files": ["pattern", "path"],
        "create_file": ["path", "content", "overwrite"],
        "modify_file": ["path", "operation", "old", "new", "all", "start_line", "end_line"],
        "rename_file": ["path", "new_path"],
        "create_folder": ["path"],
        "delete_file": ["path"],
        "delete_folder": ["path", "recursive"],
    }
    by_risk: dict[str, list[str]] = {}
    for tool in Toolbox.of([files]):
        by_risk.setdefault(tool.risk, []).append(tool.name)
    assert by_risk == {
        "read": ["list_files", "read_file", "find_files"],
        "write": ["create_file", "modify_file", "rename_file", "create_folder"],
        "destroy": ["delete_file", "delete_folder"],
    }


def test_the_tools_cost_few_tokens(files: FileManager) -> None:
    wire = [Tool.of(getattr(files, tool.name)).to_wire() for tool in Toolbox.of([files])]
    assert len(str(wire)) < 4_000


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("none", "does not exist"),
        ("file", "is not a folder"),
        ("/", "cannot be the whole disk"),
        ("up", "cannot be the whole disk"),
    ],
)
def test_a_bad_project_folder_is_told_in_a_sentence(
    tmp_path: Path, path: str, sentence: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "up").symlink_to("/")
    with pytest.raises(UserError, match=sentence):
        Project(tmp_path / path)


def test_the_projects_own_name_in_front_is_left_out_where_nothing_has_it(
    files: FileManager, root: Path
) -> None:
    (root / "a.txt").write_text("one\n")
    assert "one" in files.read_file("project/a.txt").text
    assert files.list_files("project").text.startswith("./ (")
    files.modify_file("project/a.txt", "replace", old="one", new="two")
    assert (root / "a.txt").read_text() == "two\n"
    with pytest.raises(ToolError, match=r"in project already: did you mean b\.txt\?"):
        files.create_file("project/b.txt", "x")
    files.create_folder("project")
    files.create_file("project/b.txt", "x")
    assert (root / "project" / "b.txt").read_text() == "x"
    with pytest.raises(ToolError, match="There is no"):
        files.read_file("project/a.txt")


@pytest.mark.parametrize(
    ("said", "meant"),
    [("notes.tx", "notes.txt"), ("PARSER.py", "src/parser.py"), ("lib/parser.py", "src/parser.py")],
)
def test_a_path_that_is_not_there_brings_the_one_that_was_meant(
    files: FileManager, root: Path, said: str, meant: str
) -> None:
    (root / "src").mkdir()
    for name in ("notes.txt", "src/parser.py"):
        (root / name).write_text("x\n")
    sentence = f"There is no {said}. Did you mean {meant}?"
    acts: list[Callable[[], object]] = [
        lambda: files.read_file(said),
        lambda: files.modify_file(said, "append", new="y"),
        lambda: files.rename_file(said, "new.txt"),
        lambda: files.delete_file(said),
    ]
    for act in acts:
        with pytest.raises(ToolError) as caught:
            act()
        assert str(caught.value) == sentence
