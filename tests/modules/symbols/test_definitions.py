"""Definitions are found where they are, and in no comment and no string."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.symbols.definitions import definitions_in
from modules.symbols.languages import language_of

ROOT = Path(__file__).parents[3]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def found(path: str, text: str) -> list[tuple[str, str, int]]:
    language = language_of(path)
    assert language
    return [(each.name, each.kind, each.line) for each in definitions_in(text, language)]


def parsed(node: ast.AST, names: tuple[str, ...] = ()) -> Iterator[tuple[str, str, int]]:
    """Yield what Python's own parser says."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            inner = (*names, child.name)
            kind = "type" if isinstance(child, ast.ClassDef) else "function"
            yield ".".join(inner), kind, child.lineno
            yield from parsed(child, inner)
        else:
            yield from parsed(child, names)


@pytest.mark.parametrize("folder", ["core", "utils", "modules/symbols", "tests/core"])
def test_python_is_read_as_its_own_parser_reads_it(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert sorted(found("a.py", text)) == sorted(parsed(ast.parse(text))), path


def test_what_python_only_quotes_or_indents_oddly_is_no_symbol() -> None:
    text = (
        '"""\ndef quoted(): ...\n"""\n'
        "# def commented(): ...\n"
        'text = \'it\\\'s\'; other = """\\"""\nclass Quoted:\n"""\n'
        "if text:\n    def first(): ...\nelse:\n    async def second():\n        class Inner: ...\n"
    )
    assert found("a.py", text) == [
        ("first", "function", 9),
        ("second", "function", 11),
        ("second.Inner", "type", 12),
    ]


LANGUAGES = [
    ("a.ts", "export async function go() {\n  if (x) {\n  }\n}\n", [("go", 1)]),
    ("a.js", "// class No {}\nclass Yes {\n  #kept(a) {\n  }\n}\n", [("Yes", 2), ("#kept", 3)]),
    ("a.js", "const text = `\nfunction no() {\n`;\nexport const f = (a) => a;\n", [("f", 4)]),
    (
        "a.go",
        "type Till struct {\n}\n\nfunc (t *Till) Charge(n int) {\n",
        [("Till", 1), ("Charge", 4)],
    ),
    (
        "a.rs",
        "pub struct A<'a>(&'a str);\nimpl A {\n  pub(crate) async fn go<'a>() {\n",
        [("A", 1), ("go", 3)],
    ),
    (
        "a.c",
        "#define LIMIT 3\nstatic int *add(int a,\n  int b)\n{\n  return b;\n}\nint no(int);\n",
        [("LIMIT", 1), ("add", 2)],
    ),
    (
        "A.java",
        "public class A {\n  private List<String> names(int n) {\n    return go(n);\n  }\n}\n",
        [("A", 1), ("names", 2)],
    ),
    (
        "a.kt",
        "data class A(val n: Int)\nfun String.shout(): String = n\n",
        [("A", 1), ("shout", 2)],
    ),
    (
        "a.php",
        "<?php\nfinal class A {\n  public static function make() {\n",
        [("A", 2), ("make", 3)],
    ),
    ("a.rb", "module A\n  def self.ready?\n", [("A", 1), ("ready?", 2)]),
    ("a.sh", "build() {\n  echo 1\n}\nfunction ship\n", [("build", 1), ("ship", 4)]),
    ("a.lua", "local function go()\nfunction a.b:c()\n", [("go", 1), ("a.b:c", 2)]),
    ("a.sql", "CREATE TABLE IF NOT EXISTS orders (\n-- create table no\n", [("orders", 1)]),
    ("a.md", "# One #\n```sh\n# no heading\n```\n## 第二 章\n", [("One", 1), ("第二 章", 5)]),
]


@pytest.mark.parametrize(("path", "text", "expected"), LANGUAGES)
def test_definitions_of_a_language(path: str, text: str, expected: list[tuple[str, int]]) -> None:
    assert [(name, line) for name, _, line in found(path, text)] == expected
    crlf = text.replace("\n", "\r\n")
    assert [(name, line) for name, _, line in found(path, crlf)] == expected


@pytest.mark.parametrize("path", [path for path, _, _ in LANGUAGES])
@pytest.mark.parametrize(
    "piece", ["`\\", '"""a', "/*", "class a((", "a::b<", "static ", "```\n", " "]
)
def test_no_text_keeps_it_busy(path: str, piece: str) -> None:
    """A pattern that goes back over what it read would not end here."""
    assert isinstance(found(path, piece * 20_000), list)
