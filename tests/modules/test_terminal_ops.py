from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.cards import Change, RunCard, RunPicture
from core.events import ApprovalAsked, Event, Reply, ToolFinished, ToolOutput, ToolStarted
from core.loop.approval import PACKAGES, PackagesReason
from core.loop.turn import drive
from core.tools import Outcome, RunningTool, Tool, ToolError
from modules.cli.input.approval_input import choices
from modules.cli.render.cards.plain_cards import card_text
from modules.files.own_code import OwnCode
from modules.outputs import Outputs
from modules.sandbox.backends import selftest
from modules.sandbox.late_sandbox import LateSandbox
from modules.sandbox.run.pidfd import signal_pidfd
from modules.sandbox.sandbox import Network, Sandbox
from modules.terminal_ops import TerminalOps
from modules.translator import Translator
from tests.assembly import assembled_terminal
from tests.declared_tools import tool_named
from tests.modules.sandbox.sandbox_home import (
    SandboxHome,
    home_of_process,
    is_alive,
    late,
    wait_until,
)
from tests.modules.sandbox.test_sandbox import installation
from tests.modules.sandbox.toolchains.layouts import every_manager
from tests.picture_files import picture_file
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import UserError, phrase
from utils.waiting import Stop


@dataclass
class Folder:
    root: Path
    own_code: OwnCode = field(default_factory=OwnCode)


@pytest.fixture
def sandbox_home(tmp_path: Path) -> Iterator[SandboxHome]:
    with home_of_process(tmp_path) as made:
        yield made


def tools(house: SandboxHome, *, allow_limits_only: bool = False) -> TerminalOps:
    outputs = Outputs(house.data / "outputs", reader="read_file")
    sandbox = house.sandbox(allow_limits_only=allow_limits_only)
    return TerminalOps(Folder(house.project), late(sandbox), Stop(), outputs)


def test_the_times_of_a_run_are_settings(sandbox_home: SandboxHome) -> None:
    sandbox = sandbox_home.sandbox(allow_limits_only=True)
    outputs = Outputs(sandbox_home.data / "outputs", reader="read_file")
    made = TerminalOps(
        Folder(sandbox_home.project), late(sandbox), Stop(), outputs, run_seconds=30, call_seconds=2
    )
    run = Tool.of(made.run_command)
    timeout = {"type": "integer", "description": "seconds, up to 2", "default": 2}
    assert run.schema["properties"]["timeout"] == timeout
    assert Tool.of(tools(sandbox_home).run_command).schema["properties"]["timeout"] == {
        "type": "integer",
        "description": "seconds, up to 600",
        "default": 60,
    }
    assert text(made.run_command("true")).startswith("exit code 0")
    told = outcome(made.run_command("sleep 60", timeout=9)).text
    assert told.startswith("Killed after 2 s, the timeout; a longer one is not allowed.")
    assert "(timeout set to 2 s; 1 to 2 are allowed)" in told


def outcome(run: RunningTool) -> Outcome:
    while True:
        try:
            next(run)
        except StopIteration as end:
            made: Outcome = end.value
            return made


def text(run: RunningTool) -> str:
    """Return what the model reads, the seconds made equal."""
    return re.sub(r"\d+\.\d s", "0.1 s", outcome(run).text)


def test_the_model_reads_how_it_ended_what_was_said_and_what_changed(
    sandbox_home: SandboxHome,
) -> None:
    (sandbox_home.project / "old").touch()
    command = "echo hello; mv old new; touch a b; exit 2"
    assert text(tools(sandbox_home).run_command(command)) == (
        "exit code 2 (0.1 s)\nhello\nFiles created: a, b\nFiles renamed: old -> new"
    )


def test_the_card_carries_the_same_for_people(sandbox_home: SandboxHome) -> None:
    made = outcome(tools(sandbox_home).run_python("open('f', 'w').close()\n1 + 1"))
    changes = (Change("created", "f"),)
    assert isinstance(made.card, RunCard)
    assert (made.ok, made.changes, made.card.changes) == (True, changes, changes)
    assert (made.card.language, made.card.output, made.card.exit_code) == ("python", "2\n", 0)
    assert (str(made.card.why), made.card.tier) == (
        "done",
        str(sandbox_home.sandbox().report().name),
    )


