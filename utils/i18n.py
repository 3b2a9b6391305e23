"""Messages for people, separate from the language they are shown in.

A `Phrase` is an English template and its values. Whoever makes one does not know the language of
the reader; a screen looks the template up in its catalogue (`static/i18n/<language>.json`, English
template to translation) and fills in the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Union

from utils.error_codes import ErrorCode
from utils.frozen import frozen

Value = Union[str, int, float, "Phrase"]


@frozen
class Phrase:
    """A sentence for people; `str()` gives the English one."""

    template: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format_map(self.values)

    def translate(self, catalogue: Mapping[str, str]) -> str:
        """Return the sentence in the language of *catalogue*, in English where it has none."""
        values = {
            name: value.translate(catalogue) if isinstance(value, Phrase) else value
            for name, value in self.values.items()
        }
        return catalogue.get(self.template, self.template).format_map(values)


Text = str | Phrase


def phrase(template: str, /, **values: Value) -> Phrase:
    """Return a phrase; a test finds every literal *template* and wants it translated."""
    return Phrase(template, values)


class UserError(Exception):
    """Error that the person can fix; `message` says in one line what is wrong and what to do.

    `code` says the same to programs; a *code* given here takes the place of that of the class.
    """

    code: ErrorCode = "internal"

    def __init__(self, message: Phrase, code: ErrorCode | None = None) -> None:
        super().__init__(str(message))
        self.message = message
        if code:
            self.code = code


class BadUsage(UserError):
    """An option, a setting or a task cannot be as it was said, and has to be said otherwise."""

    code = "bad_arguments"


def join_lines(first: Text, *others: Text) -> Text:
    """Return the texts, each on lines of its own."""
    joined = first
    for other in others:
        is_plain = isinstance(joined, str) and isinstance(other, str)
        joined = (
            f"{joined}\n{other}"
            if is_plain
            else phrase("{above}\n{below}", above=joined, below=other)
        )
    return joined
