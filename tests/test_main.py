"""The product as a program: its options, exit codes and JSON, on a real wire."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from config import VERSION
from core.conversation.messages import User
from main import PACKAGES
from modules.assembly.start import run
from modules.practice.practice_model import reply_to
from modules.sandbox.backends import machine_evidence
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from modules.translator import Translator
from tests.simulator import Call, CallText, Cut, Refuse, Say, Simulator, Stall, Step, Think
from tests.simulator.server import ReceivedRequest, wait_for
from utils.i18n import UserError

ROOT = Path(__file__).parents[1]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "ONEFOLD_DATA_DIR": str(tmp_path / "data"),
        "DEEPSEEK_API_KEY": "sk-test",
        **more,
    }


@pytest.fixture
def onefold(tmp_path: Path, project: Path) -> Run:
    """Run `main.py` in the project folder to its end."""

    def run(*argv: str, stdin: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *argv],
            cwd=project,
            env=environment(tmp_path, **more),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def one_line(result: subprocess.CompletedProcess[str]) -> str:
    """Return the one line of an error; there is nothing else, and no traceback."""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert result.stdout == ""
    return lines[0]


def test_version_and_help_need_no_package(onefold: Run) -> None:
    head = ["git", "-C", str(ROOT), "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=False).stdout.strip()
    assert onefold("--version").stdout == f"Onefold {VERSION} ({commit})\n".replace(" ()", "")
    assert "--project DIR" in onefold("--help").stdout
    for option in ("--version", "--help"):
        seen = subprocess.run(
            [sys.executable, "-X", "importtime", str(ROOT / "main.py"), option],
            capture_output=True, text=True, check=True, timeout=300,
        ).stderr  # fmt: skip
        for library in (*PACKAGES, "httpx2", "pydantic", "sqlite3", "asyncio", "ssl", "subprocess"):
            assert f" {library}\n" not in seen


def test_help_speaks_chinese(onefold: Run) -> None:
    told = onefold("--help", ONEFOLD_LANG="zh", COLUMNS="70").stdout
    assert told.startswith("用法：python3 main.py [选项] [消息 | 命令]\n")
    assert "\n命令：\n" in told
    assert "\n选项：\n" in told
    english = "[A-Za-z]{3,} [a-z]{3,}"
    assert not re.search(english, told.removeprefix("用法：python3 main.py"))
    assert max(map(cell_len, told.splitlines())) <= 70


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--outptu", "json"], "未知选项 --outptu。是不是想用 --output？（"),
        (["--nonsense"], "未知选项 --nonsense（"),
        (["--keep_json"], "未知选项 --keep_json（"),
        (["--model"], "--model 需要一个值"),
        (["--cli=yes"], "--cli 不接受值"),
        (
            ["--approve", "never"],
            "--approve 的值 'never' 无效；允许：guarded, ask, plan, read-only, all",
        ),
        (["--port", "9" * 5000], "允许：0 到 65535 之间的整数"),
        (["do", "it\x1b[2J"], r'请给消息加上引号："do it\x1b[2J"'),
        (
            ["completon"],
            "未知命令 completon。是不是想用 completion？若要作为消息发送：-- completon",
        ),
        (["completion", "tcsh"], "completion 的值 'tcsh' 无效；允许：bash, zsh, fish"),
    ],
)
def test_bad_usage_is_told_in_chinese(onefold: Run, argv: list[str], told: str) -> None:
    result = onefold(*argv, ONEFOLD_LANG="zh")
    assert told in one_line(result)
    assert one_line(result).endswith("（--help 列出所有选项）")
    assert result.returncode == 2


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--web", "-p", "hi"], "--web and -p cannot be used together"),
        (["--cli", "--web"], "--web and --cli cannot be used together"),
        (["--web", "--attach"], "--web and --attach cannot be used together"),
        (["--attach", "-p", "hi"], "--attach and -p cannot be used together"),
        (["--think", "--fast"], "--think and --fast cannot be used together"),
        (["--import", "x.json", "--resume"], "--import and --resume cannot be used together"),
        (["--follow", "-p", "hi"], "--follow and -p cannot be used together"),
        (["--attach", "--log"], "--attach and --log cannot be used together"),
        (["fix it", "-p", "hi"], "MESSAGE and -p cannot be used together"),
        (["web", "--cli"], "--web and --cli cannot be used together"),
        (["--cli", "--host", "0.0.0.0"], "--host only works with --web"),
    ],
)
def test_options_that_want_different_things_are_bad_usage(
    onefold: Run, argv: list[str], told: str
) -> None:
    result = onefold(*argv)
    assert one_line(result) == f"Onefold: {told} (--help lists the options)"
    assert result.returncode == 2


def test_a_misspelt_setting_is_told_once_and_changes_nothing(onefold: Run) -> None:
    result = onefold("-p", "/status", "--output", "json", ONEFOLD_MODEL_NAME="x")
    assert result.returncode == 0
    assert json.loads(result.stdout)["status"] == "done"
    assert result.stderr == (
        "Onefold: Unknown setting ONEFOLD_MODEL_NAME (the environment). Did you mean "
        "ONEFOLD_MODEL?\n"
    )


def test_no_session_is_offered_to_resume_where_there_is_none(
    onefold: Run, tmp_path: Path, project: Path
) -> None:
    result = onefold("-p", "/focus")
    assert result.stderr == (
        "Each -p is a new session, and there is none yet to resume. Begin one with -p TASK; then "
        "--resume -p /focus\n"
    )
    store = Sessions(DataFolder.sessions_in(DataFolder.path_for(tmp_path / "data", project)))
    store.append(store.create(model="m"), 1, User("hi"))
    store.close()
    told = onefold("-p", "/focus").stderr
    assert told == "Each -p is a new session. For the last one: --resume -p /focus\n"
    assert onefold("--resume", "-p", "/focus").returncode == 0


def test_what_onefold_is_loaded_from_is_told_at_the_start_and_in_the_status(
    onefold: Run, project: Path
) -> None:
    result = onefold("--cli", "-p", "/status", PYTHONPATH=str(project / "lib"))
    assert "Onefold itself is loaded from lib in this project" in result.stderr
    assert re.search(r"Protected folders +lib\n", result.stdout)


def test_a_part_of_onefold_is_no_project(onefold: Run) -> None:
    result = onefold("--cli", "--project", str(ROOT / "modules"), "-p", "/status")
    assert result.returncode == 2
    assert "cannot be the project: Onefold itself is running from" in one_line(result)


def with_closed_data(tmp_path: Path, project: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run `main.py` where the data can be read only; bwrap closes it to the superuser as well."""
    data = str(tmp_path / "data")
    return subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--ro-bind", data, data, "--chdir", str(project),
         sys.executable, str(ROOT / "main.py"), *argv],
        env=environment(tmp_path), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("argv", [["--cli", "--offline"], ["--web", "--offline", "--port", "0"]])