def test_a_run_says_at_its_start_where_it_is_as_its_card_does_at_the_end(tmp_path: Path) -> None:
    run = call_reply("run_command", command="echo hi")
    read = call_reply("list_files", id="c2")
    with assembled_terminal(tmp_path, run, read, text_reply("ok")) as house:
        events = run_turn(house.terminal, "go")
    ran, listed = (event.tier for event in events if isinstance(event, ToolStarted))
    (card,) = (
        event.card
        for event in events
        if isinstance(event, ToolFinished) and isinstance(event.card, RunCard)
    )
    assert (ran, listed) == (card.tier, "")
    assert ran


def test_the_card_has_the_pictures_that_the_run_made(sandbox_home: SandboxHome) -> None:
    (sandbox_home.project / "before.png").write_bytes(picture_file())
    (sandbox_home.project / "data").write_bytes(picture_file())
    made = outcome(tools(sandbox_home).run_command("cp data plot.png; cp data plot.txt"))
    assert isinstance(made.card, RunCard)
    assert made.card.pictures == (RunPicture("plot.png", "image/png", len(picture_file())),)


def test_status_and_card_name_the_folders_that_are_shown(sandbox_home: SandboxHome) -> None:
    layout = every_manager(sandbox_home.home)
    layout.file(".nvm/.npmrc", "_authToken=1")
    layout.on_path(".ssh")
    sandbox = Sandbox(
        sandbox_home.project,
        hidden=[sandbox_home.data],
        cache_folder=sandbox_home.data,
        environment=layout.environment(),
    )
    outputs = Outputs(sandbox_home.data / "outputs", reader="read_file")
    ops = TerminalOps(Folder(sandbox_home.project), late(sandbox), Stop(), outputs)
    rows = [(str(name), str(value)) for name, value in ops.status()]
    (shown,) = [value for name, value in rows if name == "Shown folders"]
    assert {"~/.nvm", "~/.cargo/bin", "~/.local/bin"} <= {*shown.split(", ")}
    assert ("Hidden in them", "~/.nvm/.npmrc") in rows
    assert ("Not shown", "~/.ssh: it contains ~/.ssh, where secrets are stored") in [
        (name, value.replace(str(sandbox_home.home), "~")) for name, value in rows
    ]
    card = outcome(ops.run_command("true")).card
    assert isinstance(card, RunCard)
    assert card.shown_folders == tuple(shown.split(", "))


def test_silence_is_said(sandbox_home: SandboxHome) -> None:
    assert text(tools(sandbox_home).run_command("true")) == "exit code 0 (0.1 s)\n(no output)"


def test_escape_sequences_do_not_reach_the_model(sandbox_home: SandboxHome) -> None:
    command = r"printf '\033]0;title\007\033[31mred\033[0m'"
    assert text(tools(sandbox_home).run_command(command)) == "exit code 0 (0.1 s)\nred"


def test_a_timeout_is_explained(sandbox_home: SandboxHome) -> None:
    made = outcome(tools(sandbox_home).run_command("sleep 30", timeout=1))
    assert made.text.startswith("Killed after 1 s, the timeout; a longer one (up to 600) can")
    assert (made.ok, made.card.kind) == (False, "run")


def test_a_timeout_out_of_bounds_is_mended_and_said(sandbox_home: SandboxHome) -> None:
    assert "(timeout set to 600 s; 1 to 600 are allowed)" in text(
        tools(sandbox_home).run_command("true", timeout=9999)
    )


def test_long_output_can_be_read_on(sandbox_home: SandboxHome) -> None:
    made = outcome(tools(sandbox_home).run_command("seq 1 20000"))
    assert len(made.text) < 33_000
    assert 'read_file path="@output/1"' in made.text


