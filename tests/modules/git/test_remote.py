from __future__ import annotations

import base64
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from core.cards import Change, TextCard
from core.events import ToolFinished
from core.loop.approval import AlwaysAskReason, Approval, ApprovalMode
from core.tools import Outcome, ToolError
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.project import Project
from modules.git.remote import GitRemote
from modules.secrets.redactor import Secrets
from modules.translator import Translator
from tests.assembly import assembled_terminal
from tests.declared_tools import tool_named
from tests.modules.checkpoints.folders import checkpoints
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.waiting import Stop

PATH = "/usr/bin:/bin"


def git(*arguments: str, at: Path) -> str:
    """Run git as the person whose home is the one of the test."""
    home = next(path for path in (at, *at.parents) if (path / "home").is_dir()) / "home"
    environment = {"PATH": PATH, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=at, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def save(folder: Path, name: str, text: str, message: str) -> str:
    (folder / name).write_text(text)
    git("add", "-A", at=folder)
    git("commit", "-qm", message, at=folder)
    return git("rev-parse", "HEAD", at=folder)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the person's home; what must not run would leave `ran` in it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Me\n\temail = me@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    yield tmp_path
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def origin(base: Path) -> Path:
    """The repository of the others, bare, with one commit in main."""
    git("init", "-q", "--bare", str(base / "origin.git"), at=base)
    git("clone", "-q", str(base / "origin.git"), str(base / "theirs"), at=base)
    save(base / "theirs", "a.txt", "one\n", "First")
    git("push", "-q", "origin", "HEAD:main", at=base / "theirs")
    return base / "origin.git"


@pytest.fixture
def root(base: Path, origin: Path) -> Path:
    git("clone", "-q", str(origin), str(base / "project"), at=base)
    return base / "project"


class Files(SimpleHTTPRequestHandler):
    """Serves a folder."""

    def log_message(self, *_: object) -> None:
        pass


class WithPassword(Files):
    """Serves it to who knows the password."""

    def do_GET(self) -> None:
        expected = base64.b64encode(b"me:hunter2").decode()
        if self.headers["Authorization"] != f"Basic {expected}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        super().do_GET()


@contextmanager
def serving(base: Path, origin: Path, kind: type[Files]) -> Iterator[str]:
    git("update-server-info", at=origin)

    def handler(*arguments: Any) -> Files:
        return kind(*arguments, directory=str(base))

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/origin.git"
        server.shutdown()


@pytest.fixture
def published(base: Path, origin: Path) -> Iterator[str]:
    """The address of *origin* on a server."""
    with serving(base, origin, Files) as address:
        yield address


@pytest.fixture
def served(base: Path, origin: Path) -> Iterator[str]:
    """The address of *origin* on a server that wants a password."""
    with serving(base, origin, WithPassword) as address:
        yield address


def remote(root: Path, **more: str) -> GitRemote:
    variables = {"PATH": PATH, "HOME": str(root.parent / "home"), **more}
    return GitRemote(Project(root), Stop(), PersonEnvironment(variables, 60.0))


def use(root: Path, operation: Any, name: str = "origin", **more: Any) -> str:
    outcome: Outcome = remote(root).git_remote(operation, name, **more)
    return outcome.text


def intent(root: Path, **arguments: Any) -> str:
    card = remote(root).preview(tool_named("git_remote"), arguments)
    assert isinstance(card, TextCard)
    return str(card.body)


def theirs_go_on(root: Path, name: str = "b.txt") -> str:
    their_clone = root.parent / "theirs"
    new = save(their_clone, name, "two\n", "Second")
    git("push", "-q", "origin", "HEAD:main", at=their_clone)
    return new


def is_sound(root: Path) -> bool:
    return "error" not in git("fsck", "--full", at=root) and not list(
        (root / ".git").rglob("tmp_*")
    )


def test_fetching_brings_commits_and_tags_and_leaves_the_files(root: Path) -> None:
    new = theirs_go_on(root)
    git("tag", "v1", at=root.parent / "theirs")
    git("push", "-q", "origin", "v1", at=root.parent / "theirs")
    told = use(root, "fetch")
    assert "remotes/origin/main" in told
    assert "tags/v1" in told
    assert git("rev-parse", "origin/main", at=root) == new
    assert git("rev-parse", "v1", at=root) == new
    assert not (root / "b.txt").exists()
    assert is_sound(root)
    assert "Nothing new" in use(root, "fetch")


def test_pulling_moves_the_branch_and_the_files_on(root: Path) -> None:
    new = theirs_go_on(root)
    assert f"main is at {new[:10]}" in use(root, "pull")
    assert (root / "b.txt").read_text() == "two\n"
    assert git("status", "--porcelain", at=root) == ""
    assert git("rev-parse", "HEAD", at=root) == new
    assert "up to date" in use(root, "pull")
    assert is_sound(root)


def test_pulling_never_writes_over_what_is_not_committed(root: Path) -> None:
    theirs_go_on(root)
    (root / "b.txt").write_text("mine\n")
    before = git("rev-parse", "HEAD", at=root)
    with pytest.raises(ToolError, match="b.txt"):
        use(root, "pull")
    assert (root / "b.txt").read_text() == "mine\n"
    assert git("rev-parse", "HEAD", at=root) == before


def test_what_has_parted_is_fetched_and_not_merged(root: Path) -> None:
    new = theirs_go_on(root)
    mine = save(root, "c.txt", "mine\n", "Mine")
    with pytest.raises(ToolError, match="merging is left to you"):
        use(root, "pull")
    assert git("rev-parse", "origin/main", at=root) == new
    assert git("rev-parse", "HEAD", at=root) == mine


def test_pushing_sends_the_branch_and_says_before_what_it_sends(root: Path, origin: Path) -> None:
    new = save(root, "c.txt", "mine\n", "Say more")
    shown = intent(root, operation="push")
    assert str(origin) in shown
    assert "Say more" in shown
    assert "c.txt | 1 +" in shown
    assert git("rev-parse", "main", at=origin) != new
    use(root, "push")
    assert git("rev-parse", "main", at=origin) == new
    assert git("rev-parse", "origin/main", at=root) == new


def test_pushing_never_throws_away_what_others_pushed(root: Path, origin: Path) -> None:
    new = theirs_go_on(root)
    save(root, "c.txt", "mine\n", "Mine")
    with pytest.raises(ToolError, match=r"fetch first|non-fast-forward|rejected"):
        use(root, "push")
    assert git("rev-parse", "main", at=origin) == new


def test_secrets_in_commits_are_named_before_a_push(root: Path) -> None:
    save(root, "key.txt", "sk-0123456789abcdef-secret\n", "Oops")
    save(root, "key.txt", "gone\n", "Hide it")
    names_in = Secrets(root, {"MY_KEY": "sk-0123456789abcdef-secret"}, root / "x").names_in
    feature = GitRemote(Project(root), Stop(), PersonEnvironment({"PATH": PATH}, 60.0), names_in)
    card = feature.preview(tool_named("git_remote"), {"operation": "push"})
    assert isinstance(card, TextCard)
    assert "key.txt (MY_KEY)" in str(card.body)


def test_a_key_without_a_name_is_named_before_it_is_pushed_first(root: Path) -> None:
    key = "ghp_" + "k3J9sLq0Zt7RbX2mVw8YpE5dNc1HuFgA6oTi"
    save(root, "key.txt", f"{key}\n", "Oops")
    feature = GitRemote(Project(root), Stop(), PersonEnvironment({"PATH": PATH}, 60.0))
    card = feature.preview(tool_named("git_remote"), {"operation": "push"})
    assert isinstance(card, TextCard)
    assert "key.txt (ghp_…)" in str(card.body)
    use(root, "push")
    save(root, "key.txt", f"{key} # as before\n", "Say why")
    card = feature.preview(tool_named("git_remote"), {"operation": "push"})
    assert isinstance(card, TextCard)
    assert "Say why" in str(card.body)
    assert "ghp_" not in str(card.body).partition("diff")[0]


def test_cloning_makes_a_repository_that_git_goes_on_with(root: Path, published: str) -> None:
    told = use(root, "clone", published, path="lib/theirs")
    copy = root / "lib/theirs"
    assert "lib/theirs" in told
    assert (copy / "a.txt").read_text() == "one\n"
    assert git("status", "--porcelain", "--branch", at=copy) == "## main...origin/main"
    assert git("pull", at=copy) == "Already up to date."
    with pytest.raises(ToolError, match="exists already"):
        use(root, "clone", published, path="lib/theirs")


def test_a_clone_that_fails_leaves_nothing(root: Path, published: str) -> None:
    before = sorted(root.rglob("*"))
    with pytest.raises(ToolError, match="no branch 'none'"):
        use(root, "clone", published, path="lib/x", branch="none")
    with pytest.raises(ToolError, match="git refused"):
        use(root, "clone", published.replace("origin", "nothing"))
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c 'touch ran'",
        "--upload-pack=touch ran",
        "-x:y",
        "ftp://example.org/x",
        "https:///x",
        "fd::17",
        "",
    ],
)
def test_addresses_that_could_start_programs_are_refused(root: Path, address: str) -> None:
    with pytest.raises(ToolError, match="no address"):
        use(root, "clone", address, path="new")


