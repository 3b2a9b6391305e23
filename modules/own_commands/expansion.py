"""Expansion of a command's text: its arguments, what its `!` lines print, the files behind its `@`.

What runs is found in the file alone: nothing in an argument, an output or a mentioned file runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from core.tools import ToolError
from modules.files.project import Project
from utils.text.clean import visible

_COMMAND = re.compile(r"(?<![\w`])!`([^`\n]+)`")
_ARGUMENT = re.compile(r"\$(ARGUMENTS|[1-9])(?![\w])")
_PARAMETER = re.compile(r"\$\{?(?:ARGUMENTS\b|[1-9@*#])")
_MENTION = re.compile(r"(?<![\w@/`])@([\w.][\w./-]*)")
_MAX_FILES = 10
_MAX_BYTES = 64_000  # of one file


def programs_in(body: str, argument: str = "") -> list[str]:
    """Return the commands that *body* runs when *argument* is given: its shell puts that in, so
    that whatever it holds is words, and no code.
    """
    return [_with_parameters(program, argument) for program in _COMMAND.findall(body)]


def expanded(body: str, argument: str, outputs: Sequence[str]) -> str:
    """Return *body* with *argument* in its places, and *outputs* in those of its commands.

    Where no place is for it, *argument* follows the text.
    """
    parts = _COMMAND.split(body)
    texts = [_with_arguments(part, argument) for part in parts[::2]]
    text = texts[0] + "".join(
        output.strip() + rest for output, rest in zip(outputs, texts[1:], strict=True)
    )
    has_place = any(_ARGUMENT.search(part) for part in parts)
    return text.strip() if has_place or not argument else f"{text.strip()}\n\n{argument}"


def with_files(text: str, mentioning: str, project: Project) -> str:
    """Return *text*, with the files of *project* behind it that *mentioning* names by an `@`."""
    return "\n\n".join([text, *_contents(mentioning, project)])


def _contents(text: str, project: Project) -> Iterator[str]:
    names = dict.fromkeys(name.rstrip(".") for name in _MENTION.findall(text))
    for name in list(names)[:_MAX_FILES]:
        try:
            path = project.resolve(name)
            content = project.decode_text(path, project.read_bytes(path, _MAX_BYTES)).text
        except ToolError:  # no file, or none to be shown: the name stays what it is
            continue
        fence = "```"
        while fence in content:
            fence += "`"
        yield f"{visible(path)}:\n{fence}\n{content.rstrip()}\n{fence}"


def _with_parameters(program: str, argument: str) -> str:
    if not _PARAMETER.search(program):
        return program
    words = shlex.join(["set", "--", *_words(argument)])
    return f"{words}; ARGUMENTS={shlex.quote(argument)}; {program}"


def _with_arguments(text: str, argument: str) -> str:
    words = _words(argument)

    def value(found: re.Match[str]) -> str:
        if found[1] == "ARGUMENTS":
            return argument
        number = int(found[1])
        return words[number - 1] if number <= len(words) else ""

    return _ARGUMENT.sub(value, text)


def _words(argument: str) -> list[str]:
    try:
        return shlex.split(argument)
    except ValueError:  # a quotation mark that is part of a word
        return argument.split()