def test_a_screen_that_could_keep_nothing_is_not_begun(
    onefold: Run, tmp_path: Path, project: Path, argv: list[str]
) -> None:
    onefold("-p", "/help")
    result = with_closed_data(tmp_path, project, *argv)
    assert one_line(result).startswith(f"Onefold: No permission to write to {tmp_path / 'data'}")
    assert result.returncode == 2


def test_the_status_is_told_where_nothing_can_be_kept(
    onefold: Run, tmp_path: Path, project: Path
) -> None:
    onefold("-p", "/help")
    result = with_closed_data(tmp_path, project, "-p", "/status")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("argv", "more", "told"),
    [
        (("--nonsense",), {}, "--nonsense"),
        (("-p", "hi", "--output", "xml"), {}, "xml"),
        ((), {}, "--cli"),
        (("-p", "hi"), {"DEEPSEEK_API_KEY": ""}, "DEEPSEEK_API_KEY"),
        (("--cli",), {"DEEPSEEK_API_KEY": ""}, "DEEPSEEK_API_KEY"),
        (("-p", "hi"), {"ONEFOLD_STEP_LIMIT": "many"}, "step_limit"),
        (("-p", "/status", "--project", "missing"), {}, "missing"),
        (("-p", "/status", "--project", "a.txt"), {}, "a.txt"),
        (("-p", "/status", "--project", "/"), {}, "Choose a folder"),
        (("-p", "   "), {}, "No task"),
        (("-p", "/status", "--resume", "nope"), {}, "nope"),
    ],
)
def test_bad_usage_is_one_line_that_says_what_to_do(
    onefold: Run, argv: tuple[str, ...], more: dict[str, str], told: str
) -> None:
    result = onefold(*argv, **more)
    assert told in one_line(result)
    assert result.returncode == 2


@pytest.mark.parametrize(("lines", "told"), [("", "For a single task use -p TEXT"), ("/new\n", "")])
def test_a_dialogue_with_nobody_says_what_to_do(onefold: Run, lines: str, told: str) -> None:
    result = onefold("--cli", "--offline", stdin=lines)
    assert result.returncode == 0
    assert told in result.stderr
    assert bool(result.stderr) is bool(told)


