"""Attempts to get out of the sandbox. Each prints what it got; nothing means that it held.

Run as a script with a folder and a tier, it makes them all there and prints those that succeeded:
so they can be made by a user who has no test runner.
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.backends import selftest
from modules.sandbox.backends.known_tier import BWRAP_PATHS
from tests.modules.sandbox.sandbox_home import SECRET, SandboxHome, home_of_process

_TRY = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(act, what="it worked"):
    try:
        act()
    except (OSError, ValueError):
        return
    print(what)
def processes():
    try:
        names = [name for name in os.listdir('/proc') if name.isdigit()]
        return [name for name in names if os.path.exists(f'/proc/{{name}}/status')]
    except OSError:
        return []
def call(number, *values):
    # Numbers are those of x86_64; elsewhere they would mean something else.
    if os.uname().machine != 'x86_64':
        return -1, 1
    ctypes.set_errno(0)
    return libc.syscall(number, *values), ctypes.get_errno()
def tell(path):
    try:
        text = open(path, "rb").read(100000)
    except OSError:
        return
    if {secret!r}.encode() in text:
        print("read", path)
"""

PYTHON = {
    # files outside
    "read the home": "tell({key!r})",
    "see the home": "os.path.lexists({key!r}) and print('seen')",
    "list the home": (
        "try: print(*(set(os.listdir({home!r})) - {{'work', 'plain'}}))\n"
        "except PermissionError: pass"
    ),
    "change what is outside": "attempt(lambda: os.chmod({key!r}, 0o644))",
    "read our own data": "tell({data!r} + '/sessions.db')",
    "read the shadow": "attempt(lambda: open('/etc/shadow').close())",
    "write the system": (
        "for folder in ('/', '/usr', '/usr/bin', '/etc', '/var', '/run', '/dev', '/proc/sys'):\n"
        "    attempt(lambda: open(folder + '/zz', 'w').close(), folder)"
    ),
    "open devices": (
        "for name in ('vda', 'sda', 'mem', 'kmsg', 'kvm', 'fuse', 'net/tun'):\n"
        "    attempt(lambda: os.close(os.open('/dev/' + name, os.O_RDONLY)), name)"
    ),
    # the environment and other processes
    "read environments": (
        "for name in processes():\n"
        "    tell(f'/proc/{{name}}/environ')\n"
        "{secret!r} in str(os.environ) and print('own')"
    ),
    "see the agent": "os.path.exists('/proc/{agent}/comm') and {agent} > 20 and print('seen')",
    "signal the agent": "attempt(lambda: os.kill({victim}, 0))",
    "signal everybody": (
        "import signal\nsignal.signal(15, signal.SIG_IGN)\nattempt(lambda: os.kill(-1, 15), '')"
    ),
    "inherit descriptors": (
        "import fcntl\nprint(*(n for n in range(3, 200) if libc.fcntl(n, fcntl.F_GETFD) >= 0))"
    ),
    # privileges
    "have capabilities": (
        "import struct\n"
        "sets = ctypes.create_string_buffer(24)\n"
        "libc.capget(struct.pack('Ii', 0x20080522, 0), sets)\n"
        "effective, permitted, _, *others = struct.unpack('6I', sets.raw)\n"
        "print(*(n for n in (effective, permitted, *others[:2]) if n))"
    ),
    "go unfiltered": (
        "for process in processes():\n"
        "    text = open(f'/proc/{{process}}/status').read()\n"
        "    'Seccomp:\\t2' in text or print(process)"
    ),
    "remount": "libc.mount(None, b'/usr', None, 32 | 4096, None) == 0 and print('remounted')",
    "make a namespace": "libc.unshare(0x10000000) == 0 and print('made')",
    "set the core pattern": (
        "attempt(lambda: open('/proc/sys/kernel/core_pattern', 'w').write('|/bin/true'))"
    ),
    "leave a setuid file": (
        "open('tool', 'w').close()\nattempt(lambda: os.chmod('tool', 0o4755))\n"
        "attempt(lambda: os.close(os.open('tool2', os.O_CREAT | os.O_WRONLY, 0o4755)))"
    ),
    "read keyrings": (
        "libc.syscall(250, 0, -4, 0) >= 0 and os.uname().machine == 'x86_64' and print('user')"
    ),
    "trace": "libc.ptrace(0, 0, 0, 0) == 0 and print('traced')",
    "hide memory": "attempt(lambda: os.memfd_create('x'))",
    "type into the terminal": (
        "import fcntl\n"
        "for command in (0x5412, 0x5412 | 1 << 32):\n"
        "    libc.ioctl(0, ctypes.c_ulong(command), b'x') == 0 and print('typed')\n"
        "attempt(lambda: os.open('/dev/tty', os.O_RDWR))\n"
        "os.getsid(0) == {session} and print('same session')"
    ),
    "write to the kernel's files": (
        "for name in ('oom_score_adj', 'mem', 'coredump_filter', 'comm', '../1/mem',\n"
        "             '../sys/vm/drop_caches', '../sysrq-trigger', '../irq/x'):\n"
        "    attempt(lambda: os.close(os.open('/proc/self/' + name, os.O_WRONLY)), name)"
    ),
    "leave a capability on a file": (
        "import struct\nopen('able', 'w').close()\n"
        "value = struct.pack('<5I', 0x2000001, 1 << 21, 0, 0, 0)\n"
        "attempt(lambda: os.setxattr('able', 'security.capability', value))"
    ),
    "make a device": (
        "attempt(lambda: os.close(os.open(\n"
        "    (os.mknod('node', 0o20666, os.makedev(1, 1)), 'node')[1], os.O_RDWR)))"
    ),
    "link what is outside": (
        "for path in ({key!r}, '/etc/passwd', '/usr/bin/env'):\n"
        "    attempt(lambda: os.link(path, 'linked'), path)"
    ),
    "raise a limit": (
        "import resource\n"
        "for name in ('NPROC', 'FSIZE', 'NOFILE', 'DATA', 'CPU', 'CORE', 'MEMLOCK'):\n"
        "    kind = getattr(resource, 'RLIMIT_' + name)\n"
        "    most = resource.getrlimit(kind)[1] + 1\n"
        "    attempt(lambda: resource.setrlimit(kind, (most, most)), name)"
    ),
    "find files of ours open": (
        "for process in processes():\n"
        "    for name in os.listdir(f'/proc/{{process}}/fd'):\n"
        "        try: target = os.readlink(f'/proc/{{process}}/fd/{{name}}')\n"
        "        except OSError: continue\n"
        "        target.startswith('/') and not target.startswith(('/dev/null', '/proc', '/memfd'))"
        " and print(process, name, target)"
    ),
    "go on beyond the last folder": (
        "folder = os.open('.', os.O_RDONLY)\n"
        "for _ in range(12):\n"
        "    folder = os.open('..', os.O_PATH, dir_fd=folder)\n"
        "    for name in ('.ssh/id_ed25519', 'home/.ssh/id_ed25519'):\n"
        "        attempt(lambda: os.close(os.open(name, os.O_RDONLY, dir_fd=folder)))"
    ),
    "change the machine": (
        # by what it shares with us: bubblewrap's own file, its devices, what we were given to read
        "import stat\n"
        "def change(path):\n"
        "    attempt(lambda: os.chmod(path, stat.S_IMODE(os.stat(path).st_mode)), '')\n"
        "    attempt(lambda: os.utime(path), '')\n"
        "for name in ('null', 'zero', 'full', 'random', 'urandom', 'tty'): change('/dev/' + name)\n"
        "change(0)\n"
        "for process in processes():\n"
        "    for name in ('exe', 'cwd', 'root', 'fd/0'): change(f'/proc/{{process}}/{{name}}')"
    ),
    "reach the first process": (
        "print(*(os.listdir('/proc/1') if processes() else ()))\n"
        "for name in ('exe', 'fd', 'mem', 'environ', 'cmdline', 'task/1/environ'):\n"
        "    os.path.lexists('/proc/1/' + name) and processes() and print(name)"
    ),
    "lie about the end": (
        "import glob\n"
        "for path in glob.glob('/proc/[0-9]*/fd/*'):\n"
        "    if path.split('/')[2] != str(os.getpid()):\n"
        "        attempt(lambda: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)), path)"
    ),
    "make a namespace by its parts": (
        "for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 1 << 28, 1 << 29, 1 << 30):\n"
        "    child, _ = call(56, bit | 17, 0, 0, 0, 0)\n"
        "    if child == 0: os._exit(0)\n"
        "    child > 0 and print('clone', hex(bit))\n"
        "    libc.unshare(bit) == 0 and print('unshare', hex(bit))"
    ),
    "enter a namespace": (
        "import fcntl, glob\n"
        "for path in glob.glob('/proc/*/ns/*'):\n"
        "    try: space = os.open(path, os.O_RDONLY)\n"
        "    except OSError: continue\n"
        "    call(308, space, 0)[0] == 0 and print('entered', path)\n"
        "    for command in (0xb701, 0xb702):\n"
        "        try: above = fcntl.ioctl(space, command)\n"
        "        except OSError: continue\n"
        "        call(308, above, 0)[0] == 0 and print('entered above', path)\n"
        "    os.close(space)"
    ),
    "take a cover away": (
        "for path in (b'.git', b'/proc/1', b'/proc/keys', b'/dev/null', b'/etc', b'/usr', b'/'):\n"
        "    for flags in (0, 1, 2, 8):\n"
        "        libc.umount2(path, flags) == 0 and print(path)\n"
        "    libc.mount(None, path, None, 32 | 4096, None) == 0 and print('remounted', path)\n"
        "    libc.mount(b'x', path, b'tmpfs', 0, None) == 0 and print('mounted on', path)"
    ),
    "mount in the new way": (
        "for number, values in ((428, (-100, b'/', 1)), (430, (b'tmpfs', 0)),\n"
        "        (433, (-100, b'/', 0)),\n"
        "        (429, (-100, b'/usr', -100, b'/tmp', 0)), (442, (-100, b'/', 0, bytes(32), 32)),\n"
        "        (467, (-100, b'/', 0, None, 0)), (155, (b'/tmp', b'/tmp')), (161, (b'/tmp',))):\n"
        "    call(number, *values)[0] >= 0 and print(number)"
    ),
    "call what nobody needs": (
        "for number in (425, 426, 427, 323, 321, 298, 300, 304, 440, 312, 310, 311, 438,\n"
        "               163, 103, 153, 179, 443, 246, 320, 313, 175, 169, 172, 173,\n"
        "               237, 238, 256, 279):\n"
        "    answer, error = call(number, 0, 0, 0, 0, 0, 0)\n"
        "    answer >= 0 or error != 1 and print(number, answer, error)"
    ),
    "call through another door": (
        "import mmap, signal\n"
        "for number in (39, 250, 41):\n"
        "    call(0x40000000 | number, 0, -4, 0)[0] >= 0 and print('x32', number)\n"
        "if os.uname().machine == 'x86_64' and (child := os.fork()) == 0:\n"
        "    code = mmap.mmap(-1, 4096, prot=7)\n"
        "    code.write(bytes.fromhex('b814000000cd80c3'))\n"
        "    start = ctypes.addressof(ctypes.c_char.from_buffer(code))\n"
        "    os._exit(ctypes.CFUNCTYPE(ctypes.c_int)(start)() > 0)\n"
        "elif os.uname().machine == 'x86_64':\n"
        "    _, status = os.waitpid(child, 0)\n"
        "    os.waitstatus_to_exitcode(status) > 0 and print('32 bits')"
    ),
    "make a file live by an archive": (
        "import io, subprocess, tarfile\n"
        "with tarfile.open('live.tar', 'w') as archive:\n"
        "    entry = tarfile.TarInfo('live')\n"
        "    entry.mode, entry.size = 0o6755, 1\n"
        "    archive.addfile(entry, io.BytesIO(b'x'))\n"
        "subprocess.run(['tar', '-xpf', 'live.tar'], stderr=subprocess.DEVNULL)\n"
        "os.path.exists('live') and os.stat('live').st_mode & 0o6000 and print('extracted')\n"
        "for number, values in ((452, (-100, b'live.tar', 0o4755, 0)),\n"
        "        (133, (b'n', 0o104755, 0)), (85, (b'c', 0o4755)), (83, (b'd', 0o2755)),\n"
        "        (257, (-100, b'.', 0o20200002, 0o4755))):\n"
        "    call(number, *values)[0] >= 0 and print(number)"
    ),
    "make a file that cannot be removed": (
        "import fcntl, struct\nopen('kept', 'w').close()\n"
        "file = os.open('kept', os.O_RDONLY)\n"
        "for flag in (0x10, 0x20):\n"
        "    attempt(lambda: fcntl.ioctl(file, 0x40086602, struct.pack('l', flag)), flag)"
    ),
    "become somebody else": (
        "others = [n for n in (0, 1, 1000, 4242) if n != os.getuid()]\n"
        "open('given', 'w').close()\n"
        "for one in others:\n"
        "    attempt(lambda: os.setuid(one), one)\n"
        "    attempt(lambda: os.chown('given', one, -1), one)\n"
        "attempt(lambda: os.setgroups([0, 4]))"
    ),
    "press ahead": (
        "attempt(lambda: os.nice(-1))\n"
        "attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))\n"
        "libc.mlockall(3) == 0 and print('locked')"
    ),
    "reorder the agent": (
        "import resource\n"
        "for process in ({agent}, {victim}):\n"
        "    if process < 20: continue\n"
        "    attempt(lambda: os.sched_setaffinity(process, {{0}}))\n"
        "    attempt(lambda: os.setpriority(os.PRIO_PROCESS, process, 19))\n"
        "    attempt(lambda: resource.prlimit(process, resource.RLIMIT_NOFILE, (3, 3)))"
    ),
    "rename the folders above": (
        # Those above are the sandbox's own: whoever moves them moves nothing of ours.
        "for old in ('..', '../..', {home!r}, os.path.dirname({home!r}), '/tmp'):\n"
        "    path = os.path.abspath(old)\n"
        "    attempt(lambda: os.rename(path, path + '-moved'), '')\n"
        "attempt(lambda: os.rename(os.getcwd(), os.getcwd() + '-moved'), 'moved')"
    ),
    # the network
    "reach the loopback": "attempt(lambda: socket.create_connection(('127.0.0.1', {port}), 2))",
    "reach an abstract socket": (
        "attempt(lambda: socket.socket(socket.AF_UNIX).connect('\\0{abstract}'))"
    ),
    "reach a socket outside": "attempt(lambda: socket.socket(socket.AF_UNIX).connect({path!r}))",
    "make strange sockets": (
        "usual = {{(family, kind) for family in (1, 2, 10) for kind in (1, 2)}}\n"
        "for family in range(46):\n"
        "    for kind in set(range(1, 11)) - {{k for f, k in usual if f == family}}:\n"
        "        for flags in (0, 0x80800):\n"
        "            attempt(lambda: socket.socket(family, kind | flags).close(), (family, kind))"
    ),
    "reach the machine by another name": (
        "for name in ('127.1.2.3', '0.0.0.0', '2130706433', '0x7f.1', '::1', '::',\n"
        "             '::ffff:127.0.0.1'):\n"
        "    attempt(lambda: socket.create_connection((name, {port}), 1), name)\n"
        "attempt(lambda: socket.getaddrinfo('told.example.com', 80), 'looked up')"
    ),
    # memory that nobody counts
    "fill what has no size": (
        "for folder in ('/', '/dev', '/var', '/run', '/home'):\n"
        "    attempt(lambda: open(folder + '/zz', 'w').close(), folder)"
    ),
    "fill the temporary folder": (
        "def fill():\n"
        "    for n in range(5):\n"
        "        with open(f'/tmp/{{n}}', 'wb') as file: file.write(bytes(64 << 20))\n"
        "attempt(fill)\n"
        "attempt(lambda: open('/dev/shm/x', 'wb').write(bytes(80 << 20)))"
    ),
}
"""Named for what would have been achieved."""

