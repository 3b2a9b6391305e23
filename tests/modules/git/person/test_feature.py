"""What the person does with git: staged, committed, switched and discarded, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from core.cards import TextCard
from core.tools import ToolError
from modules.git.commit import PublishesSecrets
from modules.git.person.feature import GitForPerson
from modules.git.person.status import RepositoryState, read_state
from tests.assembly import AssembledTerminal
from tests.modules.git.person.repositories import (
    commit_file,
    make_repository,
    opened,
    person_git,
    run_git,
    status,
)
from utils.i18n import UserError

LINES = "".join(f"line {n}\n" for n in range(1, 31))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[AssembledTerminal]:
    root = make_repository(tmp_path / "project")
    commit_file(root, "a.txt", LINES)
    with opened(tmp_path) as assembled:
        yield assembled


def state_of(git: GitForPerson) -> RepositoryState:
    with git.repository() as runs:
        return read_state(runs)


def names(git: GitForPerson, kind: str) -> list[tuple[str, str]]:
    return [(one.letter, one.path) for one in getattr(state_of(git), kind).files]


def undo(here: AssembledTerminal) -> None:
    answer = here.terminal._run_command("/undo")
    assert answer.ok, answer


def test_files_with_odd_names_are_staged_and_unstaged(here: AssembledTerminal) -> None:
    git, odd = person_git(here), ["-n", "b c.txt", "new\nline", "文档/一.txt", '"q".txt']
    for name in odd:
        (here.root / name).parent.mkdir(exist_ok=True)
        (here.root / name).write_text("x\n")
    (here.root / "a.txt").unlink()
    assert sorted(path for _, path in names(git, "untracked")) == sorted(odd)
    assert names(git, "unstaged") == [("D", "a.txt")]
    git.stage(odd)
    assert sorted(names(git, "staged")) == sorted(("A", name) for name in odd)
    for name in odd:
        diff = git.diff(name, is_staged=True)
        assert [hunk.added for hunk in diff.hunks] == [1], name
    git.stage([])
    assert len(names(git, "staged")) == len(odd) + 1
    git.unstage(["-n"])
    assert ("A", "-n") not in names(git, "staged")
    git.unstage([])
    assert names(git, "staged") == []
    assert (here.root / "-n").read_text() == "x\n"


def test_a_hunk_is_staged_unstaged_and_discarded(here: AssembledTerminal) -> None:
    git, file = person_git(here), here.root / "a.txt"
    changed = LINES.replace("line 2\n", "line two\n").replace("line 29\n", "")
    file.write_text(changed)

    def hunks(*, is_staged: bool = False) -> list[str]:
        return [one.id for one in git.diff("a.txt", is_staged=is_staged).hunks]

    first, second = hunks()
    git.stage(["a.txt"], first)
    assert run_git("show", ":a.txt", at=here.root) == LINES.replace("line 2\n", "line two\n")
    with pytest.raises(ToolError, match="no longer there"):
        git.stage(["a.txt"], first)
    git.unstage(["a.txt"], hunks(is_staged=True)[0])
    assert status(here.root) == " M a.txt\n"
    assert hunks() == [first, second]
    git.discard(["a.txt"], second)
    assert file.read_text() == LINES.replace("line 2\n", "line two\n")
    undo(here)
    assert file.read_text() == changed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\nabc\rdef\ntwo\n", b"one\ntwo\n"),
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\nthree\r\n"),
        (b"one\r\ntwo\r\n", b"one\ntwo\n"),
        (b"one\x0b\ntwo\x0c\x1c\nthree\xc2\x85 \xe2\x80\xa8\n", b"one\x0b\nthree\n"),
        (b"one\rtwo", b"one\rtwo\rthree\n"),
        (b"one\n\r\n\r", b"one\n"),
    ],
)
def test_discarding_a_hunk_restores_every_byte(
    here: AssembledTerminal, before: bytes, after: bytes
) -> None:
    git, file = person_git(here), here.root / "bytes"
    file.write_bytes(before)
    run_git("add", "bytes", at=here.root)
    run_git("commit", "-qm", "Keep it", at=here.root)
    file.write_bytes(after)
    (hunk,) = git.diff("bytes", is_staged=False).hunks
    git.discard(["bytes"], hunk.id)
    assert file.read_bytes() == before
    undo(here)
    assert file.read_bytes() == after


def test_a_new_file_has_the_lines_that_git_counts(here: AssembledTerminal) -> None:
    (here.root / "new").write_bytes(b"a\rb\r\nc")
    (hunk,) = person_git(here).diff("new", is_staged=False).hunks
    assert (hunk.added, hunk.diff.partition("\n")[0]) == (2, "@@ -0,0 +1,2 @@")


@pytest.mark.parametrize("program", ["lfs", "mine"])
def test_what_a_filter_stores_is_neither_staged_nor_discarded_in_part(
    here: AssembledTerminal, program: str
) -> None:
    git, root = person_git(here), here.root
    (root / "a.txt").write_text(LINES.replace("line 2\n", "line two\n"))
    (hunk,) = git.diff("a.txt", is_staged=False).hunks
    (root / ".gitattributes").write_text(f"a.txt filter={program}\n")
    for act in (git.stage, git.discard):
        for part in ("", hunk.id):
            with pytest.raises(ToolError, match="is stored by"):
                act(["a.txt"], part)
    assert run_git("show", ":a.txt", at=root) == LINES


def test_what_is_discarded_comes_back(here: AssembledTerminal) -> None:
    git = person_git(here)
    (here.root / "a.txt").write_text("mine\n")
    (here.root / "new.txt").write_text("new\n")
    answer = git.discard(["a.txt", "new.txt"])
    assert [(one.kind, one.path) for one in answer.changes] == [
        ("modified", "a.txt"),
        ("deleted", "new.txt"),
    ]
    assert (here.root / "a.txt").read_text() == LINES
    assert not (here.root / "new.txt").exists()
    undo(here)
    assert (here.root / "a.txt").read_text() == "mine\n"
    assert (here.root / "new.txt").read_text() == "new\n"
    with pytest.raises(ToolError, match="outside"):
        git.discard(["../b.txt"])


def test_a_commit_takes_what_is_staged_alone_and_is_taken_back(here: AssembledTerminal) -> None:
    git = person_git(here)
    (here.root / "a.txt").write_text("staged\n")
    git.stage(["a.txt"])
    (here.root / "a.txt").write_text("later\n")
    with pytest.raises(ToolError, match="needs a message"):
        git.commit(" ")
    answer = git.commit("Change it\n\nFor a reason.")
    assert isinstance(answer.card, TextCard)
    assert "Change it" in str(answer.card.body)
    assert run_git("show", "HEAD:a.txt", at=here.root) == "staged\n"
    assert run_git("log", "-1", "--format=%an %B", at=here.root).strip() == (
        "Me Change it\n\nFor a reason."
    )
    assert status(here.root) == " M a.txt\n"
    with pytest.raises(ToolError, match="nothing to commit"):
        git.commit("Again")
    undo(here)
    assert status(here.root) == "MM a.txt\n"
    assert run_git("log", "--format=%s", at=here.root) == "Say it\n"


def test_secrets_are_staged_by_name_and_committed_with_a_yes(here: AssembledTerminal) -> None:
    git = person_git(here)
    key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
    (here.root / ".env").write_text("NAME=value\n")
    (here.root / "key.pem").write_text(key)
    card = git.stage([])
    assert isinstance(card, TextCard)
    assert ".env" in str(card.body)
    assert names(git, "staged") == [("A", "key.pem")]
    with pytest.raises(PublishesSecrets, match=r"key\.pem"):
        git.commit("Keep it")
    assert run_git("log", "--format=%s", at=here.root) == "Say it\n"
    git.commit("Keep it", publishes=True)
    assert run_git("show", "HEAD:key.pem", at=here.root) == key


def test_a_switch_that_would_lose_work_changes_nothing(here: AssembledTerminal) -> None:
    git, root = person_git(here), here.root
    git.create_branch("side")
    assert state_of(git).branch == "side"
    commit_file(root, "a.txt", "side\n")
    commit_file(root, "b.txt", "side\n")
    git.switch("main")
    assert (root / "a.txt").read_text() == LINES
    assert not (root / "b.txt").exists()
    (root / "a.txt").write_text("mine\n")
    with pytest.raises(ToolError, match=r"would lose changes in a\.txt"):
        git.switch("side")
    run_git("checkout", "-q", "a.txt", at=root)
    (root / "b.txt").write_text("mine\n")
    with pytest.raises(ToolError, match=r"would lose changes in b\.txt"):
        git.switch("side")
    assert (root / "b.txt").read_text() == "mine\n"
    assert state_of(git).branch == "main"
    (root / "b.txt").unlink()
    (root / "c.txt").write_text("kept\n")
    git.switch("side")
    assert (root / "c.txt").read_text() == "kept\n"
    assert status(root) == "?? c.txt\n"
    undo(here)
    assert state_of(git).branch == "main"
    assert (root / "a.txt").read_text() == LINES


@pytest.mark.parametrize(
    ("name", "why"),
    [("no such", "no name of a branch"), ("gone", "no branch gone"), ("main", "on main already"),
     ("-x", "no name of a branch")],
)  # fmt: skip
def test_a_branch_that_cannot_be_had_is_explained(
    here: AssembledTerminal, name: str, why: str
) -> None:
    with pytest.raises(ToolError, match=why):
        person_git(here).switch(name)


def test_what_is_in_progress_is_said_and_stands_in_the_way(here: AssembledTerminal) -> None:
    git, root = person_git(here), here.root
    run_git("checkout", "-qb", "side", at=root)
    commit_file(root, "a.txt", "side\n")
    run_git("checkout", "-q", "main", at=root)
    commit_file(root, "a.txt", "main\n")
    with pytest.raises(Exception, match="merge"):
        run_git("merge", "side", at=root)
    state = state_of(git)
    assert state.under_way == "merge"
    assert [one.path for one in state.conflicts.files] == ["a.txt"]
    assert (state.staged.count, state.unstaged.count) == (0, 0)
    with pytest.raises(UserError, match="conflicts"):
        git.commit("Merge it")
    with pytest.raises(ToolError, match="conflicts"):
        git.switch("side")
    (root / "a.txt").write_text("both\n")
    git.stage(["a.txt"])
    with pytest.raises(ToolError, match="merge is in progress"):
        git.switch("side")
    git.commit("Merge it")
    assert state_of(git).under_way == ""
    assert len(run_git("log", "-1", "--format=%P", at=root).split()) == 2


def test_a_merge_that_takes_nothing_can_be_committed(here: AssembledTerminal) -> None:
    git, root = person_git(here), here.root
    run_git("checkout", "-qb", "side", at=root)
    commit_file(root, "a.txt", "side\n")
    run_git("checkout", "-q", "main", at=root)
    commit_file(root, "a.txt", "main\n")
    with pytest.raises(CalledProcessError):
        run_git("merge", "side", at=root)
    (root / "a.txt").write_text("main\n")
    git.stage(["a.txt"])
    git.commit("Keep ours")
    assert state_of(git).under_way == ""
    assert len(run_git("log", "-1", "--format=%P", at=root).split()) == 2


def test_a_cherry_pick_goes_on_after_a_commit_in_its_middle(here: AssembledTerminal) -> None:
    git, root = person_git(here), here.root
    run_git("checkout", "-qb", "side", at=root)
    commit_file(root, "a.txt", "side\n")
    commit_file(root, "b.txt", "side\n")
    run_git("checkout", "-q", "main", at=root)
    commit_file(root, "a.txt", "main\n")
    with pytest.raises(CalledProcessError):
        run_git("cherry-pick", "side~1", "side", at=root)
    (root / "a.txt").write_text("both\n")
    git.stage(["a.txt"])
    git.commit("Take it")
    assert state_of(git).under_way == "cherry-pick"
    run_git("-c", "core.editor=true", "cherry-pick", "--continue", at=root)
    assert state_of(git).under_way == ""
    assert (root / "b.txt").read_text() == "side\n"


def test_no_program_of_the_repository_runs(here: AssembledTerminal, tmp_path: Path) -> None:
    git, root = person_git(here), here.root
    mark, script = tmp_path / "ran", tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho x >> '{mark}'\ncat\n")
    script.chmod(0o755)
    for hook in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction"):
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        (root / ".git" / "hooks" / hook).symlink_to(script)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.editor", "gpg.program"):
        run_git("config", key, str(script), at=root)
    run_git("config", "diff.evil.textconv", str(script), at=root)
    (root / ".gitattributes").write_text("*.txt diff=evil\n")
    (root / "a.txt").write_text("new\n")
    with git.repository() as runs:
        read_state(runs)
    assert git.diff("a.txt", is_staged=False).hunks
    git.stage([])
    card = git.commit("Change it").card
    assert isinstance(card, TextCard)
    assert "hooks (pre-commit) did not run" in str(card.body)
    git.create_branch("side")
    git.switch("main")
    assert not mark.exists()