def test_the_practice_model_answers_the_message_and_not_the_file_that_it_names(
    onefold: Run, project: Path
) -> None:
    (project / "b.py").write_text("# 计算\nx = 1\n")
    result = onefold("-p", "count the lines of @b.py", "--offline")
    assert result.stdout.startswith("Counted in `b.py`:\n\n```\nlines: 2\n")


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_a_program_reads_what_kept_a_task_from_beginning(onefold: Run, output: str) -> None:
    result = onefold("-p", "go", "--project", "/", "--output", output)
    assert result.returncode == 2
    said = json.loads(result.stdout)
    assert (said["status"], said["project"], said["steps"]) == ("error", "/", 0)
    assert said["error"] == "The project cannot be the whole disk. Choose a folder."
    assert result.stderr == f"Onefold: {said['error']}\n"


def test_a_task_without_a_key_tells_its_project(onefold: Run, project: Path) -> None:
    result = onefold("-p", "go", "--output", "json", DEEPSEEK_API_KEY="")
    said = json.loads(result.stdout)
    assert (said["status"], said["project"]) == ("error", str(project.resolve()))


def test_a_bad_value_in_config_toml_is_named(onefold: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.toml").write_text('mode = "slow"\n')
    result = onefold("-p", "hi")
    assert "config.toml" in one_line(result)
    assert result.returncode == 2


@pytest.mark.parametrize(
    ("step", "told"),
    [(Refuse(401), "key"), (Refuse(402), "alance")],
)
def test_what_the_server_refuses_is_one_line(onefold: Run, step: Step, told: str) -> None:
    with Simulator([step]) as server:
        result = onefold("-p", "hi", DEEPSEEK_BASE_URL=server.url)
    assert told in one_line(result)
    assert result.returncode == 1


@pytest.mark.parametrize(
    ("script", "settings", "code"),
    [
        ([Refuse(401)], {}, "key"),
        ([Refuse(402)], {}, "balance"),
        ([Refuse(413)], {}, "overflow"),
        ([Refuse(429)], {"ONEFOLD_RETRIES": "0"}, "rate"),
        ([Refuse(500)], {"ONEFOLD_RETRIES": "0"}, "model"),
        ([Call("list_files")], {"ONEFOLD_STEP_LIMIT": "1"}, "limit"),
        ([], {"DEEPSEEK_BASE_URL": "http://127.0.0.1:9", "ONEFOLD_RETRIES": "0"}, "network"),
        ([], {"DEEPSEEK_API_KEY": "", "DEEPSEEK_BASE_URL": ""}, "key"),
        ([], {"ONEFOLD_MODE": "slow"}, "bad_arguments"),
        ([Call("delete_file", path=".git/x"), Say("No.")], {"ONEFOLD_APPROVE": "ask"}, "refused"),
        ([Say("Yes.")], {}, None),
    ],
)
def test_a_program_is_told_by_a_code_what_ended_the_task(
    onefold: Run, script: list[Step], settings: dict[str, str], code: str | None
) -> None:
    with Simulator(script) as server:
        options = {"DEEPSEEK_BASE_URL": server.url, **settings}
        result = onefold("-p", "hi", "--output", "json", **options)
    assert json.loads(result.stdout)["error_code"] == code


def test_a_program_is_told_by_a_code_why_a_call_failed(onefold: Run, tmp_path: Path) -> None:
    script: list[Step] = [
        Call("read_file", path="b.txt"),
        Call("no_such_tool"),
        Call("read_file"),
        Call("modify_file", path="a.txt", operation="replace", old="four", new="five"),
        Call("run_command", command="exit 3"),
        Call("run_command", command="sleep 60", timeout=1),
        Call("read_file", path="a.txt"),
        Say("Done."),
    ]
    with Simulator(script) as server:
        result = onefold(
            *("-p", "go", "--output", "stream-json", "--log"), DEEPSEEK_BASE_URL=server.url
        )
    told = map(json.loads, result.stdout.splitlines())
    codes = [event["error_code"] for event in told if event["type"] == "ToolFinished"]
    failures = ["not_found", "not_found", "bad_arguments", "not_found", "command", "timeout"]
    assert codes == [*failures, None]
    (log,) = (tmp_path / "data").rglob("operations*.jsonl")
    lines = map(json.loads, log.read_text().splitlines())
    assert [line["error_code"] for line in lines if "error_code" in line] == failures


def test_no_network_is_one_line(onefold: Run) -> None:
    result = onefold("-p", "hi", DEEPSEEK_BASE_URL="http://127.0.0.1:9", ONEFOLD_RETRIES="0")
    assert "127.0.0.1" in one_line(result)
    assert result.returncode == 1


def test_a_task_changes_files_and_tells_it_in_json(onefold: Run, project: Path) -> None:
    script: list[Step] = [
        Call("read_file", path="a.txt"),
        Call("modify_file", path="a.txt", operation="replace", old="two", new="TWO"),
        (Call("create_file", path="b/c.txt", content="x\n"), Call("list_files")),
        Say("All **done**."),
    ]
    with Simulator(script) as server:
        result = onefold("-p", "go", "--output", "json", DEEPSEEK_BASE_URL=server.url)
        assert server.is_finished
    said = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert said["status"] == "done"
    assert said["answer"] == "All **done**."
    assert said["steps"] == 4
    assert said["project"] == str(project)
    assert said["error"] is None
    assert said["files"]["created"] == ["b/c.txt"]
    assert said["files"]["modified"] == ["a.txt"]
    assert said["usage"]["requests"] == 4
    assert (
        said["usage"]["prompt_tokens"]
        == said["usage"]["cache_hit_tokens"] + said["usage"]["cache_miss_tokens"]
    )
    assert (project / "a.txt").read_text() == "one\nTWO\n"


def test_text_output_is_the_answer_alone(onefold: Run) -> None:
    with Simulator([(Say("Let me look."), Call("list_files")), Say("It is fine.")]) as server:
        result = onefold("-p", "go", DEEPSEEK_BASE_URL=server.url)
    assert result.stdout == "It is fine.\n"
    assert result.stderr == ""


def test_stream_json_is_one_event_a_line(onefold: Run) -> None:
    with Simulator([Call("list_files"), Say("ok")]) as server:
        result = onefold("-p", "go", "--output", "stream-json", DEEPSEEK_BASE_URL=server.url)
    lines: list[dict[str, Any]] = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines[0]["type"] == "TurnStarted"
    assert lines[-1]["type"] == "Result"
    assert lines[-1]["status"] == "done"
    assert "ToolFinished" in [line["type"] for line in lines]


def test_piped_input_is_added_to_the_task(onefold: Run) -> None:
    with Simulator([Say("ok"), Say("ok")]) as server:
        onefold("-p", "explain", stdin="some log\n", DEEPSEEK_BASE_URL=server.url)
        onefold("-p", "-", stdin="the whole task\n", DEEPSEEK_BASE_URL=server.url)
        assert [r.last_user for r in server.requests] == ["explain\n\nsome log", "the whole task"]


def test_refused_for_want_of_approval_is_exit_4(onefold: Run, project: Path) -> None:
    script: list[Step] = [Call("create_file", path="b", content="x"), Say("I could not.")]
    with Simulator(script) as server:
        result = onefold(
            "-p", "go", "--approve", "ask", "--output", "json", DEEPSEEK_BASE_URL=server.url
        )
    assert result.returncode == 4
    assert json.loads(result.stdout)["status"] == "refused"
    assert not (project / "b").exists()


def test_a_question_of_the_models_own_that_nobody_answers_is_exit_4(onefold: Run) -> None:
    with Simulator([Call("ask_person", question="Which?"), Say("I chose.")]) as server:
        result = onefold("-p", "go", DEEPSEEK_BASE_URL=server.url)
    assert "No one is here to answer: Which?" in result.stderr
    assert result.returncode == 4


def test_the_step_limit_is_exit_3(onefold: Run) -> None:
    script: list[Step] = [Call("read_file", path="a.txt", start_line=n) for n in (1, 2)]
    with Simulator(script) as server:
        result = onefold(
            "-p", "go", "--output", "json", DEEPSEEK_BASE_URL=server.url, ONEFOLD_STEP_LIMIT="2"
        )
    assert result.returncode == 3
    assert json.loads(result.stdout)["status"] == "step_limit"


def test_interrupted_is_exit_130_and_the_session_goes_on(
    onefold: Run, tmp_path: Path, project: Path
) -> None:
    with Simulator([(Call("list_files")), Stall()]) as server:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "main.py"), "-p", "go", "--output", "stream-json"],
            cwd=project,
            env=environment(tmp_path, DEEPSEEK_BASE_URL=server.url),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            if json.loads(line) == {"type": "StepStarted", "step": 2, "thinks": False}:
                break
        wait_for(lambda: len(server.requests) == 2)
        process.send_signal(signal.SIGINT)
        last = [json.loads(line) for line in process.stdout][-1]
        assert process.wait(300) == 130
        assert last["status"] == "stopped"
        process.stdout.close()
    with Simulator([Say("on we go")]) as server:
        result = onefold("-p", "go on", "--resume", DEEPSEEK_BASE_URL=server.url)
        roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert result.stdout == "on we go\n"
    assert roles == ["system", "system", "user", "assistant", "tool", "user"]


