"""The protection of git's files that all sandboxes around a project share, made at its first use.

Only what interrupted runs left, and runs that do not keep git's files read-only, need one.
"""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modules.sandbox.git.held_objects import HeldObjects
    from modules.sandbox.git.protection import GitProtection

_lock = threading.Lock()
_instances: dict[tuple[Path, Path], GitProtection] = {}


def git_protection_of(project: Path, record: Path) -> GitProtection:
    """Return the one that all sandboxes of this process around *project* share."""
    from modules.sandbox.git.held_objects import HeldObjects
    from modules.sandbox.git.protection import GitProtection
    from modules.sandbox.git.run_record import RunRecord

    with _lock:
        key = project.resolve(), record
        if key not in _instances:
            held = HeldObjects(key[0], record.with_suffix(".objects"))
            _instances[key] = made = GitProtection(key[0], RunRecord(record), held)
            weakref.finalize(made, _let_go, held, record)
        return _instances[key]


def _let_go(held: HeldObjects, record: Path) -> None:
    """Let go of what is *held*, unless another run has it, or one was cut short."""
    if not record.exists():
        held.release()


def is_git_protected(project: Path, record: Path) -> bool:
    """Return whether there is one; else nobody of this process has anything to tell of it."""
    with _lock:
        return bool(_instances) and (project.resolve(), record) in _instances