def test_files_that_run_later_are_pointed_out(sandbox_home: SandboxHome) -> None:
    made = text(tools(sandbox_home).run_command("mkdir .vscode; echo > .vscode/tasks.json"))
    assert made.endswith("Of these, other programs may run or obey later: .vscode/tasks.json")


def test_files_that_run_later_come_first_on_the_card(sandbox_home: SandboxHome) -> None:
    """A screen shows only the first of many."""
    code = "touch {a..k}; mkdir .vscode; touch .vscode/tasks.json; git init -q sub"
    card = outcome(tools(sandbox_home).run_command(code)).card
    assert isinstance(card, RunCard)
    paths = [change.path for change in card.changes]
    later = [path for path in paths if path.startswith((".vscode/", "sub/.git/"))]
    assert paths[: len(later)] == later
    assert ".vscode/tasks.json" in later
    assert "sub/.git/config" in later


def test_odd_names_stay_on_their_line(sandbox_home: SandboxHome) -> None:
    made = text(tools(sandbox_home).run_command("touch $'a\\nb' $'c\\e[2J'"))
    assert made.endswith("Files created: a\\nb, c\\x1b[2J")


def test_names_without_end_are_told_by_their_ends(sandbox_home: SandboxHome) -> None:
    dig = "for n in range(20): os.mkdir('n' * 200); os.chdir('n' * 200)"
    made = text(tools(sandbox_home).run_python(f"import os\n{dig}\nopen('end', 'w').close()"))
    assert made.endswith("nn/end")
    assert len(made) < 500


def test_a_command_with_nul_is_refused(sandbox_home: SandboxHome) -> None:
    with pytest.raises(ToolError, match="NUL"):
        next(tools(sandbox_home).run_command("echo \0"))


def test_confined_runs_need_no_leave(sandbox_home: SandboxHome) -> None:
    assert tools(sandbox_home).approval_reason(tool_named("run_python"), {"code": "1"}) is None


