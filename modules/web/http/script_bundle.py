"""Scripts in one: the modules that a page needs, joined.

Each module becomes a function that is called once, when it is first imported. What `import` and
`export` mean is kept for the forms that the page's own modules and the libraries beside them use;
`bundled` refuses any other, and a circle of imports would not end: a test allows none.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.M)
_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)";$', re.M)
_REEXPORT = re.compile(r'^export \{([^}]*)\} from "([^"]+)";$', re.M)
_DECLARATION = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.M)
_EXPORTS = re.compile(r"\bexport\s*(?:\{([^{}]*)\}|default (\w+));?\s*$")
_DYNAMIC = re.compile(r"\bimport\(([\"`])([^\"`]+)\1\)")
_LEFT = re.compile(r"^(?:import|export)\b(?!\()[^\n]*", re.M)
_ENDS_SCRIPT = re.compile(r"<(?=/?script|!--)", re.I)
_RUN = """\
const __loaded = {};
const __require = (name) => {
  if (!(name in __loaded)) __loaded[name] = __modules[name]();
  return __loaded[name];
};
"""
_IMPORT_BUNDLED = """\
const __import = async (from, name) =>
  __require(new URL(name, `file:///${from}`).pathname.slice(1));
"""


class Bundle:
    """Modules below *folder*, with what they import."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[str, str] = {}
        self._exports: dict[str, list[str]] = {}

    def _table(self) -> str:
        modules = "".join(
            f'"{name}": () => {{\n{body}\n}},\n' for name, body in sorted(self._modules.items())
        )
        return f"const __modules = {{\n{modules}}};\n{_RUN}"

    def _add(self, name: str) -> None:
        if name not in self._modules:
            self._modules[name] = ""  # so that a circle ends here
            self._modules[name] = self._body(name)

    def _text(self, name: str) -> str:
        return (self._folder / name).read_text(encoding="utf-8")

    def _body(self, name: str) -> str:
        text = self._text(name)
        return self._library(text, name) if name.startswith("vendor/") else self._own(text, name)

    def _library(self, text: str, name: str) -> str:
        end = _EXPORTS.search(text)
        if end is None:
            raise ValueError(f"{name} ends with no export")
        names = f"{end[2]} as default" if end[2] else end[1]
        turned = [(public, private) for private, public in _pairs(names)]
        return f"{text[: end.start()]}\nreturn {{ {_properties(turned)} }};"

    def _own(self, text: str, name: str) -> str:
        text = _COMMENT.sub("", text)
        text = _DYNAMIC.sub(lambda found: self._dynamic(name, found[1], found[2]), text)
        exports = [declared for _, declared in _DECLARATION.findall(text)]
        for names, _ in _REEXPORT.findall(text):
            exports += [public for _, public in _pairs(names)]
        text = _REEXPORT.sub(lambda found: self._imported(name, found[1], found[2]), text)
        text = _IMPORT.sub(lambda found: self._imported(name, found[1], found[2]), text)
        text = _DECLARATION.sub(r"\1 \2", text)
        if left := _LEFT.search(text):
            raise ValueError(f"{name} has a form of import or export that is not known: {left[0]}")
        self._exports[name] = exports
        return f"{text}\nreturn {{ {', '.join(exports)} }};" if exports else text

    def _imported(self, name: str, names: str | None, target: str) -> str:
        module = _resolved(name, target)
        self._add(module)
        return _taken(names, module)

    def _dynamic(self, name: str, quote: str, target: str) -> str:
        raise NotImplementedError


