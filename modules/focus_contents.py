"""Contents of files in focus: as the model is told them, and as it knows them by its own edits."""

from __future__ import annotations

from collections.abc import Callable, Collection

from utils.frozen import frozen
from utils.text.clean import visible
from utils.text.line_diff import text_diff


@frozen
class OwnEdit:
    """An edit of the model's: the texts it was told, or would have been, *before* and *after*."""

    call_id: str
    before: str
    after: str


class OwnEdits:
    """The edits of files in focus by calls that say them in full, since the last request."""

    def __init__(self) -> None:
        self._edits: dict[str, list[OwnEdit]] = {}
        self._unrequested: dict[str, list[OwnEdit]] = {}

    def add(self, path: str, edit: OwnEdit) -> None:
        self._unrequested.setdefault(path, []).append(edit)

    def begin_request(self, answered_ids: Callable[[], Collection[str]]) -> None:
        """Count the edits since the last request: those whose calls the model reads as done.

        *answered_ids* looks at the whole turn, and is asked only where there are edits.
        """
        edits, self._unrequested = self._unrequested, {}
        answered = answered_ids() if edits else ()
        self._edits = {
            path: [one for one in made if one.call_id in answered] for path, made in edits.items()
        }

    def move(self, path: str, new_path: str) -> None:
        for edits in (self._edits, self._unrequested):
            if path in edits:
                edits[new_path] = edits.pop(path)

    def derived(self, path: str, told: str) -> str:
        """Return what a model that was *told* a text of *path* knows by its own edits.

        An edit of another text is none that it could follow.
        """
        for edit in self._edits.get(path, ()):
            if same_content(edit.before, told):
                told = edit.after
        return told

    def clear(self) -> None:
        self._edits, self._unrequested = {}, {}


def rendered(path: str, content: str) -> str:
    """Return *content* as the model is told it, in a fence that it cannot close."""
    fence = "```"
    while fence in content:
        fence += "`"
    end = "" if content.endswith("\n") or not content else "\n"
    return f"Focus file {visible(path)}, its current content:\n{fence}\n{content}{end}{fence}"


def same_content(told: str, other: str) -> bool:
    """Return whether both tell of the same content, be it under two names."""
    return told.partition("\n")[2] == other.partition("\n")[2] != ""


def change_or_whole(path: str, before_text: str, current_text: str) -> str:
    """Return the change from *before_text* to *current_text*, or the latter if that is no longer.

    Another name of the same content is a change too.
    """
    if same_content(before_text, current_text):
        return f"{before_text.partition(', its current content:')[0]} is {visible(path)} now."
    before, after = _content_of(before_text), _content_of(current_text)
    if not before or not after:
        return current_text
    text = f"Focus file {visible(path)} has changed:\n{text_diff(before, after).diff}"
    return text if len(text) < len(current_text) else current_text


def _content_of(text: str) -> str:
    """Return the content that is told of in *text*, "" where it told of none."""
    return "".join(f"{line}\n" for line in text.split("\n")[2:-1])
