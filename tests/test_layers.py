"""The rules about who may know whom, checked by reading the imports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STOREYS = ["utils", "core", "modules", "main"]
SOURCES = sorted(
    [
        *(path for storey in STOREYS for path in (ROOT / storey).rglob("*.py")),
        ROOT / "main.py",
        ROOT / "config.py",
    ]
)
AT_HOME = {
    "flask": ("modules/web/",),
    "flask_socketio": ("modules/web/",),
    "eventlet": ("modules/web/",),
    "rich": ("modules/cli/",),
    "click": ("modules/cli/",),
    "prompt_toolkit": ("modules/cli/",),
    "openai": ("utils/llm/openai_api/chat_completions.py",),
    "anthropic": ("utils/llm/anthropic_api/anthropic.py",),
    "httpx2": ("utils/",),
    "tavily": ("modules/search_engine.py",),
    "PIL": ("modules/pictures/worker.py",),
    "config": ("main.py", "modules/assembly.py", "modules/toolbox.py"),
    "asyncio": (),
}
"""Where each of these may be imported, by the beginning of the path."""
READS_THE_ENVIRONMENT = {"config.py", "utils/bootstrap.py", "modules/web/servers/event_loop.py"}
"""The bootstrap runs before there are settings; the hub tells eventlet something by it."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path, *, at_run_time: bool = True) -> set[str]:
    """Return what *path* imports, *at_run_time* without what only the type checker sees."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if at_run_time:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                node.body = []
    found = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_only_look_down(path: Path) -> None:
    top = name_of(path).split("/")[0].removesuffix(".py")
    tops = {module.split(".")[0] for module in imports(path, at_run_time=False)}
    above = STOREYS[STOREYS.index(top) + 1 :] if top in STOREYS else STOREYS[1:]
    assert not tops & set(above)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_library_stays_in_its_room(path: Path) -> None:
    for module in imports(path, at_run_time=False):
        homes = AT_HOME.get(module.split(".")[0])
        assert homes is None or name_of(path).startswith(homes), module


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_the_settings_read_the_environment(path: Path) -> None:
    words = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    }
    assert name_of(path) in READS_THE_ENVIRONMENT or not words & {"environ", "getenv", "environb"}


def test_no_module_imports_itself_in_a_circle() -> None:
    names = {name_of(p).removesuffix(".py").removesuffix("/__init__").replace("/", "."): p
             for p in SOURCES}  # fmt: skip
    graph = {name: imports(path) & names.keys() - {name} for name, path in names.items()}
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way, name))
        if name not in done:
            for other in graph[name]:
                visit(other, (*way, name))
            done.add(name)

    for name in graph:
        visit(name, ())
