"""The Containerfile, as far as a machine without an engine for containers can build and start it.

What fetches from the network (the base image, apt, pip) is left out. The other steps of the last
stage run in a root of their own, and what they make is started as the Containerfile says.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.test_installed import Installed
from tests.test_installed import built as built  # fixtures
from tests.test_installed import environment as environment
from tests.test_installed import installed as installed

ROOT = Path(__file__).parents[1]
SYSTEM_FILES = ("ld.so.cache", "login.defs", "nsswitch.conf")


def last_stage() -> list[tuple[str, str]]:
    """Return the instructions of the last stage, each with what follows it."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    steps = [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]
    begins = [number for number, (word, _) in enumerate(steps) if word == "FROM"]
    return steps[begins[-1] :]


def open_folders(paths: Iterable[str]) -> Iterator[str]:
    """Yield the options that make the folders above *paths*, for anybody to enter."""
    above = {
        folder.as_posix() for path in (*paths, "/opt/onefold") for folder in Path(path).parents
    }
    for folder in sorted(above - {"/"}):
        yield from ("--perms", "0755", "--dir", folder)


@pytest.mark.root
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_what_the_steps_make_starts_as_the_user_of_the_image(
    installed: Installed, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    for name in ("etc", "opt", "home", "data", "project", "bin"):
        (root / name).mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    for name in SYSTEM_FILES:
        if Path("/etc", name).exists():
            shutil.copy(Path("/etc", name), root / "etc" / name)
    steps = last_stage()
    told = {word: rest for word, rest in steps if word != "RUN"}
    name, _, value = told["ENV"].partition("=")
    loaded = (sys.base_prefix, sysconfig.get_path("purelib"), str(installed.place))
    container = [
        *("bwrap", "--unshare-pid", "--tmpfs", "/", "--ro-bind", "/usr", "/usr"),
        *(word for part in ("bin", "lib", "lib64", "sbin") for word in
          ("--symlink", f"usr/{part}", f"/{part}") if Path("/", part).is_symlink()),
        *(word for part in ("etc", "home", "data", "project") for word in
          ("--bind", str(root / part), f"/{part}")),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *open_folders(loaded)),
        *(word for path in loaded for word in ("--ro-bind", path, path)),
        *("--bind", str(root / "bin"), "/usr/local/bin"),  # above what is loaded, which may be /usr
        *("--ro-bind", str(installed.place), "/opt/onefold", "--clearenv"),
        *("--setenv", "PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        *("--setenv", name, value, "--chdir", "/"),
    ]  # fmt: skip

    def run(*command: str) -> str:
        done = subprocess.run(
            [*container, *command], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    for word, rest in steps:
        if word == "RUN" and "apt-get" not in rest:
            run("sh", "-ec", rest)
    user = told["USER"]
    (number,) = re.findall(rf"^{user}:[^:]*:(\d+):", (root / "etc/passwd").read_text(), re.M)
    entry = json.loads(told["ENTRYPOINT"])
    group = Path(loaded[1]).stat().st_gid  # who made the packages need not let everybody read them
    as_user = ["setpriv", "--reuid", number, "--regid", number, "--groups", str(group)]
    as_user += ["env", "--chdir", told["WORKDIR"], f"HOME=/home/{user}"]
    (root / "project" / "a.txt").write_text("one\n")
    assert "a.txt" in run(*as_user, *entry, "-p", "describe this folder", "--offline")
    assert [path.name for path in (root / "data" / "projects").iterdir()] != []
    assert (root / "data").stat().st_mode & 0o777 == 0o700


def test_what_the_image_is_made_of_is_there() -> None:
    stages = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert '"/source[all]"' in stages
    assert stages.count("COPY --from=build /opt/onefold /opt/onefold") == 1
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert not {".git", "tools", "core", "modules", "requirements.txt"} & {*ignored}
