"""Sentences that claim a run, and those that only look like it."""

from __future__ import annotations

from typing import Literal

import pytest

from core.cards import RunCard
from core.conversation.messages import ToolResult
from core.conversation.proof import ChecksResult, Receipt
from modules.checks.claims import claims_in, may_claim
from modules.checks.commands import normalized, proves
from modules.checks.exit_codes import says_red, was_run
from modules.checks.proving import checks_result, held_against
from modules.checks.receipts import runs_in

CLAIMS = {
    "All tests pass.": {"passes"},
    "All 12 tests passed.": {"passes"},
    "The test suite is green now.": {"passes"},
    "Fixed the bug and the tests now pass.": {"passes"},
    "I ran `pytest` and everything passes.": {"ran", "passes"},
    "I've run the tests; 12 passed.": {"ran", "passes"},
    "Ran the linter: clean.": {"ran"},
    "mypy passes with no errors.": {"passes"},
    "The build succeeds.": {"passes"},
    "**Tests:** all green": {"passes"},
    "I verified that the page loads.": {"verified"},
    "Verified by hand.": {"verified"},
    "I have confirmed the fix works.": {"verified"},
    "I tested it locally.": {"verified"},
    "It passes all 7 tests.": {"passes"},
    "- ✅ 42 tests passing": {"passes"},
    "测试全部通过。": {"passes"},
    "所有 12 个测试均已通过。": {"passes"},
    "我运行了测试。": {"ran"},
    "修改已验证。": {"verified"},
    "已通过全部测试。": {"passes"},
    "我已经执行了脚本,结果正确。": {"ran"},
}
NO_CLAIMS = [
    "I did not run the tests.",
    "The tests should pass now.",
    "If you run the tests, they pass.",
    "Run `pytest` to see whether all tests pass.",
    "I could not verify this.",
    "Tests would pass once the key is set.",
    "Do the tests pass?",
    "The tests do not pass yet.",
    "Not all tests passed.",
    "The tests weren't run, so nothing is verified.",
    "> All tests pass.",
    "```\n12 passed\n```",
    'The log says "all tests pass".',
    "Two tests fail.",
    "To verify, run the tests.",
    "Once merged, the build passes.",
    "I added a function that passes the token to the tests folder.",
    "我没有运行测试。",
    "测试应该会通过。",
    "如果运行测试，全部通过。",
    "请运行测试以验证。",
    "测试未通过。",
    "尚未验证。",
    "他说“测试全部通过”。",
]


@pytest.mark.parametrize("answer", CLAIMS)
def test_a_claim_is_found(answer: str) -> None:
    assert may_claim(answer)
    assert {claim.kind for claim in claims_in(answer)} == CLAIMS[answer]


@pytest.mark.parametrize("answer", NO_CLAIMS)
def test_what_is_denied_asked_quoted_or_wished_is_none(answer: str) -> None:
    assert claims_in(answer) == []


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "python3 -m pytest -q tests",
        "cd app && npm test",
        "PYTHONPATH=. pytest -x 2>&1",
        "uv run pytest",
        "make check",
        "cargo test --all",
        "go test ./...",
        "npx vitest run",
        "./run_tests.sh",
        "pytest -k 'a or (b and not c)'",
        'pytest -m "not slow" && npm run lint',
        ". .venv/bin/activate && pytest",
        "source venv/bin/activate && python -m pytest",
        "make -j4 test",
        "mkdir -p out && pytest > out/log.txt",
    ],
)
def test_a_test_runner_proves(command: str) -> None:
    assert proves(command)


@pytest.mark.parametrize(
    "command",
    [
        "echo '12 passed'",
        "echo pytest",
        "pytest || true",
        "pytest; exit 0",
        "pytest | tail -1",
        "pytest &",
        "pytest --collect-only",
        "pytest --version",
        "cat pytest.log",
        "true && echo pytest passed",
        "printf '== 12 passed ==\\n'",
        "set +e; pytest",
        "make -n test",
        "pytester",
        "$(pytest)",
        "pytest() (true) && pytest",
        "function pytest { true && true } && pytest",
        "true # && pytest",
        'echo "a && pytest && b"',
        "echo 'a && pytest && b'",
        "exec true && pytest",
        "exit 0 && pytest",
        "set -n && pytest",
        "trap 'exit 0' EXIT && pytest",
        "hash -p /bin/true pytest && pytest",
        "alias pytest=true && pytest",
        "eval pytest=true && pytest",
        "export PATH=fake && pytest",
        "PATH=fake:$PATH pytest",
        "PATH+=:fake && pytest",
        "env PATH=fake pytest",
        "PYTEST_ADDOPTS=--co pytest",
        "MAKEFLAGS=-i make test",
        ". ./fake.sh && pytest",
        "! pytest && pytest",
        "make -i test",
        "make -ik test",
        "make -q test",
        "make -t test",
        "make -v test",
        "make -f other test",
        "make test SHELL=/bin/true",
        "make --ignore-errors check",
        "npm -v test",
        "npm test --if-present",
        "pytest --setup-plan",
        "ruff check --exit-zero",
        "npx jest --passWithNoTests",
    ],
)
def test_what_hides_an_exit_code_or_only_says_so_proves_nothing(command: str) -> None:
    assert not proves(command)


