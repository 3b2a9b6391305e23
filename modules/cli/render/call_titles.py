"""What a call is called on screen: a verb, and what it is done to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.i18n import Text, phrase
from utils.text.clean import visible

TARGETS = ("path", "query", "url", "command", "code", "text", "message")
"""Names of the parameter that best says what a call is about, the best first."""

VERBS: dict[str, Text] = {
    "list_files": phrase("List"),
    "read_file": phrase("Read"),
    "find_files": phrase("Find files"),
    "search_text": phrase("Search"),
    "create_file": phrase("Create"),
    "modify_file": phrase("Change"),
    "rename_file": phrase("Rename"),
    "create_folder": phrase("Make folder"),
    "delete_file": phrase("Delete"),
    "delete_folder": phrase("Delete folder"),
    "annotate_file": phrase("Note"),
    "focus_file": phrase("Focus"),
    "unfocus_file": phrase("Unfocus"),
    "run_python": phrase("Run Python"),
    "run_command": phrase("Run"),
    "web_search": phrase("Search the web"),
    "read_page": phrase("Read page"),
    "remember": phrase("Remember"),
    "update_todos": phrase("Plan"),
    "git_commit": phrase("Commit"),
}


def verb(name: str) -> Text:
    """Return what the tool *name* does; a tool from elsewhere is called by its name."""
    return VERBS.get(name, name)


def called(name: str, arguments: Mapping[str, Any]) -> Text:
    """Return what a call does and to what, in one line."""
    about = visible(target(name, arguments))
    return phrase("{verb} {about}", verb=verb(name), about=about) if about else verb(name)


def target(name: str, arguments: Mapping[str, Any]) -> str:
    """Return what a call is about: the first line of its telling argument."""
    if name == "rename_file" and "new_path" in arguments:
        return f"{arguments.get('path', '')} → {arguments['new_path']}"
    if "pattern" in arguments:
        return f"{arguments['pattern']}{_where(arguments)}"
    if name == "run_python":  # its code stands below
        return ""
    values = (arguments[key] for key in TARGETS if isinstance(arguments.get(key), str))
    about = _first_line(next(values, ""))
    return "" if about == "." else about


def _where(arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path") or "."
    return "" if path == "." else f"  {path}"


def _first_line(text: str) -> str:
    lines = text.strip().split("\n")
    return f"{lines[0]} …" if len(lines) > 1 else lines[0]
