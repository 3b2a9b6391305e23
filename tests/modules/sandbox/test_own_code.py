"""No program changes what Onefold is loaded from, where that lies in the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from modules.files.own_code import OwnCode
from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program, Sandbox
from tests.modules.checkpoints.folders import folder_state
from tests.modules.sandbox.sandbox_home import SandboxHome, run_to_end, wait_for_prewarmed

ATTEMPTS = (
    "echo evil >> code/onefold/main.py",
    "echo evil > code/onefold/click.py",
    "echo evil > code/onefold/.venv/lib/evil.pth",
    "mkdir code/onefold/core/__pycache__",
    "rm code/onefold/main.py",
    "rm -rf code/onefold",
    "cp code/onefold/main.py m; mv m code/onefold/main.py",
    "mv code/onefold/main.py m",
    "mv code/onefold code/onefold2",
    "mv code code2",
    "mv code/onefold/core other/core",
    "ln -sfn ../other code/onefold/core",
    "ln -sfnT other code/onefold",
    "ln -sf other/a code/onefold/main.py",
    "ln code/onefold/main.py m && echo evil >> m",
    "ln -s code/onefold l; echo evil >> l/main.py; rm l",
    "echo evil >> /proc/self/root$PWD/code/onefold/main.py",
    "echo evil >> /proc/self/cwd/code/onefold/main.py",
    "python3 -c 'import os; os.truncate(\"code/onefold/main.py\", 0)'",
    "python3 -c 'import os; os.open(\"code/onefold/main.py\", os.O_RDONLY | os.O_TRUNC)'",
    "mount --bind other code/onefold",
    "unshare -Urm mount --bind other code/onefold",
    "mkdir -p missing/lib; echo evil > missing/lib/sitecustomize.py",
    "mkdir -p code/lib; echo evil > code/lib/sitecustomize.py",
    "rm link; ln -s other link",
    "mv link old",
    "ln -sfnT other link",
)


@pytest.fixture
def root(sandbox_home: SandboxHome) -> Path:
    """The project, with Onefold two folders deep in it, and a link that leads there."""
    for path in (
        "code/onefold/main.py",
        "code/onefold/core/loop/turn.py",
        "code/a",
        "other/a",
        "b",
    ):
        (sandbox_home.project / path).parent.mkdir(parents=True, exist_ok=True)
        (sandbox_home.project / path).write_text("as it was\n")
    (sandbox_home.project / "code/onefold/.venv/lib").mkdir(parents=True)
    (sandbox_home.project / "link").symlink_to("code/onefold")
    return sandbox_home.project


@pytest.fixture(params=["A", "C"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    return str(request.param)


def sandbox(
    sandbox_home: SandboxHome, tier: str, *paths: str, links: tuple[str, ...] = ()
) -> Sandbox:
    made = sandbox_home.sandbox(own=OwnCode(paths, links))
    assert made.report().tier == tier
    return made


def ours(root: Path) -> dict[str, object]:
    """Return what must stay as it is: of the folders above only that they are there."""
    found: dict[str, object] = {}
    for name, (mode, mtime, content) in folder_state(root).items():
        if name in ("link", "missing", "code/lib") or name.startswith("code/onefold"):
            found[name] = mode, mtime, content
    return found


def test_no_attempt_succeeds(sandbox_home: SandboxHome, root: Path, tier: str) -> None:
    before = ours(root)
    made = sandbox(sandbox_home, tier, "code/lib", "code/onefold", "missing/lib", links=("link",))
    for line in ATTEMPTS:
        run_to_end(made, Program("bash", line))
    assert ours(root) == before
    assert not (root / "code2").exists()


def test_without_protection_they_would_succeed(
    sandbox_home: SandboxHome, root: Path, tier: str
) -> None:
    before = ours(root)
    made = sandbox(sandbox_home, tier)
    for line in ATTEMPTS[:4]:
        assert run_to_end(made, Program("bash", line)).exit_code == 0
    assert len(ours(root)) == len(before) + 3


def test_all_else_works_as_before(sandbox_home: SandboxHome, root: Path, tier: str) -> None:
    made = sandbox(sandbox_home, tier, "code/onefold")
    line = "cat code/onefold/main.py && ls code && echo new > other/a && mkdir other/in && rm b"
    if tier == "C":
        line = line.removesuffix(" && rm b")
    done = run_to_end(made, Program("bash", f"{line} && echo more >> code/a"))
    assert (done.exit_code, done.output) == (0, "as it was\na\nonefold\n")
    assert (root / "code/a").read_text() == "as it was\nmore\n"
    closed = f"directly in {root}, {root / 'code'} by a program"
    assert [closed in str(note) for note in done.notes] == ([True] if tier == "C" else [])


def test_beside_a_link_to_us_files_are_written_and_folders_are_free(
    sandbox_home: SandboxHome, root: Path, tier: str
) -> None:
    made = sandbox(sandbox_home, tier, "code/onefold", links=("link",))
    done = run_to_end(made, Program("bash", "echo new > b && echo new > other/new && ! touch c"))
    assert done.exit_code == 0
    assert (root / "b").read_text() == (root / "other/new").read_text() == "new\n"
    assert [f"directly in {root}" in str(note) for note in done.notes] == [True]


def test_data_in_it_stays_hidden(sandbox_home: SandboxHome, root: Path, tier: str) -> None:
    data = root / "code/onefold/data"
    (data / "projects").mkdir(parents=True)
    (data / "projects/secret").write_text("CANARY")
    made = Sandbox(root, hidden=[data], cache_folder=data, own_code=OwnCode(("code/onefold",)))
    lines = (
        "cat code/onefold/data/projects/secret",
        "echo evil > code/onefold/data/config.toml",
        "echo evil > code/onefold/data/projects/secret",
        "mv code/onefold/data code/onefold/old",
        "cat code/onefold/*/*/*",
    )
    assert made.report().tier == tier
    for line in lines:
        assert "CANARY" not in run_to_end(made, Program("bash", line)).output
    assert (data / "projects/secret").read_text() == "CANARY"
    assert not (data / "config.toml").exists()


def test_a_python_that_waited_keeps_to_it(sandbox_home: SandboxHome, root: Path, tier: str) -> None:
    made = sandbox(sandbox_home, tier, "code/onefold", "missing", links=("link",))
    before = ours(root)
    code = "import os\nfor act in ({}):\n try: act()\n except OSError as e: print(e.errno)"
    acts = (
        "lambda: open('code/onefold/main.py', 'w'),"
        "lambda: os.rename('code', 'x'), lambda: os.remove('link'), lambda: os.mkdir('missing')"
    )
    for _ in range(3):
        done = run_to_end(made, Program("python", code.format(acts)))
        assert len(done.output.split()) == 4
        wait_for_prewarmed()
    made.close()
    assert ours(root) == before


def test_another_name_of_a_file_of_ours_leads_there_no_more(
    sandbox_home: SandboxHome, root: Path, tier: str
) -> None:
    (root / "other/alias.py").hardlink_to(root / "code/onefold/main.py")
    made = sandbox(sandbox_home, tier, "code/onefold")
    assert run_to_end(made, Program("bash", "echo evil > other/alias.py")).exit_code == 0
    assert (root / "code/onefold/main.py").read_text() == "as it was\n"


def test_nothing_is_left_where_something_was_missing(sandbox_home: SandboxHome, root: Path) -> None:
    made = sandbox(sandbox_home, "A", "missing/lib", "code/lib")
    line = "ls -d missing code/lib && ! touch missing/x && ! touch code/lib/x"
    assert run_to_end(made, Program("bash", line)).exit_code == 0
    assert not (root / "missing").exists()
    assert not (root / "code/lib").exists()