def test_a_session_goes_on_with_its_model_and_server_unless_the_start_says_otherwise(
    onefold: Run,
) -> None:
    with Simulator([Say("a"), Say("b")]) as own, Simulator([Say("c"), Say("d")]) as other:
        onefold("-p", "go", ONEFOLD_MODEL="deepseek-v4-pro", DEEPSEEK_BASE_URL=own.url)
        later = {"ONEFOLD_MODEL": "deepseek-v4-pro", "DEEPSEEK_BASE_URL": other.url}
        for options in ((), ("--model", "deepseek-flash"), ()):
            onefold(*options, "--resume", "-p", "go on", **later)
        asked = [[one.body["model"] for one in server.requests] for server in (own, other)]
    assert asked == [["deepseek-v4-pro"] * 2, ["deepseek-flash"] * 2]


def test_what_was_approved_is_kept_unless_the_start_says_otherwise(onefold: Run) -> None:
    onefold("-p", "create a.txt", "--offline")
    onefold("--resume", "-p", "/approve read-only")
    assert onefold("--resume", "-p", "create b.txt", "--offline").returncode == 4
    said = ("--resume", "--approve", "guarded", "-p", "create b.txt", "--offline")
    assert onefold(*said).returncode == 0


def test_commands_need_no_model_and_no_key(onefold: Run) -> None:
    result = onefold("-p", "/status", "--output", "json", DEEPSEEK_API_KEY="")
    said = json.loads(result.stdout)
    assert result.returncode == 0
    assert "deepseek-flash" in said["answer"]
    assert said["card"]["kind"] == "table"


