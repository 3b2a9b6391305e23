"""The evaluation, from its command line to the files it writes; only the model is scripted."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.eval.command import main
from tests.eval.languages import LANGUAGES
from tests.eval.summary import Summary
from tests.eval.wire import usage_in
from tests.modules.sandbox.sandbox_home import wait_until
from tests.simulator import Call, Say, Simulator
from tests.simulator.script import Step
from tests.simulator.server import ReceivedRequest

ROOT = Path(__file__).parents[2]
STUB = "def double(n):\n    pass\n"
RIGHT = "def double(n):\n    return n + n\n"
ALL_PASS = """
def pytest_collection_modifyitems(items):
    del items[1:]
    items[0].obj = items[0]._obj = lambda: None
"""


def make_exercise(tracks: Path, name: str = "doubling") -> Path:
    """Make up an exercise in Exercism's layout: to double a number."""
    source = tracks / "python/exercises/practice" / name
    files = {"solution": ["doubling.py"], "test": ["doubling_test.py"]}
    texts = {
        ".docs/instructions.md": "# Doubling\n\nWrite `double`, which returns a number twice.\n",
        ".meta/config.json": json.dumps({"files": {**files, "example": [".meta/example.py"]}}),
        ".meta/example.py": RIGHT,
        "doubling.py": STUB,
        "doubling_test.py": "from doubling import double\n\n\n"
        "def test_two():\n    assert double(2) == 4, 'twice two'\n\n\n"
        "def test_three():\n    assert double(3) == 6\n",
    }
    for path, text in texts.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text)
    return source


def shell_agent(name: str, code: str) -> str:
    """Return an agent that is *code* in a shell, where $1 is the task."""
    return f"{name}=sh -c {shlex.quote(code)} {name} {{prompt}}"


def write(name: str, text: str) -> str:
    return f"printf %s {shlex.quote(text)} > {name}"


def attempts_in(out: Path) -> list[dict[str, Any]]:
    lines = map(json.loads, (out / "results.jsonl").read_text().splitlines())
    return [line for line in lines if "agent" in line]


def states(out: Path) -> dict[str, list[str]]:
    """Return the states of each agent's attempts, in their order."""
    found: dict[str, list[str]] = {}
    for one in sorted(attempts_in(out), key=lambda one: int(one["number"])):
        found.setdefault(one["agent"], []).append(one["state"])
    return found


def test_the_oracle_passes_and_no_trick_does(tmp_path: Path) -> None:
    source, out = make_exercise(tmp_path / "tracks"), tmp_path / "out"
    agents = [
        "oracle",
        shell_agent("nothing", "ls -a > seen.txt; test ! -e .meta -a ! -e doubling_test.py"),
        shell_agent("wrong", write("doubling.py", STUB)),
        shell_agent("new-tests", write("doubling_test.py", "def test_a(): pass\n")),
        shell_agent("plugin", write("conftest.py", ALL_PASS)),
        shell_agent("early-end", write("doubling.py", "import os\nos._exit(0)\n")),
        shell_agent("link", f"ln -sf {shlex.quote(str(source / '.meta/example.py'))} doubling.py"),
        shell_agent("pipe", "rm doubling.py; mkfifo doubling.py"),
        shell_agent(
            "second-time",
            f"case $1 in *'twice two'*) {write('doubling.py', RIGHT)};; *) exit 3;; esac",
        ),
    ]
    words = ["--exercises", str(tmp_path / "tracks"), "--out", str(out)]
    assert main([*words, *(word for agent in agents for word in ("--agent", agent))]) == 0
    assert main([*words, "--tries", "2", "--agent", agents[-1]]) == 0
    assert states(out) == {
        "oracle": ["passed"],
        "second-time": ["failed", "passed"],
        **dict.fromkeys(("nothing", "wrong", "new-tests", "plugin"), ["failed"]),
        **dict.fromkeys(("early-end", "link", "pipe"), ["failed"]),
    }
    by_agent = {one["agent"]: one for one in attempts_in(out) if one["number"] == 1}
    assert by_agent["oracle"]["submission"] == {"doubling.py": RIGHT}
    assert by_agent["oracle"]["requests"] == 3
    assert min(by_agent["oracle"][name] for name in ("hit", "miss", "output")) > 0
    assert by_agent["nothing"]["miss"] is None
    assert by_agent["nothing"]["ending"] == "exit code 0"
    assert by_agent["second-time"]["ending"] == "exit code 3"
    assert (source / "doubling_test.py").read_text().startswith("from doubling")
    assert not list((out / "work").iterdir())


