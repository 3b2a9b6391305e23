"""A first visit without a key: where it is entered, and what works without one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from config import load
from tests.modules.web.test_serve import ROOT, started
from tests.page.accessibility import faults
from tests.page.request_holding import HeldRequests


@contextmanager
def first_visit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start the server in the empty *folder*, without a key; yield its login link."""
    environment = {"ONEFOLD_DATA_DIR": str(folder / "data"), "ONEFOLD_BOOTSTRAP": "0"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    (folder / "project").mkdir()
    command = [sys.executable, str(ROOT / "main.py"), "--web", "--port", "0"]
    with started(folder, argv=[*command, "--project", str(folder / "project")]) as (_, link):
        yield link


def test_the_practice_model_answers_until_a_key_is_saved(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    with first_visit(tmp_path, monkeypatch) as link:
        page = chromium.new_page()
        page.goto(link)
        expect(page.get_by_role("heading", name="Choose a model to start")).to_be_visible()
        expect(page.get_by_label("Your key from platform.deepseek.com")).to_be_editable()
        assert faults(page) == []
        held = HeldRequests(page, "**/api/status")  # the session is there before it
        page.reload(wait_until="commit")
        held.wait()
        expect(page.locator(".welcome")).to_be_visible()
        held.release()
        page.get_by_role("button", name="Try the practice model").click()
        page.get_by_role("button", name="describe this folder").click()
        expect(page.locator(".end")).to_have_count(1)
        expect(page.locator(".statusbar .practice")).to_be_visible()
        page.keyboard.press("Control+,")
        key = page.locator("#setting-deepseek_api_key")
        key.fill("sk-made-up-key")
        key.press("Enter")
        row = page.locator("[data-setting=deepseek_api_key]")
        expect(row).to_contain_text("from the file")
        page.keyboard.press("Escape")
        expect(page.locator(".statusbar .practice")).to_be_hidden()
        expect(page.locator(".composer .model-choice")).to_have_text("deepseek-flash")
        page.close()
    kept = load(environment={"ONEFOLD_DATA_DIR": str(data)}, dotenv=data / ".env")
    assert kept.deepseek_api_key == "sk-made-up-key"
