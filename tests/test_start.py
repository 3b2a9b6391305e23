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
import json, sys
from modules.assembly.start import run
from modules.cli.input.prompt import Prompt
from modules.translator import Translator

def read(prompt, *_):
    sys.stderr.write(json.dumps(sorted(sys.modules)))

Prompt.read = read
run(["--cli", "--project", sys.argv[1]], Translator.of("en"))
"""
TO_REQUEST = """
import json, sys
from modules.assembly import model
from modules.assembly.start import run
from modules.translator import Translator

create = model.client_factories

def client_factories(settings):
    from utils.llm.endpoint import Endpoint
    post = Endpoint._post

    def told(endpoint, body, below):
        sys.stderr.write(json.dumps(sorted(sys.modules)))
        return post(endpoint, body, below)

    Endpoint._post = told
    return create(settings)

model.client_factories = client_factories
run(["-p", "hi", "--project", sys.argv[1]], Translator.of("en"))
"""
FOR_CALLS = (
    "modules.checkpoints.checkpoints",
    "modules.checkpoints.restore",
    "modules.checkpoints.store",
    "modules.checkpoints.undo.journal",
    "modules.checkpoints.undo.selector",
    "modules.checkpoints.undo.undo_results",
    "modules.files.single_byte",
    "modules.git.commit_hooks",
    "mcp",
    "modules.jobs.job",
    "modules.mcp_client.servers",
    "modules.sandbox.backends.bubblewrap",
    "modules.sandbox.git.protection",
    "modules.sandbox.network.proxy",
    "modules.sandbox.run.execution",
    "modules.sandbox.sandbox",
    "modules.sandbox.toolchains",
    "modules.sent_requests.prompt_cards",
    "modules.sent_requests.prompt_parts",
    "modules.sent_requests.steps",
    "modules.cli.render.prompt_rows",
    "PIL",
    "eventlet",
    "flask",
    "markdown_it",
    "pygments",
    "tavily",
    "utils.system.child",
)
"""What calls, undo, the page and long answers need, by the packages and modules."""
FOR_MISTAKES = ("click.shell_completion", "difflib")
"""What only a shell, or who mistypes a name, makes us need."""
FOR_MODEL = ("openai", "pydantic", "httpx2", "http.client", "email", "utils.llm.http.errors")


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
    """Return the modules that a dialogue has loaded when its prompt reads the first line."""
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
    modules = set(json.loads(ended.stderr))
    assert "openai" in modules
    needless = ("openai.types.beta", "openai.types.responses.response", "openai.types.batch")
    assert of(modules, *FOR_CALLS, "prompt_toolkit", "rich", *needless) == []
    assert len(of(modules, "openai.types")) < 150  # of some 470
