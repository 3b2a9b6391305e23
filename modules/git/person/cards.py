"""Cards of `/git`: the state of the repository, and its log with what was the agent's."""

from __future__ import annotations

from collections.abc import Mapping

from core.cards import Card, TableCard
from core.session_choice import format_time
from modules.files.git.git_runs import GitRuns
from modules.git.person.agent_commits import AgentMark
from modules.git.person.history import PAGE, log_page
from modules.git.person.status import FileList, RepositoryState, read_state
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.lines import first_names, parse_number

_SHOWN_COMMITS = 5
_Row = tuple[Text, ...]


def state_card(git: GitRuns, marks: Mapping[str, AgentMark]) -> Card:
    """Return the state of the repository, with its last commits."""
    state = read_state(git)
    rows: list[_Row] = [(phrase("branch"), branch_text(state))]
    if state.under_way:
        rows.append((phrase("in progress"), state.under_way))
    lists = (
        (phrase("conflicts"), state.conflicts),
        (phrase("staged"), state.staged),
        (phrase("not staged"), state.unstaged),
        (phrase("untracked"), state.untracked),
    )
    rows += [(label, _names(found)) for label, found in lists if found.count]
    if state.is_clean:
        rows.append((phrase("files"), phrase("no changes")))
    commits, _ = log_page(git, 0, _SHOWN_COMMITS)
    rows += [(one.id[:8], *(_mark_text(marks.get(one.id)),), one.subject) for one in commits]
    return TableCard(phrase("Git"), tuple(rows))


def log_card(git: GitRuns, marks: Mapping[str, AgentMark], argument: str) -> Card:
    """Return a page of the log; *argument* is its number, from 1. Raises `UserError`."""
    number = parse_number(argument) if argument else 1
    if not number:
        raise UserError(phrase("Usage: /git log, or /git log 2 for the next page."))
    commits, has_more = log_page(git, (number - 1) * PAGE)
    rows: list[_Row] = [
        (one.id[:8], format_time(one.when), _mark_text(marks.get(one.id)), one.author, one.subject)
        for one in commits
    ]
    if has_more:
        rows.append((phrase("more: /git log {n}", n=number + 1),))
    title = phrase("Git log, with the agent's commits marked")
    return TableCard(title, tuple(rows))


def branch_text(state: RepositoryState) -> Text:
    """Return where HEAD is, in words."""
    if not state.branch:
        return phrase("none (detached at {commit})", commit=state.head[:10])
    if not state.head:
        return phrase("{branch}, no commit yet", branch=state.branch)
    if not state.upstream:
        return state.branch
    return phrase(
        "{branch}, {ahead} ahead and {behind} behind {upstream} (as last fetched)",
        branch=state.branch,
        ahead=state.ahead,
        behind=state.behind,
        upstream=state.upstream,
    )


def _names(found: FileList) -> Text:
    named = first_names([one.shown for one in found.files])
    return phrase("{n:,}: {names}", n=found.count, names=named)


def _mark_text(mark: AgentMark | None) -> Phrase | str:
    return phrase("agent, turn {n}", n=mark.turn) if mark else ""
