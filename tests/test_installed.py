"""Onefold as an installed program: what is built of the checkout, and what it does elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from config import full_version
from tests import archives
from tests.modules.web.test_serve import started
from tools.packaging.pyz import write_archive

ROOT = Path(__file__).parents[1]
TIMEOUT_SECONDS = 300
HOSTILE_NAMES = (
    *("core/__init__.py", "modules/__init__.py", "utils/__init__.py", "onefold/__init__.py"),
    *("config.py", "main.py", "click.py", "PIL.py", "sqlite3.py", "json.py", "usercustomize.py"),
)


def python(*arguments: str | Path, folder: Path = ROOT) -> None:
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, timeout=TIMEOUT_SECONDS)


def build(folder: Path, source: Path = ROOT) -> tuple[Path, Path]:
    """Build what there is of *source*; return the wheel and the source archive."""
    python("-m", "hatchling", "build", "-d", folder, folder=source)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("built"))


@dataclass(frozen=True)
class Installed:
    """A way to start Onefold, and a home in which nothing was before."""

    command: Sequence[str]
    place: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        kept.pop("ONEFOLD_DATA_DIR", None)
        return {**kept, "HOME": str(self.home), "ONEFOLD_BOOTSTRAP": "1"}

    def run(self, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *options], cwd=folder, env=self.environment, capture_output=True,
            stdin=subprocess.DEVNULL, text=True, timeout=TIMEOUT_SECONDS, check=False,
        )  # fmt: skip

    def answer(self, task: str, folder: Path) -> str:
        done = self.run("-p", task, "--offline", folder=folder)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


def install(wheel: Path, environment: Path) -> list[str]:
    """Install *wheel* in the new *environment*, beside the packages of this one."""
    python("-m", "venv", "--without-pip", environment)
    interpreter = environment / "bin" / "python"
    pip = [
        "-m",
        "pip",
        "--python",
        str(interpreter),
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
    ]
    python(*pip, "--no-compile", "--disable-pip-version-check", wheel)
    (packages,) = environment.glob("lib/*/site-packages")
    (packages / "packages.pth").write_text(sysconfig.get_path("purelib"))
    return [str(environment / "bin" / "onefold")]


@pytest.fixture(scope="module")
def environment(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is installed for all tests, which may change nothing there."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    install(built[0], folder)
    return folder


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    (tmp_path / "home").mkdir()
    return Installed([str(environment / "bin" / "onefold")], environment, tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with all that Onefold could take for its own when it looks in the wrong place."""
    folder = tmp_path / "demo"
    for name in HOSTILE_NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"open({str(tmp_path / 'loaded')!r}, 'a').write(__file__)\n")
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_what_is_built_twice_is_the_same(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, archive = built
    with tarfile.open(archive) as files:
        archives.unpack(files, tmp_path / "source")
    (source,) = (tmp_path / "source").iterdir()
    wheel_again, archive_again = build(tmp_path / "again", source)
    assert wheel_again.read_bytes() == wheel.read_bytes()
    assert archive_again.read_bytes() == archive.read_bytes()


def test_the_wheel_puts_all_in_one_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"onefold", "onefold-0.1.0.dist-info"}
    rooms = {
        name.split("/")[1] for name in names if name.count("/") > 1 and "dist-info" not in name
    }
    assert rooms == {"core", "modules", "utils", "prompts", "static", "templates"}
    tracked = [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {f"onefold/{path}" for path in tracked} <= {*names}


def test_the_wheel_requires_the_locked_versions(built: tuple[Path, Path]) -> None:
    required = metadata_of(built[0]).get_all("Requires-Dist") or []
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    lines += (ROOT / "constraints.txt").read_text().partition("# What the others")[0].splitlines()
    pins = {line.split()[0].lower().replace("_", "-") for line in lines if "==" in line}
    assert pins == {line for line in required if "extra" not in line}


def test_an_installed_program_loads_nothing_of_the_folder_it_works_in(
    installed: Installed, project: Path, tmp_path: Path
) -> None:
    assert installed.run("--version", folder=project).stdout == f"Onefold {full_version()}\n"
    assert "a.txt" in installed.answer("describe this folder", project)
    assert "two" in installed.answer("find two", project)
    by_module = [str(installed.place / "bin" / "python"), "-P", "-m", "onefold"]
    module = Installed(by_module, installed.place, installed.home)
    assert "a.txt" in module.answer("describe this folder", project)
    assert not (tmp_path / "loaded").exists()


def test_the_data_is_in_the_folder_of_the_platform_and_only_there(
    installed: Installed, project: Path
) -> None:
    def files() -> set[Path]:
        return {path for path in installed.place.rglob("*") if "__pycache__" not in path.parts}

    before = files()
    installed.answer("describe this folder", project)
    assert files() == before  # no environment of its own, no data
    (data,) = (path for path in installed.home.rglob("onefold") if path.is_dir())
    base = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    assert data == installed.home / base / "onefold"
    assert data.stat().st_mode & 0o077 == 0
    (data / "config.toml").write_text("step_limit = 7\n")
    assert "up to 7 per task" in installed.answer("/status", project)
    (data / ".env").write_text("ONEFOLD_STEP_LIMIT=8\n")
    assert "up to 8 per task" in installed.answer("/status", project)


def test_the_page_is_served(installed: Installed, project: Path) -> None:
    argv = [*installed.command, "web", "--offline", "--port", "0", "--project", str(project)]
    argv = ["env", *(f"{name}={value}" for name, value in installed.environment.items()), *argv]
    with started(project, argv=argv) as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 0


def test_a_first_message_begins_the_dialogue(installed: Installed, project: Path) -> None:
    for words in (["find two"], ["--", "web"]):
        done = installed.run("--offline", *words, folder=project)
        assert done.returncode == 0
        assert done.stdout.startswith(f"› {words[-1]}\n")


def test_the_command_to_go_on_is_the_one_that_was_said(
    installed: Installed, project: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.json"
    old.write_text('[{"role": "user", "content": "hello"}]')
    said = installed.run("--import", str(old), folder=project).stderr
    assert f"{installed.command[0]} --cli --project {project} --resume" in said


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_program_changes_no_file_through_another_name_that_an_installer_left(
    installed: Installed, project: Path
) -> None:
    (packages,) = installed.place.glob("lib/*/site-packages")
    code = packages / "onefold" / "main.py"
    (project / "cache").mkdir()
    for number, file in enumerate([code, *packages.glob("onefold-*/METADATA")]):
        (project / "cache" / str(number)).hardlink_to(file)
    before = code.read_bytes()
    (project / "r.py").write_text("open('cache/0', 'a').write('import os')\nprint('done')\n")
    done = installed.run("-p", "run r.py", "--offline", folder=project)
    assert done.returncode == 0
    assert "done" in done.stdout
    assert (project / "cache" / "0").read_bytes() != before
    assert code.read_bytes() == before


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_what_is_installed_in_the_project_can_be_read_but_not_changed(
    built: tuple[Path, Path], project: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    command = install(built[0], project / "environment")
    onefold = Installed(command, project / "environment", tmp_path / "home")
    (packages,) = onefold.place.glob("lib/*/site-packages")
    code = packages / "onefold" / "core" / "cards.py"
    before = code.read_bytes()
    (project / "r.py").write_text(f"open({str(code)!r}, 'a').write('import os')\n")
    done = onefold.run("-p", "run r.py", "--offline", folder=project)
    assert "Onefold itself is loaded from" in done.stderr
    assert "Read-only file system" in done.stdout
    assert code.read_bytes() == before


@pytest.fixture(scope="module")
def single_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return `onefold.pyz` without packages."""
    archive = tmp_path_factory.mktemp("single") / "onefold.pyz"
    python("-m", "tools.packaging.pyz", "--bare", archive)
    return archive


def test_one_file_unpacks_itself_once_for_its_owner_alone(
    single_file: Path, project: Path, tmp_path: Path
) -> None:
    archive = single_file
    home = tmp_path / "home"
    home.mkdir()
    onefold = Installed([sys.executable, str(archive)], archive, home)
    first = onefold.run("--version", folder=project)
    assert first.stdout == f"Onefold {full_version()}\n"
    assert re.fullmatch(r"Onefold unpacks itself into .*/onefold/pyz-\w+, once\.\n", first.stderr)
    (unpacked,) = home.rglob("pyz-*")
    assert [path.stat().st_mode & 0o777 for path in (unpacked, unpacked.parent)] == [0o700, 0o700]
    with_packages = [sys.executable, "-P", "-c", STARTED_WITH_PACKAGES, *onefold.command[1:]]
    again = Installed(with_packages, archive, home)
    assert "two" in again.answer("find two", project)
    unpacked.chmod(0o777)
    refused = onefold.run("--version", folder=project)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"others can change {unpacked}; remove it" in refused.stderr


STARTED_WITH_PACKAGES = f"""
import runpy, sys
sys.path.append({sysconfig.get_path("purelib")!r})
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_packages_of_the_machine_are_not_mixed_with_those_of_the_file(tmp_path: Path) -> None:
    program, strangers = tmp_path / "site" / "onefold", tmp_path / "dist-packages"
    program.mkdir(parents=True)
    strangers.mkdir()
    (strangers / "stranger.py").touch()
    look = "from importlib.util import find_spec\ndef main():\n    print(find_spec('stranger'))\n"
    (program / "__main__.py").write_text(f"{look}    return 0\n")
    archive = tmp_path / "onefold.pyz"
    write_archive(program.parent, archive)
    cache = str(tmp_path / "cache")
    environment = {**os.environ, "PYTHONPATH": str(strangers), "XDG_CACHE_HOME": cache}
    command = [sys.executable, str(archive)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("None\n", 0)


def test_a_damaged_file_is_not_unpacked(single_file: Path, tmp_path: Path, project: Path) -> None:
    whole, damaged = single_file, tmp_path / "onefold.pyz"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(damaged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data + b"x" if name == "files.zip" else data)
    (tmp_path / "home").mkdir()
    onefold = Installed([sys.executable, str(damaged)], damaged, tmp_path / "home")
    done = onefold.run("--version", folder=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("onefold.pyz cannot be unpacked: it is damaged.\n")
    assert list(tmp_path.rglob("pyz-*")) == []


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "proposed"),
    [
        ("", ["web", "acp", "mcp", "race", "completion"]),
        ("web --po", ["--port"]),
        ("--approve r", ["read-only"]),
        ("--resume ", ["SESSION"]),
        ("--model deepseek-f", ["deepseek-flash"]),
        ("completion z", ["zsh"]),
    ],
)
def test_bash_completes_the_line(
    installed: Installed, project: Path, line: str, proposed: list[str]
) -> None:
    listed = ""
    if "SESSION" in proposed:
        installed.answer("describe this folder", project)
        listed = re.findall(r"\d{8}-\d{6}-\w+", installed.answer("/sessions", project))[0]
    words = ["onefold", *line.split(" ")]
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f'PATH="{installed.place}/bin:$PATH"; eval "$(onefold completion bash)"\n'
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        '_onefold_completion onefold; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    shell = Installed(["/bin/bash", "--norc", "-c"], installed.place, installed.home)
    done = shell.run(script, folder=project)
    wanted = [listed if word == "SESSION" else word for word in proposed]
    assert (done.stdout.splitlines(), done.stderr) == (wanted, "")


COMPLETED = [
    ("web --po", "--port"),
    ("--approve r", "read-only"),
    ("completion z", "zsh"),
    ("compl", "completion"),
]


@pytest.mark.parametrize(("line", "proposed"), COMPLETED)
def test_fish_completes_the_line(
    installed: Installed, project: Path, line: str, proposed: str
) -> None:
    script = (
        f"set -x PATH '{installed.place}/bin' $PATH; onefold completion fish | source\n"
        f"complete --do-complete 'onefold {line}'"
    )
    shell = Installed(["fish", "--no-config", "-c"], installed.place, installed.home)
    done = shell.run(script, folder=project)
    assert (done.stdout.splitlines(), done.stderr) == ([proposed], "")


# Completion of zsh runs in its line editor alone, so in a terminal of its own.
ZSH = """
export PATH='PLACE/bin':$PATH
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='READY> '; autoload -U compinit; compinit -u -D"
zpty -w shell 'eval "$(onefold completion zsh)"; bindkey "^I" complete-word; echo SET""UP'
zpty -r -m shell shown '*SETUP*READY> *'
zpty -w -n shell 'onefold LINE'$'\t'
zpty -r -m shell shown '*PROPOSED*' && print found
zpty -d shell
"""


@pytest.mark.parametrize(("line", "proposed"), [*COMPLETED, ("--approve=r", "--approve=read-only")])
def test_zsh_completes_the_line(
    installed: Installed, project: Path, line: str, proposed: str
) -> None:
    script = ZSH.replace("PLACE", str(installed.place)).replace("LINE", line)
    shell = Installed(["zsh", "-f", "-c"], installed.place, installed.home)
    done = shell.run(script.replace("PROPOSED", f"onefold*{proposed}"), folder=project)
    assert (done.stdout, done.stderr) == ("found\n", "")
