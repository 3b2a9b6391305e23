"""Harmless lines of files in which git would also run what a line says.

A rebase, a cherry-pick or a bisect that is under way keeps what is still to be done in files, and
`exec`, or a strategy that is a program, may stand there. A clone or a work tree that a run adds
has settings. So these files are not put back as a whole; a line that came with the run stays only
if it is known to do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_TODO = re.compile(
    rb"\s*(#.*|(p|pick|revert|r|reword|e|edit|s|squash|f|fixup|d|drop|l|label|t|reset|m|merge"
    rb"|u|update-ref|noop|b|break)(\s.*)?)?"
)
_STRATEGIES = rb"(ort|recursive|resolve|octopus|ours|subtree)"
_STRATEGY = re.compile(_STRATEGIES)
_PLAIN_OPTIONS = re.compile(rb"[\w\s=%:.,'+-]*")
_AUTHOR = re.compile(rb"GIT_AUTHOR_(NAME|EMAIL|DATE)='([^']|'\\[!']')*'")
_APPLY = re.compile(
    rb"( ?'(-[Cp]\d+|--(whitespace=[\w-]+|ignore-(space-change|whitespace)|reject"
    rb"|(directory|exclude|include)=[^']*))')*\s*"
)
_OPTIONS = re.compile(
    rb"\[options\]|\t(strategy = " + _STRATEGIES + rb"|(?!(?i:strategy) =)[\w-]+ = [\w.%:=-]*)|\s*"
)
_QUOTED = re.compile(rb"( ?'[^']*')*")
_BISECTED = re.compile(rb"#.*|git bisect( ?'[^']*'| [\w./^~@-]+)*")

STATE_FILE_LINES = {
    **{f"rebase-merge/{name}": _TODO for name in ("git-rebase-todo", "git-rebase-todo.backup")},
    "sequencer/todo": _TODO,
    "sequencer/opts": _OPTIONS,
    **{f"{folder}/strategy": _STRATEGY for folder in ("rebase-merge", "rebase-apply")},
    **{f"{folder}/strategy_opts": _PLAIN_OPTIONS for folder in ("rebase-merge", "rebase-apply")},
    **{f"{folder}/author-script": _AUTHOR for folder in ("rebase-merge", "rebase-apply")},
    "rebase-apply/apply-opt": _APPLY,
    "BISECT_NAMES": _QUOTED,
    "BISECT_LOG": _BISECTED,
}
"""By path in a repository: what a line may be that git obeys while something is under way."""

_SETTING = re.compile(
    rb'\[(core|user|submodule|(remote|branch|submodule) "[^"\\]*")\]'
    rb"|\t(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks"
    rb"|precomposeunicode|active|merge|remote) = [\w./-]*"
    rb"|\tworktree = (\.\./)+[\w./-]+|\t(url|fetch|name|email) = [^\\\"]*|\s*"
)
_PROJECT_SETTING = re.compile(
    rb"\[(core|user)\]|\t(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks"
    rb"|precomposeunicode) = [\w./-]*|\t(name|email) = [^\\\"]*|\s*"
)
_ABOVE = re.compile(rb"\.\./\.\.")
_ANY = re.compile(rb".*")

NEW_REPOSITORY_LINES = {
    "config": _SETTING,
    "commondir": _ABOVE,
    "gitdir": _ANY,
    "info/exclude": _ANY,
}
"""The same of a work tree or a clone in the folder of git that was not there before."""

PROJECT_REPOSITORY_LINES = {"config": _PROJECT_SETTING, "info/exclude": _ANY}
"""The same of the project's own repository, if that was not there before."""


def without_harmful_lines(content: bytes, before: bytes, harmless: re.Pattern[bytes]) -> bytes:
    """Return *content* without the lines that stood not *before* and are not *harmless*."""
    known: Collection[bytes] = frozenset(before.split(b"\n"))
    lines = content.split(b"\n")
    kept = [line for line in lines if line in known or harmless.fullmatch(line)]
    return content if len(kept) == len(lines) else b"\n".join(kept)
