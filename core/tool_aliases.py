"""Calls under the names of other agents' tools, understood where they can mean only one thing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from core.tool_spec import OtherNames, Risk
from core.tools import Tool, Toolbox, ToolError
from utils.text.strict_json import read_json

_PREFIX = re.compile(
    r"^(?:(?:functions?|tools?|default_api|default|api|multi_tool_use|repo_browser)[._:/]+"
    r"|mcp__onefold__)"
)
_REPEATED = re.compile(r"(\w+?)\1+")
"""A name that a gateway put together from pieces of which each held all of it."""
_LONGEST_NAME = 200
"""Characters of a name that is looked at so."""
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+")
_BEHIND_NAME = re.compile(r"\(\)\Z|:\d+\Z|<.*", re.DOTALL)
"""What models leave behind the name of a tool."""
_WRAPPERS = ("arguments", "parameters", "input", "args", "kwargs", "params", "properties")
_CALL_KEYS = frozenset({"name", "tool", "tool_name", "function", "type"})
_TEXTS = ("string", None)
_IGNORED_PARAMETERS = frozenset(
    {
        *("description", "explanation", "reason", "purpose", "thought", "intent"),
        *("requires_approval", "security_risk", "task_progress", "should_read_entire_file"),
    }
)
"""Parameters that other agents' tools want for people to read; they change nothing."""

_SYNONYMS = {
    "path": "file path, filepath, file, file name, filename, target file, absolute path, relative "
    "path, directory, dir, directory path, dir path, folder, folder path, source, src, old path, "
    "from, name, target directory, search path, search directory, relative workspace path",
    "new_path": "destination, dest, to, target, new name, new file path, to path",
    "content": "contents, file content, file text, code content, text, body, data",
    "old": "old string, old str, old text, search, find, original, search text",
    "new": "new string, new str, new text, insert text, replace, replacement, replace with, "
    "content",
    "all": "replace all",
    "start_line": "start, line start, from line, start line number, start line one indexed",
    "end_line": "end, line end, to line, end line number, end line one indexed inclusive",
    "pattern": "query, search, search pattern, regex pattern, regex, keyword, text, glob pattern, "
    "file pattern",
    "glob": "include, include pattern, file pattern, file glob",
    "ignore_case": "_i, case insensitive, insensitive",
    "command": "cmd, shell command, command line, bash, script",
    "code": "python code, python, source code, script, source",
    "timeout": "timeout seconds, timeout sec, timeout s",
    "background": "run in background, is background",
    "query": "q, search query, search term, search, keywords",
    "url": "link, uri, page, address",
    "question": "prompt, message, text, query",
    "choices": "options, answers",
    "note": "annotation, comment, text, content",
    "text": "content, memory, fact, note",
    "todos": "items, tasks, todo list, list, plan",
}
_ALIASES = {
    name: frozenset(word.replace(" ", "_") for word in words.split(", "))
    for name, words in _SYNONYMS.items()
}


