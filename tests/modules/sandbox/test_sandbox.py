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
from tests.modules.sandbox.house import SECRET, House, children_of, finish, is_alive, until
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


def is_beating(house: House) -> bool:
    """Return whether something still writes to the heartbeat file."""
    file = house.project / "heartbeat"
    before = file.stat().st_size if file.exists() else 0
    time.sleep(0.3)
    return file.exists() and file.stat().st_size != before


class TestRunning:
    def test_output_and_exit_code_come_back(self, house: House) -> None:
        result = house.bash("echo out; echo err >&2; exit 3")
        assert (result.output, result.exit_code, result.why) == ("out\nerr\n", 3, "exited")

    def test_output_is_yielded_as_it_appears(self, house: House) -> None:
        run = house.sandbox().run(Program("bash", "echo 1; sleep 30"), Limits(), Stop())
        assert next(run) == "1\n"
        run.close()

    def test_a_last_expression_is_shown_as_in_a_notebook(self, house: House) -> None:
        assert house.python("x = 6\nx * 7").output == "42\n"
        assert house.python("None").output == ""

    def test_a_traceback_shows_the_lines_of_the_code_and_no_others(self, house: House) -> None:
        result = house.python("def f():\n    return 1 / 0\n\nf()")
        assert result.exit_code == 1
        assert result.output.splitlines()[:5] == [
            "Traceback (most recent call last):",
            '  File "[code]", line 4, in <module>',
            "    f()",
            '  File "[code]", line 2, in f',
            "    return 1 / 0",
        ]

    def test_a_syntax_error_is_shown_without_a_traceback(self, house: House) -> None:
        assert house.python("print('a'").output.startswith('  File "[code]", line 1\n')

    def test_code_is_main_and_its_classes_can_be_pickled(self, house: House) -> None:
        code = "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A)), __name__"
        assert house.python(code).output == "(<class '__main__.A'>, '__main__')\n"

    def test_standard_input_is_empty(self, house: House) -> None:
        assert house.python("import sys\nsys.stdin.read()").output == "''\n"
        assert house.bash("cat").output == ""

    def test_the_programs_that_people_use_work(self, house: House) -> None:
        code = (
            "import multiprocessing as m, subprocess, tempfile, sqlite3, ssl, asyncio\n"
            "with m.get_context('fork').Pool(2) as p: p.map(abs, [1, -2])\n"
            "tempfile.NamedTemporaryFile().write(b'x')\n"
            "subprocess.check_output(['git', 'status', '--short'], text=True)"
        )
        assert house.python(code).output == "''\n"

    def test_a_server_and_its_client_in_one_call_reach_each_other(self, house: House) -> None:
        code = (
            "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
            "bool(socket.create_connection(s.getsockname(), 5))"
        )
        assert house.python(code).output == "True\n"

    def test_no_file_is_made_for_the_code(self, house: House) -> None:
        before = sorted(house.project.rglob("*"))
        house.python("def f(): pass")
        house.bash("true")
        assert sorted(house.project.rglob("*")) == before

    def test_code_is_not_in_any_command_line(self, house: House) -> None:
        show = "cat /proc/[0-9]*/cmdline"
        assert "needle-42" not in house.bash(f"{show}; : needle-42").output.replace(show, "")

    def test_long_and_odd_code_arrives_whole(self, house: House) -> None:
        text = "é漢'\"\\$`" * 40_000
        assert house.python(f"len({text!r})").output == f"{len(text)}\n"
        assert house.bash(f": '{'x' * 300_000}'\necho $#").output == "0\n"


