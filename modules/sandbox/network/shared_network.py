"""A network that the programs of one project share while one of them runs on in the background.

It is a namespace of its own, in which there is nothing but its loopback: what listens on a port
there is reached by the other programs that joined it, and by nobody else. bubblewrap makes it; from
then on it is kept by two descriptors of ours and by the programs in it, so it goes with the last of
them, and with us however we end.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.backends.bubblewrap import CLEAN_ENVIRONMENT, system_folders
from utils.i18n import UserError, phrase

_NS_GET_USERNS = 0xB701  # linux/nsfs.h
NSENTER_PATHS = (Path("/usr/bin/nsenter"), Path("/bin/nsenter"))
"""Paths where the program of util-linux may be that enters namespaces; PATH is not used."""


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Descriptors of a network namespace, and of the user namespace that it belongs to."""

    user: int
    net: int

    def arguments(self) -> list[str]:
        """Return the arguments before those of a program that is to be in them.

        It gets no descriptor for that, which it would keep: the namespaces are opened by our path.
        """
        ours = f"/proc/{os.getpid()}/fd"
        namespaces = [f"--user={ours}/{self.user}", f"--net={ours}/{self.net}"]
        return [str(_nsenter()), *namespaces, "--preserve-credentials", "--"]


def namespaces_of(process: int, stack: ExitStack) -> Namespaces:
    """Return the namespaces of the network that *process* is in; *stack* closes them.

    Raises `OSError`.
    """
    net = _open(Path(f"/proc/{process}/ns/net"), stack)
    user = fcntl.ioctl(net, _NS_GET_USERNS)
    stack.callback(os.close, user)
    return Namespaces(user, net)


_instances_lock = threading.Lock()
_instances: weakref.WeakValueDictionary[tuple[Path, Path], SharedNetwork] = (
    weakref.WeakValueDictionary()
)


def shared_network_of(project: Path, cache_folder: Path) -> SharedNetwork:
    """Return the one that all sandboxes of this process around *project* share.

    They share its files and its home as well: what one session may do, another can have done.
    """
    with _instances_lock:
        key = project.resolve(), cache_folder.resolve()
        network = _instances.get(key)
        if network is None:
            network = _instances[key] = SharedNetwork()
        return network


class SharedNetwork:
    """The network of one project, made when the first program wants it; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._namespaces: Namespaces | None = None
        self._stack = ExitStack()

    @contextmanager
    def joined(self, bubblewrap: Path, *, makes: bool) -> Iterator[Namespaces | None]:
        """Keep the network while the block lasts; without *makes*, None where nobody has made it.

        Raises `UserError` where the machine does not let us make one.
        """
        with self._lock:
            if self._namespaces is None and makes:
                self._namespaces = _new_namespaces(bubblewrap, self._stack)
            namespaces = self._namespaces
            self._users += namespaces is not None
        try:
            yield namespaces
        finally:
            if namespaces is not None:
                self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._namespaces = None
                self._stack.close()


def _new_namespaces(bubblewrap: Path, stack: ExitStack) -> Namespaces:
    """Return new namespaces, which *stack* lets go of. Raises `UserError`."""
    try:
        with ExitStack() as opened:
            namespaces = _opened(bubblewrap, opened)
            stack.push(opened.pop_all())
    except OSError as error:
        raise UserError(
            phrase(
                "Programs in the background need a network of their own, which cannot be made "
                "here: {why}.",
                why=str(error)[:300],
            )
        ) from error
    return namespaces


def _opened(bubblewrap: Path, stack: ExitStack) -> Namespaces:
    """Return namespaces made by a program that ends with this, their descriptors on *stack*.

    It repeats a byte once it is inside, with all set up. Raises `OSError`.
    """
    with _pipe() as (status, status_write):
        process = subprocess.Popen(  # noqa: S603 - the arguments are ours
            [*_arguments(bubblewrap, status_write), "/bin/cat"],
            env=CLEAN_ENVIRONMENT,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(status_write,),
            start_new_session=True,
        )
        with process:
            assert process.stdin  # noqa: S101 - as above
            assert process.stdout  # noqa: S101
            process.stdin.write(b"1")
            process.stdin.flush()
            if (answer := process.stdout.read(1)) != b"1":
                answer += process.stdout.read(500)
                raise OSError(answer.decode(errors="replace").strip())
            inner = json.loads(os.read(status, 4096).splitlines()[0])["child-pid"]
            user, net = (_open(Path(f"/proc/{inner}/ns/{name}"), stack) for name in ("user", "net"))
    return Namespaces(user, net)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def _open(path: Path, stack: ExitStack) -> int:
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    return descriptor


def _arguments(bubblewrap: Path, status: int) -> list[str]:
    return [
        str(bubblewrap),
        *("--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--new-session", "--cap-drop", "ALL", "--clearenv"),
        *system_folders(),
        *("--json-status-fd", str(status), "--"),
    ]


def _nsenter() -> Path:
    for path in NSENTER_PATHS:
        if os.access(path, os.X_OK):
            return path
    raise UserError(
        phrase("Programs in the background need nsenter, which util-linux has. Install it.")
    )
