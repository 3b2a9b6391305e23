"""Import of the package `openai` without the hundreds of types that it lists for typed programs.

`openai` loads all of `openai.types` at once, more than half of its time and memory, and we send and
read bytes. Here such a list of names is loaded as the package means it, but when the first name
of it is asked for; what is imported from below it directly is loaded as ever.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

TYPE_LISTS = ("openai.types", "openai.types.responses", "openai.types.shared")
"""Packages of which an import of `openai` needs no name."""

_lock = threading.RLock()


@contextmanager
def deferred_types() -> Iterator[None]:
    """Let an import of `openai` in this block load the `TYPE_LISTS` at their first use only.

    Nothing changes where the package is loaded already, or is another version without them.
    """
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in TYPE_LISTS:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _DeferringLoader(spec.loader)
        return spec


class _DeferringLoader(Loader):
    """Makes a module that has *loader* execute it when a name is asked for that it lacks."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        loader = module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = loader

        is_loading = False

        def load(name: str) -> Any:
            nonlocal is_loading
            with _lock:
                if is_loading:  # by this thread: the names below it are not there yet
                    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
                if vars(module).get("__getattr__") is load:
                    is_loading = True
                    try:
                        loader.exec_module(module)
                    finally:
                        is_loading = False
                    if vars(module).get("__getattr__") is load:  # else it has one of its own
                        del module.__getattr__
            return getattr(module, name)

        module.__getattr__ = load  # type: ignore[method-assign]
