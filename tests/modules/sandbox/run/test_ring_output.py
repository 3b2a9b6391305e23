from __future__ import annotations

import random
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from modules.sandbox.run.ring_output import RingOutput
from tests.campaign import seeded


def ring(tmp_path: Path, size: int = 10) -> AbstractContextManager[RingOutput]:
    return closing(RingOutput(tmp_path, size, lambda: None))


def test_the_newest_is_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    with ring(tmp_path) as output:
        output.add(b"012345")
        assert output.read(0) == (b"012345", 0)
        output.add(b"6789ab")
        assert output.read(0) == (b"23456789ab", 2)
        assert output.read(7) == (b"789ab", 0)
        assert output.read(output.total) == (b"", 0)
        output.add(b"x" * 25)
        assert output.read(12) == (b"x" * 10, 15)
        assert output.head_and_tail() == ("x" * 10, "", 27)


@seeded(30)
def test_it_is_the_end_of_all_that_came(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    size = chance.randint(1, 50)
    with ring(tmp_path, size) as output:
        whole = b""
        for _ in range(50):
            data = chance.randbytes(chance.randint(0, 2 * size))
            output.add(data)
            whole += data
            start = chance.randint(0, len(whole))
            oldest = max(start, len(whole) - size)
            assert output.read(start) == (whole[oldest:], oldest - start)


def test_nothing_of_it_has_a_name_on_the_disk(tmp_path: Path) -> None:
    with ring(tmp_path) as output:
        output.add(b"secret")
        assert list(tmp_path.iterdir()) == []
    assert output.read(0) == (b"", 0)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        RingOutput(tmp_path / "nowhere", 10, lambda: None)


def test_somebody_is_told_of_each_piece(tmp_path: Path) -> None:
    told: list[int] = []
    with closing(RingOutput(tmp_path, 10, lambda: told.append(output.total))) as output:
        output.add(b"one")
        output.add(b"", final=True)
        output.add(b"two")
    assert told == [3, 6]
