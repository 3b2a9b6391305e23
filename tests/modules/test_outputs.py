"""A long result is cut, and all of it can still be read."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from core.tools import ToolError
from modules.outputs import Outputs
from utils.i18n import UserError


def test_a_kept_text_comes_back_after_a_restart(tmp_path: Path) -> None:
    text = "a\r\n中文\0\udce9\ud83d\x0c"
    assert Outputs(tmp_path / "o").store(text) == "@output/1"
    again = Outputs(tmp_path / "o")
    assert again.store("next") == "@output/2"
    assert again.read("@output/1") == text
    assert stat.S_IMODE((tmp_path / "o" / "1.txt").stat().st_mode) == 0o600


@pytest.mark.parametrize("address", ["@output/0", "@output/../1", "@output/", "1", "@output/१"])
def test_an_address_is_a_number(tmp_path: Path, address: str) -> None:
    with pytest.raises(ToolError, match="is no kept output"):
        Outputs(tmp_path).read(address)


def test_a_text_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="run the call again"):
        Outputs(tmp_path).read("@output/7")


def test_the_oldest_go_first_and_numbers_are_never_used_twice(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, max_bytes=100)
    assert [outputs.store("x" * 40) for _ in range(4)] == [f"@output/{n}" for n in range(1, 5)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3.txt", "4.txt"]
    assert outputs.store("x" * 500) == "@output/5"
    assert outputs.store("x" * 500) == "@output/6"


def test_what_fits_stays_as_it_is(tmp_path: Path) -> None:
    assert Outputs(tmp_path / "none").shorten("x" * 100, limit=100) == "x" * 100
    assert not (tmp_path / "none").exists()


def test_a_long_text_keeps_head_and_tail_cut_at_line_ends(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, reader="read_file")
    lines = [f"line {number}" for number in range(1, 1001)]
    cut = outputs.shorten("\n".join(lines), limit=1000)
    assert len(cut) <= 1000
    head, hint, tail = re.split(r"(\[….*…\])\n", cut)
    first = len(head.splitlines())
    last = len(tail.splitlines())
    assert head.splitlines() + tail.splitlines() == lines[:first] + lines[-last:]
    assert f"{1000 - first - last:,} lines" in hint
    assert f'read_file path="@output/1" start_line={first + 1}' in hint
    assert outputs.read("@output/1").splitlines() == lines


def test_one_long_line_is_cut_all_the_same(tmp_path: Path) -> None:
    cut = Outputs(tmp_path).shorten("长" * 5000, limit=1000)
    assert len(cut) <= 1000
    assert cut.startswith("长" * 400 + "\n[… 0 lines, 4,200 characters left out;")
    assert cut.endswith("\n" + "长" * 400)
    assert "start_line=1 " in cut


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Cannot read or save .*: Not a directory"):
        Outputs(tmp_path / "file" / "o").store("x")


def test_a_text_that_cannot_be_kept_is_cut_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cut = Outputs(tmp_path / "file" / "o").shorten("x" * 5000, limit=1000)
    assert len(cut) <= 1000
    assert "could not be kept" in cut
