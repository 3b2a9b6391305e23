"""Doors that no wall of the kernel covers by itself."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.filesystem.devices import DeviceNodes
from modules.sandbox.filesystem.replaced_files import ReplacedFiles
from modules.sandbox.filesystem.unix_sockets import sockets_in
from modules.sandbox.run.execution import Background
from modules.sandbox.run.ring_output import RingOutput
from modules.sandbox.sandbox import Limits, Program
from tests.modules.sandbox.sandbox_home import SECRET, SandboxHome, run_to_end
from utils.i18n import UserError

pytestmark = pytest.mark.as_root

CONNECT = """
import socket
try:
    line = socket.socket(socket.AF_UNIX)
    line.connect({path!r})
    print("connected")
except OSError as error:
    print(error.errno)
"""


@pytest.fixture
def server(sandbox_home: SandboxHome) -> Iterator[Path]:
    """A socket of a program of the person's, in the project."""
    path = sandbox_home.project / "run" / "a b.sock"
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield path


def test_a_foreign_socket(sandbox_home: SandboxHome, server: Path) -> None:
    assert sockets_in(sandbox_home.project) == (server,)
    assert sockets_in(sandbox_home.plain) == ()
    moved = "import os\nos.rename('run', 'moved')\n"
    refused = "111\n"
    assert sandbox_home.python(CONNECT.format(path=str(server))).output == refused
    code = moved + CONNECT.format(path="moved/a b.sock")
    assert sandbox_home.python(code).output == refused
    assert sandbox_home.python(CONNECT.format(path="moved/a b.sock")).output == refused
    (sandbox_home.project / "moved").rename(sandbox_home.project / "run")
    assert sandbox_home.python("import os\nos.unlink('run/a b.sock')").exit_code == 1


@pytest.mark.parametrize("place", ["", "services/one/"])
def test_a_socket_that_was_bound_by_a_short_name_is_found(
    sandbox_home: SandboxHome, place: str
) -> None:
    folder = sandbox_home.project / place
    folder.mkdir(parents=True, exist_ok=True)
    code = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('x.sock'); s.listen(); input()"
    with subprocess.Popen(
        ["/usr/bin/python3", "-c", f"{code}"], cwd=folder, stdin=subprocess.PIPE
    ) as program:
        while not (folder / "x.sock").exists():
            assert program.poll() is None
        assert sandbox_home.python(CONNECT.format(path=f"{place}x.sock")).output == "111\n"
        program.communicate(b"\n")


def test_a_programs_own_sockets_work(sandbox_home: SandboxHome) -> None:
    code = "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('own.sock'); s.listen()\n"
    assert sandbox_home.python(code + CONNECT.format(path="own.sock")).output == "connected\n"


def test_the_folders_around_a_repository_inside_stay_where_they_are(
    sandbox_home: SandboxHome,
) -> None:
    """What holds a mount could else be moved away, and another repository be put in its place."""
    inner = sandbox_home.project / "vendor" / "lib"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    sandbox = sandbox_home.sandbox()
    sandbox.protect(["vendor/lib/.git"])
    code = "mv vendor/lib a; mv vendor b; mkdir -p vendor/lib/.git/hooks && touch $_/post-checkout"
    assert run_to_end(sandbox, Program("bash", code)).exit_code == 1
    assert not (inner / ".git/hooks/post-checkout").exists()
    assert (
        run_to_end(sandbox, Program("bash", "mkdir vendor/other; mv vendor/other c")).exit_code == 0
    )


@pytest.mark.parametrize("is_late", [False, True], ids=["before", "meanwhile"])
@pytest.mark.parametrize("is_job", [False, True], ids=["call", "job"])
def test_a_link_in_the_place_of_a_repository_inside_leads_no_mount_out(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, *, is_job: bool, is_late: bool
) -> None:
    """bubblewrap would show, for writing, what the folder around it leads to."""
    (sandbox_home.project / "a").symlink_to("../..")  # the home folder
    sandbox = sandbox_home.sandbox()
    sandbox.watch(["a/plain"])
    sandbox.protect(["a/plain"])
    if is_late:  # the link came after we had looked
        monkeypatch.setattr("modules.sandbox.sandbox.real_path", lambda path: path)
        monkeypatch.setattr("modules.sandbox.filesystem.mounts.real_path", lambda path: path)
    code = "cat ../../.ssh/id_ed25519; touch ../../written; echo ran"
    with closing(RingOutput(sandbox_home.data, 10_000, lambda: None)) as output:
        background = Background(output, lambda _: None) if is_job else None
        with pytest.raises(UserError, match="replaced") if is_late else nullcontext():
            run_to_end(sandbox, Program("bash", code), background=background)
        said = output.read(0)[0].decode()
    assert SECRET not in said
    assert ("ran" in said) == (is_job and not is_late)
    assert not (sandbox_home.home / "written").exists()


