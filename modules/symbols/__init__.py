"""Symbols of a project: functions, classes and headings, found by their names.

- definitions    Definitions in a text, by patterns of its language: names, kinds and lines.
- languages      Languages whose definitions are known: their files, comments and patterns.
- symbol_index   The index of a project's symbols: read when somebody looks, kept by file.
"""

EXPORTS = {
    "symbol_index": ["Symbol", "SymbolIndex"],
}
