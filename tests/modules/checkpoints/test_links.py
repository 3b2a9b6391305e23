"""Names of one file are names of one file again after an undo, whatever parted or joined them."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from tests.campaign import seeded
from tests.modules.checkpoints.folders import FolderState, checkpoints, folder_state

Act = Callable[[Path], None]


def whole(root: Path) -> tuple[FolderState, list[list[str]]]:
    """Return all that `folder_state` does, and which paths are names of one file."""
    names: dict[int, list[str]] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode):
            names.setdefault(status.st_ino, []).append(str(path.relative_to(root)))
    return folder_state(root), sorted(names.values())


def there_and_back(points: Checkpoints, root: Path, *acts: Act) -> None:
    """Do *acts*, take all of them back one by one, bring them again, and go back at once."""
    marks, states = [points.take().id], [whole(root)]
    for act in acts:
        act(root)
        marks.append(points.take().id)
        states.append(whole(root))
    undone = []
    for place in range(len(acts), 0, -1):
        undone.append(points.undo(marks[place - 1], marks[place]))
        assert whole(root) == states[place - 1], f"undo of {place}"
    for place, result in enumerate(reversed(undone), start=1):
        points.undo(result.before, result.after)
        assert whole(root) == states[place], f"redo of {place}"
    points.rewind(marks[0])
    assert whole(root) == states[0]


def shell(line: str) -> Act:
    def act(root: Path) -> None:
        subprocess.run(["sh", "-c", line], cwd=root, check=True)

    return act


def linked(root: Path) -> None:
    """Make three names of one file, and a file that only looks like it."""
    (root / "docs").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "docs" / "a.md").write_text("one\n")
    os.link(root / "docs" / "a.md", root / "src" / "b.md")
    os.link(root / "docs" / "a.md", root / "src" / "c.txt")
    shutil.copy2(root / "docs" / "a.md", root / "alike.md")


@pytest.mark.parametrize(
    "line",
    [
        "find . -name '*.md' -exec sed -i s/nothing/x/ {} +",
        "find . -name '*.md' -exec sed -i s/one/ONE/ {} +",
        "rm -r src && chmod g+w docs/a.md",
        "rm -r src && touch docs/a.md",
        "cp -p docs/a.md t && mv t src/b.md",
        "ln -f docs/a.md alike.md",
        "ln docs/a.md more && chmod 600 docs/a.md && rm src/b.md",
        "rm docs/a.md && mkdir docs/a.md && echo x > docs/a.md/x",
        "mv src moved && cp -p moved/b.md t && mv t moved/b.md",
        "echo more >> src/b.md && rm docs/a.md",
        "rm -r docs src alike.md",
    ],
)
def test_names_of_one_file_come_back_as_such(tmp_path: Path, line: str) -> None:
    root = tmp_path / "root"
    linked(root)
    with checkpoints(root, tmp_path / "store") as points:
        there_and_back(points, root, shell(line), shell("echo y > y"), shell("chmod -R go-w ."))


@seeded(4)
def test_any_joining_and_parting_of_names_can_be_taken_back(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "root"
    linked(root)
    chance = random.Random(seed)
    with checkpoints(root, tmp_path / "store") as points:
        acts = [_at_random(chance) for _ in range(6)]
        there_and_back(points, root, *acts)


def _at_random(chance: random.Random) -> Act:
    def act(root: Path) -> None:
        for _ in range(chance.randint(1, 4)):
            files = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
            one, other = chance.choice(files), chance.choice(files)
            line = chance.choice([
                f"cp -p {one} t && mv -f t {one}", f"test {one} -ef {other} || ln -f {one} {other}",
                f"ln -f {one} new{chance.randint(1, 4)} || true", f"sed -i s/o/0/ {one}",
                f"echo more >> {one}", f"chmod {chance.choice(['600', '644'])} {one}",
                f"mv -f {one} new{chance.randint(1, 4)} || true", f"touch -d @9 {one}",
                "mv src src2 || mv src2 src",
            ])  # fmt: skip
            subprocess.run(["sh", "-c", f"{{ {line}; }} 2>/dev/null"], cwd=root, check=False)

    return act


def test_a_folder_that_is_only_passed_keeps_its_mode(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "locked" / "open").mkdir(parents=True)
    (root / "a" / "locked" / "open" / "f.md").write_text("one\n")
    (root / "a" / "locked").chmod(0o555)
    with checkpoints(root, tmp_path / "store") as points:
        there_and_back(points, root, shell("sed -i s/one/ONE/ a/locked/open/f.md"))
        there_and_back(points, root, shell("mv a b && sed -i s/one/1/ b/locked/open/f.md"))


def test_a_twin_has_the_names_of_one_file_as_such(tmp_path: Path) -> None:
    root = tmp_path / "root"
    linked(root)
    with checkpoints(root, tmp_path / "store") as points:
        taken = points.take().id
        was = whole(root)
        shell("rm -r src")(root)
        assert points.clone(taken, tmp_path / "twin") == []
        assert whole(tmp_path / "twin") == was
        (tmp_path / "twin" / "src" / "b.md").write_text("only there\n")
        assert (root / "docs" / "a.md").read_text() == "one\n"


@pytest.mark.parametrize(
    "line",
    [
        "rm in; echo X > in",
        "rm in two",
        "mv in d/in; chmod 600 d/in",
        "rm in; ln two in; echo X >> two",
        "echo more >> in",
        "echo 1 > in; chmod 400 in; rm two",
        "mkdir e; mv in e; rm two",
    ],
)
def test_names_outside_stay_names_of_the_file(tmp_path: Path, line: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "d").mkdir(parents=True)
    outside.write_text("before\n" * 1000)
    (root / "in").hardlink_to(outside)
    (root / "two").hardlink_to(outside)
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take()
        number = outside.stat().st_ino
        was = whole(root), outside.stat().st_mtime_ns
        assert points.take().id == before.id
        shell(line)(root)
        changed, after = whole(root), points.take()
        result = points.undo(before.id, after.id)
        assert not result.skipped
        assert (whole(root), outside.stat().st_mtime_ns) == was
        assert {(root / name).stat().st_ino for name in ("in", "two")} == {number}
        points.undo(result.before, result.after)
        assert whole(root) == changed
        points.undo(before.id, points.take().id)
        assert (whole(root), outside.stat().st_mtime_ns) == was


def test_what_the_person_wrote_outside_meanwhile_stays(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("before\n")
    (root / "in").hardlink_to(outside)
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take()
        (root / "in").unlink()
        after = points.take()
        outside.write_text("the person's\n")
        points.undo(before.id, after.id)
        assert (root / "in").read_text() == "before\n"
        assert outside.read_text() == "the person's\n"


def test_a_name_of_ours_goes_with_the_last_other(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("before\n")
    (root / "in").hardlink_to(outside)
    with checkpoints(root, tmp_path / "store") as points:
        points.take()
        (root / "in").unlink()
        points.take()
        points.collect_garbage()
        assert len(list((tmp_path / "store/links").iterdir())) == 1
        outside.unlink()
        points.collect_garbage()
        assert not any((tmp_path / "store/links").iterdir())
