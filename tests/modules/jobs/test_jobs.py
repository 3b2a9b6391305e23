from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from core.cards import RunCard, TableCard, TextCard
from core.conversation.messages import ToolResult
from core.events import ApprovalAsked, CommandAnswered, Event, Informed, Reply, ToolFinished
from core.loop.turn import drive
from modules.jobs.feature import MAX_RUNNING, Jobs
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.sandbox.sandbox_home import is_alive, wait_until
from tests.scripted_model import Item, call_reply, text_reply

SERVE = "python3 -u -m http.server 8000 --bind 127.0.0.1"
FETCH = "curl -sS --max-time 20 --noproxy '*' http://localhost:8000/"


def background(command: str, call_id: str = "b", **arguments: Any) -> list[Item]:
    return call_reply("run_command", id=call_id, command=command, background=True, **arguments)


def say(made: AssembledTerminal, *calls: list[Item], line: str = "go") -> list[Event]:
    """Have the model make *calls*, then end the turn; return the events."""
    made.model.replies += [*calls, text_reply("done")]
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return None

    drive(made.terminal.run_line(line), show)
    return events


def answers(made: AssembledTerminal) -> Sequence[str]:
    """Return what the model read as answers to its calls."""
    records = [record for _, record in made.terminal.history.records]
    return [record.text for record in records if isinstance(record, ToolResult)]


def told(made: AssembledTerminal) -> str:
    """Return all that the model was told in its last request."""
    return json.dumps(made.model.requests[-1])


def command(made: AssembledTerminal, line: str) -> CommandAnswered:
    return made.terminal.run_concurrently(line)


def jobs_of(made: AssembledTerminal) -> Jobs:
    jobs = made.terminal.features.find(Jobs)
    assert jobs is not None
    return jobs


def running(made: AssembledTerminal) -> str:
    return str(jobs_of(made).running_names())