def test_a_repository_in_the_project_is_no_remote(root: Path) -> None:
    """Its hooks and settings may be the model's."""
    git("init", "-q", "--bare", "inner.git", at=root)
    hook = root / "inner.git/hooks/pre-receive"
    hook.write_text(f"#!/bin/sh\ntouch {root.parent}/ran\n")
    hook.chmod(0o755)
    for address in (
        "inner.git",
        f"file://{root}/inner.git",
        str(root / "inner.git"),
        "./inner.git",
    ):
        git("config", "remote.origin.url", address, at=root)
        with pytest.raises(ToolError, match="lies in the project"):
            use(root, "push")
        with pytest.raises(ToolError, match="lies in the project"):
            use(root, "fetch")


def plant(folder: Path, program: Path) -> None:
    """Name *program* wherever git could find one to run."""
    lines = [
        f'[core]\n\tsshCommand = "{program}"\n\tfsmonitor = "{program}"\n\tpager = "{program}"\n'
        f'\thooksPath = "{folder / "hooks"}"\n\taskPass = "{program}"\n\tgitProxy = "{program}"\n'
        f'\talternateRefsCommand = "{program}"\n\tattributesFile = "{folder / "attributes"}"\n',
        f'[credential]\n\thelper = "{program}"\n[gpg]\n\tprogram = "{program}"\n',
        f'[filter "evil"]\n\tclean = "{program}"\n\tsmudge = "{program}"\n\trequired = true\n',
        f'[diff "evil"]\n\ttextconv = "{program}"\n\tcommand = "{program}"\n',
        f'[remote "origin"]\n\tuploadpack = "{program}"\n\treceivepack = "{program}"\n',
        '[remote "origin"]\n\tvcs = evil\n',
        f'[uploadpack]\n\tpackObjectsHook = "{program}"\n[push]\n\tgpgSign = true\n',
        '[url "ext::evil "]\n\tinsteadOf = /\n[protocol "ext"]\n\tallow = always\n',
        "[fetch]\n\trecurseSubmodules = true\n[push]\n\trecurseSubmodules = on-demand\n",
    ]
    with (folder / "config").open("a") as config:
        config.write("".join(lines))
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info/attributes").write_text("* filter=evil diff=evil\n")
    (folder / "hooks").mkdir(exist_ok=True)
    for name in ("pre-push", "post-merge", "post-checkout", "reference-transaction", "update"):
        (folder / "hooks" / name).write_text(program.read_text())
        (folder / "hooks" / name).chmod(0o755)


