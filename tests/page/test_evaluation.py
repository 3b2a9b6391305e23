"""The page of results of `python3 -m tests.eval`, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.eval.page import page
from tests.eval.tasks import Attempt, State

HOSTILE = "<script>document.title = 'taken'</script>"


def attempt(
    agent: str,
    task: str,
    state: State,
    number: int = 1,
    *,
    hit: int | None = None,
    miss: int | None = None,
    output: int | None = None,
) -> Attempt:
    about = (agent, task, "python", number, state, 2.5, HOSTILE, HOSTILE, 3)
    return Attempt(*about, hit, miss, output)


ATTEMPTS = [
    attempt("onefold", "python/bowling", "failed", hit=10, miss=20, output=5),
    attempt("onefold", "python/bowling", "passed", 2, hit=10, miss=20, output=5),
    attempt("onefold", f"python/{HOSTILE}", "failed", hit=0, miss=7, output=1),
    attempt(HOSTILE, "python/bowling", "unjudged"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_results_opens_alone_in_light_and_dark(
    tmp_path: Path, chromium: Browser, scheme: str
) -> None:
    file = tmp_path / "results.html"
    file.write_text(page(ATTEMPTS, {"model": HOSTILE}), encoding="utf-8")
    context = chromium.new_context(color_scheme="dark" if scheme == "dark" else "light")
    opened = context.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(file.as_uri())
    expect(opened).to_have_title("Evaluation of agents")
    expect(opened.locator("table").first.locator("tr")).to_have_text(
        [
            "agentpassed95 %first tryended badlyrequeststokenscosts/task",
            "onefold1 of 2 (50%)9–9103978unknown3.8",
            f"{HOSTILE}not judged––13unknownunknown2.5",
        ]
    )
    expect(opened.locator("svg")).to_have_count(3)
    expect(opened.locator("svg").nth(2).locator("circle")).to_have_count(3)
    expect(opened.locator("td.passed")).to_have_text("✓ try 2")
    back = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 28)"}[scheme]
    assert asked == [file.as_uri()]
    context.close()
