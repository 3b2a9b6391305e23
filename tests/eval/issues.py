"""Issues of repositories in SWE-bench's layout; what is solved goes to `preds.json`.

A line of the file of instances is a JSON object with `instance_id`, `repo` (a folder, an address,
or OWNER/NAME on GitHub), `base_commit` and `problem_statement`. With `test_command`, or with tests
of pytest in `FAIL_TO_PASS` and `PASS_TO_PASS`, the patch is judged here, after `test_patch`;
else `preds.json` is for whoever judges it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.eval.judge import Judge, TestRun
from tests.eval.tasks import Attempt, Submission, SubmissionError, TaskError, Verdict
from utils.system.child import TimedOut, run_program

PATCH = "model_patch"
_SECONDS = 1_800.0
_PROMPT = """\
In this folder is the source of a program, and below an issue that somebody has reported. Solve it \
by changing the source. Tests that you do not see judge the change. Commit nothing, and do not ask \
back.

{statement}
"""
_AGAIN = """
Your change so far, which is in the folder, does not pass the tests. They said:

{failure}
"""
_REQUIRED = ("instance_id", "repo", "base_commit", "problem_statement")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ON_GITHUB = re.compile(r"[\w.-]+/[\w.-]+")


class Git:
    """Git on repositories that only we write, with nobody's settings and without hooks."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = ("-c", f"core.hooksPath={os.devnull}", "-c", "safe.directory=*", *options)

    def run(self, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """Return what git prints. Raises `TaskError` with what it says where it fails."""
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": os.devnull,
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "file:https:ssh",
            "GIT_TERMINAL_PROMPT": "0",
            **({"GIT_INDEX_FILE": str(index)} if index else {}),
        }
        try:
            ended = run_program(
                ["git", *self._options, *arguments],
                folder=self._folder,
                environment=environment,
                seconds=_SECONDS,
                stdin=stdin,
            )
        except TimedOut:
            raise TaskError(
                f"git {arguments[0]} took longer than {_SECONDS:.0f} seconds."
            ) from None
        if ended.code:
            said = ended.errors.decode("utf-8", "replace").strip()
            raise TaskError(f"git {arguments[0]} failed: {said}")
        return ended.output


@dataclass(frozen=True)
class Issue:
    """The issue *id* of the repository *group*, which is kept as *mirror*."""

    id: str
    group: str
    mirror: Path
    base: str
    statement: str
    test_patch: str
    test_command: str
    tests: tuple[str, ...]

    def prompt(self, failure: str) -> str:
        asked = _PROMPT.format(statement=self.statement)
        return asked + (_AGAIN.format(failure=failure) if failure else "")

    def lay(self, folder: Path, earlier: Submission) -> None:
        """Check out the base commit, with nothing of the history before or after it."""
        git = Git(folder)
        git.run("init", "--quiet", "--initial-branch=main", "--template=", ".")
        git.run("fetch", "--quiet", "--depth=1", "--no-tags", self.mirror.as_uri(), self.base)
        git.run("reset", "--quiet", "--hard", "FETCH_HEAD")
        (folder / ".git/FETCH_HEAD").unlink()
        if patch := earlier.get(PATCH):
            git.run("apply", "--whitespace=nowarn", "-", stdin=_bytes(patch))

    def collect(self, folder: Path) -> Submission:
        """Return the difference between the base commit and *folder*, as a patch.

        Git is run on a copy without any `.git`, for what a program puts there git may obey.
        """
        with tempfile.TemporaryDirectory(dir=self.mirror.parent) as scratch:
            copy = Path(scratch, "copy")
            try:
                shutil.copytree(folder, copy, symlinks=True, ignore=_not_to_copy)
                patch = self._difference(copy, Path(scratch, "index"))
            except (OSError, TaskError) as error:  # as copytree's own is one
                raise SubmissionError(f"There is no patch to make of the folder: {error}") from None
        return {PATCH: patch.decode("utf-8", "surrogateescape")}

    def _difference(self, copy: Path, index: Path) -> bytes:
        git = Git(copy, f"--git-dir={self.mirror}", f"--work-tree={copy}")
        git.run("read-tree", self.base, index=index)
        git.run("add", "--all", "--", ".", index=index)
        flags = ("--cached", "--binary", "--full-index", "--no-color", "--no-ext-diff")
        return git.run("diff", *flags, "--no-textconv", self.base, index=index)

    def judge(self, submission: Submission, judge: Judge) -> Verdict:
        if not (self.test_command or self.tests):
            return Verdict("unjudged", "The instance names no tests.")
        with judge.new_folder("project") as folder:
            self.lay(folder, {})
            try:
                self._apply(folder, _bytes(submission.get(PATCH, "")))
            except TaskError as error:
                return Verdict("failed", str(error))
            run = self._run_tests(folder, judge)
        return Verdict("passed" if run.has_passed else "failed", run.output)

    def _apply(self, folder: Path, patch: bytes) -> None:
        """Apply *patch*, but for what it does to the tests, and then the tests' own."""
        git = Git(folder)
        flags = [f"--exclude={name}" for name in self._tested_files(git)]
        if patch.strip():
            git.run("apply", "--whitespace=nowarn", *flags, "-", stdin=patch)
        if self.test_patch:
            git.run("apply", "--whitespace=nowarn", "-", stdin=_bytes(self.test_patch))

    def solution(self) -> Submission:
        raise TaskError(f"{self.id}: the oracle solves exercises, not issues.")

    def _run_tests(self, folder: Path, judge: Judge) -> TestRun:
        if self.test_command:
            return judge.run_command(folder, self.test_command)
        return judge.run_pytest(folder, self.tests)

    def _tested_files(self, git: Git) -> list[str]:
        """Return the files of the test patch: an agent's changes of them do not count."""
        if not self.test_patch:
            return []
        listed = git.run("apply", "--numstat", "-z", "-", stdin=_bytes(self.test_patch))
        fields = (
            entry.split("\t") for entry in listed.decode("utf-8", "surrogateescape").split("\0")
        )
        return [_literal(parts[2]) for parts in fields if len(parts) == 3]

    def fetch(self) -> None:
        """Bring the repository here, the first time. Not for several at once."""
        if self.mirror.is_dir():
            return
        self.mirror.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=self.mirror.parent))
        git = Git(unfinished)
        git.run(
            "clone", "--quiet", "--bare", "--no-hardlinks", "--template=", "--", self.group, "."
        )
        git.run("config", "uploadpack.allowAnySHA1InWant", "true")
        unfinished.rename(self.mirror)


