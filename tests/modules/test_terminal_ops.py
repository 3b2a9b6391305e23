from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.cards import Change, RunCard
from core.tools import Outcome, Running, Tool, ToolError
from modules.files.own_code import OwnCode
from modules.outputs import Outputs
from modules.sandbox.backends import selftest
from modules.terminal_ops import TerminalOps
from tests.declared_tools import tool_named
from tests.modules.sandbox.house import House, lived_in
from tests.modules.sandbox.test_sandbox import installation
from utils.waiting import Stop


@dataclass
class Folder:
    root: Path
    own: OwnCode = field(default_factory=OwnCode)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with lived_in(tmp_path) as made:
        yield made


def tools(house: House, *, allow_limits_only: bool = False) -> TerminalOps:
    outputs = Outputs(house.data / "outputs", reader="read_file")
    sandbox = house.sandbox(allow_limits_only=allow_limits_only)
    return TerminalOps(Folder(house.project), sandbox, Stop(), outputs)


def test_the_times_of_a_run_are_settings(house: House) -> None:
    sandbox = house.sandbox(allow_limits_only=True)
    outputs = Outputs(house.data / "outputs", reader="read_file")
    made = TerminalOps(
        Folder(house.project), sandbox, Stop(), outputs, run_seconds=30, call_seconds=2
    )
    run = Tool.of(made.run_command)
    timeout = {"type": "integer", "description": "seconds, up to 2", "default": 2}
    assert run.schema["properties"]["timeout"] == timeout
    assert Tool.of(tools(house).run_command).schema["properties"]["timeout"] == {
        "type": "integer",
        "description": "seconds, up to 600",
        "default": 60,
    }
    assert text(made.run_command("true")).startswith("exit code 0")
    told = outcome(made.run_command("sleep 60", timeout=9)).text
    assert told.startswith("Killed after 2 s, the timeout; a longer one is not allowed.")
    assert "(timeout set to 2 s; 1 to 2 are allowed)" in told


def outcome(run: Running) -> Outcome:
    while True:
        try:
            next(run)
        except StopIteration as end:
            made: Outcome = end.value
            return made


def text(run: Running) -> str:
    """Return what the model reads, the seconds made equal."""
    return re.sub(r"\d+\.\d s", "0.1 s", outcome(run).text)


def test_the_model_reads_how_it_ended_what_was_said_and_what_changed(house: House) -> None:
    (house.project / "old").touch()
    command = "echo hello; mv old new; touch a b; exit 2"
    assert text(tools(house).run_command(command)) == (
        "exit code 2 (0.1 s)\nhello\nFiles created: a, b\nFiles renamed: old -> new"
    )


def test_the_card_carries_the_same_for_people(house: House) -> None:
    made = outcome(tools(house).run_python("open('f', 'w').close()\n1 + 1"))
    changes = (Change("created", "f"),)
    assert isinstance(made.card, RunCard)
    assert (made.ok, made.changes, made.card.changes) == (True, changes, changes)
    assert (made.card.language, made.card.output, made.card.exit_code) == ("python", "2\n", 0)
    assert (str(made.card.why), made.card.tier) == ("done", str(house.sandbox().report().name))


def test_silence_is_said(house: House) -> None:
    assert text(tools(house).run_command("true")) == "exit code 0 (0.1 s)\n(no output)"


def test_escape_sequences_do_not_reach_the_model(house: House) -> None:
    command = r"printf '\033]0;title\007\033[31mred\033[0m'"
    assert text(tools(house).run_command(command)) == "exit code 0 (0.1 s)\nred"


def test_a_timeout_is_explained(house: House) -> None:
    made = outcome(tools(house).run_command("sleep 30", timeout=1))
    assert made.text.startswith("Killed after 1 s, the timeout; a longer one (up to 600) can")
    assert (made.ok, made.card.kind) == (False, "run")


def test_a_timeout_out_of_bounds_is_mended_and_said(house: House) -> None:
    assert "(timeout set to 600 s; 1 to 600 are allowed)" in text(
        tools(house).run_command("true", timeout=9999)
    )


