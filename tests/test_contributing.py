"""The feature that CONTRIBUTING.md walks through, made of the blocks that stand there, and used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.simulator import Call, Say, Simulator

ROOT = Path(__file__).parents[1]
PRODUCT = ("core", "modules", "utils", "prompts", "static", "templates", "main.py", "config.py")
BLOCK = re.compile(
    r"^\*\*`(?P<path>[^`]+)`\*\*.*?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PATIENCE = 120.0


def blocks() -> dict[str, tuple[str, str]]:
    """Return the kind and the text of each block of the walk, by the file that it is for."""
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = told.partition("## A small feature, whole\n")[2].partition("\n## ")[0]
    return {found["path"]: (found["kind"], found["text"]) for found in BLOCK.finditer(walk)}


def apply(folder: Path, path: str, kind: str, text: str) -> None:
    """Do what a block says to the file *path* of the product in *folder*."""
    file = folder / path
    match kind:
        case "python":
            assert not file.exists()
            file.write_text(text, encoding="utf-8")
        case "diff":
            subprocess.run(["git", "apply", "-"], cwd=folder, input=text, text=True, check=True)
        case "json":
            said = json.loads(file.read_text(encoding="utf-8"))
            new = json.loads(text)
            assert not said.keys() & new.keys()
            file.write_text(json.dumps(said | new, ensure_ascii=False), encoding="utf-8")
        case _:
            pytest.fail(f"nobody knows what a block of {kind} is for")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product that has the feature."""
    folder = tmp_path_factory.mktemp("product")
    for name in PRODUCT:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder / name)
    made = blocks()
    assert list(made) == [
        *("modules/word_count.py", "config.py", "modules/toolbox.py", "static/i18n/zh.json")
    ]
    for path, (kind, text) in made.items():
        apply(folder, path, kind, text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("a word or two of mine\n")
    return folder


def environment(project: Path, **more: str) -> dict[str, str]:
    fixed = {
        "ONEFOLD_DATA_DIR": str(project.parent / "data"),
        "ONEFOLD_BOOTSTRAP": "0",
        "DEEPSEEK_API_KEY": "sk-test",
        "ONEFOLD_LANG": "en",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {**os.environ, **fixed, **more}


def onefold(product: Path, project: Path, *argv: str, **more: str) -> str:
    """Run the product to its end; return what it printed."""
    done = subprocess.run(
        [sys.executable, str(product / "main.py"), *argv],
        cwd=project,
        env=environment(project, **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_person_has_the_command_the_card_and_the_setting(product: Path, project: Path) -> None:
    task = ("-p", "/wordcount notes.txt")
    assert onefold(product, project, *task).split() == ["Words", "notes.txt", "6"]
    more = {"ONEFOLD_WORD_LETTERS": "3", "ONEFOLD_LANG": "zh"}
    assert onefold(product, project, *task, **more).split() == ["词数", "notes.txt", "3"]
    assert "/wordcount PATH" in onefold(product, project, "-p", "/help")
    assert "统计文件的词数。" in onefold(product, project, "-p", "/tools", ONEFOLD_LANG="zh")


def test_the_model_has_the_tool(product: Path, project: Path) -> None:
    with Simulator([Call("count_words", path="notes.txt"), Say("Six.")]) as server:
        told = onefold(
            product,
            project,
            *("-p", "How many words?", "--output", "stream-json", "--fast"),
            DEEPSEEK_BASE_URL=server.url,
        )
        first, second = (json.loads(request.raw) for request in server.requests)
    offered = [tool["function"] for tool in first["tools"]]
    answer = second["messages"][-1]["content"]
    (count,) = [tool for tool in offered if tool["name"] == "count_words"]
    assert count["description"] == "Count the words of a text file."
    assert answer == "notes.txt has 6 words."
    events = [json.loads(line) for line in told.splitlines()]
    (finished,) = [event for event in events if event["type"] == "ToolFinished"]
    assert finished["card"]["title"] == "Words"


@contextmanager
def served(product: Path, project: Path) -> Iterator[dict[str, Any]]:
    """Serve the page; yield what the server tells programs of itself."""
    command = [sys.executable, str(product / "main.py"), "--web", "--offline", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=project, env=environment(project), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        assert any("/login?token=" in line for line in process.stdout)
        (file,) = (project.parent / "data").glob("server-*.json")
        yield json.loads(file.read_bytes())
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


def asked(about: dict[str, Any], method: str, path: str, **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {about['token']}", "Content-Type": "application/json"}
    sent = json.dumps(body).encode() if method == "POST" else None
    request = Request(f"{about['url'].rstrip('/')}{path}", sent, headers, method=method)
    with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - of ours, on loopback
        return json.loads(answer.read())


def test_the_page_has_all_of_it(product: Path, project: Path) -> None:
    with served(product, project) as about:
        tool = asked(about, "GET", "/api/status")["tools"]["count_words"]
        commands = asked(about, "GET", "/api/commands")["commands"]
        session = asked(about, "POST", "/api/sessions")["id"]
        line = "/wordcount notes.txt"
        answer = asked(about, "POST", f"/api/sessions/{session}/command", line=line)
    assert (tool["verb"]["template"], tool["subject"]) == ("Count words", "{path}")
    assert "/wordcount" in [command["name"] for command in commands]
    assert answer["done"]
    assert answer["card"]["rows"] == [["notes.txt", "6"]]


def test_each_sentence_of_it_is_said_in_chinese(product: Path) -> None:
    chinese = json.loads((product / "static/i18n/zh.json").read_text(encoding="utf-8"))
    code = blocks()["modules/word_count.py"][1]
    said = re.findall(r'phrase\(\s*"([^"]+)"', code)
    said += re.findall(r'@command\("[^"]+", "([^"]+)"', code)
    assert len(said) == 5
    assert not [sentence for sentence in said if sentence not in chinese]
