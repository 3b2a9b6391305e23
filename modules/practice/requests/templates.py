"""Templates of small programs that print a text, by the suffix of the file."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Sequence

_INTERPRETERS = {"py": "python3", "sh": "bash", "js": "node"}


def printing_program(path: str, text: str) -> str:
    """Return the content for *path* that prints *text*; where nothing prints, the text itself."""
    match suffix_of(path):
        case "py":
            return f"print({text!r})\n"
        case "sh":
            return f"echo {shlex.quote(text)}\n"
        case "js":
            return f"console.log({json.dumps(text, ensure_ascii=False)});\n"
        case "html":
            return (
                f"<!doctype html>\n<title>{html.escape(text)}</title>\n<p>{html.escape(text)}</p>\n"
            )
        case _:
            return with_newline(text)


def command_for(path: str, arguments: str = "") -> str | None:
    """Return the command line that runs *path*; None where it is not known how."""
    program = _INTERPRETERS.get(suffix_of(path))
    if program is None:
        return None
    name = path if not path.startswith("-") else f"./{path}"
    return f"{program} {shlex.quote(name)} {arguments}".rstrip()


def counting_program(path: str, labels: Sequence[str]) -> str:
    """Return Python that prints the lines, words and characters of *path* behind *labels*."""
    lines, words, characters = labels
    return (
        "from pathlib import Path\n"
        f"text = Path({path!r}).read_text(encoding='utf-8', errors='replace')\n"
        f"print('{lines}:', len(text.splitlines()))\n"
        f"print('{words}:', len(text.split()))\n"
        f"print('{characters}:', len(text))\n"
    )


def with_newline(text: str) -> str:
    """Return *text* with an end to its last line."""
    return text if text.endswith("\n") or not text else f"{text}\n"


def suffix_of(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()
