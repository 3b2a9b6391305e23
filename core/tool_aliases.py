"""Calls under the names of other agents' tools, understood where they can mean only one thing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.tools import Tool, Toolbox

_PREFIX = re.compile(r"^(functions?|tools?|default_api|api|multi_tool_use)[._:/]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+")
_IDLE = frozenset({"description", "explanation", "reason", "purpose", "thought", "intent"})
"""Parameters that other agents' tools want for people to read; they change nothing."""

_OTHER_WORDS = {
    "path": "file path, filepath, file, file name, filename, target file, absolute path, relative "
    "path, directory, dir, directory path, folder, folder path, source, src, old path, "
    "from",
    "new_path": "destination, dest, to, target, new name, new file path, to path",
    "content": "contents, file content, file text, text, body, data",
    "old": "old string, old str, old text, search, find, original, search text",
    "new": "new string, new str, new text, replace, replacement, replace with, content",
    "all": "replace all",
    "start_line": "start, line start, from line, start line number",
    "end_line": "end, line end, to line, end line number",
    "pattern": "query, search, search pattern, regex pattern, keyword, text",
    "command": "cmd, shell command, command line, bash, script",
    "code": "python code, python, source code, script, source",
    "timeout": "timeout seconds, timeout sec, timeout s",
    "query": "q, search query, search term, search, keywords",
    "url": "link, uri, page, address",
    "question": "prompt, message, text, query",
    "choices": "options, answers",
    "note": "annotation, comment, text, content",
    "text": "content, memory, fact, note",
    "todos": "items, tasks, todo list, list",
}
_ALIASES = {
    name: frozenset(word.replace(" ", "_") for word in words.split(", "))
    for name, words in _OTHER_WORDS.items()
}


def understood(
    tools: Toolbox, name: str, arguments: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the arguments of the call that is meant, as they are where in doubt."""
    tool = _meant(tools, name)
    return (tool.name, _renamed(tool, arguments)) if tool else (name, arguments)


def _meant(tools: Toolbox, name: str) -> Tool | None:
    """Return the one tool that *name* can mean: prefixes, humps and capitals aside."""
    plain = _HUMP.sub("_", _PREFIX.sub("", name.strip())).lower()
    by_name = {tool.name: tool for tool in tools}
    return by_name.get(name) or by_name.get(plain)


def _renamed(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *arguments* under the tool's own names where each unknown one can be only one."""
    known: Mapping[str, Any] = tool.schema["properties"]
    unknown = [name for name in arguments if name not in known]
    if not unknown:
        return arguments
    free = [name for name in known if name not in arguments]
    meant = {name: _only(name, free) for name in unknown}
    found = [name for name in meant.values() if name]
    if len(set(found)) < len(found):
        return arguments
    renamed = {meant.get(name) or name: value for name, value in arguments.items()}
    return {name: value for name, value in renamed.items() if name in known or name not in _IDLE}


def _only(name: str, free: Sequence[str]) -> str | None:
    """Return the one parameter of those *free* that *name* is another word for."""
    plain = _HUMP.sub("_", name).lower()
    fits = [one for one in free if one == plain or plain in _ALIASES.get(one, ())]
    return fits[0] if len(fits) == 1 else None
