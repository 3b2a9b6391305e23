"""Runner of all tests (`python3 -m tests`), on all cores, in an environment of its own."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "pytest",
    "pytest_timeout",
    "xdist",
    "hypothesis",
    "deepseek_recipe",
    "playwright",
    "axe_playwright_python",
    "websocket",
    "hatchling",
    "openai",
    "tavily",
    "flask_socketio",
    "rich",
    "click",
    "prompt_toolkit",
    "pathspec",
)
MEMORY = "/dev/shm"
MEMORY_BYTES = 4 << 30
"""Bytes that have to be free there."""


def prepare_environment() -> int:
    """Become the Python of `.venv-dev`, made the first time; return 0, or why not."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this is where an older one is told so
        sys.stderr.write("Onefold needs Python 3.11 or newer.\n")
        return 2
    from utils.bootstrap import ensure_environment
    from utils.i18n import Phrase, UserError

    def print_message(what: Phrase) -> None:
        sys.stderr.write(f"{what}\n")
        sys.stderr.flush()

    try:
        ensure_environment(
            str(ROOT),
            packages=PACKAGES,
            requirements="requirements-dev.txt",
            folder=".venv-dev",
            print_message=print_message,
        )
    except UserError as problem:
        print_message(problem.message)
        return 2
    return 0


def options_for_memory() -> list[str]:
    """Have the files of the tests in memory where there is room; a TMPDIR that is set counts.

    Tests make and delete so many files that on some disks the system is at nothing else. Return
    options that keep only those of tests that fail.
    """
    if sys.platform != "linux" or "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return []
    room = os.statvfs(MEMORY)
    if room.f_bavail * room.f_frsize < MEMORY_BYTES or room.f_flag & os.ST_NOEXEC:
        return []
    os.environ["TMPDIR"] = MEMORY
    return ["-o", "tmp_path_retention_policy=failed"]


def main() -> int:
    code = prepare_environment()  # an older Python has to be able to read this file
    if code:
        return code
    from tests.system_packages import missing_packages

    packages = missing_packages()
    if packages:
        sys.stderr.write(
            f"Missing here: {', '.join(packages)}. What needs them is skipped or fails.\n"
            f"Debian, Ubuntu: apt install {' '.join(packages)}\n"
        )
    import pytest

    # One more than there are cores, for much of a test is waiting. Whole files to each process:
    # what a file's tests share is made once. In the order of the folders, for files of a few long
    # tests would else come last, and all cores but one would wait for them.
    processes = min(4, (os.cpu_count() or 1) + 1)
    options = [f"--numprocesses={processes}", "--dist=loadfile", "--no-loadscope-reorder"]
    options += options_for_memory()
    return int(pytest.main([f"--rootdir={ROOT}", *options, *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
