"""A claim of tests rests on those of what was changed, not on any that happened to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from modules.checks.run_scopes import ChangedParts
from tests.assembly import assembled_terminal
from tests.modules.checks.test_checks import GOOD, end, project, run, say, write
from tests.scripted_model import text_reply

FILES = (
    *("sums.py", "tests/test_sums.py", "old/calc.py", "old/tests/test_old.py", "shared/types.ts"),
    *("web/src/app.ts", "web/src/app.test.ts", "web/package.json", "docs/guide.md"),
    *("go/foo/foo.go", "go/foo/foo_test.go", "go/bar/bar.go", "go/bar/bar_test.go", "conf/ci.ini"),
    "build/CMakeCache.txt",
)
OF_OTHERS = [
    ("sums.py", "cd old && pytest"),
    ("sums.py", "cd old/tests && python3 -m unittest"),
    ("sums.py", "cd ./old/ && python3 -m unittest discover -s tests"),
    ("sums.py", "pytest old"),
    ("sums.py", "pytest -q old/tests/test_old.py::test_t"),
    ("sums.py", "python3 -m unittest discover -s old/tests"),
    ("sums.py", "mkdir -p out && cd web; npm test"),
    ("old/calc.py", "npm --prefix=web test"),
    ("go/bar/bar.go", "go test ./go/foo/..."),
    ("tests/test_sums.py", "cd old && pytest"),
    ("sums.py", "cd old && ls; cd . && pytest"),
]
OF_THE_CHANGED = [
    ("sums.py", "pytest"),
    ("sums.py", "pytest tests"),
    ("sums.py", "pytest -x tests/test_sums.py"),
    ("sums.py", "pytest -c conf/ci.ini"),
    ("sums.py", "pytest --ignore old"),
    ("sums.py", "pytest old tests"),
    ("sums.py", "cd tests && python3 -m unittest"),
    ("sums.py", "cd old && cd .. && pytest"),
    ("sums.py", "cd old && pytest && cd .. && pytest"),
    ("old/calc.py", "cd old && pytest"),
    ("old/calc.py", "pytest"),
    ("old/calc.py", "pytest old/tests"),
    ("sums.py", "cd /home/me/project && pytest"),
    ("sums.py", "cd ~/project && pytest"),
    ("sums.py", "cd .. && pytest"),
    ("sums.py", "cd - && pytest"),
    ("sums.py", 'cd "$(git rev-parse --show-toplevel)" && pytest'),
    ("sums.py", "cd $PWD && pytest"),
    ("sums.py", "make -C $PWD test"),
    ("sums.py", "cd build && ctest"),
    ("sums.py", "cd old && ls; cd .. && pytest"),
    ("sums.py", "cd old; pytest; cd ..; pytest"),
    ("sums.py", "pytest -k old"),
    ("sums.py", "pytest -m old"),
    ("go/foo/foo.go", "go test -run old ./..."),
    ("web/src/app.ts", "cd web && npm test"),
    ("web/src/app.ts", "npm --prefix web test"),
    ("go/foo/foo.go", "go test ./..."),
    ("go/foo/foo.go", "go test ./go/foo/..."),
    ("docs/guide.md", "cd old && pytest"),
    ("old/tests/test_old.py", "cd old && pytest"),
]


@pytest.mark.parametrize(("changed", "command"), OF_OTHERS)
def test_a_run_of_what_was_not_changed_is_of_others(changed: str, command: str) -> None:
    assert ChangedParts([changed, "docs/guide.md"], FILES).other_folders(command)


@pytest.mark.parametrize(("changed", "command"), OF_THE_CHANGED)
def test_a_run_that_may_be_meant_is_none_of_others(changed: str, command: str) -> None:
    assert ChangedParts([changed], FILES).other_folders(command) == ()


def test_where_no_tests_are_of_what_was_changed_any_may_be_meant() -> None:
    files = ("shared/types.ts", "web/src/app.test.ts")
    assert ChangedParts(["shared/types.ts"], files).other_folders("cd web && npm test") == ()
    assert ChangedParts([], FILES).other_folders("cd old && pytest") == ()


OLD_TEST = "import unittest\nclass T(unittest.TestCase):\n    def test_t(self): pass\n"
OLD_RUN = "cd old && python3 -m unittest discover -s tests"


@pytest.mark.parametrize(
    ("saying", "is_supported"),
    [
        ("I ran the tests.", False),
        ("I ran `python3 -m unittest discover -s tests`.", False),
        ("我运行了测试。", False),
        ("I ran the tests in old.", True),
        ("I ran the tests of `old/`.", True),
        ("我运行了old目录的测试。", True),
    ],
)
def test_a_claim_to_have_run_the_tests_does_not_rest_on_those_of_another_folder(
    saying: str, is_supported: bool, tmp_path: Path
) -> None:
    tests = project(tmp_path) / "old/tests"
    tests.mkdir(parents=True)
    (tests / "test_old.py").write_text(OLD_TEST)
    replies = [write("sums.py", GOOD), run(OLD_RUN), text_reply(saying)]
    with assembled_terminal(tmp_path, *replies) as made:
        (claim,) = end(say(made)).claims
        assert claim.supported is is_supported


@pytest.mark.parametrize("saying", ["All tests pass.", "测试全部通过。", "I verified the change."])
def test_nor_does_a_claim_that_they_pass_where_the_checks_did_not_run(
    saying: str, tmp_path: Path
) -> None:
    tests = project(tmp_path) / "old/tests"
    tests.mkdir(parents=True)
    (tests / "test_old.py").write_text(OLD_TEST)
    replies = [write("sums.py", GOOD), run(OLD_RUN), text_reply(saying)]
    with assembled_terminal(tmp_path, *replies) as made:
        say(made, "/check set nothing-that-is-there")  # says neither that they pass nor that not
        (claim,) = end(say(made)).claims
        assert not claim.supported
