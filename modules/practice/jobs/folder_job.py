"""Describing a folder: what kinds of files, which folders, what the README and main file say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from modules.practice.jobs.numbered_lines import Lines
from modules.practice.jobs.steps import NotDone, StepAnswer, Steps, Work, trouble
from modules.practice.practice_reply import PracticeCall
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
_MOST_KINDS = 6
_MOST_NAMES = 12


def describe(parts: Mapping[str, str], say: Voice) -> Steps:
    """List the folder, look into its README and its main file, and say what is there."""
    path = parts.get("path", ".")
    listing, found = yield (
        PracticeCall("list_files", {"path": path}),
        PracticeCall("find_files", {"pattern": "*", "path": path}),
    )
    if not listing.ok:
        raise NotDone(trouble(say, "list_files", listing))
    named = say("{path}", "{path} ", path=code(path))
    place = say("this folder", "这个文件夹") if path == "." else named
    files = found.rest.split("\n") if found.ok and found.rest else []
    if not files:
        return say("There are no files in {place} yet.", "{place}里还没有文件。", place=place)
    heads = yield from _heads(files)
    lines = [
        _total(place, found, files, say),
        _names(listing, say),
        *(_head(name, answer, say) for name, answer in heads.items()),
    ]
    return "\n".join(lines)


def _heads(files: list[str]) -> Work[dict[str, StepAnswer]]:
    """Read the beginning of the README and of the main file, where there are any."""
    near = sorted(files, key=lambda name: (name.count("/"), name))
    readme = [name for name in near if _base(name).lower().startswith("readme")]
    main = [name for wanted in _MAIN_FILES for name in near if _base(name) == wanted]
    names = readme[:1] + main[:1]
    if not names:
        return {}
    answers = yield tuple(
        PracticeCall("read_file", {"path": name, "end_line": _FIRST_LINES}) for name in names
    )
    return dict(zip(names, answers, strict=True))


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _total(place: str, found: StepAnswer, files: list[str], say: Voice) -> str:
    """Return how many files there are, by the ends of their names."""
    kinds = Counter(PurePosixPath(name).suffix or say("no suffix", "无后缀") for name in files)
    counts = [f"{count} × {code(kind)}" for kind, count in kinds.most_common(_MOST_KINDS)]
    if len(kinds) > _MOST_KINDS:
        counts.append("…")
    total = found.text.split()[0]
    seen = (
        ""
        if total == str(len(files))
        else say(" (of the first {n})", "（前 {n} 个）", n=len(files))
    )
    there_are = "There is {total} file" if total == "1" else "There are {total} files"
    return say(
        there_are + " in {place}: {kinds}{seen}.",
        "{place}里有 {total} 个文件：{kinds}{seen}。",
        total=total,
        place=place,
        kinds=say.join(counts),
        seen=seen,
    )


def _names(listing: StepAnswer, say: Voice) -> str:
    """Return what stands at the top of the tree that *listing* is."""
    top = [
        line.split("  ")[0] for line in listing.rest.split("\n") if line[:1] not in ("", " ", "…")
    ]
    shown = [code(name) for name in top[:_MOST_NAMES]] + ["…"] * (len(top) > _MOST_NAMES)
    return say("- At the top: {names}", "- 最上层：{names}", names=say.join(shown))


def _head(name: str, answer: StepAnswer, say: Voice) -> str:
    """Return how the file begins: the first heading or else the first line with text."""
    if not answer.ok:
        said = answer.sentence
        return say(
            "- {path} was not read: {why}", "- 没有读到 {path}：{why}", path=code(name), why=said
        )
    lines = [line.strip() for line in Lines.of(answer.text).lines if line.strip()]
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
