from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cards import TextCard
from core.events import ApprovalAsked, ToolFinished
from core.loop.approval import AlwaysAskReason
from core.tools import ToolError
from modules.files.project import Project
from modules.git.commit import GitCommit
from modules.secrets.redactor import Secrets
from tests.assembly import assembled_terminal
from tests.declared_tools import tool_named
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.waiting import Stop

PERSON = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin"}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "project"
    git("init", "-q", str(folder), at=tmp_path)
    git("config", "user.name", "Me", at=folder)
    git("config", "user.email", "me@example.org", at=folder)
    (folder / "a.txt").write_text("one\n")
    yield folder
    assert not (tmp_path / "ran").exists()


def git(*arguments: str, at: Path) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=at, env=PERSON, check=True, capture_output=True, text=True
    ).stdout


def script(root: Path) -> str:
    """Return a program that leaves a mark when somebody runs it."""
    path = root.parent / "evil.sh"
    path.write_text(f"#!/bin/sh\necho x >> {root.parent / 'ran'}\ncat\n")
    path.chmod(0o755)
    return str(path)


def commit(root: Path, *paths: str) -> str:
    return GitCommit(Project(root), Stop()).git_commit("Say it", list(paths) or None).text


def test_all_changes_or_some_are_committed(root: Path) -> None:
    (root / "b c.txt").write_text("two\n")
    assert "a.txt" in commit(root, "a.txt")
    assert git("show", "--name-only", "--format=%an %s", at=root).split("\n\n") == [
        "Me Say it", "a.txt\n"
    ]  # fmt: skip
    (root / "a.txt").unlink()
    commit(root)
    assert git("ls-files", at=root) == "b c.txt\n"
    assert git("status", "--porcelain", at=root) == ""


def test_a_message_is_kept_whole(root: Path) -> None:
    message = "#12 Say it\n\n# Why\n\n- because\n"
    GitCommit(Project(root), Stop()).git_commit(f"\n{message}\n\n")
    assert git("log", "-1", "--format=%B", at=root).rstrip("\n") == message.rstrip("\n")


def test_a_commit_that_undo_leaves_says_so(root: Path) -> None:
    commit(root)
    git("init", "-q", "super", at=root.parent)
    outer = root.parent / "super"
    git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "in", at=outer
    )
    for name in ("user.name", "user.email"):
        git("config", name, "me", at=outer / "in")
    (outer / "in" / "b.txt").write_text("b\n")
    said = "Undo leaves this commit, for checkpoints do not hold its repository."
    assert commit(outer / "in").endswith(said)
    (root / "b.txt").write_text("b\n")
    assert said not in commit(root)


def test_a_repository_in_the_project_is_not_committed_to_itself(root: Path) -> None:
    (root / ".git").rename(root / ".bare")
    (root / ".git").write_text("gitdir: .bare\n")
    assert "Undo leaves this commit" in commit(root)
    assert not [name for name in git("ls-files", at=root).split() if name.startswith(".bare")]
    with pytest.raises(ToolError, match="nothing to commit"):
        commit(root, ".bare/HEAD")


def test_a_chinese_name_stays_readable(root: Path) -> None:
    (root / "文档.txt").write_text("一\n")
    assert "b/文档.txt" in intent(root)
    assert "文档.txt | 1 +" in commit(root)


def test_what_cannot_be_done_is_said(root: Path, tmp_path: Path) -> None:
    commit(root)
    with pytest.raises(ToolError, match="nothing to commit"):
        commit(root)
    with pytest.raises(ToolError, match="message"):
        GitCommit(Project(root), Stop()).git_commit("  ")
    for folder in (tmp_path / "plain", tmp_path / "with a job" / ".git"):  # its name kept free
        folder.mkdir(parents=True)
    for project in ("plain", "with a job"):
        with pytest.raises(ToolError, match="no git repository"):
            commit(tmp_path / project)


def intent(root: Path, *paths: str) -> str:
    """Return what the question before a commit shows."""
    card = GitCommit(Project(root), Stop()).preview(
        tool_named("git_commit"), {"message": "Say it", "paths": list(paths) or None}
    )
    assert isinstance(card, TextCard)
    return str(card.body)