BASH = {
    "move .git": "mv .git elsewhere && mkdir -p .git/hooks && echo moved",
    "exchange .git": (
        "mkdir other; python3 -c 'import ctypes; print(*[1] * "
        '(ctypes.CDLL(None).renameat2(-100, b".git", -100, b"other", 2) == 0), sep="", end="")\''
    ),
    "replace .git": "rm -rf .git; rmdir .git; ln -sfn /tmp .git; cp -r .git copy && mv -T copy .git"
    " && echo replaced; [ -L .git ] && echo linked",
    "link what git has": "ln .git/config linked && echo linked",
    "change .git": (
        "for file in config hooks/pre-commit commondir config.worktree HEAD info/x; do\n"
        "  mkdir -p .git/hooks; echo x 2>&- >> .git/$file; done\n"
        "git config a.b c; mv .git/HEAD .git/x"
    ),
}


LANDLOCK_LIMITATIONS = {
    *("see the home", "change what is outside", "see the agent", "change the machine"),
    *BASH,
}
"""Attempts that Landlock cannot prevent, as its description says."""


@dataclass(frozen=True)
class Outside:
    """Things outside of the sandbox, within reach if the sandbox were not there."""

    victim: int
    port: int
    abstract: str
    path: str


@contextmanager
def neighbours(base: Path) -> Iterator[Outside]:
    """Run a process and listen on three kinds of sockets, as a desktop would."""
    os.environ["SOME_API_KEY"] = SECRET
    victim = subprocess.Popen(["sleep", "3600"])
    path, abstract = str(base / "desktop.sock"), f"desktop-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as unnamed,
    ):
        named.bind(path)
        named.listen()
        unnamed.bind(f"\0{abstract}")
        unnamed.listen()
        try:
            yield Outside(victim.pid, tcp.getsockname()[1], abstract, path)
            assert victim.poll() is None
        finally:
            victim.kill()
            victim.wait()
            del os.environ["SOME_API_KEY"]


