"""A container without Docker: a root folder of its own, and the programs of this machine.

Bubblewrap makes it and one idle process holds it, as long as it is wanted; each command enters
its namespaces, so a server that one of them started is there for the next. `/usr` is this
machine's, read-only, and `/etc` a copy of what there everybody may read; all else is the
container's own. Root in there is the user that started it. The network is this machine's, or none.

It keeps a task from the files of this machine. It is no wall against a hostile one, as it shares
the kernel, and the network where there is one.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .dockerfile import PATH, Copy, Recipe

FOLDERS = ("dev", "home", "mnt", "opt", "proc", "root", "run", "srv", "tmp", "usr", "var/tmp")
_LIBRARIES = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_CAPABILITIES = (  # those of root in a container of Docker; no mounting, so /usr stays read-only
    "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service sys_chroot "
    "audit_write setfcap"
)
_OF_THE_KERNEL = ("sys", "sysrq-trigger", "irq", "bus", "fs")
"""What of `/proc` is one for the whole machine: root of this machine could write to it."""
_START_SECONDS = 30


class ContainerError(RuntimeError):
    """The container could not be made, or something in it failed that had to work."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that is over."""

    code: int
    output: str
    errors: str


class Container:
    """One container; `start` before all else, `stop` after all."""

    def __init__(self, *, has_network: bool = True) -> None:
        self.folder = "/"
        """Where commands run unless they say where."""
        self.variables: Mapping[str, str] = {"PATH": PATH}
        """The environment of every command, with HOME."""
        self._has_network = has_network
        self.root: Path | None = None
        """Its root folder on this machine, None while it has none."""
        self._holder: asyncio.subprocess.Process | None = None
        self._pid = 0

    async def start(self) -> None:
        """Make the container. Raises `ContainerError` where the system does not allow it."""
        self.root = Path(tempfile.mkdtemp(prefix="onefold-harbor-"))
        _furnish(self.root)
        reading, writing = os.pipe()
        try:
            self._holder = await asyncio.create_subprocess_exec(
                *_bubblewrap(self.root, writing, has_network=self._has_network),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(writing,),
            )
        finally:
            os.close(writing)
        with os.fdopen(reading) as info:
            await self._wait_until_ready(self._holder)
            self._pid = _child_pid(info.read())

    async def _wait_until_ready(self, holder: asyncio.subprocess.Process) -> None:
        if holder.stdout is None or holder.stderr is None:
            raise ContainerError("The process that holds the container has no output.")
        first = await asyncio.wait_for(holder.stdout.readline(), _START_SECONDS)
        if first != b"ready\n":
            errors = await holder.stderr.read()
            raise ContainerError(f"bubblewrap: {errors.decode(errors='replace').strip()}")

    async def stop(self, *, delete: bool = True) -> None:
        """End all that runs in it; *delete* its files as well."""
        if self._holder and self._holder.returncode is None:
            self._holder.kill()
            await self._holder.wait()
        if self.root and delete:
            _remove(self.root)
            self.root = None

    async def build(self, recipe: Recipe, source: Path) -> None:
        """Follow *recipe*, whose files are in the folder *source*. Raises `ContainerError`."""
        await self.run(["mkdir", "-p", recipe.folder], folder="/")
        for step in recipe.steps:
            if isinstance(step, Copy):
                await self._copy(step, source)
                continue
            await self.run(["mkdir", "-p", step.folder], folder="/")
            await self.run(["sh", "-c", step.command], folder=step.folder, more=step.variables)
        self.folder, self.variables = recipe.folder, recipe.variables

    async def execute(
        self,
        command: Sequence[str],
        *,
        folder: str | None = None,
        more: Mapping[str, str] | None = None,
        seconds: float | None = None,
        given: IO[bytes] | None = None,
        taken: IO[bytes] | None = None,
    ) -> Ended:
        """Run *command* in *folder* with *more* variables; it reads *given*, or nothing.

        It is over when its first process is, whatever that left behind, and what it wrote goes to
        *taken* or is returned. After *seconds* it is killed, and `TimeoutError` is raised; what
        went into a session of its own stays.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = await asyncio.create_subprocess_exec(
                *self._entered(command, folder or self.folder),
                stdin=given or asyncio.subprocess.DEVNULL,
                stdout=taken or output,
                stderr=errors,
                env={"HOME": "/root", **self.variables, **(more or {})},
                start_new_session=True,
            )
            try:
                code = await asyncio.wait_for(process.wait(), seconds)
            except (TimeoutError, asyncio.CancelledError):
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
                raise
            return Ended(code, _read(output), _read(errors))

    async def run(
        self,
        command: Sequence[str],
        *,
        folder: str | None = None,
        more: Mapping[str, str] | None = None,
        given: IO[bytes] | None = None,
        taken: IO[bytes] | None = None,
    ) -> None:
        """Do the same where it has to succeed. Raises `ContainerError`."""
        ended = await self.execute(command, folder=folder, more=more, given=given, taken=taken)
        if ended.code:
            told = (ended.errors or ended.output).strip()[-2000:]
            raise ContainerError(f"{' '.join(command)}: exit code {ended.code}: {told}")

    async def put_file(self, source: Path, target: str) -> None:
        """Copy a file of this machine to the path *target*, with its mode."""
        mode = f"{stat.S_IMODE(source.stat().st_mode):o}"
        script = 'mkdir -p -- "$(dirname -- "$1")" && cat >"$1" && chmod "$2" "$1"'
        with source.open("rb") as given:
            await self.run(["sh", "-c", script, "sh", target, mode], given=given)

    async def put_folder(self, source: Path, target: str) -> None:
        """Copy what is in a folder of this machine into the folder *target*."""
        with tempfile.TemporaryFile() as archive:
            with tarfile.open(fileobj=archive, mode="w") as tar:
                tar.add(source, arcname=".")
            archive.seek(0)
            script = 'mkdir -p -- "$1" && tar -x --no-same-owner -C "$1"'
            await self.run(["sh", "-c", script, "sh", target], given=archive)

    async def take_file(self, source: str, target: Path) -> None:
        """Copy the file *source* to this machine; a link is followed inside the container."""
        with tempfile.TemporaryFile() as content:
            await self.run(["cat", "--", source], taken=content)
            content.seek(0)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(content, file)

    async def take_folder(self, source: str, target: Path) -> None:
        """Copy what is in the folder *source* to this machine, but nothing that leads out of it."""
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile() as archive:
            await self.run(["tar", "-c", "-C", source, "."], taken=archive)
            archive.seek(0)
            with tarfile.open(fileobj=archive) as tar:
                tar.extraction_filter = _harmless  # from 3.11.4 on
                tar.extractall(target, _inside(tar))  # noqa: S202 - filtered

    async def _copy(self, step: Copy, source: Path) -> None:
        await self.run(["mkdir", "-p", step.folder], folder="/")
        target = step.target if step.target.startswith("/") else f"{step.folder}/{step.target}"
        for name in step.sources:
            path = (source / name).resolve()
            if not path.is_relative_to(source.resolve()) or not path.exists():
                raise ContainerError(f"COPY {name}: there is no such file in {source}.")
            if path.is_dir():
                await self.put_folder(path, target)
            else:
                into = step.target.endswith(("/", ".")) or len(step.sources) > 1
                await self.put_file(path, f"{target}/{path.name}" if into else target)

    def _entered(self, command: Sequence[str], folder: str) -> list[str]:
        namespaces = ["--user", "--preserve-credentials", "--mount", "--pid", "--ipc", "--uts"]
        if not self._has_network:
            namespaces.append("--net")
        bounds = ",".join(f"+{name}" for name in _CAPABILITIES.split())
        begin = 'cd -- "$1" && shift && exec "$@"'
        return [
            *(_found("nsenter"), "--target", str(self._pid), *namespaces, "--"),
            *(_found("setpriv"), "--bounding-set", f"-all,{bounds}", "--inh-caps", "-all", "--"),
            *("/bin/sh", "-c", begin, "sh", folder, *command),
        ]


def _furnish(root: Path) -> None:
    """Lay out the folders of a system in *root*."""
    root.chmod(0o755)
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    for name in _LIBRARIES:
        here = Path("/", name)
        if here.is_symlink():
            (root / name).symlink_to(here.readlink())
        elif here.is_dir():
            (root / name).mkdir()
    _copy_public(Path("/etc"), root / "etc")


def _copy_public(source: Path, target: Path) -> None:
    """Copy what everybody may read of *source*: no keys, no shadow."""
    target.mkdir()
    for entry in os.scandir(source):
        path, mode = target / entry.name, entry.stat(follow_symlinks=False).st_mode
        if entry.is_symlink():
            path.symlink_to(Path(entry.path).readlink())
        elif entry.is_dir() and mode & stat.S_IXOTH and mode & stat.S_IROTH:
            _copy_public(Path(entry.path), path)
        elif entry.is_file() and mode & stat.S_IROTH:
            shutil.copy(entry.path, path)


def _bubblewrap(root: Path, info: int, *, has_network: bool) -> list[str]:
    libraries = [f"/{name}" for name in _LIBRARIES if (root / name).is_dir()]
    binds = [word for path in ("/usr", *libraries) for word in ("--ro-bind", path, path)]
    kernel = [f"/proc/{name}" for name in _OF_THE_KERNEL]
    guards = [word for path in kernel for word in ("--ro-bind-try", path, path)]
    resolver = "/etc/resolv.conf"
    if Path(resolver).is_symlink():  # into /run, which is not there
        binds += ["--ro-bind", str(Path(resolver).resolve()), str(Path(resolver).resolve())]
    return [
        *(_found("bwrap"), "--die-with-parent", "--new-session", "--info-fd", str(info)),
        *("--unshare-user", "--uid", "0", "--gid", "0", "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", "task"),
        *(() if has_network else ("--unshare-net",)),
        *("--bind", str(root), "/", *binds, "--proc", "/proc", *guards, "--dev", "/dev"),
        *("--", "/bin/sh", "-c", "echo ready; exec sleep infinity"),
    ]


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise ContainerError(f"There is no {program} on this machine (bubblewrap, util-linux).")
    return path


def _child_pid(info: str) -> int:
    _, _, rest = info.partition('"child-pid":')
    return int(rest.strip(" }\n").partition(",")[0])


def _inside(tar: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Return what of *tar* is neither a device nor, itself or as a link, outside of the folder."""
    return [one for one in tar if not one.isdev() and not _leads_out(one)]


def _leads_out(member: tarfile.TarInfo) -> bool:
    base = os.path.dirname(member.name) if member.issym() else ""  # noqa: PTH120 - a name in tar
    places = [member.name, *([os.path.join(base, member.linkname)] if member.linkname else [])]  # noqa: PTH118
    return any(path.startswith("/") or os.path.normpath(path).startswith("..") for path in places)


def _harmless(member: tarfile.TarInfo, target: str) -> tarfile.TarInfo | None:
    """Leave out what a link that was unpacked before would lead out of the folder."""
    try:
        return tarfile.data_filter(member, target)
    except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError):
        return None


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _remove(root: Path) -> None:
    """Delete *root*, whatever permissions were taken from its folders."""
    for folder, names, _ in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(root)
