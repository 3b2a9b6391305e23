"""Hooks of a repository at a commit for the model: run in the sandbox, when the person wants them.

They see the files of the project and an index that holds what the commit will; what they change
there is in the commit, and their verdict counts. They never run on the person's side.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.tools import ToolError
from modules.sandbox.types import Limits, Program, Result
from utils.i18n import UserError, phrase
from utils.text.clean import clean
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.files.git.git_runs import GitRuns
    from modules.sandbox.late_sandbox import LateSandbox

_NAMES = ("pre-commit", "prepare-commit-msg", "commit-msg")
_TREE = re.compile(r"[0-9a-f]{40,64}")
_MAX_OUTPUT = 6_000  # characters, of which the end is told
_SCRIPT = """
work=$(mktemp -d) || exit 1
export GIT_INDEX_FILE="$work/index" GIT_EDITOR=:
git read-tree {tree} && git update-index -q --refresh > "$work/stale"
hooks=$(git rev-parse --git-path hooks)
printf %s {message} | base64 -d > "$work/message"
run() {{
  hook=$1; shift
  [ -x "$hooks/$hook" ] || return 0
  "$hooks/$hook" "$@" < /dev/null
  code=$?
  [ "$code" = 0 ] || {{ printf '\\n{mark} refused %s %s\\n' "$hook" "$code"; exit 1; }}
}}
run pre-commit
run prepare-commit-msg "$work/message" message
run commit-msg "$work/message"
printf '\\n{mark} passed %s %s\\n' "$(git write-tree)" "$(base64 -w0 < "$work/message")"
"""


@dataclass(frozen=True, slots=True)
class HookResult:
    """What the hooks made of a commit: its *tree* and its *message*; *output* is what they said."""

    tree: str
    message: str
    output: str


@dataclass(frozen=True, slots=True)
class CommitHooks:
    """Runs the hooks of a repository in *sandbox*, if they *are_wanted*."""

    sandbox: LateSandbox
    stop: Stop
    limits: Limits
    are_wanted: bool

    def run(self, tree: str, message: str) -> HookResult:
        """Run the hooks on a commit of *tree*. Raises `ToolError` if one refuses it."""
        mark = secrets.token_hex(16)
        encoded = base64.b64encode(f"{message.rstrip()}\n".encode("utf-8", "replace")).decode()
        code = _SCRIPT.format(tree=shlex.quote(tree), message=shlex.quote(encoded), mark=mark)
        result = self._result(Program("bash", code))
        said, _, verdict = result.whole.rpartition(f"\n{mark} ")
        output = clean(said if verdict else result.whole).strip()[-_MAX_OUTPUT:]
        words = verdict.split()
        if words[:1] == ["refused"] and len(words) == 3:
            raise ToolError(
                phrase(
                    "The hook {name} refused the commit (exit code {code}):\n{output}",
                    name=clean(words[1])[:40],
                    code=clean(words[2])[:10],
                    output=output or "–",
                )
            )
        if words[:1] != ["passed"] or not _TREE.fullmatch("".join(words[1:2])):
            raise ToolError(
                phrase("The hooks did not come to an end, so nothing was committed:\n{output}",
                       output="\n".join((*map(str, result.notes), output)).strip() or "–")
            )  # fmt: skip
        return HookResult(words[1], _decoded(words[2:], message), output)

    def _result(self, program: Program) -> Result:
        running = self.sandbox.get().run(program, self.limits, self.stop)
        try:
            while True:
                next(running)
        except StopIteration as end:
            result: Result = end.value
            return result
        except UserError as error:
            raise ToolError(error.message) from error


def _decoded(words: Sequence[str], message: str) -> str:
    try:
        return base64.b64decode(words[0], validate=True).decode("utf-8", "replace")
    except (IndexError, binascii.Error):
        return message


def hooks_of(git: GitRuns) -> list[str]:
    """Return the names of the hooks of the repository of *git* that would run at a commit."""
    named = git.git.common_dir.config.hooks_path
    folder = git.tree / named if named else git.git.folders.common_dir / "hooks"
    return [name for name in _NAMES if _is_hook(folder / name)]


def _is_hook(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