def test_long_output_can_be_read_on(house: House) -> None:
    made = outcome(tools(house).run_command("seq 1 20000"))
    assert len(made.text) < 33_000
    assert 'read_file path="@output/1"' in made.text


def test_files_that_run_later_are_pointed_out(house: House) -> None:
    made = text(tools(house).run_command("mkdir .vscode; echo > .vscode/tasks.json"))
    assert made.endswith("Of these, other programs may run or obey later: .vscode/tasks.json")


def test_files_that_run_later_come_first_on_the_card(house: House) -> None:
    """A screen shows only the first of many."""
    code = "touch {a..k}; mkdir .vscode; touch .vscode/tasks.json; git init -q sub"
    card = outcome(tools(house).run_command(code)).card
    assert isinstance(card, RunCard)
    paths = [change.path for change in card.changes]
    later = [path for path in paths if path.startswith((".vscode/", "sub/.git/"))]
    assert paths[: len(later)] == later
    assert ".vscode/tasks.json" in later
    assert "sub/.git/config" in later


def test_odd_names_stay_on_their_line(house: House) -> None:
    made = text(tools(house).run_command("touch $'a\\nb' $'c\\e[2J'"))
    assert made.endswith("Files created: a\\nb, c\\x1b[2J")


def test_names_without_end_are_told_by_their_ends(house: House) -> None:
    dig = "for n in range(20): os.mkdir('n' * 200); os.chdir('n' * 200)"
    made = text(tools(house).run_python(f"import os\n{dig}\nopen('end', 'w').close()"))
    assert made.endswith("nn/end")
    assert len(made) < 500


def test_a_command_with_nul_is_refused(house: House) -> None:
    with pytest.raises(ToolError, match="NUL"):
        next(tools(house).run_command("echo \0"))


def test_confined_runs_need_no_leave(house: House) -> None:
    assert tools(house).concern(tool_named("run_python"), {"code": "1"}) is None


def test_unconfined_runs_are_refused_or_need_leave(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "PLACES", ())
    monkeypatch.setattr(selftest, "landlock_version", lambda: 0)
    with pytest.raises(ToolError, match="ONEFOLD_ALLOW_UNSANDBOXED=1"):
        next(tools(house).run_command("true"))
    allowed = tools(house, allow_limits_only=True)
    assert "without a sandbox" in str(
        allowed.concern(tool_named("run_command"), {"command": "true"})
    )
    assert allowed.concern(tool_named("read_file"), {"path": "x"}) is None


def test_status_names_the_tier_and_what_it_does_not_protect(house: House) -> None:
    rows = [(str(name), str(value)) for name, value in tools(house).status()]
    assert rows[0] == ("Sandbox", str(house.sandbox().report().name))
    assert ("Not protected", "errors in the kernel itself") in rows


def test_the_tools_cost_the_model_few_words(house: House) -> None:
    offered = [Tool.of(tools(house).run_python), Tool.of(tools(house).run_command)]
    assert [tool.schema["required"] for tool in offered] == [["code"], ["command"]]
    assert sum(len(str(tool.to_wire())) for tool in offered) < 1200


def test_output_beyond_what_a_screen_gets_is_read_on_by_part(house: House) -> None:
    ops = tools(house)
    told = text(ops.run_command("seq 100000"))
    assert "read_file path=" in told
    kept = Outputs(house.data / "outputs").read("@output/1").splitlines()
    assert (len(kept), kept[49_999]) == (100_000, "50000")


def test_another_python_outside_the_project_is_asked_about(house: House) -> None:
    python = house.project / ".venv/bin/python3"
    python.parent.mkdir(parents=True)
    (house.project / ".venv/pyvenv.cfg").touch()
    ops = tools(house)
    first, second = installation(house, "3.98"), installation(house, "3.99")
    python.symlink_to(first / "bin/python3.98")
    command = f"ln -sf {second}/bin/python3.99 {python}"
    assert ops.concern(tool_named("run_command"), {"command": command}) is None
    outcome(ops.run_command(command))
    assert str(second) in str(ops.concern(tool_named("run_python"), {"code": "1"}))