def test_unconfined_runs_are_refused_or_need_leave(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    monkeypatch.setattr(selftest, "landlock_version", lambda: 0)
    with pytest.raises(ToolError, match="ONEFOLD_ALLOW_UNSANDBOXED=1"):
        next(tools(sandbox_home).run_command("true"))
    allowed = tools(sandbox_home, allow_limits_only=True)
    assert "without a sandbox" in str(
        allowed.approval_reason(tool_named("run_command"), {"command": "true"})
    )
    assert allowed.approval_reason(tool_named("read_file"), {"path": "x"}) is None


def test_status_names_the_tier_and_what_it_does_not_protect(sandbox_home: SandboxHome) -> None:
    rows = [(str(name), str(value)) for name, value in tools(sandbox_home).status()]
    assert rows[0] == ("Sandbox", str(sandbox_home.sandbox().report().name))
    assert ("Not protected", "errors in the kernel itself") in rows


def test_the_tools_cost_the_model_few_words(sandbox_home: SandboxHome) -> None:
    offered = [Tool.of(tools(sandbox_home).run_python), Tool.of(tools(sandbox_home).run_command)]
    assert [tool.schema["required"] for tool in offered] == [["code"], ["command"]]
    assert sum(len(str(tool.to_wire())) for tool in offered) < 1370


def test_output_beyond_what_a_screen_gets_is_read_on_by_part(sandbox_home: SandboxHome) -> None:
    ops = tools(sandbox_home)
    told = text(ops.run_command("seq 100000"))
    assert "read_file path=" in told
    kept = Outputs(sandbox_home.data / "outputs").read("@output/1").splitlines()
    assert (len(kept), kept[49_999]) == (100_000, "50000")


def test_another_python_outside_the_project_is_asked_about(sandbox_home: SandboxHome) -> None:
    python = sandbox_home.project / ".venv/bin/python3"
    python.parent.mkdir(parents=True)
    (sandbox_home.project / ".venv/pyvenv.cfg").touch()
    ops = tools(sandbox_home)
    first, second = installation(sandbox_home, "3.98"), installation(sandbox_home, "3.99")
    python.symlink_to(first / "bin/python3.98")
    command = f"ln -sf {second}/bin/python3.99 {python}"
    assert ops.approval_reason(tool_named("run_command"), {"command": command}) is None
    outcome(ops.run_command(command))
    assert str(second) in str(ops.approval_reason(tool_named("run_python"), {"code": "1"}))


ENVIRONMENT = {"PATH": "/usr/bin:/bin", "MY_TOKEN": "canary", "MINE": "kept"}


def outside_tools(house: SandboxHome, stop: Stop | None = None) -> TerminalOps:
    return TerminalOps(
        Folder(house.project),
        late(house.sandbox()),
        stop or Stop(),
        Outputs(house.data / "outputs", reader="read_file"),
        environment=ENVIRONMENT,
        secret_names=["MY_TOKEN"],
    )


def test_outside_a_command_reaches_what_the_person_can_without_their_secrets(
    sandbox_home: SandboxHome,
) -> None:
    canary = sandbox_home.home / "canary"
    command = f"echo x > {canary}; touch new; echo $PWD $MINE $MY_TOKEN-"
    made = outcome(outside_tools(sandbox_home).run_command(command, where="outside"))
    assert canary.read_text() == "x\n"
    assert f"{sandbox_home.project} kept -\nFiles created: new" in made.text
    assert isinstance(made.card, RunCard)
    assert made.card.tier == "outside the sandbox"
    assert made.changes == (Change("created", "new"),)


def test_outside_no_program_comes_from_the_project(sandbox_home: SandboxHome) -> None:
    planted = sandbox_home.project / ".venv/bin/uptime"
    planted.parent.mkdir(parents=True)
    planted.write_text("#!/bin/sh\necho planted\n")
    planted.chmod(0o755)
    ops = TerminalOps(
        Folder(sandbox_home.project),
        late(sandbox_home.sandbox()),
        Stop(),
        Outputs(sandbox_home.data / "outputs", reader="read_file"),
        environment={"PATH": f"{planted.parent}:.:bin:/usr/bin:/bin", "VIRTUAL_ENV": "x"},
    )
    told = text(ops.run_command("uptime; echo $PATH ${VIRTUAL_ENV-none}", where="outside"))
    assert "planted" not in told
    assert "/usr/bin:/bin none" in told


def test_of_a_machine_of_the_agents_own_no_card_says_what_it_was_shown(
    sandbox_home: SandboxHome,
) -> None:
    sandbox = Sandbox(
        sandbox_home.project, hidden=[], cache_folder=sandbox_home.data, machine=dict(os.environ)
    )
    outputs = Outputs(sandbox_home.data / "outputs", reader="read_file")
    tools = TerminalOps(Folder(sandbox_home.project), late(sandbox), Stop(), outputs)
    card = outcome(tools.run_command("true")).card
    assert isinstance(card, RunCard)
    assert (card.tier, card.shown_folders) == ("no sandbox", ())


def number_in(file: str, name: str) -> int:
    """Return the number that stands beside *name* in a *file* of /proc."""
    (found,) = re.findall(rf"^{name}:\s*(-?\d+)", Path(file).read_text(), re.MULTILINE)
    return int(found)


def signal_slowly(pidfd: int, number: signal.Signals) -> None:
    """Send a signal, and go on only when the launcher has done all that it does about it."""
    if (process := number_in(f"/proc/self/fdinfo/{pidfd}", "Pid")) < 0:
        raise ProcessLookupError
    parent = number_in(f"/proc/{process}/status", "PPid")
    signal_pidfd(pidfd, number)
    launcher = process if parent == os.getpid() else parent
    assert wait_until(lambda: not is_alive(launcher))


def test_on_a_machine_of_the_agents_own_a_server_outlives_the_call_that_started_it(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.sandbox.run.process.signal_pidfd", signal_slowly)
    sandbox = Sandbox(
        sandbox_home.project, hidden=[], cache_folder=sandbox_home.data, machine=dict(os.environ)
    )
    late_one = LateSandbox(lambda: sandbox, None, is_for_agent=True)
    outputs = Outputs(sandbox_home.data / "outputs", reader="read_file")
    tools = TerminalOps(Folder(sandbox_home.project), late_one, Stop(), outputs)
    assert "goes on after the call" in next(iter(tools.context())).text

    def pid_of_server(command: str, timeout: int = 60) -> int:
        pid = sandbox_home.project / "pid"
        pid.unlink(missing_ok=True)
        begin = "sleep 600 >log 2>&1 & echo $! >new; mv new pid"
        while not pid.exists():  # a busy machine may not have come so far in a short time
            outcome(tools.run_command(f"{begin}; {command}", timeout))
            timeout *= 2
        return int(pid.read_text())

    left = pid_of_server("echo started")
    ended = pid_of_server("sleep 600", timeout=1)
    try:
        os.kill(left, 0)
        assert wait_until(lambda: not Path(f"/proc/{ended}").exists())  # once init has seen it end
    finally:
        os.kill(left, signal.SIGKILL)


def test_a_command_of_the_persons_own_has_all_of_their_environment(
    sandbox_home: SandboxHome,
) -> None:
    made = outcome(
        outside_tools(sandbox_home).run_for_person("echo $MINE $MY_TOKEN", is_private=False)
    )
    assert made.text.endswith("kept canary")


def test_the_card_of_a_command_of_the_persons_own_says_what_undo_leaves(
    sandbox_home: SandboxHome,
) -> None:
    tools = outside_tools(sandbox_home)
    for command, has_note in [("true", False), ("touch mine", True)]:
        made = outcome(tools.run_for_person(command, is_private=False))
        said = card_text(made.card, Translator("en", {})) if made.card else ""
        assert ("/undo does not cover this" in said) is has_note
        assert "/undo" not in made.text


def test_the_environment_outside_stands_in_no_list_of_processes(sandbox_home: SandboxHome) -> None:
    command = "tr '\\0' '\\n' < /proc/$PPID/cmdline"
    made = outcome(outside_tools(sandbox_home).run_for_person(command, is_private=False))
    assert "launcher.py" in made.text
    assert "canary" not in made.text


def test_a_stop_ends_all_that_was_started_outside(sandbox_home: SandboxHome) -> None:
    stop = Stop()
    running = outside_tools(sandbox_home, stop).run_for_person(
        "setsid sleep 1000 & echo $!; wait; echo never", is_private=False
    )
    process = int(str(next(running)))
    stop.set()
    assert "Stopped by the person" in outcome(running).text
    assert wait_until(lambda: not Path(f"/proc/{process}").exists())  # once init has seen it end


def test_nothing_limits_memory_and_privileges_outside(sandbox_home: SandboxHome) -> None:
    command = "ulimit -d; ulimit -l; grep NoNewPrivs /proc/self/status"
    told = outcome(outside_tools(sandbox_home).run_for_person(command, is_private=False)).text
    own = subprocess.check_output(["bash", "-c", command], text=True)
    assert own.strip() in told


def test_of_a_private_command_nothing_is_kept_for_the_model(sandbox_home: SandboxHome) -> None:
    made = outcome(outside_tools(sandbox_home).run_for_person("seq 99999", is_private=True))
    assert made.text == ""
    assert isinstance(made.card, RunCard)
    assert made.card.output.startswith("1\n2\n")
    assert not (sandbox_home.data / "outputs").exists()


def test_a_run_that_fails_for_want_of_network_says_what_to_ask_for(
    sandbox_home: SandboxHome,
) -> None:
    look_up = "import socket; socket.getaddrinfo('index.example.org', 443)"
    found = outcome(tools(sandbox_home).run_python(look_up))
    first, hint, *_ = found.text.splitlines()
    assert first.startswith("exit code 1 ")
    assert hint.startswith("It looks like want of network: call again with network=true")
    assert isinstance(found.card, RunCard)
    assert "network=true" in str(found.card.why)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("b'x' * (3 << 30)", "A run has 2,048 MiB of memory (memory_mb, the person's)."),
        ("open('f', 'wb').truncate(600 << 20)", "A file may have 512 MiB (half of disk_mb,"),
        (
            "open('/tmp/f', 'wb').write(bytes(300 << 20))",
            "In here /tmp holds 256 MiB and 50,000 files (",
        ),
    ],
)
def test_a_run_that_fails_for_want_of_room_says_what_it_has(
    sandbox_home: SandboxHome, code: str, hint: str
) -> None:
    first, said, *_ = outcome(tools(sandbox_home).run_python(code)).text.splitlines()
    assert first.startswith("exit code 1 ")
    assert said.startswith(hint)