def test_a_server_outlives_its_call_and_is_reached_from_later_ones(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        (made.root / "page").write_text("found me")
        events = say(made, background(SERVE), call_reply("jobs", operation="wait", text="Serving"))
        card = next(event.card for event in events if isinstance(event, ToolFinished))
        assert answers(made)[0].startswith("job 1 runs (")
        assert isinstance(card, RunCard)
        assert (card.job, card.exit_code) == (1, None)
        assert wait_until(lambda: jobs_of(made).rows()[0]["ports"] == [8000])
        say(made, call_reply("run_command", command=FETCH + "page"), line="again")
        assert "found me" in answers(made)[-1]
        python = "import urllib.request as u; print(u.urlopen('http://localhost:8000/page').read())"
        say(made, call_reply("run_python", code=python), line="again")
        assert "found me" in answers(made)[-1]
        assert "listens on 8000" in told(made)


@pytest.mark.parametrize("start", ["{} &", "nohup {} > log 2>&1 &", "(sleep 300; {}) & {} & true"])
def test_what_a_job_began_with_an_ampersand_is_a_part_of_it(tmp_path: Path, start: str) -> None:
    with assembled_terminal(tmp_path) as made:
        (made.root / "page").write_text("found me")
        say(made, background(start.format(SERVE, SERVE)))
        assert wait_until(lambda: jobs_of(made).rows()[0]["ports"] == [8000])
        say(made, call_reply("run_command", command=FETCH + "page"), line="again")
        assert "found me" in answers(made)[-1]
        say(made, call_reply("jobs", operation="stop"), background("sleep 0.2 & false"))
        say(made, call_reply("jobs", operation="wait", job=2), line="again")
        assert "job 2 ended: exit code 1" in answers(made)[-1]


def test_another_session_of_the_project_reaches_it_too(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as one, assembled_terminal(tmp_path) as two:
        (one.root / "page").write_text("found me")
        say(one, background(SERVE), call_reply("jobs", operation="wait", text="Serving"))
        say(two, call_reply("run_command", command=FETCH + "page"))
        assert "found me" in answers(two)[-1]
        say(two, background(SERVE))
        assert "Address already in use" in answers(two)[-1]
        two.terminal.new()
        say(one, call_reply("run_command", command=FETCH + "page"), line="again")
        assert "found me" in answers(one)[-1]
        one.terminal.new()
        say(two, call_reply("run_command", command=FETCH + "page"))
        assert answers(two)[-1].startswith("exit code 7")


def test_the_network_of_a_call_is_its_own_again_when_no_job_runs(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(SERVE), call_reply("jobs", operation="stop"))
        assert answers(made)[1].startswith("job 1 was stopped")
        events = say(made, call_reply("run_command", command=FETCH), line="again")
        assert not any("stopped" in str(event) for event in events if isinstance(event, Informed))
        assert answers(made)[-1].startswith("exit code 7")


def test_neither_the_host_nor_another_project_is_reached(tmp_path: Path) -> None:
    host = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    fetch_host = f"curl -sS --max-time 20 http://127.0.0.1:{host.server_port}/"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    try:
        with (
            assembled_terminal(tmp_path / "one") as one,
            assembled_terminal(tmp_path / "two") as two,
        ):
            say(one, background(SERVE))
            say(two, background(f"{fetch_host}; sleep 300"))
            say(two, call_reply("run_command", command=f"{FETCH}; {fetch_host}"))
            assert "Failed to connect" in answers(two)[0]
            assert answers(two)[1].count("Failed to connect") == 2
        with socket.create_connection(("127.0.0.1", host.server_port), timeout=20):
            pass
    finally:
        host.shutdown()
        host.server_close()


def test_a_call_that_may_reach_the_network_is_not_joined_by_others(tmp_path: Path) -> None:
    """Through its proxy a program would get out that has no leave for that."""
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        say(made, background("sleep 300", network=True), background("sleep 300", call_id="c"))
        assert "Its network is its own" in answers(made)[0]
        look = "grep -c ' 0A ' /proc/net/tcp"
        say(made, call_reply("run_command", command=look), line="again")
        assert answers(made)[-1].split("\n")[1] == "0"


def test_typing_into_a_job_that_may_reach_the_network_is_asked_about(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        say(made, background("cat", network=True), background("cat", call_id="c"))
        approval = made.terminal.approval
        approval.mode = "guarded"
        tool = made.terminal.tools.find("jobs")

        def reason(operation: str, job: int) -> str:
            arguments = {"operation": operation, "job": job, "text": "x"}
            return str(approval.decide(tool, arguments).why)

        assert reason("input", 1) == "It types into a program that may reach the network."
        assert reason("output", 1) == reason("input", 2) == reason("input", 7) == ""


def test_text_is_waited_for_and_typed(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(
            made,
            background("python3 -iq"),
            call_reply("jobs", operation="wait", text=">>>"),
            call_reply("jobs", operation="input", text="print(6 * 7)"),
            call_reply("jobs", operation="wait", text="42"),
            call_reply("jobs", operation="input", text=""),
            call_reply("jobs", operation="wait"),
        )
        assert "'42' is there." in answers(made)[3]
        assert answers(made)[5].startswith("job 1 ended: exit code 0")


def test_output_is_what_came_since_last_asked(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(
            made,
            background("cat"),
            call_reply("jobs", operation="input", text="one"),
            call_reply("jobs", operation="wait", text="one"),
            call_reply("jobs", operation="output"),
            call_reply("jobs", operation="input", text="\x1b[31mtwo\x1b[0m"),
            call_reply("jobs", operation="wait", text="two"),
        )
        read = answers(made)
        assert "one" in read[1] + read[2]
        assert read[3].endswith("(no new output)")
        assert "one" not in read[4] + read[5].replace("'two'", "")
        assert "\x1b" not in "".join(read)
        card = command(made, "/jobs 1").card
        assert isinstance(card, TextCard)
        assert card.body == "one\ntwo\n"


def test_the_end_is_news_for_the_model_and_the_person(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background("read line; exit 3"))
        jobs_of(made)._jobs[1].type("end", made.terminal.stop)
        assert wait_until(lambda: not running(made))
        events = say(made, line="and now?")
        assert "job 1 ended: exit code 3" in told(made)
        news = [str(event.what) for event in events if isinstance(event, Informed)]
        assert news == ["job 1 ended: exit code 3: read line; exit 3"]
        assert not any(isinstance(event, Informed) for event in say(made, line="and now?"))


def test_a_job_that_fails_at_once_says_so_in_its_answer(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background("echo no luck; exit 4"), call_reply("jobs", operation="wait"))
        assert answers(made)[1].startswith("job 1 ended: exit code 4")
        assert "no luck" in "".join(answers(made))


def test_unknown_jobs_and_missing_text_are_explained(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(
            made,
            call_reply("jobs", operation="list"),
            call_reply("jobs", operation="stop", job=7),
            background("sleep 300"),
            call_reply("jobs", operation="input"),
            call_reply("jobs", operation="wait", text="never", timeout=0),
            call_reply("jobs", operation="list"),
        )
        read = answers(made)
        assert read[0] == "There are no jobs."
        assert "There is no job 7." in read[1]
        assert "Say the text to type" in read[3]
        assert "'never' did not come in 0 s." in read[4]
        assert read[5].endswith(": sleep 300")
        assert not command(made, "/jobs 9").ok
        assert not command(made, "/jobs a b c").ok


def test_the_list_says_what_each_is_since_when_and_where_it_listens(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(SERVE), background("exit 3", "c"), background("sleep 300", "d"))
        assert wait_until(lambda: jobs_of(made).rows()[0]["ports"] == [8000])
        say(made, call_reply("jobs", operation="wait", job=2))
        command(made, "/jobs stop 3")
        card = command(made, "/jobs").card
        assert isinstance(card, TableCard)
        assert [str(cell) for cell in card.columns] == ["No.", "Command", "State", "Since", "Port"]
        rows = [[str(cell) for cell in row] for row in card.rows]
        assert rows.pop(1) == ["", "to see it: /preview 8000", "", "", ""]
        assert all(re.fullmatch(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d", row.pop(3)) for row in rows)
        assert rows == [
            ["1", SERVE, "running", "8000"],
            ["2", "exit 3", "ended: exit code 3", ""],
            ["3", "sleep 300", "stopped", ""],
        ]


def test_no_more_run_than_may(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, *(background(f"sleep 300{n}", call_id=f"b{n}") for n in range(MAX_RUNNING + 1)))
        assert f"{MAX_RUNNING} jobs run, and no more may." in answers(made)[-1]
        card = command(made, "/jobs stop").card
        assert isinstance(card, TableCard)
        assert len(card.rows) == MAX_RUNNING
        assert not running(made)


FORK = """python3 -c 'import os
if os.fork() == 0:
    os.setsid()
    os.fork()
    os.execlp("sleep", "sleep", "4321")'"""


@pytest.mark.parametrize(
    "leave", ["(setsid sleep 4321 &)", "setsid bash -c '(sleep 4321 &)' &", FORK]
)
def test_nothing_that_it_left_behind_outlives_it(tmp_path: Path, leave: str) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(f"{leave}\necho ready; sleep 4321"))
        say(made, call_reply("jobs", operation="wait", text="ready"))
        execution = jobs_of(made)._jobs[1]._execution
        assert execution is not None
        namespace = Path(f"/proc/{execution.inner_pid}/ns/pid").readlink()
        assert len(processes_in(namespace)) > 1
        command(made, "/jobs stop 1")
        assert processes_in(namespace) == []


def processes_in(namespace: Path) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if (path / "ns/pid").readlink() == namespace and is_alive(int(path.name)):
                found.append(int(path.name))
    return found


def test_stopping_a_task_stops_no_job_and_says_so(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        made.model.replies += [background("sleep 300"), [lambda stop: stop.set(), *text_reply("x")]]
        events: list[Event] = []
        drive(made.terminal.run_line("go"), lambda event: events.append(event))
        assert running(made) == "job 1"
        news = [str(event.what) for event in events if isinstance(event, Informed)]
        assert "Background jobs keep running: 1. See /jobs." in news


def test_a_stop_ends_the_waiting_for_a_job(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:

        def stop_when_it_waits() -> None:
            assert wait_until(lambda: len(answers(made)) == 1)
            made.terminal.stop.set()

        stopper = threading.Thread(target=stop_when_it_waits)
        stopper.start()
        say(made, background("sleep 300"), call_reply("jobs", operation="wait", timeout=600))
        stopper.join()
        assert running(made) == "job 1"
        made.model.replies.clear()


def test_a_session_that_goes_on_tells_once_that_its_jobs_ended(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background("sleep 300"))
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        assert running(made) == ""
        table = command(made, "/jobs").card
        assert isinstance(table, TableCard)
        assert [str(cell) for cell in table.rows[0][:3]] == [
            "1", "sleep 300", "ended with the Onefold that ran it"
        ]  # fmt: skip
        asked = command(made, "/jobs 1").card
        assert isinstance(asked, TextCard)
        assert "ended with the Onefold that ran it" in str(asked.title)
        events = say(made, line="and now?")
        news = [str(event.what) for event in events if isinstance(event, Informed)]
        assert news == ["job 1 ended with the Onefold that ran it: sleep 300"]
        assert news[0] in told(made)
        say(made, call_reply("jobs", operation="list"), call_reply("jobs", operation="output"))
        assert [news[0] in answer for answer in answers(made)[-2:]] == [True, True]
        say(made, background("sleep 300"))
        assert answers(made)[-1].startswith("job 2 runs")
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        events = say(made, line="and now?")
        assert [str(event.what) for event in events if isinstance(event, Informed)] == [
            "job 2 ended with the Onefold that ran it: sleep 300"
        ]


def test_another_session_has_no_jobs_of_this_one(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background("sleep 300"))
        made.terminal.new()
        assert running(made) == ""
        assert command(made, "/jobs").ok


def test_a_job_asks_like_any_other_run(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, approval_mode="ask") as made:
        events = say(made, background("sleep 300"))
        assert any(isinstance(event, ApprovalAsked) for event in events)
        assert running(made) == ""


def test_no_repository_is_made_while_a_job_runs_and_it_is_said_why(tmp_path: Path) -> None:
    init = call_reply("run_command", id="i", command="git init -q && git status")
    with assembled_terminal(tmp_path) as made:
        say(made, background("sleep 300"), init)
        assert "another program runs in the folder, a background job for one" in answers(made)[-1]
        say(made, call_reply("jobs", operation="stop"), init)
        assert "not kept" not in answers(made)[-1]
        assert (made.root / ".git/HEAD").is_file()
