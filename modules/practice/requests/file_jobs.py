"""The requests about files and folders, each as the steps that do it."""

from __future__ import annotations

from collections.abc import Mapping

from modules.practice.requests.numbered_lines import FileExcerpt
from modules.practice.requests.steps import (
    JobFailed,
    JobSteps,
    StepAnswer,
    call_or_fail,
    call_tool,
    failure_text,
)
from modules.practice.requests.templates import printing_program, with_newline
from modules.practice.voice import Voice, code

Parts = Mapping[str, str]
_GLOBS = {
    "python": "*.py",
    "markdown": "*.md",
    "text": "*.txt",
    "文本": "*.txt",
    "html": "*.html",
    "javascript": "*.js",
    "json": "*.json",
    "css": "*.css",
    "shell": "*.sh",
}


def show(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    lines = {
        name: int(parts[group])
        for name, group in (("start_line", "first"), ("end_line", "last"))
        if group in parts
    }
    if "first" in parts:
        lines.setdefault("end_line", lines["start_line"])
    answer = yield from call_or_fail(say, "read_file", path=path, **lines)
    read = FileExcerpt.parse(answer.text)
    if not read.lines:
        return say.quote(answer.text)
    head = say(
        "{path}, lines {first} to {last} of {count}:",
        "{path}，第 {first} 到 {last} 行，共 {count} 行：",
        path=code(path),
        first=read.first,
        last=read.last,
        count=read.count,
    )
    return f"{head}\n\n{say.quote(chr(10).join(read.lines))}"


def create_file(parts: Parts, say: Voice) -> JobSteps:
    return (yield from _create(parts["path"], with_newline(parts.get("text", "")), say))


def create_printing_file(parts: Parts, say: Voice) -> JobSteps:
    return (yield from _create(parts["path"], printing_program(parts["path"], parts["text"]), say))


def _create(path: str, content: str, say: Voice) -> JobSteps:
    answer = yield from call_tool("create_file", path=path, content=content)
    if answer.ok:
        return _created_text(path, content, say)
    text = failure_text(say, "create_file", answer)
    if "exists" in answer.text:
        text += "\n\n" + say.interface_voice(
            "To replace it, say: `overwrite {path} with …`.",
            "要替换它，请说：`覆盖 {path} 内容为 …`。",
            path=path,
        )
    raise JobFailed(text)


def _created_text(path: str, content: str, say: Voice) -> str:
    if not content:
        return say("{path} is made, empty.", "已新建空文件 {path}。", path=code(path))
    head = say("{path} is made, with:", "已新建 {path}，内容为：", path=code(path))
    return f"{head}\n\n{say.quote(content)}"


def overwrite(parts: Parts, say: Voice) -> JobSteps:
    """Read the file first: what was not read is not replaced."""
    path, content = parts["path"], with_newline(parts["text"])
    before = yield from call_tool("read_file", path=path)
    if not before.ok:
        return (yield from _create(path, content, say))
    yield from call_or_fail(say, "create_file", path=path, content=content, overwrite=True)
    head = say("{path} now holds:", "{path} 的内容现在是：", path=code(path))
    return f"{head}\n\n{say.quote(content)}"


def append(parts: Parts, say: Voice) -> JobSteps:
    path, text = parts["path"], with_newline(parts["text"])
    yield from call_or_fail(say, "modify_file", path=path, operation="append", new=text)
    head = say("At the end of {path} now stands:", "{path} 末尾已加上：", path=code(path))
    return f"{head}\n\n{say.quote(text)}"


def replace(parts: Parts, say: Voice) -> JobSteps:
    return (yield from _replace(parts["path"], parts["old"], parts["text"], say))


def delete_text(parts: Parts, say: Voice) -> JobSteps:
    return (yield from _replace(parts["path"], parts["text"], "", say))


def _replace(path: str, old: str, new: str, say: Voice) -> JobSteps:
    """Read the file, then replace the one place where *old* stands."""
    yield from call_or_fail(say, "read_file", path=path)
    yield from call_or_fail(say, "modify_file", path=path, operation="replace", old=old, new=new)
    if not new:
        return say(
            "{old} is taken out of {path}.",
            "已从 {path} 中删去 {old}。",
            path=code(path),
            old=code(old),
        )
    return say(
        "In {path}, {old} is now {new}.",
        "{path} 里的 {old} 已改成 {new}。",
        path=code(path),
        old=code(old),
        new=code(new),
    )


def rename(parts: Parts, say: Voice) -> JobSteps:
    path, new = parts["path"], _target(parts)
    yield from call_or_fail(say, "rename_file", path=path, new_path=new)
    return say("{path} is now {new}.", "{path} 现在是 {new}。", path=code(path), new=code(new))


def _target(parts: Parts) -> str:
    """Return the new path; a file that moves into a folder keeps its name."""
    new, name = parts["new"], parts["path"].rstrip("/").rpartition("/")[2]
    is_bare = "." in name and "." not in new.rpartition("/")[2]
    is_folder = {"into", "in"} & parts.keys() or (parts.keys() & {"move", "inside"} and is_bare)
    if new.endswith("/") or is_folder:
        return f"{new.rstrip('/')}/{name}"
    return new


def delete(parts: Parts, say: Voice) -> JobSteps:
    """Delete a file, or the empty folder that it turns out to be."""
    path = parts["path"]
    if path.endswith("/"):
        return (yield from delete_folder(parts, say))
    answer = yield from call_tool("delete_file", path=path)
    if answer.ok:
        return say("{path} is deleted.", "已删除 {path}。", path=code(path))
    if "folder, not a file" in answer.text:
        return (yield from delete_folder(parts, say))
    raise JobFailed(failure_text(say, "delete_file", answer))


def delete_folder(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"].rstrip("/")
    is_whole = bool({"all", "recursive"} & parts.keys())
    answer = yield from call_tool("delete_folder", path=path, recursive=is_whole)
    if answer.ok:
        return say("The folder {path} is deleted.", "已删除文件夹 {path}。", path=code(path))
    text = failure_text(say, "delete_folder", answer)
    if "not empty" in answer.text:
        text += "\n\n" + say.interface_voice(
            "To delete all of it, say: `delete the folder {path} and everything in it`.",
            "要连同内容一起删除，请说：`删除文件夹 {path} 及其所有内容`。",
            path=path,
        )
    raise JobFailed(text)


def make_folder(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    yield from call_or_fail(say, "create_folder", path=path)
    return say("The folder {path} is made.", "已新建文件夹 {path}。", path=code(path))


def find_files(parts: Parts, say: Voice) -> JobSteps:
    pattern = parts.get("glob") or parts.get("path") or _GLOBS[parts["type"].lower()]
    answer = yield from call_or_fail(say, "find_files", pattern=pattern)
    return _matches_text(answer, say)


def search(parts: Parts, say: Voice) -> JobSteps:
    """Search the text as it is written, then, if it is nowhere, in other cases of letters."""
    scope = {"path": parts["path"]} if "path" in parts else {}
    text = parts["text"]
    answer = yield from call_or_fail(say, "search_text", pattern=text, **scope)
    if answer.body or text.lower() == text.upper():
        return _matches_text(answer, say)
    answer = yield from call_or_fail(say, "search_text", pattern=text, ignore_case=True, **scope)
    note = say(" (upper and lower case taken alike)", "（不分大小写）") if answer.body else ""
    return _matches_text(answer, say, note)


def _matches_text(answer: StepAnswer, say: Voice, note: str = "") -> str:
    if not answer.body:
        return say("Nothing was found: {why}", "没有找到。", why=answer.text)
    total = answer.text.split()[0]
    head = say("Found{how}: {total}", "找到{how}：{total}", how=note, total=total)
    return f"{head}\n\n{say.quote(answer.body)}"
