"""Fixtures of all tests. In CI (ONEFOLD_NO_SKIP) a skipped test is a failure."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from core.main_terminal import MainTerminal
from tests.campaign import FIRST, examples
from tests.noting.request_order import ORDER_ERROR, watch_requests
from tests.request_validation import RecordedRequests, recipe_error

# A shell has what it begins in the background ignore Ctrl-C, and so would the programs in our
# terminals.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HAS_FAILED = pytest.StashKey[bool]()
RECORDER_FOLDER = Path(__file__).parent / "noting"

# No test fails because the machine is slow, or by an example that the next run would not try.
# In a campaign others are what is wanted; it says how to have them again.
settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "campaign", settings.get_profile("steady"), derandomize=False, max_examples=examples(100)
)
settings.load_profile("campaign" if FIRST else "steady")


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test, and every program it starts, in English and without a key of the person."""
    monkeypatch.setenv("ONEFOLD_LANG", "en")
    for name in ("DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "TAVILY_API_KEY", "TAVILY_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tell what belongs to a campaign, and leave to root what only root can do."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("campaign")
    if os.geteuid() == 0:
        return
    deselected = [item for item in items if item.get_closest_marker("root")]
    config.hook.pytest_deselected(items=deselected)
    items[:] = [item for item in items if item not in deselected]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("ONEFOLD_NO_SKIP"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped: {report.longrepr}"
    if report.failed:
        item.stash[HAS_FAILED] = True
    return report


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Keep the folder of a test that failed only: all of a run would be 1.6 million files.

    Pytest's own setting for it turns a file that appears meanwhile, or a tree too deep, into an
    error of the test.
    """
    yield tmp_path
    if not request.node.stash.get(HAS_FAILED, False):
        with suppress(RecursionError):
            shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="session")
def recorded_requests(tmp_path_factory: pytest.TempPathFactory) -> RecordedRequests:
    return RecordedRequests(tmp_path_factory.mktemp("noted"))


@pytest.fixture(autouse=True)
def _validate_requests(
    monkeypatch: pytest.MonkeyPatch, recorded_requests: RecordedRequests
) -> Generator[None, None, None]:
    """Validate every request that our client writes by DeepSeek's validator, wherever it goes.

    In this process as it is written, in those that a test starts by what they note. Each has to
    begin with the one before in its session, unless Onefold itself has kept why not.
    """
    from utils.llm.openai_api.request import RequestWriter

    write = RequestWriter.write
    refused: list[tuple[str, bytes]] = []

    def judge(body: bytes) -> None:
        if body.startswith(ORDER_ERROR):
            refused.append((body.decode(), b""))
        elif error := recipe_error(body):
            refused.append((error, body[:2000]))

    def judged(self: RequestWriter, *args: Any, **kwargs: Any) -> bytes:
        body = write(self, *args, **kwargs)
        if not self.profile.changes:  # what another server has taught is not for DeepSeek
            judge(body)
        return body

    monkeypatch.setattr(RequestWriter, "write", judged)
    for name in ("build_request", "announce_request"):  # as they were, when the test is over
        monkeypatch.setattr(MainTerminal, name, getattr(MainTerminal, name))
    watch_requests(MainTerminal, lambda error: refused.append((error, b"")))
    monkeypatch.setenv("PYTHONPATH", str(RECORDER_FOLDER), prepend=os.pathsep)
    monkeypatch.setenv("NOTED_REQUESTS", str(recorded_requests.folder))
    yield
    for body in recorded_requests.new():
        judge(body)
    assert not refused