def test_what_an_agent_asks_the_model_is_counted_and_priced(tmp_path: Path) -> None:
    make_exercise(tmp_path / "tracks")
    ask = (
        "import json, os, urllib.request as u\n"
        "body = {'model': 'deepseek-flash', 'messages': [{'role': 'user', 'content': 'Hello'}]}\n"
        "head = {'Content-Type': 'application/json', 'Authorization': 'Bearer k'}\n"
        "url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'\n"
        "for extra in ({}, {'stream': True, 'stream_options': {'include_usage': True}}):\n"
        "    u.urlopen(u.Request(url, json.dumps(body | extra).encode(), head)).read()\n"
    )
    agent = f"asker={shlex.quote(sys.executable)} -c {shlex.quote(ask)} {{prompt}}"
    with Simulator([Say("Good day."), Say("Again?")]) as server:
        words = ["--exercises", str(tmp_path / "tracks"), "--out", str(tmp_path / "out")]
        assert main([*words, "--agent", agent, "--server", server.url]) == 0
        usages = [one.usage for one in server.requests]
    (attempt,) = attempts_in(tmp_path / "out")
    prompt = sum(usage["prompt_tokens"] for usage in usages)
    assert (attempt["requests"], attempt["hit"] + attempt["miss"]) == (2, prompt)
    assert attempt["output"] == sum(usage["completion_tokens"] for usage in usages)
    assert attempt["cost"] > 0


def test_our_agent_races_where_that_is_asked(tmp_path: Path) -> None:
    make_exercise(tmp_path / "tracks")

    def answer(request: ReceivedRequest) -> Step:
        if "You compare two results" in str(request.messages[0]["content"]):
            return Say("A")
        steps = sum(one["role"] == "assistant" for one in request.messages)
        if steps == 0:
            return Call("read_file", path="doubling.py")
        if steps == 1:
            return Call("create_file", path="doubling.py", content=RIGHT, overwrite=True)
        return Say("Solved.")

    with Simulator(answer) as server:
        words = ["--exercises", str(tmp_path / "tracks"), "--out", str(tmp_path / "out")]
        assert main([*words, "--race", "2", "--server", server.url]) == 0
        first = [one for one in server.requests if len(one.messages) == 3]
    assert states(tmp_path / "out") == {"onefold-race-2": ["passed"]}
    assert len(first) == 2


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ('{"usage": {"prompt_tokens": 3}}', {"prompt_tokens": 3}),
        ('data: {"usage": null}\n\ndata: {"usage": {"a": 1}}\n\ndata: [DONE]\n\n', {"a": 1}),
        (
            'data: {"timings": {"cache_n": 2, "prompt_n": 5, "predicted_n": 7}}\n\n',
            {"prompt_tokens": 7, "prompt_cache_hit_tokens": 2, "completion_tokens": 7},
        ),
        ("data: {}\n\ndata: cut", None),
        ("<html>", None),
    ],
)
def test_usage_is_found_where_servers_tell_it(reply: str, told: Mapping[str, int] | None) -> None:
    assert usage_in(reply.encode()) == told


