"""The texts for the model, kept in `prompts/` and filled with `string.Template`."""

from __future__ import annotations

from pathlib import Path
from string import Template

FOLDER = Path(__file__).resolve().parents[1] / "prompts"


def prompt(name: str, **values: str) -> str:
    """Return the prompt *name* filled with *values*.

    Raises `KeyError` for a value that is missing and `ValueError` for one the text does not use.
    """
    template = Template((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    if unknown := values.keys() - set(template.get_identifiers()):
        raise ValueError(f"the prompt {name!r} does not use {', '.join(sorted(unknown))}")
    return template.substitute(values).strip()