def resolve_call(
    tools: Toolbox, name: str, arguments: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the arguments of the call that is meant, as they are where in doubt."""
    tool = _find_tool(tools, name)
    if tool and tool.spec.forwards and (forwarded := _forwarded(tools, tool, arguments)):
        tool, arguments = forwarded
    if not tool:
        return _call_under_other_name(tools, name, arguments) or (name, arguments)
    meant = _fitted(tool, arguments)
    if not meant.keys() >= {*tool.schema["required"]}:
        own = (one for one in tool.spec.other_names if _in_words(tool.name) in _each(one))
        meant = _add_unsaid(next(own, None), meant)
    return tool.name, meant


def names_meant(tools: Toolbox, name: str) -> frozenset[str]:
    """Return the names of the tools that *name* may mean, be it that of another agent's."""
    if tool := _find_tool(tools, name):
        return frozenset({tool.name})
    words = _in_words(_normalized(name))
    return frozenset(
        tool.name for tool in tools for other in tool.spec.other_names if words in _each(other)
    )


def _call_under_other_name(
    tools: Toolbox, name: str, arguments: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any]] | None:
    """Return the one call that fits of those that other agents have under *name*, None if none.

    A word alone, with no arguments, may be any word.
    """
    words = _in_words(_normalized(name))
    if not arguments and " " not in words:
        return None
    found = [
        (tool.name, meant)
        for tool in tools
        for other in tool.spec.other_names
        if words in _each(other) and (meant := _meant_by(tool, other, arguments)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _meant_by(
    tool: Tool, other: OtherNames, arguments: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return the arguments for *tool* that *arguments* of the *other* are, None if they misfit."""
    arguments = _unwrapped(tool, arguments)
    if other.when and arguments.get(other.when[0]) != other.when[1]:
        return None
    dropped = {*other.drops, other.when[0]} if other.when else {*other.drops}
    kept = _behind_line(
        other.line_before, {name: arguments[name] for name in arguments if name not in dropped}
    )
    if other.item_names:
        kept = {name: _with_own_keys(value, other.item_names) for name, value in kept.items()}
    meant = _add_unsaid(other, _fitted(tool, _with_lines(tool, kept)))
    try:
        tool.validate(meant)
    except ToolError:
        return None
    return meant if meant.keys() >= {*other.needs} else None


def _behind_line(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *arguments* with the line *name*, where there is one, as the line behind it."""
    line = arguments.get(name)
    if not isinstance(line, int):
        return arguments
    others = {other: value for other, value in arguments.items() if other != name}
    return {**others, "start_line": line + 1}


def _with_own_keys(items: Any, names: Mapping[str, str]) -> Any:
    """Return the objects *items* with the keys that *names* gives them, as they are if no list."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return items
    return [{names[key]: value for key, value in item.items() if key in names} for item in items]


def _add_unsaid(other: OtherNames | None, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if other is None or not arguments.keys() >= {*other.needs}:
        return arguments
    return arguments if other.adds.keys() <= arguments.keys() else {**other.adds, **arguments}


def _with_lines(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *arguments* with the lines to read as first and last, where that is clear.

    Agents count their *offset* from 0 or 1; the lines are shown with their numbers.
    """
    if tool.risk != Risk.READ or not {"start_line", "end_line"} <= tool.schema["properties"].keys():
        return arguments
    others = {name: value for name, value in arguments.items() if name not in _LINE_WORDS}
    match [arguments.get(name) for name in _LINE_WORDS]:
        case [None, None, None]:
            return others
        case [None | int() as offset, None | int() as limit, None]:
            first = max(offset or 1, 1)
            last = first + limit - 1 if limit else None
        case [None, None, [int() as first, int() as end]]:
            last = end if end != -1 else None
        case _:
            return arguments
    return {**others, "start_line": first, **({"end_line": last} if last is not None else {})}


_LINE_WORDS = ("offset", "limit", "view_range")
"""Parameters of other agents for the lines to read; a range ends with -1 for all of them."""


def _fitted(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return _plain_values(tool, _rename_arguments(tool, _unwrapped(tool, arguments)))


def _each(other: OtherNames) -> Sequence[str]:
    return other.names.split(", ")


def _forwarded(
    tools: Toolbox, tool: Tool, arguments: Mapping[str, Any]
) -> tuple[Tool, Mapping[str, Any]] | None:
    """Return the tool that a call of *tool* names, with its arguments; None where that is unsure.

    So it is asked about, shown and recorded as what it is.
    """
    name, inner = arguments.get(tool.spec.forwards), _object_in(arguments.get("arguments", {}))
    if not isinstance(name, str) or inner is None:
        return None
    try:
        target = tools.find(name)
    except ToolError:
        return None
    return None if target.spec.forwards else (target, inner)


def _find_tool(tools: Toolbox, name: str) -> Tool | None:
    """Return the one tool that *name* can mean: prefixes, humps and capitals aside."""
    by_name = {tool.name: tool for tool in tools}
    if name in by_name:
        return by_name[name]
    normalized = _normalized(name)
    repeated = _REPEATED.fullmatch(normalized[: _LONGEST_NAME + 1])
    once = repeated[1] if repeated and len(normalized) <= _LONGEST_NAME else normalized
    return by_name.get(normalized) or by_name.get(once)


def _normalized(name: str) -> str:
    plain = _PREFIX.sub("", _BEHIND_NAME.sub("", name.strip(" \t\n\"'`")))
    return _WORD_BOUNDARY.sub("_", plain).lower()


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def _unwrapped(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments that *arguments* hold whole, as the call they stand in was repeated."""
    own_parameters: Mapping[str, Any] = tool.schema["properties"]
    inner = [name for name in arguments if name in _WRAPPERS and name not in own_parameters]
    others = arguments.keys() - set(inner)
    if len(inner) != 1 or not others <= _CALL_KEYS - own_parameters.keys():
        return arguments
    if arguments.get("name", tool.name) != tool.name:
        return arguments
    unwrapped = _object_in(arguments[inner[0]])
    return arguments if unwrapped is None else unwrapped


def _object_in(value: Any) -> Mapping[str, Any] | None:
    """Return the object that *value* is, or spells as JSON; None where it is neither."""
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def _rename_arguments(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *arguments* under the tool's own names where each unknown one can be only one."""
    own_parameters: Mapping[str, Any] = tool.schema["properties"]
    unknown = [name for name in arguments if name not in own_parameters]
    if not unknown:
        return arguments
    unused = [name for name in own_parameters if name not in arguments]
    matches = {name: _only_match(name, unused) for name in unknown}
    matched = [name for name in matches.values() if name]
    if len(set(matched)) < len(matched):
        return arguments
    renamed = {matches.get(name) or name: value for name, value in arguments.items()}
    return {
        name: value
        for name, value in renamed.items()
        if name in own_parameters or name not in _IGNORED_PARAMETERS
    }


def _plain_values(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *arguments* without empty ones that are no texts, and a list as the text it means."""
    kinds = {
        name: schema["type"]
        for name, schema in tool.schema["properties"].items()
        if isinstance(schema, dict) and isinstance(schema.get("type"), str)
    }  # what takes several types, or any, may mean what it says
    command = tool.spec.program.parameter if tool.spec.program and tool.spec.is_shell else ""
    changed = {
        name: _text_of(value, is_command=name == command)
        for name, value in arguments.items()
        if kinds.get(name) == "string" and isinstance(value, list)
    }
    empty = {n for n, value in arguments.items() if value == "" and kinds.get(n) not in _TEXTS}
    if not changed and not empty:
        return arguments
    return {
        name: changed.get(name, value) for name, value in arguments.items() if name not in empty
    }


def _text_of(words: list[Any], *, is_command: bool) -> Any:
    """Return the text that *words* mean, as they are where that is in doubt."""
    if not words or not all(isinstance(word, str) for word in words):
        return words
    if len(words) == 1:
        return words[0]
    return shlex.join(words) if is_command else words


def _only_match(name: str, unused: Sequence[str]) -> str | None:
    """Return the one parameter of those *unused* that *name* is another word for."""
    normalized = _WORD_BOUNDARY.sub("_", name).lower()
    matches = [
        parameter
        for parameter in unused
        if parameter == normalized or normalized in _ALIASES.get(parameter, ())
    ]
    return matches[0] if len(matches) == 1 else None
