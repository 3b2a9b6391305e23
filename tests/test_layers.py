"""The rules about who may know whom, checked by reading the imports."""

from __future__ import annotations

import ast
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


def module_of(path: Path) -> str:
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_of(path): path for path in SOURCES}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


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
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[tuple[str, str]] = set()
    whole: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            whole |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in MODULES:
                    whole[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    found.add((node.module, alias.name))
    for node in ast.walk(tree):
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
            yield f"{module}.{name} is not in EXPORTS of {name_of(MODULES[package])}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_what_a_package_exports_is_imported_from_outside(path: Path) -> None:
    assert list(not_exported(path)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_exports_nothing_that_nobody_imports(package: str) -> None:
    used = {
        use
        for importer, path in MODULES.items()
        for use in used_names(path)
        if door(use[0], importer) == package
    }
    for module, names in exports(package).items():
        assert [name for name in names if (f"{package}.{module}", name) not in used] == [], module
