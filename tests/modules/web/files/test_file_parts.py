"""A text of any size is read by part: nothing twice, nothing left out, no line cut if it can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from modules.web.files import file_parts
from modules.web.files.file_parts import PART_BYTES, FilePart, read_part
from tests.modules.web.serving import RunningServer

LINE = "line {} – ünïcode 中文 😀\n"


def parts_of(file: Path) -> list[FilePart]:
    with file.open("rb") as stream:
        count = read_part(stream, 1).count
        return [read_part(stream, number) for number in range(1, count + 1)]


def many_lines(size: int) -> str:
    return "".join(LINE.format(number) for number in range(1, size // 34))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_parts_are_the_whole(tmp_path: Path, encoding: str, newline: str) -> None:
    text, file = many_lines(2_500_000), tmp_path / "f"
    file.write_bytes(text.replace("\n", newline).encode(encoding))
    found = parts_of(file)
    assert "".join(part.text.replace("\r\n", "\n") for part in found) == text
    assert [part.number for part in found] == list(range(1, len(found) + 1))
    for part in found:
        assert part.text.endswith("\n")
        assert part.text.startswith(f"line {part.first_line or ''}")
        assert part.before.endswith("\n") or part.number == 1


@pytest.mark.parametrize("shift", range(5))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_longer_than_a_part_is_cut_between_two_characters(
    tmp_path: Path, shift: int, encoding: str
) -> None:
    text = "x" * shift + "😀中ü" * 300_000
    (tmp_path / "f").write_text(text, encoding=encoding)
    found = parts_of(tmp_path / "f")
    assert len(found) > 2
    assert "".join(part.text for part in found) == text


def test_a_file_of_one_part_has_one(tmp_path: Path) -> None:
    for data in (b"", b"x", b"x\n" * (PART_BYTES // 2)):
        (tmp_path / "f").write_bytes(data)
        (part,) = parts_of(tmp_path / "f")
        assert (part.text.encode(), part.number, part.count) == (data, 1, 1)


def test_lines_are_not_counted_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_parts, "MAX_COUNTED_BYTES", PART_BYTES)
    (tmp_path / "f").write_bytes(b"x\n" * PART_BYTES * 2)
    assert [part.first_line for part in parts_of(tmp_path / "f")] == [
        *(1, PART_BYTES // 2 + 1),
        *(None, None),
    ]


def test_a_large_text_is_read_by_part_and_not_whole(served: RunningServer) -> None:
    text = many_lines(6_000_000)
    (served.project / "big.py").write_text(text, encoding="utf-8")
    assert served.ask("GET", "/api/files/text?path=big.py").json["code"] == "too_large"
    first = served.ask("GET", "/api/files/part?path=big.py").json
    assert text.startswith(first.pop("text"))
    size = len(text.encode())
    about = {"path": "big.py", "number": 1, "count": -(-size // PART_BYTES), "first_line": 1}
    kept = {"size": size, "encoding": "UTF-8, LF", "newline": "\n", "language": "python"}
    assert first == about | kept
    last = served.ask("GET", "/api/files/part?path=big.py&number=99").json
    assert last["number"] == last["count"]
    assert text.endswith(last["text"])


def test_what_is_no_text_or_not_there_has_no_parts(served: RunningServer, tmp_path: Path) -> None:
    (served.project / "bin").write_bytes(b"\0\1" * 3_000_000)
    (tmp_path / "secret").write_text("x")
    for path, status, code in (
        ("bin", 415, "binary"),
        ("gone", 404, "not_found"),
        ("../secret", 422, "failed"),
        ("bin&number=0", 400, "bad_request"),
    ):
        answer = served.ask("GET", f"/api/files/part?path={path}")
        assert (answer.status, answer.json["code"]) == (status, code)