def kept(root: Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in (root / ".git").rglob("*") if f.is_file()}


def test_a_question_shows_what_would_be_committed_and_writes_nothing(root: Path) -> None:
    (root / "b.txt").write_text("two\n")
    before = kept(root)
    shown = intent(root)
    assert shown.startswith("Say it\n\n a.txt | 1 +\n b.txt | 1 +\n")
    assert "+one" in shown
    assert "+two" in shown
    assert "b.txt" not in intent(root, "a.txt")
    assert kept(root) == before
    commit(root, "a.txt")
    (root / "a.txt").write_text("uno\n")
    before = kept(root)
    assert "-one\n+uno" in intent(root, "a.txt")
    assert kept(root) == before


def test_a_large_commit_is_shown_by_its_files(root: Path) -> None:
    (root / "big.txt").write_text("line\n" * 5_000)
    assert "big.txt | 5000 +" in intent(root)
    assert "+line" not in intent(root)


def test_nobody_is_asked_about_a_commit_that_cannot_be(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(root)
    with pytest.raises(ToolError, match="nothing to commit"):
        intent(root)
    (root / "a.txt").write_text("more\n")
    git("config", "--unset", "user.name", at=root)
    monkeypatch.setenv("HOME", str(tmp_path))
    with assembled_terminal(
        tmp_path, call_reply("git_commit", message="x"), text_reply("ok")
    ) as made:
        events = run_turn(made.terminal, "commit")
    assert not [event for event in events if isinstance(event, ApprovalAsked)]
    (end,) = (event for event in events if isinstance(event, ToolFinished))
    assert end.state == "failed"
    assert isinstance(end.card, TextCard)
    assert "git does not know the person" in str(end.card)


def test_planted_hooks_do_not_run(root: Path) -> None:
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit",
                 "post-index-change", "reference-transaction"):  # fmt: skip
        (root / ".git/hooks" / name).symlink_to(script(root))
    (root / "hooks").mkdir()
    (root / "hooks/pre-commit").symlink_to(script(root))
    git("config", "core.hooksPath", "hooks", at=root)
    commit(root)


def test_planted_settings_do_not_run(root: Path) -> None:
    evil = script(root)
    for name in ("core.fsmonitor", "core.editor", "core.pager", "gpg.program", "diff.external",
                 "diff.x.command", "diff.x.textconv", "core.sshCommand", "merge.x.driver",
                 "gpg.ssh.program", "credential.helper", "core.alternateRefsCommand"):  # fmt: skip
        git("config", name, evil, at=root)
    git("config", "commit.gpgSign", "true", at=root)
    git("config", "log.showSignature", "true", at=root)
    (root / ".gitattributes").write_text("* diff=x merge=x\n")
    commit(root)


def test_a_filter_is_refused_and_not_run(root: Path) -> None:
    for name in ("clean", "smudge", "process"):
        git("config", f"filter.x.{name}", script(root), at=root)
    (root / ".gitattributes").write_text("*.txt filter=x\n")
    with pytest.raises(ToolError, match="filter program x"):
        commit(root)