class TestTheEnd:
    def test_a_daemon_ends_with_its_call(self, house: House) -> None:
        assert house.python(DAEMON.format(close="os.closerange(0, 3)")).why == "exited"
        assert not is_beating(house)

    def test_a_daemon_that_holds_the_output_does_not_hold_the_call(self, house: House) -> None:
        result = house.python(DAEMON.format(close=""), Limits(seconds=120))
        assert (result.why, result.exit_code) == ("exited", 0)

    def test_stop_kills_everything_however_it_hides(self, house: House) -> None:
        stop = Stop()
        code = DAEMON.format(close="pass") + (
            "import signal\nfor n in range(1, 64):\n"
            "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
            "os.write(1, b'up')\ntime.sleep(60)"
        )
        run = house.sandbox().run(Program("python", code), Limits(), stop)
        assert next(run) == "up"
        stop.set()
        with pytest.raises(StopIteration) as end:
            next(run)
        assert end.value.value.why == "stopped"
        assert not is_beating(house)

    def test_a_stop_before_the_start_is_felt(self, house: House) -> None:
        stop = Stop()
        stop.set()
        run = house.sandbox().run(Program("bash", "sleep 60"), Limits(), stop)
        with pytest.raises(StopIteration) as end:
            next(run)
        assert end.value.value.why == "stopped"

    def test_a_call_that_is_dropped_is_killed(self, house: House) -> None:
        run = house.sandbox().run(Program("python", DAEMON.format(close="")), Limits(), Stop())
        with pytest.raises(StopIteration):
            next(run)
        run = house.sandbox().run(Program("bash", "echo; sleep 60"), Limits(), Stop())
        next(run)
        run.close()
        assert not is_beating(house)

    def test_a_call_outlives_the_thread_that_began_it(self, house: House) -> None:
        run = house.sandbox().run(Program("bash", "echo 1; sleep 0.5; echo 2"), Limits(), Stop())
        first: list[str] = []
        thread = threading.Thread(target=lambda: first.append(next(run)))
        thread.start()
        thread.join()
        assert first + list(run) == ["1\n", "2\n"]

    def test_it_ends_with_the_agent_whatever_kills_that(self, house: House) -> None:
        agent = (
            "import sys; from pathlib import Path\n"
            "from tests.modules.sandbox.house import *\n"
            "data, project, code = sys.argv[1:]\n"
            "sandbox = Sandbox(Path(project), cache_folder=Path(data))\n"
            "for text in sandbox.run(Program('python', code), QUICK, Stop()):\n"
            "    print('up', flush=True)"
        )
        code = DAEMON.format(close="print('up')") + "time.sleep(60)"
        process = subprocess.Popen(
            [sys.executable, "-c", agent, str(house.data), str(house.project), code],
            stdout=subprocess.PIPE,
        )
        with process:
            assert process.stdout
            process.stdout.readline()
            below = children_of(process.pid)
            process.kill()
        assert below
        assert until(lambda: not any(map(is_alive, below)))
        assert not is_beating(house)

    def test_nothing_runs_when_the_agent_is_killed_before_the_walls_stand(
        self, house: House
    ) -> None:
        """bubblewrap asks to die with its parent only once it runs, and may be too late."""
        program, flag = house.home.parent / "bwrap", house.home / "slow"
        program.write_text(
            f"#!/bin/sh\nif [ -e {flag} ]; then\n"
            f"echo $$ > {flag}; while [ -e /proc/$PPID/exe ]; do sleep 0.01; done; fi\n"
            'exec /usr/bin/bwrap "$@"\n'
        )
        program.chmod(0o755)
        agent = (
            "import sys; from pathlib import Path\n"
            "from modules.sandbox.backends import selftest\n"
            "from tests.modules.sandbox.house import *\n"
            "selftest.PLACES = (Path(sys.argv[3]),)\n"
            "sandbox = Sandbox(Path(sys.argv[2]), cache_folder=Path(sys.argv[1]))\n"
            "sandbox.report()\n"
            "Path(sys.argv[4]).touch()\n"
            "print('up', flush=True)\n"
            "list(sandbox.run(Program('bash', 'touch ran'), QUICK, Stop()))"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", agent, house.data, house.project, program, flag],
            stdout=subprocess.PIPE,
        )
        with process:
            assert process.stdout
            process.stdout.readline()
            assert until(lambda: flag.read_text() != "")
            process.kill()
        late = int(flag.read_text())
        assert until(lambda: not is_alive(late))
        assert not (house.project / "ran").exists()
        with suppress(ProcessLookupError):  # bubblewrap's own, which would wait for ever
            os.killpg(late, signal.SIGKILL)


