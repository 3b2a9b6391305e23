"""What a program keeps where nobody usually looks counts as well, also without a control group."""

from __future__ import annotations

import os

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.limits import watchdog
from modules.sandbox.sandbox import Limits
from modules.sandbox.types import MEBIBYTE
from tests.modules.sandbox.sandbox_home import SandboxHome

START = "import array, ctypes, mmap, os, socket, threading, time\nlibc = ctypes.CDLL(None)\n"
SHARED_AND_LET_GO = """
kept = []
for n in range(8):
    kept.append(mmap.mmap(-1, 50 << 20))
    for at in range(0, 50 << 20, 4096): kept[n][at] = 1
    kept[n].madvise(mmap.MADV_DONTNEED)
"""
HIDDEN = """
libc.prctl(4, 0, 0, 0, 0)
for n in range(4):
    if os.fork() == 0: break
kept = b"x" * (60 << 20)
"""
FIRST_THREAD_ENDED = """
def keep():
    kept = b"x" * (60 << 20)
    time.sleep(30)
for n in range(4):
    if os.fork() == 0: break
threading.Thread(target=keep).start()
libc.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
"""
_FILES = """
for n in range(8):
    file = os.open("f", os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(10 << 20))
    {keep}
    os.unlink("f")
"""
MAPPED = _FILES.format(
    keep="libc.mmap(None, ctypes.c_size_t(1), 1, 1, file, ctypes.c_long(0)); os.close(file)"
)
UNDER_WAY = "ours = socket.socketpair()\n" + _FILES.format(
    keep="ours[0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,"
    " array.array('i', [file]))]); os.close(file)"
)
FOLDERS = "for n in range(15_000): os.mkdir(str(n))"


@pytest.fixture(autouse=True)
def _without_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.sandbox.sandbox.find_cgroups", lambda _: None)


@pytest.mark.parametrize("tier", ["A", "C"])
@pytest.mark.parametrize(
    "code",
    [SHARED_AND_LET_GO, HIDDEN, FIRST_THREAD_ENDED],
    ids=["shared and let go", "hidden", "of a process whose first thread has ended"],
)
def test_memory(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, tier: str, code: str
) -> None:
    if tier == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    limits = Limits(seconds=60, memory=120 * MEBIBYTE)  # far below: others may free some
    assert sandbox_home.python(f"{START}{code}\ntime.sleep(30)", limits).exit_reason == "memory"


@pytest.mark.parametrize(
    "code", [MAPPED, UNDER_WAY, FOLDERS], ids=["mapped", "under way", "of folders"]
)
def test_disk(sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """What others write and delete meanwhile is not to count here: all of the disk seems lost."""
    if code == FOLDERS and not os.stat(sandbox_home.project).st_blocks:  # noqa: PTH116
        return  # here folders take no room
    monkeypatch.setattr(
        watchdog, "_free_bytes", lambda at: 0 if (at / "begun").exists() else 1 << 40
    )
    limits = Limits(seconds=60, disk_growth=40 * MEBIBYTE)
    code = f"{START}{code}\nopen('begun', 'w').close()\ntime.sleep(30)"  # all at one look
    assert sandbox_home.python(code, limits).exit_reason == "disk"


def test_what_is_written_counts_while_others_make_room(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "_free_bytes", lambda _: 1 << 40)
    limits = Limits(seconds=60, disk_growth=40 * MEBIBYTE)
    reused = "for n in range(8): open('same', 'wb').write(bytes(10 << 20)); os.remove('same')"
    assert sandbox_home.python(f"{START}{reused}\ntime.sleep(0.5)", limits).exit_reason == "exited"
    if not os.stat(sandbox_home.project).st_blocks:  # noqa: PTH116
        return  # this is memory, and the kernel counts what is written to disks
    code = (
        "for n in range(8):\n    if os.fork() == 0:\n"
        "        open(f'{n}', 'wb').write(bytes(10 << 20)); os._exit(0)\n    os.wait()\n"
    )
    assert sandbox_home.python(f"{START}{code}time.sleep(30)", limits).exit_reason == "disk"
