"""What a call made unreadable is held and comes back; a folder that is locked loses nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.modules.checkpoints.folders import checkpoints
from tests.modules.checkpoints.test_links import shell, whole

ROOT = Path(__file__).parents[3]
CHILD = "import sys; from tests.modules.checkpoints.test_locked import play; play(*sys.argv[1:])"


def play(base: str, line: str, path: str, expected: str) -> None:
    """Do *line*, take it back and bring it again: *path* must then have the mode *expected*."""
    root = Path(base) / "root"
    (root / "d" / "inner").mkdir(parents=True)
    (root / "d" / "f").write_text("one\n")
    (root / "d" / "inner" / "g").write_text("two\n")
    (root / "d" / "link").symlink_to("f")
    was = whole(root)
    with checkpoints(root, Path(base) / "store") as points:
        before = points.take().id
        shell(line)(root)
        after = points.take()
        assert after.not_stored_phrases == []
        undone = points.undo(before, after.id)
        assert (undone.skipped, undone.conflicts) == ((), ())
        assert whole(root) == was
        again = points.undo(undone.before, undone.after)
        assert (again.skipped, again.conflicts) == ((), ())
        found = subprocess.run(["stat", "-c%a", path], cwd=root, capture_output=True, check=True)
        assert found.stdout.decode().strip() == expected
        assert points.rewind(before).skipped == ()
        assert whole(root) == was


@pytest.mark.parametrize(
    ("line", "path", "mode"),
    [
        ("chmod 000 d", "d", "0"),
        ("chmod 111 d", "d", "111"),
        ("chmod 444 d", "d", "444"),
        ("echo new > d/f && rm d/inner/g && chmod 000 d/inner d", "d", "0"),
        ("echo new > d/f && chmod 000 d/f", "d/f", "0"),
        ("mv d z && chmod 000 z", "z", "0"),
        ("mkdir -m 755 n && echo x > n/x && mv d/inner n/ && chmod 000 n", "n", "0"),
        ("mv d/f d/inner/h && chmod 555 d/inner d", "d", "555"),
    ],
)
def test_what_was_made_unreadable_comes_back(
    tmp_path: Path, line: str, path: str, mode: str
) -> None:
    bwrap = shutil.which("bwrap")
    assert bwrap
    # Nothing is unreadable to root, unless it gives its powers away.
    done = subprocess.run(
        [bwrap, "--dev-bind", "/", "/", "--cap-drop", "ALL", "--chdir", str(ROOT),
         sys.executable, "-c", CHILD, str(tmp_path), line, path, mode],
        capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    subprocess.run(["chmod", "-R", "u+rwx", str(tmp_path)], check=True)
    assert done.returncode == 0, done.stderr
