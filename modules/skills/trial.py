"""The trial of a drafted skill: its programs run once in a copy of the project."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from modules.runs.run_texts import ending_for_person
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.types import Limits, Program, Result
from utils.i18n import Text
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from modules.sandbox.sandbox import Sandbox

_PREFIX = "onefold-skill-"
_INSTALLED = (".venv", "venv", "node_modules")
"""Folders of programs that lead to their own place: a copy shows the project's, read-only."""


class Cloner(Protocol):
    """Copies the project as it was at the end of a turn."""

    def clone_project(self, turn: int, target: Path) -> object: ...


class Failure(NamedTuple):
    """The *program* that did not end well, its exit code (None: it was ended) and why."""

    program: str
    exit_code: int | None
    why: Text


MakeSandbox = Callable[[Path, Sequence[Path]], "Sandbox"]
"""Makes the sandbox of a copy of the project, in which some folders can be read beside it."""


class Trial(NamedTuple):
    """Tries programs in copies of the project *root*, within *limits* each."""

    root: Path
    cloner: Cloner
    make_sandbox: MakeSandbox
    limits: Limits
    stop: Stop

    def run(
        self, turn: int, programs: Sequence[str], files: Mapping[str, str]
    ) -> Generator[str, None, Failure | None]:
        """Run *programs*, in order, in a copy as of *turn* that has *files*, texts by their paths.

        Yields what they print; returns the first that does not end well, None for none. The copy is
        gone afterwards. Raises `UserError` where there can be none, or nothing can run in it.
        """
        base = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        try:
            twin = base / self.root.name
            self.cloner.clone_project(turn, twin)
            shown = _show_installed(self.root, twin)
            for path, text in files.items():
                file = twin / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", errors="replace", newline="")
            with closing(self.make_sandbox(twin, shown)) as sandbox:
                for program in programs:
                    yield f"$ {program}\n"
                    result = yield from self._tried(sandbox, program)
                    if self.stop.is_set():
                        raise Stopped
                    if result.exit_code != 0:
                        return Failure(program, result.exit_code, ending_for_person(result))
            return None
        finally:
            remove_scratch(base)

    def _tried(self, sandbox: Sandbox, program: str) -> Generator[str, None, Result]:
        strict = f"set -eo pipefail\n{program}"
        return (yield from sandbox.run(Program("bash", strict), self.limits, self.stop))


def _show_installed(root: Path, twin: Path) -> list[Path]:
    """Let *twin* have what is installed in *root*; return the folders that programs have to see."""
    shown = []
    for name in _INSTALLED:
        if (root / name).is_dir() and not (root / name).is_symlink():
            remove_scratch(twin / name)
            (twin / name).symlink_to(root / name)
            shown.append(root / name)
    return shown
