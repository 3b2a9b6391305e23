"""Sentences that claim a run, and those that only look like it."""

from __future__ import annotations

from typing import Literal

import pytest

from core.cards import RunCard
from core.conversation.messages import ToolResult
from core.conversation.proof import ChecksResult, Receipt
from modules.checks.claims import claims_in, may_claim
from modules.checks.commands import normalized, proves
from modules.checks.exit_codes import grey_reason, says_red
from modules.checks.proving import checks_result, held_against
from modules.checks.receipts import runs_in
from tests.modules.checks.spoken_of_tests import CLAIMS as CLAIMS_OF_TESTS
from tests.modules.checks.spoken_of_tests import ODD_CLAIMS, ODD_NO_CLAIMS, OF_TESTS

CLAIMS = {
    "All tests pass.": {"passes"},
    "All 12 tests passed.": {"passes"},
    "The test suite is green now.": {"passes"},
    "Fixed the bug and the tests now pass.": {"passes"},
    "I ran `pytest` and everything passes.": {"ran", "passes"},
    "I've run the tests; 12 passed.": {"ran", "passes"},
    "Ran the linter: clean.": {"ran", "passes"},
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
    "我已经执行了脚本,结果正确。": {"ran", "verified"},
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


MORE_CLAIMS = [
    "Done! All 42 tests are passing.",
    "I've fixed the bug and confirmed that the test suite passes.",
    "Everything works now — tests are green.",
    "The fix is in place and all unit tests succeed.",
    "Build completed successfully.",
    "The project compiles without errors.",
    "It compiles cleanly.",
    "Linting passes and there are no type errors.",
    "ESLint reports no problems.",
    "No lint errors remain.",
    "mypy is happy.",
    "pytest: 12 passed, 0 failed",
    "12/12 tests pass.",
    "Test results: 12 passed.",
    "0 failures.",
    "No tests fail any more.",
    "There are no failing tests.",
    "All green ✅",
    "✅ Tests pass",
    "Tests: ✅",
    "I ran the full test suite and there were no failures.",
    "I re-ran the tests after the change; everything is fine.",
    "I tested the change and it works.",
    "I checked that it works.",
    "I double checked the output and it is correct.",
    "I have verified the fix manually.",
    "The change has been tested.",
    "This has been verified to work.",
    "Verified: the endpoint returns 200.",
    "Confirmed working.",
    "I executed the script and it printed 42.",
    "Running the script prints 42 as expected.",
    "After running pytest, everything passed.",
    "The CI pipeline is green.",
    "I built the project and it succeeded.",
    "npm run build succeeds.",
    "`npm test` passes.",
    "`cargo test` is green.",
    "The tests now pass after the last edit.",
    "Tests were run and passed.",
    "Test suite: OK",
    "All checks pass.",
    "The regression test passes.",
    "Ran 12 tests in 0.3s: OK",
    "It works as expected now; I tried it.",
    "I tried it out and it works.",
    "I validated the JSON.",
    "I ran mypy and ruff: both clean.",
    "Coverage is at 100% and tests pass.",
    "The failing test is fixed and passes now.",
    "test_add passes.",
    "`test_add` now passes.",
    "所有测试都通过了。",
    "测试已全部通过。",
    "全部测试通过，没有失败。",
    "我跑了一遍测试，都是绿的。",
    "单元测试全绿。",
    "构建成功。",
    "编译通过，没有错误。",
    "我已经验证过了，功能正常。",
    "已确认修复有效。",
    "我测试了一下，没有问题。",
    "经测试，功能正常。",
    "已在本地运行，结果正确。",
    "12 个测试全部成功。",
    "没有测试失败。",
    "lint 检查没有报错。",
    "类型检查通过。",
    "脚本运行成功，输出 42。",
    "跑过测试了，没问题。",
    "测试跑通了。",
    "CI 是绿的。",
    "测试用例均已通过",
    "我检查过了，一切正常。",
    "亲测可用。",
    "已自测通过。",
    "回归测试没有问题。",
    "修好了，测试也过了。",
    "我运行了 `pytest`，12 passed。",
]
MORE_NO_CLAIMS = [
    "Done.",
    "I fixed the bug in app.py.",
    "I added a test for it.",
    "You can run `pytest` to check.",
    "The tests still need to be run.",
    "I haven't run the tests.",
    "Should I run the tests?",
    "The test file checks that add returns 3.",
    "This function checks whether the input is valid.",
    "The build script compiles the sources.",
    "I changed the check command.",
    "The linter is configured in pyproject.toml.",
    "Please verify it on your machine.",
    "The tests cover the error path.",
    "The parser works on lists.",
    "I removed the failing test.",
    "It should work now.",
    "The green button submits the form.",
    "All users pass through this gate.",
    "我修改了 app.py。",
    "请运行测试确认。",
    "我加了一个测试。",
    "还没有运行测试。",
    "测试应该能通过。",
    "这个函数检查输入是否有效。",
    "可以用 pytest 验证。",
    "构建脚本在 build.sh 里。",
    "测试文件在 tests 目录。",
    "需要我运行测试吗？",
]


UNHEARD_CLAIMS = [
    "I re-ran the failing case and it's passing.",
    "Test results: 100% passed.",
    "重新运行后一切正常。",
    "已确认问题不再出现。",
    "单测跑通了。",
    "Everything's shipshape: the whole suite came back clean.",
    "I put the change through its paces and nothing broke.",
    "Just finished a full test run, zero red.",
    "The regression tests are happy again.",
    "Ran everything end to end; not a single failure.",
    "All assertions hold.",
    "You'll be glad to hear that CI is green across the board.",
    "Tests came back green.",
    "The specs all go through without a hitch.",
    "100% of the tests pass with the new code.",
    "I gave it a spin in the terminal and the output was right.",
    "Sanity-checked with the unit tests; no regressions.",
    "This was exercised against the test-suite and behaves correctly.",
    "42/42 tests OK.",
    "test_add now goes green.",
    "I executed the script and got the expected result, 3.",
    "I made sure that the tests still work.",
    "The tests run through fine.",
    "Task complete. Test results: 12 passed in 0.34s.",
    "Type checking comes out with zero complaints.",
    "Nothing fails any more.",
    "I double checked it with a quick test and it works.",
    "Running the unit tests shows that all of them pass.",
    "After the edit I re-ran the suite: everything OK.",
    "I have proven the fix by running the tests.",
    "pytest exits with 0.",
    "The program now outputs the correct sum, as I saw when running it.",
    "Coverage is complete and every test is successful.",
    "The bug is gone; the test which used to fail is passing.",
    "Tests are all good.",
    "全部用例都绿了。",
    "我把整套测试跑了一遍,没有一个挂的。",
    "单测都过啦。",
    "已在本地跑过,输出符合预期。",
    "回归测试一切顺利。",
    "pytest 结果:12 passed。",
    "改完后重新跑了测试,零失败。",
    "所有断言均成立。",
    "代码已经过充分测试,可以放心使用。",
    "CI 已经是绿色的了。",
    "我用单元测试核实过,功能正确。",
    "测试结果全部为 OK。",
    "之前失败的那个测试现在能通过了。",
    "编译无误,测试无一报错。",
    "我试跑了一下,结果是 3,没有问题。",
    "全套测试顺利跑完,均为成功。",
    "类型检查没有发现任何问题。",
    "我已经亲自验过了,没毛病。",
    "测试套件 100% 通过。",
    "修复完成,并且用测试证明了。",
    "12 项测试悉数通过。",
    "代码检查工具零告警,测试全过。",
    "我执行了一遍脚本,确实好用。",
    "测试:12/12 ✅",
    "构建和测试都没出错。",
    "测试一次性通过!",
    "跑测试的结果很干净,没有失败项。",
    "验收测试已全部达标。",
    "我反复测了几次,都是对的。",
    "该改动已通过 CI 校验。",
    "The unit tests are passing without exception.",
    "I launched the suite and it finished without errors.",
    "Having run the tests, I can say they're all green.",
    "There were no regressions in the suite.",
    "No failing checks remain.",
    "Just ran the suite: 18 ok.",
    "Manual testing shows that the login works.",
    "Zero red.",
    "The tests agree with me now.",
    "Suite finished, exit code zero.",
    "I saw all tests go green with my own eyes.",
    "The unit tests no longer complain.",
    "Local test run: clean.",
    "Checks done, nothing to report.",
    "I watched the suite pass.",
    "Full marks from the linter.",
    "Regression suite shows no breakage.",
    "The test suite had nothing to object to.",
    "Tests: 12 ok, 0 bad.",
    "Test coverage run finished successfully.",
    "It survives the whole test suite.",
    "The smoke test went well.",
    "I've checked with pytest; it's all good.",
    "Integration tests gave the thumbs up.",
    "零报错跑完全部用例。",
    "测试那边没有任何红的。",
    "我用脚本试了几组数据,结果都对。",
    "单测覆盖到了,而且都过。",
    "pytest 一片绿。",
    "跑了全量回归,稳。",
    "测试不再报错。",
    "用例逐条跑过,结果一致。",
    "编译顺利,零警告。",
    "冒烟测试没问题。",
]
UNHEARD_NO_CLAIMS = [
    "The documentation says that all tests pass.",
    "I wrote sums.py with an add function.",
    "The test file is in tests/test_sums.py.",
    "You can run the tests with `python3 -m unittest`.",
    "I have not tried it.",
    "The function returns the sum of a and b.",
    "The new check rejects names that are too long.",
    "I added a test for negative numbers.",
    "The tests live in tests/.",
    "This passes the token on to the server.",
    "Next I would run the suite.",
    "Two of the tests still fail.",
    "The build takes about a minute.",
    "I fixed the validation of the form.",
    "Green is the colour of the button now.",
    "The suite was red before the change.",
    "Everything is in one file now.",
    "The job runs every night at two.",
    "The command runs the migrations and then starts the server.",
    "I read the file; the function adds two numbers.",
    "All good wishes are stored in wishes.txt.",
    "我写了 sums.py。",
    "测试文件在 tests 目录里。",
    "你可以用 pytest 运行测试。",
    "我还没有跑测试。",
    "这个函数返回两数之和。",
    "新增了一个负数的测试用例。",
    "还有两个测试失败。",
    "按钮现在是绿色的。",
    "我读了这个文件,它定义了加法。",
    "这段代码检查参数是否为空。",
    "构建大约需要一分钟。",
    "测试用的数据放在 data 里。",
    "修正了表单的验证逻辑。",
    "服务每天凌晨两点运行。",
    "表里列出了所有通过审核的用户。",
    "执行顺序改为先排序后输出。",
]


LISTS = """\
pytest --co
pytest --collect-only -q
tox -l
tox --listenvs
tox list
nox -l
nox --list
ctest -N
ctest --show-only
jest --showConfig
vitest list
npx vitest list
gradle test --dry-run
gradle test -m
gradle build -x test
./gradlew check -x test
mvn test -DskipTests=true
mvn test -Dmaven.test.skip=true
mvn -Dmaven.test.skip test
dotnet test --list-tests
dotnet test -t
phpunit --list-tests
rspec --dry-run
bats --count
eslint --print-config a.js
eslint --init
mypy --help
pytest --exitfirst --version
python -m pytest -h
cargo test --no-run
cargo build --help
go test -list .
go test -c ./...
go test -n ./...
go test -exec true ./...
npm test -- --help
npm run test --if-present
make test -n
make -k test || true
make test; true
! pytest
pytest || :
pytest | tee log
if pytest; then echo; fi
timeout 5 pytest; echo ok
bash -c 'pytest; true'
env PYTEST_ADDOPTS=--co pytest
ruff check --exit-zero
ruff --version
ruff check --show-files
flake8 --exit-zero
pylint --exit-zero a.py
mypy --no-error-summary --non-interactive; true
npm run lint --silent; true
pnpm test --if-present
yarn test --passWithNoTests
mocha --dry-run
tsc --showConfig
tsc --init
tsc --listFilesOnly
go vet -h
cargo check --version
swift test list
swift test --list-tests
mix test --help
deno test --no-run
bun test --help
jest --listTests
pyright --version
pytest --fixtures
python3 -m unittest --help
python3 -m tox --notest
tox run --notest
pytest -k nothing; exit 0"""


@pytest.mark.parametrize("answer", CLAIMS)
def test_a_claim_is_found(answer: str) -> None:
    assert may_claim(answer)
    assert {claim.kind for claim in claims_in(answer)} == CLAIMS[answer]


def test_claims_are_found_in_many_words() -> None:
    assert [one for one in MORE_CLAIMS if not (may_claim(one) and claims_in(one))] == []
    assert [one for one in MORE_NO_CLAIMS if claims_in(one)] == []
    assert [one for one in UNHEARD_CLAIMS if not (may_claim(one) and claims_in(one))] == []
    assert [one for one in UNHEARD_NO_CLAIMS if claims_in(one)] == []


def test_a_run_and_how_well_it_ended_are_two_claims() -> None:
    good = "I executed the script and got the expected result, 3."
    assert {one.kind for one in claims_in(good)} == {"ran", "verified"}
    assert {one.kind for one in claims_in("I executed the script.")} == {"ran"}


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


def test_no_list_of_tests_and_no_run_without_them_proves_anything() -> None:
    assert [command for command in LISTS.split("\n") if proves(command)] == []
    for runs in (
        *("tox run -e py311", "nox -s tests", "gradle test -x lint", "./gradlew check", "go test"),
        *(
            "go test -count=1 ./...",
            "npx vitest run",
            "dotnet test",
            "ctest --output-on-failure",
            "bats tests",
        ),
        *(
            "mvn -q clean verify",
            "cargo +stable test",
            "swift test",
            "jest --ci",
            "cargo test -p list",
            "pytest -k list",
        ),
    ):
        assert proves(runs), runs


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
    assert grey_reason("npm test", 127) == "not there"
    assert grey_reason("python3 -m pytest", 5) == "no tests"
    assert grey_reason("python3 -m pytest", 1, "/usr/bin/python3: No module named pytest\n")
    assert grey_reason("sleep 100", None) == "unfinished"
    assert not says_red("sleep 100", None)
    assert grey_reason("true", 0) == ""


@pytest.mark.parametrize(
    "output",
    [
        "\n-----\nRan 0 tests in 0.000s\n\nOK\n",
        "?   \tx\t[no test files]\n",
        "ok  \tx\t0.002s [no tests to run]\n",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n\n   Doc-tests x\n\n"
        "running 0 tests\n",
        "# tests 0\n# pass 0\n",
        "\N{INFORMATION SOURCE} tests 0\n",
        "  0 passing (1ms)\n",
    ],
)
def test_a_runner_that_found_no_test_and_ends_well_proves_nothing(output: str) -> None:
    assert grey_reason("make test", 0, output) == "no tests"
    for some in (
        "Ran 3 tests in 0.1s\n",
        "ok  \tx/a\t0.003s\n",
        "ok  \tx/a\t(cached)\n",
        "running 2 tests\n",
        "# tests 4\n",
        "  4 passing (1ms)\n",
        "=== 3 passed in 0.1s ===\n",
    ):
        assert grey_reason("make test", 0, some + output) == ""
        assert grey_reason("make test", 0, output + some) == ""
        assert says_red("make test", 1, output + some)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (
            "make test",
            "make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n",
        ),
        (
            "make",
            "make[1]: *** [GNUmakefile:9: lint] Error 127\nmake: *** [Makefile:2: test] Error 2\n",
        ),
        (
            "cargo test",
            "error: no matching package named `serde`\nAs a reminder, you're using offline mode\n",
        ),
        (
            "cargo test",
            "error: rustup could not choose a version of cargo to run, because one wasn't "
            "specified explicitly, and no default is configured.\n",
        ),
        ("cargo test", "error: toolchain 'nightly-x86_64-unknown-linux-gnu' is not installed\n"),
        ("go test ./...", "a.go:3:8: module lookup disabled by GOPROXY=off\n"),
        ("tox -q", "ERROR: No matching distribution found for pytest\n"),
    ],
)
def test_a_check_that_lacks_what_it_needs_says_nothing(command: str, output: str) -> None:
    assert grey_reason(command, 2, output) == "not there"
    assert says_red(command, 2, "make: *** [Makefile:2: test] Error 1\n")


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
    assert held("I ran `echo 12 passed`.", ECHOED) == [(True, "receipt")]
    assert held("I ran `echo`.", ECHOED) == [(False, "nothing")]
    assert held("I ran the tests with `echo 12 passed`.", ECHOED) == [(False, "nothing")]
    assert held("I ran the tests.", ECHOED) == [(False, "nothing")]
    assert held("I executed the script.", ECHOED) == [(False, "nothing")]
    assert held("I ran the tests.", OUTDATED) == [(False, "nothing")]
    assert held("I ran the tests.", FAILED) == [(True, "receipt")]


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


def test_what_only_speaks_of_tests_is_told_from_what_claims_them() -> None:
    assert [one for one in CLAIMS_OF_TESTS if not claims_in(one)] == []
    assert [one for one in OF_TESTS if claims_in(one)] == []


def test_claims_in_odd_words_are_heard() -> None:
    assert [one for one in ODD_CLAIMS if not (may_claim(one) and claims_in(one))] == []
    assert [one for one in ODD_NO_CLAIMS if may_claim(one) and claims_in(one)] == []


def test_no_claim_and_no_command_is_tried_in_ever_more_ways() -> None:
    assert claims_in(f"通过{'1' * 60}x") == []
    assert claims_in(f"通过{'全部 12 项' * 60}x") == []
    assert not proves("timeout 10 " * 60 + "x")
