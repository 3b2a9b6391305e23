"""Completion of the command line by a shell: the script for it, and what is proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from modules.cli.option_specs import SUBCOMMANDS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_ONEFOLD_COMPLETE"
"""Set by the script when a shell asks; click answers it."""

COMMAND = "onefold"

Suggest = Callable[[str, str | None], Iterable[tuple[str, str]]]
"""Returns the values of a kind (`session`, `model`), each with what it is, for a project folder."""

_Propose = Callable[[click.Context, click.Parameter, str], list["CompletionItem"]]
_FILE_KINDS = {"file": "file", "folder": "dir"}


def completion_script(shell: str, command: click.Command) -> str:
    """Return what *shell* has to read to complete *command*."""
    from click.shell_completion import get_completion_class  # for shells only

    complete = get_completion_class(shell)
    assert complete is not None, shell  # noqa: S101 - one of those in the table of subcommands
    script = complete(command, {}, COMMAND, VARIABLE).source()
    return _with_values(script) if shell == "zsh" else script


def _with_values(script: str) -> str:
    """Return the *script* for zsh that keeps the `--option=` before what it completes."""
    beginning = "    local -a response\n"
    keeping = "    [[ $PREFIX == --*=* ]] && compset -P '*='\n"
    return script.replace(beginning, f"{beginning}{keeping}").replace(" -U", ' -U -i "$IPREFIX"')


def values_of(kind: str, suggest: Suggest) -> _Propose:
    """Return what proposes the values of an option that is `completed_by` *kind*."""

    def propose(
        context: click.Context,
        _option: click.Parameter,
        incomplete: str,
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # for shells only

        if kind in _FILE_KINDS:
            return [CompletionItem(incomplete, type=_FILE_KINDS[kind])]
        values = suggest(kind, context.params.get("project"))
        return [CompletionItem(name, help=text) for name, text in values if incomplete in name]

    return propose


def message_argument() -> click.Argument:
    """Return the words that are no options: a message, or a subcommand and what it takes."""

    def propose(
        context: click.Context,
        _argument: click.Parameter,
        incomplete: str,
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # for shells only

        words = tuple(context.params.get("message") or ())
        proposals = [spec.name for spec in SUBCOMMANDS] if not words else []
        for spec in SUBCOMMANDS:
            proposals += spec.choices if words == (spec.name,) else ()
        return [CompletionItem(word) for word in proposals if word.startswith(incomplete)]

    return click.Argument(["message"], nargs=-1, shell_complete=propose)
