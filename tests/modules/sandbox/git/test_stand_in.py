"""Programs use git as they like, and what git would run on the person's side is never theirs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from modules.files.git.state_names import is_state_file
from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program, Result
from tests.modules.sandbox.sandbox_home import QUICK, SandboxHome, run_to_end
from utils.waiting import Stop

pytestmark = pytest.mark.as_root

PERSON = (
    "user.name=Ann", "user.email=ann@example.org", "protocol.file.allow=always", "gc.auto=0",
)  # fmt: skip
COMMAND = "touch $CANARY"
HOOK = f"printf '#!/bin/sh\\n{COMMAND}\\n' > $1; chmod +x $1"
ID = "$(git rev-parse HEAD)"

UNKEPT = {
    "hooks": f"mkdir -p .git/hooks; for h in post-checkout pre-commit post-commit pre-rebase"
    f" reference-transaction; do set -- .git/hooks/$h; {HOOK}; done",
    "a command for each status": f"git config core.fsmonitor '{COMMAND}; false'",
    "a folder of hooks": f"mkdir h; set -- h/post-commit; {HOOK}; git config core.hooksPath h",
    "an editor and a pager": f"git config core.editor '{COMMAND}';"
    f" git config core.pager '{COMMAND}'",
    "an alias": f"git config alias.status '!{COMMAND}'; git config alias.co '!{COMMAND}'",
    "an included file": "printf '[core]\\nfsmonitor=touch x\\n' > i; git config include.path ../i",
    "a filter": f"echo '* filter=x diff=x' > .git/info/attributes;"
    f" git config filter.x.clean '{COMMAND}'",
    "a config of the work tree": "git config extensions.worktreeConfig true;"
    f" git config --worktree core.fsmonitor '{COMMAND}'",
    "a common folder": "mkdir e; cp -r .git/. e;"
    f" git config -f e/config core.fsmonitor '{COMMAND}';"
    " echo $PWD/e > .git/commondir",
    "other objects": "echo /home > .git/objects/info/alternates",
    "ignored changes": "echo '*' > .git/info/exclude",
    "a signing option": "mkdir .git/rebase-merge; echo -Sx > .git/rebase-merge/gpg_sign_opt",
    "a reftable": "mkdir .git/reftable; echo x > .git/reftable/tables.list",
    "a submodule": "git init -q .git/modules/m;"
    f" git config -f .git/modules/m/config a.b '{COMMAND}'",
}  # fmt: skip
"""What is left out of what a run did; the rest of it is kept."""

LITERALLY = "git hash-object -w --stdin --literally -t"
REFUSED = {
    "a step that runs something": "mkdir .git/rebase-merge; cd .git/rebase-merge; echo 1 > end;"
    f" echo refs/heads/main > head-name; for f in onto orig-head; do echo {ID} > $f; done;"
    f" echo 'exec {COMMAND}' > git-rebase-todo",
    "a stopped rebase with a step to run": f"git rebase -q --exec false --exec '{COMMAND}' HEAD~1",
    "a sequence that runs something": f"mkdir .git/sequencer; echo {ID} > .git/CHERRY_PICK_HEAD;"
    f" echo {ID} > .git/sequencer/head; echo 'exec {COMMAND}' > .git/sequencer/todo",
    "what a remote is said to have": "git update-ref refs/remotes/origin/main HEAD",
    "a commit shown in the place of another": "git replace HEAD HEAD~1",
    "a strategy in other letters": f"mkdir .git/sequencer; echo {ID} > .git/CHERRY_PICK_HEAD;"
    f" echo {ID} > .git/sequencer/head; echo 'pick {ID}' > .git/sequencer/todo;"
    " printf '[options]\\n\\tStrategy = evil\\n' > .git/sequencer/opts",
    "a folder that is read whole": "seq 300000 | awk -v b=$(git rev-parse HEAD:f)"
    """ '{printf "100644 blob %s\\t%s%0220d\\n", b, $1, $1}' | git mktree""",
    "a strategy of its own": "mkdir .git/rebase-merge; echo evil > .git/rebase-merge/strategy",
    "an author that is a program": "mkdir .git/rebase-apply;"
    f" echo \"GIT_AUTHOR_NAME='x'; {COMMAND}\" > .git/rebase-apply/author-script",
    "a bisect that starts with an option": "echo --x > .git/BISECT_START",
    "a file called a ref": f"echo '{ID} hooks/post-commit' >> .git/packed-refs",
    "a ref outside": f"echo '{ID} refs/heads/../../config' >> .git/packed-refs",
    "a ref that is an option": f"echo {ID} > .git/refs/heads/-x",
    "a ref with a command": f"echo \"{ID}\" > '.git/refs/heads/a;$(touch x)~'",
    "a ref that is text": "echo '[core]' > .git/refs/heads/x",
    "a ref that leads outside": "echo 'ref: ../../config' > .git/refs/heads/x",
    "a HEAD that leads outside": "echo 'ref: refs/heads/../../config' > .git/HEAD",
    "a HEAD that is a link": "ln -sf config .git/HEAD",
    "a ref that is a link": "ln -s ../../config .git/refs/heads/x",
    "refs that are a link": "mv .git/refs .git/r; ln -s r .git/refs",
    "a ref that is a pipe": "mkfifo .git/refs/heads/p",
    "no HEAD": "rm -rf .git/*",
    "an object that is missing": "printf '%040d\\n' 1 > .git/refs/heads/x",
    "a branch that is a file": "git hash-object -w f > .git/refs/heads/x",
    "a false object": f"o={ID}; d=.git/objects/$(echo $o | cut -c1-2); mkdir -p $d;"
    " n=2222222222222222222222222222222222222222; mkdir -p .git/objects/22;"
    " b=$(git hash-object -w f); cp .git/objects/$(echo $b | sed 's,..,&/,')"
    " .git/objects/22/$(echo $n | cut -c3-); echo $n > .git/refs/tags/x",
    "an object cut off": "echo new > n; git add n; git commit -qm n;"
    " for f in .git/objects/??/*; do chmod +w $f; echo x > $f; done",
    "an object that is a link": "echo new > n; git add n; git commit -qm n;"
    " for f in .git/objects/??/*; do cp $f /tmp/o; ln -sf /tmp/o $f; done",
    "a pack that is none": "echo new > n; git add n; git commit -qm n; git repack -adqn;"
    " for f in .git/objects/pack/*.pack; do chmod +w $f; echo x >> $f; done",
    "a commit of nothing": "printf 'tree 3333333333333333333333333333333333333333\\nauthor a <a> 1"
    f" +0000\\ncommitter a <a> 1 +0000\\n\\nx\\n' | {LITERALLY} commit > .git/refs/heads/x",
    "a tree with a folder of git's": "b=$(git hash-object -w f); (printf '100644 .git\\0';"
    f" printf \"$(echo $b | sed 's/../\\\\x&/g')\") | {LITERALLY} tree > t;"
    " c=$(git commit-tree -m x $(cat t));"
    " echo $c > .git/refs/heads/x",
    "an index in two": "git config core.splitIndex true; git update-index --split-index",
    "an index that is none": "echo x > .git/index",
    "an index of what is not there": "git update-index --add --cacheinfo"
    " 100644,4444444444444444444444444444444444444444,x",
    "a work tree outside": "mkdir -p .git/worktrees/x; cd .git/worktrees/x;"
    " echo /tmp/x/.git > gitdir;"
    f" echo {ID} > HEAD; echo ../.. > commondir",
    "a work tree of another repository": "mkdir -p .git/worktrees/x; cd .git/worktrees/x;"
    f" echo $OLDPWD/x/.git > gitdir; echo {ID} > HEAD; echo $OLDPWD/evil > commondir",
    "a log that is none": "echo 'x; rm -rf /' >> .git/logs/HEAD",
    "a log of what is not there": "printf '%040d %040d a <a> 1 +0000\\tx\\n' 5 6 >> .git/logs/HEAD",
    "a ref without end": "head -c 5000 /dev/zero > .git/refs/heads/x",
    "a message without end": "head -c 20000000 /dev/zero > .git/MERGE_MSG",
}  # fmt: skip
"""What is not kept at all, for none of it can be told from the rest."""


@pytest.fixture
def home(sandbox_home: SandboxHome, tmp_path: Path) -> SandboxHome:
    (sandbox_home.home / ".gitconfig").write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.org\n"
        "[credential]\n\thelper = !echo password=CANARY\n[alias]\n\tx = !true\n"
    )
    person(sandbox_home, "checkout", "-qb", "main")
    for text in ("one", "two"):
        (sandbox_home.project / "f").write_text(f"{text}\n")
        person(sandbox_home, "add", "f")
        person(sandbox_home, "commit", "-qm", text)
    return sandbox_home


def person(home: SandboxHome, *arguments: str, check: bool = True) -> str:
    """Return what the person's own git says."""
    settings = [word for setting in PERSON for word in ("-c", setting)]
    command = ["git", *settings, "-C", str(home.project), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not check or answer.returncode == 0, answer.stderr
    return answer.stdout


def repository(home: SandboxHome) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the files of the repository: those that git obeys, and those of its state."""
    git = home.project / ".git"
    files = {
        str(path.relative_to(git)): path.read_bytes()
        for path in sorted(git.rglob("*"))
        if path.is_file() and ("objects" not in path.parts or path.name == "alternates")
    }
    obeyed = {name: content for name, content in files.items() if not is_state_file(name)}
    return obeyed, {name: files[name] for name in files.keys() - obeyed.keys()}


def use_git(home: SandboxHome) -> None:
    """Do as the person would with their own git, whatever is under way."""
    for line in ("status", "rebase --continue", "rebase --abort", "cherry-pick --continue",
                 "am --continue", "bisect reset", "checkout -q main", "commit --allow-empty -qm x",
                 "log -1 -p", "diff", "add .", "stash", "gc -q", "worktree list"):  # fmt: skip
        person(home, *line.split(), check=False)


def attack(home: SandboxHome, code: str) -> tuple[Result, Path]:
    canary = home.home / "canary"
    result = home.bash(f"{code.replace('$CANARY', str(canary))}\ntrue")
    return result, canary


@pytest.mark.parametrize("name", UNKEPT)
def test_what_git_obeys_is_not_kept(home: SandboxHome, name: str) -> None:
    obeyed, _ = repository(home)
    result, canary = attack(home, f"git commit -q --allow-empty -m three\n{UNKEPT[name]}")
    assert repository(home)[0] == obeyed
    assert (home.project / ".git/objects/info/alternates").exists() is False
    assert person(home, "log", "-1", "--format=%s") == "three\n"
    assert name == "a signing option" or "Not kept" in str(result.notes[0])
    use_git(home)
    assert not canary.exists()


IN_SUBMODULE = "cd .git/modules/vendor/lib;"
UNKEPT_IN_SUBMODULE = {
    "hooks": f"mkdir -p hooks; for h in post-checkout pre-commit HEAD; do set -- hooks/$h; {HOOK};"
    " done",
    "settings": f"git config core.fsmonitor '{COMMAND}; false'; git config core.hooksPath h;"
    f" git config filter.x.clean '{COMMAND}'; git config core.worktree /tmp",
    "attributes": "mkdir -p info; echo '* filter=x' > info/attributes",
    "other objects": "echo /home > objects/info/alternates",
    "a common folder": "mkdir e; cp -r * e || true;"
    f" git config -f e/config core.fsmonitor '{COMMAND}'; echo $PWD/e > commondir",
    "a work tree": "mkdir -p worktrees/x; cd worktrees/x; echo /x > gitdir; cp ../../HEAD .",
    "a submodule of its own": "git init -q modules/m;"
    f" git config -f modules/m/config a.b '{COMMAND}'",
    "one beside it": "git init -q ../other; git init -q more/HEAD",
}
REFUSED_IN_SUBMODULE = {
    "no HEAD": "rm HEAD",
    "nothing of it": "rm -rf ../lib",
    "a link in its place": "mv ../lib /tmp/lib; ln -s /tmp/lib ../lib",
    "a step that runs something": f"mkdir rebase-merge; echo 'exec {COMMAND}' >"
    " rebase-merge/git-rebase-todo",
    "a ref outside": f"echo '{ID} refs/heads/../../config' >> packed-refs",
    "a file called a ref": f"echo '{ID} hooks/post-commit' >> packed-refs",
    "a ref of the project": "echo '%040d refs/heads/x' > packed-refs",
    "an object that is missing": "printf '%040d\\n' 1 > refs/heads/x",
    "an object of the project": f"(cd ../../../..; echo {ID}) > refs/heads/x",
    "what a remote is said to have": "git update-ref refs/remotes/origin/main HEAD^{tree}",
    "an index that is none": "echo x > index",
    "a HEAD that leads outside": "echo 'ref: refs/heads/../../config' > HEAD",
}


@pytest.fixture
def submodule(home: SandboxHome) -> SandboxHome:
    """Return a project with the submodule `vendor/lib`."""
    other = home.home / "lib"
    subprocess.run(["git", "clone", "-q", home.project, other], check=True, capture_output=True)
    person(home, "submodule", "--quiet", "add", str(other), "vendor/lib")
    person(home, "commit", "-qm", "submodule")
    return home


def use_submodule(home: SandboxHome) -> None:
    for line in ("status", "checkout -q main", "commit --allow-empty -qm x", "add .", "log -1 -p",
                 "rebase --continue", "worktree list"):  # fmt: skip
        person(home, "-C", "vendor/lib", *line.split(), check=False)
    person(home, "submodule", "update", "--quiet", check=False)


def test_what_git_obeys_in_a_submodule_is_not_kept(submodule: SandboxHome) -> None:
    obeyed, _ = repository(submodule)
    for name, code in UNKEPT_IN_SUBMODULE.items():
        commit = f"git -C vendor/lib commit -q --allow-empty -m '{name}';"
        result, canary = attack(submodule, f"{commit} {IN_SUBMODULE} {code}")
        assert (name, repository(submodule)[0]) == (name, obeyed)
        assert "Not kept" in str(result.notes[0]), (name, result)
        log = person(submodule, "-C", "vendor/lib", "log", "-1", "--format=%s")
        assert log == f"{name}\n"
    use_submodule(submodule)
    assert not canary.exists()


def test_a_state_of_a_submodule_that_git_would_not_make_is_not_kept(
    submodule: SandboxHome,
) -> None:
    for name, code in REFUSED_IN_SUBMODULE.items():
        before = repository(submodule)
        commit = "git commit -q --allow-empty -m whole;"  # all or nothing, of the project too
        result, canary = attack(submodule, f"{commit} {IN_SUBMODULE} {code}")
        assert (name, repository(submodule)) == (name, before)
        refusal = "What git did in this run was not kept: "
        assert str(result.notes[0]).startswith(refusal), (name, result)
    for folder in (".", "vendor/lib"):
        assert person(submodule, "-C", folder, "fsck", "--strict", "--no-dangling") == ""
    use_submodule(submodule)
    assert not canary.exists()
    follow = submodule.bash(
        "cd vendor/lib; git branch -q new origin/main; git commit -qm on --allow-empty"
    )
    assert (follow.exit_code, follow.notes) == (0, ())
    merge = person(submodule, "-C", "vendor/lib", "config", "branch.new.merge")
    assert merge == "refs/heads/main\n"
    assert person(submodule, "-C", "vendor/lib", "log", "-1", "--format=%s") == "on\n"


def test_a_submodule_of_another_kind_stays_read_only(submodule: SandboxHome) -> None:
    person(submodule, "-C", "vendor/lib", "config", "extensions.x", "y")
    result = submodule.bash("git status; echo x > .git/modules/vendor/lib/x; git commit -qam more")
    assert "Read-only" in result.output
    assert not (submodule.project / ".git/modules/vendor/lib/x").exists()


@pytest.mark.parametrize("name", REFUSED)
def test_a_state_that_git_would_not_make_is_not_kept(home: SandboxHome, name: str) -> None:
    before = repository(home)
    result, canary = attack(home, REFUSED[name])
    assert repository(home) == before
    assert str(result.notes[0]).startswith("What git did in this run was not kept: ")
    assert person(home, "fsck", "--strict", "--no-dangling") == ""
    use_git(home)
    assert not canary.exists()
    assert home.bash("git commit -q --allow-empty -m on").exit_code == 0
    assert person(home, "log", "-1", "--format=%s") == "on\n"


def test_the_person_commits_without_what_is_theirs_alone(home: SandboxHome) -> None:
    result = home.bash("git commit -q --allow-empty -m x; git config --list; cat ~/.gitconfig")
    assert person(home, "log", "-1", "--format=%an <%ae> %cn") == "Ann <ann@example.org> Ann\n"
    assert "CANARY" not in result.output
    assert "alias" not in result.output


def test_a_commit_in_a_repository_that_a_run_makes_bears_the_persons_name(
    home: SandboxHome,
) -> None:
    made = home.bash(
        "git init -q new && cd new && git commit -q --allow-empty -m one &&"
        " git log --format='%an <%ae>' && git config --system --list"
    )
    assert made.head.splitlines() == [
        *("Ann <ann@example.org>", "user.name=Ann", "user.email=ann@example.org"),
    ]


def lfs_object(content: str, *, name: str = "") -> str:
    """Return what puts *content* where git-lfs has it, under a *name* that may be another's."""
    name = name or sha256(content.encode()).hexdigest()
    folder = f".git/lfs/objects/{name[:2]}/{name[2:4]}"
    return f"mkdir -p {folder}; printf %s {content} > {folder}/{name}"


def test_contents_of_git_lfs_are_kept_if_they_are_what_they_are_called(home: SandboxHome) -> None:
    lfs = home.project / ".git/lfs"
    assert home.bash(f"{lfs_object('large')}; mkdir .git/lfs/tmp; touch .git/lfs/tmp/x").notes == ()
    (content,) = (path for path in lfs.rglob("*") if path.is_file())
    assert content.read_text() == "large"
    seen = home.bash("cat /run/lfs/objects/*/*/*; echo x > /run/lfs/objects/x")
    assert seen.output.startswith("large")
    assert "Read-only" in seen.output
    name = "0123" + "0" * 60
    path = f".git/lfs/objects/01/23/{name}"
    for code in (lfs_object("other", name=name), f"ln -s /etc/passwd {path}", f"mkfifo {path}",
                 f"rm -r .git/lfs; ln -s {home.home} .git/lfs"):  # fmt: skip
        home.bash(f"mkdir -p .git/lfs/objects/01/23; {code}; git branch -f new")
        assert [path for path in lfs.rglob("*") if not path.is_dir()] == [content]


def test_contents_of_git_lfs_go_through_no_link(home: SandboxHome) -> None:
    outside = home.home / "outside"
    outside.mkdir()
    (home.project / ".git/lfs").symlink_to(outside)
    result = home.bash(f"{lfs_object('large')}; git commit -qm x --allow-empty")
    assert str(result.notes[0]).startswith("What git did in this run was not kept: ")
    assert not any(outside.iterdir())


def test_locks_that_are_left_behind_lock_nobody(home: SandboxHome) -> None:
    locks = (
        "for lock in index HEAD packed-refs refs/heads/main config; do touch .git/$lock.lock; done"
    )
    assert home.bash(f"git commit -q --allow-empty -m x; {locks}").notes == ()
    assert home.bash("git commit -q --allow-empty -m y").exit_code == 0
    person(home, "commit", "-q", "--allow-empty", "-m", "z")
    assert person(home, "log", "-3", "--format=%s") == "z\ny\nx\n"
    assert not list((home.project / ".git").rglob("*.lock"))


def during(home: SandboxHome, code: str, act: Callable[[], object]) -> Result:
    """Run *code*, and *act* when it is over but for what it waits for; return the result."""
    line = f"{code}\necho ready; until [ -e go ]; do sleep 0.05; done; rm go"
    run = home.sandbox().run(Program("bash", line), QUICK, Stop())
    output = ""
    while True:
        try:
            output += next(run)
        except StopIteration as end:
            result: Result = end.value
            return result
        if "ready" in output:
            output = ""
            act()
            (home.project / "go").touch()


def test_a_branch_that_the_person_moved_meanwhile_stays_theirs(home: SandboxHome) -> None:
    result = during(
        home,
        "git commit -q --allow-empty -m ours",
        lambda: person(home, "commit", "-q", "--allow-empty", "-m", "theirs"),
    )
    assert "was changed by somebody else meanwhile" in str(result.notes[0])
    assert person(home, "log", "--format=%s", "--all") == "theirs\ntwo\none\n"
    assert person(home, "fsck", "--strict", "--no-dangling") == ""


def test_what_the_person_did_elsewhere_meanwhile_stays_beside_it(home: SandboxHome) -> None:
    person(home, "pack-refs", "--all")
    result = during(
        home, "git branch ours; git tag t", lambda: person(home, "update-ref", "refs/x/y", "HEAD~1")
    )
    assert result.notes == ()
    names = person(home, "for-each-ref", "--format=%(refname)").split()
    assert names == ["refs/heads/main", "refs/heads/ours", "refs/tags/t", "refs/x/y"]


@pytest.mark.parametrize("lock", ["chmod 0 .git/refs", "chmod 0 .git", "chmod 0 .git/objects/*"])
def test_what_a_run_locked_is_open_to_the_next(home: SandboxHome, lock: str) -> None:
    sandbox = home.sandbox()
    run_to_end(sandbox, Program("bash", f"git commit -q --allow-empty -m x; {lock}"))
    result = run_to_end(sandbox, Program("bash", "git commit -q --allow-empty -m y"))
    assert (result.exit_code, result.notes) == (0, ())
    assert person(home, "log", "-1", "--format=%s") == "y\n"


def test_a_lock_of_the_persons_git_is_obeyed(home: SandboxHome) -> None:
    lock = home.project / ".git/index.lock"
    result = during(home, "echo n > n; git add n", lock.touch)
    assert "another git holds index.lock" in str(result.notes[0])
    assert lock.exists()
    lock.unlink()
    assert person(home, "status", "--short") == "?? n\n"


def stamps(home: SandboxHome) -> dict[Path, tuple[int, int]]:
    """Return which files there are in the repository, and when they were last changed at all."""
    found = ((path, path.stat()) for path in (home.project / ".git").rglob("*"))
    return {path: (status.st_ino, status.st_ctime_ns) for path, status in found}


def test_a_run_that_leaves_git_alone_leaves_no_trace(home: SandboxHome) -> None:
    sandbox = home.sandbox()
    before = stamps(home)
    for code in ("true", "git log; git branch --list", "echo x > g"):
        assert run_to_end(sandbox, Program("bash", code)).notes == ()
    assert stamps(home) == before
    sandbox.close()


def test_what_the_person_did_between_two_runs_is_seen(home: SandboxHome) -> None:
    sandbox = home.sandbox()
    run_to_end(sandbox, Program("bash", "git log"))
    person(home, "commit", "-q", "--allow-empty", "-m", "between")
    result = run_to_end(
        sandbox, Program("python", "import os\nos.system('git log -1 --format=%s')")
    )
    assert result.output.startswith("between")


def test_many_refs_and_a_large_index_are_taken_over(home: SandboxHome) -> None:
    head = person(home, "rev-parse", "HEAD").strip()
    lines = [f"{head} refs/tags/t{number:06}\n" for number in range(20_000)]
    (home.project / ".git/packed-refs").write_text("".join(lines))
    blob = person(home, "rev-parse", "HEAD:f").strip()
    entries = "".join(f"100644 {blob}\td/{number:06}\n" for number in range(20_000))
    settings = [word for setting in PERSON for word in ("-c", setting)]
    subprocess.run(["git", *settings, "update-index", "--index-info"], cwd=home.project,
                   input=entries, text=True, check=True)  # fmt: skip
    result = home.bash("git tag -d t000007 >/dev/null; git commit -qm many; git branch b")
    assert (result.exit_code, result.notes) == (0, ())
    assert len(person(home, "tag").split()) == 19_999
    assert len(person(home, "ls-tree", "-r", "b").splitlines()) == 20_001


@pytest.mark.parametrize("is_mounted", [True, False])
def test_what_a_run_made_and_collected_again_is_no_matter(
    home: SandboxHome, monkeypatch: pytest.MonkeyPatch, is_mounted: bool
) -> None:
    if not is_mounted:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    result = home.bash(
        "set -e; export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a GIT_AUTHOR_NAME=a"
        " GIT_AUTHOR_EMAIL=a; git commit -q --allow-empty -m new; git reset -q --hard HEAD~1;"
        " git reflog expire --expire=now --all; git gc -q --prune=now; git tag t"
    )
    assert (result.exit_code, result.notes) == (0, ())
    assert person(home, "tag") == "t\n"
    assert "error" not in person(home, "fsck", "--strict")


@pytest.mark.parametrize(
    "make",
    ["mkdir .git/reftable", "git config extensions.x y", "touch .git/commondir",
     "printf '/a\\0b\\n' > .git/objects/info/alternates",
     "mkdir .git/objects/info/alternates"],
)  # fmt: skip
def test_a_repository_of_another_kind_stays_read_only(home: SandboxHome, make: str) -> None:
    subprocess.run(["bash", "-ec", make], cwd=home.project, check=True)
    result = home.bash("echo x > .git/x")
    assert "Read-only" in result.output
    assert str(result.notes[0]).startswith("Here .git is read-only to programs")
    assert not os.path.lexists(home.project / ".git/x")