def test_what_a_program_locks_stops_no_later_one(sandbox_home: SandboxHome) -> None:
    for folder in (".venv", "locked"):
        (sandbox_home.project / folder).mkdir()
    sandbox_home.bash("chmod 0 .venv locked; ln -s venv venv")
    assert sandbox_home.python("'works'").output == "'works'\n"
    sandbox_home.bash("rmdir .venv; ln -s /root .venv")
    assert sandbox_home.python("'works'").output == "'works'\n"


def test_a_python_that_cannot_be_started_says_so(sandbox_home: SandboxHome) -> None:
    environment = sandbox_home.project / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    (environment / "bin" / "python3").write_text("#!/nowhere\n")
    with pytest.raises(UserError, match=r"could not be started: .*/\.venv/bin/python3: "):
        sandbox_home.python("pass")
    (environment / "pyvenv.cfg").unlink()
    assert sandbox_home.python("'works'").output == "'works'\n"


def test_what_is_written_too_deep_for_a_path_counts(sandbox_home: SandboxHome) -> None:
    code = (
        "import os\nfor n in range(30): os.mkdir('n' * 200); os.chdir('n' * 200)\n"
        "for n in range(100):\n    with open(str(n), 'wb') as file: file.write(bytes(8 << 20))\n"
        "import time; time.sleep(30)"
    )
    assert (
        sandbox_home.python(code, Limits(seconds=60, disk_growth=100 << 20)).exit_reason == "disk"
    )


def test_data_that_cannot_be_written_take_no_wall_away(
    sandbox_home: SandboxHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access, room = os.access, tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    monkeypatch.setattr(
        os, "access", lambda path, mode: path != sandbox_home.data and access(path, mode)
    )
    sandbox = sandbox_home.sandbox()
    assert sandbox.report().tier == "A"
    assert run_to_end(sandbox, Program("python", "'works'")).output == "'works'\n"
    made = {path.name for path in sandbox_home.data.iterdir()} - {"projects"}  # the git record
    assert made == {"project", "sessions.db"}
    sandbox.close()
    del sandbox
    gc.collect()
    assert list(room.iterdir()) == []


def test_devices_are_made_anew_when_they_are_spoilt_and_go_with_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "onefold-nodes-1-0-left"
    left.mkdir()
    nodes = DeviceNodes(tmp_path / "nowhere")
    made = nodes.nodes()
    assert len(made) == (6 if os.getuid() == 0 else 0)  # a user cannot harm the machine's
    assert left.exists() == (not made)
    for node in made[:1]:
        node.chmod(0)
        assert nodes.nodes() == made
        assert stat.S_IMODE(node.stat().st_mode) == 0o666
        shutil.rmtree(node.parent)
        assert [one.name for one in nodes.nodes()] == [one.name for one in made]
    del nodes
    gc.collect()
    assert [path for path in tmp_path.iterdir() if path != left] == []


def test_what_stands_in_for_secrets_is_removed_when_nobody_needs_it(tmp_path: Path) -> None:
    masks = ReplacedFiles(tmp_path)
    old, used = masks.file_with("old"), masks.file_with("used")
    for place in (old, used):
        os.utime(place, (0, 0))
    assert masks.file_with("used") == used
    new = masks.file_with("new")
    assert sorted(tmp_path.iterdir()) == sorted([new, used])
    assert masks.file_with("old").read_text() == "old"


def test_files_without_number_in_memory_are_not(sandbox_home: SandboxHome) -> None:
    code = "import os\nfor n in range(10**7): os.close(os.open(f'/tmp/{n}', os.O_CREAT))"
    result = sandbox_home.python(code, Limits(seconds=60, temporary_files=5_000))
    assert result.exit_reason == "files"


def test_landlock_keeps_from_memory_shared_by_number(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(0, 4096, 0o600 | 0o1000)
    try:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        code = (
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "libc.shmat.restype = ctypes.c_long\n"
            f"libc.shmat({segment}, None, 0), ctypes.get_errno(), libc.shmctl({segment}, 0, None)"
        )
        assert sandbox_home.python(code).output == "(-1, 1, -1)\n"
    finally:
        libc.shmctl(segment, 0, None)


def test_landlock_counts_only_the_programs_own_processes(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of the kernel counts all of the user's, so it has to be that much higher."""
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    monkeypatch.setattr("modules.sandbox.limits.rlimits._processes_of_user", lambda: 1_000)
    result = sandbox_home.bash("ulimit -u", Limits(processes=50))
    assert result.output == "1050\n"
    assert os.getuid() == 0 or result.exit_code == 0
