"""Where lines come from, for other programs: Agent Trace, and notes of git."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from core.cards import TextCard
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.why.test_why import ASKED, answer, mended, refusal
from tests.scripted_model import call_reply, run_turn, text_reply

NOTES = "refs/notes/onefold"


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    run = subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)
    return run.stdout.decode()


def exported(env: AssembledTerminal, path: Path) -> dict[str, Any]:
    event = answer(env, f"/why --agent-trace {path}")
    assert isinstance(event.card, TextCard)
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def check_record(record: dict[str, Any]) -> None:
    """Hold *record* against the required fields and the forms of the specification 0.1.0."""
    assert record["version"] == "0.1.0"
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", record["id"]
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["timestamp"])
    assert record["tool"].keys() == {"name", "version"}
    for conversation in (one for file in record["files"] for one in file["conversations"]):
        assert conversation["contributor"]["type"] in ("human", "ai", "unknown")
        assert all(1 <= one["start_line"] <= one["end_line"] for one in conversation["ranges"])


def ranges(record: dict[str, Any], path: str) -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of the file *path* by the type of their contributor."""
    (file,) = [one for one in record["files"] if one["path"] == path]
    return {
        one["contributor"]["type"]: [(r["start_line"], r["end_line"]) for r in one["ranges"]]
        for one in file["conversations"]
    }


def test_a_file_in_agent_trace_has_the_lines_of_calls_people_and_others(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        (env.root / "old.txt").write_text("as ever\n")
        mended(env)
        path = env.root / "app.py"
        before = path.read_bytes()
        path.write_bytes(before + b"# mine\n")
        env.terminal.features.person_wrote("app.py", before, path.read_bytes())
        record = exported(env, tmp_path / "trace.json")
        check_record(record)
        assert [one["path"] for one in record["files"]] == ["app.py"]
        assert ranges(record, "app.py") == {"ai": [(2, 2)], "unknown": [(6, 6)], "human": [(7, 7)]}
        (ai,) = [
            one for one in record["files"][0]["conversations"] if one["contributor"]["type"] == "ai"
        ]
        assert ai["contributor"]["model_id"] == "scripted"
        assert ai["url"] == f"onefold://session/{env.terminal.session}#turn-1"
        digest = hashlib.sha256(b"    return price * count").hexdigest()
        assert ai["ranges"][0]["content_hash"] == f"sha256:{digest}"
        text = json.dumps(record)
        assert "price" not in text
        assert ASKED not in text


def test_an_export_replaces_no_file_and_says_where_it_went(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        event = answer(env, "/why --agent-trace trace.json")
        assert [change.path for change in event.changes] == ["trace.json"]
        assert "already exists" in refusal(env, "/why --agent-trace trace.json")
        assert "Usage: /why" in refusal(env, "/why --agent-trace")


def test_a_name_that_is_no_utf8_is_exported_as_far_as_it_can_be_written(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        (env.root / os.fsdecode(b"caf\xe9.txt")).write_text("one\n")
        record = exported(env, tmp_path / "trace.json")
        assert [one["path"] for one in record["files"]] == ["app.py", "caf?.txt"]


def test_a_note_of_git_has_the_lines_of_its_commit_whatever_came_later(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        git(env.root, "init", "--quiet")
        git(env.root, "config", "user.name", "Ada")
        git(env.root, "config", "user.email", "ada@example.com")
        mended(env)
        git(env.root, "add", "app.py")
        git(env.root, "commit", "--quiet", "--message=mend")
        commit = git(env.root, "rev-parse", "HEAD").strip()
        assert NOTES not in git(env.root, "for-each-ref")
        env.model.replies += [
            call_reply("run_command", id="s", command="sed -i 1i\\# new app.py"),
            text_reply("Done so."),
        ]
        run_turn(env.terminal, "a line above")
        answer(env, "/why --git-notes")
        answer(env, "/why --git-notes")
        record = json.loads(git(env.root, "notes", f"--ref={NOTES}", "show", commit))
        check_record(record)
        assert record["vcs"] == {"type": "git", "revision": commit}
        assert ranges(record, "app.py") == {"ai": [(2, 2)], "unknown": [(6, 6)]}
        assert git(env.root, "status", "--porcelain").strip() == "M app.py"


def test_a_note_wants_a_repository_and_a_commit(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        assert "no git repository" in refusal(env, "/why --git-notes")
        git(env.root, "init", "--quiet")
        git(env.root, "config", "user.name", "a")
        git(env.root, "config", "user.email", "a@b")
        assert "git refused" in refusal(env, "/why --git-notes")
        assert "git refused" in refusal(env, "/why --git-notes --output=x")
        assert not (env.root / "x").exists()
