"""Describing a folder: what kinds of files, which folders, what the README and main file say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from modules.practice.practice_reply import PracticeCall
from modules.practice.requests.numbered_lines import FileExcerpt
from modules.practice.requests.steps import JobFailed, JobSteps, StepAnswer, SubSteps, failure_text
from modules.practice.voice import Voice, code

_MAIN_FILES = (
    "main.py",
    "__main__.py",
    "app.py",
    "index.html",
    "index.js",
    "main.go",
    "main.c",
    "Makefile",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
)
_FIRST_LINES = 40
_MAX_KINDS = 6
_MAX_NAMES = 12


def describe(parts: Mapping[str, str], say: Voice) -> JobSteps:
    """List the folder, look into its README and its main file, and say what is there."""
    path = parts.get("path", ".")
    listing, files_answer = yield (
        PracticeCall("list_files", {"path": path}),
        PracticeCall("find_files", {"pattern": "*", "path": path}),
    )
    if not listing.ok:
        raise JobFailed(failure_text(say, "list_files", listing))
    quoted_path = say("{path}", "{path} ", path=code(path))
    folder_name = say("this folder", "这个文件夹") if path == "." else quoted_path
    files = files_answer.body.split("\n") if files_answer.ok and files_answer.body else []
    if not files:
        return say("There are no files in {place} yet.", "{place}里还没有文件。", place=folder_name)
    heads = yield from _read_beginnings(files)
    lines = [
        _count_text(folder_name, files_answer, files, say),
        _top_level_text(listing, say),
        *(_beginning_text(name, answer, say) for name, answer in heads.items()),
    ]
    return "\n".join(lines)


def _read_beginnings(files: list[str]) -> SubSteps[dict[str, StepAnswer]]:
    """Read the beginning of the README and of the main file, where there are any."""
    sorted_files = sorted(files, key=lambda name: (name.count("/"), name))
    readme = [name for name in sorted_files if _base_name(name).lower().startswith("readme")]
    main = [
        name for main_name in _MAIN_FILES for name in sorted_files if _base_name(name) == main_name
    ]
    names = readme[:1] + main[:1]
    if not names:
        return {}
    answers = yield tuple(
        PracticeCall("read_file", {"path": name, "end_line": _FIRST_LINES}) for name in names
    )
    return dict(zip(names, answers, strict=True))


def _base_name(name: str) -> str:
    return name.rpartition("/")[2]


def _count_text(folder_name: str, files_answer: StepAnswer, files: list[str], say: Voice) -> str:
    """Return how many files there are, by the ends of their names."""
    kinds = Counter(PurePosixPath(name).suffix or say("no suffix", "无后缀") for name in files)
    counts = [f"{count} × {code(kind)}" for kind, count in kinds.most_common(_MAX_KINDS)]
    if len(kinds) > _MAX_KINDS:
        counts.append("…")
    total = files_answer.text.split()[0]
    limit_note = (
        ""
        if total == str(len(files))
        else say(" (of the first {n})", "（前 {n} 个）", n=len(files))
    )
    there_are = "There is {total} file" if total == "1" else "There are {total} files"
    return say(
        there_are + " in {place}: {kinds}{seen}.",
        "{place}里有 {total} 个文件：{kinds}{seen}。",
        total=total,
        place=folder_name,
        kinds=say.join(counts),
        seen=limit_note,
    )


def _top_level_text(listing: StepAnswer, say: Voice) -> str:
    """Return the top level of the tree in *listing*."""
    top = [
        line.split("  ")[0] for line in listing.body.split("\n") if line[:1] not in ("", " ", "…")
    ]
    names = [code(name) for name in top[:_MAX_NAMES]] + ["…"] * (len(top) > _MAX_NAMES)
    return say("- At the top: {names}", "- 最上层：{names}", names=say.join(names))


def _beginning_text(name: str, answer: StepAnswer, say: Voice) -> str:
    """Return the beginning of the file: the first heading, or else the first line with text."""
    if not answer.ok:
        reason = answer.message
        return say(
            "- {path} was not read: {why}", "- 没有读到 {path}：{why}", path=code(name), why=reason
        )
    lines = [line.strip() for line in FileExcerpt.parse(answer.text).lines if line.strip()]
    if not lines:
        return say("- {path} is empty", "- {path} 是空文件", path=code(name))
    headings = [
        line.lstrip("# ") for line in lines if line.startswith("#") and name.endswith(".md")
    ]
    return say(
        "- {path} begins: {line}",
        "- {path} 的开头：{line}",
        path=code(name),
        line=code((headings or lines)[0]),
    )
