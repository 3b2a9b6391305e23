"""A web page of an outline: one file, its pictures in it, that asks for nothing elsewhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from modules.documents.outline import (
    Block,
    Outline,
    Span,
    Spans,
    is_right_to_left,
    is_right_to_left_table,
    numeric_columns,
)
from modules.pictures.formats import format_of

_STYLE = """\
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1f2430; background: #fff;
  font: 1rem/1.6 system-ui, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC",
  sans-serif; overflow-wrap: anywhere; }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.8em 0 .6em; }
.table { overflow-x: auto; margin: 1em 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid #c9ced8; padding: .4em .6em; text-align: start; vertical-align: top;
  overflow-wrap: break-word; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
th { background: #eef1f6; }
pre { background: #f4f5f8; padding: .8em 1em; overflow-x: auto; overflow-wrap: normal; }
blockquote { border-inline-start: 4px solid #c9ced8; margin: 1em 0; padding: 0 1em; }
img { max-width: 100%; max-height: 85vh; }
figure { margin: 1.2em 0; } figcaption { color: #5b6372; }
.footnotes { border-top: 1px solid #c9ced8; margin-top: 3em; font-size: .9em; }
@media print {
  body { margin: 0; max-width: none; }
  h1, h2, h3, h4 { break-after: avoid; }
  figure, tr, pre, blockquote { break-inside: avoid; }
  pre { white-space: pre-wrap; }
}"""
_PLACES = ("{{title}}", "{{content}}")


def make_page(outline: Outline, pictures: Sequence[bytes], template: str | None) -> str:
    """Return the page of *outline*; in *template*, at its `{{title}}` and `{{content}}`, if any."""
    content = _content(outline, pictures)
    title = escape(outline.title)
    if template is not None:
        return template.replace(_PLACES[0], title).replace(_PLACES[1], content)
    language = ' lang="zh"' if any("\u4e00" <= one <= "\u9fff" for one in outline.title) else ""
    direction = ' dir="rtl"' if is_right_to_left(outline.title) else ""
    return (
        f'<!DOCTYPE html>\n<html{language}{direction}>\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{content}\n"
        "</body>\n</html>\n"
    )


def _content(outline: Outline, pictures: Sequence[bytes]) -> str:
    parts: list[str] = []
    open_lists: list[str] = []
    for block in outline.blocks:
        wanted = _depth(block)
        tag = "ol" if block.number else "ul"
        is_other_list = block.kind == "item" and open_lists[wanted - 1 :][:1] not in ([], [tag])
        while len(open_lists) > wanted - is_other_list:
            parts.append(f"</li></{open_lists.pop()}>")
        if block.kind == "item":
            if len(open_lists) == wanted:
                parts.append("</li>")
            while len(open_lists) < wanted:
                start = f' start="{block.number}"' if block.number > 1 else ""
                parts.append(f"<{tag}{start}>" if len(open_lists) + 1 == wanted else "<ul><li>")
                open_lists.append(tag if len(open_lists) + 1 == wanted else "ul")
            parts.append(f"<li{_direction(block.text)}>{_inline(block.spans)}")
            continue
        parts.append(_block(block, pictures))
    while open_lists:
        parts.append(f"</li></{open_lists.pop()}>")
    return "\n".join([*parts, *_notes(outline)])


def _depth(block: Block) -> int:
    """Return in how many lists *block* stands."""
    return {"item": block.level + 1, "heading": 0}.get(block.kind, block.level)


def _block(block: Block, pictures: Sequence[bytes]) -> str:
    inner = _inline(block.spans)
    direction = _direction(block.text)
    match block.kind:
        case "heading":
            level = min(block.level, 6)
            return f"<h{level}{direction}>{inner}</h{level}>"
        case "quote":
            return f"<blockquote{direction}><p>{inner}</p></blockquote>"
        case "code":
            return f"<pre><code>{escape(block.text)}</code></pre>"
        case "table":
            return _table(block)
        case "picture":
            data = pictures[block.file]
            kind = (format_of(data) or "png").lower()
            source = f"data:image/{kind};base64,{b64encode(data).decode()}"
            caption = f"<figcaption>{escape(block.text)}</figcaption>" if block.text else ""
            return f'<figure><img src="{source}" alt="{escape(block.text)}">{caption}</figure>'
        case "break":
            return "<hr>"
        case _:
            return f"<p{direction}>{inner}</p>"


def _table(block: Block) -> str:
    rows = []
    numeric = numeric_columns(block.rows)
    for number, row in enumerate(block.rows):
        tag = "td" if number else "th"
        cells = ""
        for column, cell in enumerate(row):
            look = ' class="number"' if column in numeric else ""
            cells += f"<{tag}{look}>{_inline(cell)}</{tag}>"
        rows.append(f"<tr>{cells}</tr>")
    direction = ' dir="rtl"' if is_right_to_left_table(block.rows) else ' dir="ltr"'
    return f'<div class="table"{direction}><table>\n' + "\n".join(rows) + "\n</table></div>"


def _direction(text: str) -> str:
    return ' dir="rtl"' if is_right_to_left(text) else ""


def _inline(spans: Spans) -> str:
    return "".join(map(_span, spans))


def _span(span: Span) -> str:
    if span.note:
        return f'<sup id="ref{span.note}"><a href="#note{span.note}">{span.note}</a></sup>'
    text = escape(span.text).replace("\n", "<br>")
    looks = (span.code, "code"), (span.italic, "em"), (span.bold, "strong"), (span.struck, "s")
    for is_set, tag in looks:
        text = f"<{tag}>{text}</{tag}>" if is_set else text
    if span.address or span.link.startswith("#"):
        text = f'<a href="{escape(span.link)}">{text}</a>'
    return text


def _notes(outline: Outline) -> list[str]:
    if not outline.notes:
        return []
    items = [
        f'<li id="note{number}">{_inline(note)} <a href="#ref{number}">↩</a></li>'
        for number, note in enumerate(outline.notes, 1)
    ]
    return ['<section class="footnotes">', "<ol>", *items, "</ol>", "</section>"]
