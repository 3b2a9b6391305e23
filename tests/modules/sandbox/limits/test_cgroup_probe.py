"""Where the kernel lets us have control groups, it keeps the limits of all processes together."""

from __future__ import annotations

import gc
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from modules.sandbox.limits.cgroup import Cgroup, CgroupParent
from modules.sandbox.limits.cgroup_probe import CgroupFactory, find_cgroups
from modules.sandbox.sandbox import Limits
from modules.sandbox.types import MEBIBYTE
from tests.modules.sandbox.filesystem.test_mount_points import OWNER
from tests.modules.sandbox.sandbox_home import QUICK, ROOT, SandboxHome, wait_until


def left_in(groups: CgroupFactory | None) -> list[str]:
    folders = groups.parent.folders() if groups else ()
    return [path.name for folder in folders for path in folder.glob("onefold-*")]


def test_the_report_says_whether_the_kernel_keeps_memory(sandbox_home: SandboxHome) -> None:
    report = sandbox_home.sandbox().report()
    has_groups = find_cgroups(sandbox_home.data) is not None
    assert str(report.name).startswith("A+") is has_groups
    told = " ".join(map(str, report.does_not_protect))
    assert ("memory and disk use" in told) is not has_groups
    assert "disk use" in told


def test_memory_of_forks_is_counted_together_and_said(sandbox_home: SandboxHome) -> None:
    code = (
        "import os, time\nfor n in range(4):\n"
        "    if os.fork() == 0:\n        b = bytearray(60 << 20)\n        time.sleep(20)\n"
        "for n in range(4): os.wait()"
    )
    result = sandbox_home.python(code, Limits(memory=150 * MEBIBYTE))
    assert (result.exit_reason, result.exit_code) == ("memory", None)


def test_memory_of_temporary_files_counts_where_the_kernel_counts(
    sandbox_home: SandboxHome,
) -> None:
    code = "head -c 200M /dev/zero > /tmp/x && echo written"
    result = sandbox_home.bash(code, Limits(memory=100 * MEBIBYTE))
    if find_cgroups(sandbox_home.data):
        assert (result.exit_reason, result.output) == ("memory", "")
    else:
        assert (result.exit_reason, result.output) == ("exited", "written\n")


def test_processes_are_refused_at_the_limit_and_that_is_said(sandbox_home: SandboxHome) -> None:
    code = (
        "import os, time\nn = 0\n"
        "try:\n"
        "    while n < 300:\n"
        "        if os.fork() == 0: time.sleep(20); os._exit(0)\n"
        "        n += 1\n"
        "except OSError as error: print(n < 128, error.errno)"
    )
    result = sandbox_home.python(code, replace(QUICK, processes=128))
    if find_cgroups(sandbox_home.data):
        assert result.output == "True 11\n"
        assert [note.values for note in result.notes] == [{"n": 128}]
    else:
        assert result.exit_reason == "processes" or result.output == "True 11\n"


def test_a_fork_bomb_is_ended_long_before_its_time(sandbox_home: SandboxHome) -> None:
    bomb = "bomb() { bomb | bomb & }; bomb; sleep 500"
    assert sandbox_home.bash(bomb, Limits(seconds=500)).exit_reason == "processes"
    assert sandbox_home.bash("echo fine").output == "fine\n"


def test_no_group_is_left(sandbox_home: SandboxHome) -> None:
    groups = find_cgroups(
        sandbox_home.data
    )  # before, since looking for them removes those of the dead
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(sandbox_home.project), str(sandbox_home.data), "bash",
         "setsid sleep 60 & true"],
        cwd=ROOT,
    )  # fmt: skip
    assert owner.wait() == 0
    names = left_in(groups)
    assert not [name for name in names if name.startswith(f"onefold-{owner.pid}-")]


def test_a_group_made_in_advance_and_not_used_goes_with_the_rest(tmp_path: Path) -> None:
    groups = CgroupFactory(CgroupParent(tmp_path, tmp_path))
    groups.warm_up()
    groups.warm_up()
    assert len(list(tmp_path.iterdir())) == 1
    del groups
    gc.collect()
    assert not list(tmp_path.iterdir())


class Dying(Cgroup):
    """One that the kernel takes for in use when it is first removed."""

    def __init__(self, place: CgroupParent, name: str) -> None:
        super().__init__(place, name)
        self.is_dead = False

    def remove(self) -> bool:
        was_dead, self.is_dead = self.is_dead, True
        return was_dead and super().remove()


def test_a_group_that_is_still_dying_when_we_end_is_removed_all_the_same(tmp_path: Path) -> None:
    groups = CgroupFactory(CgroupParent(tmp_path, tmp_path))
    groups._unremoved.append(Dying(groups.parent, "dying"))
    del groups
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_groups_of_the_killed_are_removed_at_the_next_start(sandbox_home: SandboxHome) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(sandbox_home.project), str(sandbox_home.data), "bash",
         "echo up; sleep 60"],
        cwd=ROOT, stdout=subprocess.PIPE,
    )  # fmt: skip
    with owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"up\n"
        owner.kill()

    def is_clean() -> bool:
        names = left_in(find_cgroups(sandbox_home.data))
        return not any(name.startswith(f"onefold-{owner.pid}-") for name in names)

    assert wait_until(is_clean)


def test_version_two_has_one_folder_with_all_limits(tmp_path: Path) -> None:
    limits = Limits(memory=7, processes=3)
    group = Cgroup(CgroupParent(tmp_path, tmp_path), "ours")
    group.limit(limits)
    assert {path.name: path.read_text() for path in (tmp_path / "ours").iterdir()} == {
        "memory.max": "7",
        "pids.max": "3",
    }
    group.add_process(1234567890)
    (tmp_path / "ours/memory.events").write_text("low 0\noom 4\noom_kill 2\n")
    (tmp_path / "ours/pids.events").write_text("max 5\n")
    assert (group.members(), group.oom_kills(), group.pids_limit_hits()) == ({1234567890}, 2, 5)


def test_a_process_without_a_number_here_is_no_order_to_kill_ourselves(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom modules.sandbox.sandbox import Limits\n"
        "from modules.sandbox.limits.cgroup import Cgroup, CgroupParent\n"
        "here = Path(sys.argv[1])\ngroup = Cgroup(CgroupParent(here, here), 'g')\n"
        "(here / 'g' / 'cgroup.procs').write_text('0\\n')\n"
        "print(group.members(), group.remove())"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "set() False\n")
