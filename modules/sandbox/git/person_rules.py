"""What the person's own git settings say of files, for programs: line ends, ignored files and
attributes. Those of a repository go before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from modules.files.git.common_dir import read_regular_file

FILES_IN_SANDBOX: Mapping[str, Path] = {
    "core.excludesfile": Path("/run/git-ignore"),
    "core.attributesfile": Path("/run/git-attributes"),
}
"""Where programs find the person's files of rules, by the setting that names them."""


Rules = Iterable[tuple[str, str]]
"""What the person's own settings say: values by key, some of which name files."""


def settings_of(rules: Rules) -> list[str]:
    """Return the lines of a config with what of *rules* names no file."""
    return _lines((key, value) for key, value in rules if key not in FILES_IN_SANDBOX)


def contents_of(rules: Rules) -> Iterator[tuple[str, bytes]]:
    """Yield what is in each file of rules that there is, by its setting. Raises `OSError`."""
    for key, path in rules:
        if key in FILES_IN_SANDBOX:
            yield key, read_regular_file(Path(path).resolve())  # a link, where dotfiles lie apart


def settings_that_name(files: Mapping[str, Path]) -> list[str]:
    """Return the lines of a config with the settings by which git finds *files*."""
    return _lines((key, str(path)) for key, path in files.items())


def _lines(values: Rules) -> list[str]:
    return [
        line
        for key, value in values
        for line in (f"[{key.partition('.')[0]}]", f"\t{key.partition('.')[2]} = {quoted(value)}")
    ]


def quoted(text: str) -> str:
    """Return *text* as a value in a config."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
