"""The page of results, whole in one file: a table, plots, and each task by agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from tests.eval.summary import COLUMNS, Summary, last_attempts, rows, summarize
from tests.eval.tasks import Attempt

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1d2125; --faint: #6a737b; --line: #d5dade;
  --bar: #2f6f9f; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16191c; --text: #e4e7ea; --faint: #98a2ab; --line: #353b41; --bar: #6fb1e0;
    --good: #57c272; --bad: #ff8a80; }
}
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h2 { margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--text); font-size: 13px; }
.faint, svg text.faint { color: var(--faint); fill: var(--faint); }
.passed { color: var(--good); } .failed { color: var(--bad); } .unjudged { color: var(--faint); }
rect { fill: var(--bar); } rect.empty { fill: var(--line); }
circle { fill: var(--bar); opacity: .6; }
line { stroke: var(--text); }
"""
_WIDTH, _LEFT, _RIGHT, _ROW = 820, 140, 140, 34
_SPAN = _WIDTH - _LEFT - _RIGHT
_SIGNS = {"passed": "✓", "failed": "✗", "unjudged": "?"}


def page(attempts: Sequence[Attempt], settings: Mapping[str, str]) -> str:
    """Return the page of *attempts*, made with *settings*. It loads nothing and runs no script."""
    summaries = summarize(attempts)
    about = " · ".join(f"{name}: {value}" for name, value in settings.items())
    plots = [
        _plot("Passed, with the interval that holds the rate with 95 %", _rate_bars(summaries)),
        _plot("Seconds for each attempt", _dots(attempts, lambda one: one.seconds, "s")),
        _plot("Tokens for each attempt", _dots(attempts, lambda one: one.tokens, "")),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Evaluation of agents</title>'
        f"<style>{_STYLE}</style></head><body><main><h1>Evaluation of agents</h1>"
        f'<p class="faint">{escape(about)}</p>{_table(COLUMNS, rows(summaries))}'
        f"{''.join(plots)}<h2>Tasks</h2>{_tasks(attempts)}</main></body></html>\n"
    )


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    first = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in line)}</tr>" for line in lines
    )
    return f'<div class="wide" tabindex="0"><table><tr>{first}</tr>{body}</table></div>'


def _tasks(attempts: Sequence[Attempt]) -> str:
    """Return the table of tasks by agent; a sign says how the last attempt was judged."""
    agents = list(dict.fromkeys(one.agent for one in attempts))
    last = {name: last_attempts(one for one in attempts if one.agent == name) for name in agents}
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in agents)
    lines = "".join(
        f'<tr><th scope="row">{escape(task)}</th>'
        f"{''.join(_sign(last[name].get(task)) for name in agents)}</tr>"
        for task in sorted({one.task for one in attempts})
    )
    titled = f'<tr><th scope="col">task</th>{head}</tr>'
    return f'<div class="wide" tabindex="0"><table>{titled}{lines}</table></div>'


def _sign(attempt: Attempt | None) -> str:
    if attempt is None:
        return "<td>–</td>"
    more = f" try {attempt.number}" if attempt.number > 1 else ""
    title = escape(f"{attempt.state}, {attempt.ending}, {attempt.seconds} s")
    sign = _SIGNS[attempt.state]
    return f'<td class="{attempt.state}" title="{title}">{sign}<small>{more}</small></td>'


def _plot(title: str, lines: Sequence[str]) -> str:
    """Return a figure of *lines*, each drawn in a row of its own from the top."""
    drawn = "".join(
        f'<g transform="translate(0 {number * _ROW})">{line}</g>'
        for number, line in enumerate(lines)
    )
    height = max(1, len(lines)) * _ROW
    return (
        f'<h2>{escape(title)}</h2><svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">{drawn}</svg>'
    )


def _rate_bars(summaries: Sequence[Summary]) -> list[str]:
    return [_rate_bar(one) for one in summaries]


def _rate_bar(one: Summary) -> str:
    if one.rate is None:
        return _label(one.agent) + _value("not judged")
    low, high = (_LEFT + end * _SPAN for end in one.interval)
    return (
        f'{_label(one.agent)}<rect class="empty" x="{_LEFT}" y="8" width="{_SPAN}" height="16"/>'
        f'<rect x="{_LEFT}" y="8" width="{one.rate * _SPAN:.1f}" height="16"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="16" y2="16" stroke-width="2"/>'
        f"{_value(f'{one.rate:.0%}')}"
    )


def _dots(
    attempts: Sequence[Attempt], value_of: Callable[[Attempt], float | None], unit: str
) -> list[str]:
    """Return a row of dots for each agent, one for each attempt, from 0 to the largest of all."""
    largest = max((value_of(one) or 0 for one in attempts), default=0) or 1
    lines = []
    for agent in dict.fromkeys(one.agent for one in attempts):
        values = [value_of(one) for one in attempts if one.agent == agent]
        known = sorted(one for one in values if one is not None)
        dots = "".join(
            f'<circle cx="{_LEFT + value / largest * _SPAN:.1f}" cy="16" r="5"/>' for value in known
        )
        median = f"median {known[len(known) // 2]:,.0f} {unit}" if known else "unknown"
        lines.append(_label(agent) + _axis() + dots + _value(median.strip()))
    return lines


def _axis() -> str:
    return f'<line x1="{_LEFT}" x2="{_LEFT + _SPAN}" y1="16" y2="16" stroke-width=".5"/>'


def _label(text: str) -> str:
    return f'<text x="{_LEFT - 10}" y="21" text-anchor="end">{escape(text)}</text>'


def _value(text: str) -> str:
    return f'<text class="faint" x="{_WIDTH}" y="21" text-anchor="end">{escape(text)}</text>'