def test_of_git_lfs_only_pointers_are_committed(root: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{7:064}\nsize 12\n"
    (root / ".gitattributes").write_text("*.bin filter=lfs\n")
    (root / "a.bin").write_text(pointer)
    commit = GitCommit(Project(root), Stop(), lambda _: []).git_commit
    commit("A pointer")
    assert git("show", "HEAD:a.bin", at=root) == pointer
    (root / "a.bin").write_text(pointer + "x")
    with pytest.raises(ToolError, match="stored by git-lfs"):
        commit("A content")


def test_a_filter_is_not_run_to_look_for_changes(root: Path) -> None:
    """Not even one of the settings that the repository shares with the project's own files."""
    commit(root)
    git("config", "include.path", "../.gitconfig", at=root)
    program = script(root)
    options = "".join(f"{name} = {program}\n" for name in ("clean", "smudge", "process"))
    (root / ".gitconfig").write_text(f'[filter "x=y.z"]\n{options}required\n')
    (root / ".gitattributes").write_text("*.txt filter=x=y.z\n")
    (root / "a.txt").write_text("two\n")
    (root / "b.md").write_text("b\n")
    with pytest.raises(ToolError, match="filter program x=y.z"):
        commit(root)
    assert "b.md" in commit(root, "b.md", ".gitattributes")


def test_what_is_missing_is_not_fetched(root: Path) -> None:
    """A fetch would run the program that the settings name for the other side."""
    commit(root)
    blob = git("rev-parse", "HEAD:a.txt", at=root).strip()
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        **{"remote.x.url": str(root), "remote.x.promisor": "true", "protocol.file.allow": "always"},
        "remote.x.uploadpack": script(root),
    }.items():
        git("config", name, value, at=root)
    (root / "a.txt").write_text("two\n")
    with pytest.raises(ToolError, match="git refused"):
        GitCommit(Project(root), Stop()).preview(tool_named("git_commit"), {"message": "m"})


def test_a_change_in_the_second_of_the_last_commit_is_seen(root: Path) -> None:
    """git tells by the index's own time which files it has to read."""
    git("config", "core.trustctime", "false", at=root)
    file, before = root / "a.txt", (1_000_000_000, 1_000_000_000)
    os.utime(file, before)
    commit(root)
    file.write_text("two\n")
    os.utime(file, before)
    os.utime(root / ".git/index", before)
    assert "+two" in intent(root)


def test_a_commondir_is_refused(root: Path, tmp_path: Path) -> None:
    git("init", "-q", str(tmp_path / "other"), at=tmp_path)
    git("config", "core.fsmonitor", script(root), at=tmp_path / "other")
    (root / ".git/commondir").write_text(str(tmp_path / "other/.git"))
    with pytest.raises(ToolError, match="another place"):
        commit(root)


def test_nested_repositories_run_nothing(root: Path) -> None:
    git("init", "-q", "sub", at=root)
    git("config", "core.fsmonitor", script(root), at=root / "sub")
    (root / "sub/x").touch()
    subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "-c", "user.name=x", "-c", "user.email=x",
         "commit", "-q", "--allow-empty", "-m", "x"], cwd=root / "sub", env=PERSON, check=True,
    )  # fmt: skip
    with pytest.raises(ToolError, match="repository of its own"):
        commit(root)
    commit(root, "a.txt")


def test_a_worktree_is_committed_to(root: Path, tmp_path: Path) -> None:
    commit(root)
    git("worktree", "add", "-q", str(tmp_path / "tree"), at=root)
    (tmp_path / "tree/new").touch()
    assert "new" in commit(tmp_path / "tree")
    assert git("log", "-1", "--format=%s", "tree", at=root) == "Say it\n"


def test_a_file_that_only_claims_to_be_a_worktree_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "claim").mkdir()
    (tmp_path / "claim/.git").write_text(f"gitdir: {root}/.git\n")
    with pytest.raises(ToolError, match="another place"):
        commit(tmp_path / "claim")


def test_it_goes_without_a_question_and_can_be_undone(root: Path, tmp_path: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "first", at=root)
    (root / "new").write_text("new\n")
    before = git("status", "--porcelain", at=root)
    with assembled_terminal(
        tmp_path, call_reply("git_commit", message="x"), text_reply("ok")
    ) as made:
        events = run_turn(made.terminal, "commit")
        assert not [event for event in events if isinstance(event, ApprovalAsked)]
        assert git("log", "-1", "--format=%s", at=root) == "x\n"
        run_turn(made.terminal, "/undo")
    assert git("log", "-1", "--format=%s", at=root) == "first\n"
    assert git("status", "--porcelain", at=root) == before


