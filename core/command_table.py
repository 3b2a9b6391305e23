"""The slash commands of a session by name: ours, and those of the person and of the project."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, ValuesView

from core.feature import Command, CommandSpec, PromptCommand
from utils.i18n import Phrase, UserError, phrase


class CommandTable(Mapping[str, Command]):
    """*own* commands of ours, and as they are at the moment those that *others* returns.

    None of these takes the name of one of ours.
    """

    def __init__(
        self, own: Iterable[Command], others: Callable[[], Mapping[str, PromptCommand]]
    ) -> None:
        self._own = {command.name: command for command in own}
        self._others = others
        self.hidden: Container[str] = ()
        """The commands that the help leaves out: the screen has its own way."""

    def __getitem__(self, name: str) -> Command:
        if name in self._own:
            return self._own[name]
        prompt = self._others()[name]
        if prompt.is_help_only:
            raise KeyError(name)
        return _as_command(prompt)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def values(self) -> ValuesView[Command]:
        return self._all().values()

    def _all(self) -> dict[str, Command]:
        others = {n: one for n, one in self._others().items() if not one.is_help_only}
        return {
            **self._own,
            **{n: _as_command(one) for n, one in others.items() if n not in self._own},
        }

    def expand(self, line: str) -> str:
        """Return *line* with the command that it is short for written out, else as it is.

        More than one line, or the same character twice, as in Markdown, is a message.
        """
        mark, rest = line[:1], line[1:].strip()
        if not mark or "\n" in line.strip() or rest[:1] == mark:
            return line
        for command in self._own.values():
            takes_rest = " " in command.usage
            if mark in command.spec.shortcut and (takes_rest or not rest):
                return f"{command.name} {rest}".rstrip()
        return line

    def shortcut_rows(self) -> list[tuple[str, Phrase]]:
        """Return what may be typed in the place of a command, and which it is."""
        return [
            (
                f"{command.spec.shortcut[0]}{command.usage.partition(' ')[2].strip('[]')}",
                phrase("Same as {command}.", command=command.usage),
            )
            for command in self._own.values()
            if command.spec.shortcut
        ]

    def help_rows(self) -> list[tuple[str, Phrase]]:
        """Return the usage and the help of each, those that are not ours at the end."""
        shown = (command for command in self.values() if command.name not in self.hidden)
        rows = [(command.usage, command.help) for command in shown]
        for name, prompt in self._others().items():
            if name in self._own:
                taken = phrase(
                    "Ignored {path}: {name} is a built-in command.", path=prompt.path, name=name
                )
                rows.append((prompt.usage, taken))
            elif prompt.is_help_only:
                rows.append((prompt.usage, prompt.help))
        return rows


def _as_command(prompt: PromptCommand) -> Command:
    def refuse(_: str) -> None:
        raise UserError(
            phrase("{name} starts a task; send it as a message.", name=prompt.usage.split()[0])
        )

    spec = CommandSpec(prompt.usage, "")
    return Command(
        spec, refuse, prompt.help, prompt, calls=prompt.calls, completes=prompt.completes
    )
