"""Opening a file that is to be handed over: what it holds, or why it is no result."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from core.cards import ResultKind
from core.tools import ToolError
from modules.files.project import Project
from modules.results import data_formats
from modules.results.data_formats import Unusable
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import format_size

MAX_BYTES = 200_000_000
"""Of a result."""
_MAX_TEXT = 50_000_000  # bytes of what is looked at as text
_DOCUMENTS = frozenset({"pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub"})
PICTURES = frozenset({"png", "jpg", "jpeg", "webp", "gif"})
_TABLES = frozenset({"csv", "tsv"})
_ARCHIVES = frozenset({"zip", "tar", "gz", "tgz", "bz2", "xz", "parquet"})
_SETTINGS = frozenset({"toml", "yaml", "yml"})
_SQLITE = frozenset({"sqlite", "sqlite3", "db"})
_PAGES = frozenset({"html", "htm", "md", "markdown"})
_REPORTS = _PAGES | {"txt", "pdf", "docx", "odt", "ipynb", "epub"}
_TEXTS = _PAGES | _TABLES | {"json", "geojson", "jsonl", "ndjson", "ipynb", "svg", "xml"}
KINDS: Mapping[ResultKind, frozenset[str]] = {
    "report": frozenset(
        ["md", "markdown", "txt", "html", "htm", "pdf", "docx", "odt", "ipynb", "epub"]
    ),
    "slides": frozenset(["pptx", "odp", "pdf", "html", "htm", "md"]),
    "sheet": frozenset(["xlsx", "ods", "csv", "tsv"]),
    "chart": PICTURES | frozenset(["svg", "pdf", "html", "htm"]),
    "page": frozenset(["html", "htm"]),
    "data": frozenset(),
    "code": frozenset(),
}
"""The endings that a file of each kind may have; none is any."""
ParseCode = Callable[[str], str]
"""Returns what a parser has against the file at a path of the project, "" for nothing."""
CheckDocument = Callable[[str, bytes], None]
"""Opens the document of a name and content. Raises `UserError` with the reason."""


class Opener:
    """Opens files of *project*; code is parsed by *parse*, documents are by *check_document*."""

    def __init__(self, project: Project, parse: ParseCode, check_document: CheckDocument) -> None:
        self._project = project
        self._parse = parse
        self._check_document = check_document

    def open(self, path: str, kind: ResultKind) -> Text:
        """Return what the file *path* holds. Raises `ToolError` that says why it is no *kind*."""
        status = self._project.stat(path)
        if status is None:
            raise ToolError(
                phrase("{path} does not exist. Make it first.", path=visible(path)), "not_found"
            )
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(phrase("{path} is not a file. Name one.", path=visible(path)))
        ending = ending_of(path)
        allowed = KINDS[kind]
        if allowed and ending not in allowed:
            endings = ", ".join(sorted(allowed))
            raise _refused(path, phrase("a result of kind {kind} is a file of these: {endings}",
                                        kind=kind, endings=endings))  # fmt: skip
        if not status.st_size:
            raise _refused(path, phrase("it is empty"))
        if status.st_size > MAX_BYTES:
            raise _refused(path, phrase("it is larger than {most}", most=format_size(MAX_BYTES)))
        try:
            return self._opened(path, ending, kind, status.st_size)
        except Unusable as error:
            raise _refused(path, error.why) from None
        except UserError as error:  # of a document or a picture
            raise ToolError(error.message) from None

    def _opened(self, path: str, ending: str, kind: ResultKind, size: int) -> Text:
        if ending in _DOCUMENTS:
            self._check_document(visible(path), self._project.read_bytes(path, MAX_BYTES))
            return ""
        if ending in PICTURES:
            return self._picture(path)
        if ending in _SQLITE:
            with self._project.open_stream(path) as stream:
                return data_formats.look_at_sqlite(stream.read(100), size)
        if ending in _ARCHIVES:
            from modules.results.archives import look_at_archive  # for archives only

            with self._project.open_stream(path) as stream:
                return look_at_archive(stream, ending, size)
        if kind == "data" and ending in _SETTINGS and (problems := self._parse(path)):
            raise Unusable(phrase("it cannot be parsed: {why}", why=problems))
        if kind == "data" and ending not in _TEXTS:
            return ""
        text = self._text(path)
        if kind == "code" and (problems := self._parse(path)):
            raise Unusable(phrase("it cannot be parsed: {why}", why=problems))
        return self._look(path, ending, text)

    def _look(self, path: str, ending: str, text: str) -> Text:
        match ending:
            case "csv" | "tsv":
                return data_formats.look_at_table(text, data_formats.delimiter_of(text, ending))
            case "json" | "geojson":
                return data_formats.look_at_json(text)
            case "jsonl" | "ndjson":
                return data_formats.look_at_json_lines(text)
            case "ipynb":
                return data_formats.look_at_notebook(text)
            case "html" | "htm":
                self._check_pictures(path, data_formats.look_at_html(text))
            case "svg":
                return data_formats.look_at_xml(text, root="svg")
            case "xml":
                return data_formats.look_at_xml(text)
            case "md" | "markdown":
                self._check_pictures(path, data_formats.look_at_markdown(text))
        lines = len(text.splitlines())
        return phrase("1 line") if lines == 1 else phrase("{n:,} lines", n=lines)

    def _picture(self, path: str) -> Text:
        from modules.pictures.normalization import normalize  # for pictures only

        picture = normalize(self._project.read_bytes(path, MAX_BYTES), visible(path))
        return f"{picture.format}, {picture.width}×{picture.height}"

    def _text(self, path: str) -> str:
        data = self._project.read_bytes(path, _MAX_TEXT)
        text = self._project.decode_text(path, data).text
        if not text.strip():
            raise Unusable(phrase("there is nothing in it but space"))
        return text

    def _check_pictures(self, path: str, addresses: Iterable[str]) -> None:
        """Raise `Unusable` where one of the pictures, beside the file *path*, is not there."""
        for address in addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            inner = normpath(join(dirname(path), unquote(parts.path)))
            if inner.startswith(("..", "/")) or self._project.stat(inner) is None:
                raise Unusable(
                    phrase(
                        "it shows the picture {address}, which does not exist",
                        address=visible(address),
                    )  # fmt: skip
                )


_TEXTS = frozenset(
    [
        "csv",
        "tsv",
        "json",
        "geojson",
        "jsonl",
        "ndjson",
        "ipynb",
        "html",
        "htm",
        "svg",
        "xml",
        "md",
        "markdown",
    ]
)


def ending_of(path: str) -> str:
    """Return how the name of *path* ends, in small letters and without the dot."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""


def _refused(path: str, why: Phrase) -> ToolError:
    message = phrase("{path} was not handed over: {why}.", path=visible(path), why=why)
    return ToolError(message)