def _not_to_copy(folder: str, names: Iterable[str]) -> list[str]:
    """Return those of *names* that are repositories, or neither files, folders nor links."""
    paths = {name: Path(folder, name) for name in names}
    plain = {
        name for name, one in paths.items() if one.is_symlink() or one.is_file() or one.is_dir()
    }
    return [name for name in paths if name not in plain or name.lower() == ".git"]


def _literal(name: str) -> str:
    return re.sub(r"([*?\[\\])", r"\\\1", name)


def _bytes(patch: str) -> bytes:
    return patch.encode("utf-8", "surrogateescape")


def read_issues(path: Path, repositories: Path) -> list[Issue]:
    """Return the issues of the file *path*, whose repositories are fetched to *repositories*.

    Raises `TaskError` for a line that is none.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"Cannot read {path}: {error}.") from None
    found = [
        _read(line, f"Line {n} of {path}", repositories)
        for n, line in enumerate(lines, 1)
        if line.strip()
    ]
    if not found:
        raise TaskError(f"{path} holds no instances, one JSON object a line.")
    for issue in found:
        issue.fetch()
    return found


def _read(line: str, where: str, repositories: Path) -> Issue:
    try:
        instance: Mapping[str, Any] = json.loads(line)
        texts = [instance[name] for name in _REQUIRED]
        tests = [
            test for name in ("FAIL_TO_PASS", "PASS_TO_PASS") for test in _listed(instance, name)
        ]
    except (ValueError, KeyError, TypeError):
        raise TaskError(f"{where} must be an object with {', '.join(_REQUIRED)}.") from None
    if not all(isinstance(text, str) and text for text in texts):
        raise TaskError(f"{where}: {', '.join(_REQUIRED)} are texts.")
    instance_id, repository, base, statement = texts
    if not _COMMIT.fullmatch(base):
        raise TaskError(f"{where}: base_commit is a whole commit id, of 40 digits.")
    address = _address(repository)
    mirror = repositories / f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.git"
    return Issue(
        instance_id,
        address,
        mirror,
        base,
        statement,
        instance.get("test_patch") or "",
        instance.get("test_command") or "",
        tuple(test for test in tests if "::" in test),
    )


def _listed(instance: Mapping[str, Any], name: str) -> list[str]:
    """Return a list of tests, which the dataset holds as JSON in a text."""
    value = instance.get(name) or []
    return list(json.loads(value) if isinstance(value, str) else value)


def _address(repository: str) -> str:
    if Path(repository).is_dir():
        return str(Path(repository).resolve())
    return f"https://github.com/{repository}" if _ON_GITHUB.fullmatch(repository) else repository


def predictions(attempts: Sequence[Attempt], model: str) -> dict[str, dict[str, str]]:
    """Return what `preds.json` holds: the last patch of each issue, by its id."""
    name = f"{attempts[0].agent}/{model}" if attempts else model
    return {
        one.task: {
            "model_name_or_path": name,
            "instance_id": one.task,
            PATCH: one.submission[PATCH],
        }
        for one in sorted(attempts, key=lambda one: (one.task, one.number))
        if PATCH in one.submission
    }