def successes(
    sandbox_home: SandboxHome, outside: Outside, expected: Collection[str] = frozenset()
) -> dict[str, str]:
    """Make every attempt but the *expected*; return what those that succeeded got."""
    successful = {}
    state_before = _machine_state()
    values = {
        **{"secret": SECRET, "key": str(sandbox_home.secret), "home": str(sandbox_home.home)},
        **{"data": str(sandbox_home.data), "agent": os.getpid(), "victim": outside.victim},
        **{"session": os.getsid(0), "port": outside.port, "abstract": outside.abstract},
        "path": outside.path,
    }
    for name, code in PYTHON.items():
        if name in expected:
            continue
        result = sandbox_home.python((_TRY + code).format(**values) + "\nNone")
        if result.output.strip() or result.exit_reason != "exited" or result.exit_code:
            successful[name] = f"{result.exit_reason} {result.exit_code} {result.output}"
    for name, code in BASH.items():
        if name in expected:
            continue
        before = _git_files(sandbox_home.project)
        output = sandbox_home.bash(f"{{ {code}\n}} 2>/dev/null").output
        if output.strip() or _git_files(sandbox_home.project) != before:
            successful[name] = output
    if _machine_state() != state_before and "change the machine" not in expected:
        successful["change the machine"] = f"{state_before} became {_machine_state()}"
    return successful


