"""What docs/compared.md says of Onefold, each on a real folder through the tools the model has."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

from core.events import CommandAnswered, Event, Reply, ToolFinished
from core.loop.turn import drive
from tests.assembly import House, house
from tests.modules.checkpoints.folders import look, make_tree
from tests.modules.sandbox.house import settle
from tests.scripted import call, run, say

JUDGED = "rm -rf src && mv a b && find . -name '*.md' -exec sed -i 's/word/WORD/g' {} + && mkdir e"


def did(here: House, line: str) -> None:
    """Let the model do the next of its script, and the person say yes to all of it."""
    states: list[str] = []

    def show(event: Event) -> Reply:
        if isinstance(event, ToolFinished):
            states.append(event.state)
        return Reply(yes=True)

    drive(here.main.ask(line), show)
    assert states
    assert set(states) == {"done"}


def command(here: House, line: str) -> None:
    (answer,) = run(here.main, line)
    assert isinstance(answer, CommandAnswered)
    assert answer.ok, answer.card


def test_what_a_shell_command_did_is_taken_back_without_git(tmp_path: Path) -> None:
    with house(tmp_path, call("run_command", command=JUDGED), say("done")) as here:
        make_tree(here.root, 300)
        (here.root / "a" / "empty").mkdir(parents=True, exist_ok=True)
        was = look(here.root)
        did(here, "clean up")
        assert not (here.root / "src").exists()
        assert (here.root / "e").is_dir()
        command(here, "/undo")
        assert look(here.root) == was


def test_what_a_python_program_did_is_taken_back(tmp_path: Path) -> None:
    code = (
        "import os\nos.remove('keep.bin')\nos.makedirs('deep/er')\nopen('deep/er/x','w').write('x')"
    )
    with house(tmp_path, call("run_python", code=code), say("done")) as here:
        (here.root / "keep.bin").write_bytes(random.Random(1).randbytes(3 << 20))
        was = look(here.root)
        did(here, "run it")
        assert not (here.root / "keep.bin").exists()
        command(here, "/undo")
        settle()
        assert look(here.root) == was


def test_ignored_and_untracked_files_of_a_repository_come_back(tmp_path: Path) -> None:
    line = "rm -rf build .env notes.txt && echo more >> tracked.txt"
    with house(tmp_path, call("run_command", command=line), say("done")) as here:
        for name, text in {
            ".gitignore": "build/\n.env\n", "build/out.bin": "built", ".env": "NAME=value\n",
            "notes.txt": "never added\n", "tracked.txt": "one\n",
        }.items():  # fmt: skip
            (here.root / name).parent.mkdir(exist_ok=True)
            (here.root / name).write_text(text)
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@e", "-C", str(here.root)]
        for words in (["init", "-q"], ["add", "tracked.txt"], ["commit", "-qm", "one"]):
            subprocess.run([*git, *words], check=True)
        status = subprocess.run([*git, "status", "-s"], capture_output=True, check=True).stdout
        was = look(here.root)
        did(here, "clean")
        command(here, "/undo")
        assert look(here.root) == was
        now = subprocess.run([*git, "status", "-s"], capture_output=True, check=True).stdout
        assert now == status


def test_what_the_person_changed_meanwhile_stays(tmp_path: Path) -> None:
    line = "sed -i s/two/TWO/ shared.txt && echo x > made.txt"
    with house(tmp_path, call("run_command", command=line), say("done")) as here:
        shared = here.root / "shared.txt"
        shared.write_text("one\ntwo\nthree\nfour\nfive\n")
        did(here, "change it")
        shared.write_text(shared.read_text().replace("five", "FIVE"))
        (here.root / "mine.txt").write_text("mine\n")
        command(here, "/undo")
        assert shared.read_text() == "one\ntwo\nthree\nfour\nFIVE\n"
        assert (here.root / "mine.txt").read_text() == "mine\n"
        assert not (here.root / "made.txt").exists()


def test_an_earlier_turn_alone_is_taken_back_and_brought_again(tmp_path: Path) -> None:
    script = [
        call("run_command", id="a", command="echo one > one.txt"), say("1"),
        call("run_command", id="b", command="echo two > two.txt"), say("2"),
    ]  # fmt: skip
    with house(tmp_path, *script, say("3")) as here:
        did(here, "one")
        did(here, "two")
        command(here, "/undo turn 1")
        assert [path.name for path in here.root.iterdir()] == ["two.txt"]
        run(here.main, "and then?")  # the undo can be taken back after more was said, too
    with house(tmp_path) as here:
        here.main.resume()
        command(here, "/redo")
        assert (here.root / "one.txt").read_text() == "one\n"


def test_what_came_back_does_not_differ_a_moment_later(tmp_path: Path) -> None:
    code = "open('x', 'w').write('x')"
    with house(tmp_path, call("run_python", code=code), say("done")) as here:
        (here.root / "a").write_text("a")
        was = look(here.root)
        did(here, "run it")
        command(here, "/undo")
        settle()
        assert look(here.root) == was


def test_a_call_that_cannot_be_held_does_not_run(tmp_path: Path) -> None:
    with house(tmp_path, call("run_command", command="rm keep.txt"), say("I could not.")) as here:
        (here.root / "keep.txt").write_text("keep\n")
        shutil.rmtree(here.data.checkpoints)
        here.data.checkpoints.write_text("no folder")
        events = run(here.main, "remove it")
        assert [e.state for e in events if isinstance(e, ToolFinished)] == ["refused"]
        assert (here.root / "keep.txt").read_text() == "keep\n"
