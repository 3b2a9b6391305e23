"""The tool tester: real tools and approval, no model; scratch folders go, the project stays."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.tools import Toolbox
from modules.tool_tester.call_text import parse_calls
from tests.assembly import assembled_terminal
from tests.modules.cli.terminal import CHECKOUT, PYTHON, Terminal
from tests.modules.cli.terminal import terminal as terminal
from tests.modules.sandbox.sandbox_home import wait_until
from utils.i18n import UserError

ROOT = Path(__file__).parents[3]
WRITE = {"name": "create_file", "arguments": {"path": "a.txt", "content": "hi"}}
CALL = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
OPENAI = {"id": "c", "type": "function", "function": json.loads(CALL)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("proj 项目", "data", "temp"):
        (tmp_path / name).mkdir()
    return tmp_path / "proj 项目"


def environment(project: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ONEFOLD", "DEEPSEEK"))}
    return {**kept, **own_environment(project)}


def own_environment(project: Path) -> dict[str, str]:
    return {
        "ONEFOLD_DATA_DIR": str(project.parent / "data"),
        "TMPDIR": str(project.parent / "temp"),
        "ONEFOLD_LANG": "en",
        "ONEFOLD_BOOTSTRAP": "0",
    }


def command(project: Path, *argv: str) -> list[str]:
    return [sys.executable, str(ROOT / "main.py"), "--project", str(project), *argv]


def onefold(
    project: Path, *argv: str, text: str = "", code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command(project, *argv),
        env=environment(project),
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def scratch_left(project: Path) -> list[str]:
    """Return what is left of scratch folders, in the temporary folder and in the data."""
    data = project.parent / "data"
    found = [
        *(project.parent / "temp").glob("onefold-tools-*"),
        *(data / "projects").glob("onefold-tools-*"),
        *(data / "tool_scratch").glob("*"),
    ]
    return [str(path) for path in found]


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Toolbox]:
    with assembled_terminal(tmp_path) as made:
        yield made.terminal.tools


@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        (CALL, "native"),
        (f"[{CALL}]", "native"),
        (json.dumps({"role": "assistant", "content": "", "tool_calls": [OPENAI]}), "native"),
        (json.dumps({"choices": [{"message": {"tool_calls": [OPENAI]}}]}), "vcp"),
        (json.dumps({"function": {"name": "read_file", "arguments": '{"path":"a.txt"}'}}), "vcp"),
        ('{"content": [{"type": "text", "text": "I read."}, {"type": "tool_use", "name": '
         '"read_file", "input": {"path": "a.txt"}}]}', "native"),
        (f"I read it.\n<tool_call>\n{CALL}\n</tool_call>", "native"),
        ('<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>', "native"),
        ("<<<[TOOL_REQUEST]>>>\ntool_name:「始」read_file「末」,\npath:「始」a.txt「末」\n"
         "<<<[END_TOOL_REQUEST]>>>", "vcp"),
    ],
)  # fmt: skip
def test_a_call_is_read_in_every_form(tools: Toolbox, text: str, protocol: str) -> None:
    (call,) = parse_calls(text, tools, protocol)
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.txt"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "No tool call found"),
        ("[1, 2]", "No tool call found"),
        ("{}", "No tool call found"),
        (f"A call looks like this: <tool_call>{CALL}</tool_call> Do you see?", "No tool call"),
        ("<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"pa", "so it would not"),
    ],
)  # fmt: skip
def test_a_text_that_would_run_nothing_says_so(tools: Toolbox, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        parse_calls(text, tools)


def test_a_run_is_in_an_empty_folder_that_is_gone_afterwards(project: Path) -> None:
    (project / "mine.txt").write_text("mine")
    calls = [WRITE, {"name": "list_files"}, {"name": "read_file", "arguments": {"start_line": 1}}]
    done = onefold(
        project, "--tools", "--output", "json", text=json.dumps({"tool_calls": calls}), code=1
    )
    made, listed, wrong = json.loads(done.stdout)["calls"]
    assert (made["name"], made["arguments"], made["state"]) == (*WRITE.values(), "done")
    assert made["card"]["kind"] == "diff"
    assert made["answer"] == "Created a.txt (1 line)."
    assert made["tokens"] > 3
    assert "a.txt" in listed["answer"]
    assert "mine.txt" not in listed["answer"]
    assert wrong["state"] == "failed"
    assert "needs 'path'" in wrong["answer"]
    assert [path.name for path in project.iterdir()] == ["mine.txt"]
    assert scratch_left(project) == []
    onefold(project, "--tools", text="no call", code=2)
    assert scratch_left(project) == []


def test_a_run_in_the_project_is_asked_about_and_undone(project: Path) -> None:
    done = onefold(project, "--tools=project", text=json.dumps(WRITE))
    assert "Created a.txt (1 line)." in done.stdout
    assert (project / "a.txt").read_text() == "hi"
    onefold(project, "--resume", "-p", "/undo")
    assert not (project / "a.txt").exists()
    online = {"name": "run_command", "arguments": {"command": "echo x > y", "network": True}}
    onefold(project, "--tools=project", text=json.dumps(online), code=4)
    assert list(project.iterdir()) == []
    onefold(project, "-p", "/tools create_file off")
    done = onefold(project, "--tools=project", text=json.dumps(WRITE), code=1)
    assert "switched off in this project" in done.stdout


def test_a_killed_runs_folder_is_removed_by_the_next_start(project: Path) -> None:
    waits = {"name": "run_command", "arguments": {"command": "touch begun; chmod 0 .; sleep 600"}}
    with subprocess.Popen(
        command(project, "--tools"), env=environment(project), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stdin
        running.stdin.write(json.dumps(waits).encode())
        running.stdin.close()
        temp = project.parent / "temp"
        assert wait_until(lambda: any(temp.glob("onefold-tools-*")))
        onefold(project, "--tools", text=json.dumps(WRITE))
        (folder,) = temp.glob("onefold-tools-*")  # in use: no other start removes it
        assert wait_until(lambda: not folder.stat().st_mode & 0o700)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert len(scratch_left(project)) == 3
    onefold(project, "--tools=cases")
    assert scratch_left(project) == []


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_dialogue_keeps_cases_and_all_run_again(terminal: Terminal, project: Path) -> None:
    settings = " ".join(shlex.quote(f"{k}={v}") for k, v in own_environment(project).items())
    program = f"{PYTHON} main.py --tools --project {shlex.quote(str(project))}"
    line = f"cd {CHECKOUT} && env {settings} {program}; echo EXIT $?; cat"
    terminal.tmux("new-session", "-d", "-x", "150", "-y", "50", line)
    terminal.wait_for_text("tools>")

    def enter(*lines: str, seen: str) -> None:
        for one in lines:
            terminal.press(one, "Enter")
        terminal.wait_for_text(seen)

    enter("/tools", seen="Delete a folder.")
    enter("read_file", seen="exact text")
    shown = {"name": "run_command", "arguments": {"command": "pwd; date +%T; rm -rf x"}}
    enter(json.dumps(shown), seen="What the model reads")
    enter("save where and when", seen="Saved as case where and when.")
    enter("project", seen="Now running in the project")
    enter("<tool_call>", seen="An empty line ends the text")
    enter(json.dumps(WRITE), "</tool_call>", "", seen="Created a.txt")
    assert (project / "a.txt").exists()
    enter("save ../../evil", seen="Case names can contain letters")
    enter("save write", seen="Saved as case write.")
    enter("undo", seen="removed  a.txt")
    online = {"name": "run_command", "arguments": {"command": "echo hi", "network": True}}
    enter(json.dumps(online), seen="n no")
    terminal.press("n")
    terminal.wait_for_text("Why not?")
    terminal.press("Enter")
    terminal.wait_for_text("⊘ run_command")
    enter("quit", seen="EXIT 0")
    assert list(project.iterdir()) == []

    assert "Cases run: 2, different: 0." in onefold(project, "--tools=cases").stdout
    assert list(project.iterdir()) == []
    path = project.parent / "data" / "tool_cases" / "write.json"
    case: dict[str, Any] = json.loads(path.read_text())
    case["expected"][0]["answer"] = "Created a.txt (2 lines)."
    path.write_text(json.dumps(case))
    differing = onefold(project, "--tools=cases", code=1).stdout
    assert "✗ write" in differing
    assert "-answer: Created a.txt (2 lines).\n+answer: Created a.txt (1 line)." in differing
    path.write_text("{}")
    assert "write.json is not a valid test case" in onefold(project, "--tools=cases", code=2).stderr