def test_an_unknown_command_is_bad_usage(onefold: Run) -> None:
    result = onefold("-p", "/stauts")
    assert result.returncode == 2
    assert "/status" in result.stderr


@pytest.mark.parametrize("command", ["/undo", "/diff", "/rewind 1", "/fork"])
def test_who_has_no_dialogue_is_told_how_to_reach_the_last_session(
    onefold: Run, command: str
) -> None:
    onefold("--offline", "-p", "make x.txt with hi")
    alone = onefold("-p", command)
    name = command.split()[0]
    assert f"--resume -p {name}" in alone.stderr
    assert "/resume" not in alone.stderr + alone.stdout
    resumed = onefold("--resume", "-p", command)
    assert "-p" not in resumed.stderr
    assert resumed.returncode == 0


def test_what_holds_for_one_task_only_names_the_option(onefold: Run) -> None:
    assert "For the next task, add --think." in onefold("-p", "/think").stderr
    assert onefold("-p", "/think", "--output", "json").stderr == ""
    assert "For the next task, add --approve." in onefold("-p", "/approve ask").stderr
    assert onefold("-p", "/approve list").stderr == ""


def test_the_limits_of_a_run_come_from_the_settings(onefold: Run) -> None:
    limits = {
        "MEMORY_MB": "777",
        "PROCESSES": "55",
        "DISK_MB": "66",
        "TMP_MB": "7",
        "OUTPUT_MB": "9",
    }
    status = onefold("-p", "/status", **{f"ONEFOLD_{name}": n for name, n in limits.items()}).stdout
    assert "777 MiB of memory, 55 processes, 66 MiB of disk, 7 MiB in /tmp, 9 MB of" in status


def test_at_the_step_limit_the_way_on_is_told(onefold: Run) -> None:
    with Simulator([Call("list_files")]) as server:
        result = onefold("-p", "go", DEEPSEEK_BASE_URL=server.url, ONEFOLD_STEP_LIMIT="1")
    assert result.stderr.endswith('\nTo continue: --resume -p "go on"\n')


def test_practice_has_one_model(onefold: Run) -> None:
    result = onefold("--offline", "-p", "/model deepseek-pro")
    assert result.returncode == 2
    assert "Only the practice model" in result.stderr
    assert onefold("--offline", "-p", "/model").stdout == "Model: practice.\n"


