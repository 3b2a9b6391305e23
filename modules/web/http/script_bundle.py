"""Scripts of the page in one, for a page that can fetch none: the modules that one needs, joined.

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
const __import = async (from, name) =>
  __require(new URL(name, `file:///${from}`).pathname.slice(1));
"""


class Bundle:
    """The modules below *folder* that *entry* needs, of its libraries only those named."""

    def __init__(self, folder: Path, libraries: Iterable[str]) -> None:
        self._folder = folder
        self._libraries = tuple(f"vendor/{name}@" for name in libraries)
        self._modules: dict[str, str] = {}

    def script(self, entry: str) -> str:
        """Return one module that does what *entry* does, and can stand in a page."""
        begin = self._body(entry)
        modules = "".join(
            f'"{name}": () => {{\n{body}\n}},\n' for name, body in sorted(self._modules.items())
        )
        script = f"const __modules = {{\n{modules}}};\n{_RUN}{begin}"
        return _ENDS_SCRIPT.sub(r"\\x3c", script)

    def _add(self, name: str) -> None:
        if name not in self._modules:
            self._modules[name] = ""  # so that a circle ends here
            self._modules[name] = self._body(name)

    def _body(self, name: str) -> str:
        text = (self._folder / name).read_text(encoding="utf-8")
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
        for quote, target in _DYNAMIC.findall(text):
            self._add_dynamic(name, target, is_pattern=quote == "`")
        text = _DYNAMIC.sub(
            lambda found: f'__import("{name}", {found[1]}{found[2]}{found[1]})', text
        )
        exports = [declared for _, declared in _DECLARATION.findall(text)]
        for names, _ in _REEXPORT.findall(text):
            exports += [public for _, public in _pairs(names)]
        text = _REEXPORT.sub(lambda found: self._imported(name, found[1], found[2]), text)
        text = _IMPORT.sub(lambda found: self._imported(name, found[1], found[2]), text)
        text = _DECLARATION.sub(r"\1 \2", text)
        if left := _LEFT.search(text):
            raise ValueError(f"{name} has a form of import or export that is not known: {left[0]}")
        return f"{text}\nreturn {{ {', '.join(exports)} }};" if exports else text

    def _imported(self, name: str, names: str | None, target: str) -> str:
        module = _resolved(name, target)
        self._add(module)
        got = f"const {{ {_properties(_pairs(names))} }} = " if names else ""
        return f'{got}__require("{module}");'

    def _add_dynamic(self, name: str, target: str, *, is_pattern: bool) -> None:
        module = _resolved(name, target)
        if module.startswith("vendor/") and not module.startswith(self._libraries):
            return
        for each in self._matching(module) if is_pattern else [module]:
            self._add(each)

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
    return Bundle(folder, libraries).script(entry)


def _resolved(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return each name of an import or export list, and what it is called on the other side."""
    parts = [each.split() for each in names.split(",") if each.strip()]
    return [(part[0], part[-1]) for part in parts]


def _properties(pairs: Iterable[tuple[str, str]]) -> str:
    """Return *pairs* of a property and a variable as the inside of an object."""
    return ", ".join(key if key == value else f"{key}: {value}" for key, value in pairs)
