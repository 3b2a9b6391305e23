"""Attempts to get out of the sandbox. Each prints what it got; nothing means that it held.

Run as a script with a folder, it makes them all there and prints those that succeeded: so they
can be made by a user who has no test runner.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox import Limits
from tests.modules.sandbox.house import SECRET, House, lived_in

_TRY = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(act, what="it worked"):
    try:
        act()
    except (OSError, ValueError):
        return
    print(what)
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
    "read the home": "tell({key!r}); os.path.lexists({key!r}) and print('seen')",
    "list the home": "print(*(set(os.listdir({home!r})) - {{'work', 'plain'}}))",
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
        "for name in os.listdir('/proc'):\n"
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
        "lines = open('/proc/self/status').read().split('\\n')\n"
        "print(*(l for l in lines if l.startswith(('CapEff', 'CapPrm')) and int(l.split()[1], 16)))"
    ),
    "go unfiltered": (
        "for process in filter(str.isdigit, os.listdir('/proc')):\n"
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
        "for path in ({key!r}, '/etc/passwd', '.git/config', '/usr/bin/env'):\n"
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
        "for process in filter(str.isdigit, os.listdir('/proc')):\n"
        "    for name in os.listdir(f'/proc/{{process}}/fd'):\n"
        "        try: target = os.readlink(f'/proc/{{process}}/fd/{{name}}')\n"
        "        except OSError: continue\n"
        "        target.startswith('/') and not target.startswith(('/dev/null', '/proc', '/memfd'))"
        " and print(process, name, target)"
    ),
    "go on beyond the last folder": (
        "folder = os.open('.', os.O_RDONLY)\n"
        "for _ in range(12):\n"
        "    folder = os.open('..', os.O_RDONLY, dir_fd=folder)\n"
        "    for name in ('.ssh/id_ed25519', 'home/.ssh/id_ed25519'):\n"
        "        attempt(lambda: os.close(os.open(name, os.O_RDONLY, dir_fd=folder)))"
    ),
    # the network
    "reach the loopback": "attempt(lambda: socket.create_connection(('127.0.0.1', {port}), 2))",
    "reach an abstract socket": (
        "attempt(lambda: socket.socket(socket.AF_UNIX).connect('\\0{abstract}'))"
    ),
    "reach a socket outside": "attempt(lambda: socket.socket(socket.AF_UNIX).connect({path!r}))",
    "make strange sockets": (
        "for family, kind in ((40, 1), (16, 3), (17, 3), (38, 5), (2, 3)):\n"
        "    attempt(lambda: socket.socket(family, kind).close(), family)"
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
    "change .git": (
        "for file in config hooks/pre-commit commondir config.worktree HEAD info/x; do\n"
        "  echo x 2>&- >> .git/$file && echo $file; done; git config a.b c && echo config"
    ),
}


@dataclass(frozen=True)
class Outside:
    """What stands outside of the sandbox, within reach if the sandbox were not there."""

    victim: int
    port: int
    abstract: str
    path: str


@contextmanager
def neighbours(base: Path) -> Iterator[Outside]:
    """Run a process and listen on three kinds of sockets, as a desktop would."""
    os.environ["SOME_API_KEY"] = SECRET
    victim = subprocess.Popen(["sleep", "300"])
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


def successes(house: House, outside: Outside) -> dict[str, str]:
    """Make every attempt; return what those that succeeded got."""
    got = {}
    values = {
        **{"secret": SECRET, "key": str(house.secret), "home": str(house.home)},
        **{"data": str(house.data), "agent": os.getpid(), "victim": outside.victim},
        **{"session": os.getsid(0), "port": outside.port, "abstract": outside.abstract},
        "path": outside.path,
    }
    for name, code in PYTHON.items():
        result = house.python((_TRY + code).format(**values) + "\nNone", Limits(seconds=30))
        if result.output.strip() or result.why != "exited" or result.exit_code:
            got[name] = f"{result.why} {result.exit_code} {result.output}"
    for name, code in BASH.items():
        output = house.bash(f"{{ {code}\n}} 2>/dev/null").output
        if output.strip():
            got[name] = output
    return got


def main() -> None:
    base = Path(sys.argv[1])
    with lived_in(base) as house, neighbours(base) as outside:
        tier = house.sandbox().report().tier
        got = {"tier": tier} if tier not in ("A", "B") else {}
        sys.stdout.write(repr({**got, **successes(house, outside)}))


if __name__ == "__main__":
    main()
