"""The table that `--help` prints, and what is really understood."""

from __future__ import annotations

import click

from modules.cli.args import _click_options
from modules.cli.option_specs import OPTIONS, help_text
from modules.translator import Translator

ENGLISH = Translator("en", {})


def test_what_is_told_of_is_what_is_understood() -> None:
    params = _click_options(ENGLISH, lambda: "0", lambda _kind, _project: ())
    assert [tuple(param.opts) for param in params] == [told.names for told in OPTIONS]
    for param, told in zip(params, OPTIONS, strict=True):
        assert isinstance(param, click.Option)
        assert (told.head == ", ".join(told.names)) is param.is_flag, told.names
        if isinstance(param.type, click.Choice):
            assert told.head.endswith(f"[{'|'.join(param.type.choices)}]")


def test_the_help_names_each_option() -> None:
    text = help_text(ENGLISH)
    assert all(f"\n  {told.head}" in text for told in OPTIONS)


def test_a_shell_completes_each_value_that_is_a_path() -> None:
    paths = {told.head: told.completed_by for told in OPTIONS if told.value in ("FILE", "DIR")}
    assert "--trace FILE" in paths
    assert {head: "folder" if "DIR" in head else "file" for head in paths} == paths
