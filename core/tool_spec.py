"""Declaration of a tool: all that the rest of the product has to know of it, said once.

It stands above the tool's method, as `tool`; the model reads none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, field
from enum import StrEnum
from typing import Any, Literal, TypeVar

from utils.frozen import frozen
from utils.i18n import Phrase

Method = TypeVar("Method", bound=Callable[..., Any])
OUTSIDE = "outside"
"""The value of the argument `ToolSpec.outside` of a call that nothing confines."""


class Risk(StrEnum):
    """The worst that a call of a tool can do; it decides about asking, not what is possible."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    NETWORK = "network"
    DESTROY = "destroy"


@frozen
class ProgramArgument:
    """A program in *language*, in the argument *parameter* of a call."""

    language: Literal["python", "bash"]
    parameter: str


@frozen
class OtherNames:
    """Names of the same tool with other agents: a model that learnt them calls it so.

    A call is understood where it fits, by whatever names of parameters; see `tool_aliases`.
    """

    names: str
    """In small letters and words, one after the other: "read, view file"."""
    adds: Mapping[str, Any] = field(default_factory=dict)
    """The arguments that such a tool leaves unsaid."""
    needs: tuple[str, ...] = ()
    """The parameters of ours without which a call is in doubt, though they may be left out."""
    drops: tuple[str, ...] = ()
    """The parameters of such a tool that change nothing here."""
    when: tuple[str, str] | None = None
    """The argument, and its value, by which a tool of many deeds does this one."""
    line_before: str = ""
    """The parameter for the line behind which such a tool writes; our `start_line` is the next."""
    item_names: Mapping[str, str] = field(default_factory=dict)
    """Keys of the objects in a list of such a tool, and what they are here; others are left out."""


@frozen
class ToolSpec:
    """A tool for those who do not run it: screens, approval, checkpoints, secrets.

    Calling it marks a method as that tool.
    """

    risk: Risk
    summary: Phrase | None = None
    """The tool in a sentence for people; the model reads the docstring."""
    _: KW_ONLY
    verb: Phrase | None = None
    """What its calls do, on their cards; without it they bear the tool's name."""
    icon: str = "tool"
    """The picture of its cards, one of `static/js/lib/icons.js`."""
    subject: str | None = None
    """What a call is done to, in a template of its arguments, "" for nothing to say; a part that
    is empty or "." is left out, with what stands before it. None: a guess from their names."""
    opens: str = ""
    """The argument with the path of a file that can be shown beside the card."""
    explores: Literal["", "files", "searches", "folders"] = ""
    """What its calls look at and leave as it is; such calls in a row become one card."""
    program: ProgramArgument | None = None
    """The program that it runs; of a bash program, "always" covers the first two words alone."""
    destination: str = ""
    """The argument with the path where the file in `path` goes."""
    unredacted: tuple[str, ...] = ()
    """The arguments in which the name of a secret becomes its value."""
    state: str = ""
    """The part of a session's state that it is there to change; undo takes that back as well."""
    is_exact: bool = False
    """Whether a yes to a call is for all of its arguments, and for none that differs in one."""
    changes_files: bool = False
    """Whether it may change files, though its risk is not that."""
    touches_nothing: bool = False
    """Whether it changes no file, whatever its risk: such a call needs nobody's leave."""
    always_ask: Phrase | None = None
    """Why every call is asked about, but in the mode `all`."""
    outside: str = ""
    """The argument that is "outside" for a call that nothing confines: the person is always asked
    about that one, and to the letter."""
    asks_person: bool = False
    """Whether it is there to ask the person something: left at that, it is run again."""
    runs_turn: bool = False
    """Whether a call is a turn of its own: its method is given the id of the call as `call_id`,
    which no model says, and left at a question it goes on from there."""
    at_once_unless: tuple[str, str] | None = None
    """The argument, and its value, of a call that runs alone; all others in a reply run at once.
    Without it each call waits for the one before."""
    forwards: str = ""
    """The argument with the name of another tool, which is the one that is called; the arguments
    of that are in `arguments`."""
    when_cut: str = ""
    """How the model may say in parts what was too long for one call."""
    other_names: tuple[OtherNames, ...] = ()
    """What other agents call it; the model reads none of it."""
    is_listed: bool = True
    """Whether the model is told of it without being switched on for that. One that is not costs
    no token where nobody wants it; a call of it is run all the same. See `Toolbox.want`."""

    @property
    def is_shell(self) -> bool:
        """Whether the program that it runs is a command of the shell."""
        return self.program is not None and self.program.language == "bash"

    def program_of(self, arguments: Mapping[str, Any]) -> str:
        """Return the program that a call runs, "" for none."""
        return str(arguments.get(self.program.parameter, "")) if self.program else ""

    def subject_of(self, arguments: Mapping[str, Any]) -> str:
        """Return what a call is done to, "" for nothing to say, in one line; see `subject`."""
        from string import Formatter  # for what is shown

        filled = ""
        for before, name, _, _ in Formatter().parse(self.subject or ""):
            value = first_line(str(arguments.get(name or "") or ""))
            if value not in ("", "."):
                filled += before + value if filled else value
        return filled

    def is_outside(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether nothing would confine a call."""
        return bool(self.outside) and arguments.get(self.outside) == OUTSIDE

    def __call__(self, method: Method) -> Method:
        method.__tool__ = self  # type: ignore[attr-defined]
        return method


tool = ToolSpec


def first_line(text: str) -> str:
    """Return the first line of *text*, with a mark where it is not all."""
    lines = text.strip().split("\n")
    return f"{lines[0]} …" if len(lines) > 1 else lines[0]


def spec_of(method: object) -> ToolSpec | None:
    """Return the declaration of *method*, None for what is no tool."""
    spec: ToolSpec | None = getattr(method, "__tool__", None)
    return spec


def marked(kind: type) -> dict[str, ToolSpec]:
    """Return the declarations of the tools of the class *kind*, by name, as they are written."""
    found = {name: spec_of(value) for name, value in vars(kind).items()}
    return {name: spec for name, spec in found.items() if spec is not None}