def test_where_undo_does_not_hold_the_repository_it_is_asked_about(
    root: Path, tmp_path: Path
) -> None:
    (root / ".git").rename(tmp_path / "outside")
    (root / ".git").write_text(f"gitdir: {tmp_path / 'outside'}\n")
    git("config", "core.worktree", str(root), at=root)
    with assembled_terminal(
        tmp_path, call_reply("git_commit", message="x"), text_reply("ok")
    ) as made:
        events = run_turn(made.terminal, "commit")
    (asked,) = (event for event in events if isinstance(event, ApprovalAsked))
    assert "+one" in str(asked.preview)


def test_nothing_of_our_environment_counts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_DIR", "GIT_INDEX_FILE"):
        monkeypatch.setitem(os.environ, name, script(root))
    assert "a.txt" in commit(root)


KEY = "sk-canary-0123456789abcdef"


def commit_of(root: Path) -> GitCommit:
    project = Project(root)
    secrets = Secrets(project.root, {}, root.parent / "switch")
    return GitCommit(project, Stop(), secrets.names_in)


@pytest.fixture
def leaky(root: Path) -> Path:
    """Return a project with a secret in a `.env` and in a program."""
    (root / ".env").write_text(f"API_KEY={KEY}\n")
    (root / "app.py").write_text(f"key = {KEY!r}\n")
    return root


def test_what_would_publish_a_secret_is_left_out_and_named(leaky: Path) -> None:
    shown = commit_of(leaky).preview(tool_named("git_commit"), {"message": "m"})
    done = commit_of(leaky).git_commit("m")
    for told in (str(getattr(shown, "body", "")), done.text):
        assert "Left out, for it would publish secrets: app.py (API_KEY)." in told
        assert "Left out, for such files hold secrets: .env." in told
        assert KEY not in told
    assert git("ls-files", at=leaky) == "a.txt\n"
    assert KEY not in git("log", "-p", "--all", at=leaky)
    assert git("fsck", "--no-reflogs", "--dangling", at=leaky) == "", "a trace of it is left"


def test_what_holds_a_secret_is_committed_where_it_is_named_and_asked_about_each_time(
    leaky: Path,
) -> None:
    tool = commit_of(leaky)
    for path in ("app.py", ".env"):
        assert isinstance(
            tool.approval_reason(tool_named("git_commit"), {"message": "m", "paths": [path]}),
            AlwaysAskReason,
        )
    assert not isinstance(
        tool.approval_reason(tool_named("git_commit"), {"message": "m", "paths": ["."]}),
        AlwaysAskReason,
    )
    assert "It publishes secrets: app.py (API_KEY)" in tool.git_commit("m", ["app.py"]).text
    (leaky / "app.py").write_text(f"key = {KEY!r}  # as before\n")
    assert "secrets" not in tool.git_commit("m", ["app.py"]).text


def test_a_secret_that_was_staged_already_stays_staged(leaky: Path) -> None:
    git("add", ".env", at=leaky)
    assert ".env (API_KEY)" in commit_of(leaky).git_commit("m").text
    assert git("status", "--porcelain", at=leaky) == "A  .env\n?? app.py\n"


def test_a_private_key_is_left_out(root: Path) -> None:
    (root / "id").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nx\n")
    assert "id (PRIVATE KEY)" in commit_of(root).git_commit("m").text
    assert git("ls-files", at=root) == "a.txt\n"


ISSUED = "sk-live-" + "4f9A8b7C6d5E3x2Y1w0Z"
OTHER = "ghp_" + "k3J9sLq0Zt7RbX2mVw8YpE5dNc1HuFgA6oTi"


def test_a_key_that_stands_in_no_env_file_is_left_out_and_named(root: Path) -> None:
    (root / "app.py").write_text(f"import os\nAPI_KEY = {ISSUED!r}\n")
    (root / "db.py").write_text("URL = 'postgres://me:v3ry-Str0ng@db.internal/x'\n")
    shown = commit_of(root).preview(tool_named("git_commit"), {"message": "m"})
    done = commit_of(root).git_commit("m")
    for told in (str(getattr(shown, "body", "")), done.text):
        assert "would publish secrets: app.py (sk-l…), db.py (postgres://…@db.internal)." in told
        assert ISSUED not in told
    assert git("ls-files", at=root) == "a.txt\n"
    assert git("fsck", "--no-reflogs", "--dangling", at=root) == "", "a trace of it is left"