def test_export_and_search_see_the_session(onefold: Run, project: Path) -> None:
    with Simulator([Call("read_file", path="a.txt"), Say("文件有两行。")]) as server:
        onefold("-p", "看看文件", DEEPSEEK_BASE_URL=server.url)
    assert "文件有两行" in onefold("-p", "/search 两行").stdout
    onefold("--resume", "-p", "/export talk.json")
    wire = json.loads((project / "talk.json").read_text())["messages"]
    assert [m["role"] for m in wire][-4:] == ["user", "assistant", "tool", "assistant"]


OLD = [
    {"role": "user", "content": "写 a.txt"},
    {"role": "assistant", "content": None,
     "tool_calls": [{"function": {"name": "read_file", "arguments": {"path": "a.txt"}}}]},
    {"role": "tool", "content": "one"},
    {"role": "assistant", "content": "It says one."},
]  # fmt: skip


def test_an_old_conversation_is_brought_in_and_goes_on(onefold: Run, tmp_path: Path) -> None:
    old = tmp_path / "conversation_history.json"
    old.write_text(json.dumps(OLD), encoding="utf-8")
    with Simulator([Say("Two more."), Say("Three.")]) as server:
        wire = {"DEEPSEEK_BASE_URL": server.url}
        done = onefold("--import", str(old))
        session = done.stdout.strip()
        assert done.returncode == 0
        assert f"Imported as session {session}: 4 messages, 1 turns." in done.stderr
        assert "Repaired: a call without an id of its own: 1 (message 2)" in done.stderr
        assert f"--resume {session}" in done.stderr
        on = onefold("--resume", "-p", "and now?", "--think", **wire)
        assert (on.returncode, on.stdout) == (0, "Two more.\n")
        at_once = onefold("--import", str(old), "-p", "go on", **wire)
        assert (at_once.returncode, at_once.stdout) == (0, "Three.\n")
    for request in server.requests:
        said = [one["content"] for one in request.messages if one["role"] in ("user", "tool")]
        assert said[:2] == ["写 a.txt", "one"]


def test_what_is_to_be_known_of_the_project_is_told_once_on_the_way_from_an_import(
    onefold: Run, project: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps(OLD), encoding="utf-8")
    (project / "lib").mkdir()
    with Simulator([Say("Two.")]) as server:
        more = {"DEEPSEEK_BASE_URL": server.url, "PYTHONPATH": str(project / "lib")}
        at_once = onefold("--import", str(old), "-p", "go", **more)
    assert (at_once.returncode, at_once.stdout) == (0, "Two.\n")
    assert at_once.stderr.count("Onefold itself is loaded from lib in this project") == 1


def test_what_cannot_be_brought_in_is_bad_usage(onefold: Run, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps(OLD)[:-30], encoding="utf-8")
    result = onefold("--import", str(old), "-p", "go on")
    assert one_line(result) == f"Onefold: {old} is incomplete: it ends in line 1."
    assert result.returncode == 2


def test_think_once_on_the_wire(onefold: Run) -> None:
    script: list[Step] = [
        (Think("The file a.txt is what matters."), Call("read_file", path="a.txt")),
        Say("done"),
    ]
    with Simulator(script) as server:
        onefold("-p", "go", "--think", DEEPSEEK_BASE_URL=server.url)
        first, second = (request.body for request in server.requests)
    assert (first["thinking"]["type"], second["thinking"]["type"]) == ("enabled", "disabled")
    assert any("a.txt is what matters" in (m["content"] or "") for m in second["messages"])


def test_low_effort_throughout_on_the_wire_where_that_is_cheaper(
    onefold: Run, project: Path
) -> None:
    """Each way of thinking has a cache of its own: a long beginning is read once, not twice."""
    (project / "AGENTS.md").write_text("Be careful with the parser of dates.\n" * 1_500)
    script: list[Step] = [
        (Think("The file a.txt is what matters."), Call("read_file", path="a.txt")),
        (Think("That is all."), Say("done")),
    ]
    with Simulator(script) as server:
        result = onefold("-p", "go and see", "--think", DEEPSEEK_BASE_URL=server.url)
        assert server.is_finished
        bodies = [request.body for request in server.requests]
    assert result.returncode == 0
    assert [body["thinking"]["type"] for body in bodies] == ["enabled", "enabled"]
    assert [body["reasoning_effort"] for body in bodies] == ["low", "low"]
    thoughts = [m["reasoning_content"] for m in bodies[1]["messages"] if m["role"] == "assistant"]
    assert thoughts == ["The file a.txt is what matters."]
    assert bodies[1]["messages"][: len(bodies[0]["messages"])] == bodies[0]["messages"]