def _git_files(project: Path) -> dict[str, bytes]:
    """Return what is in the repository of *project*: a run may only seem to have changed it."""
    files = (path for path in (project / ".git").rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def _machine_state() -> dict[str, tuple[int, int]]:
    """Return how files of the machine are that a program might reach past all mounts.

    The time of change tells also a change to what was there before; but what everybody may write
    to, everybody else may change as well.
    """
    places = [*BWRAP_PATHS, *(Path("/dev", name) for name in ("null", "zero", "full", "urandom"))]
    states = {str(path): path.stat() for path in places if path.exists()}
    return {
        path: (found.st_mode, found.st_ctime_ns if _is_ours_alone(found) else 0)
        for path, found in states.items()
    }


def _is_ours_alone(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid() and not found.st_mode & stat.S_IWOTH


def main() -> None:
    base, tier = Path(sys.argv[1]), sys.argv[2]
    if tier == "C":
        vars(selftest)["BWRAP_PATHS"] = ()
    with home_of_process(base) as sandbox_home, neighbours(base) as outside:
        tier_name = sandbox_home.sandbox().report().tier
        successful = {} if tier_name == tier else {"tier": tier_name}
        expected = LANDLOCK_LIMITATIONS if tier == "C" else set()
        sys.stdout.write(repr({**successful, **successes(sandbox_home, outside, expected)}))


if __name__ == "__main__":
    main()
