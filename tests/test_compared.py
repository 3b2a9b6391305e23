"""What docs/compared.md says of Onefold, each on a real folder through the tools the model has."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from core.events import CommandAnswered, Event, Reply, ToolFinished
from core.loop.turn import drive
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.checkpoints.folders import folder_state, make_tree
from tests.modules.sandbox.sandbox_home import wait_for_prewarmed
from tests.scripted_model import call_reply, run_turn, text_reply

JUDGED = "rm -rf src && mv a b && find . -name '*.md' -exec sed -i 's/word/WORD/g' {} + && mkdir e"


def did(env: AssembledTerminal, line: str) -> None:
    """Let the model do the next of its script, and the person say yes to all of it."""
    states: list[str] = []

    def show(event: Event) -> Reply:
        if isinstance(event, ToolFinished):
            states.append(event.state)
        return Reply(yes=True)

    drive(env.terminal.run_line(line), show)
    assert states
    assert set(states) == {"done"}


def command(env: AssembledTerminal, line: str) -> None:
    (answer,) = run_turn(env.terminal, line)
    assert isinstance(answer, CommandAnswered)
    assert answer.ok, answer.card


def test_what_a_shell_command_did_is_taken_back_without_git(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("run_command", command=JUDGED), text_reply("done")
    ) as env:
        make_tree(env.root, 300)
        (env.root / "a" / "empty").mkdir(parents=True, exist_ok=True)
        was = folder_state(env.root)
        did(env, "clean up")
        assert not (env.root / "src").exists()
        assert (env.root / "e").is_dir()
        command(env, "/undo")
        assert folder_state(env.root) == was


def test_what_a_python_program_did_is_taken_back(tmp_path: Path) -> None:
    code = (
        "import os\nos.remove('keep.bin')\nos.makedirs('deep/er')\nopen('deep/er/x','w').write('x')"
    )
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=code), text_reply("done")
    ) as env:
        (env.root / "keep.bin").write_bytes(random.Random(1).randbytes(3 << 20))
        was = folder_state(env.root)
        did(env, "run it")
        assert not (env.root / "keep.bin").exists()
        command(env, "/undo")
        wait_for_prewarmed()
        assert folder_state(env.root) == was


def test_ignored_and_untracked_files_of_a_repository_come_back(tmp_path: Path) -> None:
    line = "rm -rf build .env notes.txt && echo more >> tracked.txt"
    with assembled_terminal(
        tmp_path, call_reply("run_command", command=line), text_reply("done")
    ) as env:
        for name, text in {
            ".gitignore": "build/\n.env\n", "build/out.bin": "built", ".env": "NAME=value\n",
            "notes.txt": "never added\n", "tracked.txt": "one\n",
        }.items():  # fmt: skip
            (env.root / name).parent.mkdir(exist_ok=True)
            (env.root / name).write_text(text)
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@e", "-C", str(env.root)]
        for words in (["init", "-q"], ["add", "tracked.txt"], ["commit", "-qm", "one"]):
            subprocess.run([*git, *words], check=True)
        status = subprocess.run([*git, "status", "-s"], capture_output=True, check=True).stdout
        was = folder_state(env.root)
        did(env, "clean")
        command(env, "/undo")
        assert folder_state(env.root) == was
        now = subprocess.run([*git, "status", "-s"], capture_output=True, check=True).stdout
        assert now == status


def test_what_the_person_changed_meanwhile_stays(tmp_path: Path) -> None:
    line = "sed -i s/two/TWO/ shared.txt && echo x > made.txt"
    with assembled_terminal(
        tmp_path, call_reply("run_command", command=line), text_reply("done")
    ) as env:
        shared = env.root / "shared.txt"
        shared.write_text("one\ntwo\nthree\nfour\nfive\n")
        did(env, "change it")
        shared.write_text(shared.read_text().replace("five", "FIVE"))
        (env.root / "mine.txt").write_text("mine\n")
        command(env, "/undo")
        assert shared.read_text() == "one\ntwo\nthree\nfour\nFIVE\n"
        assert (env.root / "mine.txt").read_text() == "mine\n"
        assert not (env.root / "made.txt").exists()


def test_an_earlier_turn_alone_is_taken_back_and_brought_again(tmp_path: Path) -> None:
    script = [
        call_reply("run_command", id="a", command="echo one > one.txt"), text_reply("1"),
        call_reply("run_command", id="b", command="echo two > two.txt"), text_reply("2"),
    ]  # fmt: skip
    with assembled_terminal(tmp_path, *script, text_reply("3")) as env:
        did(env, "one")
        did(env, "two")
        command(env, "/undo turn 1")
        assert [path.name for path in env.root.iterdir()] == ["two.txt"]
        run_turn(env.terminal, "and then?")  # the undo can be taken back after more was said, too
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        command(env, "/redo")
        assert (env.root / "one.txt").read_text() == "one\n"


def test_what_came_back_does_not_differ_a_moment_later(tmp_path: Path) -> None:
    code = "open('x', 'w').write('x')"
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=code), text_reply("done")
    ) as env:
        (env.root / "a").write_text("a")
        was = folder_state(env.root)
        did(env, "run it")
        command(env, "/undo")
        wait_for_prewarmed()
        assert folder_state(env.root) == was


def test_a_call_that_cannot_be_held_does_not_run(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("run_command", command="rm keep.txt"), text_reply("I could not.")
    ) as env:
        (env.root / "keep.txt").write_text("keep\n")
        env.data.checkpoints.write_text("no folder")
        events = run_turn(env.terminal, "remove it")
        assert [e.state for e in events if isinstance(e, ToolFinished)] == ["refused"]
        assert (env.root / "keep.txt").read_text() == "keep\n"