class TestLimits:
    def test_the_tree_is_seen_where_the_kernel_lists_no_children(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("modules.sandbox.limits.watchdog._HAS_CHILDREN", False)
        code = "import os, time\nfor n in range(40):\n    if not os.fork(): time.sleep(9)\n"
        code += "time.sleep(9)"
        assert house.python(code, Limits(processes=20)).why in ("processes", "exited")

    def test_long_output_is_whole_between_its_ends(self, house: House) -> None:
        result = house.bash("seq 100000")
        assert result.whole == "".join(f"{n}\n" for n in range(1, 100001))
        assert len(result.output) < 210_000 < len(result.whole)

    def test_time(self, house: House) -> None:
        result = house.bash("trap '' TERM; echo a; sleep 60", Limits(seconds=5))
        assert (result.why, result.exit_code, result.output) == ("timed out", None, "a\n")

    def test_memory_of_all_processes_together(self, house: House) -> None:
        code = (
            "import os, time\nfor n in range(4):\n"
            "    if os.fork() == 0:\n        b = bytearray(60 << 20)\n        time.sleep(20)\n"
            "os.wait()"
        )
        assert house.python(code, Limits(memory=150 * MEBIBYTE)).why == "memory"

    def test_memory_of_one_process(self, house: House) -> None:
        result = house.python("bytearray(400 << 20)", Limits(memory=200 * MEBIBYTE))
        assert "MemoryError" in result.output

    def test_processes(self, house: House) -> None:
        bomb = "bomb() { bomb | bomb & }; bomb; sleep 20"
        result = house.bash(bomb, Limits(processes=40))
        assert result.why in ("processes", "exited")
        assert house.bash("echo fine").output == "fine\n"

    def test_output_is_kept_by_its_ends(self, house: House) -> None:
        result = house.bash("seq 1 100000", Limits(output=1000))
        assert result.head.startswith("1\n2\n")
        assert result.tail.endswith("99999\n100000\n")
        assert len(result.head) + len(result.tail) + result.left_out == 588_895

    def test_endless_output(self, house: House) -> None:
        result = house.bash("yes")
        assert result.why == "output"
        assert len(result.output) < 201_000

    def test_a_file(self, house: House) -> None:
        result = house.bash("head -c 2000000 /dev/zero > f", Limits(file_size=1_000_000))
        assert result.exit_code == 128 + 25
        assert (house.project / "f").stat().st_size == 1_000_000

    def test_the_disk(self, house: House) -> None:
        code = (
            "import time\nfor n in range(60):\n"
            "    with open(f'f{n}', 'wb') as f: f.write(bytes(1 << 20))\ntime.sleep(20)"
        )
        assert house.python(code, Limits(disk_growth=20 * MEBIBYTE)).why == "disk"

    def test_no_core_is_left(self, house: House) -> None:
        assert house.bash("kill -SEGV $$").exit_code == 128 + 11
        assert [path.name for path in house.project.iterdir()] == [".git"]


class TestTheProject:
    @pytest.mark.parametrize("name", ["a b", "a\nb", "文件夹", "-rf", "a:b", "$(x)", "é\udcff"])
    def test_any_name_will_do(self, house: House, name: str) -> None:
        project = house.home / name
        project.mkdir()
        assert house.python("open('f', 'w').write('x')", project=project).exit_code == 0
        assert house.bash("cat f", project=project).output == "x"

    def test_home_itself_is_refused(self, house: House) -> None:
        for folder in (house.home, house.home.parent):
            with pytest.raises(UserError, match="home"):
                house.bash("true", project=folder)

    @pytest.mark.parametrize("tier", ["A", "C"])
    def test_one_in_shared_memory_is_as_good_as_any(
        self, house: House, monkeypatch: pytest.MonkeyPatch, tier: str
    ) -> None:
        if tier == "C":
            monkeypatch.setattr(selftest, "PLACES", ())
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            project, other = Path(folder, "project"), Path(folder, "other.txt")
            project.mkdir()
            other.write_text("other")
            assert house.sandbox(project).report().tier == tier
            result = house.bash(f"echo mine > a.txt; cat a.txt {other}", project=project)
            assert result.output.startswith("mine\ncat: ")
            assert (project / "a.txt").read_text() == "mine\n"

    def test_the_system_is_refused(self, house: House) -> None:
        for folder in ("/", "/usr", "/etc/ssl", "/tmp", "/dev/shm", "/dev"):
            with pytest.raises(UserError):
                house.bash("true", project=Path(folder))

    def test_a_missing_folder_is_said(self, house: House) -> None:
        with pytest.raises(UserError, match="missing"):
            house.bash("true", project=house.home / "no")

    def test_our_data_inside_the_project_is_hidden(self, house: House) -> None:
        inside = house.project / "data"
        inside.mkdir()
        (inside / "kept").write_text(SECRET)
        sandbox = Sandbox(house.project, hidden=[inside], cache_folder=house.data)
        tries = "cat data/kept; echo x > data/new; mv data other; rm -rf data; ls -A data"
        result = finish(sandbox, Program("bash", f"{{ {tries}; }} 2>/dev/null"))
        assert result.output == ""
        assert [path.name for path in inside.iterdir()] == ["kept"]

    def test_the_folders_above_our_data_stay_where_they_are(self, house: House) -> None:
        inside = house.project / "code" / "onefold" / "data"
        inside.mkdir(parents=True)
        (inside / "kept").write_text(SECRET)
        sandbox = Sandbox(house.project, hidden=[inside], cache_folder=house.data)
        tries = "mv code other; mv code/onefold code/other; rm -rf code; find . -name kept"
        result = finish(sandbox, Program("bash", f"{{ {tries}; }} 2>/dev/null"))
        assert result.output == ""
        assert (inside / "kept").read_text() == SECRET

    def test_a_repository_cannot_be_planted_and_leaves_no_trace(self, house: House) -> None:
        tries = "git init; mkdir .git; rmdir .git; mv .git x; echo > .git; ls -A .git"
        result = house.bash(f"{{ {tries}; }} 2>/dev/null", project=house.plain)
        assert result.output == ""
        assert list(house.plain.iterdir()) == []

    def test_the_trace_stays_while_another_call_needs_it(self, house: House) -> None:
        run = house.sandbox(house.plain).run(
            Program("bash", "echo; sleep 1; mkdir .git/x; ls -A .git"), Limits(), Stop()
        )
        next(run)
        house.bash("true", project=house.plain)
        assert "Read-only" in "".join(run)
        assert list(house.plain.iterdir()) == []

    def test_what_a_crash_left_is_taken_away(self, house: House) -> None:
        house.bash("true", project=house.plain)
        (record,) = (house.data / "sandbox").glob("mounts-*")
        record.write_text(".git\n")
        (house.plain / ".git").mkdir()
        house.bash("true", project=house.plain)
        assert list(house.plain.iterdir()) == []

    def test_an_empty_git_folder_of_the_persons_stays(self, house: House) -> None:
        (house.plain / ".git").mkdir()
        house.bash("true", project=house.plain)
        assert [path.name for path in house.plain.iterdir()] == [".git"]

    def test_a_linked_git_is_refused(self, house: House) -> None:
        (house.plain / ".git").symlink_to(house.project / ".git")
        with pytest.raises(UserError, match="symbolic link"):
            house.bash("true", project=house.plain)

    def test_git_works_in_a_worktree_and_cannot_be_changed(self, house: House) -> None:
        tree = house.home / "tree"
        git = ["git", "-C", str(house.project), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
        result = house.bash("git log --format=%s; echo x >> .git", project=tree)
        assert result.output.startswith("first\n")
        assert "Read-only" in result.output

    def test_git_tells_chinese_names_as_they_are(self, house: House) -> None:
        (house.project / "文档.txt").write_text("x")
        assert "?? 文档.txt" in house.bash("git status --porcelain").output

    def test_a_git_file_that_lies_shows_nothing(self, house: House) -> None:
        ssh = house.secret.parent
        (house.plain / ".git").write_text(f"gitdir: {ssh}\n")
        assert house.bash(f"ls {ssh}", project=house.plain).exit_code == 2


class TestThePythonOfTheProject:
    @pytest.fixture
    def venv(self, house: House) -> Path:
        folder = house.project / ".venv"
        make = ["/usr/bin/python3", "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(make, check=True)
        return folder

    def test_its_environment_is_used(self, house: House, venv: Path) -> None:
        assert house.python("import sys\nsys.prefix").output == f"'{venv}'\n"
        assert house.bash("which python").output == f"{venv}/bin/python\n"

    def test_one_that_points_to_secrets_shows_nothing(self, house: House, venv: Path) -> None:
        for name in ("python3", "python"):
            (venv / "bin" / name).unlink()
            (venv / "bin" / name).symlink_to(house.secret)
        (venv / "pyvenv.cfg").write_text(f"home = {house.secret.parent}\n")
        result = house.python(f"open({str(house.secret)!r})")
        assert "FileNotFoundError" in result.output
        assert [note.values for note in result.notes] == [{"environment": ".venv"}]

    def test_a_made_up_installation_around_the_home_shows_nothing(
        self, house: House, venv: Path
    ) -> None:
        for path in ("bin/python3", "lib/python3.11/os.py"):
            (house.home / path).parent.mkdir(parents=True)
            (house.home / path).touch(mode=0o755)
        (venv / "bin" / "python3").unlink()
        (venv / "bin" / "python3").symlink_to(house.home / "bin" / "python3")
        assert "FileNotFoundError" in house.python(f"open({str(house.secret)!r})").output

    def test_another_installation_is_a_matter_for_the_person(self, house: House) -> None:
        first, second = installation(house, "3.98"), installation(house, "3.99")
        python = house.project / ".venv/bin/python3"
        python.parent.mkdir(parents=True)
        (house.project / ".venv/pyvenv.cfg").touch()
        python.symlink_to(first / "bin/python3.98")
        sandbox = house.sandbox()
        assert sandbox.other_python() is None
        finish(sandbox, Program("bash", f"ln -sf {second}/bin/python3.99 {python}"))
        assert sandbox.other_python() == second
        assert house.sandbox().other_python() == second
        assert house.sandbox(house.plain).other_python() is None
        finish(sandbox, Program("bash", "true"))
        assert house.sandbox().other_python() is None
        second.rename(second.parent / "moved")
        installation(house, "3.99")
        assert sandbox.other_python() == second

    def test_the_first_installation_is_too_where_programs_ran_before(self, house: House) -> None:
        prefix = installation(house, "3.99")
        sandbox = house.sandbox()
        code = (
            "mkdir -p .venv/bin; touch .venv/pyvenv.cfg\n"
            f"ln -s {prefix}/bin/python3.99 .venv/bin/python3"
        )
        finish(sandbox, Program("bash", code))
        assert sandbox.other_python() == prefix

    def test_an_environment_of_the_system_is_nobodys_question(
        self, house: House, venv: Path
    ) -> None:
        house.python("pass")
        (venv / "pyvenv.cfg").write_text("changed = yes\n")
        assert house.sandbox().other_python() is None

    def test_an_installation_in_the_home_is_shown_read_only(self, house: House) -> None:
        prefix = installation(house, "3.99")
        (prefix.parent / "3").symlink_to("3.99")
        venv = house.project / ".venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "pyvenv.cfg").touch()
        (venv / "bin" / "python3").symlink_to(prefix.parent / "3" / "bin" / "python3.99")
        output = house.python("pass").output
        assert output.startswith(f"{venv}/bin/python3\n")
        assert "Read-only" in output


class TestTheTier:
    def test_it_is_found_once_and_remembered(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = house.sandbox().report()
        assert first.tier in ("A", "B")
        assert first.is_allowed
        monkeypatch.setattr(selftest.SelfTest, "_search", None)
        assert house.sandbox().report() == first

    def test_nothing_is_run_without_leave_where_nothing_confines(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_walls(monkeypatch)
        report = house.sandbox().report()
        assert (report.tier, report.is_allowed) == ("D", False)
        assert "bubblewrap" in str(report.advice)
        with pytest.raises(UserError, match="allow_unsandboxed"):
            house.bash("touch ran")
        assert not (house.project / "ran").exists()

    def test_with_leave_it_runs_within_limits(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_walls(monkeypatch)
        sandbox = house.sandbox(allow_limits_only=True)
        run = finish(sandbox, Program("python", DAEMON.format(close="pass") + "6 * 7"))
        assert (run.output, run.exit_code) == ("42\n", 0)
        assert not is_beating(house)
        slow = finish(sandbox, Program("bash", "setsid sleep 60"), Limits(seconds=1))
        assert slow.why == "timed out"
        assert SECRET not in finish(sandbox, Program("bash", "env")).output

    def test_where_nothing_confines_a_program_may_remove_the_folders_that_are_watched(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_walls(monkeypatch)
        sandbox = house.sandbox(allow_limits_only=True)
        run = finish(sandbox, Program("bash", 'rm -r "$HOME" "$PWD"; sleep 0.3; echo done'))
        assert (run.why, run.output) == ("exited", "done\n")

    def test_landlock_keeps_secrets_and_the_network(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        sandbox = house.sandbox()
        assert sandbox.report().tier == "C"
        code = (
            f"import socket\nfor act in (lambda: open({str(house.secret)!r}),\n"
            "            lambda: open('/etc/zz', 'w'), lambda: socket.socket()):\n"
            "    try: print(act())\n    except OSError as error: print(error.errno)\n"
            "open('made', 'w').write('here')"
        )
        assert finish(sandbox, Program("python", code)).output == "13\n13\n97\n4\n"
        assert not list((house.data / "sandbox").glob("scratch-*"))

    def test_what_git_obeys_is_put_back_where_it_is_not_protected(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        git = house.project / ".git"
        before = (git / "config").read_bytes()
        result = house.bash(
            "cd .git; echo x >> config; echo .. > commondir; rm -r hooks; ln -s /tmp hooks"
        )
        assert (git / "config").read_bytes() == before
        assert not (git / "commondir").exists()
        assert not (git / "hooks").is_symlink()
        (note,) = result.notes
        assert str(note).startswith("The run changed what git obeys; put back: .git/commondir")
        assert house.bash("true").notes == ()

    def test_what_git_obeys_for_submodules_and_inside_is_put_back_too(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        for name in (".git/modules/one/modules/two", "inner/.git"):
            subprocess.run(["git", "init", "-q", "--bare", house.project / name], check=True)
        (house.project / ".git/modules/away").mkdir()
        (house.project / ".git/modules/away/HEAD").touch()
        sandbox = house.sandbox()
        sandbox.guard(["inner/.git"])
        code = (
            "echo x >> .git/modules/one/modules/two/config; echo x > inner/.git/hooks/pre-push\n"
            "cd .git/modules; mv away ..; mkdir -p ../../evil/hooks; touch ../../evil/hooks/kept\n"
            "ln -s ../../evil away"
        )
        notes = [str(note) for note in finish(sandbox, Program("bash", code)).notes]
        assert notes == [
            "The run moved or replaced .git/modules/away, which git obeys; put back.",
            "The run changed what git obeys; put back: .git/modules/one/modules/two/config, "
            "inner/.git/hooks/pre-push",
        ]
        assert not (house.project / "inner/.git/hooks/pre-push").exists()
        assert (house.project / "evil/hooks/kept").exists()

    @pytest.mark.parametrize(
        "spoil",
        [
            "rm .git/config; mkdir .git/config; cd .git/config",
            "rm -r .git/hooks; mkdir .git/hooks; cd .git/hooks",
            "mkdir .git/modules; cd .git/modules",
        ],
    )
    def test_what_git_obeys_is_put_back_however_deep_it_was_buried(
        self, house: House, monkeypatch: pytest.MonkeyPatch, spoil: str
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        before = (house.project / ".git/config").read_bytes()
        dig = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
        house.bash(f'{spoil} && python3 -c "{dig}"')
        assert house.bash("echo on").output == "on\n"
        assert (house.project / ".git/config").read_bytes() == before
        assert not (house.project / ".git/hooks/d").exists()
        remove_scratch(house.project / ".git/modules")

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
        self, house: House, monkeypatch: pytest.MonkeyPatch, spoil: str
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        git = house.project / ".git"
        hook = git / "hooks" / "pre-commit"
        hook.write_text("mine")
        states = {path: path.stat().st_mode for path in git.rglob("*")}
        house.bash(spoil)
        assert house.bash("echo on").output == "on\n"
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
        self, house: House, monkeypatch: pytest.MonkeyPatch, calls: Sequence[str], place: str
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        folder = house.project / place
        subprocess.run(["git", "init", "-q", folder], check=True)
        (folder / ".git/hooks/pre-push").write_text("mine")
        git, sandbox = folder / ".git", house.sandbox()
        sandbox.guard(["inner/.git"] if place else [])
        before = obeyed(git)
        plant = "plant() { echo x >> $1/config; echo x > $1/hooks/pre-commit; touch $1/commondir; }"
        for code in calls:
            finish(
                sandbox, Program("bash", f"{plant}; cd ./{place}; {code.replace('PLANT', 'plant')}")
            )
        assert obeyed(git) in (before, {})
        assert not git.is_symlink()

    def test_a_git_that_another_replaced_is_put_back_and_told(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        result = house.bash("mv .git old; ln -s old .git")
        assert [str(note) for note in result.notes] == [
            "The run moved or replaced .git, which git obeys; put back."
        ]
        assert (house.project / ".git/HEAD").is_file()
        assert (house.project / "old").is_symlink()

    def test_a_repository_that_moved_with_its_folder_stays_there_without_what_was_planted(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        subprocess.run(["git", "init", "-q", house.project / "inner"], check=True)
        before, sandbox = obeyed(house.project / "inner/.git"), house.sandbox()
        sandbox.guard(["inner/.git"])
        finish(sandbox, Program("bash", "mv inner moved; echo x >> moved/.git/config"))
        assert obeyed(house.project / "moved/.git") == before
        finish(sandbox, Program("bash", "echo x >> moved/.git/config"))
        assert obeyed(house.project / "moved/.git") == before

    def test_a_git_that_is_gone_is_told_once_and_the_persons_own_new_one_is_left_alone(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selftest, "PLACES", ())
        sandbox = house.sandbox()
        (note,) = finish(sandbox, Program("bash", "rm -r .git")).notes
        assert str(note).startswith("The run replaced or removed .git")
        assert finish(sandbox, Program("bash", "true")).notes == ()
        subprocess.run(["git", "init", "-q", house.project], check=True)
        subprocess.run(["git", "config", "user.name", "New"], cwd=house.project, check=True)
        before = obeyed(house.project / ".git")
        assert finish(sandbox, Program("bash", "true")).notes == ()
        assert obeyed(house.project / ".git") == before

    def test_a_bubblewrap_without_proc_is_tier_b(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fragile(house, monkeypatch, when='echo "$*" | grep -q -e "--proc"')
        report = house.sandbox().report()
        assert (report.tier, report.is_allowed) == ("B", True)
        assert "unmask" in str(report.advice)
        assert house.python("import subprocess\nsubprocess.getoutput('echo 1')").output == "'1'\n"

    def test_one_that_breaks_later_is_said_and_not_replaced(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flag = house.home / "broken"
        fragile(house, monkeypatch, when=f"[ -e {flag} ]")
        sandbox = house.sandbox()
        assert sandbox.report().tier == "A"
        flag.touch()
        with pytest.raises(UserError, match="did not start, and nothing was run: bwrap: Can't"):
            finish(sandbox, Program("bash", "touch ran"))
        assert not (house.project / "ran").exists()
        assert sandbox.report().tier == "A"


def obeyed(git: Path) -> dict[str, bytes]:
    """Return the files of *git* that make it run something, or look for such elsewhere."""
    files = [
        path for name in ("config", "commondir", "hooks/*", "info/*") for path in git.glob(name)
    ]
    return {path.relative_to(git).as_posix(): path.read_bytes() for path in files}


def installation(house: House, version: str) -> Path:
    """Make what looks like a Python; it says its name and tries to write to itself."""
    prefix = house.home / "pythons" / version
    for path in ("bin", f"lib/python{version}"):
        (prefix / path).mkdir(parents=True)
    (prefix / f"lib/python{version}/os.py").touch()
    program = prefix / f"bin/python{version}"
    program.write_text('#!/bin/sh\necho "$0"; echo x > "$0"')
    program.chmod(0o755)
    return prefix


def fragile(house: House, monkeypatch: pytest.MonkeyPatch, *, when: str) -> None:
    """Put a bubblewrap in place that does not work *when* a shell condition holds."""
    program = house.home.parent / "bwrap"
    said = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
    program.write_text(
        f'#!/bin/sh\nif {when}; then echo "{said}" >&2; exit 1; fi\nexec /usr/bin/bwrap "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(selftest, "PLACES", (program,))


def without_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "PLACES", ())
    monkeypatch.setattr(selftest, "landlock_version", lambda: 0)


def test_a_report_is_honest_about_every_tier(house: House) -> None:
    report: Report = house.sandbox().report()
    assert report.does_not_protect
