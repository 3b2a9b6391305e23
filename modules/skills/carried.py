"""Scripts that a session wrote and ran: a skill made of it carries them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from os.path import commonpath
from pathlib import PurePosixPath
from typing import NamedTuple

from core.cards import Change
from core.tools import ToolError
from modules.files.project import Project

FOLDER = "scripts"
"""Where a skill has them (agentskills.io)."""
_MAX_SCRIPTS = 12
_MAX_BYTES = 100_000  # of one
_SUFFIXES = frozenset(
    {
        *(".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua"),
        *(".r", ".jl", ".awk", ".sed", ".jq", ".sql"),
    }
)

_RUNNERS = {
    **{".py": "python3", ".sh": "bash", ".bash": "bash", ".js": "node", ".mjs": "node"},
    **{".cjs": "node", ".rb": "ruby", ".pl": "perl", ".php": "php", ".lua": "lua"},
}
_BEFORE = (
    r"(?:^|[;&|({])[ \t]*"
    r"""(?:(?:[A-Za-z_]\w*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"';&|])*|timeout[ \t]+\S+|!"""
    r"|if|elif|then|else|while|until|do|time|env|exec|nohup|nice|sudo)[ \t]+)*"
)
"""What of a line of bash may stand before the name of a program that it runs."""


class Carried(NamedTuple):
    """The scripts of a skill: *files* are their texts by their paths in its folder, *places* these
    paths by those that they have in the project.

    *secret* are scripts that stay where they are, for they hold what nobody may see.
    """

    files: Mapping[str, str]
    places: Mapping[str, str]
    secret: Sequence[str] = ()

    def moved(self, text: str, folder: str) -> str:
        """Return *text*, commands or prose, with each script named by its path in *folder*."""
        for path, place in self.places.items():
            text = _moved(text, path, f"{folder}/{place}")
        return text


def _moved(text: str, path: str, to: str) -> str:
    """Return *text* with the script *path* named *to*; one that is run by itself is run by its
    interpreter, for what is kept in a skill need be no program.
    """
    runner = _RUNNERS.get(PurePosixPath(path).suffix, "")
    here = r"(?:\./)?" if "/" in path else r"\./"
    by_itself = re.compile(rf"({_BEFORE}){here}{re.escape(path)}(?![\w/-]|\.\w)", re.MULTILINE)
    if runner:
        text = by_itself.sub(lambda found: f"{found[1]}{runner} {to}", text)
    return _mention(path).sub(lambda _: to, text)


def scripts_of(
    project: Project,
    changes: Sequence[Change],
    programs: Sequence[str],
    redact: Callable[[str], str],
) -> Carried:
    """Return the scripts that the session of *changes* wrote and *programs* run, with those beside
    them that they name.

    *redact* tells which hold a secret.
    """
    texts = dict(_written(project, changes))
    wanted = [path for path in texts if any(map(_mention(path).search, programs))]
    for path in wanted:  # grows by what they name
        beside = (other for other in texts if _folder(other) == _folder(path))
        wanted += [one for one in beside if one not in wanted and _names(texts[path], one)]
    secret = [path for path in wanted if redact(texts[path]) != texts[path]]
    carried = [path for path in wanted if path not in secret][:_MAX_SCRIPTS]
    if not carried:
        return Carried({}, {}, secret)
    top = commonpath([_folder(path) or "." for path in carried])
    places = {path: f"{FOLDER}/{PurePosixPath(path).relative_to(top)}" for path in carried}
    return Carried({places[path]: texts[path] for path in carried}, places, secret)


def _written(project: Project, changes: Sequence[Change]) -> Iterable[tuple[str, str]]:
    """Yield the scripts that *changes* created and that are there, each with its text."""
    for change in changes:
        path = change.new_path or change.path
        is_script = PurePosixPath(path).suffix.lower() in _SUFFIXES
        if change.kind != "created" or not is_script:
            continue
        try:
            text = project.decode_text(path, project.read_bytes(path, _MAX_BYTES)).text
        except ToolError:  # it is gone, too large or no text: the skill speaks of it where it is
            continue
        yield path, text


def _mention(path: str) -> re.Pattern[str]:
    """Return what matches *path*, also behind `./`, where it stands for itself in a command."""
    return re.compile(rf"(?<![\w./-])(?:\./)?{re.escape(path)}(?![\w/-]|\.\w)")


def _names(text: str, path: str) -> bool:
    """Whether *text* of a script names the file *path* beside it, as `import` or by its name."""
    name = PurePosixPath(path)
    stem = rf"|^\s*(?:import|from)\s+\.?{re.escape(name.stem)}\b" if name.suffix == ".py" else ""
    return bool(re.search(rf"(?<![\w.-]){re.escape(name.name)}\b{stem}", text, re.MULTILINE))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