def test_a_killed_evaluation_goes_on_where_it_was(tmp_path: Path) -> None:
    tracks, out, begun = tmp_path / "tracks", tmp_path / "out", tmp_path / "begun"
    make_exercise(tracks, "a-first")
    make_exercise(tracks, "b-second")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = (
        f"basename $PWD >> {shlex.quote(str(begun))}; {write('doubling.py', RIGHT)}; "
        f"test -e {shlex.quote(str(tmp_path / 'go'))} -o ${{PWD##*/}} = a-first || "
        f"cat {shlex.quote(str(pipe))}"
    )
    words = ["--exercises", str(tracks), "--out", str(out), "--jobs", "1"]
    words += ["--agent", shell_agent("shell", code)]
    with subprocess.Popen([sys.executable, "-m", "tests.eval", *words], cwd=ROOT) as process:
        wait_until(lambda: begun.exists() and "b-second" in begun.read_text())
        process.send_signal(signal.SIGKILL)
    (tmp_path / "go").touch()
    pipe.write_bytes(b"")  # lets the agent go that the killed evaluation has left
    with (out / "results.jsonl").open("a") as file:
        file.write('{"agent": "shell", "task": "python/b-sec')
    assert main(words) == 0
    assert begun.read_text().split() == ["a-first", "b-second", "b-second"]
    assert states(out) == {"shell": ["passed", "passed"]}
    assert main(words) == 0
    assert len(begun.read_text().split()) == 3


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@e", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def make_instance(folder: Path) -> dict[str, str]:
    """Make up a repository with a bug, and after it the commit that mends it."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "doubling.py").write_text(STUB)
    (folder / "test_old.py").write_text("def test_old():\n    assert True\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Begin")
    base = git(folder, "rev-parse", "HEAD")
    (folder / "test_old.py").write_text(
        "from doubling import double\n\n\ndef test_old():\n    assert double(2) == 4\n"
    )
    test_patch = git(folder, "diff") + "\n"
    (folder / "doubling.py").write_text(RIGHT)
    git(folder, "commit", "-qam", "The answer")
    return {
        "instance_id": "me__double-1",
        "repo": str(folder),
        "base_commit": base,
        "problem_statement": "double(2) returns None.",
        "test_patch": test_patch,
        "FAIL_TO_PASS": json.dumps(["test_old.py::test_old"]),
    }


def test_patches_for_issues_are_made_safely_and_judged(tmp_path: Path) -> None:
    instance, out = make_instance(tmp_path / "a repository"), tmp_path / "out"
    file = tmp_path / "instances.jsonl"
    untested = {**instance, "instance_id": "me__double-2", "FAIL_TO_PASS": "[]"}
    file.write_text("".join(f"{json.dumps(one)}\n" for one in (instance, untested)))
    ran = shlex.quote(str(tmp_path / "ran"))
    solve = (
        "test $(git log --all --oneline | wc -l) = 1 || exit 9; "
        f"! git log --all -p | grep 'n + n' || exit 9; {write('doubling.py', RIGHT)}; "
        f"{write('new.txt', 'new')}; {write('test_old.py', 'syntax error')}; "
        "git init -q inner; git -C inner commit -q --allow-empty -m x; "
        f"for r in . inner; do git -C $r config core.fsmonitor 'touch {ran}; false'; done; "
        "rm -f .git/index; echo '* filter=bad' > .gitattributes; mkfifo pipe"
    )
    agents = [
        shell_agent("solver", f"export GIT_CONFIG_COUNT=0 {_WHO}; {solve}"),
        "lazy=true {prompt}",
    ]
    words = ["--issues", str(file), "--out", str(out)]
    assert main([*words, *(word for agent in agents for word in ("--agent", agent))]) == 0
    found = {(one["agent"], one["task"][-1]): one["state"] for one in attempts_in(out)}
    assert found == {
        ("solver", "1"): "passed",
        ("lazy", "1"): "failed",
        ("solver", "2"): "unjudged",
        ("lazy", "2"): "unjudged",
    }
    assert {one["ending"] for one in attempts_in(out)} == {"exit code 0"}
    assert not (tmp_path / "ran").exists()
    predicted = json.loads((out / "solver/preds.json").read_text())
    assert list(predicted) == ["me__double-1", "me__double-2"]
    first = predicted["me__double-1"]
    assert set(first) == {"model_name_or_path", "instance_id", "model_patch"}
    assert first["instance_id"] == "me__double-1"
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", instance["repo"], str(clone))
    git(clone, "checkout", "-q", instance["base_commit"])
    (tmp_path / "patch").write_text(first["model_patch"])
    git(clone, "apply", str(tmp_path / "patch"))
    assert (clone / "doubling.py").read_text() == RIGHT
    assert (clone / "new.txt").read_text() == "new"
    empty = json.loads((out / "lazy/preds.json").read_text())["me__double-1"]
    assert empty["model_patch"] == ""


_WHO = "GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e"


def test_what_cannot_be_evaluated_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make_exercise(tmp_path / "tracks")
    tracks, out = ["--exercises", str(tmp_path / "tracks")], ["--out", str(tmp_path / "out")]
    lazy = ["--agent", "lazy=true {prompt}"]
    bad_file = tmp_path / "bad.jsonl"
    bad_file.write_text('\n{"instance_id": "x"}\n')
    rows = [
        ([], "--exercises DIR or --issues FILE"),
        (["--exercises", str(tmp_path / "none")], "There are no exercises in"),
        ([*tracks, "--only", "tripling"], "There is no task 'tripling'."),
        ([*tracks, "--agent", "mini"], "'mini' is no agent"),
        ([*tracks, "--agent", "../x=true {prompt}"], "is no agent"),
        ([*tracks, "--agent", "x=true"], "has no {prompt}"),
        ([*tracks, "--agent", "x='{prompt}"], "Cannot read the command"),
        ([*tracks, *lazy, *lazy], "Two agents have the same name."),
        ([*tracks, "--agent", "x=./no-such-program {prompt}"], "x does not start"),
        (["--issues", str(bad_file)], "Line 2 of"),
        (["--issues", str(tmp_path / "none")], "Cannot read"),
    ]
    for words, sentence in rows:
        assert main([*words, *out]) == 2, words
        assert sentence in capsys.readouterr().err
    assert main([*tracks, *out, *lazy]) == 0
    assert main([*tracks, *out, *lazy, "--model", "another"]) == 2
    assert "were made with model" in capsys.readouterr().err
    (source / ".meta/config.json").write_text('{"files": {"solution": ["../../x.py"]}}')
    assert main([*tracks, *out, *lazy]) == 2
    assert "which is not in the exercise" in capsys.readouterr().err


def test_each_language_says_what_it_lacks_and_has_all_its_tests_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    lacking = {name: one.missing(tmp_path) for name, one in LANGUAGES.items()}
    assert lacking == {
        "python": "",
        "javascript": "there is no node here",
        "go": "there is no go here",
        "rust": "there is no cargo here",
        "java": "there is no java and no gradle here",
        "cpp": "there is no cmake and no make and no c++ here",
    }
    enabled = LANGUAGES["javascript"].all_enabled("xtest('a'); xdescribe('b'); maxit(1)")
    assert enabled == "test('a'); describe('b'); maxit(1)"
    assert LANGUAGES["java"].all_enabled('@Disabled("no") @Test') == " @Test"


def test_the_interval_is_wilsons() -> None:
    """As in Newcombe (1998), table I: 81 of 263 give 0.2553 to 0.3662, 0 of 20 give 0 to 0.1611."""
    for passed, judged, interval in ((81, 263, (0.2553, 0.3662)), (0, 20, (0.0, 0.1611))):
        one = Summary("a", judged, judged, passed, passed, 0, 1.0, 1, None, None)
        assert tuple(round(end, 4) for end in one.interval) == interval