def test_faults_on_the_way_change_nothing(onefold: Run, project: Path) -> None:
    write = Call("create_file", path="b.txt", content="x\n")
    script: list[Step] = [
        (CallText("create_file", '{"path": "b.txt", "content"'), Cut()),
        Refuse(503),
        CallText("create_file", '{"path": "b.txt", "conte'),
        CallText("write_it", "{}"),
        write,
        Say("done"),
    ]
    with Simulator(script) as server:
        result = onefold("-p", "go", "--output", "json", DEEPSEEK_BASE_URL=server.url)
        assert server.is_finished
    assert json.loads(result.stdout)["status"] == "done"
    assert (project / "b.txt").read_text() == "x\n"


def test_the_practice_model_works_without_key_and_network(onefold: Run, project: Path) -> None:
    result = onefold(
        "--offline", "-p", "make hello.txt with good morning", "--output", "json",
        DEEPSEEK_API_KEY="",
    )  # fmt: skip
    assert json.loads(result.stdout)["files"]["created"] == ["hello.txt"]
    assert "good morning" in (project / "hello.txt").read_text()


def test_what_a_practice_conversation_sends_is_judged_too(onefold: Run, project: Path) -> None:
    def reply(request: ReceivedRequest) -> Step:
        said = reply_to(request.body)
        calls = [Call(name, **arguments) for name, arguments in said.calls]
        return (*([Say(said.text)] if said.text else []), *calls)

    with Simulator(reply) as server:
        result = onefold(
            "-p", "make b.py that says good day and run it", DEEPSEEK_BASE_URL=server.url
        )
        assert len(server.requests) == 3
    assert "good day" in result.stdout
    assert (project / "b.py").exists()


@pytest.mark.parametrize(
    ("approve", "setting", "code"),
    [("all", "", 4), ("all", "1", 0), ("guarded", "1", 4), ("ask", "1", 4), ("read-only", "1", 4)],
)
def test_without_a_dialogue_nothing_runs_outside_but_by_mode_and_setting(
    onefold: Run, tmp_path: Path, approve: str, setting: str, code: int
) -> None:
    canary = tmp_path / "canary"
    script: list[Step] = [
        Call("run_command", command=f"echo x > '{canary}'", where="outside"),
        Say("done"),
    ]
    options = ("--approve", approve, "--output", "json")
    with Simulator(script) as server:
        result = onefold(
            *("-p", "go", *options),
            DEEPSEEK_BASE_URL=server.url,
            ONEFOLD_ALLOW_OUTSIDE=setting,
        )
    assert (result.returncode, canary.exists()) == (code, code == 0)
    if code and approve != "read-only":
        assert "ONEFOLD_ALLOW_OUTSIDE=1" in json.loads(result.stdout)["error"]