def test_a_key_is_committed_where_its_file_is_named_and_asked_about(root: Path) -> None:
    (root / "lib").mkdir()
    (root / "lib/app.py").write_text(f"API_KEY = {ISSUED!r}\n")
    feature, tool = commit_of(root), tool_named("git_commit")
    assert "Left out" in feature.git_commit("m", ["lib", "a.txt"]).text
    named = {"message": "m", "paths": ["lib/app.py"]}
    assert isinstance(feature.approval_reason(tool, named), AlwaysAskReason)
    shown = feature.preview(tool, named)
    assert "It publishes secrets: lib/app.py (sk-l…)" in str(getattr(shown, "body", ""))
    assert (
        "It publishes secrets: lib/app.py (sk-l…)" in feature.git_commit("m", ["lib/app.py"]).text
    )


def test_a_key_that_the_last_commit_has_holds_up_nothing(root: Path) -> None:
    (root / "app.py").write_text(f"API_KEY = {ISSUED!r}\n")
    git("add", ".", at=root)
    git("commit", "-qm", "Theirs", at=root)
    git("config", "grep.lineNumber", "true", at=root)
    (root / "app.py").rename(root / "moved.py")
    (root / "copy.py").write_text(f"# as before\nKEY = {ISSUED!r}\n")
    feature = commit_of(root)
    named = {"message": "m", "paths": ["copy.py"]}
    assert not isinstance(feature.approval_reason(tool_named("git_commit"), named), AlwaysAskReason)
    assert "secrets" not in feature.git_commit("m").text
    assert git("ls-files", at=root) == "a.txt\ncopy.py\nmoved.py\n"
    (root / "a.txt").write_text("two\n")
    (root / "copy.py").write_text(f"KEYS = {ISSUED!r}, {OTHER!r}\n")
    assert "Left out, for it would publish secrets: copy.py (ghp_…)." in str(
        getattr(feature.preview(tool_named("git_commit"), {"message": "m"}), "body", "")
    )


def test_a_key_that_a_merge_brings_is_not_left_out_of_it(root: Path) -> None:
    commit(root)
    git("checkout", "-qb", "theirs", at=root)
    (root / "app.py").write_text(f"API_KEY = {ISSUED!r}\n")
    git("add", ".", at=root)
    git("commit", "-qm", "Theirs", at=root)
    git("checkout", "-q", "-", at=root)
    git("merge", "-q", "--no-ff", "--no-commit", "theirs", at=root)
    assert "secrets" not in commit_of(root).git_commit("Merge").text
    assert ISSUED in git("show", "HEAD:app.py", at=root)


def test_a_dummy_of_a_key_holds_up_nothing(root: Path) -> None:
    (root / "README").write_text("sk-xxxxxxxxxxxxxxxxxxxx AKIAIOSFODNN7EXAMPLE <your key>\n")
    assert "secrets" not in commit_of(root).git_commit("m").text
    assert git("ls-files", at=root) == "README\na.txt\n"


def test_a_message_with_a_key_is_refused(root: Path) -> None:
    with pytest.raises(ToolError, match="sk-l…"):
        commit_of(root).git_commit(f"Use {ISSUED}")


def test_what_tools_fill_is_left_out_unless_it_is_named(root: Path) -> None:
    for name in ("node_modules/p", "web/.venv/lib", "target"):
        (root / name).mkdir(parents=True)
        (root / name / "x.js").write_text("x\n")
    (root / ".gitignore").write_text("!target/\n")
    assert "tools make it: node_modules/, web/.venv/." in commit(root)
    assert git("ls-files", at=root) == ".gitignore\na.txt\ntarget/x.js\n"
    commit(root, "node_modules")
    assert "node_modules/p/x.js" in git("ls-files", at=root)


