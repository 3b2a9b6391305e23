"""Print what checkpoints cost: `python -m tests.bench.bench_checkpoints [FILES]`.

Seconds are medians on the machine at hand with its load; sizes are exact.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from modules.checkpoints.checkpoints import Checkpoints
from tests.modules.checkpoints.folders import checkpoints

SCRIPT = (
    "rm -rf src && mv a b && find . -name '*.md' -exec sed -i 's/the/THE/' {} + && mkdir -p new/x"
)
CALLS = 100


def make(root: Path, count: int) -> int:
    """Make *count* files of source-like text, 25 to a folder; return their bytes."""
    rnd = random.Random(7)
    words = Path(os.__file__).read_text().split()
    total = 0
    for number in range(count):
        top = ("src", "a", "docs", "node_modules", ".cache")[number // 25 % 5]
        folder = root / top / f"p{number // 1000}" / f"q{number // 25}"
        if number % 25 == 0 or not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
        text = " ".join(rnd.choices(words, k=rnd.randint(20, 1000)))
        (folder / f"f{number}{('.py', '.md', '.js')[number % 3]}").write_text(text)
        total += len(text)
    return total


def make_plain(root: Path, count: int) -> None:
    """Do with *count* files what no undo can do without: make, fill, name and date them."""
    for number in range(count):
        folder = root / str(number // 25)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "new").write_bytes(b"x" * 800)
        (folder / "new").rename(folder / str(number))
        os.utime(folder / str(number), ns=(1, 1))


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def print_row(label: str, value: str) -> None:
    sys.stdout.write(f"{label:44}{value:>12}\n")


def many_files(root: Path, store: Path, count: int) -> None:
    size = make(root, count)
    print_row(f"{count} files, load {os.getloadavg()[0]:.1f}", f"{size / 1e6:.0f} MB")
    with checkpoints(root, store, total_cap=10**11) as points:
        print_row("first snapshot", f"{seconds(points.take):.2f} s")
        print_row("store after it", f"{points.size / 1e6:.1f} MB")
        before = points.take().id
        print_row("next snapshot, nothing changed", f"{seconds(points.take):.3f} s")
        subprocess.run(["bash", "-c", SCRIPT], cwd=root, check=True)
        print_row("snapshot after the script", f"{seconds(points.take):.2f} s")
        after = points.take().id
        count = len(points.diff(before, after))
        print_row(
            f"telling its {count} changes", f"{seconds(lambda: points.diff(before, after)):.2f} s"
        )
        undoing = seconds(lambda: points.undo(before, after))
        plain = seconds(lambda: make_plain(root.parent / "plain", count))
        print_row("undoing it", f"{undoing:.2f} s")
        print_row(f"making {count} files in a plain loop", f"{plain:.2f} s")
        print_row("differences left", str(len(points.diff(before, points.take().id))))


def many_calls(root: Path, store: Path, count: int) -> None:
    make(root, count)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    with checkpoints(root, store, total_cap=10**11) as points:
        points.take()
        time.sleep(0.1)
        points.take()
        times = [seconds(points.take) for _ in range(15)]
        print_row(
            f"snapshot of {count} unchanged files", f"{statistics.median(times) * 1000:.0f} ms"
        )
        first = points.size
        times = [one_call(points, files, number) for number in range(CALLS)]
        print_row("the same after one file changed", f"{statistics.median(times) * 1000:.0f} ms")
        print_row(f"store before {CALLS} such calls", f"{first / 1e6:.1f} MB")
        print_row("store after them", f"{points.size / 1e6:.1f} MB")
    with checkpoints(root, store, total_cap=10**11) as points:
        print_row("first snapshot after a new start", f"{seconds(points.take) * 1000:.0f} ms")


def one_call(points: Checkpoints, files: list[Path], number: int) -> float:
    path = files[number * 37 % len(files)]
    path.write_text(path.read_text() + f"call {number}\n")
    return seconds(points.take)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="?", type=int, default=50_000)
    count = parser.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        for name, work, size in (("many", many_files, count), ("calls", many_calls, count // 5)):
            root = Path(folder) / name
            root.mkdir()
            work(root, Path(folder) / f"{name}-store", size)


if __name__ == "__main__":
    main()
