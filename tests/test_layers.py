"""The rules about who may know whom, checked by reading the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
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
    "acp": ("modules/acp/",),
    "mcp": ("modules/mcp_client/", "modules/mcp_server/"),
    "mcp_types": ("modules/mcp_client/", "modules/mcp_server/"),
    "anyio": ("modules/mcp_client/", "modules/mcp_server/"),
    "pydantic": ("modules/acp/", "modules/mcp_client/", "modules/mcp_server/"),
    "httpx2": ("utils/", "modules/mcp_client/"),
    "tavily": ("modules/search_engine.py",),
    "PIL": ("modules/pictures/worker.py", "modules/documents/worker/"),
    **dict.fromkeys(
        ("docx", "fontTools", "fpdf", "lxml", "openpyxl", "pptx", "pypdfium2"),
        ("modules/documents/worker/",),
    ),
    "config": ("main.py", "modules/assembly/", "modules/toolbox.py"),
    "asyncio": (
        "modules/acp/",
        "modules/mcp_client/",
        "modules/mcp_server/",
        "modules/stdio_server/",
        "modules/web/servers/tls_front.py",
    ),
    "segno": ("modules/web/pairing/qr_code.py",),
}
"""Where each of these may be imported, by the beginning of the path."""
READS_THE_ENVIRONMENT = {"config.py", "utils/bootstrap.py", "modules/web/servers/event_loop.py"}
"""The bootstrap runs before there are settings; the hub tells eventlet something by it."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_of(path): path for path in SOURCES}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def seen_by_the_type_checker_alone(nodes: list[ast.AST]) -> set[ast.AST]:
    return {
        below
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for below in ast.walk(statement)
    }


@cache
def imports(path: Path, *, at_run_time: bool = True) -> frozenset[str]:
    """Return what *path* imports, *at_run_time* without what only the type checker sees."""
    nodes = nodes_of(path)
    left_out = seen_by_the_type_checker_alone(nodes) if at_run_time else set()
    found: set[str] = set()
    for node in nodes:
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def test_imports_only_look_down() -> None:
    assert [found for path in SOURCES for found in looks_up(path)] == []


def looks_up(path: Path) -> Iterator[str]:
    top = name_of(path).split("/")[0].removesuffix(".py")
    above = STOREYS[STOREYS.index(top) + 1 :] if top in STOREYS else STOREYS[1:]
    for module in sorted(imports(path, at_run_time=False)):
        if module.split(".")[0] in above:
            yield f"{name_of(path)} imports {module}"


def test_a_library_stays_in_its_room() -> None:
    assert [found for path in SOURCES for found in libraries_away(path)] == []


def libraries_away(path: Path) -> Iterator[str]:
    for module in sorted(imports(path, at_run_time=False)):
        homes = AT_HOME.get(module.split(".")[0])
        if homes is not None and not name_of(path).startswith(homes):
            yield f"{name_of(path)} imports {module}"


def test_only_the_settings_read_the_environment() -> None:
    readers = {name_of(path) for path in SOURCES if reads_the_environment(path)}
    assert readers - READS_THE_ENVIRONMENT == set()


def reads_the_environment(path: Path) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("environ", "getenv", "environb")
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        for node in nodes_of(path)
    )


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {name: imports(path) & MODULES.keys() - {name} for name, path in MODULES.items()}
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way, name))
        if name not in done:
            for other in graph[name]:
                visit(other, (*way, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@cache
def used_names(path: Path) -> set[tuple[str, str]]:
    """Return the modules of ours that *path* imports, each with each name that it uses of them."""
    found: set[tuple[str, str]] = set()
    whole: dict[str, str] = {}
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            whole |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in MODULES:
                    whole[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    found.add((node.module, alias.name))
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and (module := whole.get(ast.unparse(node.value))):
            found.add((module, node.attr))
    return {(module, name) for module, name in found if module in MODULES}


def door(module: str, importer: str) -> str | None:
    """Return the package whose exports *importer* is held to when it imports *module*, if any.

    That is the outermost one around *module* that *importer* is not in itself: a package speaks for
    its rooms, and a room only to those it shares the package with. A storey (`core`, `modules`,
    `utils`) is no package of its own; it speaks for the files that lie directly in it.
    """
    around = [name for name in PACKAGES if module.startswith(f"{name}.")]
    apart = sorted(name for name in around if not f"{importer}.".startswith(f"{name}."))
    beneath = [name for name in apart if name not in STOREYS]
    return next(iter(beneath or apart), None)


@cache
def exports(package: str) -> dict[str, list[str]]:
    """Return `EXPORTS` of *package*: the names that others may import, by module."""
    for node in ast.parse(MODULES[package].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPORTS":
            declared: dict[str, list[str]] = ast.literal_eval(node.value)
            return declared
    return {}


def not_exported(path: Path) -> Iterator[str]:
    for module, name in sorted(used_names(path)):
        package = door(module, module_of(path))
        if package and name not in exports(package).get(module.removeprefix(f"{package}."), ()):
            exporter = name_of(MODULES[package])
            yield f"{name_of(path)}: {module}.{name} is not in EXPORTS of {exporter}"


def test_only_what_a_package_exports_is_imported_from_outside() -> None:
    assert [found for path in SOURCES for found in not_exported(path)] == []


def test_a_package_exports_nothing_that_nobody_imports() -> None:
    used = {
        (door(module, importer), module, name)
        for importer, path in MODULES.items()
        for module, name in used_names(path)
    }
    assert [
        f"{package}.{module}.{name}"
        for package in PACKAGES
        for module, names in exports(package).items()
        for name in names
        if (package, f"{package}.{module}", name) not in used
    ] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_of_a_package_names_what_is_there(package: str) -> None:
    source = MODULES[package]
    told = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    files = {path.stem for path in source.parent.glob("*.py")} - {"__init__"}
    rooms = {f"{path.parent.name}/" for path in source.parent.glob("*/__init__.py")}
    assert set(re.findall(r"^- ([\w/]+)", told, re.MULTILINE)) == files | rooms