def test_the_same_check_is_known_in_other_words() -> None:
    assert normalized("python3 -m pytest -q") == normalized("pytest")
    assert normalized("npm test 2>&1") == normalized("npm test")
    assert normalized("pytest || true") != normalized("pytest")
    assert normalized("pytest tests/a.py") != normalized("pytest")
    assert normalized("make -v check") != normalized("make check")
    assert normalized("npm -v test") != normalized("npm test")
    assert proves("sh check.sh -q", ["sh check.sh"])


def test_exit_codes_that_say_nothing() -> None:
    assert says_red("npm test", 1)
    assert not says_red("npm test", 127)
    assert not says_red("python3 -m pytest", 5)
    assert not says_red("python3 -m pytest", 1, "/usr/bin/python3: No module named pytest\n")
    assert not was_run("sleep 100", None)
    assert was_run("true", 0)


def held(answer: str, *receipts: Receipt, has_read: bool = False) -> list[tuple[bool, str]]:
    checks = checks_result(receipts, [one.command for one in receipts if one.is_check])
    ran = [one.command for one in receipts]
    found = [
        held_against(claim, receipts, (), checks, ran=ran, has_read=has_read)
        for claim in claims_in(answer)
    ]
    return [(claim.supported, claim.rests_on) for claim in found]


PASSED = Receipt("pytest -q", 0, "green")
FAILED = Receipt("pytest -q", 1, "red")
OUTDATED = Receipt("pytest -q", 0, "grey", ("a.py",))
ECHOED = Receipt("echo 12 passed", 0, "green")


def test_a_claim_rests_on_what_was_run() -> None:
    assert held("All tests pass.", PASSED) == [(True, "receipt")]
    assert held("All tests pass.") == [(False, "nothing")]
    assert held("All tests pass.", has_read=True) == [(False, "reading")]
    assert held("All tests pass.", FAILED) == [(False, "nothing")]
    assert held("All tests pass.", OUTDATED) == [(False, "nothing")]
    assert held("All tests pass.", ECHOED) == [(False, "nothing")]
    assert held("All tests pass.", PASSED, FAILED) == [(False, "nothing")]
    assert held("I verified it.", ECHOED) == [(False, "nothing")]
    assert held("I verified it.", Receipt("python3 a.py", 0, "green")) == [(True, "receipt")]
    assert held("I ran `pytest -q`.", FAILED) == [(True, "receipt")]
    assert held("I ran `npm test`.", PASSED) == [(False, "nothing")]
    assert held("I ran the tests.", ECHOED) == [(False, "nothing")]


def test_one_failing_check_makes_all_red() -> None:
    red = Receipt("b", 1, "red", is_check=True)
    green = Receipt("a", 0, "green", is_check=True)
    assert checks_result([green, red], ["a", "b"]) == ChecksResult("red", ("a", "b"))
    assert checks_result([green], ["a", "b"]).state == "none"
    assert checks_result([green], ["a"]) == ChecksResult("green", ("a",))
    assert checks_result([], []) == ChecksResult()


@pytest.mark.parametrize(
    ("language", "code"),
    [("bash", f"pytest{' ' * 1_000}|| true"), ("python", "pytest if 0 else 0")],
)
def test_a_run_that_is_cut_or_is_no_command_proves_nothing(
    language: Literal["python", "bash"], code: str
) -> None:
    card = RunCard(language, code, "", 0, "", 0.0, "")
    (run,) = runs_in([ToolResult("c1", "run", "", card=card)])
    assert not proves(run.command)
    assert normalized(run.command) != normalized("pytest")
