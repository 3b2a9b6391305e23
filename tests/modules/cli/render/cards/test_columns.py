"""Tables in wide and in narrow windows."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from modules.cli.render.cards.columns import Columns

ROWS = (("Project", "demo"), ("  for tools", "1,801"), ("Not protected", "errors in the kernel"))
HEAD = ("tool", "risk", "what it does")


def drawn(columns: Columns, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        console.print(columns)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def test_labels_stand_beside_their_values() -> None:
    assert drawn(Columns((), ROWS), 60) == (
        "Project        demo\n  for tools    1,801\nNot protected  errors in the kernel"
    )


def test_a_narrow_window_stacks_them() -> None:
    assert drawn(Columns((), ROWS), 30) == (
        "Project\n  demo\n  for tools\n    1,801\nNot protected\n  errors in the kernel"
    )


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "tool       risk  what it does\nread_file  read  Read a file."),
        (20, "read_file\n  read  Read a file."),
    ],
)
def test_a_table_with_a_head(width: int, shown: str) -> None:
    assert drawn(Columns(HEAD, (("read_file", "read", "Read a file."),)), width) == shown


@pytest.mark.parametrize("width", [20, 60])
def test_no_rows_are_nothing(width: int) -> None:
    console = Console(file=(out := io.StringIO()), width=width)
    console.print(Columns((), ()), end="")
    assert out.getvalue() == ""