def test_a_program_that_was_ended_for_the_size_of_a_file_says_the_size(
    sandbox_home: SandboxHome,
) -> None:
    found = outcome(tools(sandbox_home).run_command("truncate -s 600M f"))
    assert found.text.splitlines()[0].endswith(": a file grew beyond 512 MiB")


@pytest.mark.parametrize(
    "command",
    ["pip install six 2>&1 | tail -3", "npm ci; true", "cargo add x || echo no", "curl x |& cat"],
)
def test_so_does_one_that_hides_how_it_ended(sandbox_home: SandboxHome, command: str) -> None:
    fails = "{ echo Could not resolve host: x; return 1; }"
    fails = "\n".join(f"{name}() {fails}" for name in ("pip", "npm", "cargo", "curl"))
    found = outcome(tools(sandbox_home).run_command(f"{fails}\n{command}"))
    first, hint, *_ = found.text.splitlines()
    assert first.startswith("exit code 0 ")
    assert hint.startswith("It looks like want of network: call again with network=true")
    assert isinstance(found.card, RunCard)
    assert found.card.why == phrase("done")


def test_a_run_that_installs_into_the_system_says_where_that_can_be(
    sandbox_home: SandboxHome,
) -> None:
    said = "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (2: No such file)"
    made = outcome(tools(sandbox_home).run_command(f"echo '{said}'; exit 100"))
    assert 'where="outside"' in made.text.splitlines()[1]
    assert "outside" not in outcome(tools(sandbox_home).run_command(f"echo '{said}'")).text