def test_on_a_machine_of_its_own_the_agent_is_asked_nothing_and_confined_by_nothing(
    onefold: Run, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    script: list[Step] = [
        Call("run_command", command=f"echo x > '{canary}'"),
        Call("run_python", code=f"open({str(canary)!r}, 'a').write('y')", network=True),
        Call("run_command", command=f"echo z >> '{canary}'", where="outside"),
        Say("done"),
    ]
    with Simulator(script) as server:
        result = onefold("-p", "go", "--machine=yes-this-one", DEEPSEEK_BASE_URL=server.url)
    assert (result.returncode, canary.read_text()) == (0, "x\nyz\n")
    status = onefold("-p", "/status", "--machine=yes-this-one").stdout
    assert "none beside the machine's own (--machine)" in status
    assert "no limits on memory, processes and disk" in status
    assert not re.search("MiB|home folder|Shown folders|Protected folders", status)


def test_the_whole_disk_can_be_the_project_of_a_machine_of_its_own(
    onefold: Run, tmp_path: Path
) -> None:
    """Nothing is held of it, and that is said; nobody looks through what the system fills."""
    new, old = tmp_path.resolve() / "new.txt", tmp_path.resolve() / "old.txt"
    old.write_text("there")
    script: list[Step] = [
        Call("run_command", command=f"pwd; grep SigIgn /proc/self/status; rm '{old}'"),
        Call("create_file", path=str(new), content="canary\n"),
        Call("find_files", pattern="smaps_rollup"),
        Call("list_files", path=".", depth=1),
        Call("list_files", path="proc/self"),
        Say("done"),
    ]
    words = ("--machine=yes-this-one", "--project", "/")
    with Simulator(script) as server:
        result = onefold(*words, "-p", "go", DEEPSEEK_BASE_URL=server.url)
        messages = server.requests[-1].body["messages"]
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    assert "The project is the whole disk: changes cannot be undone here." in result.stderr
    assert (result.returncode, new.read_text(), old.exists()) == (0, "canary\n", False)
    assert answers[0].splitlines()[1:3] == ["/", "SigIgn:\t0000000000000000"]
    assert "too large to tell" in answers[0]
    assert "None of" in answers[2]
    assert "proc/  (ignored)" in answers[3]
    assert "fd/  (ignored)" in answers[4]
    assert "off: the project is the whole disk" in onefold(*words, "-p", "/status").stdout
    for line in ("/undo", "/diff", "/rewind 1 files", "/fork --with-files"):
        refused = onefold(*words, "--resume", "-p", line)
        assert "its files are not saved" in refused.stderr, (line, refused)
    rewound = onefold(*words, "--resume", "-p", "/rewind 1").stdout
    assert "The conversation is back at the start of turn 1" in rewound
    assert new.exists()


def test_a_machine_that_is_evidently_nobodys_has_to_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine_evidence, "machine_evidence", lambda: "")
    with pytest.raises(UserError, match="--machine=yes-this-one"):
        run(["-p", "/status", "--machine"], Translator("en", {}))


@pytest.mark.parametrize("more", [["--approve", "ask"], ["--attach", "--cli"]])
def test_a_machine_of_its_own_goes_with_no_questions(onefold: Run, more: list[str]) -> None:
    result = onefold("--machine=yes-this-one", *more)
    assert result.returncode == 2
    assert "cannot be used together" in one_line(result)


def test_who_asks_for_the_checks_alone_hears_by_the_exit_code_that_they_fail(
    onefold: Run, project: Path
) -> None:
    (project / "tests").mkdir()
    (project / "tests/test_a.py").write_text("import unittest\nraise ValueError\n")
    assert onefold("--offline", "-p", "/check").returncode == 5
    assert onefold("--offline", "-p", "/check", "--no-verify").returncode == 0
    assert onefold("--offline", "-p", "/check list").returncode == 0


def test_a_budget_ends_the_task_with_exit_3_and_it_goes_on_later(onefold: Run) -> None:
    script: list[Step] = [
        Call("update_todos", todos=[{"title": "one", "status": "pending"}]),
        Say("All done."),
    ]
    with Simulator(script) as server:
        capped = onefold(
            *("-p", "plan", "--output", "json", "--budget", "0.000001"),
            DEEPSEEK_BASE_URL=server.url,
        )
        result = json.loads(capped.stdout)
        assert (capped.returncode, result["status"]) == (3, "budget")
        assert result["error_code"] == "limit"
        assert result["usage"]["cost_usd"] >= 0.000001
        text = onefold("--resume", "-p", "go on", DEEPSEEK_BASE_URL=server.url)
    assert (text.returncode, text.stdout) == (0, "All done.\n")


def test_a_day_that_is_used_up_ends_the_next_task_before_it_costs(onefold: Run) -> None:
    with Simulator([Say("One.")]) as server:
        options = {"DEEPSEEK_BASE_URL": server.url, "ONEFOLD_DAILY_BUDGET": "0.000001"}
        assert onefold("-p", "one", **options).returncode == 0
        second = onefold("-p", "two", **options)
    assert second.returncode == 3
    assert "/budget day" in second.stderr
    assert '--resume -p "go on", with a larger --budget or daily_budget' in second.stderr


def test_a_budget_without_a_price_is_told_of_on_standard_error(onefold: Run) -> None:
    options = ("-p", "/status", "--budget", "1")
    assert onefold(*options).stderr == ""
    (line,) = onefold(*options, "--model", "nobody-knows-it").stderr.splitlines()
    assert "Budgets do not work with nobody-knows-it: " in line


@pytest.mark.parametrize("budget", ["much", "-1", "nan"])
def test_a_budget_is_a_number_of_dollars(onefold: Run, budget: str) -> None:
    result = onefold("-p", "hi", "--budget", budget)
    assert f"Invalid value {budget!r} for the setting task_budget (--budget)." in one_line(result)
    assert result.returncode == 2
