from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.sandbox import Limits, Program, Report, Sandbox
from modules.sandbox.types import MEBIBYTE
from tests.modules.sandbox.sandbox_home import (
    SECRET,
    SandboxHome,
    children_of,
    is_alive,
    run_to_end,
    wait_until,
)
from utils.i18n import UserError
from utils.waiting import Stop

DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {close}
        for _ in range(6_000):
            open("heartbeat", "a").write("x")
            time.sleep(0.05)
    os._exit(0)
"""


def is_beating(sandbox_home: SandboxHome) -> bool:
    """Return whether something still writes to the heartbeat file."""
    file = sandbox_home.project / "heartbeat"
    before = file.stat().st_size if file.exists() else 0
    time.sleep(0.3)
    return file.exists() and file.stat().st_size != before


class TestRunning:
    def test_output_and_exit_code_come_back(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.bash("echo out; echo err >&2; exit 3")
        assert (result.output, result.exit_code, result.exit_reason) == ("out\nerr\n", 3, "exited")

    def test_output_is_yielded_as_it_appears(self, sandbox_home: SandboxHome) -> None:
        run = sandbox_home.sandbox().run(Program("bash", "echo 1; sleep 30"), Limits(), Stop())
        assert next(run) == "1\n"
        run.close()

    def test_a_last_expression_is_shown_as_in_a_notebook(self, sandbox_home: SandboxHome) -> None:
        assert sandbox_home.python("x = 6\nx * 7").output == "42\n"
        assert sandbox_home.python("None").output == ""

    def test_a_traceback_shows_the_lines_of_the_code_and_no_others(
        self, sandbox_home: SandboxHome
    ) -> None:
        result = sandbox_home.python("def f():\n    return 1 / 0\n\nf()")
        assert result.exit_code == 1
        assert result.output.splitlines()[:5] == [
            "Traceback (most recent call last):",
            '  File "[code]", line 4, in <module>',
            "    f()",
            '  File "[code]", line 2, in f',
            "    return 1 / 0",
        ]

    def test_a_syntax_error_is_shown_without_a_traceback(self, sandbox_home: SandboxHome) -> None:
        assert sandbox_home.python("print('a'").output.startswith('  File "[code]", line 1\n')

    def test_code_is_main_and_its_classes_can_be_pickled(self, sandbox_home: SandboxHome) -> None:
        code = "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A)), __name__"
        assert sandbox_home.python(code).output == "(<class '__main__.A'>, '__main__')\n"

    def test_standard_input_is_empty(self, sandbox_home: SandboxHome) -> None:
        assert sandbox_home.python("import sys\nsys.stdin.read()").output == "''\n"
        assert sandbox_home.bash("cat").output == ""

    def test_the_programs_that_people_use_work(self, sandbox_home: SandboxHome) -> None:
        code = (
            "import multiprocessing as m, subprocess, tempfile, sqlite3, ssl, asyncio\n"
            "with m.get_context('fork').Pool(2) as p: p.map(abs, [1, -2])\n"
            "tempfile.NamedTemporaryFile().write(b'x')\n"
            "subprocess.check_output(['git', 'status', '--short'], text=True)"
        )
        assert sandbox_home.python(code).output == "''\n"

    def test_a_server_and_its_client_in_one_call_reach_each_other(
        self, sandbox_home: SandboxHome
    ) -> None:
        code = (
            "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
            "bool(socket.create_connection(s.getsockname(), 5))"
        )
        assert sandbox_home.python(code).output == "True\n"

    def test_no_file_is_made_for_the_code(self, sandbox_home: SandboxHome) -> None:
        before = sorted(sandbox_home.project.rglob("*"))
        sandbox_home.python("def f(): pass")
        sandbox_home.bash("true")
        assert sorted(sandbox_home.project.rglob("*")) == before

    def test_code_is_not_in_any_command_line(self, sandbox_home: SandboxHome) -> None:
        show = "cat /proc/[0-9]*/cmdline"
        assert "needle-42" not in sandbox_home.bash(f"{show}; : needle-42").output.replace(show, "")

    def test_long_and_odd_code_arrives_whole(self, sandbox_home: SandboxHome) -> None:
        text = "é漢'\"\\$`" * 40_000
        assert sandbox_home.python(f"len({text!r})").output == f"{len(text)}\n"
        assert sandbox_home.bash(f": '{'x' * 300_000}'\necho $#").output == "0\n"


class TestTheEnd:
    def test_a_daemon_ends_with_its_call(self, sandbox_home: SandboxHome) -> None:
        assert (
            sandbox_home.python(DAEMON.format(close="os.closerange(0, 3)")).exit_reason == "exited"
        )
        assert not is_beating(sandbox_home)

    def test_a_daemon_that_holds_the_output_does_not_hold_the_call(
        self, sandbox_home: SandboxHome
    ) -> None:
        result = sandbox_home.python(DAEMON.format(close=""), Limits(seconds=120))
        assert (result.exit_reason, result.exit_code) == ("exited", 0)

    def test_stop_kills_everything_however_it_hides(self, sandbox_home: SandboxHome) -> None:
        stop = Stop()
        code = DAEMON.format(close="pass") + (
            "import signal\nfor n in range(1, 64):\n"
            "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
            "os.write(1, b'up')\ntime.sleep(60)"
        )
        run = sandbox_home.sandbox().run(Program("python", code), Limits(), stop)
        assert next(run) == "up"
        stop.set()
        with pytest.raises(StopIteration) as end:
            next(run)
        assert end.value.value.exit_reason == "stopped"
        assert not is_beating(sandbox_home)

    def test_a_stop_before_the_start_is_felt(self, sandbox_home: SandboxHome) -> None:
        stop = Stop()
        stop.set()
        run = sandbox_home.sandbox().run(Program("bash", "sleep 60"), Limits(), stop)
        with pytest.raises(StopIteration) as end:
            next(run)
        assert end.value.value.exit_reason == "stopped"

    def test_a_call_that_is_dropped_is_killed(self, sandbox_home: SandboxHome) -> None:
        run = sandbox_home.sandbox().run(
            Program("python", DAEMON.format(close="")), Limits(), Stop()
        )
        with pytest.raises(StopIteration):
            next(run)
        run = sandbox_home.sandbox().run(Program("bash", "echo; sleep 60"), Limits(), Stop())
        next(run)
        run.close()
        assert not is_beating(sandbox_home)

    def test_a_call_outlives_the_thread_that_began_it(self, sandbox_home: SandboxHome) -> None:
        run = sandbox_home.sandbox().run(
            Program("bash", "echo 1; sleep 0.5; echo 2"), Limits(), Stop()
        )
        first: list[str] = []
        thread = threading.Thread(target=lambda: first.append(next(run)))
        thread.start()
        thread.join()
        assert first + list(run) == ["1\n", "2\n"]

    def test_it_ends_with_the_agent_whatever_kills_that(self, sandbox_home: SandboxHome) -> None:
        agent = (
            "import sys; from pathlib import Path\n"
            "from tests.modules.sandbox.sandbox_home import *\n"
            "data, project, code = sys.argv[1:]\n"
            "sandbox = Sandbox(Path(project), cache_folder=Path(data))\n"
            "for text in sandbox.run(Program('python', code), QUICK, Stop()):\n"
            "    print('up', flush=True)"
        )
        code = DAEMON.format(close="print('up')") + "time.sleep(60)"
        process = subprocess.Popen(
            [sys.executable, "-c", agent, str(sandbox_home.data), str(sandbox_home.project), code],
            stdout=subprocess.PIPE,
        )
        with process:
            assert process.stdout
            process.stdout.readline()
            below = children_of(process.pid)
            process.kill()
        assert below
        assert wait_until(lambda: not any(map(is_alive, below)))
        assert not is_beating(sandbox_home)

    def test_nothing_runs_when_the_agent_is_killed_before_the_walls_stand(
        self, sandbox_home: SandboxHome
    ) -> None:
        """bubblewrap asks to die with its parent only once it runs, and may be too late."""
        program, flag = sandbox_home.home.parent / "bwrap", sandbox_home.home / "slow"
        program.write_text(
            f"#!/bin/sh\nif [ -e {flag} ]; then\n"
            f"echo $$ > {flag}; while [ -e /proc/$PPID/exe ]; do sleep 0.01; done; fi\n"
            'exec /usr/bin/bwrap "$@"\n'
        )
        program.chmod(0o755)
        agent = (
            "import sys; from pathlib import Path\n"
            "from modules.sandbox.backends import selftest\n"
            "from tests.modules.sandbox.sandbox_home import *\n"
            "selftest.BWRAP_PATHS = (Path(sys.argv[3]),)\n"
            "sandbox = Sandbox(Path(sys.argv[2]), cache_folder=Path(sys.argv[1]))\n"
            "sandbox.report()\n"
            "Path(sys.argv[4]).touch()\n"
            "print('up', flush=True)\n"
            "list(sandbox.run(Program('bash', 'touch ran'), QUICK, Stop()))"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", agent, sandbox_home.data, sandbox_home.project, program, flag],
            stdout=subprocess.PIPE,
        )
        with process:
            assert process.stdout
            process.stdout.readline()
            assert wait_until(lambda: flag.read_text() != "")
            process.kill()
        late = int(flag.read_text())
        assert wait_until(lambda: not is_alive(late))
        assert not (sandbox_home.project / "ran").exists()
        with suppress(ProcessLookupError):  # bubblewrap's own, which would wait for ever
            os.killpg(late, signal.SIGKILL)


class TestLimits:
    def test_the_tree_is_seen_where_the_kernel_lists_no_children(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("modules.sandbox.limits.watchdog._HAS_CHILDREN", False)
        code = "import os, time\nfor n in range(40):\n    if not os.fork(): time.sleep(9)\n"
        code += "time.sleep(9)"
        assert sandbox_home.python(code, Limits(processes=20)).exit_reason in (
            "processes",
            "exited",
        )

    def test_long_output_is_whole_between_its_ends(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.bash("seq 100000")
        assert result.whole == "".join(f"{n}\n" for n in range(1, 100001))
        assert len(result.output) < 210_000 < len(result.whole)

    def test_time(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.bash("trap '' TERM; echo a; sleep 60", Limits(seconds=5))
        assert (result.exit_reason, result.exit_code, result.output) == ("timed out", None, "a\n")

    def test_memory_of_all_processes_together(self, sandbox_home: SandboxHome) -> None:
        code = (
            "import os, time\nfor n in range(4):\n"
            "    if os.fork() == 0:\n        b = bytearray(60 << 20)\n        time.sleep(20)\n"
            "os.wait()"
        )
        assert sandbox_home.python(code, Limits(memory=150 * MEBIBYTE)).exit_reason == "memory"

    def test_memory_of_one_process(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.python("bytearray(400 << 20)", Limits(memory=200 * MEBIBYTE))
        assert "MemoryError" in result.output

    def test_processes(self, sandbox_home: SandboxHome) -> None:
        bomb = "bomb() { bomb | bomb & }; bomb; sleep 20"
        result = sandbox_home.bash(bomb, Limits(processes=40))
        assert result.exit_reason in ("processes", "exited")
        assert sandbox_home.bash("echo fine").output == "fine\n"

    def test_output_is_kept_by_its_ends(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.bash("seq 1 100000", Limits(output=1000))
        assert result.head.startswith("1\n2\n")
        assert result.tail.endswith("99999\n100000\n")
        assert len(result.head) + len(result.tail) + result.left_out == 588_895

    def test_endless_output(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.bash("yes")
        assert result.exit_reason == "output"
        assert len(result.output) < 201_000

    def test_a_file(self, sandbox_home: SandboxHome) -> None:
        result = sandbox_home.bash("head -c 2000000 /dev/zero > f", Limits(file_size=1_000_000))
        assert result.exit_code == 128 + 25
        assert (sandbox_home.project / "f").stat().st_size == 1_000_000

    def test_the_disk(self, sandbox_home: SandboxHome) -> None:
        code = (
            "import time\nfor n in range(60):\n"
            "    with open(f'f{n}', 'wb') as f: f.write(bytes(1 << 20))\ntime.sleep(20)"
        )
        assert sandbox_home.python(code, Limits(disk_growth=20 * MEBIBYTE)).exit_reason == "disk"

    def test_no_core_is_left(self, sandbox_home: SandboxHome) -> None:
        assert sandbox_home.bash("kill -SEGV $$").exit_code == 128 + 11
        assert [path.name for path in sandbox_home.project.iterdir()] == [".git"]


class TestTheProject:
    @pytest.mark.parametrize("name", ["a b", "a\nb", "文件夹", "-rf", "a:b", "$(x)", "é\udcff"])
    def test_any_name_will_do(self, sandbox_home: SandboxHome, name: str) -> None:
        project = sandbox_home.home / name
        project.mkdir()
        assert sandbox_home.python("open('f', 'w').write('x')", project=project).exit_code == 0
        assert sandbox_home.bash("cat f", project=project).output == "x"

    def test_home_itself_is_refused(self, sandbox_home: SandboxHome) -> None:
        for folder in (sandbox_home.home, sandbox_home.home.parent):
            with pytest.raises(UserError, match="home"):
                sandbox_home.bash("true", project=folder)

    @pytest.mark.parametrize("tier", ["A", "C"])
    def test_one_in_shared_memory_is_as_good_as_any(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, tier: str
    ) -> None:
        if tier == "C":
            monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            project, other = Path(folder, "project"), Path(folder, "other.txt")
            project.mkdir()
            other.write_text("other")
            assert sandbox_home.sandbox(project).report().tier == tier
            result = sandbox_home.bash(f"echo mine > a.txt; cat a.txt {other}", project=project)
            assert result.output.startswith("mine\ncat: ")
            assert (project / "a.txt").read_text() == "mine\n"

    def test_the_system_is_refused(self, sandbox_home: SandboxHome) -> None:
        for folder in ("/", "/usr", "/etc/ssl", "/tmp", "/dev/shm", "/dev"):
            with pytest.raises(UserError):
                sandbox_home.bash("true", project=Path(folder))

    def test_a_missing_folder_is_said(self, sandbox_home: SandboxHome) -> None:
        with pytest.raises(UserError, match="missing"):
            sandbox_home.bash("true", project=sandbox_home.home / "no")

    def test_our_data_inside_the_project_is_hidden(self, sandbox_home: SandboxHome) -> None:
        inside = sandbox_home.project / "data"
        inside.mkdir()
        (inside / "kept").write_text(SECRET)
        sandbox = Sandbox(sandbox_home.project, hidden=[inside], cache_folder=sandbox_home.data)
        tries = "cat data/kept; echo x > data/new; mv data other; rm -rf data; ls -A data"
        result = run_to_end(sandbox, Program("bash", f"{{ {tries}; }} 2>/dev/null"))
        assert result.output == ""
        assert [path.name for path in inside.iterdir()] == ["kept"]

    def test_the_folders_above_our_data_stay_where_they_are(
        self, sandbox_home: SandboxHome
    ) -> None:
        inside = sandbox_home.project / "code" / "onefold" / "data"
        inside.mkdir(parents=True)
        (inside / "kept").write_text(SECRET)
        sandbox = Sandbox(sandbox_home.project, hidden=[inside], cache_folder=sandbox_home.data)
        tries = "mv code other; mv code/onefold code/other; rm -rf code; find . -name kept"
        result = run_to_end(sandbox, Program("bash", f"{{ {tries}; }} 2>/dev/null"))
        assert result.output == ""
        assert (inside / "kept").read_text() == SECRET

    def test_what_is_no_repository_cannot_be_planted_and_leaves_no_trace(
        self, sandbox_home: SandboxHome
    ) -> None:
        tries = "mkdir .git; rmdir .git; mv .git x; echo > .git; mkdir .git/hooks"
        result = sandbox_home.bash(f"{{ {tries}; }} 2>/dev/null", project=sandbox_home.plain)
        assert result.output == ""
        assert list(sandbox_home.plain.iterdir()) == []

    def test_the_trace_stays_while_another_call_needs_it(self, sandbox_home: SandboxHome) -> None:
        run = sandbox_home.sandbox(sandbox_home.plain).run(
            Program("bash", "echo; sleep 1; mkdir .git/x; ls -A .git"), Limits(), Stop()
        )
        next(run)
        sandbox_home.bash("true", project=sandbox_home.plain)
        assert "".join(run) == "config\nx\n"
        assert list(sandbox_home.plain.iterdir()) == []

    def test_what_a_crash_left_is_taken_away(self, sandbox_home: SandboxHome) -> None:
        sandbox_home.bash("true", project=sandbox_home.plain)
        (record,) = (sandbox_home.data / "sandbox").glob("mounts-*")
        record.write_text(".git\n")
        (sandbox_home.plain / ".git").mkdir()
        sandbox_home.bash("true", project=sandbox_home.plain)
        assert list(sandbox_home.plain.iterdir()) == []

    def test_an_empty_git_folder_of_the_persons_stays(self, sandbox_home: SandboxHome) -> None:
        (sandbox_home.plain / ".git").mkdir()
        sandbox_home.bash("true", project=sandbox_home.plain)
        assert [path.name for path in sandbox_home.plain.iterdir()] == [".git"]

    def test_a_linked_git_is_refused(self, sandbox_home: SandboxHome) -> None:
        (sandbox_home.plain / ".git").symlink_to(sandbox_home.project / ".git")
        with pytest.raises(UserError, match="symbolic link"):
            sandbox_home.bash("true", project=sandbox_home.plain)

    def test_git_works_in_a_worktree_and_cannot_be_changed(self, sandbox_home: SandboxHome) -> None:
        tree = sandbox_home.home / "tree"
        git = ["git", "-C", str(sandbox_home.project), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
        result = sandbox_home.bash("git log --format=%s; echo x >> .git", project=tree)
        assert result.output.startswith("first\n")
        assert "Read-only" in result.output

    def test_git_tells_chinese_names_as_they_are(self, sandbox_home: SandboxHome) -> None:
        (sandbox_home.project / "文档.txt").write_text("x")
        assert "?? 文档.txt" in sandbox_home.bash("git status --porcelain").output

    def test_a_git_file_that_lies_shows_nothing(self, sandbox_home: SandboxHome) -> None:
        ssh = sandbox_home.secret.parent
        (sandbox_home.plain / ".git").write_text(f"gitdir: {ssh}\n")
        assert sandbox_home.bash(f"ls {ssh}", project=sandbox_home.plain).exit_code == 2


class TestThePythonOfTheProject:
    @pytest.fixture
    def venv(self, sandbox_home: SandboxHome) -> Path:
        folder = sandbox_home.project / ".venv"
        make = ["/usr/bin/python3", "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(make, check=True)
        return folder

    def test_its_environment_is_used(self, sandbox_home: SandboxHome, venv: Path) -> None:
        assert sandbox_home.python("import sys\nsys.prefix").output == f"'{venv}'\n"
        assert sandbox_home.bash("which python").output == f"{venv}/bin/python\n"

    def test_one_that_points_to_secrets_shows_nothing(
        self, sandbox_home: SandboxHome, venv: Path
    ) -> None:
        for name in ("python3", "python"):
            (venv / "bin" / name).unlink()
            (venv / "bin" / name).symlink_to(sandbox_home.secret)
        (venv / "pyvenv.cfg").write_text(f"home = {sandbox_home.secret.parent}\n")
        result = sandbox_home.python(f"open({str(sandbox_home.secret)!r})")
        assert "FileNotFoundError" in result.output
        assert [note.values for note in result.notes] == [{"environment": ".venv"}]

    def test_a_made_up_installation_around_the_home_shows_nothing(
        self, sandbox_home: SandboxHome, venv: Path
    ) -> None:
        for path in ("bin/python3", "lib/python3.11/os.py"):
            (sandbox_home.home / path).parent.mkdir(parents=True)
            (sandbox_home.home / path).touch(mode=0o755)
        (venv / "bin" / "python3").unlink()
        (venv / "bin" / "python3").symlink_to(sandbox_home.home / "bin" / "python3")
        assert (
            "FileNotFoundError" in sandbox_home.python(f"open({str(sandbox_home.secret)!r})").output
        )

    def test_another_installation_is_a_matter_for_the_person(
        self, sandbox_home: SandboxHome
    ) -> None:
        first, second = installation(sandbox_home, "3.98"), installation(sandbox_home, "3.99")
        python = sandbox_home.project / ".venv/bin/python3"
        python.parent.mkdir(parents=True)
        (sandbox_home.project / ".venv/pyvenv.cfg").touch()
        python.symlink_to(first / "bin/python3.98")
        sandbox = sandbox_home.sandbox()
        assert sandbox.unapproved_python() is None
        run_to_end(sandbox, Program("bash", f"ln -sf {second}/bin/python3.99 {python}"))
        assert sandbox.unapproved_python() == second
        assert sandbox_home.sandbox().unapproved_python() == second
        assert sandbox_home.sandbox(sandbox_home.plain).unapproved_python() is None
        run_to_end(sandbox, Program("bash", "true"))
        assert sandbox_home.sandbox().unapproved_python() is None
        second.rename(second.parent / "moved")
        installation(sandbox_home, "3.99")
        assert sandbox.unapproved_python() == second

    def test_the_first_installation_is_too_where_programs_ran_before(
        self, sandbox_home: SandboxHome
    ) -> None:
        prefix = installation(sandbox_home, "3.99")
        sandbox = sandbox_home.sandbox()
        code = (
            "mkdir -p .venv/bin; touch .venv/pyvenv.cfg\n"
            f"ln -s {prefix}/bin/python3.99 .venv/bin/python3"
        )
        run_to_end(sandbox, Program("bash", code))
        assert sandbox.unapproved_python() == prefix

    def test_an_environment_of_the_system_is_nobodys_question(
        self, sandbox_home: SandboxHome, venv: Path
    ) -> None:
        sandbox_home.python("pass")
        (venv / "pyvenv.cfg").write_text("changed = yes\n")
        assert sandbox_home.sandbox().unapproved_python() is None

    def test_an_installation_in_the_home_is_shown_read_only(
        self, sandbox_home: SandboxHome
    ) -> None:
        prefix = installation(sandbox_home, "3.99")
        (prefix.parent / "3").symlink_to("3.99")
        venv = sandbox_home.project / ".venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "pyvenv.cfg").touch()
        (venv / "bin" / "python3").symlink_to(prefix.parent / "3" / "bin" / "python3.99")
        output = sandbox_home.python("pass").output
        assert output.startswith(f"{venv}/bin/python3\n")
        assert "Read-only" in output


class TestTheTier:
    def test_it_is_found_once_and_remembered(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = sandbox_home.sandbox().report()
        assert first.tier in ("A", "B")
        assert first.is_allowed
        monkeypatch.setattr(selftest.SelfTest, "_search", None)
        assert sandbox_home.sandbox().report() == first

    def test_nothing_is_run_without_leave_where_nothing_confines(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_walls(monkeypatch)
        report = sandbox_home.sandbox().report()
        assert (report.tier, report.is_allowed) == ("D", False)
        assert "bubblewrap" in str(report.advice)
        with pytest.raises(UserError, match="allow_unsandboxed"):
            sandbox_home.bash("touch ran")
        assert not (sandbox_home.project / "ran").exists()

    def test_with_leave_it_runs_within_limits(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_walls(monkeypatch)
        sandbox = sandbox_home.sandbox(allow_limits_only=True)
        run = run_to_end(sandbox, Program("python", DAEMON.format(close="pass") + "6 * 7"))
        assert (run.output, run.exit_code) == ("42\n", 0)
        assert not is_beating(sandbox_home)
        slow = run_to_end(sandbox, Program("bash", "setsid sleep 60"), Limits(seconds=1))
        assert slow.exit_reason == "timed out"
        assert SECRET not in run_to_end(sandbox, Program("bash", "env")).output

    def test_where_nothing_confines_a_program_may_remove_the_folders_that_are_watched(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_walls(monkeypatch)
        sandbox = sandbox_home.sandbox(allow_limits_only=True)
        run = run_to_end(sandbox, Program("bash", 'rm -r "$HOME" "$PWD"; sleep 0.3; echo done'))
        assert (run.exit_reason, run.output) == ("exited", "done\n")

    def test_landlock_keeps_secrets_and_the_network(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        sandbox = sandbox_home.sandbox()
        assert sandbox.report().tier == "C"
        code = (
            f"import socket\nfor act in (lambda: open({str(sandbox_home.secret)!r}),\n"
            "            lambda: open('/etc/zz', 'w'), lambda: socket.socket()):\n"
            "    try: print(act())\n    except OSError as error: print(error.errno)\n"
            "open('made', 'w').write('here')"
        )
        assert run_to_end(sandbox, Program("python", code)).output == "13\n13\n97\n4\n"
        assert not list((sandbox_home.data / "sandbox").glob("scratch-*"))

    def test_what_git_obeys_is_put_back_where_it_is_not_protected(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        git = sandbox_home.project / ".git"
        before = (git / "config").read_bytes()
        result = sandbox_home.bash(
            "cd .git; echo x >> config; echo .. > commondir; rm -r hooks; ln -s /tmp hooks"
        )
        assert (git / "config").read_bytes() == before
        assert not (git / "commondir").exists()
        assert not (git / "hooks").is_symlink()
        (note,) = result.notes
        assert str(note).startswith("The run changed what git obeys; put back: .git/commondir")
        assert sandbox_home.bash("true").notes == ()

    def test_what_git_obeys_for_submodules_and_inside_is_put_back_too(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        for name in (".git/modules/one/modules/two", "inner/.git"):
            subprocess.run(["git", "init", "-q", "--bare", sandbox_home.project / name], check=True)
        (sandbox_home.project / ".git/modules/away").mkdir()
        (sandbox_home.project / ".git/modules/away/HEAD").touch()
        sandbox = sandbox_home.sandbox()
        sandbox.protect(["inner/.git"])
        code = (
            "echo x >> .git/modules/one/modules/two/config; echo x > inner/.git/hooks/pre-push\n"
            "cd .git/modules; mv away ..; mkdir -p ../../evil/hooks; touch ../../evil/hooks/kept\n"
            "ln -s ../../evil away"
        )
        notes = [str(note) for note in run_to_end(sandbox, Program("bash", code)).notes]
        assert notes == [
            "The run moved or replaced .git/modules/away, which git obeys; put back.",
            "The run changed what git obeys; put back: .git/modules/one/modules/two/config, "
            "inner/.git/hooks/pre-push",
        ]
        assert not (sandbox_home.project / "inner/.git/hooks/pre-push").exists()
        assert (sandbox_home.project / "evil/hooks/kept").exists()

    @pytest.mark.parametrize(
        "spoil",
        [
            "rm .git/config; mkdir .git/config; cd .git/config",
            "rm -r .git/hooks; mkdir .git/hooks; cd .git/hooks",
            "mkdir .git/modules; cd .git/modules",
        ],
    )
    def test_what_git_obeys_is_put_back_however_deep_it_was_buried(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, spoil: str
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        before = (sandbox_home.project / ".git/config").read_bytes()
        dig = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
        sandbox_home.bash(f'{spoil} && python3 -c "{dig}"')
        assert sandbox_home.bash("echo on").output == "on\n"
        assert (sandbox_home.project / ".git/config").read_bytes() == before
        assert not (sandbox_home.project / ".git/hooks/d").exists()
        remove_scratch(sandbox_home.project / ".git/modules")

    @pytest.mark.parametrize(
        "spoil",
        [
            "chmod 0 .git/hooks .git/config",
            "chmod 0 .git",
            "chmod 0 .git/info/* .git/info",
            "rm -r .git/hooks; touch .git/hooks; chmod 0 .git/hooks",
        ],
    )
    def test_what_git_obeys_is_put_back_however_it_was_locked(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, spoil: str
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        git = sandbox_home.project / ".git"
        hook = git / "hooks" / "pre-commit"
        hook.write_text("mine")
        states = {path: path.stat().st_mode for path in git.rglob("*")}
        sandbox_home.bash(spoil)
        assert sandbox_home.bash("echo on").output == "on\n"
        assert {path: path.stat().st_mode for path in git.rglob("*")} == states
        assert hook.read_text() == "mine"

    @pytest.mark.parametrize(
        "calls",
        [
            ("mv .git g; PLANT g; mv g .git",),
            ("mv .git g; PLANT g", "mv g .git"),
            ("mkdir a; mv .git a/g; PLANT a/g; chmod 0 a", "chmod 700 a; mv a/g .git"),
            ("cp -r .git g", "PLANT g", "mv .git old; mv g .git"),
            ("cp -r .git g; PLANT g; rm -r .git; mv g .git",),
            ("cp -r .git g; rm -r .git", "PLANT g", "mv g .git"),
            ("mv .git old; mkdir .git; mv old .git/old; cp -r .git/old/. .git; PLANT .git",),
            ("mv .git g; PLANT g; ln -s g .git",),
            ("mv .git g; PLANT g; echo gitdir: g > .git",),
            ("cp -r .git g; rm -r .git; PLANT g; ln -s g .git",),
            ("rm -r .git; git init -q; PLANT .git",),
        ],
    )
    @pytest.mark.parametrize("place", ["", "inner"])
    def test_what_git_obeys_is_put_back_whatever_was_moved(
        self,
        sandbox_home: SandboxHome,
        monkeypatch: pytest.MonkeyPatch,
        calls: Sequence[str],
        place: str,
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        folder = sandbox_home.project / place
        subprocess.run(["git", "init", "-q", folder], check=True)
        (folder / ".git/hooks/pre-push").write_text("mine")
        git, sandbox = folder / ".git", sandbox_home.sandbox()
        sandbox.protect(["inner/.git"] if place else [])
        before = obeyed(git)
        plant = "plant() { echo x >> $1/config; echo x > $1/hooks/pre-commit; touch $1/commondir; }"
        for code in calls:
            run_to_end(
                sandbox, Program("bash", f"{plant}; cd ./{place}; {code.replace('PLANT', 'plant')}")
            )
        assert obeyed(git) in (before, {})
        assert not git.is_symlink()

    def test_a_git_that_another_replaced_is_put_back_and_told(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        result = sandbox_home.bash("mv .git old; ln -s old .git")
        assert [str(note) for note in result.notes] == [
            "The run moved or replaced .git, which git obeys; put back."
        ]
        assert (sandbox_home.project / ".git/HEAD").is_file()
        assert (sandbox_home.project / "old").is_symlink()

    def test_a_repository_that_moved_with_its_folder_stays_there_without_what_was_planted(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        subprocess.run(["git", "init", "-q", sandbox_home.project / "inner"], check=True)
        before, sandbox = obeyed(sandbox_home.project / "inner/.git"), sandbox_home.sandbox()
        sandbox.protect(["inner/.git"])
        run_to_end(sandbox, Program("bash", "mv inner moved; echo x >> moved/.git/config"))
        assert obeyed(sandbox_home.project / "moved/.git") == before
        run_to_end(sandbox, Program("bash", "echo x >> moved/.git/config"))
        assert obeyed(sandbox_home.project / "moved/.git") == before

    def test_a_git_inside_that_is_gone_is_told_once_and_the_persons_own_new_one_is_left_alone(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        inner, sandbox = sandbox_home.project / "inner", sandbox_home.sandbox()
        subprocess.run(["git", "init", "-q", inner], check=True)
        sandbox.protect(["inner/.git"])
        (note,) = run_to_end(sandbox, Program("bash", "rm -r inner/.git")).notes
        assert str(note).startswith("The run replaced or removed inner/.git")
        assert run_to_end(sandbox, Program("bash", "true")).notes == ()
        subprocess.run(["git", "init", "-q", inner], check=True)
        subprocess.run(["git", "config", "user.name", "New"], cwd=inner, check=True)
        before = obeyed(inner / ".git")
        assert run_to_end(sandbox, Program("bash", "true")).notes == ()
        assert obeyed(inner / ".git") == before

    def test_a_bubblewrap_without_proc_is_tier_b(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fragile(sandbox_home, monkeypatch, when='echo "$*" | grep -q -e "--proc"')
        report = sandbox_home.sandbox().report()
        assert (report.tier, report.is_allowed) == ("B", True)
        assert "unmask" in str(report.advice)
        assert (
            sandbox_home.python("import subprocess\nsubprocess.getoutput('echo 1')").output
            == "'1'\n"
        )

    def test_one_that_breaks_later_is_said_and_not_replaced(
        self, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flag = sandbox_home.home / "broken"
        fragile(sandbox_home, monkeypatch, when=f"[ -e {flag} ]")
        sandbox = sandbox_home.sandbox()
        assert sandbox.report().tier == "A"
        flag.touch()
        with pytest.raises(UserError, match="did not start, and nothing was run: bwrap: Can't"):
            run_to_end(sandbox, Program("bash", "touch ran"))
        assert not (sandbox_home.project / "ran").exists()
        assert sandbox.report().tier == "A"


def obeyed(git: Path) -> dict[str, bytes]:
    """Return the files of *git* that make it run something, or look for such elsewhere."""
    files = [
        path for name in ("config", "commondir", "hooks/*", "info/*") for path in git.glob(name)
    ]
    return {path.relative_to(git).as_posix(): path.read_bytes() for path in files}


def installation(sandbox_home: SandboxHome, version: str) -> Path:
    """Make what looks like a Python; it says its name and tries to write to itself."""
    prefix = sandbox_home.home / "pythons" / version
    for path in ("bin", f"lib/python{version}"):
        (prefix / path).mkdir(parents=True)
    (prefix / f"lib/python{version}/os.py").touch()
    program = prefix / f"bin/python{version}"
    program.write_text('#!/bin/sh\necho "$0"; echo x > "$0"')
    program.chmod(0o755)
    return prefix


def fragile(sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, *, when: str) -> None:
    """Put a bubblewrap in place that does not work *when* a shell condition holds."""
    program = sandbox_home.home.parent / "bwrap"
    said = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
    program.write_text(
        f'#!/bin/sh\nif {when}; then echo "{said}" >&2; exit 1; fi\nexec /usr/bin/bwrap "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(selftest, "BWRAP_PATHS", (program,))


def without_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    monkeypatch.setattr(selftest, "landlock_version", lambda: 0)


def test_a_report_is_honest_about_every_tier(sandbox_home: SandboxHome) -> None:
    report: Report = sandbox_home.sandbox().report()
    assert report.does_not_protect