def test_what_is_not_taken_over_of_package_managers_is_told(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = phrase("Encrypted.")
    network = Network((), notes=(note,))
    monkeypatch.setattr("modules.sandbox.network.packages.package_network", lambda *_: network)
    made = tools(sandbox_home)
    assert "Encrypted." in outcome(made.run_command("exit 1", network=True)).text.splitlines()
    assert "Encrypted." not in outcome(made.run_command("exit 0", network=True)).text
    assert note in made.warnings()
    assert note not in made.warnings()


def test_a_run_that_fails_for_another_reason_says_nothing_of_the_network(
    sandbox_home: SandboxHome,
) -> None:
    for command in (
        "echo Could not resolve host: x",
        "echo Could not resolve host: x | cat; ./npm x | cat",
        "curl -sS http://127.0.0.1:9; exit 1",
    ):
        assert "network" not in outcome(tools(sandbox_home).run_command(command)).text


def test_where_there_is_no_way_to_the_network_none_is_offered(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    found = outcome(tools(sandbox_home).run_python("import socket; socket.socket()"))
    assert "to which there is no way in this sandbox" in found.text
    assert "network=true" not in found.text


def test_the_network_of_packages_is_asked_about_as_such(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, arguments = tool_named("run_command"), {"command": "npm ci", "network": True}
    assert isinstance(tools(sandbox_home).approval_reason(run, arguments), PackagesReason)
    more = TerminalOps(
        Folder(sandbox_home.project),
        late(sandbox_home.sandbox()),
        Stop(),
        Outputs(sandbox_home.data / "outputs", reader="read_file"),
        network_hosts=["more.example"],
    )
    reason = more.approval_reason(run, arguments)
    assert not isinstance(reason, PackagesReason)
    assert str(reason).endswith("send them what it reads: more.example")
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())  # where nothing keeps programs to packages
    monkeypatch.setattr(selftest, "landlock_version", lambda: 0)
    unconfined = tools(sandbox_home, allow_limits_only=True)
    assert not isinstance(unconfined.approval_reason(run, arguments), PackagesReason)


def test_yes_to_packages_is_asked_for_once_in_a_session(tmp_path: Path) -> None:
    replies = [call_reply("run_command", command=f"echo {n}; true", network=True) for n in range(2)]
    asked: list[ApprovalAsked] = []
    said: list[str] = []

    def show(event: Event) -> Reply | None:
        if isinstance(event, ToolOutput):
            said.append(event.text)
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event)
        return Reply(yes=True, always=True, pattern=event.pattern)

    with (
        home_of_process(tmp_path / "outer"),
        assembled_terminal(tmp_path, *replies, text_reply("done")) as env,
    ):
        drive(env.terminal.run_line("go"), show)
    assert [one.pattern for one in asked] == [PACKAGES]
    assert choices(asked[0], is_cut=False)[1] == phrase("a yes, for this session: packages")
    assert "".join(said) == "0\n1\n"


@pytest.mark.parametrize("command", ["push origin HEAD", "fetch", "clone https://example.org/x y"])
def test_git_that_fails_to_talk_to_a_remote_is_told_of_the_tool_that_does(
    sandbox_home: SandboxHome, command: str
) -> None:
    project = sandbox_home.project
    subprocess.run(["git", "-C", str(project), "config", "user.email", "a@b.c"], check=True)
    subprocess.run(["git", "-C", str(project), "config", "user.name", "a"], check=True)
    address = "https://example.org/x"
    subprocess.run(["git", "-C", str(project), "remote", "add", "origin", address], check=True)
    outputs = Outputs(sandbox_home.data / "outputs", reader="read_file")
    run = TerminalOps(
        Folder(project), late(sandbox_home.sandbox()), Stop(), outputs, remote_tool="git_remote"
    ).run_command
    answer = text(run(f"git commit -q --allow-empty -m x; git {command}"))
    assert "git_remote talks to remotes" in answer
    assert "network=true" not in answer
    assert "git_remote" not in text(run("echo fatal: no; git status; false"))


@pytest.mark.parametrize("way", ["hook", "command"])
def test_a_repository_is_made_harmless_also_where_the_sandbox_fails_after_the_run(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    run = Sandbox.run

    def failing(*arguments: Any) -> RunningTool:
        yield from run(*arguments)
        raise UserError(phrase("The program was killed, but the system does not let go of it."))

    monkeypatch.setattr(Sandbox, "run", failing)
    made = tools(sandbox_home, allow_limits_only=True)
    code = "git init -q inner && git -C inner config core.fsmonitor ./evil"
    if way == "hook":
        with pytest.raises(UserError, match="does not let go"):
            made.run_quietly(code, 300)
    else:
        with pytest.raises(ToolError, match="does not let go"):
            outcome(made.run_command(code))
    config = (sandbox_home.project / "inner" / ".git" / "config").read_text()
    assert "fsmonitor" not in config
    assert "bare = false" in config


def test_in_a_folder_too_large_to_be_followed_new_repositories_are_made_harmless_too(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.sandbox.run.file_changes.MAX_ENTRIES", 3)
    project = sandbox_home.project
    subprocess.run(["git", "init", "-q", str(project / "theirs")], check=True)
    evil = "git -C {} config core.fsmonitor ./evil"
    subprocess.run(evil.format(project / "theirs").split(), check=True)
    made = tools(sandbox_home, allow_limits_only=True)
    several = "touch 1 2 3 4; git init -q deep/a/new; git init -q --bare bare"
    for number, code in enumerate((several, "git init -q again", "git init -q late")):
        code = f"{code}; for one in deep/a/new again late bare; do {evil.format('$one')}; done"
        assert "too large to tell which files the run changed" in text(made.run_command(code)), (
            number
        )
    for name in ("deep/a/new/.git", "again/.git", "late/.git", "bare"):
        assert "fsmonitor" not in (project / name / "config").read_text(), name
    assert "fsmonitor" in (project / "theirs" / ".git" / "config").read_text()
