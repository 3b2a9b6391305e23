"""Git over the network as the person: their credentials, and nothing of the project.

It works in a bare repository of ours, which has the person's own config and borrows the objects of
the project's. What the project's repository obeys (config, hooks, attributes) is not read there;
what comes over is taken into it whole: first the objects, then the refs, each from what it was.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.tools import ToolError
from modules.files.git.common_dir import read_regular_file
from modules.files.git.git_config import transport_config
from modules.files.git.git_runs import GitRuns, refusal
from modules.files.git.staging import refuse_links
from modules.files.git_remotes.person_environment import PersonEnvironment
from utils.i18n import phrase
from utils.system.child import OnCancel, TimedOut, run_program

_REF_FORMAT = "--format=%(objectname) %(refname)"
PROTOCOLS = ("file", "git", "http", "https", "ssh")
_OBJECT_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]{40,64}\.(pack|rev|idx)")
_ORDER = ("", ".pack", ".rev", ".idx")  # git believes in a pack once there is its index


@dataclass(frozen=True, slots=True)
class Ref:
    """A ref that another repository has moved; *old* is "" where it is new."""

    name: str
    old: str
    new: str


class Transport:
    """A bare repository in *folder* through which the repository of *git* talks to others."""

    def __init__(self, git: GitRuns, folder: Path, person: PersonEnvironment) -> None:
        self._git = git
        self.folder = folder
        self._person = person
        self._until: OnCancel | None = git.git.until
        self.refs = _parse_refs(git.run("for-each-ref", _REF_FORMAT))
        """The object of each ref of the repository of *git*, as it was at the start."""
        self._make()

    def _make(self) -> None:
        isolated = self._git.git
        for name in ("objects/info", "objects/pack", "refs/heads"):
            (self.folder / name).mkdir(parents=True)
        objects = isolated.common_dir.path / "objects"
        (self.folder / "objects/info/alternates").write_text(f"{objects}\n")
        config = transport_config(isolated.program, isolated.folders, isolated.common_dir.path)
        (self.folder / "config").write_bytes(config.encode("utf-8", "surrogateescape"))
        self._copy("shallow", isolated.folders.common_dir, self.folder)
        (self.folder / "HEAD").write_text("ref: refs/heads/none\n")
        lines = [f"{object_id} {name}\n" for name, object_id in sorted(self.refs.items())]
        (self.folder / "packed-refs").write_text(
            "".join(["# pack-refs with: sorted \n", *lines]), errors="surrogateescape"
        )

    def fetch(self, address: str, refspec: str) -> list[Ref]:
        """Fetch from *address* and return what is new, which is in the repository of *git* then.

        Raises `ToolError`.
        """
        self.run("fetch", "--quiet", "--no-write-fetch-head", "--", address, refspec)
        refuse_links(self._git)
        self._take_objects()
        self._copy("shallow", self.folder, self._git.git.folders.common_dir)
        now = self._refs_now()
        moved = [Ref(name, self.refs.get(name, ""), new) for name, new in now.items()
                 if self.refs.get(name) != new]  # fmt: skip
        self.update(moved)
        return moved

    def push(self, address: str, object_id: str, ref: str) -> None:
        """Push *object_id* as *ref* to *address*, never by force. Raises `ToolError`."""
        self.run("push", "--porcelain", "--", address, f"{object_id}:{ref}")

    def default_branch(self, address: str) -> str:
        """Return the branch that HEAD of *address* is on. Raises `ToolError` if that has none."""
        listed = os.fsdecode(self.run("ls-remote", "--symref", "--", address, "HEAD"))
        for line in listed.splitlines():
            if line.startswith("ref: refs/heads/"):
                return line.removeprefix("ref: refs/heads/").partition("\t")[0]
        raise ToolError(
            phrase("The remote has no commit yet, or its HEAD is on no branch; name one in branch.")
        )

    def update(self, refs: Sequence[Ref]) -> None:
        """Move *refs* of the repository of *git*, all or none: each must still be what it was."""
        lines = [f"update {ref.name}\0{ref.new}\0{ref.old or '0' * len(ref.new)}\0" for ref in refs]
        if lines:
            refuse_links(self._git, [ref.name for ref in refs])
            stdin = os.fsencode("".join(lines))
            self._git.run("update-ref", "--create-reflog", "-z", "--stdin", stdin=stdin)

    def _take_objects(self) -> None:
        source = self.folder / "objects"
        target = self._git.git.folders.common_dir / "objects"
        names = (path.relative_to(source) for path in source.rglob("*") if path.is_file())
        found = [name for name in names if _OBJECT_FILE.fullmatch(name.as_posix())]
        for name in sorted(found, key=lambda name: _ORDER.index(name.suffix)):
            (target / name).parent.mkdir(exist_ok=True)
            temporary = (target / name).with_name(f"tmp_{name.name}")
            shutil.copyfile(source / name, temporary)
            temporary.chmod(0o444)
            temporary.replace(target / name)

    @staticmethod
    def _copy(name: str, source: Path, target: Path) -> None:
        """Make the file *name* of *target* that of *source*, if it is there and another."""
        content = read_regular_file(source / name)
        if content and content != read_regular_file(target / name):
            temporary = target / f"{name}.lock"
            with temporary.open("xb") as file:  # as git would: somebody else's is left alone
                file.write(content)
            temporary.replace(target / name)

    def _refs_now(self) -> dict[str, str]:
        return _parse_refs(self.run("for-each-ref", _REF_FORMAT))

    @property
    def search_path(self) -> str:
        """The PATH that programs of the person are found on, none of them in the project."""
        return self._person.variables.get("PATH", os.defpath)

    def run(
        self,
        *arguments: str,
        program: str | None = None,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git, or the *program* of git's, here as the person; return what it prints.

        *variables* are added. Raises `ToolError`.
        """
        environment = {
            **self._person.variables,
            "LC_ALL": "C.UTF-8",
            "GIT_DIR": os.fspath(self.folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            **(variables or {}),
        }
        try:
            answer = run_program(
                [program or self._git.git.program, *arguments],
                folder=self.folder,
                environment=environment,
                seconds=self._person.seconds,
                stdin=stdin,
                on_cancel=self._until,
            )
        except TimedOut:
            raise ToolError(phrase("git took too long and was stopped.")) from None
        except OSError as error:
            raise ToolError(phrase("git refused: {said}", said=str(error))) from None
        if answer.code:
            raise refusal(answer)
        return answer.output


def _parse_refs(listed: bytes) -> dict[str, str]:
    words = (line.partition(" ") for line in os.fsdecode(listed).splitlines())
    return {name: object_id for object_id, _, name in words}
