"""Runs the worker that takes documents apart and puts them together, confined."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from modules.documents.libraries import libraries_folder
from modules.documents.problems import DocumentError, problem
from modules.documents.worker_messages import Message, decode, encode
from utils.i18n import phrase
from utils.system.child import ChildResult, TimedOut, run_program

_TIMEOUT_SECONDS = 120.0
_ROOT = Path(__file__).parents[2]


def run_worker(
    job: str,
    kind: str,
    name: str,
    files: Sequence[bytes] = (),
    values: Mapping[str, Any] | None = None,
) -> Message:
    """Return what *job* gives for the document *name* of *kind*, worked on with *files*.

    That happens in a process that can open nothing and has 1 GB and a minute at most. Raises
    `DocumentError`.
    """
    worker = ["-m", "modules.documents.worker.main", libraries_folder(job, kind), job, kind]
    try:
        result = run_program(
            [sys.executable, "-E", "-s", "-S", *worker],
            folder=_ROOT,
            environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            seconds=_TIMEOUT_SECONDS,
            stdin=encode(Message(values or {}, files)),
        )
    except TimedOut:
        raise problem(name, {"error": "time"}) from None
    if result.code or not result.output:
        raise _died(name, job, result)
    answer = decode(result.output)
    if "error" in answer.values:
        raise problem(name, answer.values)
    return answer


def _died(name: str, job: str, result: ChildResult) -> Exception:
    """Return the error for a worker that ended with *result*: by a limit, for what it read, or
    because of a fault of ours.
    """
    if result.code in (-24, -9):  # SIGXCPU, SIGKILL
        return problem(name, {"error": "time"})
    if job == "make" and result.code > 0:
        return RuntimeError(result.errors.decode("utf-8", "replace"))
    return DocumentError(
        phrase("{name} cannot be read: the program that takes it apart gave up on it.", name=name)
    )
