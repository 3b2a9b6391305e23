"""Lines that are appended arrive whole at who follows, through rotation, kills and full disks."""

from __future__ import annotations

import multiprocessing
import os
import re
import stat
from contextlib import closing
from pathlib import Path

import pytest

from utils.system.rotated_lines import LineFollower, all_files, append_line


def test_lines_are_followed_from_before_the_file_exists(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = LineFollower(path, last=2)
    assert follower.read() == []
    for line in (b"a", b"b", b"c"):
        append_line(path, line)
    assert follower.read() == [b"b", b"c"]
    append_line(path, b"d")
    assert follower.read() == [b"d"]
    assert follower.read() == []
    follower.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_rotation_loses_nothing_for_who_follows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append_line(path, b"first")
    follower = LineFollower(path, last=9)
    seen = follower.read()
    sent = [b"first"]
    for number in range(60):
        sent.append(f"line {number:04}".encode())
        append_line(path, sent[-1], max_bytes=40)
        if number % 7 == 0:  # now and then: the file was rotated twice meanwhile
            seen += follower.read()
    seen += follower.read()
    assert seen == sent
    follower.close()
    assert [one.exists() for one in all_files(path)] == [True, True, True]
    assert all(one.stat().st_size <= 40 for one in all_files(path))


def test_part_of_a_line_is_one_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"whole\npart")
    follower = LineFollower(path, last=9)
    assert follower.read() == [b"whole"]
    append_line(path, b"next")
    assert follower.read() == [b"part", b"next"]
    follower.close()


def test_a_file_that_was_emptied_or_removed_is_followed_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append_line(path, b"a long first line")
    follower = LineFollower(path, last=9)
    follower.read()
    os.truncate(path, 0)
    append_line(path, b"b")
    assert follower.read() == [b"b"]
    path.unlink()
    assert follower.read() == []
    append_line(path, b"c")
    assert follower.read() == [b"c"]
    follower.close()


def test_a_full_disk_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    append_line(path, b"before")
    write = os.write

    def full(handle: int, data: memoryview) -> int:
        if len(data) < 6:
            raise OSError(28, "No space left on device")
        return write(handle, data[:5])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        append_line(path, b"12345678")
    monkeypatch.setattr(os, "write", write)
    append_line(path, b"after")
    assert path.read_bytes() == b"before\nafter\n"


def _append_for_ever(path: Path, name: str) -> None:
    number = 0
    while True:
        append_line(path, f"{name}:{number}:".encode() + b"x" * (number % 3_000), max_bytes=50_000)
        number += 1


def test_killed_writers_leave_each_line_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "log"
    context = multiprocessing.get_context("forkserver")  # a fork of ours would have our threads
    with closing(LineFollower(path, last=9)) as follower:
        for round_number in range(10):
            both = (path, "0"), (path, "1")
            writers = [context.Process(target=_append_for_ever, args=one) for one in both]
            for writer in writers:
                writer.start()
            while not path.exists() or len(follower.read()) < 20:
                pass
            for writer in writers:
                writer.kill()
                writer.join()
                writer.close()
            append_line(path, f"{round_number}".encode())
    cut_off = 0
    for name in filter(Path.exists, all_files(path)):  # a kill may have come amid a rotation
        for line in name.read_bytes().split(b"\n")[:-1]:
            found = re.fullmatch(rb"\d|[01]:(\d*)(?::(x*))?", line)
            assert found, line
            number, text = found.groups()
            cut_off += number is not None and text != b"x" * (int(number or 0) % 3_000)
    assert cut_off <= 20  # the kernel ends a write at a page of memory if its process is killed
