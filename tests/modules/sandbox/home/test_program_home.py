"""The home of programs stays, is theirs alone and bounded, and nothing in it reaches outside."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.cards import TextCard
from core.events import CommandAnswered, Reply
from modules.sandbox.backends import selftest
from modules.sandbox.home import usage
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.home.usage import measure
from modules.sandbox.sandbox import Limits, Program, Sandbox
from modules.sandbox.types import MEBIBYTE
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.sandbox.sandbox_home import (
    QUICK,
    ROOT,
    SandboxHome,
    run_to_end,
    wait_until,
)
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import UserError
from utils.waiting import Stop

GROW = "mkdir -p ~/.cache/{name} && head -c {size} /dev/urandom > ~/.cache/{name}/file"


@pytest.fixture(params=["A", "C"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    return str(request.param)


def bash(sandbox: Sandbox, command: str) -> str:
    return run_to_end(sandbox, Program("bash", command)).output


class TestItStays:
    @pytest.mark.usefixtures("tier")
    def test_what_a_call_keeps_the_next_finds(self, sandbox_home: SandboxHome) -> None:
        sandbox = sandbox_home.sandbox()
        assert (
            bash(sandbox, "umask 0; echo token > ~/.npmrc; chmod 0777 ~; mkdir -p ~/.cache/x") == ""
        )
        look = "import os\nprint(sorted(os.listdir(os.path.expanduser('~'))))"
        for _ in range(2):  # the second is a warm one
            output = run_to_end(sandbox, Program("python", look)).output
            assert output == "['.cache', '.npmrc']\n"
            assert wait_until(lambda: sandbox._warm._execution is not None)
        kept = sandbox_home.program_home.folder
        assert (kept / ".npmrc").read_text() == "token\n"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o700
        assert sorted(path.name for path in sandbox_home.home.iterdir()) == [
            ".ssh",
            "plain",
            "work",
        ]

    @pytest.mark.usefixtures("tier")
    def test_another_project_does_not_see_it(self, sandbox_home: SandboxHome) -> None:
        bash(sandbox_home.sandbox(), "echo CANARY > ~/token")
        kept = sandbox_home.program_home.folder
        assert (kept / "token").exists()
        other = Sandbox(
            sandbox_home.plain,
            hidden=[sandbox_home.data],
            cache_folder=sandbox_home.data,
            home=ProgramHome(sandbox_home.data / "other", max_size=10**9),
        )
        told = bash(other, f"ls -A ~; cat {kept}/token; echo x > {kept}/planted")
        assert "CANARY" not in told
        assert os.listdir(kept) == ["token"]  # noqa: PTH208 - names alone

    def test_tools_are_told_of_it(self, sandbox_home: SandboxHome, tier: str) -> None:
        sandbox = sandbox_home.sandbox()
        told = dict(line.split("=", 1) for line in bash(sandbox, "env").splitlines())
        home = "/run/home" if tier == "A" else str(sandbox_home.program_home.folder)
        assert told["HOME"] == home
        assert told["PATH"].endswith(f":{home}/.local/bin")
        java = {"GRADLE_USER_HOME": f"{home}/.gradle", "MAVEN_OPTS": f"-Duser.home={home}"}
        assert {name: told.get(name) for name in java} == (
            java if tier == "C" else dict.fromkeys(java)
        )
        if tier == "A":
            assert bash(sandbox, "getent passwd $(id -u) | cut -d: -f6") == f"{home}\n"

    @pytest.mark.usefixtures("tier")
    def test_with_a_size_of_0_each_call_finds_an_empty_one(self, sandbox_home: SandboxHome) -> None:
        sandbox_home.program_home = ProgramHome(sandbox_home.data / "none", max_size=0)
        sandbox = sandbox_home.sandbox()
        assert bash(sandbox, "ls -A ~; echo x > ~/x; cat ~/x") == "x\n"
        assert bash(sandbox, "ls -A ~") == ""
        assert not (sandbox_home.data / "none").exists()

    @pytest.mark.usefixtures("tier")
    def test_where_it_cannot_be_made_programs_run_all_the_same(
        self, sandbox_home: SandboxHome
    ) -> None:
        missing = sandbox_home.data / "missing" / "home"
        sandbox_home.program_home = ProgramHome(missing, max_size=10**9)
        assert bash(sandbox_home.sandbox(), "echo x > ~/x; cat ~/x") == "x\n"
        outside = sandbox_home.home / "outside"
        outside.mkdir()
        link = sandbox_home.data / "link"
        link.symlink_to(outside)
        sandbox_home.program_home = ProgramHome(link, max_size=10**9)
        assert bash(sandbox_home.sandbox(), "echo x > ~/x; cat ~/x") == "x\n"
        assert list(outside.iterdir()) == []

    def test_data_inside_the_project_keep_it_too(
        self, sandbox_home: SandboxHome, tier: str
    ) -> None:
        data = sandbox_home.project / "data"
        data.mkdir()
        home = ProgramHome(data / "home", max_size=10**9)
        sandbox = Sandbox(sandbox_home.project, hidden=[data], cache_folder=data, home=home)
        assert bash(sandbox, "echo x > ~/x") == ""
        assert bash(sandbox, "cat ~/x") == "x\n"
        if tier == "A":
            assert bash(sandbox, "ls -A data") == ""

    @pytest.mark.usefixtures("tier")
    def test_the_limit_of_the_disk_holds_in_it(self, sandbox_home: SandboxHome) -> None:
        limits = Limits(seconds=120, disk_growth=20 * MEBIBYTE)
        code = "for n in 1 2 3 4 5; do head -c 9000000 /dev/urandom > ~/$n; done; sleep 100"
        result = run_to_end(sandbox_home.sandbox(), Program("bash", code), limits)
        assert result.exit_reason == "disk"

    def test_undo_leaves_it_alone(self, tmp_path: Path) -> None:
        call = call_reply("run_command", id="c1", command="echo a > a.txt; echo b > ~/b")
        with assembled_terminal(tmp_path, call, text_reply("ok")) as made:
            run_turn(made.terminal, "hi")
            home = made.data.program_home
            assert ((made.root / "a.txt").exists(), (home / "b").exists()) == (True, True)
            answer(made, "/undo")
            assert ((made.root / "a.txt").exists(), (home / "b").exists()) == (False, True)


def answer(made: AssembledTerminal, line: str) -> str:
    """Return what the command *line* answers, its title and its text."""
    events = run_turn(made.terminal, line)
    answered = events[-1]
    assert isinstance(answered, CommandAnswered)
    card = answered.card
    return f"{card.title} {card.body}" if isinstance(card, TextCard) else ""


def fill_with_traps(home: Path, outside: Path) -> None:
    """Put into *home* what a hostile program may leave there."""
    (home / "link").symlink_to(outside)
    (home / ".cache").symlink_to(outside)
    (home / "loop").symlink_to("loop")
    (home / "absolute").symlink_to("/")
    os.mkfifo(home / "fifo")
    os.link(outside / "canary", home / "same file")
    (home / "setuid").write_bytes(b"x")
    (home / "setuid").chmod(0o6777)
    with (home / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    (home / "locked" / "inner").mkdir(parents=True)
    (home / "locked" / "inner" / "file").touch()
    (home / "locked" / "link").symlink_to(outside)
    (home / "locked" / "inner").chmod(0)
    (home / "locked").chmod(0)
    (home / os.fsdecode(b"-rf \xff\n\x1b[31m")).touch()
    before = Path.cwd()
    os.chdir(home)
    for _ in range(10_000):
        os.mkdir("d")  # noqa: PTH102 - pathlib takes three times as long
        os.chdir("d")
    os.chdir(before)


class TestCleaning:
    def test_the_command_empties_it_and_says_how_much(self, tmp_path: Path) -> None:
        call = call_reply("run_command", id="c1", command=GROW.format(name="pip", size=3_000_000))
        with assembled_terminal(tmp_path, call, text_reply("ok")) as made:
            assert answer(made, "/clean") == "The programs' home folder was already empty. "
            run_turn(made.terminal, "hi")
            home = made.data.program_home
            assert (home / ".cache/pip/file").exists()
            assert re.search(r"Freed 3(\.\d)? MB, 2 files\.", answer(made, "/clean"))
            assert list(home.iterdir()) == []
            assert not list(home.parent.glob("home-removed-*"))
            assert answer(made, "/clean") == "The programs' home folder was already empty. "

    def test_a_word_behind_the_command_is_an_error_and_empties_nothing(
        self, tmp_path: Path
    ) -> None:
        with assembled_terminal(tmp_path) as made:
            kept = made.data.program_home / "kept"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.touch()
            (answered,) = run_turn(made.terminal, "/clean now")
            assert isinstance(answered, CommandAnswered)
            assert not answered.ok
            assert kept.exists()

    def test_traps_go_and_lead_nowhere(self, sandbox_home: SandboxHome) -> None:
        outside = sandbox_home.home / "outside"
        outside.mkdir()
        (outside / "canary").write_text("here")
        (outside / "canary").chmod(0o640)
        home = sandbox_home.program_home
        home.ready()
        fill_with_traps(home.folder, outside)
        home.folder.chmod(0)
        freed = home.clean()
        assert not freed.is_measured
        assert freed.size < 100_000_000
        assert list(home.folder.iterdir()) == []
        assert not list(home.folder.parent.glob("home-removed-*"))
        assert (outside / "canary").read_text() == "here"
        assert stat.S_IMODE((outside / "canary").stat().st_mode) == 0o640

    def test_a_program_that_runs_is_not_pulled_away_from(self, sandbox_home: SandboxHome) -> None:
        run = sandbox_home.sandbox().run(
            Program("bash", "echo x > ~/x; echo up; sleep 300"), QUICK, Stop()
        )
        assert next(run) == "up\n"
        of_another = ProgramHome(sandbox_home.program_home.folder, max_size=1)
        with pytest.raises(UserError, match="running"):
            of_another.clean()
        of_another.make_room()
        assert (of_another.folder / "x").exists()
        run.close()
        assert of_another.clean().files == 1

    @pytest.mark.usefixtures("tier")
    def test_a_waiting_python_does_not_write_to_the_old_one(
        self, sandbox_home: SandboxHome
    ) -> None:
        sandbox = sandbox_home.sandbox()
        write = "import os\nopen(os.path.expanduser('~/x'), 'a').write('x')"
        for _ in range(2):
            run_to_end(sandbox, Program("python", write))
            assert wait_until(lambda: sandbox._warm._execution is not None)
            ProgramHome(sandbox_home.program_home.folder, max_size=10**9).clean()
        run_to_end(sandbox, Program("python", write))
        assert (sandbox_home.program_home.folder / "x").read_text() == "x"

    def test_what_keeps_it_from_being_emptied_is_told(self, sandbox_home: SandboxHome) -> None:
        missing = ProgramHome(sandbox_home.data / "missing" / "home", max_size=1)
        with pytest.raises(UserError, match="Cannot empty .*: No such file"):
            missing.clean()

    def test_a_kill_in_the_middle_leaves_nothing_for_good(self, sandbox_home: SandboxHome) -> None:
        home = sandbox_home.program_home
        ready = home.ready()
        assert ready
        (ready / "folder").mkdir()
        (ready / "folder" / "file").touch()
        code = (
            "import os, sys, signal\nfrom pathlib import Path\n"
            "from modules.sandbox.home import program_home\n"
            "program_home.remove_scratch = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
            "program_home.ProgramHome(Path(sys.argv[1]), max_size=10**9).clean()\n"
        )
        killed = subprocess.run([sys.executable, "-c", code, str(ready)], cwd=ROOT, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert list(ready.iterdir()) == []
        assert len(list(ready.parent.glob("home-removed-*"))) == 1
        bash(sandbox_home.sandbox(), "echo new > ~/new")
        home.make_room()
        assert not list(ready.parent.glob("home-removed-*"))
        assert (ready / "new").exists()


class TestItsSize:
    def test_the_oldest_caches_go_first_and_settings_stay(self, sandbox_home: SandboxHome) -> None:
        home = ProgramHome(sandbox_home.data / "project" / "home", max_size=4_000_000)
        sandbox_home.program_home = home
        sandbox = sandbox_home.sandbox()
        bash(sandbox, "echo mine > ~/.npmrc")
        for name in ("oldest", "older", "newest"):
            bash(sandbox, GROW.format(name=name, size=1_400_000))
        assert wait_until(lambda: home._thread is None)
        home.make_room()
        assert sorted(path.name for path in (home.folder / ".cache").iterdir()) == [
            "newest",
            "older",
        ]
        assert (home.folder / ".npmrc").read_text() == "mine\n"
        warned = " ".join(str(warning) for warning in home.warnings())
        assert "Removed: .cache/oldest." in warned
        assert not home.warnings()

    def test_a_run_that_made_it_too_large_has_it_made_smaller(
        self, sandbox_home: SandboxHome
    ) -> None:
        home = ProgramHome(sandbox_home.data / "project" / "home", max_size=1_000_000)
        sandbox_home.program_home = home
        bash(sandbox_home.sandbox(), GROW.format(name="big", size=2_000_000))
        assert wait_until(lambda: not (home.folder / ".cache/big").exists())
        assert wait_until(lambda: home._thread is None)
        assert home.usage
        assert home.usage.fits(1_000_000, 100)

    def test_it_does_not_grow_on_while_a_program_keeps_it_from_being_made_smaller(
        self, sandbox_home: SandboxHome
    ) -> None:
        home = ProgramHome(sandbox_home.data / "project" / "home", max_size=1_000_000)
        sandbox_home.program_home = home
        sandbox = sandbox_home.sandbox()
        long = sandbox.run(Program("bash", "echo up; sleep 300"), QUICK, Stop())
        assert next(long) == "up\n"
        bash(sandbox, GROW.format(name="big", size=2_000_000))
        assert wait_until(lambda: home.is_withheld)
        (told,) = home.warnings()
        assert "while a program runs on" in str(told)
        held_back = run_to_end(sandbox, Program("bash", "ls -A ~; echo more > ~/more"))
        assert held_back.output == ""
        assert "an empty one" in str(held_back.notes)
        assert not (home.folder / "more").exists()
        long.close()
        home.make_room()
        assert bash(sandbox, "echo more > ~/more; cat ~/more") == "more\n"
        assert (home.folder / "more").exists()

    def test_too_many_files_are_too_much_as_well(self, sandbox_home: SandboxHome) -> None:
        home = ProgramHome(sandbox_home.data / "project" / "home", max_size=10**9, max_files=50)
        ready = home.ready()
        assert ready
        for name, count in (("few", 10), ("many", 45)):
            (ready / name).mkdir()
            for number in range(count):
                (ready / name / str(number)).touch()
        os.utime(ready / "many")
        home.make_room()
        assert measure(ready, 1_000).files <= 50

    @pytest.mark.parametrize("files", [30, 3_000])
    def test_traps_are_no_way_around_it(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, files: int
    ) -> None:
        monkeypatch.setattr(usage, "_MAX_ENTRIES", 1_000)
        outside = sandbox_home.home / "outside"
        outside.mkdir()
        (outside / "canary").write_text("here")
        home = ProgramHome(sandbox_home.data / "project" / "home", max_size=10**9)
        ready = home.ready()
        assert ready
        fill_with_traps(ready, outside)
        for number in range(files):
            (ready / f"{number}").touch()
        home.make_room()
        left = {path.name for path in ready.iterdir()}
        assert not left & {"d"}
        assert ("fifo" in left) == (files < 1_000)
        assert (outside / "canary").read_text() == "here"
        assert home.usage
        assert home.usage.is_measured

    def test_nothing_is_done_while_it_is_looked_at_again_and_again(
        self, sandbox_home: SandboxHome
    ) -> None:
        home = sandbox_home.program_home
        home.ready()
        home.tidy_later()
        assert wait_until(lambda: home._thread is None)
        (home.folder / "x").touch()
        home.tidy_later()  # too early
        assert home.usage
        assert home.usage.files == 0


PLANTED = """
import os, site
os.makedirs(site.getusersitepackages(), exist_ok=True)
line = "import os; open({mark!r}, 'a').write(f'{{os.getpid()}} ')"
open(site.getusersitepackages() + "/planted.pth", "w").write(line + "\\n")
open(site.getusersitepackages() + "/usercustomize.py", "w").write("import planted_module")
open(site.getusersitepackages() + "/planted_module.py", "w").write("SEEN = 1")
"""


class TestNothingOfItIsTrusted:
    @pytest.mark.usefixtures("tier")
    def test_a_waiting_python_runs_nothing_of_it(self, sandbox_home: SandboxHome) -> None:
        sandbox = sandbox_home.sandbox()
        mark = sandbox_home.project / "mark"
        run_to_end(sandbox, Program("python", PLANTED.format(mark=str(mark))))
        look = "import sys, planted_module\nprint(sys.path)"
        assert wait_until(lambda: sandbox._warm._execution is not None)
        assert not mark.exists()
        warm = run_to_end(sandbox, Program("python", look)).output
        assert len(mark.read_text().split()) == 1
        sandbox._warm.discard()
        assert run_to_end(sandbox, Program("python", look)).output == warm
        assert warm.startswith("[")

    def test_our_git_obeys_nothing_of_it(self, tmp_path: Path) -> None:
        canary = tmp_path / "canary"
        program = f"touch {canary}"
        root = tmp_path / "project"
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        for name, value in (("user.name", "me"), ("user.email", "me@example.org")):
            subprocess.run(["git", "-C", str(root), "config", name, value], check=True)
        settings = (
            f"git config --global core.fsmonitor '{program}'; "
            f"git config --global core.hooksPath ~/hooks; git config --global user.name evil; "
            f"mkdir ~/hooks; printf '#!/bin/sh\\n{program}\\n' > ~/hooks/pre-commit; "
            "chmod +x ~/hooks/pre-commit; git config --global core.editor false; echo x > a.txt"
        )
        replies = [
            call_reply("run_command", id="c1", command=settings),
            call_reply("git_commit", id="c2", message="one"),
            text_reply("ok"),
        ]
        with assembled_terminal(tmp_path, *replies, root=root) as made:
            run_turn(made.terminal, "hi", Reply(yes=True))
            assert "fsmonitor" in (made.data.program_home / ".gitconfig").read_text()
        logged = subprocess.run(
            ["git", "-C", str(root), "log", "--format=%s %an"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert logged.stdout == "one me\n"
        assert not canary.exists()

    @pytest.mark.usefixtures("tier")
    def test_links_in_it_lead_to_nothing_outside(self, sandbox_home: SandboxHome) -> None:
        secret = sandbox_home.secret
        sandbox = sandbox_home.sandbox()
        bash(
            sandbox, f"ln -s {secret.parent} ~/.ssh; ln -s {sandbox_home.data} ~/data; ln -s / ~/up"
        )
        told = bash(
            sandbox, "cat ~/.ssh/* ~/data/* ~/data/*/*; echo x > ~/.ssh/x; ls ~/up/root/.ssh"
        )
        assert "CANARY" not in told
        assert [path.name for path in secret.parent.iterdir()] == [secret.name]
