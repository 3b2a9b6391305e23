"""An undo that is killed at any moment is finished later, and nothing is half written."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from tests.campaign import seeded
from tests.modules.checkpoints.folders import checkpoints, folder_state, make_tree

HOUSE = Path(__file__).parents[3]
BEGIN = """
import sys, pathlib
from tests.modules.checkpoints.folders import checkpoints
root, store = map(pathlib.Path, sys.argv[1:3])
with checkpoints(root, store) as points:
    print("ready", flush=True)
"""
UNDO = BEGIN + "    points.undo(int(sys.argv[3]), int(sys.argv[4]))"
TAKE = BEGIN + "    points.take()"


@seeded(4)
def test_an_undo_survives_being_killed(tmp_path: Path, seed: int) -> None:
    root, store = tmp_path / "project", tmp_path / "store"
    make_tree(root, 400)
    with checkpoints(root, store) as points:
        was, before = folder_state(root), points.take()
        script = "rm -rf src && mv a b && find . -name '*.txt' -exec sed -i 's/word/w/' {} +"
        subprocess.run(["bash", "-c", script], cwd=root, check=True)
        after, changed = points.take(), folder_state(root)
    command = [sys.executable, "-c", UNDO, str(root), str(store), str(before.id), str(after.id)]
    with subprocess.Popen(command, cwd=HOUSE, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        time.sleep(random.Random(seed).uniform(0, 0.12))
        running.kill()
    known = {entry[2] for entry in [*was.values(), *changed.values()]}
    temporary = [path for path in root.rglob("*") if path.name.startswith(".onefold-undo")]
    for path, (_, _, content) in folder_state(root).items():
        assert content in known or root / path in temporary
    with checkpoints(root, store) as points:
        points.finish_interrupted()
        finished = folder_state(root)
        assert finished in (was, changed)
        if finished == changed:  # killed before it began
            points.undo(before.id, after.id)
        assert folder_state(root) == was
        assert points.finish_interrupted() == []


def test_a_killed_first_snapshot_leaves_a_store_that_works(tmp_path: Path) -> None:
    root, store = tmp_path / "project", tmp_path / "store"
    make_tree(root, 400)
    command = [sys.executable, "-c", TAKE, str(root), str(store)]
    for moment in (0.0, 0.02, 0.05):
        with subprocess.Popen(command, cwd=HOUSE, stdout=subprocess.PIPE) as running:
            assert running.stdout
            running.stdout.readline()
            time.sleep(moment)
            running.kill()
    with checkpoints(root, store) as points:
        was, taken = folder_state(root), points.take()
        subprocess.run(["bash", "-c", "rm -rf -- * .h*"], cwd=root, check=True)
        points.rewind(taken.id)
        assert folder_state(root) == was