def test_nothing_that_the_repository_obeys_runs(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    save(root, "c.txt", "mine\n", "Mine")
    git("checkout", "-q", "main", at=root)
    program = root.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {root.parent}/ran\n")
    program.chmod(0o755)
    plant(root / ".git", program)
    (root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    theirs_go_on(root)
    use(root, "fetch")
    use(root, "pull")
    intent(root, operation="push", branch="topic")
    use(root, "push", branch="topic")
    assert (root / "b.txt").read_text() == "two\n"


def test_no_program_comes_from_the_project(root: Path) -> None:
    program = root / "bin/git-remote-https"
    program.parent.mkdir()
    for name in ("git-remote-https", "git-upload-pack", "ssh", "git"):
        (program.parent / name).write_text(f"#!/bin/sh\ntouch {root.parent}/ran\n")
        (program.parent / name).chmod(0o755)
    variables = {"PATH": f"{program.parent}:bin:{PATH}", "HOME": str(root.parent / "home")}
    feature = GitRemote(Project(root), Stop(), PersonEnvironment(variables, 60.0))
    theirs_go_on(root)
    assert "origin/main" in feature.git_remote("fetch").text


def test_the_persons_own_credentials_count(root: Path, served: str) -> None:
    theirs_go_on(root)
    git("update-server-info", at=root.parent / "origin.git")
    git("config", "remote.origin.url", served, at=root)
    with pytest.raises(ToolError, match=r"could not read Username|Authentication failed"):
        use(root, "fetch")
    home = root.parent / "home"
    host = served.removeprefix("http://").partition("/")[0]
    (home / "passwords").write_text(f"http://me:hunter2@{host}\n")
    with (home / ".gitconfig").open("a") as config:
        config.write(f'[credential "http://{host}"]\n\thelper = store --file {home}/passwords\n')
    assert "origin/main" in use(root, "fetch")


def test_a_password_in_an_address_is_shown_to_nobody(root: Path, served: str) -> None:
    address = served.replace("http://", "http://me:hunter2@")
    git("config", "remote.origin.url", address, at=root)
    for text in (use(root, "fetch"), intent(root, operation="fetch")):
        assert "hunter2" not in text
    git("config", "remote.origin.url", address.replace("origin", "nowhere"), at=root)
    with pytest.raises(ToolError) as refused:
        use(root, "fetch")
    assert "hunter2" not in str(refused.value)


def test_a_settings_file_for_this_folder_counts(root: Path, served: str) -> None:
    home = root.parent / "home"
    (home / "company").write_text(f'[url "{served}"]\n\tinsteadOf = ssh://company/\n')
    with (home / ".gitconfig").open("a") as config:
        config.write(f'[includeIf "gitdir:{root}/"]\n\tpath = {home}/company\n')
    git("config", "remote.origin.url", "ssh://company/", at=root)
    with pytest.raises(ToolError, match=r"Username|Authentication"):
        use(root, "fetch")


def test_what_cannot_be_done_is_said(root: Path) -> None:
    with pytest.raises(ToolError, match="no remote 'upstream'; there are: origin"):
        use(root, "fetch", "upstream")
    with pytest.raises(ToolError, match="no branch 'x'"):
        use(root, "pull", branch="x")
    with pytest.raises(ToolError, match="no name of a branch"):
        use(root, "push", branch="../config")
    with pytest.raises(ToolError, match="no branch or tag 'x' with a commit"):
        use(root, "push", branch="x")
    git("checkout", "-q", "--detach", at=root)
    with pytest.raises(ToolError, match="HEAD is on no branch"):
        use(root, "pull")
    (root.parent / "plain").mkdir()
    with pytest.raises(ToolError, match="no git repository"):
        use(root.parent / "plain", "fetch")


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [("guarded", "ask"), ("ask", "ask"), ("read-only", "refuse"), ("all", "allow")],
)
@pytest.mark.parametrize("operation", ["fetch", "pull", "push", "clone"])
def test_every_use_is_asked_about(
    root: Path, mode: ApprovalMode, verdict: str, operation: str
) -> None:
    approval = Approval(mode, remote(root).approval_reason)
    approval.allow_always("git_remote *")
    tool = tool_named("git_remote")
    assert approval.decide(tool, {"operation": operation}).verdict == verdict
    reason = remote(root).approval_reason(tool, {"operation": operation})
    assert isinstance(reason, AlwaysAskReason)


def test_the_files_of_a_pull_are_undone_like_any_others(root: Path) -> None:
    theirs_go_on(root)
    with assembled_terminal(
        root.parent,
        call_reply("git_remote", operation="pull"),
        text_reply("Pulled."),
        root=root,
        approval_mode="all",
    ) as made:
        events = run_turn(made.terminal, "Pull.")
        assert [event.state for event in events if isinstance(event, ToolFinished)] == ["done"]
        changes = [event.changes for event in events if isinstance(event, ToolFinished)]
        assert changes == [(Change("created", "b.txt"),)]
        assert (root / "b.txt").exists()
        run_turn(made.terminal, "/undo")
        assert not (root / "b.txt").exists()


def test_a_shallow_clone_goes_on_shallow(base: Path, origin: Path) -> None:
    save(base / "theirs", "d.txt", "x\n", "More")
    git("push", "-q", "origin", "HEAD:main", at=base / "theirs")
    git("clone", "-q", "--depth=1", f"file://{origin}", str(base / "project"), at=base)
    new = theirs_go_on(base / "project")
    assert new[:10] in use(base / "project", "pull")
    assert len(git("log", "--format=%h", at=base / "project").splitlines()) == 2


def test_folders_are_not_cloned(root: Path, origin: Path) -> None:
    """With a yes to everything, a repository of the person's would come within reach."""
    for address in (str(origin), f"file://{origin}", "../origin.git"):
        with pytest.raises(ToolError, match="only what is on the network"):
            use(root, "clone", address, path="x")


def test_what_another_address_has_does_not_count_as_sent(root: Path, base: Path) -> None:
    git("init", "-q", "--bare", str(base / "public.git"), at=base)
    git("config", "remote.origin.pushurl", str(base / "public.git"), at=root)
    shown = intent(root, operation="push")
    assert "public.git" in shown
    assert "First" in shown


def test_only_what_was_shown_is_pushed(root: Path, origin: Path) -> None:
    save(root, "c.txt", "mine\n", "Shown")
    feature = remote(root)
    feature.preview(tool_named("git_remote"), {"operation": "push"})
    save(root, "c.txt", "more\n", "Not shown")
    before = git("rev-parse", "main", at=origin)
    with pytest.raises(ToolError, match="moved since"):
        feature.git_remote("push")
    assert git("rev-parse", "main", at=origin) == before


@pytest.mark.parametrize("name", ["data/approvals.json", "data"])
def test_a_pull_changes_nothing_that_is_out_of_bounds(root: Path, name: str) -> None:
    their_clone = root.parent / "theirs"
    (their_clone / name).parent.mkdir(exist_ok=True)
    save(their_clone, name, "planted\n", "Plant")
    git("push", "-q", "origin", "HEAD:main", at=their_clone)
    (root / "data").mkdir()
    project = Project(root, hidden=[root / "data"])
    feature = GitRemote(project, Stop(), PersonEnvironment({"PATH": PATH}, 60.0))
    before = git("rev-parse", "HEAD", at=root)
    with pytest.raises(ToolError, match="outside|out of bounds"):
        feature.git_remote("pull")
    assert list((root / "data").iterdir()) == []
    assert git("rev-parse", "HEAD", at=root) == before


def test_a_push_with_nothing_to_send_asks_nobody(root: Path) -> None:
    with pytest.raises(ToolError, match="nothing to push"):
        intent(root, operation="push")


def test_a_first_push_of_a_branch_shows_what_it_changes(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    save(root, "c.txt", "mine\n", "Mine")
    shown = intent(root, operation="push")
    assert "branch topic: 1 commit\n" in shown
    assert "c.txt | 1 +" in shown
    assert "a.txt" not in shown


def test_a_new_repository_is_guarded_and_no_job_is_there_to_change_it(
    root: Path, published: str
) -> None:
    guarded: list[str] = []
    running = ["job 1"]
    feature = GitRemote(
        Project(root),
        Stop(),
        PersonEnvironment({"PATH": PATH}, 60.0),
        guard=guarded.append,
        running_jobs=lambda: "".join(running),
    )
    with pytest.raises(ToolError, match="Not while job 1"):
        feature.git_remote("clone", published, path="lib")
    assert guarded == []
    running.clear()
    feature.git_remote("clone", published, path="lib")
    assert guarded == ["lib"]


def test_a_pushed_branch_follows_what_it_was_pushed_as(root: Path) -> None:
    git("checkout", "-q", "-b", "功能/一", at=root)
    save(root, "n", "n\n", "New")
    assert "It follows that branch from now on." in use(root, "push")
    assert git("rev-parse", "--abbrev-ref", "@{u}", at=root) == "origin/功能/一"
    save(root, "m", "m\n", "More")
    assert "It follows" not in use(root, "push")


def test_a_message_that_holds_a_secret_is_named_before_a_push(root: Path) -> None:
    new = save(root, "n", "n\n", "With hunter2-hunter2")
    variables = {"PATH": PATH, "HOME": str(root.parent / "home")}
    tool = GitRemote(
        Project(root), Stop(), PersonEnvironment(variables, 60.0),
        lambda text: ["TOKEN"] if "hunter2-hunter2" in text else [],
    )  # fmt: skip
    card = tool.preview(tool_named("git_remote"), {"operation": "push"})
    assert isinstance(card, TextCard)
    assert f"It publishes secrets: {new[:10]} (TOKEN)" in str(card.body)


def test_the_answer_is_in_the_persons_language(root: Path) -> None:
    theirs_go_on(root)
    card = remote(root).git_remote("pull").card
    assert isinstance(card, TextCard)
    translated = Translator.of("zh").render
    assert "main 现在位于" in translated(card.body)
    assert "已从" in translated(card.body)


def test_undo_claims_nothing_of_what_others_have(base: Path, root: Path) -> None:
    with checkpoints(root, base / "store") as points:
        before = points.take()
        new = theirs_go_on(root)
        use(root, "fetch")
        fetched = points.take()
        assert points.diff(before.id, fetched.id) == []
        use(root, "pull")
        after = points.take()
        undone = points.undo(before.id, after.id)
        assert not undone.skipped
        assert git("rev-parse", "origin/main", at=root) == new
        assert git("rev-parse", "main", at=root) != new
        assert not (root / "b.txt").exists()
        points.undo(undone.before, undone.after)
        assert git("status", "--porcelain", "--branch", at=root) == "## main...origin/main"
