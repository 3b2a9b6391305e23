"""Looking at files without running them; this file runs in the sandbox, by itself.

It is given paths from the project's folder, and prints a line for each file that cannot be parsed,
and for each import from the project's own modules that finds nothing.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 1_000_000
"""Of a file; a larger one is not looked at."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_NOT_PLAIN_JSON = ("tsconfig", "jsconfig", ".eslintrc", ".babelrc", "devcontainer", ".swcrc")


def problems_in(path: str) -> list[str]:
    """Return what is wrong with the file *path*, a line for each thing."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return []
    if len(data) > MAX_BYTES:
        return []
    look = _LOOKS.get(path.rpartition(".")[2].lower())
    return look(path, data) if look else []


def _python(path: str, data: bytes) -> list[str]:
    try:
        tree = ast.parse(data, path)
    except SyntaxError as error:
        return [f"{path}:{error.lineno}: {error.msg}"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"{path}: {error}"]
    return [] if path.endswith(".pyi") else list(_broken_imports(path, tree))


def _broken_imports(path: str, tree: ast.AST) -> Iterator[str]:
    """Yield what the module at *path* imports from the project that is not there.

    What may fail by intent (in a `try`, or below an `if`) is left out.
    """
    for node in getattr(tree, "body", ()):
        if not isinstance(node, ast.ImportFrom):
            continue
        module = _own_module(path, node)
        names = _names_in(module) if module else set()
        if module is None or not names:
            continue
        for alias in node.names:
            if alias.name != "*" and alias.name not in names and not _submodule(module, alias.name):
                yield f"{path}:{node.lineno}: {module} has no {alias.name!r} to import"


def _own_module(path: str, node: ast.ImportFrom) -> Path | None:
    """Return the file of the module that *node* imports from, None where it is none of ours."""
    parts = node.module.split(".") if node.module else []
    folder = Path(path).parent
    if node.level:
        bases = [folder.joinpath(*[".."] * (node.level - 1))]
    else:
        bases = [folder, Path(), Path("src")]
    for base in bases:
        place = base.joinpath(*parts)
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if parts and file.is_file():
                return file
    return None


def _submodule(module: Path, name: str) -> bool:
    folder = module.parent
    return module.name == "__init__.py" and (
        (folder / name).is_dir() or any(folder.glob(f"{name}.*"))
    )


def _names_in(module: Path) -> set[str]:
    """Return all names that *module* may define; nothing where nobody can tell."""
    try:
        tree = ast.parse(module.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = {"__file__", "__doc__", "__name__", "__path__"}
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, _IMPORTS):
            names |= {one.asname or one.name.partition(".")[0] for one in node.names}
    return set() if _is_dynamic(tree, names) else names


def _is_dynamic(tree: ast.AST, names: set[str]) -> bool:
    """Return whether names come into a module otherwise than by being written in it."""
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool({"*", "__getattr__"} & names or {"globals", "vars", "setattr", "exec"} & called)


def _json(path: str, data: bytes) -> list[str]:
    name = path.rpartition("/")[2]
    if name.startswith(_NOT_PLAIN_JSON) or ".vscode/" in path or not data.strip():
        return []
    try:
        json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return [f"{path}: {error}"]
    return []


def _toml(path: str, data: bytes) -> list[str]:
    try:
        import tomllib
    except ImportError:
        return []
    try:
        tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        return [f"{path}: {error}"]
    return []


def _yaml(path: str, data: bytes) -> list[str]:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return []
    if b"{{" in data or b"{%" in data:  # a template
        return []
    try:
        for _ in yaml.parse(data):
            pass
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return [f"{path}: {' '.join(str(error).split())}"]
    return []


_LOOKS = {
    **dict.fromkeys(("py", "pyi"), _python),
    **dict.fromkeys(("yaml", "yml"), _yaml),
    **{"json": _json, "toml": _toml},
}

if __name__ == "__main__":
    FOUND = [line for path in json.loads(sys.argv[1]) for line in problems_in(path)]
    sys.stdout.write("".join(f"{line}\n" for line in FOUND[:50]))
    sys.exit(1 if FOUND else 0)
