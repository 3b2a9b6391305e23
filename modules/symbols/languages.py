"""Languages whose definitions are known: their files, comments and patterns.

Python, where a definition stands on a line of its own, is read as exactly as its own parser reads
it; the others by the lines that their people write. A pattern begins at the start of a line, has no
part that could match in two ways, and its groups name the kinds: what is in one is a name. Only
single characters are repeated possessively: before Python 3.11.5 a repeated group matches wrongly
(cpython issue 106052).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TRIPLE = (
    r"\"\"\"(?:[^\\\"]++|\\.?|\"(?!\"\"))*(?:\"\"\"|\Z)|'{3}(?:[^\\']++|\\.?|'(?!''))*(?:'{3}|\Z)"
)
_STRING = r"\"(?:[^\"\\\n]++|\\.)*\"?"
_TEXT = r"'(?:[^'\\\n]++|\\.)*'?"
_CHARACTER = r"'(?:\\[^'\n]{1,9}|[^'\\\n])'"  # no text: a lifetime of Rust has no second quote
_TEMPLATE = r"`(?:[^`\\]++|\\.?)*(?:`|\Z)"
_RAW = r"`[^`]*+(?:`|\Z)"
_HASH = r"\#[^\n]*+"
_SLASHES = r"//[^\n]*+"
_BLOCK = r"/\*(?:[^*]++|\*(?!/))*(?:\*/|\Z)"
_DASHES = r"--[^\n]*+"
_FENCE = (
    r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*+"
    r"(?:\n(?![ ]{0,3}(?P=fence))[^\n]*+)*(?:\n[ ]{0,3}(?P=fence)[^\n]*+)?"
)


@dataclass(frozen=True)
class Language:
    """*blank* matches what holds no definition: comments, and texts. *symbols* has a group for each
    kind: `function`, `type` or `heading`; a `block` opens one without a name.

    Where it *nests*, a definition belongs to the last that is indented less.
    """

    symbols: re.Pattern[str]
    blank: re.Pattern[str] | None = None
    nests: bool = False


def _language(symbols: str, *blanks: str, nests: bool = False) -> Language:
    blank = re.compile("|".join(blanks), re.M | re.S) if blanks else None
    return Language(re.compile(symbols, re.M | re.X), blank, nests)


_PYTHON = _language(
    r"""^[ \t\f]*+(?:
      (?:async[ \t]+)?def[ \t]+(?P<function>\w+) | class[ \t]+(?P<type>\w+)
    | (?P<block>if|elif|else|try|except|finally|for|while|with|match|case|async)\b
    )""",
    *(_TRIPLE, _STRING, _TEXT, _HASH),
    nests=True,
)
_JAVASCRIPT = _language(
    r"""^[ \t]*+(?:export[ ]+)?(?:default[ ]+)?(?:declare[ ]+)?(?:
      (?:async[ ]+)?function\b[ ]*\*?[ ]*(?P<function>[\w$]+)
    | (?:abstract[ ]+)?(?:class|interface|enum|namespace|type)[ ]+(?P<type>[\w$]+)
    | (?:const|let|var)[ ]+(?P<function_2>[\w$]+)[ ]*=[ ]*(?:async\b[ ]*)?
      (?:function\b|\([^()\n]*\)[^()=\n]*=>|[\w$]+[ ]*=>)
    | (?:(?:public|private|protected|static|async|get|set|override)[ ]+)*
      (?!(?:if|for|while|switch|catch|with|return|function)\b)(?P<function_3>\#?[\w$]+)
      \([^()\n]*\)[^(){}\n;]*\{
    )""",
    *(_STRING, _TEXT, _TEMPLATE, _SLASHES, _BLOCK),
)
_GO = _language(
    r"^(?:func[ ]+(?:\([^()\n]*\)[ ]*)?(?P<function>\w+)|type[ ]+(?P<type>\w+))",
    *(_STRING, _CHARACTER, _RAW, _SLASHES, _BLOCK),
)
_RUST = _language(
    r"""^[ \t]*+(?:pub\b(?:\([^()\n]*\))?[ ]+)?(?:(?:async|const|unsafe|default)[ ]+)*(?:
      fn[ ]+(?P<function>\w+) | macro_rules![ ]*(?P<function_2>\w+)
    | (?:struct|enum|trait|union|type|mod)[ ]+(?P<type>\w+)
    )""",
    *(_STRING, _CHARACTER, _SLASHES, _BLOCK),
)
_C = _language(
    r"""^(?:
      (?:typedef[ ]+)?(?:struct|class|enum(?:[ ]+class)?|union|namespace)[ ]+(?P<type>\w+)[ ]*[{:\n]
    | \#[ ]*define[ ]+(?P<function>\w+)
    | (?!(?:return|else|typedef|using|case|goto|new|delete)\b)[A-Za-z_][\w \t*&:<>,]{0,200}?[ \t*&:]
      (?P<function_2>~?\w+)[ ]*\([^(){};]{0,1000}\)[^(){};=\n]{0,100}\n?[{]
    )""",
    *(_STRING, _CHARACTER, _SLASHES, _BLOCK),
)
_MODIFIERS = (
    "public|private|protected|internal|open|static|final|abstract|sealed|override|virtual|async|"
    "inline|data|partial|readonly|suspend|mutating|synchronized|default|fileprivate|implicit|case"
)
_CLASSES = _language(
    rf"""^[ \t]*+(?:@\w+[ ]+)*(?:(?:{_MODIFIERS})[ ]+)*(?:
      (?:class|interface|enum|record|struct|object|trait|protocol|extension|actor|@interface)[ ]+
      (?P<type>\w+)
    | (?:fun|func|def)[ ]+(?:<[^<>\n]*>[ ]*)?(?:[\w.]+\.)?(?P<function>\w+)
    | (?!(?:return|else|new|throw|if|for|while|switch|catch|using|lock|await|yield)\b)
      (?:<[^<>\n]*>[ ]*)?[\w.]+(?:<[^()\n]{{0,100}}>)?[\[\]?]*[ ]+(?P<function_2>\w+)
      [ ]*\([^();{{}}]{{0,1000}}\)[^();{{}}=\n]{{0,100}}\n?[ \t]*[{{]
    )""",
    *(_TRIPLE, _STRING, _CHARACTER, _SLASHES, _BLOCK),
)
_PHP = _language(
    rf"""^[ \t]*+(?:(?:{_MODIFIERS})[ ]+)*(?:
      function[ ]+&?(?P<function>\w+) | (?:class|interface|trait|enum)[ ]+(?P<type>\w+)
    )""",
    *(_STRING, _TEXT, _HASH, _SLASHES, _BLOCK),
)
_RUBY = _language(
    r"^[ \t]*+(?:def[ ]+(?:self\.)?(?P<function>\w+[?!=]?)|(?:class|module)[ ]+(?P<type>[\w:]+))",
    *(_STRING, _TEXT, _HASH),
)
_SHELL = _language(
    r"^[ \t]*+(?:function[ ]+(?P<function>[\w:.-]+)|(?P<function_2>[\w:.-]+)[ ]*\([ ]*\)[ ]*[{(\n])"
)
_LUA = _language(
    r"^[ \t]*+(?:local[ ]+)?function[ ]+(?P<function>[\w.:]+)", _STRING, _TEXT, _DASHES
)
_SQL = _language(
    r"""^[ \t]*+(?i:create)[ ]+(?i:or[ ]+replace[ ]+)?(?i:temp(?:orary)?[ ]+|unique[ ]+)?(?:
      (?i:function|procedure|trigger)[ ]+(?P<function>[\w."]+)
    | (?i:table|view|type|index)[ ]+(?i:if[ ]+not[ ]+exists[ ]+)?(?P<type>[\w."]+)
    )""",
    *(_DASHES, _BLOCK),
)
_MARKDOWN = _language(
    r"^[ ]{0,3}\#{1,6}[ \t]+(?P<heading>[^\s\#][^\n]{0,200}?)[ \t]*\#*[ \t]*$", _FENCE
)

_SUFFIXES: dict[str, Language] = {
    suffix: language
    for suffixes, language in (
        ("py pyi pyw", _PYTHON),
        ("js mjs cjs jsx ts mts cts tsx vue svelte", _JAVASCRIPT),
        ("go", _GO),
        ("rs", _RUST),
        ("c h cc cpp cxx hpp hh hxx m mm", _C),
        ("java kt kts cs swift scala", _CLASSES),
        ("php", _PHP),
        ("rb rake", _RUBY),
        ("sh bash zsh", _SHELL),
        ("lua", _LUA),
        ("sql", _SQL),
        ("md markdown", _MARKDOWN),
    )
    for suffix in suffixes.split()
}


def language_of(path: str) -> Language | None:
    """Return the language of the file at *path* by its name; None if none is known."""
    return _SUFFIXES.get(path.rpartition(".")[2].lower())