def test_what_the_person_ignores_everywhere_is_left_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config/git").mkdir(parents=True)
    (tmp_path / ".config/git/ignore").write_text("*.swp\n")
    (root / ".a.swp").touch()
    commit(root)
    assert git("ls-files", at=root) == "a.txt\n"
    with pytest.raises(ToolError, match=r"ignored by the rules of git"):
        commit(root, ".a.swp")


def test_plain_settings_of_the_person_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git("config", "--unset", "user.name", at=root)
    (tmp_path / "work").write_text("[user]\n\tname = Worker\n")
    (tmp_path / ".gitconfig").write_text(
        f'[core]\n\tautocrlf = input\n[includeIf "gitdir:{root}/"]\n\tpath = ~/work\n'
    )
    (root / "a.txt").write_bytes(b"one\r\n")
    commit(root)
    assert git("show", "HEAD:a.txt", at=root) == "one\n"
    assert git("log", "--format=%an", at=root) == "Worker\n"


def test_a_submodule_is_left_alone(root: Path) -> None:
    commit(root)
    git("init", "-q", "sub", at=root)
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub", at=root)
    commit(root)
    (root / "sub/x").touch()
    with pytest.raises(ToolError, match="nothing to commit"):
        commit(root)
    with pytest.raises(ToolError, match="sub is a repository of its own"):
        commit(root, "sub/x")
    assert "160000" in git("ls-tree", "HEAD", at=root)


def test_a_merge_is_concluded_by_a_commit_of_all(root: Path) -> None:
    commit(root)
    git("checkout", "-q", "-b", "side", at=root)
    (root / "a.txt").write_text("side\n")
    commit(root)
    git("checkout", "-q", "-", at=root)
    (root / "a.txt").write_text("main\n")
    commit(root)
    subprocess.run(["git", "merge", "side"], cwd=root, env=PERSON, check=False, capture_output=True)
    (root / "a.txt").write_text("both\n")
    with pytest.raises(ToolError, match="A merge is under way"):
        commit(root, "a.txt")
    commit(root)
    assert len(git("log", "-1", "--format=%P", at=root).split()) == 2
    assert git("status", "--porcelain", at=root) == ""


def test_a_folder_and_a_file_may_change_places(root: Path) -> None:
    (root / "d").mkdir()
    (root / "d/f").write_text("f\n")
    commit(root)
    (root / "d/f").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to("a.txt")
    commit(root)
    assert git("ls-files", at=root) == "a.txt\nd\n"
    assert git("status", "--porcelain", at=root) == ""


@pytest.mark.parametrize(
    "name", ["COMMIT_EDITMSG", "index", "logs", "refs/heads", "logs/HEAD", "objects/pack"]
)
def test_a_commit_does_not_write_where_a_link_leads(root: Path, tmp_path: Path, name: str) -> None:
    commit(root)
    (root / "a.txt").write_text("two\n")
    place = root / ".git" / name
    outside = tmp_path / "outside"
    if place.exists():
        place.rename(outside)
    place.symlink_to(outside)
    before = contents(outside)
    with pytest.raises(ToolError, match="is a link"):
        commit(root)
    assert contents(outside) == before


def contents(place: Path) -> dict[str, bytes]:
    files = [path for path in (place, *place.rglob("*")) if path.is_file()]
    return {str(path): path.read_bytes() for path in files}


def test_a_path_that_is_nowhere_is_said(root: Path) -> None:
    with pytest.raises(ToolError, match="nowhere.txt is neither here nor known to git"):
        commit(root, "nowhere.txt")


def test_the_projects_own_name_in_front_is_left_out(root: Path) -> None:
    (root / "b.txt").write_text("two\n")
    commit(root, "project/a.txt")
    assert git("ls-files", at=root) == "a.txt\n"


def test_a_secret_named_with_the_projects_own_name_in_front_is_asked_about(root: Path) -> None:
    (root / "b.txt").write_text("hunter2hunter2")
    made = GitCommit(Project(root), Stop(), lambda text: ["KEY"] if "hunter2" in text else [])
    why = made.approval_reason(
        tool_named("git_commit"), {"message": "x", "paths": ["project/b.txt"]}
    )
    assert isinstance(why, AlwaysAskReason)
