"""What a start does not load: each thing on the way to the prompt and the first request costs."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator import Say, Simulator

ROOT = Path(__file__).parents[1]
TO_PROMPT = """
import json, os, sys
from modules.assembly.start import run
from modules.cli.args import parse
from modules.cli.input.prompt import Prompt
from modules.translator import Translator

def on_first_render(prompt, app):
    sys.stderr.write(json.dumps(sorted(sys.modules)))
    sys.stderr.flush()
    os._exit(0)

Prompt._on_first_render = on_first_render
translator = Translator.of("en")
parse(["--cli"], translator, version=str)
run(["--cli", "--project", sys.argv[1]], translator)
"""
TO_REQUEST = """
import gc, json, sys
from main import main

sys.argv[1:], argv = ["--version"], sys.argv[1:]
main()  # from here on garbage is looked for as a start wants it
before = gc.get_stats()[0]["collections"]
from modules.assembly import model

create = model.client_factories

def client_factories(settings, profiles):
    from utils.llm.endpoint import Endpoint
    post = Endpoint._post

    def told(endpoint, body, below):
        collections = gc.get_stats()[0]["collections"] - before
        sys.stderr.write(json.dumps([sorted(sys.modules), collections]))
        return post(endpoint, body, below)

    Endpoint._post = told
    return create(settings, profiles)

model.client_factories = client_factories
sys.argv[1:] = ["-p", "hi", "--project", *argv]
main()
"""
FOR_CALLS = (
    "modules.agents.work",
    "modules.assembly.racers",
    "modules.checkpoints.checkpoints",
    "modules.checkpoints.restore",
    "modules.checkpoints.store",
    "modules.checkpoints.undo.journal",
    "modules.checkpoints.undo.selector",
    "modules.checkpoints.undo.undo_results",
    "modules.delegation.report",
    "modules.files.single_byte",
    "modules.git.commit_hooks",
    "mcp",
    "modules.jobs.job",
    "modules.mcp_client.servers",
    "modules.race.kept_races",
    "modules.sandbox.backends.bubblewrap",
    "modules.sandbox.git.protection",
    "modules.sandbox.network.proxy",
    "modules.sandbox.run.execution",
    "modules.sandbox.sandbox",
    "modules.sandbox.toolchains",
    "modules.sent_requests.prompt_cards",
    "modules.sent_requests.prompt_parts",
    "modules.sent_requests.steps",
    "modules.cli.render.cards.prompt_rows",
    "PIL",
    "eventlet",
    "flask",
    "markdown_it",
    "pygments",
    "tavily",
    "utils.system.child",
)
"""What calls, helpers, races, undo, the page and long answers need, by the packages and modules."""
FOR_MISTAKES = ("click.shell_completion", "difflib")
"""What only a shell, or who mistypes a name, makes us need."""
FOR_MODEL = (
    *("openai", "pydantic", "httpx2", "http.client", "email"),
    *("utils.api_client", "utils.llm.api", "utils.llm.http", "utils.llm.openai_api"),
)


def environment(folder: Path, url: str = "http://127.0.0.1:9") -> dict[str, str]:
    return {
        **os.environ,
        "ONEFOLD_DATA_DIR": str(folder / "data"),
        "DEEPSEEK_API_KEY": "k",
        "DEEPSEEK_BASE_URL": url,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


def loaded_at_prompt(folder: Path) -> set[str]:
    """Return the modules that a dialogue has loaded when its prompt is drawn."""
    terminal, keyboard = pty.openpty()
    try:
        ended = subprocess.run(
            [sys.executable, "-c", TO_PROMPT, str(folder / "project")],
            cwd=ROOT, env=environment(folder), stdin=keyboard, stdout=keyboard,
            stderr=subprocess.PIPE, check=True, timeout=300,
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(keyboard)
    return set(json.loads(ended.stderr))


def of(modules: set[str], *names: str) -> list[str]:
    """Return those of *modules* that are one of *names*, or in it."""
    return sorted(one for one in modules if any(f"{one}.".startswith(f"{n}.") for n in names))


def test_the_prompt_needs_no_model_no_sandbox_and_no_checkpoint(folder: Path) -> None:
    loaded_at_prompt(folder)  # the first time on a machine the sandbox is tried out
    modules = loaded_at_prompt(folder)
    assert "prompt_toolkit" in modules
    needless = (*FOR_CALLS, *FOR_MISTAKES, *FOR_MODEL, "rich", "concurrent.futures.process")
    assert of(modules, *needless) == []


def test_a_first_request_needs_no_dialogue_and_few_types_of_the_sdk(folder: Path) -> None:
    with Simulator([Say("ok")]) as server:
        ended = subprocess.run(
            [sys.executable, "-c", TO_REQUEST, str(folder / "project")],
            cwd=ROOT, env=environment(folder, server.url), stdin=subprocess.DEVNULL,
            capture_output=True, check=True, timeout=300,
        )  # fmt: skip
    loaded, collections = json.loads(ended.stderr)
    assert collections == 0, "a start makes more objects than `main` puts off looking through"
    modules = set(loaded)
    assert "openai" in modules
    needless = ("openai.types.beta", "openai.types.responses.response", "openai.types.batch")
    assert of(modules, *FOR_CALLS, "prompt_toolkit", "rich", *needless) == []
    assert len(of(modules, "openai.types")) < 150  # of some 470