class _WholeBundle(Bundle):
    """All that an entry needs, but of the libraries only those named."""

    def __init__(self, folder: Path, libraries: Iterable[str]) -> None:
        super().__init__(folder)
        self._libraries = tuple(f"vendor/{name}@" for name in libraries)

    def script(self, entry: str) -> str:
        """Return one module that does what *entry* does, and can stand in a page."""
        begin = self._body(entry)
        script = f"{self._table()}{_IMPORT_BUNDLED}{begin}"
        return _ENDS_SCRIPT.sub(r"\\x3c", script)

    def _dynamic(self, name: str, quote: str, target: str) -> str:
        module = _resolved(name, target)
        if not module.startswith("vendor/") or module.startswith(self._libraries):
            for each in self._matching(module) if quote == "`" else [module]:
                self._add(each)
        return f'__import("{name}", {quote}{target}{quote})'

    def _matching(self, pattern: str) -> Iterator[str]:
        for path in sorted(self._folder.glob(re.sub(r"\$\{\w+\}", "*", pattern))):
            yield path.relative_to(self._folder).as_posix()


def bundled(folder: Path, entry: str, libraries: Sequence[str]) -> str:
    """Return *entry* below *folder* and all it imports as one module.

    Of the libraries in `vendor/` it holds those of the names *libraries*; asked for another one the
    script gets a rejected promise.

    Raises:
        ValueError: a module imports or exports in a way that is not known here.
    """
    return _WholeBundle(folder, libraries).script(entry)


class PageScripts(Bundle):
    """The scripts of the page as they are served: those of its first picture come in one file.

    Each module is still had under its own address, and is the same one however it is reached: what
    is in the bundle is handed out of it, and what is not imports from it.
    """

    NAME = "js/page.js"
    """Of the bundle, beside the modules; no file has it."""

    def __init__(self, folder: Path, entries: Sequence[str]) -> None:
        """Bundle *entries* with what they import, but for the first, which may wait where it is."""
        super().__init__(folder)
        self._entries = entries
        first, *others = entries
        self._body(first)
        for name in others:
            self._add(name)

    def text(self, name: str) -> str:
        """Return what is served as the module *name*.

        Raises:
            OSError: there is no such module.
        """
        if name == self.NAME:
            return f"{self._table()}export {{ __require }};\n"
        begin = f'import {{ __require }} from "{_relative(self.NAME, to=name)}";'
        if name in self._modules:
            exports = ", ".join(self._exports[name])
            return f'{begin}\nexport const {{ {exports} }} = __require("{name}");\n'
        text = _IMPORT.sub(lambda found: self._from_bundle(name, found), self._text(name))
        return f"{begin} {text}" if "__require(" in text else text

    def _from_bundle(self, name: str, found: re.Match[str]) -> str:
        """Return what stands for an import of the module *name*, on as many lines."""
        module = _resolved(name, found[2])
        if module not in self._modules:
            return found[0]
        return _taken(found[1], module) + "\n" * found[0].count("\n")

    def _own(self, text: str, name: str) -> str:
        here = f'new URL("{_relative(name, to=self.NAME)}", import.meta.url).href'
        return super()._own(text.replace("import.meta.url", here), name)

    def _dynamic(self, name: str, quote: str, target: str) -> str:
        module = _resolved(name, target)
        if module in self._entries:
            return f'Promise.resolve().then(() => __require("{module}"))'
        return f"import({quote}{_relative(module, to=self.NAME)}{quote})"


def _taken(names: str | None, module: str) -> str:
    got = f"const {{ {_properties(_pairs(names))} }} = " if names else ""
    return f'{got}__require("{module}");'


def _relative(name: str, *, to: str) -> str:
    """Return how the module *to* names the module *name*."""
    path = posixpath.relpath(name, posixpath.dirname(to))
    return path if path.startswith(".") else f"./{path}"


def _resolved(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return each name of an import or export list, and what it is called on the other side."""
    parts = [each.split() for each in names.split(",") if each.strip()]
    return [(part[0], part[-1]) for part in parts]


def _properties(pairs: Iterable[tuple[str, str]]) -> str:
    """Return *pairs* of a property and a variable as the inside of an object."""
    return ", ".join(key if key == value else f"{key}: {value}" for key, value in pairs)
